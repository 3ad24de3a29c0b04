//! `is_narrower_than` against public pairs of schemas: real upgrades of tools, and the fixtures of three checkers.
//!
//! A label can be wrong, or of another reading: such a case stands in [`ARGUED`] with the reason.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may panic, and prints its counts"
)]

mod corpus;

use std::fmt;

use connector_core::json::{Numbers, Path, Profile, Value, read_strict};
use connector_core::schema::{Dialect, Options, Schema, Verdict, World};
use connector_core::{Findings, TrustLimits};

/// Labels that are wrong or of another reading, with the reason.
const ARGUED: &[(&str, &[&str])] = &[
    (
        "`.` matches no line end in ECMA-262, so `.+` is narrower than `minLength: 1`",
        &[
            "ibm-294", "ibm-295", "ibm-298r", "ibm-299r", "ibm-533", "ibm-534", "ibm-536", "ibm-537",
            "ibm-540r", "ibm-541r", "ibm-542r",
        ],
    ),
    (
        "`format` is asserted here and an annotation in the labels",
        &[
            "ibm-501",
            "ibm-503",
            "ibm-505",
            "ibm-507",
            "sentry-format/format_add-rev",
            "sentry-format/format_change",
            "sentry-format/format_change-rev",
            "sentry-format/format_remove",
            "firecrawl-mcp/firecrawl_map@3.15.0..3.22.2",
        ],
    ),
    ("every multiple of 3 is one of 0.3; the label comes from binary floats", &["ibm-313"]),
    (
        "the label source overlooks minContains, maxContains, dependentRequired, dependentSchemas and propertyNames",
        &[
            "oasdiff-TestRequestPropertyMinContainsIncreased-body",
            "oasdiff-TestRequestPropertyMinContainsIncreased-body-rev",
            "oasdiff-TestRequestPropertyDependentRequiredChanged-body-rev",
            "oasdiff-TestRequestBodyDependentSchemaAdded-body-rev",
            "oasdiff-TestRequestPropertyDependentSchemaAdded-body-rev",
            "oasdiff-TestRequestBodyPropertyNamesAdded-body-rev",
            "oasdiff-TestRequestPropertyPropertyNamesAdded-body-rev",
        ],
    ),
    (
        "a conjunction closes over the names of its dependentSchemas too, so a new one there is a new property",
        &["oasdiff-TestRequestBodyDependentSchemaAdded-body"],
    ),
];

fn cases(file: &str) -> Vec<Value> {
    let Some(text) = corpus::text(&format!("subtyping/{file}.json")) else { return Vec::new() };
    let document = json(&text);
    document.get("cases").unwrap().as_array().unwrap().to_vec()
}

fn json(text: &str) -> Value {
    let profile = Profile { max_bytes: 1 << 24, max_depth: 64, numbers: Numbers::Any };
    read_strict(text.as_bytes(), profile).unwrap()
}

fn text<'v>(case: &'v Value, name: &str) -> &'v str {
    case.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The schema of a case. What the profile refuses to overlook, the labels overlook: members that are no keyword,
/// and draft-04 in name.
fn compile(case: &Value, name: &str, world: World) -> Result<Schema, &'static str> {
    let draft_07 = text(case, "draft").starts_with("draft") && !text(case, "draft").contains("2020");
    let dialect = if draft_07 { Dialect::Draft07 } else { Dialect::Draft202012 };
    let options = Options { dialect, world, ..Options::default() };
    let limits = TrustLimits { schema_depth: 64, ..TrustLimits::default() };
    let mut source = case.get(name).unwrap().clone();
    for _ in 0..100 {
        let mut findings = Findings::new();
        let schema = Schema::compile(&source, &Path::Root, options, &limits, &mut findings);
        let Some(first) = findings.list().first() else { return Ok(schema.unwrap()) };
        match first.rule.id {
            "schema.keyword_unknown" => source = without(&source, "", &first.pointer),
            "schema.dialect" if source.to_text().contains("draft-04") => {
                source = without(&source, "", &first.pointer);
            }
            rule => return Err(rule),
        }
    }
    panic!("{} is never taken", text(case, "id"))
}

