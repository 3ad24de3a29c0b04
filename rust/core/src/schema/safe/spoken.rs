//! What the converter does not enforce, in words for the model: true of each value, or nothing.

use crate::json::{Object, Value};
use crate::schema::decimal::Dec;
use crate::schema::number::{Bound, Num};
use crate::schema::strings::{Length, formats};

use super::readable::is_annotation;

/// The longest pattern or constant that is told, in characters.
const CHARS: usize = 100;
/// The most numbers of an enumeration, and the most intervals.
const NUMBERS: usize = 16;
const INTERVALS: usize = 4;
/// The most schemas in one another.
const DEPTH: usize = 3;

/// A text that is short enough.
pub(super) fn short(text: &str) -> Option<&str> {
    (text.chars().count() <= CHARS).then_some(text)
}

/// Lengths, by the keywords of their ends.
pub(super) fn counts((least, most): Length, names: &[&str; 2]) -> impl Iterator<Item = String> {
    let [lower, upper] = names;
    let least = (least > 0).then(|| format!("{lower} {least}"));
    least.into_iter().chain(most.map(|most| format!("{upper} {most}")))
}

/// The one number that a part is.
pub(super) fn point(part: &Num) -> Option<Dec> {
    match (part.lo, part.hi) {
        (Some(lo), Some(hi)) if lo == hi && lo.inclusive => Some(lo.at),
        _ => None,
    }
}

/// What a union of numbers has, beside that of which kind they are.
pub(super) fn numbers(parts: &[Num]) -> Vec<String> {
    let points: Vec<String> = parts.iter().filter_map(point).map(written).collect();
    match parts {
        [one] if points.is_empty() => interval(one, true),
        _ if points.len() == parts.len() => {
            if parts.len() > NUMBERS {
                Vec::new()
            } else {
                vec![format!("one of {}", points.join(", "))]
            }
        }
        _ if parts.len() > INTERVALS => Vec::new(),
        _ => {
            let integral = parts.iter().all(Num::is_integral);
            let mut ways = Vec::new();
            for part in parts {
                let way = match point(part) {
                    Some(at) => written(at),
                    None => interval(part, integral).join(" and "),
                };
                if way.is_empty() {
                    return Vec::new();
                }
                ways.push(way);
            }
            vec![ways.join(" or ")]
        }
    }
}

fn interval(part: &Num, integral: bool) -> Vec<String> {
    let bound = |bound: Option<Bound>, at: &str, beyond: &str| {
        bound.map(|bound| format!("{} {}", if bound.inclusive { at } else { beyond }, written(bound.at)))
    };
    let mut words = Vec::new();
    words.extend(bound(part.lo, "minimum", "exclusiveMinimum"));
    words.extend(bound(part.hi, "maximum", "exclusiveMaximum"));
    words.extend(part.step.and_then(|step| match step {
        Dec::ONE => (!integral).then(|| "integer".to_owned()),
        step => Some(format!("multipleOf {}", written(step))),
    }));
    words.extend(part.off.iter().map(|step| match *step {
        Dec::ONE => "not integer".to_owned(),
        step => format!("not (multipleOf {})", written(step)),
    }));
    words
}

fn written(at: Dec) -> String {
    at.to_number().lexeme().to_owned()
}

/// What these schemas, all of which hold, say of strings that is no length.
pub(super) fn of_strings<'s>(schemas: impl Iterator<Item = &'s Value>) -> impl Iterator<Item = String> {
    schemas.filter_map(Value::as_object).flat_map(|object| {
        let own = ["pattern", "format"].iter().filter_map(|name| said(name, object.get(name)?, DEPTH));
        let combined =
            ["not", "anyOf", "oneOf"].iter().filter_map(|name| said(name, object.get(name)?, DEPTH));
        own.chain(combined).collect::<Vec<_>>()
    })
}

/// What these schemas, all of which hold, rule out.
pub(super) fn negations<'s>(schemas: impl Iterator<Item = &'s Value>) -> impl Iterator<Item = String> {
    schemas.filter_map(|schema| said("not", schema.get("not")?, DEPTH))
}

/// A whole schema; nothing where a keyword of it cannot be said, since the rest alone may be untrue where it is negated.
fn schema(object: &Object, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let mut words = Vec::new();
    for (name, value) in object.iter().filter(|(name, _)| !is_annotation(name)) {
        words.push(said(name, value, depth)?);
    }
    (!words.is_empty()).then(|| words.join(" and "))
}

/// A keyword, in words.
fn said(name: &str, value: &Value, depth: usize) -> Option<String> {
    let several = |list: &[Value]| {
        let ways: Option<Vec<String>> = list.iter().map(|one| schema(one.as_object()?, depth)).collect();
        ways.filter(|ways| !ways.is_empty())
    };
    match (name, value) {
        ("not", Value::Object(object)) => Some(format!("not ({})", schema(object, depth)?)),
        ("anyOf", Value::Array(list)) => Some(format!("({})", several(list)?.join(" or "))),
        ("oneOf", Value::Array(list)) => Some(format!("exactly one of ({})", several(list)?.join(", "))),
        ("allOf", Value::Array(list)) => Some(several(list)?.join(" and ")),
        ("type", Value::String(kind)) => Some(format!("type {kind}")),
        ("format", Value::String(format)) if formats::lookup(format).is_some() => {
            Some(format!("format {format}"))
        }
        ("pattern", Value::String(text)) => Some(format!("pattern {}", short(text)?)),
        ("uniqueItems", Value::Bool(true)) => Some(name.to_owned()),
        (
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "minLength"
            | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties",
            Value::Number(number),
        ) => Some(format!("{name} {}", number.lexeme())),
        ("const", value) => Some(format!("const {}", constant(value)?)),
        ("enum", Value::Array(list)) if list.len() <= NUMBERS => {
            let list: Option<Vec<String>> = list.iter().map(constant).collect();
            Some(format!("one of {}", list?.join(", ")))
        }
        _ => None,
    }
}

fn constant(value: &Value) -> Option<String> {
    let text = value.to_text();
    short(&text).map(str::to_owned)
}
