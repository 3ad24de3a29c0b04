//! `connector check`: every problem of a manifest in one report.

use std::path::Path;
use std::process::ExitCode;

use connector_core::json::Locator;
use connector_core::manifest::{Report, check as check_manifest};
use connector_core::{Finding, TrustLimits};

use crate::Format;
use crate::rpc::report;
use crate::source::read;
use crate::style::{ERROR, GOOD, QUIET, TITLE, Trouble, WARNING, out};

/// Checks one file. Status 0 when it may be installed, also with warnings; 1 when not.
pub(crate) fn check(file: &Path, format: Format) -> Result<ExitCode, Trouble> {
    let limits = TrustLimits::default();
    let bytes = read(file, limits.manifest_bytes)?;
    let checked = check_manifest(&bytes, &limits);
    match format {
        Format::Json => out(&report(&checked, &bytes).to_text()),
        Format::Text => print(file, &bytes, &checked),
    }
    Ok(if checked.manifest.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(file: &Path, bytes: &[u8], report: &Report) {
    let findings = report.findings.list();
    let locator = Locator::new(bytes, findings);
    for (index, finding) in findings.iter().enumerate() {
        let position = locator.position(bytes, index);
        print_finding(file, bytes, finding, position.line, position.column);
    }
    if report.findings.omitted() > 0 {
        out(&format!("{QUIET}... and {} more{QUIET:#}\n", report.findings.omitted()));
    }
    let errors = report.findings.errors();
    let warnings = findings.iter().filter(|finding| !finding.is_error()).count();
    match &report.manifest {
        Some(manifest) => {
            let tools = manifest.tools().len();
            let (id, version, hash) = (manifest.id(), manifest.version(), manifest.sha256());
            let plural = if tools == 1 { "" } else { "s" };
            out(&format!(
                "{GOOD}ok{GOOD:#} {TITLE}{id}{TITLE:#} {version}, {tools} tool{plural}, {warnings} warnings"
            ));
            out(&format!("{QUIET}sha256 {hash}{QUIET:#}"));
        }
        None => out(&format!("{ERROR}refused{ERROR:#}: {errors} errors, {warnings} warnings")),
    }
}

fn print_finding(file: &Path, bytes: &[u8], finding: &Finding, line: usize, column: usize) {
    let style = if finding.is_error() { ERROR } else { WARNING };
    let severity = finding.rule.severity.as_str();
    out(&format!("{style}{severity}{style:#}[{}]: {TITLE}{}{TITLE:#}", finding.rule.id, finding.message));
    out(&format!(
        "{QUIET}  -->{QUIET:#} {}:{line}:{column} {QUIET}{}{QUIET:#}",
        file.display(),
        finding.pointer
    ));
    if let Some((text, caret)) = excerpt(bytes, line, column) {
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        out(&format!("{QUIET}{number} |{QUIET:#} {text}"));
        out(&format!("{QUIET}{margin} |{QUIET:#} {}{style}^{style:#}", " ".repeat(caret)));
    }
    out(&format!("{QUIET}  help:{QUIET:#} {}\n", finding.rule.help));
}

/// The line, cut to what fits a terminal around the column, and the place of the caret in it. Controls and invisible
/// characters are shown as dots, so that the file cannot write to the terminal.
fn excerpt(bytes: &[u8], line: usize, column: usize) -> Option<(String, usize)> {
    const WIDTH: usize = 96;
    let line = bytes.split(|byte| *byte == b'\n').nth(line.checked_sub(1)?)?;
    let text = String::from_utf8_lossy(line);
    let at = column.checked_sub(1)?;
    let from = at.saturating_sub(WIDTH / 2);
    let dot = |c: char| {
        if c == '\t' {
            ' '
        } else if connector_core::text::escape_display(c.encode_utf8(&mut [0; 4])).chars().count() > 1 {
            '·'
        } else {
            c
        }
    };
    let shown: String = text.chars().skip(from).take(WIDTH).map(dot).collect();
    let shown = shown.trim_end().to_owned();
    Some(if from > 0 { (format!("…{shown}"), at - from + 1) } else { (shown, at) })
}
