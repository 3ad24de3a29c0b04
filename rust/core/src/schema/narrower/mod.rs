//! The third reader: does a new schema take anything that an old one refused?
//!
//! Emptiness of `new \ old` in one arena. The old schema's sets are the arena; the new one's are copied into it,
//! so that what both share has one id and vanishes from the difference at once.

mod copy;
#[cfg(test)]
mod laws;
mod needs;
mod place;
mod twins;

use super::accepts::Judge;
use super::search::{Budget, Search};
use super::undecided::Undecided;
use super::{Inner, Schema};
use crate::json::Value;
use twins::Twins;

/// How a new schema relates to an old one. Anything but [`Narrower`](Self::Narrower) keeps a merge from
/// happening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Every value that the new schema accepts, the old one accepts too.
    Narrower,
    /// The new schema accepts a value that the old one refuses.
    Wider {
        /// Such a value: the new schema's [`accepts`](Schema::accepts) takes it and the old one's does not.
        witness: Value,
        /// Where in the new schema, as an RFC 6901 pointer; `""` where no single part of it can be named.
        pointer: String,
    },
    /// It was not decided: neither proof nor witness within the bounds of the search.
    Undecided {
        /// Where in the new schema, as an RFC 6901 pointer; `""` where no single part of it can be named.
        pointer: String,
        /// What stopped the search.
        reason: Undecided,
    },
}

impl Verdict {
    /// Whether the new schema takes nothing that the old one refused.
    pub fn is_narrower(&self) -> bool {
        *self == Self::Narrower
    }
}

impl Schema {
    /// Whether every value that this schema accepts was accepted by `old` too: structural subtyping over the
    /// whole profile, under the readings in which both were compiled. Titles, descriptions and other annotations
    /// do not matter.
    ///
    /// "Narrower" is a proof, "wider" comes with a witness that both schemas have judged. Bounded by steps:
    /// what cannot be decided within some 20 ms on a desktop machine is undecided, the same on every machine.
    pub fn is_narrower_than(&self, old: &Self) -> Verdict {
        self.is_narrower_within(old, &mut Purse(Budget::COMPARISON))
    }

    /// The same, paid from a purse that many comparisons share.
    pub(crate) fn is_narrower_within(&self, old: &Self, purse: &mut Purse) -> Verdict {
        if std::sync::Arc::ptr_eq(&self.0, &old.0) {
            return Verdict::Narrower;
        }
        compare(&self.0, &old.0, purse)
    }
}

/// What several comparisons together may cost; each takes no more than one alone may.
#[derive(Debug)]
pub(crate) struct Purse(Budget);

impl Purse {
    /// For all the tools of one merge: however many of them are hostile, it ends within some 0.2 s on a desktop machine.
    pub(crate) const MERGE: Self = Self(Budget::MERGE);
}

fn compare(new: &Inner, old: &Inner, purse: &mut Purse) -> Verdict {
    let mut twins = Twins::new(&new.arena, &old.arena);
    if twins.are(new.root, old.root) {
        return Verdict::Narrower;
    }
    let mut arena = old.arena.clone();
    let copied = copy::copy(&mut arena, &new.arena, new.root, &mut twins);
    let outside = arena.diff(copied, old.root);
    let given = Budget::COMPARISON.at_most(purse.0);
    let mut search = Search::within(arena, given);
    let found = search.member(outside);
    purse.0 = purse.0.after(given, search.left());
    let found = match found {
        Ok(None) => return Verdict::Narrower,
        Ok(Some(witness)) => witness.value().ok_or(Undecided::Witness),
        Err(undecided) => Err(undecided),
    };
    match found.and_then(|witness| confirmed(new, old, witness)) {
        Ok(witness) => {
            let pointer = place::of_witness(new, old, &witness);
            Verdict::Wider { witness, pointer }
        }
        Err(reason) => {
            // Once nothing is left for the rest, the place is of no interest.
            let asks = !purse.0.is_spent();
            let pointer =
                if asks { place::of_question(new, old, search.arena, copied) } else { String::new() };
            Verdict::Undecided { pointer, reason }
        }
    }
}

/// The witness, once both schemas have judged it on the sets as they were compiled.
fn confirmed(new: &Inner, old: &Inner, witness: Value) -> Result<Value, Undecided> {
    let has = |inner: &Inner| Judge::new(&inner.arena, &witness).has(inner.root, &witness);
    match (has(new), has(old)) {
        (Ok(true), Ok(false)) => Ok(witness),
        _ => Err(Undecided::Witness),
    }
}
