//! The text of a schema that changes nothing in what it accepts, but much in what a model makes of it.

use std::collections::BTreeMap;

use super::Schema;
use super::keyword::{Keyword, keyword};
use super::strings::formats;
use crate::json::{Path, Value};

impl Schema {
    /// Every annotation of the schema by its RFC 6901 pointer: titles, descriptions, defaults, examples, `x-...`,
    /// formats without a table, and all else that no value is held to.
    pub fn annotations(&self) -> BTreeMap<String, &Value> {
        let mut found = BTreeMap::new();
        walk(self.source(), &Path::Root, &mut found);
        found
    }
}

fn walk<'v>(schema: &'v Value, at: &Path<'_>, found: &mut BTreeMap<String, &'v Value>) {
    let Some(object) = schema.as_object() else { return };
    for (name, value) in object.iter() {
        let at = at.name(name);
        match (keyword(name), value) {
            (Keyword::Text, Value::String(text)) if name == "format" && formats::lookup(text).is_some() => {}
            (Keyword::Annotation | Keyword::Sample | Keyword::Base | Keyword::Text, _) => {
                found.insert(at.to_string(), value);
            }
            (
                Keyword::SchemasByName | Keyword::SchemasByPattern | Keyword::Dependencies,
                Value::Object(schemas),
            ) => {
                for (name, schema) in schemas.iter() {
                    walk(schema, &at.name(name), found);
                }
            }
            (Keyword::Schema | Keyword::Items, Value::Object(_)) => walk(value, &at, found),
            (Keyword::Schemas | Keyword::Items, Value::Array(schemas)) => {
                for (index, schema) in schemas.iter().enumerate() {
                    walk(schema, &at.index(index), found);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::closed;

    #[test]
    fn annotations_are_found_wherever_a_schema_stands_and_nowhere_else() {
        let schema = closed(
            r#"{"type": "object", "title": "T", "properties": {
                "title": {"type": "string", "description": "D", "format": "uuid"},
                "kind": {"enum": [{"title": "a value"}], "format": "odd", "default": {"title": "x"}},
                "list": {"type": "array", "items": {"anyOf": [{"type": "null", "x-note": 1}, {"type": "string"}]}}}}"#,
        );
        let pointers: Vec<String> = schema.annotations().into_keys().collect();
        assert_eq!(
            pointers,
            [
                "/properties/kind/default",
                "/properties/kind/format",
                "/properties/list/items/anyOf/0/x-note",
                "/properties/title/description",
                "/title"
            ]
        );
    }
}
