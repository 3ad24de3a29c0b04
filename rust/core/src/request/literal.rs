//! Literals of a request: strings, numbers and booleans that are sent as the manifest has them.

use smol_str::SmolStr;

use super::rules::{LITERAL_KIND, LITERAL_NUMBER};
use super::value::number_text;
use crate::json::{Number, Path, Value};
use crate::shape::{Reading, fragment};

/// Reports an integer that receivers disagree about.
pub(super) fn check_number(number: &Number, at: &Path<'_>, reading: &mut Reading<'_>) {
    if number_text(number).is_err() {
        reading.findings.add(&LITERAL_NUMBER, at, format_args!("the number is beyond 2^53 - 1"));
    }
}

/// The text of a scalar literal of a query, header or form.
pub(super) fn read_text(
    value: &Value,
    place: &str,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) -> Option<SmolStr> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(true) => Some("true".into()),
        Value::Bool(false) => Some("false".into()),
        Value::Number(number) => {
            check_number(number, at, reading);
            number_text(number).ok()
        }
        other => {
            let kind = other.kind();
            reading.refuse(&LITERAL_KIND, at, format_args!("a literal of a {place} is no {kind}"))
        }
    }
}

/// The JSON Schema of a scalar literal, with further types.
pub(super) fn describe(types: &[&str]) -> Value {
    let types = ["string", "number", "boolean"].iter().chain(types).map(|word| (*word).into()).collect();
    fragment([
        ("type", Value::Array(types)),
        ("minimum", (-9_007_199_254_740_991i64).into()),
        ("maximum", 9_007_199_254_740_991i64.into()),
    ])
}
