//! What a value may be where it stands in a path.
//!
//! Encoding alone does not hold a value in its segment: servers and proxies decode once more, twice more, or
//! normalise Unicode, before they look at `/` and `..`. So a value is refused when anything that they could
//! make of it in three steps would change the path.

use rustc_hash::FxHashSet;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::encode::{percent_decode, percent_encode};
use super::value::ValueFault;

/// How a value may use `/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlashRule {
    /// Not at all.
    Refuse,
    /// As a character of one segment, sent as `%2F`.
    Encode,
}

/// A part of a segment that is joined of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentPart<'t> {
    /// Of the manifest; sent unchanged.
    Literal(&'t str),
    /// Of an argument or setting; encoded.
    Value(&'t str),
}

/// The one segment that a value fills, percent-encoded. `max_bytes` is the limit of the whole URL.
pub fn path_segment(value: &str, slash: SlashRule, max_bytes: usize) -> Result<String, ValueFault> {
    check(value, slash, max_bytes)?;
    Ok(percent_encode(value))
}

/// The segments that a value with `/` between them fills, each percent-encoded and held to the rules.
pub fn path_segments(value: &str, max_bytes: usize) -> Result<Vec<String>, ValueFault> {
    if value.len() > max_bytes {
        return Err(ValueFault::TooLong);
    }
    value.split('/').map(|part| path_segment(part, SlashRule::Refuse, max_bytes)).collect()
}

/// The one segment that literals and values fill together: each value is held to the rules, and so is the
/// whole, since parts that are harmless alone may be `..` together.
pub fn joined_segment(parts: &[SegmentPart<'_>], max_bytes: usize) -> Result<String, ValueFault> {
    let (mut whole, mut written) = (String::new(), String::new());
    for part in parts {
        match part {
            SegmentPart::Literal(text) => {
                whole.push_str(text);
                written.push_str(text);
            }
            SegmentPart::Value(value) => {
                check(value, SlashRule::Refuse, max_bytes)?;
                whole.push_str(value);
                written.push_str(&percent_encode(value));
            }
        }
    }
    check(&whole, SlashRule::Refuse, max_bytes)?;
    Ok(written)
}

/// How often a value is decoded or normalised on its way, in any order.
const STEPS: usize = 3;

/// Whether the value, and everything that [`STEPS`] steps make of it, stays one segment.
fn check(value: &str, slash: SlashRule, max_bytes: usize) -> Result<(), ValueFault> {
    if value.len() > max_bytes {
        return Err(ValueFault::TooLong);
    }
    check_form(value.as_bytes(), slash)?;
    let normal = |text: &str| text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes;
    if !value.contains('%') && normal(value) {
        return Ok(());
    }
    let mut seen: FxHashSet<Vec<u8>> = FxHashSet::default();
    let mut forms = vec![value.as_bytes().to_vec()];
    for _ in 0..STEPS {
        let mut reached = Vec::new();
        for form in forms {
            for next in [percent_decode(&form), nfkc(&form)] {
                if seen.insert(next.clone()) {
                    check_form(&next, slash)?;
                    reached.push(next);
                }
            }
        }
        forms = reached;
    }
    Ok(())
}

/// Normalises what is UTF-8 and leaves other bytes, which a later step may complete to a character.
fn nfkc(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().nfkc().collect::<String>().as_bytes());
        out.extend_from_slice(chunk.invalid());
    }
    out
}

