//! Slots: the places of a request that an argument, a setting or a secret fills.

use smol_str::SmolStr;

use super::credential::{CredentialSlot, read_auth};
use super::rules::{
    CREDENTIAL_IN_PATH, CREDENTIAL_IN_QUERY, CREDENTIAL_IN_TEXT, SLOT_AMBIGUOUS, SLOT_OPTION,
    SLOT_OPTIONS_CLASH, SLOT_RESERVED,
};
use crate::json::{Object, Path, Quoted, Value};
use crate::rule::Rule;
use crate::shape::{Definitions, Identifier, Reading, SHAPE_WORD, Shape, fragment, member};
use crate::words;

/// Where in a request a slot stands, which decides how its value is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Position {
    /// A whole item of the path.
    Path,
    /// A part of one path segment, joined with others.
    Joined,
    /// A value of the query.
    Query,
    /// A header value.
    Header,
    /// A field of a form body.
    Form,
    /// A place in a JSON body, or the whole of it.
    Json,
    /// The whole of a text body.
    Text,
}

impl Position {
    /// The position in the words of a message.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Joined => "joined path segment",
            Self::Query => "query",
            Self::Header => "header",
            Self::Form => "form",
            Self::Json => "JSON body",
            Self::Text => "text body",
        }
    }

    /// The options that a slot of this kind may have here; nothing where the kind may not stand.
    fn options(self, kind: Kind) -> Option<&'static [&'static str]> {
        match (kind, self) {
            (Kind::Param | Kind::Setting, Self::Path) => Some(&["slash", "segments"]),
            (Kind::Param, Self::Query | Self::Form) => Some(&["array", "flag", "absent"]),
            (Kind::Param, Self::Header | Self::Text) | (Kind::Credential, Self::Form | Self::Json) => {
                Some(&["absent"])
            }
            (Kind::Param, Self::Json) => Some(&["absent", "null"]),
            (Kind::Param, Self::Joined) | (Kind::Setting, _) => Some(&[]),
            (Kind::Credential, Self::Header) => Some(&["scheme", "user", "password", "absent"]),
            (Kind::Credential, _) => None,
        }
    }

    /// The rule that a credential at this position breaks.
    fn credential_rule(self) -> &'static Rule {
        match self {
            Self::Query => &CREDENTIAL_IN_QUERY,
            Self::Text => &CREDENTIAL_IN_TEXT,
            _ => &CREDENTIAL_IN_PATH,
        }
    }
}

/// What fills a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Param,
    Setting,
    Credential,
}

const KINDS: [(Kind, &str); 3] =
    [(Kind::Param, "$param"), (Kind::Setting, "$setting"), (Kind::Credential, "$credential")];

/// Where the value of a [`Slot`] comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The argument of this name.
    Param,
    /// The setting of this name, which the person gave at install time.
    Setting,
}

/// A place that an argument or a setting fills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Where the value comes from.
    pub source: Source,
    /// The name of the argument or setting.
    pub name: Identifier,
    /// How the value is placed.
    pub options: Options,
}

/// How the value of a slot is placed; each position takes some of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Query and form: the value is an array, sent in this style.
    pub array: Option<ArrayStyle>,
    /// Query and form: the value is a boolean, sent as a bare key when true and left out when false.
    pub flag: bool,
    /// The slot is left out when there is no value (in query, header, form and text: also when it is null).
    pub omit_absent: bool,
    /// JSON: the slot is left out when the value is null.
    pub omit_null: bool,
    /// Path: `/` passes as `%2F`.
    pub encode_slash: bool,
    /// Path: `/` separates segments.
    pub many_segments: bool,
}

words! {
    /// How an array stands in a query or form.
    pub enum ArrayStyle {
        /// One pair for each item: `x=a&x=b`.
        Repeat = "repeat",
        /// One pair, items separated by a comma: `x=a,b`.
        Comma = "comma",
        /// One pair, items separated by a bar: `x=a%7Cb`.
        Pipe = "pipe",
        /// One pair for each item, the name with brackets: `x%5B%5D=a&x%5B%5D=b`.
        Brackets = "brackets",
    }
}

