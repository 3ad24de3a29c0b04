//! The text that a JSON value is sent as, and why a value cannot be sent.

use std::fmt;

use smol_str::{SmolStr, format_smolstr};

use crate::json::{Number, Object, Value};

/// Why a value cannot stand in its position. Never holds the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueFault {
    /// No value, where the slot is not left out.
    Missing,
    /// A null, array or object where one text is sent.
    NotScalar,
    /// No array where the slot sends one.
    NotArray,
    /// No boolean where the slot sends a flag.
    NotBoolean,
    /// An array without items.
    NoItems,
    /// An empty item of a list that is sent as one text.
    EmptyItem,
    /// An item that holds the character between the items.
    Delimiter,
    /// An integer beyond 2^53 - 1, which receivers disagree about.
    LargeInteger,
    /// `-0`, or a number that a double does not keep.
    InexactNumber,
    /// Nothing, where a path has a segment.
    EmptySegment,
    /// `.` or `..`, or what servers may take for it.
    DotSegment,
    /// `/`, or what servers may take for it.
    Slash,
    /// `\`, or what servers may take for it.
    Backslash,
    /// A control character in a path, or what servers may take for one.
    Control,
    /// Longer than the whole may be.
    TooLong,
    /// A character that a header value does not have: anything but visible ASCII, space and tab.
    HeaderCharacter,
    /// A space or tab at an end of a header value.
    HeaderEdge,
}

impl ValueFault {
    /// What is asked of a value, said to whoever wrote it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Missing => "give a value",
            Self::NotScalar => "give a string, number or boolean",
            Self::NotArray => "give an array",
            Self::NotBoolean => "give true or false",
            Self::NoItems => "give at least one item",
            Self::EmptyItem => "leave out empty items",
            Self::Delimiter => "give items without the separator of the list",
            Self::LargeInteger => "give an integer of at most 9007199254740991",
            Self::InexactNumber => "give a number of at most 15 digits, and 0 without a sign",
            Self::EmptySegment => "give a value that is not empty",
            Self::DotSegment => "give a value that is no `.` or `..`, also not encoded",
            Self::Slash => "give a value without `/`, also not encoded",
            Self::Backslash => "give a value without a backslash, also not encoded",
            Self::Control => {
                "give a value without line breaks and other control characters, also not encoded"
            }
            Self::TooLong => "give a shorter value",
            Self::HeaderCharacter => "give a value of plain ASCII characters without line breaks",
            Self::HeaderEdge => "give a value without a blank at its start or end",
        }
    }
}

impl fmt::Display for ValueFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "there is no value, and the slot is not left out",
            Self::NotScalar => "a null, array or object stands where one text is sent",
            Self::NotArray => "the slot sends an array and the value is none",
            Self::NotBoolean => "the slot sends a flag and the value is no boolean",
            Self::NoItems => "the array has no items",
            Self::EmptyItem => "an item of the list is empty",
            Self::Delimiter => "an item of the list holds the separator",
            Self::LargeInteger => "an integer is beyond 2^53 - 1",
            Self::InexactNumber => "a number is -0 or does not keep its value as a double",
            Self::EmptySegment => "a path segment is empty",
            Self::DotSegment => "a path segment is `.` or `..`, or decodes or normalises to it",
            Self::Slash => "a path segment holds `/`, or decodes or normalises to it",
            Self::Backslash => "a path segment holds a backslash, or decodes or normalises to it",
            Self::Control => "a path segment holds a control character, or decodes to one",
            Self::TooLong => "the value is over the limit of its position",
            Self::HeaderCharacter => "a header value holds more than visible ASCII, spaces and tabs",
            Self::HeaderEdge => "a header value begins or ends with a blank",
        })
    }
}

impl std::error::Error for ValueFault {}

/// The text of a scalar in a path, query, header or form: strings as they are, `true` and `false`, integers
/// (`1.0` and `1e2` are integers) as plain digits, other numbers as RFC 8785 writes them.
pub fn scalar_text(value: &Value) -> Result<SmolStr, ValueFault> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(true) => Ok("true".into()),
        Value::Bool(false) => Ok("false".into()),
        Value::Number(number) => number_text(number),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(ValueFault::NotScalar),
    }
}

