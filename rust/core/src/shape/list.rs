//! Lists, and maps whose names are free.

use std::fmt;

use smol_str::SmolStr;

use super::{Definitions, Reading, SHAPE_COUNT, SHAPE_TYPE, Shape, fragment, object};
use crate::json::{Path, Value};

/// A list of `MIN` to `MAX` entries. All entries are read, also when one of them is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T, const MIN: usize, const MAX: usize>(pub Vec<T>);

impl<T: Shape, const MIN: usize, const MAX: usize> Shape for List<T, MIN, MAX> {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let Some(items) = value.as_array() else {
            let kind = value.kind();
            return reading.refuse(&SHAPE_TYPE, at, format_args!("expected an array, found {kind}"));
        };
        if !(MIN..=MAX).contains(&items.len()) {
            let count = items.len();
            let range = Range(MIN, MAX);
            return reading.refuse(&SHAPE_COUNT, at, format_args!("expected {range} entries, found {count}"));
        }
        let read: Vec<_> =
            items.iter().enumerate().map(|(index, item)| T::read(item, &at.index(index), reading)).collect();
        read.into_iter().collect::<Option<Vec<_>>>().map(Self)
    }

    fn describe(definitions: &mut Definitions) -> Value {
        let mut members = vec![("type", Value::from("array")), ("items", T::describe(definitions))];
        if MIN > 0 {
            members.push(("minItems", MIN.into()));
        }
        if MAX < usize::MAX {
            members.push(("maxItems", MAX.into()));
        }
        fragment(members)
    }
}

/// A map from free names to entries, in file order. What a person gave under the names is not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Members<T>(pub Vec<(SmolStr, T)>);

impl<T> fmt::Debug for Members<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl<T> Default for Members<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Members<T> {
    /// The entry of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, entry)| entry)
    }

    /// The entries in file order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&SmolStr, &T)> {
        self.0.iter().map(|(name, entry)| (name, entry))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Shape> Shape for Members<T> {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let object = object(value, at, reading)?;
        let read: Vec<_> = object
            .iter()
            .map(|(name, value)| T::read(value, &at.name(name), reading).map(|entry| (name.clone(), entry)))
            .collect();
        read.into_iter().collect::<Option<Vec<_>>>().map(Self)
    }

    fn describe(definitions: &mut Definitions) -> Value {
        fragment([("type", "object".into()), ("additionalProperties", T::describe(definitions))])
    }
}

struct Range(usize, usize);

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.0, self.1) {
            (min, usize::MAX) => write!(f, "at least {min}"),
            (0, max) => write!(f, "at most {max}"),
            (min, max) => write!(f, "{min} to {max}"),
        }
    }
}
