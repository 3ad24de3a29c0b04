//! The texts in a parameter schema, which reach the model beside the tool's own.

use crate::json::{Path, Value};
use crate::shape::Reading;
use crate::text::{check_description, check_title};

/// Warns of titles and descriptions in a schema that a model will not get as they are written.
///
/// A walk over the schemas of a schema that was compiled: its keywords have values of the right kind.
pub(in crate::manifest) fn check_annotations(schema: &Value, at: &Path<'_>, reading: &mut Reading<'_>) {
    let Some(object) = schema.as_object() else { return };
    for (keyword, value) in object.iter() {
        let at = at.name(keyword);
        match (keyword.as_str(), value) {
            ("title", text) => check_title(text, &at, reading),
            ("description", text) => check_description(text, &at, reading),
            // Values, in which these names mean nothing, and what nobody reads.
            ("enum" | "const" | "default" | "examples" | "dependentRequired", _) => {}
            (name, _) if name.starts_with("x-") => {}
            (
                "properties" | "patternProperties" | "dependentSchemas" | "dependencies" | "$defs"
                | "definitions",
                Value::Object(schemas),
            ) => {
                for (name, schema) in schemas.iter() {
                    check_annotations(schema, &at.name(name), reading);
                }
            }
            (_, Value::Object(_)) => check_annotations(value, &at, reading),
            (_, Value::Array(schemas)) => {
                for (index, schema) in schemas.iter().enumerate() {
                    check_annotations(schema, &at.index(index), reading);
                }
            }
            _ => {}
        }
    }
}
