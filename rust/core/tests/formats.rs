//! The `format` cases of the JSON-Schema-Test-Suite: every exact format decides every one of them right.

use std::collections::BTreeMap;
use std::path::PathBuf;

use connector_core::schema::strings::formats::{Format, lookup};
use serde_json::Value;

fn corpus(file: &str) -> Option<Value> {
    let folder = std::env::var_os("CONNECTOR_CASES").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases")),
        PathBuf::from,
    );
    match std::fs::read_to_string(folder.join("jsonschema").join(file)) {
        Ok(text) => Some(serde_json::from_str(&text).expect("the corpus is JSON")),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "the corpus {file} is needed in CI: {error}");
            println!("skipped: {file} is not there");
            None
        }
    }
}

fn decide(file: &str) {
    let Some(corpus) = corpus(file) else { return };
    let mut counts: BTreeMap<String, (usize, usize, bool)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for group in corpus["cases"].as_array().expect("cases") {
        let name = group["schema"]["format"].as_str().expect("a format");
        let format = lookup(name);
        let entry = counts.entry(name.to_owned()).or_default();
        entry.2 = matches!(format, Some(Format::Exact(_)));
        for test in group["tests"].as_array().expect("tests") {
            let Some(text) = test["data"].as_str() else { continue };
            let Some(Format::Exact(dfa)) = &format else {
                entry.1 += 1;
                continue;
            };
            if dfa.matches(text) == test["valid"].as_bool().expect("a label") {
                entry.0 += 1;
            } else {
                wrong.push(format!("{name}: {text:?} ({})", test["d"]));
            }
        }
    }
    for (name, (right, not_asserted, exact)) in &counts {
        let kind = if *exact { "exact" } else { "annotation" };
        println!("{name}: {kind}, {right} right, {not_asserted} not asserted");
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn draft_2020_12() {
    decide("draft2020-12-optional-format.json");
}

#[test]
fn draft_7() {
    decide("draft7-optional-format.json");
}
