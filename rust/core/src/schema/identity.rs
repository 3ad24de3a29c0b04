//! What a string that is compared, and so never cleaned, may not hold.

use crate::text::contains_control_token;

/// What is wrong with a string that is identity or sample (names, `enum`, `const`, `pattern`, `default`, ...): it
/// reaches the model as it is, so it may hold nothing that steers one.
pub(super) fn fault(text: &str) -> Option<&'static str> {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' if byte != b'<' && byte != b'['));
    if plain {
        None
    } else if text.chars().any(char::is_control) {
        Some("a control character")
    } else if contains_control_token(text) {
        Some("a control token of a model")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_and_control_tokens_are_found() {
        for text in ["a\nb", "\u{7f}", "\u{85}", "<|im_start|>", "x</s>"] {
            assert!(fault(text).is_some(), "{text:?}");
        }
        for text in ["", "plain", "a < b", "List[int]", "été", "😀"] {
            assert_eq!(fault(text), None, "{text:?}");
        }
    }
}
