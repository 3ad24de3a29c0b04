//! The effect hash of a tool: whatever can change what it does, or what a person or a model reads, changes it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

#[path = "manifest/base.rs"]
#[allow(dead_code, reason = "only the manifest is used")]
mod base;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::base;
use connector_core::TrustLimits;
use connector_core::grant::Grant;
use connector_core::json::{Numbers, Profile, Sha256, read_strict};
use connector_core::manifest::check;
use connector_core::toolset::{Connector, ToolSet};
use serde_json::{Value, json};

fn granted() -> Value {
    json!({
        "origins": { "server": "http://notes.local/base" },
        "settings": { "book": "work", "page": 7, "tone": "plain" },
        "localNetwork": true
    })
}

/// The connector of a manifest, when it is valid and the grant fits it.
fn bind(manifest: &Value, granted: &Value) -> Option<Arc<Connector>> {
    let limits = TrustLimits::default();
    let manifest = check(manifest.to_string().as_bytes(), &limits).manifest?;
    let profile = Profile { max_bytes: 1 << 16, max_depth: 16, numbers: Numbers::Exact };
    let grant = Grant::read(&read_strict(granted.to_string().as_bytes(), profile).unwrap(), &limits).unwrap();
    Connector::bind(manifest, "app", grant, &limits).ok().map(Arc::new)
}

fn effects(connector: &Connector) -> BTreeMap<String, Sha256> {
    let tools = connector.effects();
    // By the name of the tool alone, so that another id is a change of the hash and not of the key.
    tools.map(|(name, hash)| (name.split_once('.').unwrap().1.to_owned(), hash)).collect()
}

/// The tools whose hash is another one.
fn changed(before: &BTreeMap<String, Sha256>, after: &BTreeMap<String, Sha256>) -> BTreeSet<String> {
    let names = before.keys().chain(after.keys());
    names.filter(|name| before.get(*name) != after.get(*name)).cloned().collect()
}

/// Pointers to all values that hold no others, and to empty lists and objects.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    let escape = |name: &str| name.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(name, value)| leaves(value, &format!("{at}/{}", escape(name)), found));
        }
        Value::Array(items) if !items.is_empty() => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, value)| leaves(value, &format!("{at}/{index}"), found));
        }
        _ => found.push(at.to_owned()),
    }
}

/// Other values that might stand where this one does.
fn others(value: &Value) -> Vec<Value> {
    let words = [
        "work",
        "GET",
        "HEAD",
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
        "read",
        "write",
        "destructive",
        "api",
        "server",
        "omit",
        "encode",
        "repeat",
        "comma",
        "brackets",
        "none",
        "same-origin",
        "integer",
        "string",
        "number",
        "boolean",
        "object",
        "token",
        "key",
        "book",
        "page",
        "tone",
        "words",
        "title",
        "text",
        "text/plain",
        "Basic",
        "https://other.example",
    ];
    match value {
        Value::String(text) => {
            let changed =
                [format!("{text}x"), format!("/{text}"), text.replace('a', "b"), text.to_uppercase()];
            let all = changed.into_iter().chain(words.map(str::to_owned));
            all.filter(|other| other != text).map(Value::from).collect()
        }
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            vec![json!(number + 1.0), json!(number - 1.0), json!(number + 0.5), json!("x")]
        }
        Value::Bool(flag) => vec![json!(!flag)],
        Value::Null => vec![json!("x"), json!(1)],
        Value::Array(_) => vec![json!(["x"])],
        Value::Object(_) => vec![json!({ "x": 1 })],
    }
}

