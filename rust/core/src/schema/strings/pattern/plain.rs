//! Patterns in the few forms that llama.rn's converter reads as ECMA-262 does.
//!
//! It takes literals and classes as they stand in the pattern and hands them to its grammar: no escape, no `.`, no
//! negated class, nothing that would have to be escaped in JSON, and nothing that is not ASCII. What is left is
//! written with literals, classes without escapes but `\xHH`, groups, alternatives and counts.

use std::fmt::Write as _;

use super::super::chars::CharSet;
use super::parse::{Node, parse};

/// The most that one count says; llama.rn's parser refuses 2,000.
const MOST: u64 = 500;
/// The most that the counts of one pattern say together, multiplied where they nest.
const TOGETHER: u64 = 1_900;

/// The same pattern in such a form; nothing where there is none.
pub(crate) fn plain(pattern: &str) -> Option<String> {
    let Node::Then(nodes) = parse(pattern).ok()? else { return None };
    let [Node::Start, body @ .., Node::End] = nodes.as_slice() else { return None };
    let mut text = String::from("^");
    let mut size = 0;
    each(body, &mut text, &mut size)?;
    text.push('$');
    (text.len() > 2 && size <= TOGETHER).then_some(text)
}

fn each(nodes: &[Node], text: &mut String, size: &mut u64) -> Option<()> {
    nodes.iter().try_for_each(|node| one(node, text, size))
}

fn one(node: &Node, text: &mut String, size: &mut u64) -> Option<()> {
    match node {
        Node::Set(set) => {
            *size += 1;
            character(set, text)
        }
        Node::Then(nodes) => each(nodes, text, size),
        Node::Or(nodes) => either(nodes, text, size),
        Node::Repeat { body, min, max } => repeat(body, *min, *max, text, size),
        Node::Empty | Node::Start | Node::End | Node::Boundary(_) | Node::Look { .. } => None,
    }
}

fn either(nodes: &[Node], text: &mut String, size: &mut u64) -> Option<()> {
    text.push('(');
    let mut first = true;
    for node in nodes.iter().filter(|node| **node != Node::Empty) {
        if !std::mem::take(&mut first) {
            text.push('|');
        }
        one(node, text, size)?;
    }
    text.push(')');
    if nodes.contains(&Node::Empty) {
        text.push('?');
    }
    (!first).then_some(())
}

fn repeat(body: &Node, min: u64, max: Option<u64>, text: &mut String, size: &mut u64) -> Option<()> {
    // A repetition of what may itself be repeated counts every character in many ways.
    if max == Some(0) || max.is_some_and(|max| max < min) || min > MOST || max.is_some_and(|max| max > MOST) {
        return None;
    }
    let mut inner = 0;
    match body {
        Node::Set(_) => one(body, text, &mut inner)?,
        Node::Or(nodes) if max == Some(1) || (!nodes.iter().any(varies) && begin_differently(nodes)) => {
            either(nodes, text, &mut inner)?;
        }
        Node::Then(_) if !may_be_empty(body) && !ends_open(body) => {
            text.push('(');
            one(body, text, &mut inner)?;
            text.push(')');
        }
        _ => return None,
    }
    *size = size.saturating_add(inner.saturating_mul(max.unwrap_or(min).max(1)));
    let _ = match (min, max) {
        (1, Some(1)) => Ok(()),
        (0, Some(1)) => text.write_char('?'),
        (0, None) => text.write_char('*'),
        (1, None) => text.write_char('+'),
        (min, None) => write!(text, "{{{min},}}"),
        (min, Some(max)) if min == max => write!(text, "{{{min}}}"),
        (min, Some(max)) => write!(text, "{{{min},{max}}}"),
    };
    Some(())
}

/// Whether a node has words of several lengths.
fn varies(node: &Node) -> bool {
    match node {
        Node::Repeat { body, min, max } => Some(*min) != *max || varies(body),
        Node::Then(nodes) => nodes.iter().any(varies),
        Node::Or(_) => true,
        _ => false,
    }
}

fn may_be_empty(node: &Node) -> bool {
    match node {
        Node::Repeat { body, min, .. } => *min == 0 || may_be_empty(body),
        Node::Then(nodes) => nodes.iter().all(may_be_empty),
        Node::Or(nodes) => nodes.iter().any(may_be_empty),
        Node::Set(_) => false,
        _ => true,
    }
}

