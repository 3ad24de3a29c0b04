//! Which parts of a schema llama.rn's converter reads right as they stand.
//!
//! A part that no value satisfies is none of them: of counts that contradict each other the converter makes a repetition
//! on which its grammar parser hangs, of bounds that do a rule by which a model can begin and never end.

use crate::json::{Number, Object, Value};
use crate::schema::keyword::{Keyword, keyword};
use crate::schema::string::is_empty as is_no_length;
use crate::schema::strings::{formats, pattern};
use crate::schema::{Formats, Inner, Options, World};

/// The highest count of items that its grammar parser loads with certainty, with room to spare.
pub(super) const ITEMS: u64 = 500;
/// The highest length of a string.
pub(super) const CHARS: u64 = 1_999;
/// Above this many optional members the conversion takes time without measure: it grows with their square.
pub(super) const OPTIONAL: usize = 256;
/// Below it JavaScript hands on every integer.
pub(super) const BOUND: i128 = 1 << 53;
/// The last integer of 16 digits that a double holds.
pub(super) const LAST: i64 = 9_999_999_999_999_998;

/// Whether the converter reads this schema as the core does. Of references it knows only `#/..`, by names that may
/// collide: a schema with one is not.
pub(super) fn readable(schema: &Value, inner: &Inner) -> bool {
    !mentions_reference(schema) && is_read(schema, inner)
}

/// The same for a whole schema.
pub(super) fn root_is_readable(schema: &Value, inner: &Inner) -> bool {
    let names = schema.get("properties").and_then(Value::as_object);
    readable(schema, inner) && !names.is_some_and(|names| names.keys().any(|name| takes_a_rule(name)))
}

/// Whether a member of this name takes the name of another rule where the converter makes a grammar of nothing but the
/// schema: `root`, or one that it looks up without checking what stands there. As a tool's `parameters` none does.
pub(super) fn takes_a_rule(name: &str) -> bool {
    let parts = || name.split(|c: char| !c.is_ascii_alphanumeric());
    let is = |wanted: &str| !name.contains('-') && parts().eq(wanted.split('-'));
    name.is_empty() || is("decimal-part") || is("integral-part")
}

/// Whether `$ref` is a name anywhere: the converter takes it for a reference even among properties and samples.
pub(super) fn mentions_reference(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            object.iter().any(|(name, value)| name == "$ref" || mentions_reference(value))
        }
        Value::Array(items) => items.iter().any(mentions_reference),
        _ => false,
    }
}

/// Whether a keyword changes nothing about what a schema accepts.
pub(super) fn is_annotation(name: &str) -> bool {
    matches!(keyword(name), Keyword::Annotation | Keyword::Sample | Keyword::Dialect | Keyword::Base)
        || matches!(name, "contentEncoding" | "contentMediaType")
}

fn is_read(schema: &Value, inner: &Inner) -> bool {
    let Value::Object(object) = schema else { return false };
    let own: Vec<&str> =
        object.keys().map(smol_str::SmolStr::as_str).filter(|name| !is_annotation(name)).collect();
    let all = |name: &str| {
        object
            .get(name)
            .and_then(Value::as_array)
            .is_some_and(|list| !list.is_empty() && list.iter().all(|one| is_read(one, inner)))
    };
    match own.as_slice() {
        // Without any keyword it would be read as an object.
        [] => object.contains_key("description") || object.contains_key("title"),
        ["anyOf"] => all("anyOf"),
        // Of two equal branches neither is ever the only one.
        ["oneOf"] => all("oneOf") && are_different(object.get("oneOf")),
        ["const"] => object.get("const").is_some_and(is_constant),
        ["enum"] | ["enum" | "const", "type"] | ["type", "enum" | "const"] => constants(object),
        _ => match object.get("type") {
            Some(Value::String(kind)) => kind_is_read(object, &own, kind, inner),
            Some(Value::Array(kinds)) => {
                // Each kind is an alternative of its own; an integer is a number too.
                let names: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
                !(names.contains(&"integer") && names.contains(&"number"))
                    && names.iter().all(|kind| kind_is_read(object, &own, kind, inner))
            }
            _ => false,
        },
    }
}

