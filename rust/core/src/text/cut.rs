//! Cutting to a number of characters (Unicode scalar values), with a mark that something is missing.

use super::chars;

/// Stands at the end of a text that was cut. It counts into the limit.
const MARKER: &str = "\u{2026} [truncated]";
/// The mark of titles, and where the limit has no room for words.
const SHORT_MARKER: &str = "\u{2026}";
/// The smallest limit with room for words.
const MIN_FOR_WORDS: usize = 40;
/// How far a cut moves back for what belongs together. Cleaned text has at most 30 marks upon a base; only
/// chains of emoji can be longer, and those may be cut at any link.
const MAX_BACK: usize = 64;

/// Where `text` is cut to have at most `max_chars` characters with its marker, and that marker; `None` when
/// it has no more. A limit of zero leaves no marker either.
pub(super) fn cut(text: &str, max_chars: usize, one_line: bool) -> Option<(&str, &'static str)> {
    text.char_indices().nth(max_chars)?;
    let marker = match max_chars {
        0 => "",
        _ if one_line || max_chars < MIN_FOR_WORDS => SHORT_MARKER,
        _ => MARKER,
    };
    let keep = max_chars.saturating_sub(marker.chars().count());
    let at = text.char_indices().nth(keep).map_or(text.len(), |(at, _)| at);
    let (head, tail) = text.split_at_checked(at)?;
    Some((whole_end(head, tail), marker))
}

/// `head` without the beginning of something that goes on in `tail`, and without joiners left dangling.
fn whole_end<'t>(head: &'t str, tail: &str) -> &'t str {
    let mut next = tail.chars().next();
    let mut shorter = head;
    for _ in 0..=MAX_BACK {
        let mut rest = shorter.chars();
        let last = rest.next_back();
        let torn = next.is_some_and(chars::is_extending)
            || last.is_some_and(chars::is_joiner)
            || (next.is_some_and(chars::is_regional_indicator) && flags_before(shorter) % 2 == 1);
        if !torn || last.is_none() {
            return shorter;
        }
        next = last;
        shorter = rest.as_str();
    }
    head.trim_end_matches(|c| chars::is_joiner(c) || chars::is_selector(c))
}

/// How many regional indicators stand at the end; two make a flag.
fn flags_before(text: &str) -> usize {
    text.chars().rev().take_while(|c| chars::is_regional_indicator(*c)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_to(text: &str, max_chars: usize) -> String {
        cut(text, max_chars, false)
            .map_or_else(|| text.to_owned(), |(head, marker)| format!("{head}{marker}"))
    }

    #[test]
    fn the_marker_is_inside_the_limit() {
        let text = "a".repeat(100);
        assert_eq!(cut_to(&text, 100), text);
        assert_eq!(cut_to(&text, 50), format!("{}\u{2026} [truncated]", "a".repeat(37)));
        assert_eq!(cut_to(&text, 5), "aaaa\u{2026}");
        assert_eq!(cut_to(&text, 1), "\u{2026}");
        assert_eq!(cut_to(&text, 0), "");
        assert_eq!(cut(&text, 80, true).unwrap().1, "\u{2026}");
        assert_eq!(cut_to("", 0), "");
    }

    #[test]
    fn what_belongs_together_is_not_torn() {
        assert_eq!(cut_to("ae\u{301}\u{302}bcd", 4), "a\u{2026}");
        assert_eq!(cut_to("a👨\u{200d}👩\u{200d}👧b", 5), "a\u{2026}");
        assert_eq!(cut_to("x👍🏽yz", 3), "x\u{2026}");
        assert_eq!(cut_to("🇩🇪🇫🇷🇪🇸", 4), "🇩🇪\u{2026}");
        assert_eq!(cut_to("a1\u{fe0f}\u{20e3}b", 4), "a\u{2026}");
        assert_eq!(cut_to("\u{915}\u{94d}\u{200d}\u{937}a", 4), "\u{2026}");
    }

    #[test]
    fn a_chain_without_end_is_cut_at_a_link() {
        let chain = "👨\u{200d}".repeat(200) + "👨";
        let out = cut_to(&chain, 300);
        assert!(out.ends_with("👨\u{2026} [truncated]"), "{out}");
    }
}
