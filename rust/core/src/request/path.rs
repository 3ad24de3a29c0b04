//! The path of a request: literal segments, slots, and segments joined of both.

use smol_str::SmolStr;

use super::rules::{LITERAL_KIND, PATH_DOTS, PATH_EMPTY, PATH_ITEM, PATH_LITERAL};
use super::slot::{AnySlot, Position, Slot, Visitor, as_slot, describe, read_slot};
use crate::json::{Path, Quoted, Value};
use crate::origin::is_pchar;
use crate::shape::{Definitions, List, Reading, Shape, fragment};

/// The path below the origin, segment by segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathTemplate(pub Vec<Segment>);

/// One item of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Sent unchanged. Empty only as the last item: a trailing slash.
    Literal(SmolStr),
    /// Filled by a value; with the option `segments` by several segments.
    Slot(Slot),
    /// One segment joined of literals and slots.
    Joined(Vec<Part>),
}

/// A part of a joined segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Sent unchanged.
    Literal(SmolStr),
    /// Filled by a value.
    Slot(Slot),
}

impl PathTemplate {
    /// Shows every slot to `visit`; `at` is the place of the path.
    pub fn each_slot(&self, at: &Path<'_>, visit: &mut Visitor<'_>) {
        for (index, segment) in self.0.iter().enumerate() {
            let at = at.index(index);
            match segment {
                Segment::Literal(_) => {}
                Segment::Slot(slot) => visit(&at, Position::Path, AnySlot::Slot(slot)),
                Segment::Joined(parts) => {
                    for (index, part) in parts.iter().enumerate() {
                        if let Part::Slot(slot) = part {
                            visit(&at.index(index), Position::Joined, AnySlot::Slot(slot));
                        }
                    }
                }
            }
        }
    }
}

impl Shape for PathTemplate {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let List(segments) = List::<Segment, 0, { usize::MAX }>::read(value, at, reading)?;
        let inner = segments.iter().enumerate().take(segments.len().saturating_sub(1));
        for (index, _) in inner.filter(|(_, item)| matches!(item, Segment::Literal(text) if text.is_empty()))
        {
            reading.findings.add(
                &PATH_EMPTY,
                &at.index(index),
                format_args!("an empty literal stands last only"),
            );
        }
        Some(Self(segments))
    }

    fn describe(definitions: &mut Definitions) -> Value {
        fragment([("type", "array".into()), ("items", Segment::describe(definitions))])
    }
}

impl Shape for Segment {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        match value {
            Value::String(text) => {
                check_literal(text, at, reading);
                Some(Self::Literal(text.clone()))
            }
            Value::Array(parts) => {
                if parts.is_empty() {
                    reading.findings.add(
                        &PATH_ITEM,
                        at,
                        format_args!("the list of a joined segment is empty"),
                    );
                }
                let parts: Vec<_> = parts
                    .iter()
                    .enumerate()
                    .map(|(index, part)| Part::read(part, &at.index(index), reading))
                    .collect();
                parts.into_iter().collect::<Option<_>>().map(Self::Joined)
            }
            _ => match as_slot(value) {
                Some(object) => read_slot(object, Position::Path, at, reading).map(Self::Slot),
                None => other(value, at, reading),
            },
        }
    }

    fn describe(definitions: &mut Definitions) -> Value {
        definitions.named("PathItem", |definitions| {
            let parts = fragment([
                ("type", "array".into()),
                ("items", Part::describe(definitions)),
                ("minItems", 1u64.into()),
            ]);
            let literal = fragment([("type", "string".into()), ("pattern", LITERAL_PATTERN.into())]);
            fragment([("anyOf", Value::Array(vec![literal, describe(Position::Path, definitions), parts]))])
        })
    }
}

impl Shape for Part {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        match (value, as_slot(value)) {
            (Value::String(text), _) => {
                check_literal(text, at, reading);
                if text.is_empty() {
                    reading.findings.add(&PATH_EMPTY, at, format_args!("an empty literal joins nothing"));
                }
                Some(Self::Literal(text.clone()))
            }
            (_, Some(object)) => read_slot(object, Position::Joined, at, reading).map(Self::Slot),
            _ => other(value, at, reading),
        }
    }

    fn describe(definitions: &mut Definitions) -> Value {
        let literal = fragment([
            ("type", "string".into()),
            ("pattern", LITERAL_PATTERN.into()),
            ("minLength", 1u64.into()),
        ]);
        fragment([("anyOf", Value::Array(vec![literal, describe(Position::Joined, definitions)]))])
    }
}

/// A value that is neither a literal nor a slot nor, where one may stand, a list.
fn other<T>(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<T> {
    let kind = value.kind();
    match value {
        Value::Array(_) | Value::Object(_) => {
            reading.refuse(&PATH_ITEM, at, format_args!("expected a literal or a slot, found {kind}"))
        }
        _ => reading.refuse(&LITERAL_KIND, at, format_args!("a literal of a path is a string, not {kind}")),
    }
}

fn check_literal(text: &str, at: &Path<'_>, reading: &mut Reading<'_>) {
    if matches!(text, "." | "..") {
        reading.findings.add(&PATH_DOTS, at, format_args!("a literal is not {}", Quoted(text)));
    } else if !text.bytes().all(is_pchar) {
        let message = format_args!("the literal {} holds more than pchar without `%`", Quoted(text));
        reading.findings.add(&PATH_LITERAL, at, message);
    }
}

/// [`check_literal`] as a pattern; `.` and `..` are its exceptions.
const LITERAL_PATTERN: &str =
    r"^(|\.{3,}|\.{0,2}[0-9A-Za-z\-_~!$&'()*+,;=:@][0-9A-Za-z\-._~!$&'()*+,;=:@]*)$";
