//! `connector review`: what a manifest would change, as a page for a person.

use std::path::Path;
use std::process::ExitCode;

use connector_core::TrustLimits;
use connector_core::json::Value;
use connector_core::toolset::{Change, ChangeKind};
use connector_runtime::{Offer, Reviewed, Session};

use crate::Format;
use crate::kept::{Kept, OfferFlags, StoreFlag};
use crate::rpc::review_value;
use crate::source::read;
use crate::style::{ERROR, GOOD, QUIET, TITLE, Trouble, WARNING, out, safe};

/// The longest value on the page, in characters.
const SHOWN: usize = 400;
/// Lines of a text up to which its changes are told line by line.
const DIFFED: usize = 400;

/// Shows what installing a manifest would change: of another file, of a store, or of nothing. Status 1 when it would take
/// an approval.
pub(crate) fn review(
    flags: &OfferFlags,
    against: Option<&Path>,
    store: Option<&StoreFlag>,
    format: Format,
) -> Result<ExitCode, Trouble> {
    let limits = TrustLimits::default();
    let offered = flags.read(&limits)?;
    let (kept, session) = match store {
        Some(store) => {
            let kept = Kept::open(store, flags.options()?, false)?;
            let session = kept.session.clone();
            (Some(kept), session)
        }
        None => (None, Session::open(flags.options()?)),
    };
    if let Some(old) = against {
        let bytes = read(old, limits.manifest_bytes)?;
        let offer = offered.offer(&session)?;
        // Both under one grant, as far as it fits the old one.
        let mut grant = offer.grant.clone();
        if let Some(manifest) = connector_core::manifest::check(&bytes, &limits).manifest {
            grant = grant.fitting(&manifest);
        }
        session.install(&bytes, offer.source, grant, None)?;
    }
    let offer = offered.offer(&session)?;
    let reviewed = session.review(&offer)?;
    match format {
        Format::Json => out(&review_value(&reviewed).to_text()),
        Format::Text => {
            out(&headline(&session, &offer, &reviewed));
            for line in page(&reviewed) {
                out(&line);
            }
        }
    }
    kept.map_or(Ok(()), Kept::close)?;
    Ok(if reviewed.needs_approval { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Which manifest takes the place of which.
pub(crate) fn headline(session: &Session, offer: &Offer<'_>, reviewed: &Reviewed) -> String {
    let new = connector_core::manifest::check(offer.manifest, session.limits()).manifest;
    let Some(new) = new else { return String::new() };
    let id = new.id().as_str();
    let listed = session.list().map(|listed| listed.connectors).unwrap_or_default();
    let old = listed.iter().find(|connector| connector.id() == id);
    let versions = match old {
        Some(old) => format!("{} -> {}", safe(old.manifest().version()), safe(new.version())),
        None => safe(new.version()),
    };
    let verdict = if reviewed.needs_approval {
        format!("{WARNING}takes an approval{WARNING:#}")
    } else {
        format!("{GOOD}takes no approval{GOOD:#}")
    };
    format!("{TITLE}{id}{TITLE:#} {versions}, from {}: {verdict}", safe(offer.source))
}

/// The lines of the page: first what needs the approval, then what does not.
pub(crate) fn page(reviewed: &Reviewed) -> Vec<String> {
    let mut lines = Vec::new();
    let counts = |change: &&Change| reviewed.needs_approval && change.needs_approval();
    let (grave, mild): (Vec<&Change>, Vec<&Change>) = reviewed.changes.iter().partition(counts);
    for (heading, changes, mark) in
        [("What a person decides:", grave, ERROR), ("What else changes:", mild, QUIET)]
    {
        if changes.is_empty() {
            continue;
        }
        lines.push(String::new());
        lines.push(format!("{TITLE}{heading}{TITLE:#}"));
        for change in changes {
            let tool = change.tool.as_deref().map(|tool| format!("{tool}  ")).unwrap_or_default();
            let (words, pointer) = (says(change.kind), safe(&change.pointer));
            lines.push(format!("  {mark}{words}{mark:#}  {}{QUIET}{pointer}{QUIET:#}", safe(&tool)));
            lines.extend(details(change).into_iter().map(|line| format!("      {line}")));
        }
    }
    if reviewed.changes.is_empty() {
        lines.push("Nothing changes.".into());
    }
    lines
}

/// A kind in words.
fn says(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Source => "comes from another source",
        ChangeKind::Key => "is signed by another key, or no longer",
        ChangeKind::Supersedes => "does not name what it replaces",
        ChangeKind::Widened => "takes more than before",
        ChangeKind::Undecided => "may take more than before",
        ChangeKind::Required => "needs other arguments",
        ChangeKind::ToolAdded => "new tool",
        ChangeKind::Effect => "another effect",
        ChangeKind::Origin => "new or other server",
        ChangeKind::Credential => "new or other credential",
        ChangeKind::Setting => "new or other setting",
        ChangeKind::Request => "sends another request",
        ChangeKind::Response => "shows another part of the answer",
        ChangeKind::LimitRaised => "a limit is raised",
        ChangeKind::Text => "another text",
        ChangeKind::Grant => "the grant allows more",
        ChangeKind::ToolRemoved => "tool removed",
        ChangeKind::Narrowed => "takes no more than before",
        ChangeKind::LimitLowered => "a limit is lowered",
        ChangeKind::PostRead => "a POST that claims to read only",
        _ => kind.as_str(),
    }
}

fn details(change: &Change) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(witness) = &change.witness {
        lines.push(format!("{WARNING}now takes{WARNING:#} {}", shown(witness)));
    }
    match (&change.before, &change.after) {
        // The two schemas are long, and the witness says what counts.
        _ if change.witness.is_some() || change.kind == ChangeKind::Narrowed => {}
        (Some(Value::String(before)), Some(Value::String(after))) => lines.extend(diff(before, after)),
        (before, after) => {
            lines.extend(before.iter().map(|value| removed(&shown(value))));
            lines.extend(after.iter().map(|value| added(&shown(value))));
        }
    }
    lines
}

fn removed(text: &str) -> String {
    format!("{ERROR}-{ERROR:#} {text}")
}

fn added(text: &str) -> String {
    format!("{GOOD}+{GOOD:#} {text}")
}

/// A value on one line, cut where it is long. Nothing in it moves the terminal.
fn shown(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_text(), str::to_owned);
    let text = safe(&text);
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push_str(" ...");
    }
    short
}