/// The tools whose hash covers a leaf, by MANIFEST and DESIGN.
fn covering(manifest: &Value, pointer: &str) -> BTreeSet<String> {
    let parts: Vec<&str> = pointer.split('/').skip(1).collect();
    let uses = |tool: &Value, word: &str| {
        tool["request"].to_string().contains(&format!("\"{word}\":\"{}\"", parts[1]))
    };
    let tools = manifest["tools"].as_array().unwrap().iter().enumerate();
    let covers = |index: usize, tool: &Value| match parts[0] {
        "$schema" | "version" | "supersedes" => false,
        "tools" => parts[1] == index.to_string(),
        "origins" => uses(tool, "origin"),
        "settings" => uses(tool, "$setting"),
        "credentials" => uses(tool, "$credential"),
        _ => true,
    };
    tools
        .filter(|(index, tool)| covers(*index, tool))
        .map(|(_, tool)| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_leaf_of_a_manifest_changes_the_tools_that_it_is_about_and_no_others() {
    let manifest = base();
    let before = effects(&bind(&manifest, &granted()).unwrap());
    let mut pointers = Vec::new();
    leaves(&manifest, "", &mut pointers);
    let (mut changes, mut fixed) = (0, Vec::new());
    for pointer in &pointers {
        let mut valid = 0;
        for other in others(manifest.pointer(pointer).unwrap()) {
            let mut changed_manifest = manifest.clone();
            *changed_manifest.pointer_mut(pointer).unwrap() = other.clone();
            let Some(connector) = bind(&changed_manifest, &granted()) else { continue };
            valid += 1;
            let found = changed(&before, &effects(&connector));
            let mut expected = covering(&manifest, pointer);
            // A tool of another name is another tool: the old name is gone and the new one is there.
            if pointer.starts_with("/tools/")
                && pointer.ends_with("/name")
                && pointer.matches('/').count() == 3
            {
                expected.insert(other.as_str().unwrap().to_owned());
            }
            assert_eq!(found, expected, "{pointer}: {other}");
        }
        changes += valid;
        if valid == 0 {
            fixed.push(pointer.as_str());
        }
    }
    println!("leaves: {}, {changes} valid changes; without one: {}", pointers.len(), fixed.join(", "));
    // What cannot be changed alone (a name that must be declared, a word that the schema calls for) is changed without
    // regard to validity in the unit test of the hash.
    assert!(fixed.len() * 2 < pointers.len(), "most leaves can be changed alone");
}

#[test]
fn a_member_that_goes_changes_the_tools_that_it_is_about() {
    let manifest = base();
    let before = effects(&bind(&manifest, &granted()).unwrap());
    let mut pointers = Vec::new();
    members(&manifest, "", &mut pointers);
    let mut changes = 0;
    for (parent, name) in &pointers {
        let mut less = manifest.clone();
        less.pointer_mut(parent).unwrap().as_object_mut().unwrap().shift_remove(name);
        let Some(connector) = bind(&less, &granted()) else { continue };
        changes += 1;
        let found = changed(&before, &effects(&connector));
        assert_eq!(found, covering(&manifest, &format!("{parent}/{name}")), "{parent}/{name}");
    }
    println!("members: {} of {} may go alone", changes, pointers.len());
    assert!(changes > 20);
}

fn members(value: &Value, at: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                found.push((at.to_owned(), name.clone()));
                members(value, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, value)| members(value, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

#[test]
fn the_order_counts_where_the_server_or_the_model_sees_it() {
    let manifest = base();
    let before = effects(&bind(&manifest, &granted()).unwrap());
    let seen = [
        "/tools/0/request/query",
        "/tools/0/request/headers",
        "/tools/0/parameters/properties",
        "/tools/1/request/body/json",
        "/tools/2/request/body/form",
    ];
    let unseen = [
        "",
        "/origins",
        "/settings",
        "/credentials",
        "/tools/0",
        "/tools/0/limits",
        "/tools/0/request",
        "/origins/server/userProvided",
    ];
    for (pointers, counts) in [(&seen[..], true), (&unseen[..], false)] {
        for pointer in pointers {
            let mut turned = manifest.clone();
            let object = turned.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
            *object = object.clone().into_iter().rev().collect();
            let found = changed(&before, &effects(&bind(&turned, &granted()).unwrap()));
            assert_eq!(found.len(), usize::from(counts), "{pointer}");
        }
    }
}

#[test]
fn what_the_person_binds_changes_the_tools_that_use_it() {
    let before = effects(&bind(&base(), &granted()).unwrap());
    for (change, tools) in [
        (json!({ "origins": { "server": "http://notes.local" } }), &["add", "drop", "say"][..]),
        (json!({ "origins": { "server": "http://other.local/base" } }), &["add", "drop", "say"]),
        (json!({ "origins": { "server": "https://notes.example/base" } }), &["add", "drop", "say"]),
        (json!({ "settings": { "book": "home", "page": 7, "tone": "plain" } }), &["find", "add", "drop"]),
        (json!({ "settings": { "book": "work", "page": 8, "tone": "plain" } }), &["find"]),
        (json!({ "settings": { "book": "work", "page": 7, "tone": "warm" } }), &["find"]),
        (json!({ "flows": ["other"], "confirm": [], "only": ["find"], "loopback": true }), &[]),
    ] {
        let mut other = granted();
        for (member, value) in change.as_object().unwrap() {
            other[member] = value.clone();
        }
        let found = changed(&before, &effects(&bind(&base(), &other).unwrap()));
        assert_eq!(found, tools.iter().map(|tool| (*tool).to_owned()).collect(), "{change}");
    }
}

#[test]
fn a_tool_set_is_named_by_its_tools_whatever_the_order_of_installs() {
    let connector = |id: &str, title: &str| {
        let mut manifest = base();
        manifest["id"] = json!(id);
        manifest["title"] = json!(title);
        bind(&manifest, &granted()).unwrap()
    };
    let set = |connectors: &[Arc<Connector>]| {
        let install =
            |set: ToolSet, connector: &Arc<Connector>| set.install(Arc::clone(connector), None).unwrap();
        connectors.iter().fold(ToolSet::default(), install).hash()
    };
    let (a, b, c) = (connector("a", "T"), connector("b", "T"), connector("c", "T"));
    let sets = [
        set(&[a.clone(), b.clone(), c.clone()]),
        set(&[c.clone(), b.clone(), a.clone()]),
        set(&[b.clone(), a.clone(), c.clone(), a.clone()]),
    ];
    assert!(sets.iter().all(|hash| *hash == sets[0]));
    let others = [
        set(&[]),
        set(std::slice::from_ref(&a)),
        set(&[a.clone(), b.clone()]),
        set(&[a, b, connector("c", "U")]),
        sets[0],
    ];
    assert_eq!(others.iter().map(ToString::to_string).collect::<BTreeSet<_>>().len(), others.len());
}