/// What fills a place that a credential may fill too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fill {
    /// An argument or a setting.
    Slot(Slot),
    /// A secret.
    Credential(CredentialSlot),
}

/// A slot of a request as a visitor sees it.
#[derive(Debug, Clone, Copy)]
pub enum AnySlot<'s> {
    /// An argument or a setting.
    Slot(&'s Slot),
    /// A secret.
    Credential(&'s CredentialSlot),
}

impl<'s> From<&'s Fill> for AnySlot<'s> {
    fn from(fill: &'s Fill) -> Self {
        match fill {
            Fill::Slot(slot) => Self::Slot(slot),
            Fill::Credential(slot) => Self::Credential(slot),
        }
    }
}

/// What is called with every slot of a request: where it stands, its position and the slot.
pub type Visitor<'v> = dyn FnMut(&Path<'_>, Position, AnySlot<'_>) + 'v;

/// The object of a slot, when the value is meant to be one.
pub(super) fn as_slot(value: &Value) -> Option<&Object> {
    let object = value.as_object()?;
    KINDS.iter().any(|(_, member)| object.contains_key(member)).then_some(object)
}

/// Reads a slot that a credential may not fill.
pub(super) fn read_slot(
    object: &Object,
    position: Position,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) -> Option<Slot> {
    match read_fill(object, position, at, reading)? {
        Fill::Slot(slot) => Some(slot),
        Fill::Credential(_) => None,
    }
}

/// Reads a slot of any kind that its position allows.
pub(super) fn read_fill(
    object: &Object,
    position: Position,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) -> Option<Fill> {
    let mut kinds = KINDS.iter().filter(|(_, member)| object.contains_key(member));
    let (kind, kind_member) = *kinds.next()?;
    if kinds.next().is_some() {
        return reading.refuse(&SLOT_AMBIGUOUS, at, format_args!("the slot names more than one source"));
    }
    let Some(allowed) = position.options(kind) else {
        let message = format_args!("a credential cannot stand in a {}", position.as_str());
        return reading.refuse(position.credential_rule(), at, message);
    };
    let name = member::<Identifier>(object, kind_member, at, reading);
    for option in object.keys().filter(|name| *name != kind_member) {
        if !allowed.contains(&option.as_str()) {
            let place = position.as_str();
            let message =
                format_args!("a `{kind_member}` slot of a {place} has no member {}", Quoted(option));
            reading.findings.add_name(&SLOT_OPTION, &at.name(option), message);
        }
    }
    let source = match kind {
        Kind::Param => Source::Param,
        Kind::Setting => Source::Setting,
        Kind::Credential => {
            let omit_absent = word(object, allowed, "absent", OMIT, at, reading);
            let auth = read_auth(object, at, reading);
            return Some(Fill::Credential(CredentialSlot {
                name: name?,
                omit_absent: omit_absent?,
                auth: auth?,
            }));
        }
    };
    let options = read_options(object, allowed, at, reading);
    Some(Fill::Slot(Slot { source, name: name?, options: options? }))
}

/// Reads the options of a slot without its name, as the RPC method `request.encode` takes them.
pub(super) fn read_bare_options(
    object: &Object,
    position: Position,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) -> Option<Options> {
    let allowed = position.options(Kind::Param).unwrap_or_default();
    for option in object.keys().filter(|option| !allowed.contains(&option.as_str())) {
        let message = format_args!("a slot of a {} has no option {}", position.as_str(), Quoted(option));
        reading.findings.add_name(&SLOT_OPTION, &at.name(option), message);
    }
    read_options(object, allowed, at, reading)
}

fn read_options(
    object: &Object,
    allowed: &[&str],
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) -> Option<Options> {
    let array = option::<Option<ArrayStyle>>(object, allowed, "array", at, reading);
    let flag = option::<bool>(object, allowed, "flag", at, reading);
    let absent = word(object, allowed, "absent", OMIT, at, reading);
    let null = word(object, allowed, "null", OMIT, at, reading);
    let slash = word(object, allowed, "slash", "encode", at, reading);
    let segments = word(object, allowed, "segments", "many", at, reading);
    let options = Options {
        array: array?,
        flag: flag?,
        omit_absent: absent?,
        omit_null: null?,
        encode_slash: slash?,
        many_segments: segments?,
    };
    if options.array.is_some() && options.flag {
        clash("array", "flag", at, reading);
    }
    if options.encode_slash && options.many_segments {
        clash("slash", "segments", at, reading);
    }
    Some(options)
}

