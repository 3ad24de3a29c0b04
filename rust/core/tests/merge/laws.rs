//! Laws over random sequences of installs, replacements, removals, grants and approvals.

use std::collections::BTreeMap;
use std::sync::Arc;

use connector_core::grant::Grant;
use connector_core::json::Value as Json;
use connector_core::schema::Schema;
use connector_core::toolset::{Connector, ToolSet};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kit::{grant, manifest, restored, tool, try_connector};

/// One step.
#[derive(Debug, Clone)]
struct Step {
    id: usize,
    /// Which of the schemas each of the two tools has; none: the tool is not there.
    options: [Option<usize>; 2],
    required: bool,
    text: bool,
    source: bool,
    /// Whether `supersedes` is right.
    supersedes: bool,
    grant: usize,
    act: Act,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Install,
    Stale,
    Remove,
    Approve,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let act = prop_oneof![6 => Just(Act::Install), 1 => Just(Act::Stale), 2 => Just(Act::Remove), 1 => Just(Act::Approve)];
    let option = proptest::option::weighted(0.85, 0..SCHEMAS.len());
    let often = || proptest::bool::weighted(0.9);
    let step = (0usize..3, [option.clone(), option], often(), often(), often(), often(), 0usize..3, act);
    let step = step.prop_map(|(id, options, required, text, source, supersedes, grant, act)| Step {
        id,
        options,
        required: !required,
        text: !text,
        source: !source,
        supersedes,
        grant,
        act,
    });
    proptest::collection::vec(step, 1..14)
}

/// Most of these are narrower than the one before.
const SCHEMAS: [&str; 7] = [
    "{}",
    r#"{"type": ["integer", "string", "null"]}"#,
    r#"{"type": ["integer", "string"]}"#,
    r#"{"type": ["integer", "string"], "maxLength": 3, "maximum": 9}"#,
    r#"{"type": "integer", "minimum": 0, "maximum": 9}"#,
    r#"{"enum": [1, 2, 3]}"#,
    r#"{"type": "string", "pattern": "^a"}"#,
];

