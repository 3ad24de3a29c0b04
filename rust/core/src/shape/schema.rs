//! The JSON Schema (2020-12) of a typed document, built beside its reader.

use smol_str::SmolStr;

use crate::json::{Object, Value};

/// The `$defs` of a schema under construction: each named type once, recursion included.
#[derive(Debug, Default)]
pub struct Definitions {
    named: Vec<(SmolStr, Option<Value>)>,
}

impl Definitions {
    /// The reference to a named type; `describe` is called once, for the first.
    pub fn named(&mut self, name: &str, describe: impl FnOnce(&mut Self) -> Value) -> Value {
        if !self.named.iter().any(|(known, _)| known == name) {
            let at = self.named.len();
            self.named.push((name.into(), None));
            let described = describe(self);
            if let Some((_, slot)) = self.named.get_mut(at) {
                *slot = Some(described);
            }
        }
        fragment([("$ref", format!("#/$defs/{name}").into())])
    }

    /// The reference to an object with fixed members: (name, required, description, schema).
    pub fn record(
        &mut self,
        name: &str,
        description: &str,
        members: impl FnOnce(&mut Self) -> Vec<(&'static str, bool, &'static str, Value)>,
    ) -> Value {
        self.named(name, |definitions| {
            let members = members(definitions);
            let required = members.iter().filter(|member| member.1).map(|member| member.0.into()).collect();
            let properties: Object =
                members.into_iter().map(|(name, _, text, schema)| (name, described(schema, text))).collect();
            let mut parts = vec![("type", Value::from("object"))];
            if !description.trim().is_empty() {
                parts.push(("description", description.trim().into()));
            }
            parts.push(("properties", properties.into()));
            parts.push(("required", Value::Array(required)));
            parts.push(("additionalProperties", false.into()));
            fragment(parts)
        })
    }

    /// The members of `$defs`.
    pub fn into_object(self) -> Object {
        self.named.into_iter().filter_map(|(name, schema)| Some((name, schema?))).collect()
    }
}

/// An object of a schema.
pub fn fragment<'n>(members: impl IntoIterator<Item = (&'n str, Value)>) -> Value {
    Value::Object(members.into_iter().collect())
}

/// The members of one fragment before those of another.
pub fn merged(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) => {
            Value::Object(first.into_iter().chain(second).collect())
        }
        (first, _) => first,
    }
}

fn described(schema: Value, text: &str) -> Value {
    match schema {
        Value::Object(object) if !text.trim().is_empty() => {
            let members = object.into_iter();
            Value::Object(
                std::iter::once(("description".into(), text.trim().into())).chain(members).collect(),
            )
        }
        other => other,
    }
}
