//! JSON Pointers of a manifest.

use smol_str::SmolStr;

use super::rules::RESPONSE_POINTER;
use crate::json::{Path, Value, resolve};
use crate::shape::{Definitions, Reading, SHAPE_TYPE, Shape, fragment};

/// A JSON Pointer (RFC 6901) of at most [`MAX_CHARS`](Self::MAX_CHARS) characters, checked when the manifest is
/// read. The default is the whole value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pointer(SmolStr);

impl Pointer {
    /// The most characters of a pointer.
    pub const MAX_CHARS: usize = 1_024;

    /// Takes a text that is a pointer by the grammar of RFC 6901 section 3.
    pub fn parse(text: &str) -> Option<Self> {
        let rooted = text.is_empty() || text.starts_with('/');
        let escaped = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        let bounded = text.chars().nth(Self::MAX_CHARS).is_none();
        (rooted && escaped && bounded).then(|| Self(text.into()))
    }

    /// The pointer as it stands in the manifest.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value that it leads to, if there is one.
    pub(super) fn resolve<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        resolve(value, &self.0)
    }
}

impl Shape for Pointer {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let Some(text) = value.as_str() else {
            let kind = value.kind();
            return reading.refuse(&SHAPE_TYPE, at, format_args!("expected a JSON Pointer, found {kind}"));
        };
        match Self::parse(text) {
            Some(pointer) => Some(pointer),
            None => reading.refuse(&RESPONSE_POINTER, at, format_args!("this is not a JSON Pointer")),
        }
    }

    fn describe(definitions: &mut Definitions) -> Value {
        definitions.named("Pointer", |_| {
            fragment([
                ("description", "A JSON Pointer (RFC 6901); the empty text is the whole value.".into()),
                ("type", "string".into()),
                ("pattern", "^(/([^~]|~[01])*)?$".into()),
                ("maxLength", Self::MAX_CHARS.into()),
            ])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_grammar_of_rfc_6901_is_a_pointer() {
        for text in ["", "/", "/a", "/a//b", "/a~0b~1c", "/é/0", "/ ", "//"] {
            assert_eq!(Pointer::parse(text).unwrap().as_str(), text);
        }
        for text in ["a", "#/a", "$.a", "/a~", "/a~2", "~0", " /a", "/~~0"] {
            assert_eq!(Pointer::parse(text), None, "{text}");
        }
        assert!(Pointer::parse(&format!("/{}", "é".repeat(1_023))).is_some());
        assert!(Pointer::parse(&format!("/{}", "a".repeat(1_024))).is_none());
    }
}