/// Arguments by which growth would show.
fn samples() -> Vec<Json> {
    let values =
        ["null", "1", "2", "7", "10", "-1", "\"\"", "\"a\"", "\"abcd\"", "\"b\"", "[]", "{}", "true", "1.5"];
    let texts = values.iter().map(|value| format!(r#"{{"path":"p","options":{value}}}"#));
    let texts =
        texts.chain([r#"{"path":"p"}"#.to_owned(), "{}".to_owned(), r#"{"path":"p","x":1}"#.to_owned()]);
    let profile = connector_core::json::Profile {
        max_bytes: 1 << 16,
        max_depth: 9,
        numbers: connector_core::json::Numbers::Any,
    };
    texts.map(|text| connector_core::json::read_strict(text.as_bytes(), profile).unwrap()).collect()
}

fn build(step: &Step, set: &ToolSet) -> Option<Arc<Connector>> {
    let id = format!("c{}", step.id);
    let tools: Vec<Value> = step
        .options
        .iter()
        .zip(["one", "two"])
        .filter_map(|(schema, name)| Some(tool(name, &serde_json::from_str(SCHEMAS[(*schema)?]).unwrap())))
        .collect();
    let mut manifest = manifest(&tools);
    manifest["id"] = json!(id);
    if step.text {
        manifest["title"] = json!("Another title");
    }
    if step.required {
        for tool in manifest["tools"].as_array_mut().unwrap() {
            tool["parameters"]["required"] = json!(["path", "options"]);
        }
    }
    if let Some(past) = set.past_of(&id) {
        manifest["version"] = json!("2");
        let hash = if step.supersedes { past.manifest().to_string() } else { "0".repeat(64) };
        manifest["supersedes"] = json!(hash);
    }
    let grants = [json!({}), json!({ "loopback": true }), json!({ "confirm": ["read", "write"] })];
    let source = if step.source { "elsewhere" } else { "source" };
    try_connector(&manifest, source, grant(&grants[step.grant])).ok().map(Arc::new)
}

/// What was ever refused under a name since a person last let something through.
#[derive(Default)]
struct History {
    schemas: BTreeMap<String, Vec<Schema>>,
    required: BTreeMap<String, Vec<bool>>,
}

impl History {
    /// The accepted values of a name never grow, and what it needs does not change.
    fn hold(&mut self, set: &ToolSet, approved: Option<&str>) -> Result<(), TestCaseError> {
        for connector in set.connectors() {
            for tool in connector.manifest().tools() {
                let (name, schema) = (tool.full_name().to_string(), tool.parameters().schema());
                let schemas = self.schemas.entry(name.clone()).or_default();
                let required: Vec<bool> = ["path", "options"]
                    .iter()
                    .map(|name| schema.field(name).is_some_and(|f| !f.absent))
                    .collect();
                if approved == Some(connector.id()) {
                    schemas.clear();
                    self.required.remove(&name);
                }
                for sample in samples() {
                    let grown = schema.accepts(&sample).is_ok()
                        && schemas.iter().any(|old| old.accepts(&sample).is_err());
                    prop_assert!(!grown, "{name} grew by {sample}");
                }
                prop_assert_eq!(self.required.entry(name).or_insert(required.clone()), &required);
                schemas.push(schema.clone());
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_invariant_holds_over_any_sequence(steps in steps()) {
        let mut set = ToolSet::default();
        let mut history = History::default();
        for step in steps {
            let before = (set.hash(), set.tombstones(), set.contract().id());
            let Some(connector) = build(&step, &set) else { continue };
            let id = connector.id().to_owned();
            let result = match step.act {
                Act::Install => set.install(connector.clone(), Some(set.hash())),
                Act::Stale => {
                    let result = set.install(connector.clone(), Some(connector_core::json::sha256("other")));
                    prop_assert!(result.is_err());
                    result
                }
                Act::Remove => set.remove(&id, None),
                Act::Approve => {
                    let approval = set.review(&connector).approve("token", 0);
                    set.install_approved(connector.clone(), Some(set.hash()), approval, 1)
                }
            };
            let Ok(next) = result else {
                // A failed merge leaves the very same set.
                prop_assert_eq!((set.hash(), set.tombstones(), set.contract().id()), before);
                continue;
            };
            if step.act != Act::Remove {
                // Idempotent.
                let again = next.install(connector, Some(next.hash())).unwrap();
                prop_assert_eq!(again.hash(), next.hash());
                prop_assert_eq!(again.tombstones(), next.tombstones());
            }
            // Nothing is forgotten, and every tool there is is remembered.
            prop_assert!(next.tombstones() >= set.tombstones());
            let names = next.connectors().map(|connector| next.past_of(connector.id()).unwrap().names()).sum::<usize>();
            prop_assert!(names <= next.tombstones());
            // The hash hangs on what is installed, not on how it came.
            let fresh = next.connectors().fold(ToolSet::default(), |fresh, connector| fresh.install(connector.clone(), None).unwrap());
            prop_assert_eq!(fresh.hash(), next.hash());
            // What a store keeps is the same past.
            let kept = restored(&next);
            prop_assert_eq!(kept.tombstones(), next.tombstones());
            prop_assert!(kept.past().zip(next.past()).all(|(a, b)| a.tombstones().eq(b.tombstones())));
            let back = next.connectors().fold(kept, |kept, connector| kept.install(connector.clone(), None).unwrap());
            prop_assert_eq!(back.hash(), next.hash());
            set = next;
            history.hold(&set, (step.act == Act::Approve).then_some(&*id))?;
        }
    }

    /// Independent manifests commute.
    #[test]
    fn the_order_of_independent_manifests_does_not_matter(order in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle()) {
        let install = |order: &[usize]| {
            order.iter().fold(ToolSet::default(), |set, n| {
                let mut manifest = manifest(&[tool("t", &json!({ "maxLength": n }))]);
                manifest["id"] = json!(format!("c{n}"));
                set.install(Arc::new(try_connector(&manifest, "s", Grant::default()).unwrap()), None).unwrap()
            })
        };
        let (one, other) = (install(&order), install(&[0, 1, 2, 3, 4, 5]));
        prop_assert_eq!(one.hash(), other.hash());
        prop_assert_eq!(one.contract().id(), other.contract().id());
    }
}
