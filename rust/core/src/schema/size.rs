//! How large and how deep a schema is.

use crate::json::{Object, Value, canonical_size};

/// A bound for the bytes of the RFC 8785 form, found without writing it; nothing when `depth` is not enough.
pub(super) fn size_at_most(value: &Value, depth: usize) -> Option<usize> {
    // An escape takes six bytes for one; the longest double takes 25.
    let text = |text: &str| text.len().saturating_mul(6).saturating_add(3);
    Some(match value {
        Value::Null | Value::Bool(_) => 6,
        Value::Number(_) => 26,
        Value::String(string) => text(string),
        Value::Array(items) => {
            let depth = depth.checked_sub(1)?;
            items.iter().try_fold(2usize, |sum, item| Some(sum.saturating_add(size_at_most(item, depth)?)))?
        }
        Value::Object(object) => {
            let depth = depth.checked_sub(1)?;
            object.iter().try_fold(2usize, |sum, (name, value)| {
                Some(sum.saturating_add(text(name)).saturating_add(size_at_most(value, depth)?))
            })?
        }
    })
}

/// Whether the RFC 8785 form has at most this many bytes. A number beyond doubles has none, and its own rule.
pub(super) fn fits(root: &Value, limit: usize) -> bool {
    fn doubles_only(value: &Value) -> Value {
        match value {
            Value::Number(number) if number.canonical().is_none() => Value::from(0u64),
            Value::Array(items) => Value::Array(items.iter().map(doubles_only).collect()),
            Value::Object(object) => object
                .iter()
                .map(|(name, value)| (name.clone(), doubles_only(value)))
                .collect::<Object>()
                .into(),
            other => other.clone(),
        }
    }
    canonical_size(root, limit).or_else(|| canonical_size(&doubles_only(root), limit)).is_some()
}

#[cfg(test)]
mod tests {
    use crate::schema::testing::{OPEN, broken, compile};

    #[test]
    fn a_schema_is_bounded_in_depth_and_bytes() {
        let nested = |levels: usize| format!("{}true{}", "{\"not\":".repeat(levels), "}".repeat(levels));
        assert!(compile(&nested(16), OPEN).is_ok());
        assert_eq!(broken(&nested(17)), [("schema.too_deep", String::new())]);
        let long = |bytes: usize| format!(r#"{{"description":"{}"}}"#, "é".repeat(bytes / 2));
        assert!(compile(&long(65_536 - 18), OPEN).is_ok());
        assert_eq!(broken(&long(65_536 - 16)), [("schema.too_large", String::new())]);
        // Escapes and numbers count as they are written in RFC 8785.
        assert_eq!(
            broken(&format!(r#"{{"description":"{}"}}"#, "\\u0001".repeat(11_000))),
            [("schema.too_large", String::new())]
        );
        assert!(compile(&format!(r#"{{"description":"{}"}}"#, "\\u0041".repeat(60_000)), OPEN).is_ok());
    }
}