/// An option that the position takes; one that it does not take reads as absent.
fn option<T: Shape>(
    object: &Object,
    allowed: &[&str],
    name: &str,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) -> Option<T> {
    if allowed.contains(&name) { member::<T>(object, name, at, reading) } else { T::absent() }
}

/// The word of `absent` and `null`.
const OMIT: &str = "omit";

/// An option that has one word: whether it is there, or nothing where it has a breach.
fn word(
    object: &Object,
    allowed: &[&str],
    name: &str,
    word: &str,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) -> Option<bool> {
    match object.get(name).filter(|_| allowed.contains(&name)) {
        None => Some(false),
        Some(value) if value.as_str() == Some(word) => Some(true),
        Some(_) => reading.refuse(&SHAPE_WORD, &at.name(name), format_args!("expected `{word}`")),
    }
}

pub(super) fn clash(one: &str, other: &str, at: &Path<'_>, reading: &mut Reading<'_>) {
    reading.findings.add(&SLOT_OPTIONS_CLASH, at, format_args!("`{one}` and `{other}` exclude each other"));
}

/// Whether the text is a token of RFC 9110 section 5.6.2.
pub(super) fn is_token(text: &str) -> bool {
    let tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(tchar)
}

/// The literal that a member's name stands for: `$$filter` is `$filter`; a single `$` is reserved.
pub(super) fn literal_name<'n>(name: &'n str, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<&'n str> {
    match name.strip_prefix('$') {
        None => Some(name),
        Some(rest) if rest.starts_with('$') => Some(rest),
        Some(_) => {
            let message = format_args!("the member {} is reserved", Quoted(name));
            reading.findings.add_name(&SLOT_RESERVED, &at.name(name), message);
            None
        }
    }
}

/// The member name that writes a literal: the inverse of [`literal_name`].
pub(super) fn member_name(literal: &str) -> SmolStr {
    if literal.starts_with('$') { smol_str::format_smolstr!("${literal}") } else { literal.into() }
}

/// The JSON Schema of the slots that may stand at a position.
pub(super) fn describe(position: Position, definitions: &mut Definitions) -> Value {
    let name = match position {
        Position::Path => "PathSlot",
        Position::Joined => "JoinedSlot",
        Position::Query => "QuerySlot",
        Position::Header => "HeaderSlot",
        Position::Form => "FormSlot",
        Position::Json => "JsonSlot",
        Position::Text => "TextSlot",
    };
    definitions.named(name, |definitions| {
        let kinds = KINDS.iter().filter_map(|(kind, member)| {
            let allowed = position.options(*kind)?;
            let mut properties = Object::new();
            let _new = properties.insert(*member, Identifier::describe(definitions));
            for option in allowed {
                let _new = properties.insert(*option, describe_option(option, definitions));
            }
            Some(fragment([
                ("type", "object".into()),
                ("properties", properties.into()),
                ("required", Value::Array(vec![(*member).into()])),
                ("additionalProperties", false.into()),
            ]))
        });
        let kinds: Vec<_> = kinds.collect();
        fragment([("anyOf", Value::Array(kinds))])
    })
}

fn describe_option(option: &str, definitions: &mut Definitions) -> Value {
    match option {
        "array" => ArrayStyle::describe(definitions),
        "flag" => bool::describe(definitions),
        "slash" => fragment([("const", "encode".into())]),
        "segments" => fragment([("const", "many".into())]),
        "scheme" => fragment([("type", "string".into()), ("pattern", TOKEN_PATTERN.into())]),
        "user" => {
            fragment([("type", "string".into()), ("pattern", r"^[^:\u0000-\u001F\u007F-\u009F]*$".into())])
        }
        "password" => fragment([("const", "".into())]),
        _ => fragment([("const", OMIT.into())]),
    }
}

/// [`is_token`] as a pattern.
pub(super) const TOKEN_PATTERN: &str = r"^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$";
