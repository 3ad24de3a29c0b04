//! Sets of strings, as the schemas need them: one automaton type closed under the boolean operations,
//! ECMA-262 patterns that compile into it, and the table of known formats.
//!
//! Strings are sequences of Unicode scalar values; lengths count those. A length interval is a coordinate
//! of its own that stands *beside* an automaton ([`Length`]), since as states it would cost its own size.
//!
//! Nothing here is unbounded on hostile input: states, nodes and nesting have caps, and work is counted in
//! steps of about 20 ns on a desktop machine. One pattern and one operation have [`pattern::PATTERN_STEPS`] and
//! [`PRODUCT_STEPS`]; whoever compiles many shares one count among them with [`pattern::compile_within`] and
//! [`Dfa::combine`].

mod chars;
mod dfa;
pub mod formats;
mod intern;
mod minimise;
pub mod pattern;
mod product;
mod witness;
mod words;

pub use dfa::{Dfa, START};
pub use pattern::{Pattern, PatternError};
pub use product::{Operation, PRODUCT_STATES, PRODUCT_STEPS};
pub use witness::{TooLong, WITNESS_CHARS, WITNESS_STEPS};

/// An interval of lengths in Unicode scalar values: the least, and the greatest if there is one.
pub type Length = (u64, Option<u64>);

/// Every length.
pub const ANY_LENGTH: Length = (0, None);

/// An automaton would pass its cap of states or steps: the question is left undecided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the set of strings needs more states than the core allows")]
pub struct TooLarge;