/// The changes of a text line by line; lines that stay are told only next to one that changes.
fn diff(before: &str, after: &str) -> Vec<String> {
    let (x, y): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    if x.len() > DIFFED || y.len() > DIFFED {
        return vec![removed(&shown(&before.into())), added(&shown(&after.into()))];
    }
    let steps = steps(&x, &y);
    let near = |at: usize| {
        let from = at.saturating_sub(1);
        steps.iter().skip(from).take(at + 2 - from).any(|(mark, _)| *mark != ' ')
    };
    let mut lines = Vec::new();
    for (at, (mark, text)) in steps.iter().enumerate() {
        let text = shown(&(*text).into());
        match mark {
            '-' => lines.push(removed(&text)),
            '+' => lines.push(added(&text)),
            _ if near(at) => lines.push(format!("  {QUIET}{text}{QUIET:#}")),
            _ => {}
        }
    }
    lines
}

/// The lines of both, marked `-`, `+` or ` `, by a longest common subsequence.
fn steps<'t>(x: &[&'t str], y: &[&'t str]) -> Vec<(char, &'t str)> {
    // The length of a longest common subsequence of the rests from (i, j).
    let width = y.len() + 1;
    let mut common = vec![0_usize; (x.len() + 1) * width];
    let at = |common: &[usize], i: usize, j: usize| common.get(i * width + j).copied().unwrap_or(0);
    for (i, line) in x.iter().enumerate().rev() {
        for (j, other) in y.iter().enumerate().rev() {
            let longest = if line == other {
                at(&common, i + 1, j + 1) + 1
            } else {
                at(&common, i + 1, j).max(at(&common, i, j + 1))
            };
            if let Some(slot) = common.get_mut(i * width + j) {
                *slot = longest;
            }
        }
    }
    let (mut i, mut j, mut steps) = (0, 0, Vec::new());
    loop {
        match (x.get(i), y.get(j)) {
            (Some(line), Some(other)) if line == other => {
                steps.push((' ', *line));
                (i, j) = (i + 1, j + 1);
            }
            (Some(line), other) if other.is_none() || at(&common, i + 1, j) >= at(&common, i, j + 1) => {
                steps.push(('-', *line));
                i += 1;
            }
            (_, Some(other)) => {
                steps.push(('+', *other));
                j += 1;
            }
            _ => return steps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_tells_what_goes_and_what_comes() {
        let marked = |before: &str, after: &str| {
            let (x, y): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
            steps(&x, &y).iter().map(|(mark, text)| format!("{mark}{text}")).collect::<Vec<_>>()
        };
        assert_eq!(marked("a\nb\nc", "a\nx\nc"), [" a", "-b", "+x", " c"]);
        assert_eq!(marked("a", "a\nb"), [" a", "+b"]);
        assert_eq!(marked("a\nb", ""), ["-a", "-b"]);
        // Lines that stay are shown only beside one that changes.
        assert_eq!(diff("a\nb\nc\nd\ne", "a\nb\nc\nd\nx").len(), 3);
        assert!(diff("x", "\u{1b}[2Jy").iter().all(|line| !line.contains("\u{1b}[2J")));
    }
}
