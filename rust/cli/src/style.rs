//! How the command writes to a terminal: colour where there is one, plain text elsewhere.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the command line")]

use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use connector_core::Refusal;

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const TITLE: Style = Style::new().bold();
pub(crate) const QUIET: Style = Style::new().dimmed();

/// Why the command fails.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) code: String,
    pub(crate) reason: String,
    pub(crate) advice: Option<String>,
    pub(crate) exit: ExitCode,
}

impl Trouble {
    /// A failure of the command itself, with status 1.
    pub(crate) fn new(code: &str, reason: impl Into<String>) -> Self {
        Self { code: code.to_owned(), reason: reason.into(), advice: None, exit: ExitCode::FAILURE }
    }

    /// A wrong use of the command, with status 2.
    pub(crate) fn usage(reason: impl Into<String>) -> Self {
        Self { exit: ExitCode::from(2), ..Self::new("usage", reason) }
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        let findings = refusal.findings.iter().map(|finding| {
            let pointer = if finding.pointer.is_empty() { "the document" } else { finding.pointer.as_str() };
            format!("\n  {pointer}: {} [{}]", finding.message, finding.rule.id)
        });
        let reason = refusal.reason.clone() + &findings.collect::<String>();
        Self { advice: refusal.advice, ..Self::new(refusal.code.as_str(), reason) }
    }
}

/// Writes a failure to stderr.
pub(crate) fn trouble(trouble: &Trouble) {
    anstream::eprintln!("{ERROR}error{ERROR:#}[{}]: {}", trouble.code, trouble.reason);
    if let Some(advice) = &trouble.advice {
        anstream::eprintln!("  {QUIET}for the model:{QUIET:#} {advice}");
    }
}

/// Writes lines to stdout; a reader that went away ends the writing, not the program.
pub(crate) fn out(text: &str) {
    use std::io::Write;
    let mut stdout = anstream::stdout().lock();
    let _gone = stdout.write_all(text.as_bytes()).and_then(|()| stdout.write_all(b"\n"));
}
