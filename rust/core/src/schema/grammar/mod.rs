//! Schemas as GBNF, the grammar language of llama.cpp: what a model can say is what the schema accepts.
//!
//! The set is written as a union of disjoint positive pieces, each piece as rules that only go on to the right:
//!
//! ```text
//! values -> strings   words as prefix trees, automata state by state, counts as repetitions
//!        -> numbers   automata over decimal digits
//!        -> arrays    the prefix item by item, the rest as a repetition
//!        -> objects   keys as prefix trees over all that may come next; several sets jointly
//!        -> rules     names, shared rules, text
//! ```
//!
//! Where exactness is impossible the grammar is wider, and a [`Note`] says so. What it leaves out is a matter of
//! spelling: fields come in declared order, characters have one spelling, one blank at most stands after `,` and `:`,
//! integers have no `.0`, and numbers at most 16 integer digits, 15 fraction digits and, where nothing bounds them, two
//! digits of exponent.
//!
//! llama.rn's parser and matcher set the form: no rule is left-recursive or without a body, an alternative begins with
//! a character wherever it can, a repetition stays under 2,000 rules, and few positions are live at a time.

mod arrays;
mod automaton;
mod calls;
mod chars;
mod digits;
mod formats;
#[cfg(test)]
mod gbnf;
mod lattice;
mod names;
pub(in crate::schema) mod notes;
mod numbers;
mod objects;
#[cfg(test)]
mod pitfalls;
mod repeat;
mod rules;
pub(in crate::schema) mod sets;
mod shared;
mod strings;
#[cfg(test)]
mod tests;
mod values;
mod words;
mod writer;

use smol_str::SmolStr;

pub use calls::{CallFrame, CallGrammar, call_grammar};
pub use notes::Note;

use super::Schema;
use crate::error::{Code, Refusal};
use rules::Rules;
use values::Values;

/// The longest grammar, in bytes.
pub const GRAMMAR_BYTES: usize = 256 * 1024;

/// A grammar in GBNF whose rule `root` takes the values of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grammar {
    /// The rules, `root` first.
    pub text: String,
    /// Where the grammar is wider than the schema.
    pub notes: Vec<Note>,
}

impl Grammar {
    /// Whether the grammar takes nothing that the schema refuses. (An object may repeat a key that is not declared: the
    /// reader refuses that before any schema is asked.)
    pub fn is_exact(&self) -> bool {
        self.notes.is_empty()
    }
}

impl Schema {
    /// The schema as a grammar; the same text for the same schema, always.
    ///
    /// A grammar over [`GRAMMAR_BYTES`] is written again in a wider form that says so in its notes; if that is still
    /// too large it is refused ([`Code::SchemaGrammarTooLarge`]).
    pub fn to_grammar(&self) -> Result<Grammar, Refusal> {
        [false, true].into_iter().find_map(|short| self.grammar(short)).ok_or_else(|| {
            Refusal::new(
                Code::SchemaGrammarTooLarge,
                format!(
                    "the grammar of the schema is larger than {GRAMMAR_BYTES} bytes even in its widest form"
                ),
            )
        })
    }

    fn grammar(&self, short: bool) -> Option<Grammar> {
        let inner = &self.0;
        let mut rules = Rules::new();
        let mut values = Values::new(&mut rules, &inner.arena, short);
        values.write(inner.root, SmolStr::new_static("root"));
        let notes = std::mem::take(&mut values.notes);
        let text = rules.finish();
        (text.len() <= GRAMMAR_BYTES).then(|| Grammar { text, notes: notes.list(&inner.source) })
    }
}
