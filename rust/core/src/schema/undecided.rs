//! Why a question about sets was left open.

/// A question about a schema that was given up: every answer would have been a guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Undecided {
    /// The steps allowed for one question are used up.
    #[error("it takes more steps than the core allows")]
    Steps,
    /// The search went deeper than the core allows.
    #[error("it nests deeper than the core searches")]
    Depth,
    /// A union has too many parts.
    #[error("it has more alternatives than the core compares")]
    Clauses,
    /// A number would have too many digits, or lattices meet too rarely.
    #[error("its numbers need more digits than the core computes with")]
    Numbers,
    /// An automaton would have too many states, or a string be too long to say.
    #[error("its strings need more states than the core allows")]
    Strings,
    /// A constraint on array items (`uniqueItems`, `contains` counts) beside others.
    #[error("its array constraints cannot be decided together")]
    Arrays,
    /// What shows a difference is too large to be written out, or was not confirmed by both schemas.
    #[error("a value that would show a difference was not confirmed")]
    Witness,
}

impl From<super::strings::TooLarge> for Undecided {
    fn from(_: super::strings::TooLarge) -> Self {
        Self::Strings
    }
}

impl From<super::strings::TooLong> for Undecided {
    fn from(_: super::strings::TooLong) -> Self {
        Self::Strings
    }
}
