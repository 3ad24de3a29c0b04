//! Mappings: what a response map makes of the value at one place.

use smol_str::SmolStr;

use super::clean::{is_clean, is_clean_name};
use super::pointer::Pointer;
use super::reader::Reader;
use super::rules::{
    RESPONSE_AS_OBJECT, RESPONSE_FIELD_NAME, RESPONSE_FIELDS_AND_VALUE, RESPONSE_JOIN, RESPONSE_JOIN_TEXT,
    RESPONSE_NEEDS_EACH,
};
use crate::json::{Object, Path, Quoted, Value};
use crate::limits::TrustLimits;
use crate::shape::{
    Definitions, Reading, SHAPE_COUNT, SHAPE_RANGE, SHAPE_TYPE, SHAPE_WORD, Shape, fragment, known_members,
    member, merged, object,
};
use crate::words;

/// A mapping: where it looks, over what it goes, and what it gives for it.
#[derive(Debug, Clone, Default)]
pub struct Mapping {
    /// Where it looks; the whole value by default.
    pub from: Pointer,
    /// Over what it goes; nothing when it looks at one value only.
    pub each: Option<Each>,
    /// What it gives for the value, or for each of them.
    pub give: Give,
    /// The most characters of what it gives: of the text if that is a string, else of its JSON text.
    pub max_chars: Option<usize>,
}

/// A walk over several values.
#[derive(Debug, Clone)]
pub struct Each {
    /// Over what.
    pub over: Over,
    /// Whether the keys of the members are kept: the result is an object.
    pub keep_keys: bool,
    /// The most values that are taken, if the manifest says so; see [`Each::DEFAULT_LIMIT`].
    pub limit: Option<usize>,
    /// Which end of the values the limit keeps.
    pub take: Take,
    /// What stands between the values when they are joined to one text.
    pub join: Option<SmolStr>,
}

impl Each {
    /// How many values are taken unless the manifest says otherwise.
    pub const DEFAULT_LIMIT: usize = 20;
}

/// What a mapping gives for a value.
#[derive(Debug, Clone, Default)]
pub enum Give {
    /// The value itself.
    #[default]
    Item,
    /// An object of named readers.
    Fields(Vec<(SmolStr, Reader)>),
    /// What one reader finds.
    Value(Box<Reader>),
}

/// What `each` goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// The items of an array.
    Items,
    /// The values of an object's members.
    Values,
}

words! {
    /// Which end of a list `limit` keeps.
    pub enum Take {
        /// The first values.
        First = "first",
        /// The last values.
        Last = "last",
    }
}

impl Take {
    /// How many of `count` values stand before those that a limit keeps.
    pub(super) fn skipped(self, count: usize, limit: usize) -> usize {
        match self {
            Self::First => 0,
            Self::Last => count.saturating_sub(limit),
        }
    }
}