fn are_different(list: Option<&Value>) -> bool {
    let list = list.and_then(Value::as_array).unwrap_or_default();
    list.iter().enumerate().all(|(at, one)| !list.iter().take(at).any(|other| other == one))
}

/// Values that are all of the one kind that is said, if any is.
fn constants(object: &Object) -> bool {
    let one = object.get("const").map(std::slice::from_ref);
    let list = one.or_else(|| object.get("enum").and_then(Value::as_array)).unwrap_or_default();
    let kind = match object.get("type") {
        None => None,
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(_) => return false,
    };
    !list.is_empty()
        && list.iter().all(|value| is_constant(value) && kind.is_none_or(|kind| is_of_kind(value, kind)))
}

/// Whether the text that the converter makes of a value is that value, perhaps in another spelling (`1e-07`).
pub(super) fn is_constant(value: &Value) -> bool {
    match value {
        Value::Number(number) => is_plain(number),
        Value::Array(items) => items.iter().all(is_constant),
        Value::Object(object) => object.values().all(is_constant),
        _ => true,
    }
}

/// A number that comes out as it went in. It goes through a double where JavaScript hands it on, which keeps its value
/// where that is the nearest one; then the converter writes an integer as it is, and of a fraction or an exponent the
/// digits of Grisu2, which are the fewest where these are no more than 15.
pub(super) fn is_plain(number: &Number) -> bool {
    number.keeps_its_value()
        && match number.as_integer().map(i64::try_from) {
            // `1.0` would stay what it is.
            Some(Ok(integer)) => number.lexeme().parse() == Ok(integer),
            _ => number.decimal().digits.len() <= 15,
        }
}

fn is_of_kind(value: &Value, kind: &str) -> bool {
    match (kind, value) {
        ("integer", Value::Number(number)) => number.as_integer().is_some(),
        _ => value.kind() == kind,
    }
}

/// Whether one kind of value is read right. What speaks of other kinds is passed over on both sides.
fn kind_is_read(object: &Object, own: &[&str], kind: &str, inner: &Inner) -> bool {
    let count = |name: &str, most: u64| match object.get(name) {
        None => true,
        Some(Value::Number(number)) => number.lexeme().parse::<u64>().is_ok_and(|count| count <= most),
        Some(_) => false,
    };
    own.iter().all(|name| match (*name, kind) {
        ("type", _) => true,
        ("minLength" | "maxLength", "string") => count(name, CHARS) && !has(object, &["pattern", "format"]),
        ("pattern", "string") => object
            .get(name)
            .and_then(Value::as_str)
            .is_some_and(|text| !has(object, &["format"]) && pattern::plain(text).as_deref() == Some(text)),
        ("format", "string") => {
            object.get(name).and_then(Value::as_str).is_some_and(|name| format_is_read(name, inner.options))
        }
        ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", "integer") => {
            let twice = |a: &str, b: &str| object.contains_key(a) && object.contains_key(b);
            !twice("minimum", "exclusiveMinimum")
                && !twice("maximum", "exclusiveMaximum")
                && object.get(name).and_then(Value::as_number).is_some_and(is_bound)
        }
        ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf", _) => {
            !matches!(kind, "number" | "integer")
        }
        ("items", "array") => object.get(name).is_some_and(|items| is_read(items, inner)),
        ("minItems" | "maxItems", "array") => count(name, ITEMS) && object.contains_key("items"),
        ("properties" | "required" | "additionalProperties", "object") => object_is_read(object, inner),
        ("minLength" | "maxLength" | "pattern" | "format", other) => other != "string",
        ("items" | "minItems" | "maxItems" | "uniqueItems" | "prefixItems", other) => other != "array",
        (
            "properties"
            | "required"
            | "additionalProperties"
            | "minProperties"
            | "maxProperties"
            | "propertyNames",
            other,
        ) => other != "object",
        _ => false,
    }) && matches!(kind, "string" | "number" | "integer" | "boolean" | "null" | "array" | "object")
        && kind_has_values(object, kind, inner)
}

