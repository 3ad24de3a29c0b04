//! The query of a request: literal names, each with a literal or a slot.

use smol_str::SmolStr;
use unicode_normalization::UnicodeNormalization;

use super::literal;
use super::rules::{QUERY_NAME, QUERY_SECRET};
use super::slot::{self, AnySlot, Position, Slot, Visitor, as_slot, literal_name, member_name, read_slot};
use crate::json::{Path, Quoted, Value};
use crate::shape::{Definitions, Reading, Shape, fragment, object};

/// The pairs of the query in the order in which they are sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query(pub Vec<(SmolStr, QueryValue)>);

/// The value of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryValue {
    /// A literal `null`: a key without `=` and value.
    Bare,
    /// A literal; numbers as they are sent.
    Literal(SmolStr),
    /// Filled by a value.
    Slot(Slot),
}

impl Query {
    /// Shows every slot to `visit`; `at` is the place of the query.
    pub fn each_slot(&self, at: &Path<'_>, visit: &mut Visitor<'_>) {
        for (name, value) in &self.0 {
            if let QueryValue::Slot(slot) = value {
                visit(&at.name(&member_name(name)), Position::Query, AnySlot::Slot(slot));
            }
        }
    }
}

impl Shape for Query {
    const REQUIRED: bool = false;

    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let object = object(value, at, reading)?;
        let mut pairs = Vec::with_capacity(object.len());
        for (member, value) in object.iter() {
            let place = at.name(member);
            let name = literal_name(member, at, reading);
            if let Some(name) = name {
                check_name(name, &place, reading);
            }
            let value = QueryValue::read(value, &place, reading);
            pairs.push(name.map(SmolStr::new).zip(value));
        }
        pairs.into_iter().collect::<Option<_>>().map(Self)
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn describe(definitions: &mut Definitions) -> Value {
        let names = fragment([("type", "string".into()), ("pattern", NAME_PATTERN.into())]);
        let values = QueryValue::describe(definitions);
        fragment([("type", "object".into()), ("propertyNames", names), ("additionalProperties", values)])
    }
}

/// A literal name that is not empty; `$` only doubled.
pub(super) const NAME_PATTERN: &str = r"^([^$]|\$\$)";

impl Shape for QueryValue {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        match (value, as_slot(value)) {
            (_, Some(object)) => read_slot(object, Position::Query, at, reading).map(Self::Slot),
            (Value::Null, _) => Some(Self::Bare),
            _ => literal::read_text(value, "query", at, reading).map(Self::Literal),
        }
    }

    fn describe(definitions: &mut Definitions) -> Value {
        let slot = slot::describe(Position::Query, definitions);
        fragment([("anyOf", Value::Array(vec![literal::describe(&["null"]), slot]))])
    }
}

fn check_name(name: &str, at: &Path<'_>, reading: &mut Reading<'_>) {
    if name.is_empty() {
        reading.findings.add_name(&QUERY_NAME, at, format_args!("the name of the pair is empty"));
    }
    if carries_secret(name) {
        let message = format_args!("a query pair named {} carries a secret", Quoted(name));
        reading.findings.add_name(&QUERY_SECRET, at, message);
    }
}

/// Names under which APIs take a secret in the query, folded.
const SECRETS: [&str; 7] =
    ["apikey", "xapikey", "accesstoken", "authtoken", "authorization", "clientsecret", "password"];

/// Whether the name carries a secret, whatever its case, separators and compatibility forms.
fn carries_secret(name: &str) -> bool {
    let mut folded = String::new();
    for c in name.nfkc().filter(char::is_ascii_alphanumeric) {
        folded.push(c.to_ascii_lowercase());
        if folded.len() > 16 {
            return false;
        }
    }
    SECRETS.contains(&folded.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_whatever_their_spelling() {
        for name in [
            "api_key",
            "API-KEY",
            "apiKey",
            "x-api-key",
            "access_token",
            "auth.token",
            "Authorization",
            "client_secret",
            "password",
            "ａｐｉ＿ｋｅｙ",
            "api_key[]",
        ] {
            assert!(carries_secret(name), "{name}");
        }
        for name in ["key", "token", "page_token", "q", "api", "passwords", "apikeyversion"] {
            assert!(!carries_secret(name), "{name}");
        }
    }
}
