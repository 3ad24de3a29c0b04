//! Typed reading: one declaration of a type gives its reader, which reports every breach, and its JSON Schema,
//! so that the two cannot drift.

mod identifier;
mod list;
mod record;
mod scalar;
mod schema;

pub(crate) use identifier::folded;
pub use identifier::{Identifier, Named, collisions, is_reserved};
pub use list::{List, Members};
pub use record::{known_members, member, object};
pub use scalar::{Flag, Integer};
pub use schema::{Definitions, fragment, merged};

use crate::json::{Path, Value};
use crate::limits::TrustLimits;
use crate::rule::{Findings, Rule};
use crate::rules;

rules! {
    SHAPE_TYPE: Error "shape.type", "A member has the JSON type that the format gives it.",
        "See the generated JSON Schema of the manifest for the type of each member.";
    SHAPE_MISSING: Error "shape.missing_member", "A required member is present.", "Add the member that the message names.";
    SHAPE_UNKNOWN: Error "shape.unknown_member", "Only members of the format are used.",
        "Remove the member or correct its spelling; a field that nothing reads would be ignored silently.";
    SHAPE_WORD: Error "shape.word", "A member that takes one of a few words has one of them.", "Use one of the words that the message lists.";
    SHAPE_RANGE: Error "shape.range", "A number stays in its range.", "Use a whole number in the range that the message names.";
    SHAPE_COUNT: Error "shape.count", "A list or map has as many entries as the format allows.", "Add or remove entries.";
    NAME_IDENTIFIER: Error "name.identifier", "An identifier is 1 to 128 of `[A-Za-z0-9_-]`.",
        "Use letters, digits, `_` and `-` only; names are refused, never repaired.";
    NAME_RESERVED: Error "name.reserved", "`__proto__`, `constructor` and `prototype` are no identifiers.", "Choose another name.";
    NAME_COLLISION: Error "name.collision", "Two names of one kind differ in more than case and `_` for `-`.",
        "Rename one of the two; a model or a person would take one for the other.";
}

/// What a reader works with: the limits that hold, and where breaches go.
#[derive(Debug)]
pub struct Reading<'r> {
    /// The limits under which the document is read.
    pub limits: &'r TrustLimits,
    /// Every breach so far.
    pub findings: &'r mut Findings,
}

impl Reading<'_> {
    /// Reports a breach at the value of `at`; gives nothing, for use as a reader's result.
    pub fn refuse<T>(
        &mut self,
        rule: &'static Rule,
        at: &Path<'_>,
        message: std::fmt::Arguments<'_>,
    ) -> Option<T> {
        self.findings.add(rule, at, message);
        None
    }
}

/// A type that is read from a JSON value and describes itself as JSON Schema (2020-12).
pub trait Shape: Sized {
    /// Whether a member of this type must be there.
    const REQUIRED: bool = true;

    /// Reads a value. Every breach is a finding; nothing when the value cannot stand for this type.
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self>;

    /// What an absent member reads as; nothing when it must be there.
    fn absent() -> Option<Self> {
        None
    }

    /// The JSON Schema of the values that are read without a breach of this type's own rules.
    fn describe(definitions: &mut Definitions) -> Value;
}

impl<T: Shape> Shape for Option<T> {
    const REQUIRED: bool = false;

    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        T::read(value, at, reading).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn describe(definitions: &mut Definitions) -> Value {
        T::describe(definitions)
    }
}

impl<T: Shape> Shape for Box<T> {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        T::read(value, at, reading).map(Box::new)
    }

    fn describe(definitions: &mut Definitions) -> Value {
        T::describe(definitions)
    }
}

