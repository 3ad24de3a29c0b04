//! Known formats: the cases of the JSON-Schema-Test-Suite, every one decided right by every exact format, and
//! the exact formats against other programs' and other ways' answers.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests fail and report as tests do"
)]

mod corpus;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use connector_core::schema::strings::formats::{Format, lookup, names};
use connector_core::schema::strings::{Dfa, pattern};
use proptest::prelude::*;

fn exact(name: &str) -> std::sync::Arc<Dfa> {
    match lookup(name) {
        Some(Format::Exact(dfa)) => dfa,
        other => panic!("{name} is {other:?}"),
    }
}

fn decide(file: &str) {
    let Some(cases) = corpus::cases(file) else { return };
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for group in &cases {
        let name = group["schema"]["format"].as_str().expect("a format");
        let (right, not_asserted) = counts.entry(name.to_owned()).or_default();
        for test in group["tests"].as_array().expect("tests") {
            let Some(text) = test["data"].as_str() else { continue };
            match lookup(name) {
                Some(Format::Exact(dfa))
                    if dfa.matches(text) == test["valid"].as_bool().expect("a label") =>
                {
                    *right += 1;
                }
                Some(Format::Exact(_)) => wrong.push(format!("{name}: {text:?} ({})", test["d"])),
                Some(Format::Annotation) | None => *not_asserted += 1,
            }
        }
    }
    for (name, (right, not_asserted)) in &counts {
        println!("{file}, {name}: {right} right, {not_asserted} not asserted");
    }
    let right: usize = counts.values().map(|counts| counts.0).sum();
    println!("{file}: {right} right, 0 argued, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_case_of_draft_2020_12_is_decided_right() {
    decide("jsonschema/draft2020-12-optional-format.json");
}

#[test]
fn every_case_of_draft_7_is_decided_right() {
    decide("jsonschema/draft7-optional-format.json");
}

/// The sizes that the documentation of the table tells.
#[test]
fn exact_formats_are_as_large_as_documented() {
    let sizes: Vec<(&str, u32)> = names()
        .filter_map(|name| match lookup(name) {
            Some(Format::Exact(dfa)) => Some((name, dfa.states())),
            _ => None,
        })
        .collect();
    let documented = [
        ("date", 30),
        ("time", 885),
        ("date-time", 914),
        ("duration", 16),
        ("email", 152),
        ("ipv4", 25),
        ("ipv6", 152),
        ("uri", 180),
        ("uri-reference", 183),
        ("iri", 183),
        ("iri-reference", 186),
        ("uri-template", 14),
        ("uuid", 38),
        ("json-pointer", 4),
        ("relative-json-pointer", 7),
    ];
    assert_eq!(sizes, documented);
}

#[test]
fn a_format_that_is_not_exact_asserts_nothing() {
    for name in ["hostname", "idn-hostname", "idn-email", "regex"] {
        assert_eq!(lookup(name), Some(Format::Annotation), "{name}");
    }
    for name in ["", "Date", "int32", "byte", "unknown"] {
        assert_eq!(lookup(name), None, "{name}");
    }
}

#[test]
fn formats_are_made_once() {
    assert!(std::sync::Arc::ptr_eq(&exact("uuid"), &exact("uuid")));
}

#[test]
fn one_format_within_another() {
    let within = |a: &str, b: &str| exact(a).minus(&exact(b)).expect("formats are small").word(0, None);
    for (a, b) in [
        ("uri", "uri-reference"),
        ("iri", "iri-reference"),
        ("uri", "iri"),
        ("uri-reference", "iri-reference"),
    ] {
        assert_eq!(within(a, b), Ok(None), "each {a} is a {b}");
        assert!(within(b, a).expect("a short word").is_some(), "not each {b} is a {a}");
    }
    assert!(exact("date").and(&exact("date-time")).expect("formats are small").is_none());
    assert!(exact("ipv4").and(&exact("ipv6")).expect("formats are small").is_none());
}

/// Every day of four centuries, and every number of days that a month does not have.
#[test]
fn dates_are_those_of_the_calendar() {
    let dfa = exact("date");
    for year in (0..=9_999).filter(|year| year % 37 == 0 || year % 100 < 5 || *year > 9_900) {
        for month in 0..=13 {
            let days = match month {
                4 | 6 | 9 | 11 => 30,
                2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
                2 => 28,
                1..=12 => 31,
                _ => 0,
            };
            for day in 0..=32 {
                let text = format!("{year:04}-{month:02}-{day:02}");
                assert_eq!(dfa.matches(&text), (1..=days).contains(&day), "{text}");
            }
        }
    }
}

/// Every local time with a leap second, at offsets of whole quarters: exactly 23:59:60 in UTC.
#[test]
fn leap_seconds_are_at_the_end_of_a_day_in_utc() {
    let dfa = exact("time");
    let day: i32 = 24 * 60;
    for local in 0..day {
        for offset in (0..day).step_by(15) {
            for (sign, utc) in [('+', local - offset), ('-', local + offset)] {
                let (hour, minute) = (offset / 60, offset % 60);
                let text = format!("{:02}:{:02}:60{sign}{hour:02}:{minute:02}", local / 60, local % 60);
                assert_eq!(dfa.matches(&text), utc.rem_euclid(day) == day - 1, "{text}");
                assert!(dfa.matches(&text.replace(":60", ":59.5")), "{text}");
            }
        }
    }
    assert!(!dfa.matches("00:06:60+00:07"), "no clock has this offset");
}

#[test]
fn mailboxes_are_those_of_rfc_5321() {
    let dfa = exact("email");
    let long = format!("{}@{}", "a".repeat(200), ["b"; 200].join("."));
    for yes in [
        "a@b",
        "\"\"@b",
        "\"a\\ b\"@b",
        "a@1.2",
        "a@b--c.d",
        "a@[1.2.3.004]",
        "a@[ipv6:1:2:3:4:5:6:7:8]",
        "a@[IPv6:1::8]",
        "a@[IPv6:1:2:3:4:5:6::]",
        "a@[IPv6:1:2:3:4:5:6:7.8.9.10]",
        "a@[IPv6:1::7.8.9.10]",
        &long,
    ] {
        assert!(dfa.matches(yes), "{yes}");
    }
    for no in [
        "a@b.",
        "a@-b",
        "a@b-",
        "a@b_c",
        "é@b",
        "a@é",
        "\"a\"b@c",
        "\"\n\"@b",
        "(c)a@b",
        "a@[1.2.3]",
        "a@[1.2.3.256]",
        "a@[1:2:3:4:5:6:7:8]",
        "a@[IPv6:1:2:3:4:5:6:7::]",
        "a@[IPv6:1:2:3:4:5::7.8.9.10]",
        "a@[tag:content]",
        "a@[]",
    ] {
        assert!(!dfa.matches(no), "{no}");
    }
}

/// Pieces that addresses, and what is nearly one, are made of.
fn address(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pieces), 1..18).prop_map(|pieces| pieces.concat())
}

