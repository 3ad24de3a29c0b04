//! The JSON Schema test suite (2020-12 and draft-07) against the open reading: every group is decided right, or
//! its schema is refused by a named rule.

mod corpus;

use std::collections::BTreeMap;

use connector_core::json::{Numbers, Path, Profile, Value, read_strict};
use connector_core::schema::{Dialect, Formats, Options, Schema, World};
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
            let accepted = schema.accepts(test.get("data").unwrap()).is_ok();
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

/// No group is decided wrong, and these rules alone refuse groups.
fn holds(file: &str, rules: &[&str]) {
    let Some(tally) = run(file) else { return };
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    let others: Vec<_> = tally.refused.iter().filter(|(rule, _)| !rules.contains(*rule)).collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn draft_2020_12_is_decided() {
    holds("jsonschema/draft2020-12.json", &[]);
}

#[test]
fn draft_2020_12_optional_parts_are_decided() {
    holds("jsonschema/draft2020-12-optional.json", &[]);
}

#[test]
fn draft_2020_12_formats_are_decided() {
    holds("jsonschema/draft2020-12-optional-format.json", &[]);
}

#[test]
fn draft_07_is_decided() {
    holds("jsonschema/draft7.json", &[]);
}

#[test]
fn draft_07_optional_parts_are_decided() {
    holds("jsonschema/draft7-optional.json", &[]);
}

#[test]
fn draft_07_formats_are_decided() {
    holds("jsonschema/draft7-optional-format.json", &[]);
}
