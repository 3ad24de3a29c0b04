//! Schemas as llama.rn 0.12.9's own converter reads them right.
//!
//! That converter ignores many keywords, misreads others, and on some crashes, hangs or shares one rule between two
//! schemas. So a schema is handed on as it is, its texts cleaned, where it is read right ([`readable`]); any other part
//! is written anew from its compiled set ([`write`]), in the forms that are. Either way the result takes every value
//! that the schema accepts. It is never the authority: arguments are checked by the schema itself.
//!
//! ```text
//! Schema -> readable   this part, its references left out, is read right: it is kept
//!        -> write      the set of any other part: kinds, words, bounds, items, members, alternatives
//!        -> Safe       references written where they are used while that fits, else under unique names
//! ```
//!
//! The converter reads an object as its required members first, then the others: another order than that of our
//! grammars, and the same values.

mod clean;
mod numbers;
mod parts;
mod readable;
mod spoken;
#[cfg(test)]
mod tests;
mod write;

use super::Schema;
use crate::json::{Object, Value, canonical, sha256};
use crate::text::Cleaner;
use write::{Mode, Writer};

/// The longest safe form, in bytes.
pub const SAFE_BYTES: usize = 64 * 1024;

/// A schema for llama.rn's converter, and in what it differs from the one that it was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Safe {
    /// The schema.
    pub schema: Value,
    /// The differences, in the order of their pointers.
    pub changes: Vec<Change>,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The place in the schema that was written, as an RFC 6901 pointer.
    pub pointer: String,
    /// What was done there and why, one sentence. Names keywords, never values.
    pub reason: String,
}

/// The most changes that are told.
const MOST: usize = 200;

impl Schema {
    /// The form that llama.rn's converter reads right, of at most [`SAFE_BYTES`]. It takes every value that the schema
    /// accepts, and where it takes more a change says so. `cleaner` cleans titles, descriptions and other texts.
    pub fn to_safe(&self, cleaner: &Cleaner) -> Safe {
        let inner = &self.0;
        let text = canonical(&inner.source).unwrap_or_default();
        let tag: String = sha256(text).to_string().chars().take(8).collect();
        for mode in [Mode::Inline, Mode::Named, Mode::Kinds] {
            let mut writer = Writer::new(inner, cleaner, &tag, mode);
            if let Some(schema) = writer.root(inner.root)
                && schema.to_text().len() <= SAFE_BYTES
            {
                let mut changes = sorted(writer.changes);
                if changes.is_empty() && schema.to_text() != inner.source.to_text() {
                    let reason = "written in the forms that llama.rn reads, with the same meaning".to_owned();
                    changes.push(Change { pointer: String::new(), reason });
                }
                return Safe { schema, changes };
            }
        }
        let reason = format!("any object: every other form is over {SAFE_BYTES} bytes");
        let schema = Value::Object([("type", "object".into())].into_iter().collect::<Object>());
        Safe { schema, changes: vec![Change { pointer: String::new(), reason }] }
    }
}

fn sorted(mut changes: Vec<Change>) -> Vec<Change> {
    changes.sort_unstable();
    changes.dedup();
    changes.truncate(MOST);
    changes
}
