//! The arguments of a tool, as its slots see them.

use smol_str::SmolStr;

use crate::json::{Path, Value};
use crate::shape::{Definitions, Reading, Shape, fragment, object};

/// What a tool takes.
#[derive(Debug, Clone, Default)]
pub struct Parameters {
    properties: Vec<(SmolStr, Property)>,
    closed: bool,
}

/// What the values of one property can be, over all arguments that the schema accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Property {
    /// Whether the property can be missing.
    pub(super) optional: bool,
    /// The kinds of its values.
    pub(super) kinds: Kinds,
    /// The kinds of the items of its arrays.
    pub(super) items: Kinds,
    /// The fewest items of its arrays.
    pub(super) min_items: u64,
}

/// A set of kinds of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const NUMBER: Self = Self(4);
    pub(super) const STRING: Self = Self(8);
    pub(super) const ARRAY: Self = Self(16);
    pub(super) const OBJECT: Self = Self(32);
    /// What stands as one text.
    pub(super) const SCALAR: Self = Self(2 | 4 | 8);

    /// The kinds of either.
    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The kinds that are not of the other.
    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the sets share a kind.
    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is none.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl std::fmt::Display for Kinds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = ["null", "boolean", "number", "string", "array", "object"];
        let mut named =
            words.iter().enumerate().filter(|(at, _)| self.0 & 1 << at != 0).map(|(_, word)| *word);
        named.next().map_or(Ok(()), |first| f.write_str(first))?;
        named.try_for_each(|word| write!(f, ", {word}"))
    }
}

impl Parameters {
    /// The properties in declared order.
    pub(super) fn properties(&self) -> impl ExactSizeIterator<Item = (&SmolStr, Property)> {
        self.properties.iter().map(|(name, property)| (name, *property))
    }

    /// Whether arguments may hold a member that no property names.
    pub(super) fn takes_undeclared(&self) -> bool {
        !self.closed
    }
}

fn kinds(schema: &Value) -> Kinds {
    let one = |word: &str| match word {
        "null" => Kinds::NULL,
        "boolean" => Kinds::BOOLEAN,
        "integer" | "number" => Kinds::NUMBER,
        "string" => Kinds::STRING,
        "array" => Kinds::ARRAY,
        _ => Kinds::OBJECT,
    };
    match schema.get("type") {
        Some(Value::String(word)) => one(word),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).fold(Kinds::NONE, |all, word| all.or(one(word)))
        }
        _ => Kinds(63),
    }
}

impl Shape for Parameters {
    const REQUIRED: bool = false;

    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let schema = object(value, at, reading)?;
        let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties =
            properties.into_iter().flat_map(|properties| properties.iter()).map(|(name, schema)| {
                let items = schema.get("items").map_or(Kinds(63), kinds);
                let min_items = schema
                    .get("minItems")
                    .and_then(Value::as_number)
                    .and_then(crate::json::Number::as_integer);
                let min_items = min_items.and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
                let optional = !required.iter().any(|required| required.as_str() == Some(name));
                (name.clone(), Property { optional, kinds: kinds(schema), items, min_items })
            });
        let closed =
            !matches!(schema.get("additionalProperties"), Some(Value::Bool(true) | Value::Object(_)));
        Some(Self { properties: properties.collect(), closed })
    }

    fn absent() -> Option<Self> {
        Some(Self { properties: Vec::new(), closed: true })
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("type", "object".into())])
    }
}