/// The document without the member at a pointer.
fn without(value: &Value, at: &str, pointer: &str) -> Value {
    let below = |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(object) => {
            let kept = object.iter().filter(|(name, _)| below(name) != pointer);
            let kept = kept.map(|(name, value)| (name.clone(), without(value, &below(name), pointer)));
            Value::Object(kept.collect())
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            Value::Array(items.map(|(n, item)| without(item, &below(&n.to_string()), pointer)).collect())
        }
        other => other.clone(),
    }
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
fn judge(file: &str, label: &str, world: World) -> Tally {
    let mut tally = Tally::default();
    let argued: Vec<&str> = ARGUED.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
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
            Verdict::Undecided { pointer, reason } => {
                tally.undecided.push(format!("{id}: {pointer} {reason}"))
            }
            verdict if verdict.is_narrower() == narrower => tally.right += 1,
            _ if argued.contains(&id.as_str()) => tally.argued += 1,
            Verdict::Wider { witness, pointer } => {
                let (new, old) = (case.get("new").unwrap(), case.get("prior").unwrap());
                let why = text(&case, "why");
                tally
                    .wrong
                    .push(format!("{id} ({why}) wider at {pointer}: {witness}\n  old {old}\n  new {new}"));
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
    tally
}

/// No pair is decided wrong, none is left open, and the profile refuses only schemas that it names.
fn holds(file: &str, label: &str, world: World) {
    let tally = judge(file, label, world);
    assert!(tally.undecided.is_empty(), "{:#?}", tally.undecided);
    let rules = ["schema.unsatisfiable", "schema.keyword_unsupported", "schema.reference_siblings"];
    let other: Vec<_> =
        tally.refused.iter().filter(|line| !rules.iter().any(|rule| line.ends_with(rule))).collect();
    assert!(other.is_empty(), "{other:#?}");
}

#[test]
fn upgrades_of_real_tools_are_decided() {
    holds("real-tool-evolution", "narrowing_closed", World::Closed);
}

#[test]
fn upgrades_of_real_tools_are_decided_openly() {
    holds("real-tool-evolution", "narrowing", World::Open);
}

#[test]
fn the_pairs_of_jsonsubschema_are_decided() {
    holds("ibm-jsonsubschema", "narrowing_closed", World::Closed);
}

#[test]
fn the_pairs_of_jsonsubschema_are_decided_openly() {
    holds("ibm-jsonsubschema", "narrowing", World::Open);
}

#[test]
fn the_pairs_of_openapi_diff_are_decided() {
    holds("openapi-diff-pairs", "narrowing_closed", World::Closed);
}

#[test]
fn the_pairs_of_openapi_diff_are_decided_openly() {
    holds("openapi-diff-pairs", "narrowing", World::Open);
}

#[test]
fn the_pairs_of_json_schema_diff_are_decided() {
    holds("sentry-json-schema-diff", "narrowing_closed", World::Closed);
}

#[test]
fn the_pairs_of_json_schema_diff_are_decided_openly() {
    holds("sentry-json-schema-diff", "narrowing", World::Open);
}

/// What the merge of two tools comes to, as far as their parameters alone say it.
#[test]
fn merges_of_tools_are_decided() {
    // Where the file leaves it to a policy, DESIGN says: closed by default, formats asserted, annotations do not
    // matter here, an unsatisfiable schema is refused; a property without values can only be left out.
    let policies = [
        ("seed-required-added", "narrower"),
        ("prop-removed-open", "narrower"),
        ("format-added", "narrower"),
        ("format-dropped", "wider"),
        ("description-changed", "narrower"),
        ("uninhabited-required", "refused"),
        ("min-gt-max", "narrower"),
        ("unknown-keyword", "narrower"),
        ("draft-switch", "narrower"),
    ];
    let argued = [
        // Listing properties closes already.
        ("addl-false-dropped", "narrower"),
        // Listing properties closes; saying `additionalProperties: true` opens.
        ("addl-true-explicit", "wider"),
        // The merge refuses it for its text; its values are the same.
        ("title-tool-desc", "narrower"),
        // The token is looked at by the merge; the schemas narrow.
        ("seed-no-supersedes", "narrower"),
        ("seed-stale-supersedes", "narrower"),
        // `unevaluatedProperties` is refused by name, so there is nothing to compare with.
        ("unevaluated-dropped", "refused"),
    ];
    let (mut counts, mut wrong) = ([0; 2], Vec::new());
    for case in cases("tool-merge") {
        let id = text(&case, "id").to_owned();
        let case = if id == "anyof-bomb" { bomb(&case) } else { case };
        let found = match (compile(&case, "new", World::Closed), compile(&case, "prior", World::Closed)) {
            (Ok(new), Ok(old)) => match new.is_narrower_than(&old) {
                Verdict::Narrower => "narrower",
                Verdict::Wider { witness, .. } => {
                    assert!(
                        new.accepts(&witness).is_ok() && old.accepts(&witness).is_err(),
                        "{id}: {witness}"
                    );
                    "wider"
                }
                Verdict::Undecided { pointer, reason } => panic!("{id}: {pointer} {reason}"),
            },
            _ => "refused",
        };
        let labelled = match (text(&case, "expect"), text(&case, "code")) {
            ("accept" | "accept-or-abort-undecided", _) => "narrower",
            (_, "remote-ref" | "bad-ref" | "limits") => "refused",
            ("abort", _) => "wider",
            _ => "",
        };
        let stands_in = |list: &[(&str, &'static str)]| {
            list.iter().find(|(known, _)| *known == id).map(|(_, expected)| *expected)
        };
        let known = stands_in(&policies).or_else(|| stands_in(&argued));
        let expected = known.unwrap_or(labelled);
        if found != expected {
            wrong.push(format!("{id}: {found}, not {expected}"));
        }
        counts[usize::from(known.is_some())] += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    println!(
        "tool-merge: {} right, {} argued or left to a policy, 0 wrong, 0 undecided",
        counts[0], counts[1]
    );
}

/// 2^16 alternatives: `allOf` over sixteen `anyOf`s of two.
fn bomb(case: &Value) -> Value {
    let pair = |n: u32| format!(r#"{{"anyOf":[{{"required":["a{n}"]}},{{"required":["b{n}"]}}]}}"#);
    let pairs: Vec<String> = (0..16).map(pair).collect();
    let text = format!(r#"{{"type":"object","allOf":[{}]}}"#, pairs.join(","));
    let bomb = json(&text);
    let member = |(name, value): (&smol_str::SmolStr, &Value)| {
        (name.clone(), if name == "new" { bomb.clone() } else { value.clone() })
    };
    Value::Object(case.as_object().unwrap().iter().map(member).collect())
}
