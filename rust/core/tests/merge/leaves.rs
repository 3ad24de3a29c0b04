//! No leaf of a manifest moves in a merge, but those that may.

use std::sync::Arc;

use connector_core::Code;
use connector_core::toolset::{Connector, ToolSet};
use serde_json::{Value, json};

use crate::base::base;
use crate::kit::{grant, successor, try_connector};

pub(crate) const SOURCE: &str = "source";

/// What the base has no value for.
pub(crate) fn given() -> Value {
    json!({ "origins": { "server": "https://notes.example.org/base" },
        "settings": { "book": "work", "page": 20, "tone": "warm" } })
}

pub(crate) fn bind(manifest: &Value) -> Result<Arc<Connector>, String> {
    try_connector(manifest, SOURCE, grant(&given())).map(Arc::new)
}

/// Other values for a place, of which some may fit; `Null` stands for "gone".
fn others(value: &Value) -> Vec<Value> {
    let mut others = match value {
        Value::String(text) => {
            let mut others: Vec<Value> = vec![json!(format!("{text}x")), json!(format!("x{text}"))];
            let words = [
                "read",
                "write",
                "destructive",
                "GET",
                "HEAD",
                "POST",
                "PUT",
                "PATCH",
                "DELETE",
                "string",
                "integer",
                "number",
                "boolean",
                "object",
                "array",
                "repeat",
                "comma",
                "pipe",
                "brackets",
                "omit",
                "none",
                "text/plain",
                "words",
                "labels",
                "title",
                "text",
                "id",
                "reason",
                "book",
                "page",
                "tone",
                "token",
                "key",
                "server",
                "api",
                "cold",
                "https://api2.notes.example",
                "https://notes.example/about",
                "/detail/x",
                "Token",
                "application/problem+json",
            ];
            others.extend(words.iter().filter(|word| **word != text).map(|word| json!(word)));
            others.push(json!("c".repeat(64)));
            others
        }
        Value::Number(number) => match number.as_i64() {
            Some(number) => vec![json!(number + 1), json!(number - 1), json!(number / 2)],
            None => vec![json!(number.as_f64().unwrap() + 1.0)],
        },
        Value::Bool(value) => vec![json!(!value)],
        _ => Vec::new(),
    };
    others.push(Value::Null);
    others
}

/// The manifest with each leaf changed in every way that still checks and binds: pointer and manifest.
pub(crate) fn variants(manifest: &Value) -> Vec<(String, Value)> {
    let mut pointers = Vec::new();
    collect(manifest, "", &mut pointers);
    let mut variants = Vec::new();
    for pointer in pointers {
        let value = manifest.pointer(&pointer).unwrap();
        for other in others(value) {
            let mut variant = manifest.clone();
            if other.is_null() {
                let (parent, last) = pointer.rsplit_once('/').unwrap();
                match variant.pointer_mut(parent).unwrap() {
                    Value::Array(items) => drop(items.remove(last.parse().unwrap())),
                    parent => drop(parent.as_object_mut().unwrap().shift_remove(&unescape(last))),
                }
            } else {
                *variant.pointer_mut(&pointer).unwrap() = other;
            }
            if bind(&variant).is_ok() {
                variants.push((pointer.clone(), variant));
            }
        }
    }
    variants
}

fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

fn collect(value: &Value, at: &str, pointers: &mut Vec<String>) {
    let mut below: Vec<(String, &Value)> = Vec::new();
    match value {
        Value::Object(object) => {
            below.extend(
                object.iter().map(|(name, value)| (name.replace('~', "~0").replace('/', "~1"), value)),
            );
        }
        Value::Array(items) => below.extend(items.iter().enumerate().map(|(n, item)| (n.to_string(), item))),
        _ => {}
    }
    if !at.is_empty() {
        pointers.push(at.to_owned());
    }
    for (name, value) in below {
        collect(value, &format!("{at}/{name}"), pointers);
    }
}

/// The leaves that no effect hash covers.
const FREE: [&str; 3] = ["/version", "/supersedes", "/$schema"];

/// What stands nowhere else: the entries of what tools share.
#[test]
fn shared_entries_stay_and_are_named() {
    let mut given = given();
    given["origins"]["server"] = json!("https://notes.example.org");
    let bind = |manifest: &Value| Arc::new(try_connector(manifest, SOURCE, grant(&given)).unwrap());
    let set = ToolSet::default().install(bind(&base()), None).unwrap();
    for (pointer, value) in [
        ("/credentials/token/optional", json!(true)),
        ("/credentials/token/description", json!("Make a new one for every call.")),
        ("/settings/tone/choices", json!(["warm"])),
        ("/origins/server/userProvided/basePath", json!(false)),
        ("/origins/server/userProvided/title", json!("Any server")),
    ] {
        let mut next = base();
        let (parent, last) = pointer.rsplit_once('/').unwrap();
        next.pointer_mut(parent).unwrap()[last] = value;
        let refusal = set.replace(bind(&successor(&base(), &next)), set.hash()).unwrap_err();
        assert_eq!(refusal.code, Code::MergeChanged, "{pointer}: {refusal}");
        assert!(refusal.reason.contains(&format!("`{pointer}`")), "{pointer}: {refusal}");
    }
}

/// A merge lets a variant through only where every difference is a narrower schema, a lower limit or a tool gone.
#[test]
fn no_leaf_moves_in_a_merge() {
    let old = base();
    let set = ToolSet::default().install(bind(&old).unwrap(), None).unwrap();
    let mut through = Vec::new();
    let variants = variants(&old);
    let mut pointers: Vec<&str> = variants.iter().map(|(pointer, _)| pointer.as_str()).collect();
    pointers.dedup();
    println!("{} places in {} variants", pointers.len(), variants.len());
    assert!(pointers.len() > 100, "too few can be changed: {pointers:?}");
    for (pointer, variant) in variants {
        if FREE.contains(&pointer.as_str()) {
            continue;
        }
        let new = bind(&successor(&old, &variant)).unwrap();
        if set.replace(new, set.hash()).is_ok() {
            let now = variant.pointer(&pointer).unwrap_or(&Value::Null);
            through.push(format!("{pointer}: {now}"));
        }
    }
    through.sort();
    println!("let through:\n{}", through.join("\n"));
    let may = |line: &String| {
        let pointer = line.split(": ").next().unwrap();
        let whole_tool = pointer.starts_with("/tools/") && pointer.matches('/').count() == 2;
        pointer.contains("/parameters/") || pointer.contains("/limits") || whole_tool
    };
    assert!(through.iter().all(may), "{through:#?}");
    assert!(through.iter().any(|line| line.contains("timeoutMs")), "limits can fall");
}
