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
mod kept;
mod options;
mod review;
mod rpc;
mod schema;
mod secret;
#[cfg(feature = "selftest")]
mod selftest;
mod session;
mod sign;
mod source;
mod style;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::grant::GrantFlags;
use crate::kept::{OfferFlags, StoreFlag};

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
    /// Install a manifest in a store, or put it in the place of its predecessor
    ///
    /// What a merge refuses is shown as a review, and a person may let it through.
    #[command(verbatim_doc_comment)]
    Install {
        #[command(flatten)]
        offer: OfferFlags,
        #[command(flatten)]
        store: StoreFlag,
        /// Lets everything through that the review shows
        #[arg(long)]
        yes: bool,
    },
    /// Remove a connector from a store, with its secrets
    Remove {
        /// The connector's id
        id: String,
        #[command(flatten)]
        store: StoreFlag,
    },
    /// List what a store holds
    List {
        #[command(flatten)]
        store: StoreFlag,
        /// How the list is written
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show what a manifest would change, for a person
    ///
    /// Compares with another file, with what a store has installed, or with nothing.
    /// The status is 1 when installing it would take an approval.
    #[command(verbatim_doc_comment)]
    Review {
        #[command(flatten)]
        offer: OfferFlags,
        /// The manifest that it would replace
        #[arg(long, value_name = "FILE", conflicts_with = "store")]
        against: Option<PathBuf>,
        /// The folder of a store
        #[arg(long, value_name = "FOLDER")]
        store: Option<PathBuf>,
        /// How the review is written
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Print the SHA-256 of a file, for `supersedes` of its successor
    Hash {
        /// The manifest; `-` is stdin
        file: PathBuf,
    },
    /// Sign a manifest into FILE.minisig, or make a key
    Sign {
        /// The manifest; with --make-key the name of the new key
        file: PathBuf,
        /// A minisign secret key
        #[arg(long, value_name = "FILE", required_unless_present = "make_key")]
        key: Option<PathBuf>,
        /// Where the password of the key comes from: env:VARIABLE, fd:NUMBER or prompt
        #[arg(long, value_name = "FROM")]
        password: Option<String>,
        /// Where the signature goes [default: FILE.minisig]
        #[arg(long, value_name = "FILE")]
        signature: Option<PathBuf>,
        /// Makes FILE.key and FILE.pub instead
        #[arg(long, conflicts_with_all = ["key", "signature"])]
        make_key: bool,
        /// With --make-key: a key without a password
        #[arg(long, requires = "make_key", conflicts_with = "password")]
        no_password: bool,
    },
    /// Verify the signature of a manifest
    Verify {
        /// The manifest
        file: PathBuf,
        /// A minisign public key, or its file
        #[arg(long)]
        key: String,
        /// The signature [default: FILE.minisig]
        #[arg(long, value_name = "FILE")]
        signature: Option<PathBuf>,
    },
    /// Print the audit trail of a store, or verify it
    Audit {
        #[command(subcommand)]
        what: Option<AuditCommand>,
        /// The folder of the store
        #[arg(long, value_name = "FOLDER", global = true)]
        store: Option<PathBuf>,
        /// How the trail is written
        #[arg(long, value_enum, default_value_t)]
        format: Format,
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

#[derive(Subcommand)]
enum AuditCommand {
    /// Check that no record was changed, removed or moved
    Verify {
        /// The head that was seen last [default: the one kept beside the store]
        #[arg(long, value_name = "SHA256")]
        head: Option<String>,
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
    #[arg(long, value_name = "TOOL", conflicts_with_all = ["only", "envelope", "choice", "parallel"])]
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
        Command::Install { offer, store, yes } => kept::install(&offer, &store, yes),
        Command::Remove { id, store } => kept::remove(&id, &store),
        Command::List { store, format } => kept::list(&store, format),
        Command::Review { offer, against, store, format } => {
            let store = store.map(|store| StoreFlag { store });
            review::review(&offer, against.as_deref(), store.as_ref(), format)
        }
        Command::Hash { file } => sign::hash(&file),
        Command::Sign { file, make_key: true, password, no_password, .. } => {
            sign::make_key(&file, password.as_deref(), no_password)
        }
        Command::Sign { file, key, password, signature, .. } => {
            let key = key.unwrap_or_default();
            sign::sign(&file, &key, password.as_deref(), signature.as_deref())
        }
        Command::Verify { file, key, signature } => sign::verify(&file, &key, signature.as_deref()),
        Command::Audit { what, store, format } => match (store.map(|store| StoreFlag { store }), what) {
            (None, _) => Err(style::Trouble::usage("audit needs --store FOLDER")),
            (Some(store), None) => kept::audit(&store, format),
            (Some(store), Some(AuditCommand::Verify { head })) => kept::verify_audit(&store, head.as_deref()),
        },
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