impl Mapping {
    /// The members that a mapping may have.
    pub(super) const MEMBERS: [&'static str; 9] =
        ["from", "each", "as", "limit", "take", "fields", "value", "join", "maxChars"];

    /// Reads the members of a mapping from an object that may have others.
    pub(super) fn read_members(object: &Object, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let from = member::<Option<Pointer>>(object, "from", at, reading);
        let over = member::<Option<Over>>(object, "each", at, reading);
        let keep = member::<Option<KeepKeys>>(object, "as", at, reading);
        let limit = member::<Option<Parts>>(object, "limit", at, reading);
        let take = member::<Option<Take>>(object, "take", at, reading);
        let fields = member::<Option<Fields>>(object, "fields", at, reading);
        let value = member::<Option<Box<Reader>>>(object, "value", at, reading);
        let join = member::<Option<Join>>(object, "join", at, reading);
        let max_chars = member::<Option<MaxChars>>(object, "maxChars", at, reading);
        combinations(object, at, reading);

        let (keep, limit, take, join) = (keep?, limit?, take?, join?);
        let each = over?.map(|over| Each {
            over,
            keep_keys: keep.is_some(),
            limit: limit.map(|Parts(limit)| limit),
            take: take.unwrap_or(Take::First),
            join: join.map(|Join(text)| text),
        });
        let give = match (fields?, value?) {
            (Some(Fields(fields)), _) => Give::Fields(fields),
            (None, Some(value)) => Give::Value(value),
            (None, None) => Give::Item,
        };
        let max_chars = max_chars?.map(|MaxChars(chars)| chars);
        Some(Self { from: from?.unwrap_or_default(), each, give, max_chars })
    }

    /// The members for the JSON Schema: (name, required, description, schema).
    pub(super) fn describe_members(
        definitions: &mut Definitions,
    ) -> Vec<(&'static str, bool, &'static str, Value)> {
        vec![
            ("from", false, "Where to look; the whole by default.", Pointer::describe(definitions)),
            (
                "each",
                false,
                "`true`: each item of an array; `\"values\"`: each member's value of an object.",
                Over::describe(definitions),
            ),
            (
                "as",
                false,
                "With `\"each\": \"values\"`: give an object with the same keys.",
                KeepKeys::describe(definitions),
            ),
            ("limit", false, "With `each`: the most values; 20 by default.", Parts::describe(definitions)),
            (
                "take",
                false,
                "With `each`: which end `limit` keeps; the first by default.",
                Take::describe(definitions),
            ),
            ("fields", false, "What to give: an object of named readers.", Fields::describe(definitions)),
            (
                "value",
                false,
                "What to give: what this one reader finds. Neither `fields` nor `value`: the value itself.",
                Reader::describe(definitions),
            ),
            (
                "join",
                false,
                "With `each`: give one text, the values with this text between them.",
                Join::describe(definitions),
            ),
            (
                "maxChars",
                false,
                "The most characters of what is given; longer texts and lists are cut, and the cut is counted.",
                MaxChars::describe(definitions),
            ),
        ]
    }
}

/// The members that forbid or need each other; judged on what is there, so that nothing else hides it.
fn combinations(object: &Object, at: &Path<'_>, reading: &mut Reading<'_>) {
    let has = |name| object.contains_key(name);
    let findings = &mut *reading.findings;
    for name in ["limit", "take", "as", "join"] {
        if has(name) && !has("each") {
            findings.add_name(
                &RESPONSE_NEEDS_EACH,
                &at.name(name),
                format_args!("`{name}` does nothing without `each`"),
            );
        }
    }
    if has("as") && object.get("each").is_some_and(|each| each.as_str() != Some("values")) {
        let message = format_args!("`as` needs `\"each\": \"values\"`");
        findings.add_name(&RESPONSE_AS_OBJECT, &at.name("as"), message);
    }
    if has("fields") && has("value") {
        let message = format_args!("`fields` stands beside: only one of the two can be given");
        findings.add_name(&RESPONSE_FIELDS_AND_VALUE, &at.name("value"), message);
    }
    for name in ["fields", "as"] {
        if has("join") && has(name) {
            let message = format_args!("`{name}` stands beside: what it gives is not joined to a text");
            findings.add_name(&RESPONSE_JOIN, &at.name("join"), message);
        }
    }
}

impl Shape for Mapping {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let object = object(value, at, reading)?;
        known_members(object, &Self::MEMBERS, at, reading);
        Self::read_members(object, at, reading)
    }

    fn describe(definitions: &mut Definitions) -> Value {
        let text = "A mapping: where to look, over what to go, and what to give for it.";
        definitions.record("Mapping", text, Self::describe_members)
    }
}

impl Shape for Over {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        match value {
            Value::Bool(true) => Some(Self::Items),
            Value::String(word) if word == "values" => Some(Self::Values),
            _ => reading.refuse(&SHAPE_WORD, at, format_args!("expected `true` or `\"values\"`")),
        }
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("enum", Value::Array(vec![true.into(), "values".into()]))])
    }
}