/// Whether the first character tells alternatives apart.
fn begin_differently(nodes: &[Node]) -> bool {
    let first = |node: &Node| match node {
        Node::Set(set) => Some(set.ranges().to_vec()),
        Node::Then(nodes) => match nodes.first() {
            Some(Node::Set(set)) => Some(set.ranges().to_vec()),
            _ => None,
        },
        _ => None,
    };
    let Some(sets) = nodes.iter().map(first).collect::<Option<Vec<_>>>() else { return false };
    let mut ranges = sets.concat();
    ranges.sort_unstable();
    ranges.iter().zip(ranges.iter().skip(1)).all(|((_, end), (start, _))| end < start)
}

/// Whether neither the first nor the last part of a sequence has one length: repeated, both would run together.
fn ends_open(node: &Node) -> bool {
    match node {
        Node::Then(nodes) => nodes.first().is_none_or(varies) && nodes.last().is_none_or(varies),
        _ => true,
    }
}

/// One character: a literal, or a class.
fn character(set: &CharSet, text: &mut String) -> Option<()> {
    let ranges = set.ranges();
    if ranges.is_empty() || !ranges.iter().all(|(lo, hi)| (' '..='~').contains(lo) && *hi <= '~') {
        return None;
    }
    if ['"', '\\'].iter().any(|c| ranges.iter().any(|(lo, hi)| lo <= c && c <= hi)) {
        return None;
    }
    if let [(one, last)] = ranges
        && one == last
        && (one.is_ascii_alphanumeric() || "_-/:@#%&=,;!~<>' ".contains(*one))
    {
        text.push(*one);
        return Some(());
    }
    text.push('[');
    for &(lo, hi) in ranges {
        class_char(lo, text);
        if lo < hi {
            if u32::from(lo) + 1 < u32::from(hi) {
                text.push('-');
            }
            class_char(hi, text);
        }
    }
    text.push(']');
    Some(())
}

fn class_char(c: char, text: &mut String) {
    if c.is_ascii_alphanumeric() || "_./:@#%&=,;!~<>' +*?(){}|$".contains(c) {
        text.push(c);
    } else {
        let _ = write!(text, "\\x{:02X}", u32::from(c));
    }
}

#[cfg(test)]
mod tests {
    use super::super::compile;
    use super::*;

    #[test]
    fn a_pattern_keeps_its_meaning() {
        for (pattern, expected) in [
            ("^[a-z]+$", "^[a-z]+$"),
            (r"^\d{3}-\d{4}$", "^[0-9]{3}-[0-9]{4}$"),
            (r"^\w+\.txt$", "^[0-9A-Z_a-z]+[.]txt$"),
            (r"^(?:a|bc)?x{2,}$", "^(a|bc)?x{2,}$"),
            (r"^[\]\-^]$", r"^[\x2D\x5D\x5E]$"),
            ("^(a|bc|)d$", "^(a|bc)?d$"),
            ("^(a|bc){2,3}$", "^(a|bc){2,3}$"),
            ("^#[0-9a-fA-F]{6}$", "^#[0-9A-Fa-f]{6}$"),
            ("^(ab){2}$", "^(ab){2}$"),
            ("^a+?$", "^a+$"),
        ] {
            let written = plain(pattern);
            assert_eq!(written.as_deref(), Some(expected), "{pattern}");
            assert_eq!(compile(pattern), compile(expected), "{pattern}");
            assert_eq!(plain(expected).as_deref(), Some(expected), "{expected}");
        }
    }

    #[test]
    fn what_the_converter_would_misread_has_no_such_form() {
        for pattern in [
            "foo",
            "^foo",
            "foo$",
            "^.$",
            "^[^a]$",
            r#"^"$"#,
            r"^\\$",
            "^é$",
            r"^\s$",
            "^a$|^b$",
            "^$",
            "^(a+)+$",
            "^(a?)*$",
            r"^\bx$",
            "^(?=a)a$",
            "^a{2000}$",
            "^(a{400}){400}$",
            "^a{0}$",
            "^(a|aa)*$",
            "^a|b$",
        ] {
            assert_eq!(plain(pattern), None, "{pattern}");
        }
    }
}
