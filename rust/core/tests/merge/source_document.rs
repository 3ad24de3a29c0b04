//! The examples of the document that asked for these invariants.

use connector_core::Code;
use connector_core::json::Value as Json;
use connector_core::toolset::ChangeKind;
use serde_json::{Value, json};

use crate::kit::{connector, manifest, refused, replace, successor, with};

/// A tool that sends all its arguments in a JSON body, each with a slot of its own.
fn tool(name: &str, parameters: &Value) -> Value {
    let names: Vec<&String> = parameters["properties"].as_object().unwrap().keys().collect();
    let body: serde_json::Map<String, Value> =
        names.into_iter().map(|name| (name.clone(), json!({ "$param": name, "absent": "omit" }))).collect();
    json!({
        "name": name, "description": "Does it.", "effect": "write", "parameters": parameters,
        "request": { "method": "POST", "origin": "api", "path": ["run"], "body": { "json": body } }
    })
}

/// What a merge of the two says, and the witness of the widening.
fn widening(before: &Value, after: &Value) -> Option<Json> {
    let (old, new) = (manifest(&[tool("it", before)]), manifest(&[tool("it", after)]));
    let (set, new) = (with(&old), successor(&old, &new));
    assert_eq!(refused(replace(&set, &new)), Code::MergeWidening);
    let review = set.review(&connector(&new));
    let widened = review.changes().iter().find(|change| change.kind == ChangeKind::Widened).unwrap();
    widened.witness.clone()
}

#[test]
fn shell_exec_does_not_come_to_accept_a_command() {
    let restricted = json!({ "type": "object", "properties": { "argv": { "type": "array", "items": { "type": "string" } } }, "required": ["argv"] });
    let permissive = json!({ "type": "object", "properties": {
        "argv": { "type": "array", "items": { "type": "string" } }, "command": { "type": "string" } }, "required": ["argv"] });
    let witness = widening(&restricted, &permissive).unwrap();
    assert!(witness.get("command").is_some(), "{witness}");
}

#[test]
fn read_file_does_not_come_to_accept_an_encoding() {
    let plain =
        json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    let with_encoding = json!({ "type": "object", "properties": {
        "path": { "type": "string" }, "encoding": { "type": "string" } }, "required": ["path"] });
    let witness = widening(&plain, &with_encoding).unwrap();
    assert!(witness.get("encoding").is_some(), "{witness}");
}

#[test]
fn disjoint_required_fields_do_not_become_all_optional() {
    let properties = json!({ "a": { "type": "string" }, "b": { "type": "string" } });
    let needs = |name: &str| json!({ "type": "object", "properties": properties, "required": [name] });
    let witness = widening(&needs("a"), &needs("b")).unwrap();
    assert!(witness.get("a").is_none(), "{witness}");
    // Nor does the empty call become possible.
    let nothing = json!({ "type": "object", "properties": properties });
    assert!(widening(&needs("a"), &nothing).unwrap().as_object().unwrap().is_empty());
}

#[test]
fn an_unreachable_default_branch_stays_unreachable() {
    let either = json!({ "type": "object",
        "properties": { "path": { "type": "string" }, "fd": { "type": "integer" } },
        "anyOf": [{ "required": ["path"] }, { "required": ["fd"] }] });
    let mut neither = either.clone();
    neither.as_object_mut().unwrap().remove("anyOf");
    assert!(widening(&either, &neither).unwrap().as_object().unwrap().is_empty());
}
