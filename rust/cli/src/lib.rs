//! `connector`, the command for authors of connector manifests.
//!
//! A library with one function, so that `cargo test` can build the command with the feature `test-hooks` (the
//! package is its own dev-dependency) while every other build leaves it out.

mod check;
mod demo;
mod export;
mod grant;
#[cfg(feature = "test-hooks")]
mod hooks;
mod options;
mod rpc;
mod schema;
mod secret;
#[cfg(feature = "selftest")]
mod selftest;
mod session;
mod source;
mod style;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::grant::GrantFlags;

const EXAMPLES: &str = "\
Examples:
  connector check notes.json
  connector preview notes.json find '{\"words\":\"tea\"}' \\
      --origin server=https://notes.example --setting notebook=work
  connector call notes.json find '{\"words\":\"tea\"}' \\
      --origin server=https://notes.example --setting notebook=work \\
      --secret token=env:NOTES_TOKEN

Status: 0 when it went well, 1 when something was refused, 2 after wrong use.";

/// Checks, previews and calls connectors from your own machine.
#[derive(Parser)]
#[command(name = "connector", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Report every problem of a manifest, with line, column and the way out
    Check {
        /// The manifest; `-` is stdin
        file: PathBuf,
        /// How the report is written
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Print the JSON Schema of manifests, for editors
    Schema,
    /// Print the tools as a model is shown them through llama.rn
    Tools(ToolsFlags),
    /// Print the grammar of calls to the tools, as GBNF
    Grammar(GrammarFlags),
    /// Show the exact request of a call, without sending it
    Preview {
        #[command(flatten)]
        call: CallFlags,
        /// How the preview is written
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Send a call and print the text for the model
    ///
    /// Only the text for the model goes to stdout; a preview and the question for a
    /// confirmation go to stderr. The status is 1 also when the server answers with
    /// an error.
    #[command(verbatim_doc_comment)]
    Call {
        #[command(flatten)]
        call: CallFlags,
        /// Where a secret comes from: env:VARIABLE, fd:NUMBER or prompt
        #[arg(
            long,
            value_name = "NAME=FROM",
            long_help = "\
Where a secret comes from, never the secret itself:
- NAME=env:VARIABLE: a variable of the environment
- NAME=fd:NUMBER: an open file descriptor, to its end
- NAME=prompt: a question in the terminal, without echo"
        )]
        secret: Vec<String>,
        /// Confirms the call, where it needs a confirmation
        #[arg(long)]
        yes: bool,
    },
    /// Run the whole path once, on this machine, with three attacks refused
    Demo {
        /// A manifest for a Vikunja server [default: the first-party one of this project]
        manifest: Option<PathBuf>,
    },
    /// Play hundreds of hostile servers, resolvers and networks against this build
    ///
    /// Everything runs on loopback ports of this machine; no other address is
    /// connected to. The status is 1 when any scenario ends otherwise than it must.
    #[cfg(feature = "selftest")]
    #[command(verbatim_doc_comment)]
    Selftest(selftest::Flags),
    /// Serve the core as JSON-RPC 2.0 over stdin and stdout (docs/rpc.md)
    Rpc {
        /// Offers what only tests may use, in a build with the feature `test-hooks`
        #[arg(long)]
        test_hooks: bool,
    },
}

/// A call, and the grant under which it is made.
#[derive(clap::Args)]
struct CallFlags {
    /// The manifest
    file: PathBuf,
    /// The tool's name, alone or as `id.name`
    tool: String,
    /// The arguments as a JSON object; `-` is stdin
    #[arg(default_value = "{}")]
    arguments: String,
    #[command(flatten)]
    grant: GrantFlags,
}

/// Tools of a manifest, and the grant under which they are shown.
#[derive(clap::Args)]
struct ExportFlags {
    /// The manifest; `-` is stdin
    file: PathBuf,
    /// A tool to show, alone or as `id.name`; may be repeated [default: all]
    #[arg(long, value_name = "TOOL")]
    only: Vec<String>,
    #[command(flatten)]
    grant: GrantFlags,
}

#[derive(clap::Args)]
struct ToolsFlags {
    #[command(flatten)]
    export: ExportFlags,
    /// The room for the JSON text of all tools, in characters
    #[arg(long, value_name = "NUMBER")]
    max_chars: Option<usize>,
    /// A control token of the model, which no text may hold; may be repeated
    #[arg(long, value_name = "TEXT")]
    special_token: Vec<String>,
    /// How the tools are written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(clap::Args)]
struct GrammarFlags {
    #[command(flatten)]
    export: ExportFlags,
    /// How the model's template writes a call
    #[arg(long, value_enum, default_value_t)]
    envelope: EnvelopeFlag,
    /// Whether a call has to be made: auto, none, required or the name of a tool
    #[arg(long, default_value = "required")]
    choice: String,
    /// Lets several calls be made at once
    #[arg(long)]
    parallel: bool,
    /// Prints the grammar of the arguments of one tool instead
    #[arg(long, value_name = "TOOL")]
    arguments: Option<String>,
    /// How the grammar is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum EnvelopeFlag {
    /// `<tool_call>` tags around each call
    #[default]
    Hermes,
    /// Nothing around a call; several are a list
    Json,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
}

/// Runs the command with the arguments of the process and gives its status: 0, 1 when something is refused or
/// cannot be read, 2 after wrong use.
pub fn run() -> ExitCode {
    // Usage errors leave through clap with status 2.
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Check { file, format } => check::check(&file, format),
        Command::Schema => schema::schema(),
        Command::Tools(flags) => export::tools(&flags),
        Command::Grammar(flags) => export::grammar(&flags),
        Command::Preview { call, format } => session::preview(&call, format),
        Command::Call { call, secret, yes } => session::call(&call, &secret, yes),
        Command::Demo { manifest } => demo::demo(manifest),
        #[cfg(feature = "selftest")]
        Command::Selftest(flags) => selftest::selftest(&flags),
        Command::Rpc { test_hooks } => session::rpc(test_hooks),
    };
    match result {
        Ok(_) if !style::all_written() => {
            style::trouble(&style::Trouble::new("output.failed", "the result could not be written"));
            ExitCode::FAILURE
        }
        Ok(code) => code,
        Err(trouble) => {
            style::trouble(&trouble);
            trouble.exit()
        }
    }
}