/// Parts of identifiers, in the order of RFC 3986; each may also be absent.
fn uri() -> impl Strategy<Value = [Option<String>; 6]> {
    let some = |pattern: &'static str| prop::option::weighted(0.6, pattern);
    (
        "[a-zA-Z][a-zA-Z0-9+.-]{0,4}",
        some("([a-z0-9._~!$&'()*+,;=:-]|%[0-9a-fA-F]{2}){0,5}@"),
        some("([a-z0-9._~!$&'()*+,;=-]|%[0-9a-fA-F]{2}){0,6}|\\[::1\\]|\\[v1f\\.a:b\\]"),
        some(":[0-9]{0,5}"),
        some("(/([a-zA-Z0-9._~!$&'()*+,;=:@-]|%[0-9a-fA-F]{2}){0,4}){1,3}"),
        some("\\?([a-z0-9._~!$&'()*+,;=:@/?-]|%[0-9a-fA-F]{2}){0,5}"),
    )
        .prop_map(|(scheme, user, host, port, path, query)| [Some(scheme), user, host, port, path, query])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ipv4_is_what_the_standard_library_reads(text in address(&["0", "1", "25", "255", "256", "99", ".", ".", "."])) {
        prop_assert_eq!(exact("ipv4").matches(&text), text.parse::<Ipv4Addr>().is_ok(), "{}", text);
    }

    #[test]
    fn ipv6_is_what_the_standard_library_reads(
        text in address(&["0", "f", "AbC", "1234", "12345", "::", ":", ":", ":", "1.2.3.4", "."])
    ) {
        prop_assert_eq!(exact("ipv6").matches(&text), text.parse::<Ipv6Addr>().is_ok(), "{}", text);
    }

    #[test]
    fn ipv6_compresses_as_the_standard_library_does(
        left in prop::collection::vec("[0-9a-f]{1,4}", 0..9), right in prop::collection::vec("[0-9a-f]{1,4}", 0..9),
        low in prop::option::of(Just("10.20.30.40".to_owned()))
    ) {
        let right: Vec<String> = right.into_iter().chain(low).collect();
        let text = format!("{}::{}", left.join(":"), right.join(":"));
        prop_assert_eq!(exact("ipv6").matches(&text), text.parse::<Ipv6Addr>().is_ok(), "{}", text);
    }

    #[test]
    fn uris_are_made_of_their_parts(parts in uri(), bad in "[ \"<>\\\\^`{|}é\n]", at in any::<prop::sample::Index>()) {
        let [scheme, user, host, port, path, query] = parts.map(Option::unwrap_or_default);
        let text = format!("{scheme}://{user}{host}{port}{path}{query}");
        let relative = text.strip_prefix(&scheme).and_then(|rest| rest.strip_prefix(':')).expect("the scheme");
        for (name, text) in [("uri", text.as_str()), ("uri-reference", &text), ("uri-reference", relative)] {
            prop_assert!(exact(name).matches(text), "{} {}", name, text);
            let mut broken = text.to_owned();
            broken.insert_str(at.index(text.len()), &bad);
            prop_assert!(!exact(name).matches(&broken), "{} {:?}", name, broken);
        }
        prop_assert!(!exact("uri").matches(relative), "{}", relative);
    }

    #[test]
    fn relative_references_have_no_colon_in_their_first_segment(first in "[a-z0-9@-]{0,3}", second in "([a-z:][a-z:/]{0,3})?") {
        let text = format!("{first}:{second}");
        let scheme = pattern::compile("^[a-z][a-z0-9-]*$").expect("a pattern").matches(&first);
        prop_assert_eq!(exact("uri-reference").matches(&text), scheme, "{}", text);
    }
}
