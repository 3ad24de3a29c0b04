//! What authors may write.

use std::fs;

use connector_core::TrustLimits;
use connector_core::manifest::check;
use serde_json::json;

use crate::base::{Change, base, changed, found, report};

#[test]
fn the_base_of_these_tests_checks_clean() {
    let report = report(&base());
    assert_eq!(found(&report), []);
    let manifest = report.manifest.unwrap();
    assert_eq!(manifest.id().as_str(), "notes");
    let names: Vec<_> = manifest.tools().iter().map(|tool| tool.full_name().as_str()).collect();
    assert_eq!(names, ["notes.find", "notes.add", "notes.drop", "notes.say", "notes.ping"]);
    assert!(manifest.tool("notes.add").is_some_and(|tool| tool.name().as_str() == "add"));
    assert!(manifest.tool("add").is_none());
}

#[test]
fn the_samples_of_the_format_check_clean() {
    let page = include_str!("../../../../docs/manifest.md");
    let start = page.find("```json\n").unwrap() + 8;
    let sample = &page[start..start + page[start..].find("```").unwrap()];
    let report = check(sample.as_bytes(), &TrustLimits::default());
    assert_eq!(found(&report), []);
    assert_eq!(report.manifest.unwrap().tools().len(), 2);
}

#[test]
fn the_first_party_connectors_check_clean() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../example/connectors");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let report = check(&fs::read(&path).unwrap(), &TrustLimits::default());
            assert_eq!(found(&report), [], "{}", path.display());
            assert!(report.manifest.is_some());
            count += 1;
        }
    }
    assert!(count >= 7);
}

#[test]
fn what_is_not_forbidden_is_taken() {
    let query = "/tools/0/request/query/q";
    for change in [
        Change::Put("/tools/4/effect", json!("read")),
        Change::Put("/tools/4/effect", json!("destructive")),
        Change::Put("/tools/1/effect", json!("read")),
        Change::Put("/tools/3/request/headers/Content-Type", json!("text/plain;charset=UTF-8")),
        Change::Put("/tools/1/request/headers/Content-Type", json!("application/merge-patch+json")),
        Change::Put("/tools/0/request/query/a%20b&c", json!("any name is encoded")),
        Change::Put("/tools/0/request/query/next_page_token", json!("is no secret")),
        Change::Put("/tools/0/request/path/0", json!("a:b@c;d=e,f!$&'()*+~")),
        Change::Put("/tools/0/request/path/0", json!("...")),
        Change::Put("/tools/0/request/headers/X-Count", json!(7)),
        Change::Put("/tools/0/request/headers/X-Empty", json!("")),
        Change::Put(query, json!({ "$param": "words", "flag": false })),
        Change::Put(
            "/tools/1/request/body/json",
            json!({ "a": { "$param": "title" }, "b": { "$param": "text", "absent": "omit" },
            "c": { "$param": "extra", "absent": "omit" }, "$$ref": 1, "$$$x": 2 }),
        ),
        Change::Put("/homepage", json!("https://notes.example/a?b#c")),
        Change::Remove("/homepage"),
        Change::Remove("/supersedes"),
        Change::Remove("/$schema"),
        Change::Remove("/settings/book/title"),
        Change::Remove("/credentials/token/title"),
        Change::Put("/version", json!("2026.11+build-7")),
        Change::Put(
            "/tools/1/parameters/properties/extra",
            json!({ "type": "object", "properties": { "description": { "type": "string" } },
            "default": { "description": "a\u{feff}b" } }),
        ),
    ] {
        let at = match &change {
            Change::Put(at, value) => format!("{at} {value}"),
            Change::Remove(at) => (*at).to_owned(),
        };
        let ids: Vec<_> = found(&report(&changed(&[change])))
            .into_iter()
            .filter(|(id, _)| *id != "manifest.unused_setting")
            .collect();
        assert_eq!(ids, [], "{at}");
    }
}

#[test]
fn what_a_property_can_be_is_judged_on_the_whole_schema() {
    let path = json!(["notes", { "$param": "id" }]);
    let integer = json!({ "type": "integer" });
    for (right, parameters) in [
        (
            true,
            json!({ "type": "object", "properties": { "id": {} }, "allOf": [{ "properties": { "id": integer } }], "required": ["id"] }),
        ),
        (
            true,
            json!({ "$ref": "#/$defs/call", "$defs": { "call": { "type": "object", "properties": { "id": integer }, "required": ["id"] } } }),
        ),
        (
            true,
            json!({ "type": "object", "properties": { "id": { "anyOf": [integer, { "type": "string" }] } }, "required": ["id"] }),
        ),
        (
            true,
            json!({ "type": "object", "properties": { "id": { "enum": [1, "2", true] } }, "required": ["id"] }),
        ),
        (
            true,
            json!({ "type": "object", "properties": { "id": { "type": ["integer", "null"], "not": { "const": null } } }, "required": ["id"] }),
        ),
        (
            false,
            json!({ "type": "object", "properties": { "id": { "enum": [1, null] } }, "required": ["id"] }),
        ),
        (
            false,
            json!({ "type": "object", "properties": { "id": { "anyOf": [integer, { "type": "object" }] } }, "required": ["id"] }),
        ),
        (false, json!({ "type": "object", "properties": { "id": integer } })),
        (
            false,
            json!({ "type": "object", "properties": { "id": integer }, "required": ["id"], "patternProperties": { "^x": true } }),
        ),
        (false, json!({ "type": "object", "required": ["id"] })),
        (false, json!({ "type": ["object", "null"], "properties": { "id": integer }, "required": ["id"] })),
        (false, json!({ "type": "object" })),
        (false, json!(true)),
    ] {
        let changes = [
            Change::Put("/tools/2/parameters", parameters.clone()),
            Change::Put("/tools/2/request", json!({ "method": "DELETE", "origin": "api", "path": path })),
            Change::Put("/tools/1/request/query", json!({})),
        ];
        let report = report(&changed(&changes));
        assert_eq!(report.manifest.is_some(), right, "{parameters}: {:?}", report.findings.list());
    }
}
