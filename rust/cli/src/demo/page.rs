//! How the demo stands on the page: numbered steps, labelled lines of at most 80 columns, framed previews.

use connector_core::audit::Record;
use connector_runtime::PlanView;

use crate::session::preview_lines;
use crate::style::{FRAME, QUIET, TITLE, out, safe};

const COLUMNS: usize = 80;
const INDENT: usize = 3;
const LABEL: usize = 13;

/// Starts a step.
pub(super) fn step(number: usize, text: &str) {
    out(&format!("\n{TITLE}{number}. {text}{TITLE:#}\n"));
}

/// A labelled text, wrapped under itself.
pub(super) fn say(label: &str, text: &str) {
    let mut label = label;
    for line in wrap(&safe(text), COLUMNS - INDENT - LABEL) {
        out(&format!("{:INDENT$}{QUIET}{label:<LABEL$}{QUIET:#}{line}", ""));
        label = "";
    }
}

/// A line of its own, such as a headline among the attacks.
pub(super) fn line(text: &str) {
    out(&format!("{:INDENT$}{text}", ""));
}

/// The preview that a person sees, framed.
pub(super) fn preview(view: &PlanView) {
    say("preview", "exactly what goes on the wire, the secret apart:");
    out("");
    for text in preview_lines(view) {
        line(format!("{FRAME}|{FRAME:#} {text}").trim_end());
    }
    out("");
}

/// The audit trail as a table.
pub(super) fn trail(records: &[Record]) {
    let rows: Vec<[String; 5]> = records.iter().map(row).collect();
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(String::len).max();
    let [deed, subject, outcome, ms] = [1, 2, 3, 4].map(|column| widest(column).unwrap_or(0));
    for [hash, did, what, how, took] in &rows {
        line(&format!(
            "{QUIET}{hash}{QUIET:#}  {did:<deed$}  {what:<subject$}  {how:<outcome$}  {took:>ms$} ms"
        ));
    }
}

fn row(record: &Record) -> [String; 5] {
    let event = &record.event;
    let status = event.status.map_or_else(String::new, |status| format!(" {status}"));
    [
        record.hash.to_string().chars().take(8).collect(),
        event.deed.as_str().to_owned(),
        safe(&event.subject),
        format!("{}{status}", event.outcome),
        event.duration_ms.to_string(),
    ]
}

/// Breaks a text behind blanks and commas into lines of at most `width` characters; a word that is longer stays whole.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_inclusive([' ', ',']) {
        let fits = |line: &String| line.chars().count() + word.trim_end().chars().count() <= width;
        match lines.last_mut() {
            Some(line) if line.is_empty() || fits(line) => line.push_str(word),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_behind_blanks_and_commas_and_nothing_is_lost() {
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(wrap("one two, three", 8), ["one two,", "three"]);
        assert_eq!(wrap(r#"{"a":1,"b":[2,3]}"#, 9), [r#"{"a":1,"#, r#""b":[2,"#, "3]}"]);
        assert_eq!(wrap("aaaaaaaaaaaa b", 4), ["aaaaaaaaaaaa", "b"]);
    }
}
