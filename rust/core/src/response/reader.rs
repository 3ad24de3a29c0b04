//! What a response map takes from a place of an answer.

use super::mapping::Mapping;
use super::pointer::Pointer;
use crate::json::{Path, Value};
use crate::shape::{Definitions, List, Reading, SHAPE_TYPE, Shape, fragment};

/// A reader: a JSON Pointer, a mapping, or a list of readers of which the first counts that finds something.
#[derive(Debug, Clone)]
pub enum Reader {
    /// The value at a place, as it is.
    Pointer(Pointer),
    /// What the mapping makes of it.
    Mapping(Box<Mapping>),
    /// The first that is neither missing nor null; a mapping whose `from` is missing or null counts as missing.
    First(Vec<Reader>),
}

impl Reader {
    /// The most readers of one tool: each pointer, mapping and list below its `response`.
    pub const MAX_COUNT: usize = 128;
    /// The deepest nesting of mappings, the `response` itself being the first.
    pub const MAX_NESTING: usize = 4;
}

impl Shape for Reader {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        match value {
            Value::String(_) => Pointer::read(value, at, reading).map(Self::Pointer),
            Value::Object(_) => Box::<Mapping>::read(value, at, reading).map(Self::Mapping),
            Value::Array(_) => Choice::read(value, at, reading).map(|list| Self::First(list.0)),
            _ => {
                let kind = value.kind();
                let message = format_args!("expected a JSON Pointer, a mapping or a list, found {kind}");
                reading.refuse(&SHAPE_TYPE, at, message)
            }
        }
    }

    fn describe(definitions: &mut Definitions) -> Value {
        definitions.named("Reader", |definitions| {
            let forms = vec![
                Pointer::describe(definitions),
                Mapping::describe(definitions),
                Choice::describe(definitions),
            ];
            let text = "A JSON Pointer, a mapping, or a list of which the first counts that is neither missing nor null.";
            fragment([("description", text.into()), ("anyOf", Value::Array(forms))])
        })
    }
}

type Choice = List<Reader, 1, { Reader::MAX_COUNT }>;
