//! `connector check`: every problem of a manifest in one report.

use std::path::Path;
use std::process::ExitCode;

use connector_core::json::{Locator, Position, Value};
use connector_core::manifest::{Report, check as check_manifest};
use connector_core::{Finding, TrustLimits};
use unicode_width::UnicodeWidthStr;

use crate::Format;
use crate::rpc::{object, report};
use crate::source::{name_of, read_start};
use crate::style::{ERROR, FRAME, GOOD, QUIET, TITLE, Trouble, WARNING, out, safe};

/// Checks one file. Status 0 when it may be installed, also with warnings; 1 when not.
pub(crate) fn check(file: &Path, format: Format) -> Result<ExitCode, Trouble> {
    let limits = TrustLimits::default();
    // One byte over the limit is enough for the core to refuse the whole.
    let bytes = match read_start(file, limits.manifest_bytes.saturating_add(1)) {
        Ok(bytes) => bytes,
        Err(trouble) if format == Format::Json => {
            let (code, reason) = trouble.parts();
            let error = object([("code", code.into()), ("reason", reason.into())]);
            let nothing = Value::Array(Vec::new());
            out(&object([("ok", false.into()), ("findings", nothing), ("error", error)]).to_text());
            return Ok(trouble.exit());
        }
        Err(trouble) => return Err(trouble),
    };
    let checked = check_manifest(&bytes, &limits);
    match format {
        Format::Json => out(&report(&checked, &bytes).to_text()),
        Format::Text => print(&name_of(file), &bytes, &checked),
    }
    Ok(if checked.manifest.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(file: &str, bytes: &[u8], report: &Report) {
    let findings = report.findings.list();
    let locator = Locator::new(bytes, findings);
    let located = |(index, finding)| (locator.position(bytes, index), finding);
    let mut located: Vec<(Position, &Finding)> = findings.iter().enumerate().map(located).collect();
    // From the top of the file to its end, as a person mends it.
    located.sort_by_key(|(position, _)| (position.line, position.column));
    let mut text = Cursor { bytes, line: 1, column: 1, start: 0, at: 0 };
    for (position, finding) in located {
        text.go(position);
        print_finding(file, finding, position, text.excerpt());
    }
    if report.findings.omitted() > 0 {
        out(&format!("{QUIET}... and {} more{QUIET:#}\n", report.findings.omitted()));
    }
    let warnings = findings.iter().filter(|finding| !finding.is_error()).count();
    let warned = if warnings == 0 { String::new() } else { format!(", {}", count(warnings, "warning")) };
    let Some(manifest) = &report.manifest else {
        let errors = count(report.findings.errors(), "error");
        return out(&format!("{ERROR}refused{ERROR:#}: {} has {errors}{warned}", safe(file)));
    };
    let tools = count(manifest.tools().len(), "tool");
    let (id, version, hash) = (manifest.id(), manifest.version(), manifest.sha256());
    out(&format!("{GOOD}ok{GOOD:#}: {TITLE}{id}{TITLE:#} {version}, {tools}{warned}"));
    out(&format!("{QUIET}sha256 {hash}{QUIET:#}"));
}

/// `1 error`, `2 errors`.
fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn print_finding(file: &str, finding: &Finding, position: Position, excerpt: Option<Excerpt>) {
    let style = if finding.is_error() { ERROR } else { WARNING };
    let (severity, id) = (finding.rule.severity.as_str(), finding.rule.id);
    out(&format!("{style}{severity}[{id}]{style:#}{TITLE}: {}{TITLE:#}", safe(&finding.message)));
    let Position { line, column } = position;
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    out(&format!("{margin}{FRAME}-->{FRAME:#} {}:{line}:{column}", safe(file)));
    if let Some(Excerpt { text, before, marked }) = excerpt {
        out(&format!("{margin} {FRAME}|{FRAME:#}"));
        out(&format!("{FRAME}{number} |{FRAME:#} {text}"));
        let (space, carets) = (" ".repeat(before), "^".repeat(marked));
        out(&format!("{margin} {FRAME}|{FRAME:#} {space}{style}{carets}{style:#}"));
    }
    if !finding.pointer.is_empty() {
        out(&format!("{margin} {FRAME}={FRAME:#} at: {}", safe(&finding.pointer)));
    }
    out(&format!("{margin} {FRAME}={FRAME:#} help: {}\n", finding.rule.help));
}

/// A place in the text that only goes forward, so that a report of any size reads the text once.
struct Cursor<'t> {
    bytes: &'t [u8],
    line: usize,
    column: usize,
    /// Where the line starts.
    start: usize,
    at: usize,
}

/// What of a line is shown.
struct Excerpt {
    text: String,
    /// Columns of a terminal before the marked ones.
    before: usize,
    /// How many columns are marked, at least one.
    marked: usize,
}

impl Cursor<'_> {
    fn go(&mut self, to: Position) {
        while self.line < to.line {
            let rest = self.bytes.get(self.start..).unwrap_or_default();
            let Some(end) = rest.iter().position(|byte| *byte == b'\n') else { return };
            self.start += end + 1;
            (self.line, self.column, self.at) = (self.line + 1, 1, self.start);
        }
        while self.column < to.column && self.at < self.bytes.len() {
            self.at += 1;
            // Bytes that continue a character of UTF-8 are no column of their own.
            while self.bytes.get(self.at).is_some_and(|byte| byte & 0xc0 == 0x80) {
                self.at += 1;
            }
            self.column += 1;
        }
    }

    /// The line around this place, cut to what fits a terminal; nothing when there is nothing to see in it.
    fn excerpt(&self) -> Option<Excerpt> {
        const BEFORE: usize = 48;
        const WIDTH: usize = 96;
        let head = self.bytes.get(self.start..self.at)?;
        let tail = self.bytes.get(self.at..)?;
        let tail = tail.split(|byte| *byte == b'\n').next()?;
        let tail = tail.strip_suffix(b"\r").unwrap_or(tail);
        let cut = head.len().saturating_sub(BEFORE * 4);
        let head = String::from_utf8_lossy(head.get(cut..)?);
        let skipped = head.chars().count().saturating_sub(BEFORE);
        let mut text: String = if cut > 0 || skipped > 0 { "…".into() } else { String::new() };
        text.extend(head.chars().skip(skipped).map(visible));
        let room = WIDTH.saturating_sub(text.chars().count());
        let before = text.width();
        let shown = String::from_utf8_lossy(tail.get(..tail.len().min(WIDTH * 4))?);
        let token: String = shown.chars().take(token(&shown).min(room)).map(visible).collect();
        let marked = token.width().max(1);
        text.extend(shown.chars().take(room).map(visible));
        if shown.chars().nth(room).is_some() {
            text.push('…');
        }
        (!text.trim().is_empty()).then_some(Excerpt { text, before, marked })
    }
}

/// How many characters the JSON token at the start of the text has: a string, a number or a word, else one.
fn token(text: &str) -> usize {
    if text.starts_with('"') {
        let mut escaped = false;
        for (index, c) in text.chars().enumerate().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => return index + 1,
                _ => {}
            }
        }
        return 1;
    }
    text.chars().take_while(|c| c.is_ascii_alphanumeric() || "+-.".contains(*c)).count()
}

/// Controls and invisible characters are shown as dots, so that the file cannot write to the terminal.
fn visible(c: char) -> char {
    let mut one = [0; 4];
    match c {
        '\t' => ' ',
        _ if safe(c.encode_utf8(&mut one)).chars().nth(1).is_some() => '·',
        _ => c,
    }
}