/// Whether the keywords about one kind of value, each of which is read, leave any. Items and members are read, so that
/// there are such.
fn kind_has_values(object: &Object, kind: &str, inner: &Inner) -> bool {
    let number = |name: &str| object.get(name).and_then(Value::as_number)?.as_integer();
    let ordered = |least: &str, most: &str| match (number(least), number(most)) {
        (least, Some(most)) => least.unwrap_or(0) <= most,
        _ => true,
    };
    match kind {
        "string" => {
            let pattern = object.get("pattern").and_then(Value::as_str);
            let pattern = pattern.and_then(|text| inner.patterns.get(text));
            ordered("minLength", "maxLength")
                && pattern.is_none_or(|known| !known.dfa.is_none() && !is_no_length(known.length))
        }
        "array" => ordered("minItems", "maxItems"),
        "integer" => {
            let least = number("minimum").or_else(|| Some(number("exclusiveMinimum")? + 1));
            let most = number("maximum").or_else(|| Some(number("exclusiveMaximum")? - 1));
            match (least, most) {
                (Some(least), Some(most)) => least <= most,
                (least, most) => end_is_read(least, most),
            }
        }
        _ => true,
    }
}

/// Whether a bound is read right where there is no other one. Of a least integer the converter drops the zeros after the
/// first digit (at `101` it takes `15`), and below a negative bound it writes leading zeros.
pub(super) fn end_is_read(least: Option<i128>, most: Option<i128>) -> bool {
    let inner_zero = |least: i128| {
        let text = least.to_string();
        text.len() > 15 || text.get(1..text.len() - 1).is_some_and(|inner| inner.contains('0'))
    };
    least.is_none_or(|least| least < 0 || !inner_zero(least)) && most.is_none_or(|most| most >= 0)
}

fn has(object: &Object, names: &[&str]) -> bool {
    names.iter().any(|name| object.contains_key(name))
}

fn is_bound(number: &Number) -> bool {
    number.lexeme().parse::<i128>().is_ok_and(|bound| bound.abs() < BOUND)
}

/// It reads `date` and `uuid` as wide as they are, other times too narrow, and takes `uuid1` to `uuid5` for `uuid`.
fn format_is_read(name: &str, options: Options) -> bool {
    let asserted = matches!(formats::lookup(name), Some(formats::Format::Exact(_)));
    if asserted && options.formats == Formats::Assert {
        matches!(name, "date" | "uuid")
    } else {
        !has_rule(name)
    }
}

/// Whether the converter has a rule of its own for this format.
pub(super) fn has_rule(name: &str) -> bool {
    let numbered =
        name.strip_prefix("uuid").is_some_and(|rest| matches!(rest, "" | "1" | "2" | "3" | "4" | "5"));
    numbered || matches!(name, "date" | "time" | "date-time")
}

fn object_is_read(object: &Object, inner: &Inner) -> bool {
    let required = object.get("required").and_then(Value::as_array).unwrap_or_default();
    let Some(Value::Object(properties)) = object.get("properties") else {
        return required.is_empty()
            && match object.get("additionalProperties") {
                None | Some(Value::Bool(_)) => true,
                Some(schema) => is_read(schema, inner),
            };
    };
    let closed = match object.get("additionalProperties") {
        None => inner.options.world == World::Closed,
        Some(others) => *others == Value::Bool(false),
    };
    closed
        && properties.len().saturating_sub(required.len()) <= OPTIONAL
        && required.iter().all(|name| name.as_str().is_some_and(|name| properties.contains_key(name)))
        && properties.values().all(|schema| is_read(schema, inner))
}
