//! The JSON Schema test suite (2020-12 and draft-07) against the open reading: every group is decided right, or
//! its schema is refused by a named rule.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests fail as tests do, and say what they counted"
)]

mod corpus;

use std::collections::BTreeMap;

use connector_core::json::{Numbers, Path, Profile, Value, read_strict};
use connector_core::schema::{Dialect, Formats, Options, Schema, Violation, World};
use connector_core::{Findings, TrustLimits};

/// What a file of the suite came to.
#[derive(Default)]
struct Tally {
    right: usize,
    wrong: Vec<String>,
    refused: BTreeMap<&'static str, Vec<String>>,
}

fn run(file: &str) -> Option<Tally> {
    let text = corpus::text(file)?;
    let profile = Profile { max_bytes: 1 << 24, max_depth: 64, numbers: Numbers::Any };
    let document = read_strict(text.as_bytes(), profile).unwrap();
    let options = Options {
        dialect: if file.contains("draft7") { Dialect::Draft07 } else { Dialect::Draft202012 },
        world: World::Open,
        formats: if file.contains("optional-format") { Formats::Assert } else { Formats::Annotate },
    };
    let mut tally = Tally::default();
    for group in document.get("cases").unwrap().as_array().unwrap() {
        let text = |name: &str| group.get(name).and_then(Value::as_str).unwrap();
        let name = format!("{}: {}", text("file"), text("group"));
        let mut findings = Findings::new();
        let source = group.get("schema").unwrap();
        let limits = TrustLimits::default();
        let Some(schema) = Schema::compile(source, &Path::Root, options, &limits, &mut findings) else {
            let rule = findings.list().first().expect("a refusal names a rule").rule.id;
            tally.refused.entry(rule).or_default().push(name);
            continue;
        };
        assert!(!findings.has_errors(), "{name} was taken in spite of {findings:?}");
        if group.get("needs_remote") == Some(&Value::Bool(true)) {
            tally.wrong.push(format!("{name}: needs a remote schema and was taken"));
        }
        let tests = group.get("tests").unwrap().as_array().unwrap();
        let wrong = tests.iter().find(|test| {
            let answer = schema.accepts(test.get("data").unwrap());
            let named = |reasons: &Vec<_>| {
                !reasons.is_empty() && reasons.iter().all(|reason: &Violation| !reason.keyword.is_empty())
            };
            assert!(
                answer.as_ref().err().is_none_or(named),
                "{name}: {} is refused without a reason",
                test.to_text()
            );
            let accepted = answer.is_ok();
            accepted != test.get("valid").and_then(Value::as_bool).unwrap()
        });
        match wrong {
            Some(test) => tally.wrong.push(format!("{name}: {}", test.to_text())),
            None => tally.right += 1,
        }
    }
    println!("{file}: {} right, {} wrong", tally.right, tally.wrong.len());
    for (rule, groups) in &tally.refused {
        println!("    refused by {rule}: {}", groups.len());
    }
    Some(tally)
}

/// Not in the profile: the last row of the keyword table in docs, each refused by name. `unevaluated*`, anchors,
/// `$dynamicRef` and nested `$id` by the first rule, other documents and names by the second.
const NOT_IN_THE_PROFILE: [&str; 2] = ["schema.keyword_unsupported", "schema.reference_remote"];
/// Schemas that nothing satisfies, which the suite has and a tool cannot use.
const UNSATISFIABLE: &str = "schema.unsatisfiable";

/// No group is decided wrong but those of `argued` (by file of the suite), and these rules alone refuse groups,
/// so many of them.
fn holds(file: &str, refusals: &[(&str, usize)], argued: &[&str]) {
    let Some(tally) = run(file) else { return };
    let is_argued = |group: &&String| argued.iter().any(|file| group.starts_with(&format!("{file}: ")));
    let wrong: Vec<_> = tally.wrong.iter().filter(|group| !is_argued(group)).collect();
    println!("    argued: {}", tally.wrong.len() - wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    for file in argued {
        assert!(
            tally.wrong.iter().any(|group| group.starts_with(&format!("{file}: "))),
            "{file} agrees by now"
        );
    }
    let others = |rule: &str| !NOT_IN_THE_PROFILE.contains(&rule) && rule != UNSATISFIABLE;
    let refused: Vec<_> = tally
        .refused
        .iter()
        .map(|(rule, groups)| (*rule, groups.len()))
        .filter(|(rule, _)| others(rule))
        .collect();
    assert_eq!(refused, refusals, "{:#?}", tally.refused);
}

#[test]
fn draft_2020_12_is_decided() {
    // A `$schema` that switches vocabularies; `\p`.
    let refusals = [("schema.dialect", 2), ("schema.pattern_unsupported", 2)];
    holds("jsonschema/draft2020-12.json", &refusals, &[]);
}

#[test]
fn draft_2020_12_optional_parts_are_decided() {
    let refusals = [
        // Other dialects.
        ("schema.dialect", 2),
        // References into unknown keywords, and such keywords alone.
        ("schema.keyword_unknown", 5),
        // `\p` and look-around.
        ("schema.pattern_unsupported", 4),
        // A reference into `examples`.
        ("schema.reference_target", 1),
    ];
    holds("jsonschema/draft2020-12-optional.json", &refusals, &[]);
}

/// These formats are annotations here: no table of them is exact (the reasons stand with the table).
const ANNOTATIONS: [&str; 5] = ["ecmascript-regex", "hostname", "idn-email", "idn-hostname", "regex"];

#[test]
fn draft_2020_12_formats_are_decided() {
    holds("jsonschema/draft2020-12-optional-format.json", &[], &ANNOTATIONS);
}

#[test]
fn draft_07_is_decided() {
    // What draft-07 ignores is refused.
    holds("jsonschema/draft7.json", &[("schema.reference_siblings", 1)], &[]);
}

#[test]
fn draft_07_optional_parts_are_decided() {
    let refusals = [("schema.keyword_unknown", 1), ("schema.pattern_unsupported", 4)];
    // `contentEncoding` and `contentMediaType` are annotations, as 2020-12 has it.
    holds("jsonschema/draft7-optional.json", &refusals, &["content"]);
}

#[test]
fn draft_07_formats_are_decided() {
    holds("jsonschema/draft7-optional-format.json", &[], &ANNOTATIONS);
}
