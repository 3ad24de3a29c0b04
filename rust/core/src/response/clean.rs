//! What of the text module the responses use.

/// Whether the cleaner would leave the text as it is.
pub(super) fn is_clean(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t'))
}
