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
