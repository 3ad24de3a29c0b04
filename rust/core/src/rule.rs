//! Rules and findings: what a manifest or a schema may not be, said once.
//!
//! Each module of the core declares its own rules with [`rules!`](crate::rules) and lists them as `RULES`;
//! the crate's `rules::all` is the whole table, from which `docs/rules.md` and `connector check` are made.

use std::fmt;

/// Whether a finding forbids the document or only tells about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The document is refused.
    Error,
    /// The document is taken, and the author should know.
    Warning,
}

impl Severity {
    /// `error` or `warning`, as it stands in a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One rule: a stable id, its severity, and how to mend what breaks it.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable id, `area.what` in lower case with underscores.
    pub id: &'static str,
    /// What a breach does.
    pub severity: Severity,
    /// One sentence that states the rule, for the generated list.
    pub says: &'static str,
    /// One or two sentences that show the way out.
    pub help: &'static str,
}

/// One breach of a rule at one place of a document.
#[derive(Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that was broken.
    pub rule: &'static Rule,
    /// Where, as an RFC 6901 pointer into the document (`""` is the whole).
    pub pointer: String,
    /// Where, as a byte offset, when the pointer cannot say it (syntax errors, the second of two members).
    pub offset: Option<usize>,
    /// What is wrong here, one sentence. Never holds a secret.
    pub message: String,
}

impl Finding {
    /// A finding at a pointer.
    pub fn new(rule: &'static Rule, pointer: impl fmt::Display, message: impl Into<String>) -> Self {
        Self { rule, pointer: pointer.to_string(), offset: None, message: message.into() }
    }

    /// The same finding at an exact byte offset of the source text.
    pub fn at_offset(mut self, offset: usize) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Whether the finding refuses the document.
    pub fn is_error(&self) -> bool {
        self.rule.severity == Severity::Error
    }
}

impl fmt::Debug for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:?}: {}", self.rule.id, self.pointer, self.message)
    }
}

/// Declares the rules of a module and the slice `RULES` that lists them.
///
/// ```ignore
/// rules! {
///     /// doc comment
///     ORIGIN_HTTPS: Error "origin.https", "An origin is https.", "Use https, or make the origin userProvided ...";
/// }
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! rules {
    ($($name:ident: $severity:ident $id:literal, $says:literal, $help:literal;)*) => {
        $(
            #[doc = $says]
            pub static $name: $crate::rule::Rule = $crate::rule::Rule {
                id: $id,
                severity: $crate::rule::Severity::$severity,
                says: $says,
                help: $help,
            };
        )*
        /// The rules of this module, in the order in which they are documented.
        pub static RULES: &[&$crate::rule::Rule] = &[$(&$name),*];
    };
}
