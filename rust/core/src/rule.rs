//! Rules and findings: what a manifest or a schema may not be, said once.
//!
//! Each module of the core declares its own rules with [`rules!`](crate::rules) and lists them as `RULES`;
//! [`catalogue::all`](crate::catalogue::all) is the whole table, from which `docs/rules.md` and `connector check` are made.

use std::fmt;

use crate::json::Path;

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

impl Rule {
    /// What stands before the dot of the id.
    pub fn area(&self) -> &'static str {
        self.id.split('.').next().unwrap_or_default()
    }
}

/// What of a place a finding speaks of, for line and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The value at the pointer.
    Value,
    /// The name of the member at the pointer.
    Name,
    /// A byte offset of the source text, where no pointer can say it (syntax errors, the second of two members).
    Offset(usize),
}

/// One breach of a rule at one place of a document.
#[derive(Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that was broken.
    pub rule: &'static Rule,
    /// Where, as an RFC 6901 pointer into the document (`""` is the whole).
    pub pointer: String,
    /// What of that place; [`Locator`](crate::json::Locator) makes line and column of it.
    pub at: At,
    /// What is wrong here, one sentence. Never holds a secret.
    pub message: String,
}

impl Finding {
    /// A finding at the value of a pointer.
    pub fn new(rule: &'static Rule, pointer: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self { rule, pointer: pointer.to_string(), at: At::Value, message: message.to_string() }
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

/// The findings about one document, bounded: a hostile file cannot make the report larger than itself.
///
/// After [`MAX_FINDINGS`](Self::MAX_FINDINGS) findings or [`MAX_BYTES`](Self::MAX_BYTES) of text the rest is
/// only counted; pointer and message of those are never formatted.
#[derive(Debug, Default, Clone)]
pub struct Findings {
    list: Vec<Finding>,
    bytes: usize,
    omitted: usize,
    errors: usize,
}

impl Findings {
    /// The most findings that are kept.
    pub const MAX_FINDINGS: usize = 1_000;
    /// The most bytes of pointers and messages that are kept.
    pub const MAX_BYTES: usize = 1 << 20;

    /// No findings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding about the value at `path`.
    pub fn add(&mut self, rule: &'static Rule, path: &Path<'_>, message: fmt::Arguments<'_>) {
        self.add_at(rule, path, At::Value, message);
    }

    /// Adds a finding about the name of the member at `path`.
    pub fn add_name(&mut self, rule: &'static Rule, path: &Path<'_>, message: fmt::Arguments<'_>) {
        self.add_at(rule, path, At::Name, message);
    }

    /// Adds a finding about an exact place.
    pub fn add_at(&mut self, rule: &'static Rule, path: &Path<'_>, at: At, message: fmt::Arguments<'_>) {
        self.errors += usize::from(rule.severity == Severity::Error);
        if self.is_full() {
            self.omitted += 1;
            return;
        }
        let finding = Finding { rule, pointer: path.to_string(), at, message: message.to_string() };
        self.bytes += finding.pointer.len() + finding.message.len();
        self.list.push(finding);
    }

    /// Takes over finished findings, with `prefix` before their pointers.
    pub fn extend(&mut self, prefix: &Path<'_>, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            self.add_at(
                finding.rule,
                &Path::Tail(prefix, &finding.pointer),
                finding.at,
                format_args!("{}", finding.message),
            );
        }
    }

    /// Whether no further finding is kept.
    pub fn is_full(&self) -> bool {
        self.list.len() >= Self::MAX_FINDINGS || self.bytes >= Self::MAX_BYTES
    }

    /// Whether any finding refuses the document, kept or not.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// How many findings refuse the document, kept or not.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// How many findings were counted and not kept.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// The findings that were kept, in the order in which they were found.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// The findings that were kept.
    pub fn into_list(self) -> Vec<Finding> {
        self.list
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
            #[allow(unreachable_pub, reason = "modules keep their rules to themselves and show the list")]
            pub static $name: $crate::rule::Rule = $crate::rule::Rule {
                id: $id,
                severity: $crate::rule::Severity::$severity,
                says: $says,
                help: $help,
            };
        )*
        /// The rules of this module, in the order in which they are documented.
        #[allow(unreachable_pub, reason = "a module's list is re-exported where the module is not")]
        pub static RULES: &[&$crate::rule::Rule] = &[$(&$name),*];
    };
}