fn check_form(form: &[u8], slash: SlashRule) -> Result<(), ValueFault> {
    if form.is_empty() {
        return Err(ValueFault::EmptySegment);
    }
    if form.contains(&b'\\') {
        return Err(ValueFault::Backslash);
    }
    if slash == SlashRule::Refuse && form.contains(&b'/') {
        return Err(ValueFault::Slash);
    }
    if form.split(|byte| *byte == b'/').any(|part| matches!(part, b"." | b"..")) {
        return Err(ValueFault::DotSegment);
    }
    if form.utf8_chunks().any(|chunk| chunk.valid().contains(char::is_control)) {
        return Err(ValueFault::Control);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::Url;

    use super::*;

    const MAX: usize = 8 << 10;

    fn segment(value: &str) -> Result<String, ValueFault> {
        path_segment(value, SlashRule::Refuse, MAX)
    }

    fn with_slash(value: &str) -> Result<String, ValueFault> {
        path_segment(value, SlashRule::Encode, MAX)
    }

    #[test]
    fn ordinary_values_are_encoded() {
        for (value, expected) in [
            ("7", "7"),
            ("...", "..."),
            ("a b", "a%20b"),
            ("100%", "100%25"),
            ("C++", "C%2B%2B"),
            ("a%20b", "a%2520b"),
            ("%zz", "%25zz"),
            ("a.b..c", "a.b..c"),
            ("Who Framed Roger Rabbit?", "Who%20Framed%20Roger%20Rabbit%3F"),
            ("日本", "%E6%97%A5%E6%9C%AC"),
            ("ﬁle", "%EF%AC%81le"),
            ("a;b=1,c:d@e", "a%3Bb%3D1%2Cc%3Ad%40e"),
        ] {
            assert_eq!(segment(value).as_deref(), Ok(expected), "{value}");
        }
    }

    #[test]
    fn what_changes_the_path_in_up_to_three_steps_is_refused() {
        for (value, fault) in [
            ("", ValueFault::EmptySegment),
            (".", ValueFault::DotSegment),
            ("..", ValueFault::DotSegment),
            ("%2e", ValueFault::DotSegment),
            (".%2E", ValueFault::DotSegment),
            ("%252e%252e", ValueFault::DotSegment),
            ("%25252e%2e", ValueFault::DotSegment),
            ("．．", ValueFault::DotSegment),
            ("\u{2024}\u{2024}", ValueFault::DotSegment),
            ("\u{2025}", ValueFault::DotSegment),
            ("%EF%BC%8E", ValueFault::DotSegment),
            ("\u{ff05}2e", ValueFault::DotSegment),
            ("%E2%2580%25A4%E2%2580%25A4", ValueFault::DotSegment),
            ("a/b", ValueFault::Slash),
            ("%2f", ValueFault::Slash),
            ("a%25252Fb", ValueFault::Slash),
            ("a\u{ff0f}b", ValueFault::Slash),
            ("a\u{2100}b", ValueFault::Slash),
            ("%EF%BC%8F", ValueFault::Slash),
            ("\u{ff05}\u{ff12}\u{ff26}", ValueFault::Slash),
            ("..\\admin", ValueFault::Backslash),
            ("%5c", ValueFault::Backslash),
            ("a\u{ff3c}b", ValueFault::Backslash),
            ("a\nb", ValueFault::Control),
            ("a\u{85}b", ValueFault::Control),
            ("\u{7f}", ValueFault::Control),
            ("%00", ValueFault::Control),
            ("%C2%85", ValueFault::Control),
            ("x%250d%250aHost:", ValueFault::Control),
        ] {
            assert_eq!(segment(value), Err(fault), "{value:?}");
        }
        // The fourth step is no longer looked at, and a malformed `%` is text.
        assert!(segment("%2525252e").is_ok() && segment("%2").is_ok() && segment("%%2").is_ok());
        assert_eq!(segment("%%2f2e"), Err(ValueFault::Slash));
    }

    #[test]
    fn an_encoded_slash_may_pass_but_no_step_between_slashes() {
        for (value, expected) in [
            ("AC/DC", "AC%2FDC"),
            ("octocat/Hello-World", "octocat%2FHello-World"),
            ("/", "%2F"),
            ("a//b", "a%2F%2Fb"),
            ("a/", "a%2F"),
            ("a%2fb", "a%252fb"),
            ("a\u{ff0f}b", "a%EF%BC%8Fb"),
        ] {
            assert_eq!(with_slash(value).as_deref(), Ok(expected), "{value}");
        }
        for (value, fault) in [
            ("", ValueFault::EmptySegment),
            ("../../admin", ValueFault::DotSegment),
            ("a/./b", ValueFault::DotSegment),
            ("a/%2e%2e", ValueFault::DotSegment),
            ("a%2f..", ValueFault::DotSegment),
            ("a\u{ff0f}\u{2025}", ValueFault::DotSegment),
            ("a/b\\c", ValueFault::Backslash),
            ("a/\r\nb", ValueFault::Control),
        ] {
            assert_eq!(with_slash(value), Err(fault), "{value:?}");
        }
    }

    #[test]
    fn many_segments_are_each_held_to_the_rules() {
        let many = |value: &str| path_segments(value, MAX).map(|segments| segments.join("/"));
        assert_eq!(many("src/a b/mod.rs").as_deref(), Ok("src/a%20b/mod.rs"));
        for (value, fault) in [
            ("", ValueFault::EmptySegment),
            ("/src", ValueFault::EmptySegment),
            ("src/", ValueFault::EmptySegment),
            ("src//a", ValueFault::EmptySegment),
            ("src/../a", ValueFault::DotSegment),
            ("src/%2e%2e/a", ValueFault::DotSegment),
            ("src%2fa", ValueFault::Slash),
        ] {
            assert_eq!(many(value), Err(fault), "{value}");
        }
    }

    #[test]
    fn a_joined_segment_is_held_to_the_rules_as_a_whole() {
        use SegmentPart::{Literal, Value};
        let joined = |parts: &[SegmentPart<'_>]| joined_segment(parts, MAX);
        assert_eq!(
            joined(&[Value("a b"), Literal("@"), Value("1,2"), Literal(".json")]).as_deref(),
            Ok("a%20b@1%2C2.json")
        );
        assert_eq!(joined(&[Literal("."), Value(".")]), Err(ValueFault::DotSegment));
        assert_eq!(joined(&[Value("%2"), Literal("e")]), Err(ValueFault::DotSegment));
        assert_eq!(joined(&[Literal("a"), Value("%2"), Value("F")]), Err(ValueFault::Slash));
        assert_eq!(joined(&[Literal("a"), Value("")]), Err(ValueFault::EmptySegment));
        assert_eq!(joined(&[Literal("v"), Value(".")]), Err(ValueFault::DotSegment));
    }

    #[test]
    fn a_value_longer_than_any_url_costs_nothing() {
        let long = "\u{fdfa}".repeat(100_000);
        assert_eq!(segment(&long), Err(ValueFault::TooLong));
        assert_eq!(path_segments(&long, MAX), Err(ValueFault::TooLong));
        assert_eq!(
            joined_segment(&[SegmentPart::Literal(&"a".repeat(MAX)), SegmentPart::Value("b")], MAX),
            Err(ValueFault::TooLong)
        );
    }

    /// Texts made of what the rules look for.
    fn near_paths() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "%", "2", "5", "e", "E", "f", "F", "c", "%2e", "%2F", "%25", "%5c", ".", "..", "/", "\\", "a",
            "\u{ff0f}", "\u{ff0e}", "\u{2024}", "\u{2025}", "\u{ff05}", "\u{ff12}", "\u{2100}", "\n",
            "\u{85}", "?", "#", ";", "é", "%c0%ae",
        ]);
        prop_oneof![prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat()), ".*"]
    }

    proptest! {
        #[test]
        fn a_value_never_leaves_its_segment(value in near_paths(), slash: bool) {
            let rule = if slash { SlashRule::Encode } else { SlashRule::Refuse };
            let Ok(encoded) = path_segment(&value, rule, MAX) else { return Ok(()) };
            let text = format!("https://api.example.com/v1/items/{encoded}/sub");
            let url = Url::parse(&text).unwrap();
            prop_assert_eq!(url.as_str(), &text);
            let segments: Vec<_> = url.path_segments().unwrap().collect();
            prop_assert_eq!(segments.len(), 4);
            prop_assert_eq!(percent_decode(segments[2].as_bytes()), value.as_bytes());
            prop_assert_eq!((segments[0], segments[1], segments[3]), ("v1", "items", "sub"));
        }

        /// The law of the format, by another road: every order of up to three steps.
        #[test]
        fn every_order_of_three_steps_leaves_one_segment(value in near_paths()) {
            let accepted = path_segment(&value, SlashRule::Refuse, MAX).is_ok();
            let harmless = |form: &[u8]| {
                let text = String::from_utf8_lossy(form);
                !matches!(text.as_ref(), "" | "." | "..") && !text.contains(['/', '\\']) && !text.contains(char::is_control)
            };
            let mut all = harmless(value.as_bytes());
            for order in 0..8 {
                let mut form = value.clone().into_bytes();
                for step in 0..3 {
                    form = if order >> step & 1 == 0 { percent_decode(&form) } else { nfkc(&form) };
                    all &= harmless(&form);
                }
            }
            prop_assert_eq!(accepted, all);
        }

        #[test]
        fn many_segments_stay_as_many(value in near_paths()) {
            let Ok(segments) = path_segments(&value, MAX) else { return Ok(()) };
            let text = format!("https://api.example.com/v1/{}/sub", segments.join("/"));
            let url = Url::parse(&text).unwrap();
            prop_assert_eq!(url.as_str(), &text);
            let decoded: Vec<_> = url.path_segments().unwrap().map(|part| percent_decode(part.as_bytes())).collect();
            let expected: Vec<_> = ["v1"].into_iter().chain(value.split('/')).chain(["sub"]).map(|part| part.as_bytes().to_vec()).collect();
            prop_assert_eq!(decoded, expected);
        }

        #[test]
        fn joined_values_never_leave_their_segment(a in near_paths(), b in near_paths(), literal in "[a-z.@]{0,2}") {
            let parts = [SegmentPart::Value(&a), SegmentPart::Literal(&literal), SegmentPart::Value(&b)];
            let Ok(encoded) = joined_segment(&parts, MAX) else { return Ok(()) };
            let text = format!("https://api.example.com/v1/{encoded}/sub");
            let url = Url::parse(&text).unwrap();
            prop_assert_eq!(url.as_str(), &text);
            let segments: Vec<_> = url.path_segments().unwrap().collect();
            prop_assert_eq!(segments.len(), 3);
            let whole = format!("{a}{literal}{b}");
            prop_assert_eq!(percent_decode(segments[1].as_bytes()), whole.as_bytes());
        }
    }
}
