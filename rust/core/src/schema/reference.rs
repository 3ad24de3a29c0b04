//! Local references: a JSON Pointer in a URI fragment, to a place where a schema stands.

use std::borrow::Cow;

use super::keyword::{Keyword, keyword};
use crate::json::{Value, resolve};

/// Why a reference leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Broken {
    /// Another document, or a name instead of a pointer.
    Remote,
    /// Nothing is there.
    Missing,
    /// What is there is no schema.
    NotSchema,
}

/// The pointer of a reference, percent-decoded (RFC 6901 section 6).
pub(super) fn pointer(reference: &str) -> Result<Cow<'_, str>, Broken> {
    let fragment = reference.strip_prefix('#').ok_or(Broken::Remote)?;
    if !fragment.is_empty() && !fragment.starts_with('/') {
        return Err(Broken::Remote);
    }
    if !fragment.contains('%') {
        return Ok(Cow::Borrowed(fragment));
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let (high, low) = (digit().ok_or(Broken::Missing)?, digit().ok_or(Broken::Missing)?);
            u8::try_from(high << 4 | low).map_err(|_| Broken::Missing)?
        } else {
            byte
        });
    }
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| Broken::Missing)
}

/// What a place between schemas holds.
enum Place {
    Schema,
    SchemaList,
    SchemaMap,
    SchemaOrList,
}

/// The schema that a pointer leads to, through keywords that hold schemas.
pub(super) fn schema_at<'s>(root: &'s Value, pointer: &str) -> Result<&'s Value, Broken> {
    let Some(found) = resolve(root, pointer) else { return Err(Broken::Missing) };
    let mut place = Place::Schema;
    for token in pointer.split('/').skip(1) {
        place = match place {
            Place::Schema => match keyword(token) {
                Keyword::Schema => Place::Schema,
                Keyword::Items => Place::SchemaOrList,
                Keyword::Schemas => Place::SchemaList,
                Keyword::SchemasByName | Keyword::SchemasByPattern | Keyword::Dependencies => {
                    Place::SchemaMap
                }
                _ => return Err(Broken::NotSchema),
            },
            // Below a list or map of schemas stands a schema; of `items` the list form has indices.
            Place::SchemaList | Place::SchemaMap => Place::Schema,
            Place::SchemaOrList if token.bytes().all(|byte| byte.is_ascii_digit()) => Place::Schema,
            Place::SchemaOrList => match keyword(token) {
                Keyword::Schema => Place::Schema,
                Keyword::Items => Place::SchemaOrList,
                Keyword::Schemas => Place::SchemaList,
                Keyword::SchemasByName | Keyword::SchemasByPattern | Keyword::Dependencies => {
                    Place::SchemaMap
                }
                _ => return Err(Broken::NotSchema),
            },
        };
    }
    let schema = matches!(place, Place::Schema | Place::SchemaOrList);
    if schema && matches!(found, Value::Object(_) | Value::Bool(_)) {
        Ok(found)
    } else {
        Err(Broken::NotSchema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_text;

    #[test]
    fn a_reference_leads_to_schemas_only() {
        let schema = read_text(
            r#"{"$defs": {"a/b": {"type": "string"}, "t~e": true, "é": {}}, "items": [{}, {"items": {"not": {}}}],
                "properties": {"enum": {"enum": [{}]}, "x": 5}, "dependencies": {"x": ["y"]}}"#,
        )
        .unwrap();
        let at = |reference: &str| {
            pointer(reference).and_then(|pointer| schema_at(&schema, &pointer).map(Value::to_text))
        };
        assert_eq!(at("#/$defs/a~1b").as_deref(), Ok(r#"{"type":"string"}"#));
        assert_eq!(at("#/%24defs/%C3%A9").as_deref(), Ok("{}"));
        assert_eq!(at("#/$defs/t~0e").as_deref(), Ok("true"));
        assert_eq!(at("#/items/1/items/not").as_deref(), Ok("{}"));
        assert!(at("#").is_ok());
        for reference in ["other.json", "http://example.com/#/a", "#name", ""] {
            assert_eq!(at(reference), Err(Broken::Remote), "{reference}");
        }
        for reference in ["#/$defs/none", "#/items/7", "#/%zz", "#/%ff"] {
            assert_eq!(at(reference), Err(Broken::Missing), "{reference}");
        }
        for reference in
            ["#/$defs", "#/properties/enum/enum/0", "#/properties/x", "#/dependencies/x", "#/items"]
        {
            assert_eq!(at(reference), Err(Broken::NotSchema), "{reference}");
        }
    }
}
