//! A small valid manifest that uses every part of the format, and changes to it.

use connector_core::manifest::{Report, check};
use connector_core::{Severity, TrustLimits};
use serde_json::{Value, json};

/// Valid, without a warning.
pub(crate) fn base() -> Value {
    json!({
        "$schema": "./manifest.schema.json",
        "manifestVersion": 1,
        "id": "notes",
        "version": "1.2.0",
        "title": "Notes",
        "description": "Find and add notes.",
        "homepage": "https://notes.example",
        "supersedes": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "origins": {
            "api": "https://api.notes.example",
            "server": { "userProvided": { "title": "Your server", "localNetwork": true, "basePath": true } }
        },
        "settings": {
            "book": { "title": "Notebook", "description": "Only this notebook is used." },
            "page": { "title": "Page size", "type": "integer" },
            "tone": { "title": "Tone", "choices": ["plain", "warm"] }
        },
        "credentials": {
            "token": { "title": "API token", "origin": "api" },
            "key": { "title": "Key", "description": "Of your server.", "origin": "server", "optional": true }
        },
        "tools": [
            {
                "name": "find",
                "title": "Find notes",
                "description": "Find notes by words.",
                "effect": "read",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "words": { "type": "string" },
                        "labels": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                        "whole": { "type": "boolean" },
                        "limit": { "type": ["integer", "null"] }
                    },
                    "required": ["words", "limit"]
                },
                "request": {
                    "method": "GET",
                    "origin": "api",
                    "path": ["v1", { "$setting": "book" }, { "$param": "words", "slash": "encode" }, ["n-", { "$param": "words" }, ".json"], ""],
                    "query": {
                        "q": { "$param": "words" },
                        "label": { "$param": "labels", "array": "repeat", "absent": "omit" },
                        "whole": { "$param": "whole", "flag": true, "absent": "omit" },
                        "limit": { "$param": "limit", "absent": "omit" },
                        "$$expand": "all",
                        "page": { "$setting": "page" },
                        "bare": null,
                        "size": 10
                    },
                    "headers": {
                        "Authorization": { "$credential": "token", "scheme": "Bearer" },
                        "X-Words": { "$param": "words" },
                        "X-Tone": { "$setting": "tone" },
                        "Accept": "application/json"
                    }
                },
                "response": { "from": "/results", "each": true, "fields": { "id": "/id" }, "error": { "message": "/detail" } },
                "limits": { "timeoutMs": 10_000, "maxResponseBytes": 100_000, "retries": 2, "redirects": "same-origin", "callsPerMinute": 10 }
            },
            {
                "name": "add",
                "description": "Add a note.",
                "effect": "write",
                "parameters": {
                    "type": "object",
                    "properties": { "title": { "type": "string" }, "text": { "type": ["string", "null"] }, "extra": { "type": "object" } },
                    "required": ["title"],
                    "additionalProperties": false
                },
                "request": {
                    "method": "POST",
                    "origin": "server",
                    "path": ["notes"],
                    "headers": { "X-Api-Key": { "$credential": "key", "absent": "omit" }, "Content-Type": "application/json; charset=utf-8" },
                    "body": { "json": {
                        "title": { "$param": "title" },
                        "text": { "$param": "text", "absent": "omit", "null": "omit" },
                        "extra": [{ "$param": "extra", "absent": "omit" }, { "$setting": "book" }],
                        "$$source": "assistant",
                        "key": { "$credential": "key", "absent": "omit" },
                        "fixed": [1, 1.5, true, null, {}]
                    } },
                    "idempotency": { "header": "Idempotency-Key" }
                },
                "limits": { "retries": 1 }
            },
            {
                "name": "drop",
                "description": "Remove a note.",
                "effect": "destructive",
                "parameters": {
                    "type": "object",
                    "properties": { "id": { "type": "integer" }, "reason": { "type": "string" } },
                    "required": ["id"]
                },
                "request": {
                    "method": "DELETE",
                    "origin": "server",
                    "path": ["notes", { "$param": "id" }],
                    "query": { "id": { "$param": "id" } },
                    "headers": { "Authorization": { "$credential": "key", "scheme": "Basic", "user": "api", "absent": "omit" } },
                    "body": { "form": {
                        "reason": { "$param": "reason", "absent": "omit" },
                        "a[b]": 1,
                        "book": { "$setting": "book" },
                        "secret": { "$credential": "key", "absent": "omit" }
                    } }
                }
            },
            {
                "name": "say",
                "description": "Send a text.",
                "effect": "write",
                "parameters": { "type": "object", "properties": { "text": { "type": "string" } } },
                "request": {
                    "method": "PUT",
                    "origin": "server",
                    "path": [],
                    "headers": { "Content-Type": "text/markdown" },
                    "body": { "text": { "$param": "text", "absent": "omit" } }
                }
            },
            { "name": "ping", "description": "Is it there?", "effect": "write", "request": { "method": "HEAD", "origin": "api", "path": [""] } }
        ]
    })
}

/// What a change does at a pointer.
pub(crate) enum Change {
    /// Puts a value there, in place of what is there.
    Put(&'static str, Value),
    /// Removes what is there.
    Remove(&'static str),
}

/// The base with changes.
pub(crate) fn changed(changes: &[Change]) -> Value {
    let mut manifest = base();
    for change in changes {
        let pointer = match change {
            Change::Put(pointer, _) | Change::Remove(pointer) => *pointer,
        };
        let Some((parent, last)) = pointer.rsplit_once('/') else {
            if let Change::Put(_, value) = change {
                manifest = value.clone();
            }
            continue;
        };
        let last = last.replace("~1", "/").replace("~0", "~");
        let parent = manifest.pointer_mut(parent).unwrap_or_else(|| panic!("nothing at {parent}"));
        match (change, parent) {
            (Change::Put(_, value), Value::Array(items)) => {
                let at: usize = last.parse().unwrap();
                if at < items.len() {
                    items[at] = value.clone();
                } else {
                    items.push(value.clone());
                }
            }
            (Change::Put(_, value), parent) => {
                parent.as_object_mut().unwrap().insert(last, value.clone());
            }
            (Change::Remove(_), Value::Array(items)) => {
                items.remove(last.parse().unwrap());
            }
            (Change::Remove(_), parent) => {
                assert!(
                    parent.as_object_mut().unwrap().shift_remove(&last).is_some(),
                    "nothing at {pointer}"
                );
            }
        }
    }
    manifest
}

/// The report on a manifest.
pub(crate) fn report(manifest: &Value) -> Report {
    check(manifest.to_string().as_bytes(), &TrustLimits::default())
}

/// Rule id and pointer of every finding.
pub(crate) fn found(report: &Report) -> Vec<(&'static str, String)> {
    report.findings.list().iter().map(|finding| (finding.rule.id, finding.pointer.clone())).collect()
}

/// Whether the rule refuses a manifest.
pub(crate) fn is_error(id: &str) -> bool {
    let rule = connector_core::catalogue::all().into_iter().find(|rule| rule.id == id);
    rule.unwrap_or_else(|| panic!("no rule {id}")).severity == Severity::Error
}
