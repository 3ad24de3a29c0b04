//! How the command writes to a terminal: colour where there is one, plain text elsewhere.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the command line")]

use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use connector_core::text::escape_display;
use connector_core::{Code, Refusal};

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const FRAME: Style = AnsiColor::Blue.on_default().bold();
pub(crate) const TITLE: Style = Style::new().bold();
pub(crate) const QUIET: Style = Style::new().dimmed();

/// Why the command fails.
#[derive(Debug)]
pub(crate) struct Trouble {
    /// A stable code; none for wrong use of the command.
    code: Option<&'static str>,
    reason: String,
    /// The single breaches, where a document has several.
    details: Vec<String>,
    advice: Option<String>,
    /// The way out, for a person at the command line.
    help: Option<String>,
}

impl Trouble {
    /// A refusal, with status 1. `code` is one of the core's, or names a failure of the demo.
    pub(crate) fn new(code: &'static str, reason: impl Into<String>) -> Self {
        Self { code: Some(code), reason: reason.into(), details: Vec::new(), advice: None, help: None }
    }

    /// A wrong use of the command, with status 2.
    pub(crate) fn usage(reason: impl Into<String>) -> Self {
        Self { code: None, ..Self::new("", reason) }
    }

    /// With another way out.
    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The status of the process.
    pub(crate) fn exit(&self) -> ExitCode {
        ExitCode::from(if self.code.is_some() { 1 } else { 2 })
    }

    /// The code and the reason, for programs.
    pub(crate) fn parts(&self) -> (&'static str, &str) {
        (self.code.unwrap_or("usage"), &self.reason)
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        let details = refusal.findings.iter().map(|finding| {
            let pointer = if finding.pointer.is_empty() { "the document" } else { finding.pointer.as_str() };
            format!("{pointer}: {} [{}]", finding.message, finding.rule.id)
        });
        let help = match refusal.code {
            Code::ManifestInvalid => Some("`connector check` shows each place and the way out"),
            Code::GrantInvalid => Some("bind with --origin NAME=URL, --setting NAME=VALUE and --allow WORD"),
            Code::GrantDenied => Some("open what is closed with --allow WORD"),
            Code::CredentialMissing => {
                Some("give it with --secret NAME=env:VARIABLE, NAME=fd:NUMBER or NAME=prompt")
            }
            Code::PlanConfirmationRequired => Some("answer `yes` in a terminal, or call with --yes"),
            Code::NetAddress => {
                Some("--allow local-network, overlay-network or loopback opens local addresses")
            }
            _ => None,
        };
        Self {
            code: Some(refusal.code.as_str()),
            details: details.collect(),
            reason: refusal.reason,
            advice: refusal.advice,
            help: help.map(str::to_owned),
        }
    }
}

/// Text of a file or a server, for a terminal: controls, invisible and bidi characters become escapes.
pub(crate) fn safe(text: &str) -> String {
    escape_display(text)
}

/// Writes a failure to stderr.
pub(crate) fn trouble(trouble: &Trouble) {
    let code = trouble.code.map(|code| format!("[{code}]")).unwrap_or_default();
    note(&format!("{ERROR}error{code}{ERROR:#}{TITLE}: {}{TITLE:#}", safe(&trouble.reason)));
    for detail in &trouble.details {
        note(&format!("  {FRAME}-{FRAME:#} {}", safe(detail)));
    }
    if let Some(advice) = &trouble.advice {
        note(&format!("  {FRAME}={FRAME:#} for the model: {}", safe(advice)));
    }
    if let Some(help) = &trouble.help {
        note(&format!("  {FRAME}={FRAME:#} help: {}", safe(help)));
    }
}

/// Whether something could not be written to stdout though its reader was there.
static LOST: AtomicBool = AtomicBool::new(false);

/// Writes lines to stdout. A reader that went away has seen enough; any other failure ends the command with status 1.
pub(crate) fn out(text: &str) {
    let mut stdout = anstream::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.write_all(b"\n"));
    if written.and_then(|()| stdout.flush()).is_err_and(|error| error.kind() != ErrorKind::BrokenPipe) {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Whether everything that was written arrived.
pub(crate) fn all_written() -> bool {
    !LOST.load(Ordering::Relaxed)
}

/// Writes lines to stderr, where questions and failures stand; stdout is for results.
pub(crate) fn note(text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _gone = stderr.write_all(text.as_bytes()).and_then(|()| stderr.write_all(b"\n"));
}
