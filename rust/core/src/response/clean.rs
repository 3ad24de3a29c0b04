//! The cleaner and the redaction of secrets, joined for answers.

use std::borrow::Cow;

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

    /// The clean text of the start of one that goes on, and how many characters of its end are left out: no beginning
    /// of a secret stays there, neither as it came nor as it is shown.
    pub(super) fn clean_start(&self, text: &str) -> (String, usize) {
        let redacted = self.secrets.redact(text);
        let kept = self.secrets.without_begun(&redacted);
        let gone = redacted.get(kept.len()..).unwrap_or_default().chars().count();
        let mut clean = self.clean(kept, usize::MAX).text;
        let kept = self.secrets.without_begun(&clean).len();
        let gone = gone + clean.get(kept..).unwrap_or_default().chars().count();
        clean.truncate(kept);
        (clean, gone)
    }

    /// The text without its secrets, for what takes it apart before it is cleaned.
    pub(super) fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.secrets.redact(text)
    }

    /// The same for bytes that are yet to be decoded.
    pub(super) fn redact_bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        self.secrets.redact_bytes(bytes)
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