/// The value as it is placed in a JSON body: members in order, numbers written as [`scalar_text`] does. Takes
/// what the reader has bounded in depth.
pub fn json_value(value: &Value) -> Result<Value, ValueFault> {
    Ok(match value {
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
        Value::Number(number) => {
            // The text of a number is one.
            Value::Number(Number::parse(&number_text(number)?).ok_or(ValueFault::InexactNumber)?)
        }
        Value::Array(items) => Value::Array(items.iter().map(json_value).collect::<Result<_, _>>()?),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| Ok((name.clone(), json_value(value)?)));
            Value::Object(members.collect::<Result<Vec<_>, ValueFault>>()?.into_iter().collect::<Object>())
        }
    })
}

/// The largest integer that every receiver reads as the same value (RFC 8259 section 6).
const MAX_SAFE: i128 = (1 << 53) - 1;

/// The text that a number is sent as, in every position.
pub(super) fn number_text(number: &Number) -> Result<SmolStr, ValueFault> {
    if number.is_short_integer() && number.keeps_its_value() {
        return Ok(number.lexeme().into());
    }
    let decimal = number.decimal();
    if decimal.exponent >= 0 && !decimal.digits.is_empty() {
        let integer = number.as_integer().filter(|integer| (-MAX_SAFE..=MAX_SAFE).contains(integer));
        return integer.map(|integer| format_smolstr!("{integer}")).ok_or(ValueFault::LargeInteger);
    }
    if !number.keeps_its_value() {
        return Err(ValueFault::InexactNumber);
    }
    number.canonical().map(SmolStr::from).ok_or(ValueFault::InexactNumber)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_text;

    fn text(json: &str) -> Result<String, ValueFault> {
        let number = Number::parse(json).map(Value::Number);
        scalar_text(&number.unwrap_or_else(|| read_text(json).unwrap())).map(Into::into)
    }

    #[test]
    fn scalars_are_sent_as_the_format_says() {
        for (json, expected) in [
            ("\"007\"", "007"),
            ("\"1e3\"", "1e3"),
            ("\"true\"", "true"),
            ("\"\"", ""),
            ("true", "true"),
            ("false", "false"),
            ("0", "0"),
            ("0.0", "0"),
            ("0e5", "0"),
            ("1.0", "1"),
            ("1e2", "100"),
            ("-1200e-2", "-12"),
            ("9007199254740991", "9007199254740991"),
            ("-9007199254740991.0", "-9007199254740991"),
            ("0.1", "0.1"),
            ("1.50", "1.5"),
            ("2e-7", "2e-7"),
            ("-0.5", "-0.5"),
        ] {
            assert_eq!(text(json).as_deref(), Ok(expected), "{json}");
        }
    }

    #[test]
    fn numbers_that_receivers_read_differently_are_refused_in_every_position() {
        for (json, fault) in [
            ("9007199254740992", ValueFault::LargeInteger),
            ("9007199254740993", ValueFault::LargeInteger),
            ("-9007199254740992", ValueFault::LargeInteger),
            ("1e16", ValueFault::LargeInteger),
            ("1e400", ValueFault::LargeInteger),
            ("1e99999999999999999999", ValueFault::LargeInteger),
            ("-0", ValueFault::InexactNumber),
            ("-0.0", ValueFault::InexactNumber),
            ("-0e3", ValueFault::InexactNumber),
            ("0.1000000000000000055511151231257827", ValueFault::InexactNumber),
            ("1e-400", ValueFault::InexactNumber),
        ] {
            assert_eq!(text(json), Err(fault), "{json}");
            let nested = Value::Array(vec![Value::Number(Number::parse(json).unwrap())]);
            let nested = Value::Object([("a", nested)].into_iter().collect());
            assert_eq!(json_value(&nested), Err(fault), "{json}");
        }
    }

    #[test]
    fn what_is_no_scalar_is_no_text() {
        for json in ["null", "[]", "[\"a\"]", "{}"] {
            assert_eq!(text(json), Err(ValueFault::NotScalar), "{json}");
        }
    }

    #[test]
    fn json_is_placed_as_it_is_but_for_the_spelling_of_numbers() {
        let value = read_text(r#"{"b":[1.0,1e2,"1e2",null,{"x":0.10}],"a":"\u00e9","":true}"#).unwrap();
        let placed = json_value(&value).unwrap();
        assert_eq!(placed.to_text(), r#"{"b":[1,100,"1e2",null,{"x":0.1}],"a":"é","":true}"#);
        assert_eq!(placed, value);
    }
}
