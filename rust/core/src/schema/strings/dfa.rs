//! The automaton: a total deterministic one over Unicode scalar values, always minimal.

use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;

use rustc_hash::FxHashMap;

use super::chars::before;
use super::intern::count;
use super::minimise::Builder;
use super::{ANY_LENGTH, TooLarge};

/// The state in which every automaton starts.
pub const START: u32 = 0;

/// The most states of a product before it is made minimal; beyond, [`TooLarge`].
pub const PRODUCT_STATES: usize = 16_384;

/// The most edges of any automaton under construction: a bound for its memory.
pub(super) const MAX_EDGES: usize = 1 << 20;

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
        let mut hasher = rustc_hash::FxHasher::default();
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

    /// The strings in both sets.
    pub fn and(&self, other: &Self) -> Result<Self, TooLarge> {
        self.combine(other, Operation::And, PRODUCT_STATES)
    }

    /// The strings in at least one of the sets.
    pub fn or(&self, other: &Self) -> Result<Self, TooLarge> {
        self.combine(other, Operation::Or, PRODUCT_STATES)
    }

    /// The strings of this set that are not in the other.
    pub fn minus(&self, other: &Self) -> Result<Self, TooLarge> {
        self.combine(other, Operation::Minus, PRODUCT_STATES)
    }

    /// The operation, by a product only where neither side decides it alone.
    pub(super) fn combine(&self, other: &Self, operation: Operation, cap: usize) -> Result<Self, TooLarge> {
        let (none, all) = (Self::is_none, Self::is_all);
        match operation {
            Operation::And if none(self) || all(other) || self == other => Ok(self.clone()),
            Operation::And if none(other) || all(self) => Ok(other.clone()),
            Operation::Or if all(self) || none(other) || self == other => Ok(self.clone()),
            Operation::Or if all(other) || none(self) => Ok(other.clone()),
            Operation::Minus if none(self) || none(other) => Ok(self.clone()),
            Operation::Minus if all(other) || self == other => Ok(Self::none()),
            Operation::Minus if all(self) => Ok(other.complement()),
            _ => self.product(other, operation, cap),
        }
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

    /// The strings of the set whose length lies in the interval, as one automaton of at most `cap` states
    /// before it is made minimal.
    pub fn with_length(&self, lo: u64, hi: Option<u64>, cap: usize) -> Result<Self, TooLarge> {
        if hi.is_some_and(|hi| hi < lo) {
            return Ok(Self::none());
        }
        let Some((least, most)) = self.lengths() else { return Ok(Self::none()) };
        // A bound that every string keeps anyway needs no counting.
        let lo = if lo <= least { 0 } else { lo };
        let hi = hi.filter(|hi| most.is_none_or(|most| most > *hi));
        if (lo, hi) == ANY_LENGTH {
            return Ok(self.clone());
        }
        let Ok(top) = u32::try_from(hi.map_or(lo, |hi| hi.saturating_add(1))) else { return Err(TooLarge) };
        if top as usize >= cap {
            return Err(TooLarge);
        }
        let dead = self.dead();
        let mut pairs = Pairs::new();
        let mut builder = Builder::new();
        pairs.number((START, 0));
        let mut next = 0;
        while let Some(&(state, length)) = pairs.list.get(next) {
            next += 1;
            let length_fits = u64::from(length) >= lo && hi.is_none_or(|hi| u64::from(length) <= hi);
            if (state, length) == ABSORBED {
                builder.edge('\0', count(next - 1));
                builder.state(false);
                continue;
            }
            let after = (length + 1).min(top);
            let too_long = hi.is_some() && after == top;
            for edge in self.row(state) {
                let gone = too_long || Some(edge.to) == dead;
                let to = pairs.number(if gone { ABSORBED } else { (edge.to, after) });
                builder.edge(edge.from, to);
            }
            builder.state(length_fits && self.is_accepting(state));
            if pairs.list.len() > cap || builder.edges() > MAX_EDGES {
                return Err(TooLarge);
            }
        }
        Ok(builder.finish())
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
    fn sink(&self, accepting: bool) -> Option<u32> {
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

    pub(super) fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// The product of two automata, explored from the start, with at most `cap` pairs.
    fn product(&self, other: &Self, operation: Operation, cap: usize) -> Result<Self, TooLarge> {
        let sinks = operation.deciding_sinks();
        let left_decides = sinks.left.and_then(|accepting| self.sink(accepting));
        let right_decides = sinks.right.and_then(|accepting| other.sink(accepting));
        let mut pairs = Pairs::new();
        let mut builder = Builder::new();
        pairs.number((START, START));
        let mut next = 0;
        while let Some(&pair) = pairs.list.get(next) {
            next += 1;
            if pair == ABSORBED {
                builder.edge('\0', count(next - 1));
                builder.state(sinks.outcome);
                continue;
            }
            let (mut left, mut right) = (self.row(pair.0), other.row(pair.1));
            let mut from = '\0';
            while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
                let decided = Some(a.to) == left_decides || Some(b.to) == right_decides;
                builder.edge(from, pairs.number(if decided { ABSORBED } else { (a.to, b.to) }));
                let (a_end, b_end) = (left_rest.first().map(|e| e.from), right_rest.first().map(|e| e.from));
                let Some(end) = [a_end, b_end].into_iter().flatten().min() else { break };
                if a_end == Some(end) {
                    left = left_rest;
                }
                if b_end == Some(end) {
                    right = right_rest;
                }
                from = end;
            }
            builder.state(operation.of(self.is_accepting(pair.0), other.is_accepting(pair.1)));
            if pairs.list.len() > cap || builder.edges() > MAX_EDGES {
                return Err(TooLarge);
            }
        }
        Ok(builder.finish())
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

/// The boolean operations that need a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    And,
    Or,
    Minus,
}

/// Which sink of either side (the accepting or the dead one) decides the rest of the string alone, and how.
struct DecidingSinks {
    left: Option<bool>,
    right: Option<bool>,
    outcome: bool,
}

impl Operation {
    fn of(self, left: bool, right: bool) -> bool {
        match self {
            Self::And => left && right,
            Self::Or => left || right,
            Self::Minus => left && !right,
        }
    }

    fn deciding_sinks(self) -> DecidingSinks {
        match self {
            Self::And => DecidingSinks { left: Some(false), right: Some(false), outcome: false },
            Self::Or => DecidingSinks { left: Some(true), right: Some(true), outcome: true },
            Self::Minus => DecidingSinks { left: Some(false), right: Some(true), outcome: false },
        }
    }
}

/// The one pair that stands for all whose outcome is decided.
const ABSORBED: (u32, u32) = (u32::MAX, u32::MAX);

/// Pairs in the order of their discovery, with their numbers.
struct Pairs {
    list: Vec<(u32, u32)>,
    numbers: FxHashMap<u64, u32>,
}

impl Pairs {
    fn new() -> Self {
        Self { list: Vec::with_capacity(16), numbers: FxHashMap::default() }
    }

    fn number(&mut self, pair: (u32, u32)) -> u32 {
        let key = u64::from(pair.0) << 32 | u64::from(pair.1);
        *self.numbers.entry(key).or_insert_with(|| {
            self.list.push(pair);
            count(self.list.len() - 1)
        })
    }
}