/// `"as": "object"`: the result keeps the keys of the members.
struct KeepKeys;

impl Shape for KeepKeys {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        match value.as_str() {
            Some("object") => Some(Self),
            _ => reading.refuse(&SHAPE_WORD, at, format_args!("expected `\"object\"`")),
        }
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("enum", Value::Array(vec!["object".into()]))])
    }
}

/// A number of parts: 1 to the part limit.
struct Parts(usize);

impl Shape for Parts {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let most = reading.limits.result_parts;
        bounded(value, most, at, reading).map(Self)
    }

    fn describe(_: &mut Definitions) -> Value {
        count(TrustLimits::default().result_parts)
    }
}

/// A number of characters: 1 to the limit of a result.
pub(super) struct MaxChars(pub(super) usize);

impl Shape for MaxChars {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let most = reading.limits.result_chars;
        bounded(value, most, at, reading).map(Self)
    }

    fn describe(_: &mut Definitions) -> Value {
        count(TrustLimits::default().result_chars)
    }
}

/// A whole number from 1 to a limit that the host may have moved.
fn bounded(value: &Value, most: usize, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<usize> {
    let Some(number) = value.as_number() else {
        let kind = value.kind();
        return reading.refuse(&SHAPE_TYPE, at, format_args!("expected a number, found {kind}"));
    };
    let number = number.as_integer().and_then(|number| usize::try_from(number).ok());
    match number.filter(|number| (1..=most).contains(number)) {
        Some(number) => Some(number),
        None => reading.refuse(&SHAPE_RANGE, at, format_args!("expected a whole number from 1 to {most}")),
    }
}

fn count(most: usize) -> Value {
    fragment([("type", "integer".into()), ("minimum", 1u64.into()), ("maximum", most.into())])
}

/// Named readers.
struct Fields(Vec<(SmolStr, Reader)>);

const RESERVED: [&str; 3] = ["__proto__", "constructor", "prototype"];
const MAX_NAME_CHARS: usize = 128;

impl Shape for Fields {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let object = object(value, at, reading)?;
        if object.is_empty() {
            return reading.refuse(&SHAPE_COUNT, at, format_args!("expected at least 1 field, found none"));
        }
        let read: Vec<_> = object
            .iter()
            .map(|(name, value)| {
                let at = at.name(name);
                if !is_field_name(name) {
                    let message = format_args!("the name {} cannot be shown as it is", Quoted(name));
                    reading.findings.add_name(&RESPONSE_FIELD_NAME, &at, message);
                }
                Reader::read(value, &at, reading).map(|reader| (name.clone(), reader))
            })
            .collect();
        read.into_iter().collect::<Option<Vec<_>>>().map(Self)
    }

    fn describe(definitions: &mut Definitions) -> Value {
        let names = fragment([("minLength", 1u64.into()), ("maxLength", MAX_NAME_CHARS.into())]);
        merged(
            fragment([("type", "object".into()), ("propertyNames", names), ("minProperties", 1u64.into())]),
            fragment([("additionalProperties", Reader::describe(definitions))]),
        )
    }
}

fn is_field_name(name: &str) -> bool {
    let chars = name.chars().take(MAX_NAME_CHARS + 1).count();
    (1..=MAX_NAME_CHARS).contains(&chars) && is_clean_name(name) && !RESERVED.contains(&name)
}

/// The text between joined values.
struct Join(SmolStr);

const MAX_JOIN_CHARS: usize = 64;

impl Shape for Join {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let text = SmolStr::read(value, at, reading)?;
        if text.chars().count() > MAX_JOIN_CHARS || !is_clean(&text) {
            let message = format_args!("this text cannot be shown as it is, or is too long");
            return reading.refuse(&RESPONSE_JOIN_TEXT, at, message);
        }
        Some(Self(text))
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("type", "string".into()), ("maxLength", MAX_JOIN_CHARS.into())])
    }
}
