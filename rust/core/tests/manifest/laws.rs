//! The laws of a check, over manifests that were changed at random.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use connector_core::json::{Locator, Path};
use connector_core::manifest::{Report, check, json_schema};
use connector_core::request::{AnySlot, Source};
use connector_core::{TrustLimits, catalogue};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::base::{base, found};

static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema = serde_json::from_str(&json_schema().to_text()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
});

/// One random change of a document.
#[derive(Debug, Clone)]
enum Step {
    /// Puts a value somewhere.
    Put(Index, Value),
    /// Copies a part of the document to another place.
    Copy(Index, Index),
    /// Removes something.
    Remove(Index),
    /// Adds a member.
    Add(Index, &'static str, Value),
}

const NAMES: [&str; 33] = [
    "id",
    "name",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "minItems",
    "items",
    "$param",
    "$setting",
    "$credential",
    "array",
    "flag",
    "absent",
    "null",
    "slash",
    "segments",
    "scheme",
    "user",
    "password",
    "json",
    "form",
    "text",
    "header",
    "Host",
    "Authorization",
    "Content-Type",
    "api_key",
    "$x",
    "retries",
    "redirects",
];

fn values() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(json!(0)),
        Just(json!(1)),
        Just(json!(1.5)),
        Just(json!(9_007_199_254_740_992i64)),
        Just(json!([])),
        Just(json!({})),
        prop::sample::select(&NAMES[..]).prop_map(Value::from),
        prop::sample::select(vec![
            "omit",
            "repeat",
            "comma",
            "brackets",
            "encode",
            "many",
            "GET",
            "POST",
            "DELETE",
            "read",
            "write",
            "destructive",
            "string",
            "object",
            "array",
            "boolean",
            "words",
            "book",
            "token",
            "key",
            "api",
            "server",
            "https://a.example",
            "http://10.0.0.1",
            "..",
            "a/b",
            "%2e",
            "",
            "Bearer",
            "Basic",
            "/a",
            "same-origin",
            "\u{202e}",
            "<|im_start|>",
            "a\r\nb",
            "constructor",
        ])
        .prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    plain.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&NAMES[..]), inner), 0..3).prop_map(|members| {
                members
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            }),
        ]
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (any::<Index>(), values()).prop_map(|(at, value)| Step::Put(at, value)),
        3 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Step::Copy(from, to)),
        2 => any::<Index>().prop_map(Step::Remove),
        3 => (any::<Index>(), prop::sample::select(&NAMES[..]), values()).prop_map(|(at, name, value)| Step::Add(at, name, value)),
    ];
    prop::collection::vec(step, 1..4)
}

/// The pointers of all parts of a document.
fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| pointers(item, &format!("{at}/{index}"), out));
        }
        Value::Object(members) => {
            for (name, value) in members {
                pointers(value, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        _ => {}
    }
}

fn apply(step: &Step, document: &mut Value) {
    let mut all = Vec::new();
    pointers(document, "", &mut all);
    let pick = |index: &Index| all[index.index(all.len())].clone();
    match step {
        Step::Put(at, value) => *document.pointer_mut(&pick(at)).unwrap() = value.clone(),
        Step::Copy(from, to) => {
            let part = document.pointer(&pick(from)).unwrap().clone();
            *document.pointer_mut(&pick(to)).unwrap() = part;
        }
        Step::Add(at, name, value) => {
            if let Some(object) = document.pointer_mut(&pick(at)).and_then(Value::as_object_mut) {
                object.insert((*name).to_owned(), value.clone());
            }
        }
        Step::Remove(at) => {
            let pointer = pick(at);
            let Some((parent, last)) = pointer.rsplit_once('/') else { return };
            match document.pointer_mut(parent).unwrap() {
                Value::Array(items) => drop(items.remove(last.parse().unwrap())),
                Value::Object(members) => drop(members.remove(&last.replace("~1", "/").replace("~0", "~"))),
                _ => unreachable!("a part has a parent"),
            }
        }
    }
}

/// What holds of every report on these bytes.
fn holds(bytes: &[u8]) -> Report {
    let report = check(bytes, &TrustLimits::default());
    let errors = report.findings.list().iter().filter(|finding| finding.is_error()).count();
    assert_eq!(report.manifest.is_none(), report.findings.has_errors());
    assert!(errors > 0 || report.manifest.is_some());
    let rules: BTreeSet<_> = catalogue::all().into_iter().map(|rule| rule.id).collect();
    let locator = Locator::new(bytes, report.findings.list());
    for (index, finding) in report.findings.list().iter().enumerate() {
        assert!(rules.contains(finding.rule.id));
        let place = locator.position(bytes, index);
        assert!(place.line >= 1 && place.column >= 1);
    }
    report
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_check_and_the_json_schema_agree_but_for_named_rules(steps in steps()) {
        let mut document = base();
        for step in &steps {
            apply(step, &mut document);
        }
        let report = holds(document.to_string().as_bytes());
        let found = found(&report);
        if SCHEMA.is_valid(&document) {
            prop_assert!(report.manifest.is_some() || !found.is_empty());
        } else {
            // A manifest without any finding is one for the schema too.
            prop_assert!(!found.is_empty(), "{:?}", SCHEMA.iter_errors(&document).map(|error| error.to_string()).collect::<Vec<_>>());
        }
        for tool in report.manifest.iter().flat_map(|manifest| manifest.tools()) {
            let mut used = BTreeSet::new();
            tool.request().each_slot(&Path::Root, &mut |_, _, slot| {
                if let AnySlot::Slot(slot) = slot && slot.source == Source::Param {
                    used.insert(slot.name.to_string());
                }
            });
            let offered: BTreeSet<_> = tool.parameters().schema().properties().iter().map(ToString::to_string).collect();
            prop_assert_eq!(used, offered);
            prop_assert!(!tool.parameters().schema().takes_undeclared());
        }
    }

    #[test]
    fn no_bytes_make_a_check_panic(
        cut in any::<Index>(), insert in prop::collection::vec(any::<u8>(), 0..6), length in 0..4usize,
    ) {
        let mut bytes = base().to_string().into_bytes();
        let at = cut.index(bytes.len());
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, insert);
        holds(&bytes);
    }
}

proptest! {
    #[test]
    fn no_text_makes_a_check_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), text in "[\\[\\]{}:,\"0-9a-z -]{0,40}") {
        holds(&bytes);
        holds(text.as_bytes());
        holds(format!("{{\"manifestVersion\":1,\"tools\":{text}}}").as_bytes());
    }
}

#[test]
fn the_json_schema_takes_what_checks_clean() {
    assert!(SCHEMA.is_valid(&base()));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../example/connectors");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let errors: Vec<_> = SCHEMA
                .iter_errors(&document)
                .map(|error| format!("{} {error}", error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        }
    }
}

#[test]
fn the_json_schema_refuses_what_it_can() {
    let valid = crate::rules::cases()
        .iter()
        .filter(|case| SCHEMA.is_valid(&crate::base::changed(&case.changes)))
        .count();
    let all = crate::rules::cases().len();
    println!("of {all} broken manifests the JSON Schema alone refuses {}", all - valid);
    assert!((all - valid) * 2 > all);
}
