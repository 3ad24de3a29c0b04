//! Sets of arrays.

use super::arena::Id;
use super::string::{is_empty, meet};
use super::strings::Length;

/// The arrays whose items lie in given sets, one per place and one for the rest.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Arr {
    pub(crate) prefix: Vec<Id>,
    pub(crate) rest: Id,
    pub(crate) length: Length,
    /// No two items are equal.
    pub(crate) unique: bool,
    /// How many items lie in a set; for `minContains` and `maxContains` beyond "at least one".
    pub(crate) counts: Vec<Count>,
}

/// The number of items in a set, as an interval.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Count {
    pub(crate) of: Id,
    pub(crate) count: Length,
}

impl Arr {
    /// Every array.
    pub(crate) const ANY: Self =
        Self { prefix: Vec::new(), rest: Id::PRESENT, length: (0, None), unique: false, counts: Vec::new() };

    /// What an item at this place may be.
    pub(crate) fn at(&self, place: usize) -> Id {
        self.prefix.get(place).copied().unwrap_or(self.rest)
    }

    /// The arrays of this set that have a member of `item` at this place.
    pub(crate) fn with(&self, place: usize, item: Id) -> Self {
        let mut other = self.clone();
        while other.prefix.len() <= place {
            other.prefix.push(other.rest);
        }
        if let Some(slot) = other.prefix.get_mut(place) {
            *slot = item;
        }
        other.length.0 = other.length.0.max(place as u64 + 1);
        other
    }

    /// The arrays of both sets; `and` gives the set of the items of both. Nothing when no length is left.
    pub(crate) fn meet(&self, other: &Self, mut and: impl FnMut(Id, Id) -> Id) -> Option<Self> {
        let length = meet(self.length, other.length);
        if is_empty(length) {
            return None;
        }
        let places = self.prefix.len().max(other.prefix.len());
        let mut counts = self.counts.clone();
        for count in &other.counts {
            match counts.iter_mut().find(|known| known.of == count.of) {
                Some(known) => known.count = meet(known.count, count.count),
                None => counts.push(count.clone()),
            }
        }
        Some(Self {
            prefix: (0..places).map(|place| and(self.at(place), other.at(place))).collect(),
            rest: and(self.rest, other.rest),
            length,
            unique: self.unique || other.unique,
            counts,
        })
    }

    /// Whether the empty array is in the set.
    pub(crate) fn has_empty(&self) -> bool {
        self.length.0 == 0 && self.counts.iter().all(|count| count.count.0 == 0)
    }
}