/// Declares a struct whose JSON form is an object with exactly these members.
///
/// ```ignore
/// record! {
///     /// One tool.
///     pub struct Tool {
///         /// The name that the model calls.
///         pub name: Identifier = "name",
///         /// Absent: no arguments.
///         pub parameters: Option<Value> = "parameters",
///     }
/// }
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! record {
    ($(#[doc = $doc:literal])* $(#[derive($($derive:ident),*)])? $vis:vis struct $name:ident {
        $($(#[doc = $field_doc:literal])* $field_vis:vis $field:ident: $type:ty = $member:literal,)*
    }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone $($(, $derive)*)?)]
        $vis struct $name {
            $($(#[doc = $field_doc])* $field_vis $field: $type,)*
        }

        impl $crate::shape::Shape for $name {
            fn read(
                value: &$crate::json::Value,
                at: &$crate::json::Path<'_>,
                reading: &mut $crate::shape::Reading<'_>,
            ) -> Option<Self> {
                let object = $crate::shape::object(value, at, reading)?;
                $crate::shape::known_members(object, &[$($member),*], at, reading);
                $(let $field = $crate::shape::member::<$type>(object, $member, at, reading);)*
                Some(Self { $($field: $field?),* })
            }

            fn describe(definitions: &mut $crate::shape::Definitions) -> $crate::json::Value {
                definitions.record(
                    stringify!($name),
                    concat!($($doc),*),
                    |definitions| vec![$((
                        $member,
                        <$type as $crate::shape::Shape>::REQUIRED,
                        concat!($($field_doc),*),
                        <$type as $crate::shape::Shape>::describe(definitions),
                    )),*],
                )
            }
        }
    };
    // With a draft: the same members, each there unless it could not be read, so that a report can go on; `check`
    // sees all of them together.
    ($(#[doc = $doc:literal])* $vis:vis struct $name:ident, draft $draft:ident $(, check $check:path)? {
        $($(#[doc = $field_doc:literal])* $field_vis:vis $field:ident: $type:ty = $member:literal,)*
    }) => {
        $crate::record! {
            $(#[doc = $doc])*
            $vis struct $name {
                $($(#[doc = $field_doc])* $field_vis $field: $type = $member,)*
            }
        }

        #[doc = concat!("What could be read of a [`", stringify!($name), "`]: each member, or nothing where it has a breach.")]
        #[derive(Debug, Clone)]
        $vis struct $draft {
            $($(#[doc = $field_doc])* $field_vis $field: Option<$type>,)*
        }

        impl $draft {
            /// The whole, when every member could be read.
            $vis fn complete(self) -> Option<$name> {
                Some($name { $($field: self.$field?),* })
            }
        }

        impl $crate::shape::Shape for $draft {
            fn read(
                value: &$crate::json::Value,
                at: &$crate::json::Path<'_>,
                reading: &mut $crate::shape::Reading<'_>,
            ) -> Option<Self> {
                let Some(object) = $crate::shape::object(value, at, reading) else {
                    return Some(Self { $($field: None),* });
                };
                $crate::shape::known_members(object, &[$($member),*], at, reading);
                $(let $field = $crate::shape::member::<$type>(object, $member, at, reading);)*
                let draft = Self { $($field),* };
                $($check(&draft, object, at, reading);)?
                Some(draft)
            }

            fn describe(definitions: &mut $crate::shape::Definitions) -> $crate::json::Value {
                <$name as $crate::shape::Shape>::describe(definitions)
            }
        }
    };
}

/// Declares an enum whose JSON form is one of a few words.
#[macro_export]
#[doc(hidden)]
macro_rules! words {
    ($(#[doc = $doc:literal])* $vis:vis enum $name:ident {
        $($(#[doc = $variant_doc:literal])* $variant:ident = $word:literal,)*
    }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $name {
            $($(#[doc = $variant_doc])* $variant,)*
        }

        impl $name {
            /// All words, in the order of the documentation.
            $vis const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word as it stands in a manifest.
            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// The variant of a word.
            $vis fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl $crate::shape::Shape for $name {
            fn read(
                value: &$crate::json::Value,
                at: &$crate::json::Path<'_>,
                reading: &mut $crate::shape::Reading<'_>,
            ) -> Option<Self> {
                let found = value.as_str().and_then(Self::from_word);
                if found.is_none() {
                    let words = Self::WORDS.join("`, `");
                    reading.findings.add(&$crate::shape::SHAPE_WORD, at, format_args!("expected one of `{words}`"));
                }
                found
            }

            fn describe(_: &mut $crate::shape::Definitions) -> $crate::json::Value {
                let words = Self::WORDS.iter().map(|word| $crate::json::Value::from(*word)).collect();
                $crate::shape::fragment([("enum", $crate::json::Value::Array(words))])
            }
        }
    };
}

#[cfg(test)]
mod tests;
