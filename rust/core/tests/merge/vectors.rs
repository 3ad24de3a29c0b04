//! Golden hashes, for the tests of other languages too: `tests/vectors/hashes.json` holds manifests as text with the
//! grant and source, and every hash that comes of them. `UPDATE_VECTORS=1` writes the file anew.

use std::sync::Arc;

use connector_core::TrustLimits;
use connector_core::manifest::check;
use connector_core::toolset::{Connector, ToolSet};
use serde_json::{Value, json};

use crate::base::base;
use crate::kit::{grant, manifest, tool};
use crate::leaves::given;

fn hashes(text: &str, source: &str, given: &Value) -> Value {
    let checked = check(text.as_bytes(), &TrustLimits::default()).manifest.unwrap();
    let connector =
        Arc::new(Connector::bind(checked, source, grant(given), &TrustLimits::default()).unwrap());
    let effects: serde_json::Map<String, Value> =
        connector.effects().map(|(name, hash)| (name.to_owned(), json!(hash.to_string()))).collect();
    let set = ToolSet::default().install(connector.clone(), None).unwrap();
    json!({
        "manifest": connector.manifest().sha256().to_string(),
        "grant": connector.grant_hash().to_string(),
        "effects": effects,
        "toolSet": set.hash().to_string(),
        "contract": set.contract().id().to_string(),
    })
}

fn inputs() -> Vec<(&'static str, String, Value)> {
    let plain = manifest(&[tool(
        "read",
        &json!({ "type": "object", "properties": { "é": { "enum": ["ü", 1, 1.5, null] } } }),
    )]);
    vec![
        ("every part of the format", serde_json::to_string_pretty(&base()).unwrap(), given()),
        ("one tool, no grant", plain.to_string(), json!({})),
        ("the same with other white space", format!("\n {plain}\n"), json!({})),
        ("a narrower grant", plain.to_string(), json!({ "only": ["read"], "confirm": ["read", "write"] })),
    ]
}

#[test]
fn hashes_are_the_golden_ones() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/hashes.json");
    let cases: Vec<Value> = inputs()
        .into_iter()
        .map(|(name, text, given)| {
            let hashes = hashes(&text, "https://connectors.example", &given);
            json!({ "name": name, "source": "https://connectors.example", "grant": given, "text": text, "hashes": hashes })
        })
        .collect();
    let now = json!({ "cases": cases });
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        std::fs::write(path, serde_json::to_string_pretty(&now).unwrap() + "\n").unwrap();
    }
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(golden, now);
}
