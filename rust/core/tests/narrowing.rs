//! `is_narrower_than` against public pairs of schemas: real upgrades of tools, and the fixtures of three checkers.
//!
//! A label can be wrong, or of another reading: such a case stands in a list here with the reason.

mod corpus;

use std::fmt;

use connector_core::json::{Numbers, Path, Profile, Value, read_strict};
use connector_core::schema::{Dialect, Options, Schema, Verdict, World};
use connector_core::{Findings, TrustLimits};

fn cases(file: &str) -> Vec<Value> {
    let Some(text) = corpus::text(&format!("subtyping/{file}.json")) else { return Vec::new() };
    let profile = Profile { max_bytes: 1 << 24, max_depth: 64, numbers: Numbers::Any };
    let document = read_strict(text.as_bytes(), profile).unwrap();
    document.get("cases").unwrap().as_array().unwrap().to_vec()
}

fn text<'v>(case: &'v Value, name: &str) -> &'v str {
    case.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn compile(case: &Value, name: &str, world: World) -> Result<Schema, &'static str> {
    let dialect = if text(case, "draft") == "2020-12" { Dialect::Draft202012 } else { Dialect::Draft07 };
    let dialect = if case.get("draft").is_some() { dialect } else { Dialect::Draft202012 };
    let options = Options { dialect, world, ..Options::default() };
    let mut findings = Findings::new();
    let source = case.get(name).unwrap();
    let schema = Schema::compile(source, &Path::Root, options, &TrustLimits::default(), &mut findings);
    schema.ok_or_else(|| findings.list().first().map_or("", |finding| finding.rule.id))
}

/// What a file came to under one reading.
#[derive(Default)]
struct Tally {
    right: usize,
    argued: usize,
    wrong: Vec<String>,
    undecided: Vec<String>,
    refused: Vec<String>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { right, argued, wrong, undecided, refused } = self;
        let (wrong, undecided, refused) = (wrong.len(), undecided.len(), refused.len());
        write!(f, "{right} right, {argued} argued, {wrong} wrong, {undecided} undecided, {refused} refused")
    }
}

/// Every labelled pair of a file, decided and held against the label that `label` names.
fn judge(file: &str, label: &str, world: World, argued: &[(&str, &[&str])]) -> Tally {
    let mut tally = Tally::default();
    let mut unused: Vec<&str> = argued.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    for case in cases(file) {
        let Some(narrower) = case.get(label).and_then(Value::as_bool) else { continue };
        let id = text(&case, "id").to_owned();
        let (new, old) = match (compile(&case, "new", world), compile(&case, "prior", world)) {
            (Ok(new), Ok(old)) => (new, old),
            (Err(rule), _) | (_, Err(rule)) => {
                tally.refused.push(format!("{id}: {rule}"));
                continue;
            }
        };
        let verdict = new.is_narrower_than(&old);
        if let Verdict::Wider { witness, .. } = &verdict {
            assert!(new.accepts(witness).is_ok() && old.accepts(witness).is_err(), "{id}: {witness}");
        }
        match verdict {
            Verdict::Undecided { pointer, reason } => tally.undecided.push(format!("{id}: {pointer} {reason}")),
            verdict if verdict.is_narrower() == narrower => tally.right += 1,
            _ if unused.contains(&id.as_str()) => {
                tally.argued += 1;
                unused.retain(|known| *known != id);
            }
            Verdict::Wider { witness, pointer } => {
                let (new, old) = (case.get("new").unwrap(), case.get("prior").unwrap());
                let why = text(&case, "why");
                tally.wrong.push(format!("{id} ({why}) wider at {pointer}: {witness}\n  old {old}\n  new {new}"));
            }
            _ => {
                let (new, old) = (case.get("new").unwrap(), case.get("prior").unwrap());
                let witness = case.get("witness").map(Value::to_text).unwrap_or_default();
                let why = text(&case, "why");
                tally.wrong.push(format!("{id} ({why}) narrower {witness}\n  old {old}\n  new {new}"));
            }
        }
    }
    println!("{file}, {world:?}: {tally}");
    for line in tally.undecided.iter().chain(&tally.refused) {
        println!("    {line}");
    }
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    if tally.right > 0 {
        assert!(unused.is_empty(), "argued, and yet as labelled: {unused:?}");
    }
    tally
}

#[test]
fn upgrades_of_real_tools_are_decided() {
    judge("real-tool-evolution", "narrowing_closed", World::Closed, &[]);
}

#[test]
fn upgrades_of_real_tools_are_decided_openly() {
    judge("real-tool-evolution", "narrowing", World::Open, &[]);
}

#[test]
fn the_pairs_of_jsonsubschema_are_decided() {
    judge("ibm-jsonsubschema", "narrowing_closed", World::Closed, &[]);
}

#[test]
fn the_pairs_of_jsonsubschema_are_decided_openly() {
    judge("ibm-jsonsubschema", "narrowing", World::Open, &[]);
}

#[test]
fn the_pairs_of_openapi_diff_are_decided() {
    judge("openapi-diff-pairs", "narrowing_closed", World::Closed, &[]);
}

#[test]
fn the_pairs_of_openapi_diff_are_decided_openly() {
    judge("openapi-diff-pairs", "narrowing", World::Open, &[]);
}

#[test]
fn the_pairs_of_json_schema_diff_are_decided() {
    judge("sentry-json-schema-diff", "narrowing_closed", World::Closed, &[]);
}

#[test]
fn the_pairs_of_json_schema_diff_are_decided_openly() {
    judge("sentry-json-schema-diff", "narrowing", World::Open, &[]);
}
