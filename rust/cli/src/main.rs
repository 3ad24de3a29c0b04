//! `connector`, the command for authors of connector manifests.

mod check;
mod demo;
mod grant;
#[cfg(feature = "test-hooks")]
mod hooks;
mod options;
mod rpc;
mod run;
mod schema;
mod source;
mod style;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::grant::GrantFlags;

/// Checks, previews and calls connectors on your own machine.
#[derive(Parser)]
#[command(name = "connector", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Reports every problem of a manifest, with line, column and the way out.
    Check {
        /// The manifest.
        file: PathBuf,
        /// How the report is written.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Prints the JSON Schema of manifests, for editors.
    Schema,
    /// Shows the exact request that a call would send, without sending it.
    Preview {
        #[command(flatten)]
        call: CallFlags,
        /// How the preview is written.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Sends a call and prints the text for the model.
    Call {
        #[command(flatten)]
        call: CallFlags,
        /// A secret: `NAME=env:VARIABLE`, `NAME=fd:NUMBER` or `NAME=prompt`; never the secret itself.
        #[arg(long, value_name = "NAME=FROM")]
        secret: Vec<String>,
        /// Confirms a call that needs a confirmation, after its preview was printed.
        #[arg(long)]
        yes: bool,
    },
    /// Runs the whole path once, against a small API on this machine, and shows three attacks refused.
    Demo {
        /// The manifest, one for a Vikunja server.
        #[arg(default_value = "example/connectors/vikunja.json")]
        manifest: PathBuf,
    },
    /// Serves the core as JSON-RPC 2.0 over stdin and stdout, one message per line (docs/rpc.md).
    Rpc {
        /// Offers the methods and parameters for tests; only in a build with the feature `test-hooks`.
        #[arg(long)]
        test_hooks: bool,
    },
}

/// A call, and the grant under which it is made.
#[derive(clap::Args)]
struct CallFlags {
    /// The manifest.
    file: PathBuf,
    /// The tool's name, alone or as `id.name`.
    tool: String,
    /// The arguments as a JSON object; `-` reads them from stdin.
    #[arg(default_value = "{}")]
    arguments: String,
    #[command(flatten)]
    grant: GrantFlags,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

fn main() -> ExitCode {
    // Usage errors leave through clap with status 2.
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Check { file, format } => check::check(&file, format),
        Command::Schema => schema::schema(),
        Command::Preview { call, format } => run::preview(&call, format),
        Command::Call { call, secret, yes } => run::call(&call, &secret, yes),
        Command::Demo { manifest } => demo::demo(&manifest),
        Command::Rpc { test_hooks } => run::rpc(test_hooks),
    };
    match result {
        Ok(code) => code,
        Err(trouble) => {
            style::trouble(&trouble);
            trouble.exit
        }
    }
}
