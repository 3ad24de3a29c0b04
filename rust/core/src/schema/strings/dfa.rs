//! The automaton: a total deterministic one over Unicode scalar values, always minimal.

use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;

use rustc_hash::FxHasher;

use super::chars::before;
use super::intern::count;

/// The state in which every automaton starts.
pub const START: u32 = 0;

/// A set of strings as a total deterministic automaton.
///
/// It is always minimal and its states are numbered breadth-first along ascending characters, so equal sets
/// are `==` and hash alike. Each state holds its edges as ascending ranges that together cover all characters;
/// neighbouring ranges lead to different states.
#[derive(Clone)]
pub struct Dfa {
    /// One per state, and a last one that ends the last state's edges.
    rows: Box<[Row]>,
    edges: Box<[Edge]>,
    /// A hash of the whole, so that unequal sets are told apart at once.
    fingerprint: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Row {
    /// The first edge of the state.
    pub(super) first: u32,
    pub(super) accepting: bool,
}

/// From this character on (up to the next edge of the same state) the automaton goes to `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Edge {
    pub(super) from: char,
    pub(super) to: u32,
}

impl Dfa {
    /// Every string.
    pub fn all() -> Self {
        Self::one_state(true)
    }

    /// No string at all.
    pub fn none() -> Self {
        Self::one_state(false)
    }

    fn one_state(accepting: bool) -> Self {
        let end = Row { first: 1, accepting: false };
        Self::from_parts(vec![Row { first: 0, accepting }, end], vec![Edge { from: '\0', to: START }])
    }

    /// Takes parts that are minimal and numbered breadth-first already.
    pub(super) fn from_parts(rows: Vec<Row>, edges: Vec<Edge>) -> Self {
        let mut hasher = FxHasher::default();
        rows.hash(&mut hasher);
        edges.hash(&mut hasher);
        Self { rows: rows.into(), edges: edges.into(), fingerprint: hasher.finish() }
    }

    /// Whether the string is in the set. Linear in its length.
    pub fn matches(&self, text: &str) -> bool {
        let mut state = START;
        for c in text.chars() {
            let row = self.row(state);
            let at = row.partition_point(|edge| edge.from <= c);
            let Some(edge) = at.checked_sub(1).and_then(|at| row.get(at)) else { return false };
            state = edge.to;
        }
        self.is_accepting(state)
    }

    /// Whether this is every string.
    pub fn is_all(&self) -> bool {
        self.states() == 1 && self.is_accepting(START)
    }

    /// Whether this is no string at all.
    pub fn is_none(&self) -> bool {
        self.states() == 1 && !self.is_accepting(START)
    }

    /// Every other string. Never too large: the states are the same.
    pub fn complement(&self) -> Self {
        let mut rows = self.rows.to_vec();
        let states = rows.len().saturating_sub(1);
        for row in rows.iter_mut().take(states) {
            row.accepting = !row.accepting;
        }
        Self::from_parts(rows, self.edges.to_vec())
    }

    /// How many states there are; they are numbered from [`START`].
    pub fn states(&self) -> u32 {
        count(self.rows.len().saturating_sub(1))
    }

    /// Whether a string that ends in this state is in the set.
    pub fn is_accepting(&self, state: u32) -> bool {
        self.rows.get(state as usize).is_some_and(|row| row.accepting)
    }

    /// The edges of a state in ascending order: ranges of characters, and where they lead. A range stands for
    /// the scalar values in it, so one that spans the surrogates leaves them out, as iterating over it does.
    pub fn edges(&self, state: u32) -> impl Iterator<Item = (RangeInclusive<char>, u32)> + '_ {
        let row = self.row(state);
        row.iter().enumerate().map(move |(at, edge)| {
            let last = row.get(at + 1).and_then(|next| before(next.from)).unwrap_or(char::MAX);
            (edge.from..=last, edge.to)
        })
    }

    /// The state from which no string of the set can be reached any more, if there is one.
    pub fn dead(&self) -> Option<u32> {
        self.sink(false)
    }

    /// The state that is never left, accepting or not. A minimal automaton has at most one of each.
    pub(super) fn sink(&self, accepting: bool) -> Option<u32> {
        (0..self.states()).find(|&state| {
            self.is_accepting(state) == accepting && matches!(self.row(state), [only] if only.to == state)
        })
    }

    pub(super) fn row(&self, state: u32) -> &[Edge] {
        let state = state as usize;
        match (self.rows.get(state), self.rows.get(state + 1)) {
            (Some(row), Some(next)) => {
                self.edges.get(row.first as usize..next.first as usize).unwrap_or_default()
            }
            _ => &[],
        }
    }
}

impl PartialEq for Dfa {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint && self.rows == other.rows && self.edges == other.edges
    }
}

impl Eq for Dfa {}

impl Hash for Dfa {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.fingerprint);
    }
}

impl std::fmt::Debug for Dfa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut map = f.debug_map();
        for state in 0..self.states() {
            let mark = if self.is_accepting(state) { "accepting" } else { "state" };
            map.entry(&format_args!("{mark} {state}"), &self.edges(state).collect::<Vec<_>>());
        }
        map.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_constants() {
        assert!(Dfa::all().is_all() && !Dfa::all().is_none() && Dfa::all().matches("x"));
        assert!(Dfa::none().is_none() && !Dfa::none().is_all() && !Dfa::none().matches(""));
        assert_eq!(Dfa::all().complement(), Dfa::none());
        assert_eq!((Dfa::none().dead(), Dfa::all().dead()), (Some(START), None));
    }

    #[test]
    fn edges_cover_all_characters_in_order() {
        let dfa = Dfa::words(&["b"]);
        let edges: Vec<_> = dfa.edges(START).collect();
        assert_eq!(edges, [('\0'..='a', 1), ('b'..='b', 2), ('c'..=char::MAX, 1)]);
        assert_eq!(dfa.dead(), Some(1));
        assert!(dfa.is_accepting(2) && !dfa.is_accepting(START));
        assert_eq!(dfa.edges(dfa.states()).count(), 0);
    }
}
