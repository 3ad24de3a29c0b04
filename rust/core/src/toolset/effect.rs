//! The effect hash of a tool: everything that can change what it does or what a person or a model reads.

use crate::json::{Object, Path, Sha256, Value, canonical, resolve, sha256};

/// The part of a manifest's JSON that one tool's hash covers, with what the person bound to it.
pub(super) struct Scope<'m> {
    /// The manifest as it was read.
    pub(super) manifest: &'m Value,
    /// The tool's place in `tools`.
    pub(super) tool: usize,
    /// The origin that it uses, with the bound text.
    pub(super) origin: (&'m str, &'m str),
    /// The settings that it uses, with their bound values.
    pub(super) settings: Vec<(&'m str, &'m Value)>,
    /// The credentials that it uses.
    pub(super) credentials: Vec<&'m str>,
}

impl Scope<'_> {
    /// All of it as one document.
    ///
    /// ```text
    /// {"connector": {id, title, description, homepage}, "tool": {...},
    ///  "origins": {name: {"entry", "bound"}}, "settings": {name: {"entry", "bound"}}, "credentials": {name: entry}}
    /// ```
    pub(super) fn document(&self) -> Value {
        let manifest = |name: &str| self.manifest.get(name).cloned().unwrap_or(Value::Null);
        let entry = |kind: &str, name: &str| {
            self.manifest.get(kind).and_then(|named| named.get(name)).cloned().unwrap_or(Value::Null)
        };
        let bound = |kind: &str, name: &str, value: Value| {
            let members = [("entry", entry(kind, name)), ("bound", value)];
            (name.to_owned(), Value::Object(members.into_iter().collect()))
        };
        let tool = resolve(self.manifest, &Path::Root.name("tools").index(self.tool).to_string());
        let connector = ["id", "title", "description", "homepage"].map(|name| (name, manifest(name)));
        let (origin, url) = self.origin;
        let settings = self.settings.iter().map(|(name, value)| bound("settings", name, (*value).clone()));
        let credentials = self.credentials.iter().map(|name| (*name, entry("credentials", name)));
        let document = [
            ("connector", Value::Object(connector.into_iter().collect())),
            ("tool", tool.cloned().unwrap_or(Value::Null)),
            ("origins", Value::Object([bound("origins", origin, url.into())].into_iter().collect())),
            ("settings", Value::Object(settings.collect())),
            ("credentials", Value::Object(credentials.collect())),
        ];
        Value::Object(document.into_iter().collect())
    }
}

/// The effect hash: SHA-256 over the RFC 8785 form of the document of a tool. Where order can be seen on the wire or
/// by the model (query, headers, bodies, response fields, parameters), an object stands as the list of its members.
pub(super) fn hash(document: &Value) -> Sha256 {
    let members = document.as_object().into_iter().flat_map(Object::iter).map(|(name, value)| {
        (name.clone(), if name == "tool" { tool_document(value) } else { value.clone() })
    });
    sha256(canonical(&Value::Object(members.collect())).unwrap_or_default())
}

fn tool_document(tool: &Value) -> Value {
    let members = tool.as_object().into_iter().flat_map(Object::iter).map(|(name, value)| {
        let value = match name.as_str() {
            "parameters" | "response" => in_order(value),
            "request" => request_document(value),
            _ => value.clone(),
        };
        (name.clone(), value)
    });
    Value::Object(members.collect())
}

fn request_document(request: &Value) -> Value {
    let members = request.as_object().into_iter().flat_map(Object::iter).map(|(name, value)| {
        let ordered = matches!(name.as_str(), "query" | "headers" | "body");
        (name.clone(), if ordered { in_order(value) } else { value.clone() })
    });
    Value::Object(members.collect())
}

