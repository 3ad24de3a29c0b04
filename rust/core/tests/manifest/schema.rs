//! The generated documents: the JSON Schema of the manifest and the list of rules.

use std::{env, fs};

use connector_core::catalogue::rules_page;
use connector_core::manifest::json_schema;

/// Holds a committed file against what is generated; with `UPDATE=1` writes it.
fn hold(name: &str, generated: &str) {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, generated).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "docs/{name} has drifted: run the test with UPDATE=1 and commit the file"
    );
}

#[test]
fn the_json_schema_is_the_one_in_the_documents() {
    hold("manifest.schema.json", &(serde_json::to_string_pretty(&json_schema()).unwrap() + "\n"));
}

#[test]
fn the_list_of_rules_is_the_one_in_the_documents() {
    hold("rules.md", &rules_page());
}
