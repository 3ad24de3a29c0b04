//! The cleaner and the redaction of secrets, joined for answers.

use crate::text::{Cleaned, Cleaner, Context, ModelTokens, Redactor, contains_control};

/// Cleans the strings of one answer.
pub(super) struct Wash<'a> {
    cleaner: Cleaner,
    secrets: &'a Redactor,
}

impl<'a> Wash<'a> {
    pub(super) fn new(tokens: &ModelTokens, secrets: &'a Redactor) -> Self {
        Self { cleaner: Cleaner::new(Context::Response, tokens), secrets }
    }

    /// The clean text of at most this many characters, its marker inside.
    pub(super) fn clean(&self, text: &str, max_chars: usize) -> Cleaned {
        self.cleaner.clean_redacted(text, max_chars, self.secrets)
    }

    /// Whether a secret stands in the text.
    pub(super) fn holds_secret(&self, text: &str) -> bool {
        self.secrets.occurs_in(text)
    }
}

/// Whether the cleaner would leave a text of an author as it is.
pub(super) fn is_clean(text: &str) -> bool {
    let cleaned = Cleaner::new(Context::Response, &ModelTokens::default()).clean(text, usize::MAX);
    !cleaned.changed
}

/// The same for a name, which has no line ends and tabs either.
pub(super) fn is_clean_name(name: &str) -> bool {
    !contains_control(name) && is_clean(name)
}
