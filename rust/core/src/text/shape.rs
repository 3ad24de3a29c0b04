//! The texts of a manifest: titles and descriptions, cleaned and cut as everything that reaches a model.

use std::sync::LazyLock;

use super::{Cleaner, Context, ModelTokens};
use crate::json::{Path, Value};
use crate::rules;
use crate::shape::{Definitions, Reading, SHAPE_TYPE, Shape, fragment};

rules! {
    TEXT_CLEANED: Warning "text.cleaned", "A title or description, in a schema too, holds only what a person sees and a model may read.",
        "Remove control, invisible and bidirectional characters and the control tokens of models; a title is one line.";
    TEXT_CUT: Warning "text.cut", "A title has at most 80 characters, a description 8,192.",
        "Shorten the text; what is over the limit is cut with a marker.";
    TEXT_NOT_STRING: Warning "text.not_a_string", "A description is a string, and so is a title in a schema.",
        "Write a string; anything else reads as empty.";
}

/// A title: one line, clean, at most 80 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title(Box<str>);

/// A description: clean, at most 8,192 characters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Description(Box<str>);

impl Title {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Description {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

static TITLES: LazyLock<Cleaner> = LazyLock::new(|| Cleaner::new(Context::Title, &ModelTokens::default()));
static DESCRIPTIONS: LazyLock<Cleaner> =
    LazyLock::new(|| Cleaner::new(Context::Description, &ModelTokens::default()));

impl Shape for Title {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        if let Some(text) = value.as_str() {
            return Some(Self(clean(text, &TITLES, reading.limits.title_chars, at, reading)));
        }
        let kind = value.kind();
        reading.refuse(&SHAPE_TYPE, at, format_args!("expected a string, found {kind}"))
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("type", "string".into()), ("maxLength", 80u64.into())])
    }
}

impl Shape for Description {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let Some(text) = value.as_str() else {
            not_a_string(value, at, reading);
            return Some(Self::default());
        };
        Some(Self(clean(text, &DESCRIPTIONS, reading.limits.description_chars, at, reading)))
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("type", "string".into()), ("maxLength", 8_192u64.into())])
    }
}

/// Reports what cleaning would change in a description that stays as it is written, such as an annotation of a
/// schema; whoever shows it to a model cleans it.
pub fn check_description(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) {
    check(value, &DESCRIPTIONS, reading.limits.description_chars, at, reading);
}

/// The same for a title, which is one line.
pub fn check_title(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) {
    check(value, &TITLES, reading.limits.title_chars, at, reading);
}

fn check(value: &Value, cleaner: &Cleaner, limit: usize, at: &Path<'_>, reading: &mut Reading<'_>) {
    if let Some(text) = value.as_str() {
        let _cleaned = clean(text, cleaner, limit, at, reading);
    } else {
        not_a_string(value, at, reading);
    }
}

fn not_a_string(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) {
    let kind = value.kind();
    reading.findings.add(&TEXT_NOT_STRING, at, format_args!("expected a string, found {kind}"));
}

fn clean(text: &str, cleaner: &Cleaner, limit: usize, at: &Path<'_>, reading: &mut Reading<'_>) -> Box<str> {
    let cleaned = cleaner.clean(text, limit);
    if cleaned.changed {
        reading.findings.add(&TEXT_CLEANED, at, format_args!("the text was cleaned"));
    }
    if cleaned.truncated {
        reading.findings.add(&TEXT_CUT, at, format_args!("the text was cut to {limit} characters"));
    }
    cleaned.text.into_boxed_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::TrustLimits;
    use crate::rule::Findings;

    fn read<T: Shape>(value: impl Into<Value>) -> (Option<T>, Vec<&'static str>) {
        let (limits, mut findings) = (TrustLimits::default(), Findings::new());
        let read =
            T::read(&value.into(), &Path::Root, &mut Reading { limits: &limits, findings: &mut findings });
        (read, findings.list().iter().map(|finding| finding.rule.id).collect())
    }

    #[test]
    fn a_title_is_one_clean_line_within_its_limit() {
        assert_eq!(read::<Title>("Notes"), (Some(Title("Notes".into())), vec![]));
        let (title, found) = read::<Title>("No\u{202e}tes\nof all");
        assert_eq!((title.unwrap().as_str(), found), ("Notes of all", vec!["text.cleaned"]));
        let (title, found) = read::<Title>("x".repeat(81));
        assert_eq!((title.unwrap().as_str().chars().count(), found), (80, vec!["text.cut"]));
        assert_eq!(read::<Title>(Value::Null), (None, vec!["shape.type"]));
    }

    #[test]
    fn a_description_that_is_no_string_reads_as_empty() {
        assert_eq!(read::<Description>(7u64), (Some(Description::default()), vec!["text.not_a_string"]));
        let (text, found) = read::<Description>(format!("a\n{}", "é".repeat(8_192)));
        assert_eq!((text.unwrap().as_str().chars().count(), found), (8_192, vec!["text.cut"]));
    }
}
