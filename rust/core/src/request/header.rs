//! The headers of a request, and the names that a manifest may not set.

use rustc_hash::FxHashMap;
use smol_str::{SmolStr, StrExt};

use super::header_value::check_header_value;
use super::literal;
use super::rules::{
    HEADER_DOUBLED, HEADER_LITERAL_ONLY, HEADER_NAME, HEADER_REFUSED, HEADER_SECRET, HEADER_VALUE,
};
use super::slot::{
    self, Fill, Position, TOKEN_PATTERN, Visitor, as_slot, is_token, literal_name, member_name, read_fill,
};
use crate::json::{Path, Quoted, Value};
use crate::shape::{Definitions, Reading, Shape, fragment, object};

/// The headers that a manifest sets, in file order, each name once whatever its case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers(pub Vec<(SmolStr, HeaderValue)>);

/// The value of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderValue {
    /// A literal; numbers as they are sent.
    Literal(SmolStr),
    /// Filled by a value or a secret.
    Slot(Fill),
}

impl Headers {
    /// The value of a header, whatever the case of its name.
    pub fn get(&self, name: &str) -> Option<&HeaderValue> {
        self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Shows every slot to `visit`; `at` is the place of the headers.
    pub fn each_slot(&self, at: &Path<'_>, visit: &mut Visitor<'_>) {
        for (name, value) in &self.0 {
            if let HeaderValue::Slot(fill) = value {
                visit(&at.name(&member_name(name)), Position::Header, fill.into());
            }
        }
    }
}

impl Shape for Headers {
    const REQUIRED: bool = false;

    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let object = object(value, at, reading)?;
        let mut headers = Vec::with_capacity(object.len());
        let mut seen: FxHashMap<SmolStr, &SmolStr> = FxHashMap::default();
        for (member, value) in object.iter() {
            let place = at.name(member);
            let name = literal_name(member, at, reading);
            let header = HeaderValue::read(value, &place, reading);
            let writable = name.filter(|name| check_name(name, &place, reading));
            if let Some((name, header)) = writable.zip(header.as_ref()) {
                check_slot(name, header, &place, reading);
            }
            if let Some(earlier) = seen.insert(member.to_ascii_lowercase_smolstr(), member) {
                let message =
                    format_args!("the header {} stands before as {}", Quoted(member), Quoted(earlier));
                reading.findings.add_name(&HEADER_DOUBLED, &place, message);
            }
            headers.push(name.map(SmolStr::new).zip(header));
        }
        headers.into_iter().collect::<Option<_>>().map(Self)
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn describe(definitions: &mut Definitions) -> Value {
        let values = HeaderValue::describe(definitions);
        fragment([
            ("type", "object".into()),
            ("propertyNames", describe_name()),
            ("additionalProperties", values),
        ])
    }
}

impl Shape for HeaderValue {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        if let Some(object) = as_slot(value) {
            return read_fill(object, Position::Header, at, reading).map(Self::Slot);
        }
        let text = literal::read_text(value, "header", at, reading)?;
        if check_header_value(&text, reading.limits.header_value_bytes).is_err() {
            reading.findings.add(&HEADER_VALUE, at, format_args!("the literal is no header value"));
        }
        Some(Self::Literal(text))
    }

    fn describe(definitions: &mut Definitions) -> Value {
        let text = fragment([("pattern", VALUE_PATTERN.into()), ("maxLength", 8_192u64.into())]);
        let literal = crate::shape::merged(literal::describe(&[]), text);
        let slot = slot::describe(Position::Header, definitions);
        fragment([("anyOf", Value::Array(vec![literal, slot]))])
    }
}

/// The name of the header that carries the idempotency key: held to everything that a literal header is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderName(pub SmolStr);

impl Shape for HeaderName {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let name = SmolStr::read(value, at, reading)?;
        if check_name(&name, at, reading) {
            if is_literal_only(&name) {
                let message = format_args!("the header {} takes a literal", Quoted(&name));
                reading.findings.add(&HEADER_LITERAL_ONLY, at, message);
            }
            if carries_secret(&name) {
                let message = format_args!("the header {} carries a secret", Quoted(&name));
                reading.findings.add(&HEADER_SECRET, at, message);
            }
        }
        Some(Self(name))
    }

    fn describe(_: &mut Definitions) -> Value {
        describe_name()
    }
}

/// [`check_header_value`] as a pattern.
const VALUE_PATTERN: &str = r"^([!-~]([\t -~]*[!-~])?)?$";

/// Whether a header of this name can be written; the rest of its findings is about its value.
fn check_name(name: &str, at: &Path<'_>, reading: &mut Reading<'_>) -> bool {
    if !is_token(name) {
        let message = format_args!("the header name {} is not a token", Quoted(name));
        reading.findings.add_name(&HEADER_NAME, at, message);
        return false;
    }
    if is_refused(name) {
        let message = format_args!("the header {} is not set by a manifest", Quoted(name));
        reading.findings.add_name(&HEADER_REFUSED, at, message);
        return false;
    }
    true
}

fn check_slot(name: &str, value: &HeaderValue, at: &Path<'_>, reading: &mut Reading<'_>) {
    if is_literal_only(name) && matches!(value, HeaderValue::Slot(_)) {
        let message = format_args!("the header {} takes a literal", Quoted(name));
        reading.findings.add(&HEADER_LITERAL_ONLY, at, message);
    }
    if carries_secret(name) && !matches!(value, HeaderValue::Slot(Fill::Credential(_))) {
        let message =
            format_args!("the header {} carries a secret and is filled by a credential", Quoted(name));
        reading.findings.add(&HEADER_SECRET, at, message);
    }
}

/// Framing, routing and ambient names: complete, in lower case.
const REFUSED: [&str; 24] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "cookie",
    "cookie2",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "origin",
    "range",
    "referer",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-method-override",
    "x-original-url",
    "x-real-ip",
    "x-rewrite-url",
];

/// Beginnings of framing, routing and ambient names, in lower case.
const REFUSED_PREFIXES: [&str; 6] =
    ["proxy-", "sec-", "x-forwarded-", "x-http-method", "metadata", "x-aws-ec2-metadata-"];

fn is_refused(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    REFUSED.contains(&name.as_str()) || REFUSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn is_literal_only(name: &str) -> bool {
    ["user-agent", "accept", "content-type"].iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// `Authorization`, `Api-Key`, `*-Api-Key`, `*-Token`.
fn carries_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(name.as_str(), "authorization" | "api-key")
        || name.ends_with("-api-key")
        || name.ends_with("-token")
}

/// The names that may be written; editors say so before the loader does.
fn describe_name() -> Value {
    let any_case = |word: &str| -> String {
        word.chars()
            .map(|c| match c {
                'a'..='z' => format!("[{}{c}]", c.to_ascii_uppercase()),
                c => c.to_string(),
            })
            .collect()
    };
    let whole: Vec<_> = REFUSED.iter().map(|name| any_case(name) + "$").collect();
    let starts: Vec<_> = REFUSED_PREFIXES.iter().map(|prefix| any_case(prefix)).collect();
    let refused = format!("^({}|{})", whole.join("|"), starts.join("|"));
    fragment([
        ("type", "string".into()),
        ("pattern", TOKEN_PATTERN.into()),
        ("not", fragment([("pattern", refused.into())])),
    ])
}
