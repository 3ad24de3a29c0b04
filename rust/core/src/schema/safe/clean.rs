//! What of a schema that is kept reaches the model: annotations, cleaned.

use super::Change;
use super::readable::is_annotation;
use crate::json::{Object, Path, Value};
use crate::schema::keyword::{Keyword, keyword};
use crate::text::{Cleaner, Context};

/// The longest description, in characters; manifests allow no more either.
const CHARS: usize = 8_192;
/// The longest title, which is one line.
const TITLE_CHARS: usize = 80;

/// What is told of the one format that the converter has a rule for and takes for more.
pub(super) const DATE: &str = "`format`: llama.rn takes a 31st of every month; the core does not";

/// A copy of a readable schema with clean texts.
pub(super) fn schema(value: &Value, at: &Path<'_>, cleaner: &Cleaner, changes: &mut Vec<Change>) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let mut copy = Object::new();
    for (name, value) in object.iter() {
        let at = at.name(name);
        let kept = if is_annotation(name) {
            annotation(name, value, &at, cleaner, changes)
        } else {
            if name == "format" && value.as_str() == Some("date") {
                told(changes, &at, DATE);
            }
            Some(match (keyword(name), value) {
                (Keyword::Schema | Keyword::Items, value) => schema(value, &at, cleaner, changes),
                (Keyword::Schemas, Value::Array(list)) => {
                    let each = list.iter().enumerate();
                    if name == "oneOf" {
                        told(changes, &at, "llama.rn reads `oneOf` as `anyOf`");
                    }
                    Value::Array(
                        each.map(|(place, one)| schema(one, &at.index(place), cleaner, changes)).collect(),
                    )
                }
                (Keyword::SchemasByName, Value::Object(schemas)) => {
                    let each = schemas.iter();
                    let each =
                        each.map(|(name, one)| (name.clone(), schema(one, &at.name(name), cleaner, changes)));
                    Value::Object(each.collect())
                }
                (_, value) => value.clone(),
            })
        };
        if let Some(kept) = kept {
            // Names of one object differ.
            let _ = copy.insert(name.clone(), kept);
        }
    }
    Value::Object(copy)
}

/// An annotation as a model may read it; nothing where it says nothing to a model.
pub(super) fn annotation(
    name: &str,
    value: &Value,
    at: &Path<'_>,
    cleaner: &Cleaner,
    changes: &mut Vec<Change>,
) -> Option<Value> {
    match (name, value) {
        ("title" | "description", Value::String(text)) => {
            let clean = match name {
                "title" => cleaner.within(Context::Title).clean(text, TITLE_CHARS),
                _ => cleaner.clean(text, CHARS),
            };
            if clean.changed || clean.truncated {
                told(changes, at, "the text was cleaned for the model");
            }
            Some(clean.text.into())
        }
        ("default" | "examples" | "example", value) if is_clean(value, cleaner) => Some(value.clone()),
        ("default" | "examples" | "example", _) => {
            told(changes, at, "left out: it holds what no model may read");
            None
        }
        ("deprecated" | "readOnly" | "writeOnly", Value::Bool(_)) => Some(value.clone()),
        _ => {
            told(changes, at, "left out: it says nothing to a model");
            None
        }
    }
}

/// Whether every text in a value is clean, and no name is one that the converter takes for a reference.
fn is_clean(value: &Value, cleaner: &Cleaner) -> bool {
    let clean = |text: &str| !cleaner.clean(text, usize::MAX).changed;
    match value {
        Value::String(text) => clean(text),
        Value::Number(number) => number.to_f64().is_finite(),
        Value::Array(items) => items.iter().all(|item| is_clean(item, cleaner)),
        Value::Object(object) => {
            object.iter().all(|(name, value)| name != "$ref" && clean(name) && is_clean(value, cleaner))
        }
        Value::Null | Value::Bool(_) => true,
    }
}

pub(super) fn told(changes: &mut Vec<Change>, at: &Path<'_>, reason: impl Into<String>) {
    changes.push(Change { pointer: at.to_string(), reason: reason.into() });
}