/// The same value with every object as the list of its members, so that their order counts.
fn in_order(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(in_order).collect()),
        Value::Object(object) => {
            let pair = |(name, value): (&smol_str::SmolStr, &Value)| {
                Value::Array(vec![Value::String(name.clone()), in_order(value)])
            };
            let members = vec![("members", Value::Array(object.iter().map(pair).collect()))];
            Value::Object(members.into_iter().collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::{Numbers, Profile, read_strict};

    fn manifest() -> serde_json::Value {
        json!({
            "$schema": "s", "manifestVersion": 1, "id": "notes", "version": "1", "title": "T", "description": "D",
            "homepage": "https://notes.example", "supersedes": "00",
            "origins": {
                "server": { "userProvided": { "title": "S", "description": "D", "localNetwork": true, "choices": ["a", "b"] } },
                "other": "https://other.example"
            },
            "settings": { "book": { "title": "B", "choices": ["x", "y"] }, "other": { "title": "O" } },
            "credentials": { "token": { "title": "C", "origin": "server", "optional": true }, "other": { "title": "O" } },
            "tools": [
                {
                    "name": "find", "title": "T", "description": "D", "effect": "read",
                    "parameters": {
                        "type": "object", "properties": { "a": { "type": ["string", "null"], "default": null }, "b": {} },
                        "required": ["a"], "additionalProperties": false
                    },
                    "request": {
                        "method": "GET", "origin": "server",
                        "path": ["v1", { "$setting": "book" }, ["n-", { "$param": "a" }], ""],
                        "query": { "q": { "$param": "a", "absent": "omit" }, "bare": null, "size": 10 },
                        "headers": { "X": "y", "Authorization": { "$credential": "token", "scheme": "Bearer" } },
                        "body": { "json": { "a": [{ "$param": "b" }, 1.5, true, {}], "b": [] } },
                        "idempotency": { "header": "Key" }
                    },
                    "response": { "from": "/r", "each": true, "fields": { "a": ["/a", "/b"], "b": { "from": "/b", "join": "," } }, "error": { "if": "/e" } },
                    "limits": { "timeoutMs": 1, "retries": 0 }
                },
                { "name": "other", "request": { "origin": "other", "headers": { "A": { "$credential": "other" } } } }
            ]
        })
    }

    fn hash(manifest: &serde_json::Value) -> Sha256 {
        let profile = Profile { max_bytes: 1 << 16, max_depth: 32, numbers: Numbers::Exact };
        let manifest = read_strict(manifest.to_string().as_bytes(), profile).unwrap();
        let book = Value::from("x");
        let scope = Scope {
            manifest: &manifest,
            tool: 0,
            origin: ("server", "https://a.example"),
            settings: vec![("book", &book)],
            credentials: vec!["token"],
        };
        super::hash(&scope.document())
    }

    /// Everything that can be changed at one place: another value, another name, one member or item less or more.
    fn changes(value: &serde_json::Value) -> Vec<serde_json::Value> {
        use serde_json::Value as Json;
        match value {
            Json::Null => vec![json!(false), json!("null"), json!([])],
            Json::Bool(flag) => vec![json!(!flag), json!(flag.to_string())],
            Json::Number(number) => vec![json!(number.as_f64().unwrap() + 1.0), json!(number.to_string())],
            Json::String(text) => vec![json!(format!("{text} ")), json!([text]), json!(null)],
            Json::Array(items) => {
                let mut changes = vec![json!({ "members": items })];
                changes.push(items.iter().cloned().chain([json!(null)]).collect());
                changes.extend((!items.is_empty()).then(|| items.iter().skip(1).cloned().collect()));
                changes.extend((items.len() > 1).then(|| items.iter().rev().cloned().collect()));
                changes
            }
            Json::Object(members) => {
                let pairs: Vec<_> = members.iter().map(|(name, value)| json!([name, value])).collect();
                let mut changes = vec![json!({ "members": pairs }), json!([members])];
                let mut more = members.clone();
                more.insert("more".to_owned(), json!(null));
                changes.push(Json::Object(more));
                for name in members.keys() {
                    let renamed =
                        |known: &String| if known == name { format!("{known}x") } else { known.clone() };
                    changes
                        .push(members.iter().map(|(name, value)| (renamed(name), value.clone())).collect());
                    changes.push(
                        members
                            .iter()
                            .filter(|(known, _)| *known != name)
                            .map(|(n, v)| (n.clone(), v.clone()))
                            .collect(),
                    );
                }
                changes
            }
        }
    }

    fn places(value: &serde_json::Value, at: String, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(members) => members
                .iter()
                .for_each(|(name, value)| places(value, format!("{at}/{}", name.replace('/', "~1")), found)),
            serde_json::Value::Array(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, value)| places(value, format!("{at}/{index}"), found));
            }
            _ => {}
        }
        found.push(at);
    }

    #[test]
    fn everything_that_a_tool_stands_on_is_in_its_hash_and_nothing_else() {
        let (manifest, before) = (manifest(), hash(&manifest()));
        let mut pointers = Vec::new();
        places(&manifest, String::new(), &mut pointers);
        let (mut inside, mut outside) = (0, 0);
        let own = [
            "/id",
            "/title",
            "/description",
            "/homepage",
            "/tools/0",
            "/origins/server",
            "/settings/book",
            "/credentials/token",
        ];
        let others = [
            "/$schema",
            "/manifestVersion",
            "/version",
            "/supersedes",
            "/tools/1",
            "/origins/other",
            "/settings/other",
            "/credentials/other",
        ];
        let under = |all: &[&str], pointer: &str| {
            all.iter().any(|own| {
                pointer.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        for pointer in &pointers {
            for change in changes(manifest.pointer(pointer).unwrap()) {
                let mut changed = manifest.clone();
                *changed.pointer_mut(pointer).unwrap() = change.clone();
                if under(&own, pointer) {
                    assert_ne!(hash(&changed), before, "{pointer}: {change}");
                    inside += 1;
                } else if under(&others, pointer) {
                    assert_eq!(hash(&changed), before, "{pointer}: {change}");
                    outside += 1;
                }
            }
        }
        assert!(inside > 300 && outside > 50, "{inside} {outside}");
    }

    #[test]
    fn what_is_bound_is_in_the_hash() {
        let profile = Profile { max_bytes: 1 << 16, max_depth: 32, numbers: Numbers::Exact };
        let manifest = read_strict(manifest().to_string().as_bytes(), profile).unwrap();
        let hash = |origin: &str, book: Value| {
            let (origin, settings) = (("server", origin), vec![("book", &book)]);
            let scope = Scope { manifest: &manifest, tool: 0, origin, settings, credentials: vec!["token"] };
            super::hash(&scope.document())
        };
        let base = hash("https://a.example", "x".into());
        assert_ne!(base, hash("https://a.example/b", "x".into()));
        assert_ne!(base, hash("https://a.example", "y".into()));
        assert_ne!(hash("https://a.example", 1_u64.into()), hash("https://a.example", "1".into()));
    }
}
