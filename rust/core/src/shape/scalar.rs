//! Scalars.

use smol_str::SmolStr;

use super::{Definitions, Reading, SHAPE_RANGE, SHAPE_TYPE, Shape, fragment};
use crate::json::{Path, Value};

/// A member that can only be `true` (its absence is `false`), or that says either.
pub type Flag = bool;

impl Shape for bool {
    const REQUIRED: bool = false;

    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let found = value.as_bool();
        if found.is_none() {
            let kind = value.kind();
            reading.findings.add(&SHAPE_TYPE, at, format_args!("expected true or false, found {kind}"));
        }
        found
    }

    fn absent() -> Option<Self> {
        Some(false)
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("type", "boolean".into())])
    }
}

impl Shape for SmolStr {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        if let Value::String(text) = value {
            return Some(text.clone());
        }
        let kind = value.kind();
        reading.refuse(&SHAPE_TYPE, at, format_args!("expected a string, found {kind}"))
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("type", "string".into())])
    }
}

/// Any JSON value, kept as it is.
impl Shape for Value {
    fn read(value: &Value, _: &Path<'_>, _: &mut Reading<'_>) -> Option<Self> {
        Some(value.clone())
    }

    fn describe(_: &mut Definitions) -> Value {
        Value::Bool(true)
    }
}

/// A whole number from `MIN` to `MAX`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Integer<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Integer<MIN, MAX> {
    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl<const MIN: u64, const MAX: u64> Shape for Integer<MIN, MAX> {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let Some(number) = value.as_number() else {
            let kind = value.kind();
            return reading.refuse(&SHAPE_TYPE, at, format_args!("expected a number, found {kind}"));
        };
        let integer = number.as_integer().and_then(|integer| u64::try_from(integer).ok());
        match integer.filter(|integer| (MIN..=MAX).contains(integer)) {
            Some(integer) => Some(Self(integer)),
            None => {
                reading.refuse(&SHAPE_RANGE, at, format_args!("expected a whole number from {MIN} to {MAX}"))
            }
        }
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("type", "integer".into()), ("minimum", MIN.into()), ("maximum", MAX.into())])
    }
}
