//! Looking for what may not be there: secrets and arguments, in any of their spellings.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::Value;

/// Values that may not be seen, in all their spellings.
#[derive(Default)]
pub(crate) struct Canaries(Vec<String>);

impl Canaries {
    /// Adds a value: as it is, percent-encoded, in both alphabets of base64, and as in JSON.
    pub(crate) fn add(&mut self, value: &str) {
        // What is shorter stands in any text by chance.
        if value.len() < 8 {
            return;
        }
        let percent: String = value
            .bytes()
            .map(|byte| {
                let unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
                if unreserved { char::from(byte).to_string() } else { format!("%{byte:02X}") }
            })
            .collect();
        let spellings = [
            value.to_owned(),
            percent.replace("%20", "+"),
            percent,
            STANDARD.encode(value).trim_end_matches('=').to_owned(),
            URL_SAFE.encode(value).trim_end_matches('=').to_owned(),
            Value::from(value).to_string().trim_matches('"').to_owned(),
        ];
        for spelling in spellings {
            if !self.0.contains(&spelling) {
                self.0.push(spelling);
            }
        }
    }

    /// Adds every string in arguments.
    pub(crate) fn add_strings(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.add(text),
            Value::Array(items) => items.iter().for_each(|item| self.add_strings(item)),
            Value::Object(members) => members.values().for_each(|member| self.add_strings(member)),
            _ => {}
        }
    }

    /// Whether one of them stands in a text.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.0.iter().any(|canary| text.contains(canary.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_found() {
        let mut canaries = Canaries::default();
        canaries.add("canary ~a/+\"7");
        for text in [
            "x canary ~a/+\"7",
            "q=canary%20~a%2F%2B%227",
            "canary+~a%2F%2B%227",
            r#"{"a":"canary ~a/+\"7"}"#,
        ] {
            assert!(canaries.is_in(text), "{text}");
        }
        assert!(canaries.is_in(&STANDARD.encode("canary ~a/+\"7")));
        assert!(!canaries.is_in("canary"));
    }
}
