//! The body of a request: a JSON tree, a form, or one text.

use smol_str::SmolStr;

use super::literal::{self, check_number};
use super::query::NAME_PATTERN;
use super::rules::{BODY_KIND, FORM_NAME, LITERAL_KIND, SLOT_RESERVED};
use super::slot::{
    self, AnySlot, Fill, Position, Slot, Visitor, as_slot, literal_name, member_name, read_fill, read_slot,
};
use crate::json::{Path, Value};
use crate::shape::{Definitions, Reading, SHAPE_MISSING, Shape, fragment, known_members, object};

/// What is sent as the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// A JSON text (RFC 8259).
    Json(Json),
    /// `application/x-www-form-urlencoded` (WHATWG URL standard), fields in the order in which they are sent.
    Form(Vec<(SmolStr, FormValue)>),
    /// A text.
    Text(Slot),
}

/// A JSON value with slots in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// A scalar that is sent as it is.
    Literal(Value),
    /// Filled by a value or a secret.
    Slot(Fill),
    /// An array.
    Array(Vec<Json>),
    /// An object, members in the order in which they are sent.
    Object(Vec<(SmolStr, Json)>),
}

/// The value of a form field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormValue {
    /// A literal; numbers as they are sent.
    Literal(SmolStr),
    /// Filled by a value or a secret.
    Slot(Fill),
}

impl Body {
    /// `json`, `form` or `text`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Json(_) => "json",
            Self::Form(_) => "form",
            Self::Text(_) => "text",
        }
    }

    /// Shows every slot to `visit`; `at` is the place of the body.
    pub fn each_slot(&self, at: &Path<'_>, visit: &mut Visitor<'_>) {
        let at = at.name(self.kind());
        match self {
            Self::Json(json) => json.each_slot(&at, visit),
            Self::Text(slot) => visit(&at, Position::Text, AnySlot::Slot(slot)),
            Self::Form(fields) => {
                for (name, value) in fields {
                    if let FormValue::Slot(fill) = value {
                        visit(&at.name(&member_name(name)), Position::Form, fill.into());
                    }
                }
            }
        }
    }
}

impl Json {
    fn each_slot(&self, at: &Path<'_>, visit: &mut Visitor<'_>) {
        match self {
            Self::Literal(_) => {}
            Self::Slot(fill) => visit(at, Position::Json, fill.into()),
            Self::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.each_slot(&at.index(index), visit);
                }
            }
            Self::Object(members) => {
                for (name, value) in members {
                    value.each_slot(&at.name(&member_name(name)), visit);
                }
            }
        }
    }
}

const KINDS: [&str; 3] = ["json", "form", "text"];

impl Shape for Body {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let object = object(value, at, reading)?;
        known_members(object, &KINDS, at, reading);
        let mut kinds = KINDS.iter().filter_map(|kind| object.get(kind).map(|value| (*kind, value)));
        let Some((kind, value)) = kinds.next() else {
            return reading.refuse(
                &SHAPE_MISSING,
                at,
                format_args!("one of `json`, `form` and `text` is missing"),
            );
        };
        if kinds.next().is_some() {
            reading.findings.add(&BODY_KIND, at, format_args!("the body is of more than one kind"));
        }
        let at = at.name(kind);
        match kind {
            "json" => Json::read(value, &at, reading).map(Self::Json),
            "form" => read_form(value, &at, reading).map(Self::Form),
            _ => match as_slot(value) {
                Some(object) => read_slot(object, Position::Text, &at, reading).map(Self::Text),
                None => reading.refuse(&LITERAL_KIND, &at, format_args!("a text body is one slot")),
            },
        }
    }

    fn describe(definitions: &mut Definitions) -> Value {
        definitions.named("Body", |definitions| {
            let json = Json::describe(definitions);
            let names = fragment([("type", "string".into()), ("pattern", NAME_PATTERN.into())]);
            let fields = FormValue::describe(definitions);
            let form = fragment([
                ("type", "object".into()),
                ("propertyNames", names),
                ("additionalProperties", fields),
            ]);
            let text = slot::describe(Position::Text, definitions);
            fragment([
                ("type", "object".into()),
                ("properties", fragment([("json", json), ("form", form), ("text", text)])),
                ("minProperties", 1u64.into()),
                ("maxProperties", 1u64.into()),
                ("additionalProperties", false.into()),
            ])
        })
    }
}

impl Shape for Json {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        match value {
            Value::Number(number) => {
                check_number(number, at, reading);
                Some(Self::Literal(value.clone()))
            }
            Value::Array(items) => {
                let items: Vec<_> = items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| Self::read(item, &at.index(index), reading))
                    .collect();
                items.into_iter().collect::<Option<_>>().map(Self::Array)
            }
            Value::Object(object) => {
                if let Some(object) = as_slot(value) {
                    return read_fill(object, Position::Json, at, reading).map(Self::Slot);
                }
                let mut members = Vec::with_capacity(object.len());
                for (member, value) in object.iter() {
                    let name = literal_name(member, at, reading);
                    let value = Self::read(value, &at.name(member), reading);
                    members.push(name.map(SmolStr::new).zip(value));
                }
                members.into_iter().collect::<Option<_>>().map(Self::Object)
            }
            _ => Some(Self::Literal(value.clone())),
        }
    }

    fn describe(definitions: &mut Definitions) -> Value {
        definitions.named("Json", |definitions| {
            let this = || fragment([("$ref", "#/$defs/Json".into())]);
            let scalar = literal::describe(&["null"]);
            let array = fragment([("type", "array".into()), ("items", this())]);
            let names = fragment([("type", "string".into()), ("pattern", r"^($|[^$]|\$\$)".into())]);
            let object = fragment([
                ("type", "object".into()),
                ("propertyNames", names),
                ("additionalProperties", this()),
            ]);
            let slot = slot::describe(Position::Json, definitions);
            fragment([("anyOf", Value::Array(vec![scalar, array, object, slot]))])
        })
    }
}

fn read_form(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Vec<(SmolStr, FormValue)>> {
    let object = object(value, at, reading)?;
    if as_slot(value).is_some() {
        return reading.refuse(&SLOT_RESERVED, at, format_args!("a form is an object of fields, not a slot"));
    }
    let mut fields = Vec::with_capacity(object.len());
    for (member, value) in object.iter() {
        let name = literal_name(member, at, reading);
        if name.is_some_and(str::is_empty) {
            reading.findings.add_name(
                &FORM_NAME,
                &at.name(member),
                format_args!("the name of the field is empty"),
            );
        }
        let value = FormValue::read(value, &at.name(member), reading);
        fields.push(name.map(SmolStr::new).zip(value));
    }
    fields.into_iter().collect()
}

impl Shape for FormValue {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        match as_slot(value) {
            Some(object) => read_fill(object, Position::Form, at, reading).map(Self::Slot),
            None => literal::read_text(value, "form", at, reading).map(Self::Literal),
        }
    }

    fn describe(definitions: &mut Definitions) -> Value {
        let slot = slot::describe(Position::Form, definitions);
        fragment([("anyOf", Value::Array(vec![literal::describe(&[]), slot]))])
    }
}
