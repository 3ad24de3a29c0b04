//! The JSON Canonicalization Scheme (RFC 8785).

use super::string::write_string;
use super::value::{Object, Value};

/// The RFC 8785 text of a value; nothing when a number is beyond the range of a double.
///
/// The reader's strict profile has refused numbers that would change their value here.
pub fn canonical(value: &Value) -> Option<String> {
    let mut out = String::new();
    write(value, &mut out, usize::MAX).then_some(out)
}

/// The size in bytes of the RFC 8785 text when it is at most `limit`; abandoned as soon as it is over.
pub fn canonical_size(value: &Value, limit: usize) -> Option<usize> {
    let mut out = String::new();
    write(value, &mut out, limit).then_some(out.len())
}

fn write(value: &Value, out: &mut String, limit: usize) -> bool {
    match value {
        Value::Number(number) => match number.canonical() {
            Some(text) => out.push_str(&text),
            None => return false,
        },
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                if !write(item, out, limit) {
                    return false;
                }
            }
            out.push(']');
        }
        Value::Object(object) => {
            out.push('{');
            for (at, (name, value)) in sorted(object).into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_string(name, out);
                out.push(':');
                if !write(value, out, limit) {
                    return false;
                }
            }
            out.push('}');
        }
        other => other.write(out),
    }
    out.len() <= limit
}

/// Members by the UTF-16 code units of their names (RFC 8785 section 3.2.3).
fn sorted(object: &Object) -> Vec<(&str, &Value)> {
    let mut members: Vec<_> = object.iter().map(|(name, value)| (name.as_str(), value)).collect();
    if members.iter().all(|(name, _)| name.is_ascii()) {
        members.sort_unstable_by_key(|(name, _)| *name);
    } else {
        members.sort_unstable_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_text;

    #[test]
    fn members_are_sorted_by_utf_16_code_units() {
        let value =
            read_text("{\"\u{20ac}\":1,\"\\r\":2,\"\u{fb33}\":3,\"1\":4,\"\u{1f600}\":5,\"\u{80}\":6}")
                .unwrap();
        let expected = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}";
        assert_eq!(canonical(&value).as_deref(), Some(expected));
    }

    #[test]
    fn a_size_is_abandoned_at_its_limit() {
        let value = read_text(r#"{"b": [1, 2.50], "a": null}"#).unwrap();
        assert_eq!(canonical(&value).as_deref(), Some(r#"{"a":null,"b":[1,2.5]}"#));
        assert_eq!(canonical_size(&value, 22), Some(22));
        assert_eq!(canonical_size(&value, 21), None);
    }
}
