//! Members of a set of strings: a shortest one with a length in an interval, and what lengths there are.

use rustc_hash::FxHashMap;

use super::Length;
use super::dfa::{Dfa, START};

/// The longest word that is given as a witness, in characters.
pub const WITNESS_CHARS: u64 = 20_000;

/// The steps (edges looked at) after which the search for a witness ends.
const STEPS: usize = 20_000_000;

/// Whether there is a word was not decided: it would be longer than [`WITNESS_CHARS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("a string that shows the difference would be too long to say")]
pub struct TooLong;

impl Dfa {
    /// A shortest word of the set whose length lies in `lo..=hi`, made of plain characters where it can be.
    /// `None` is proof that there is none.
    pub fn word(&self, lo: u64, hi: Option<u64>) -> Result<Option<String>, TooLong> {
        let Some((least, most)) = self.lengths() else { return Ok(None) };
        let lo = lo.max(least);
        let hi = match (hi, most) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if hi.is_some_and(|hi| hi < lo) {
            return Ok(None);
        }
        // Of a longer word the part past `lo` would pass a state twice, and could be cut there.
        let reach = lo.saturating_add(u64::from(self.states()));
        let last = hi.map_or(reach, |hi| hi.min(reach));
        let mut layers = Layers::new(self);
        for length in 0..=last.min(WITNESS_CHARS) {
            if length >= lo && layers.contains(length, START) {
                return Ok(Some(self.spell(&layers, length)));
            }
            if !layers.extend(length + 1) {
                return Err(TooLong);
            }
        }
        if last > WITNESS_CHARS { Err(TooLong) } else { Ok(None) }
    }

    /// The least length of a word, and the greatest unless the set is infinite. `None` for the empty set.
    pub fn lengths(&self) -> Option<Length> {
        if self.is_none() {
            return None;
        }
        let dead = self.dead();
        let mut seen = vec![false; self.states() as usize];
        let (mut layer, mut next, mut least) = (vec![START], Vec::new(), 0);
        // Breadth-first to the first accepting state.
        'search: loop {
            for &state in &layer {
                if self.is_accepting(state) {
                    break 'search;
                }
                for edge in self.row(state) {
                    if let Some(seen) = seen.get_mut(edge.to as usize)
                        && !std::mem::replace(seen, true)
                    {
                        next.push(edge.to);
                    }
                }
            }
            std::mem::swap(&mut layer, &mut next);
            next.clear();
            least += 1;
        }
        Some((least, self.longest(dead)))
    }

    /// Whether the set has finitely many words.
    pub fn is_finite(&self) -> bool {
        self.is_none() || self.longest(self.dead()).is_some()
    }

    /// The longest path through states that are not dead; `None` when there is a cycle. From every such state
    /// an accepting one can be reached, so the longest path ends in one.
    fn longest(&self, dead: Option<u32>) -> Option<u64> {
        let states = self.states();
        let alive = |state: &u32| Some(*state) != dead;
        let mut incoming = vec![0u32; states as usize];
        for edge in (0..states).filter(alive).flat_map(|state| self.row(state)) {
            if let Some(n) = incoming.get_mut(edge.to as usize) {
                *n += 1;
            }
        }
        let mut depth = vec![0u64; states as usize];
        let mut ready: Vec<u32> = if incoming.first() == Some(&0) { vec![START] } else { Vec::new() };
        let (mut done, mut longest) = (0, 0);
        while let Some(state) = ready.pop() {
            done += 1;
            let here = depth.get(state as usize).copied().unwrap_or(0);
            longest = longest.max(here);
            for to in self.row(state).iter().map(|edge| edge.to).filter(alive) {
                if let (Some(n), Some(depth)) = (incoming.get_mut(to as usize), depth.get_mut(to as usize)) {
                    *depth = (*depth).max(here + 1);
                    *n -= 1;
                    if *n == 0 {
                        ready.push(to);
                    }
                }
            }
        }
        (done == states - u32::from(dead.is_some())).then_some(longest)
    }

    /// Walks from the start through the layers of states that still have `length` steps to go.
    fn spell(&self, layers: &Layers<'_>, length: u64) -> String {
        let mut word = String::new();
        let mut state = START;
        for left in (0..length).rev() {
            let best = self
                .edges(state)
                .filter(|(_, to)| layers.contains(left, *to))
                .map(|(range, to)| (plainest(*range.start(), *range.end()), to))
                .min_by_key(|((rank, c), _)| (*rank, *c));
            let Some(((_, c), to)) = best else { break };
            word.push(c);
            state = to;
        }
        word
    }
}

/// The character of a range that is easiest to read, with a rank that is lower the easier it is.
fn plainest(lo: char, hi: char) -> (u8, char) {
    const PLAIN: [(char, char); 8] = [
        ('a', 'z'),
        ('A', 'Z'),
        ('0', '9'),
        ('-', '-'),
        ('_', '_'),
        (' ', ' '),
        ('!', '~'),
        ('\u{A1}', '\u{AC}'),
    ];
    for (rank, (from, to)) in (0..).zip(PLAIN) {
        if lo.max(from) <= hi.min(to) {
            return (rank, lo.max(from));
        }
    }
    (u8::MAX, hi)
}

/// For each number of steps the states from which exactly so many steps lead to acceptance, as bit sets. The
/// sequence is periodic in the end, so it is kept up to its first repetition.
struct Layers<'a> {
    dfa: &'a Dfa,
    width: usize,
    bits: Vec<u64>,
    known: FxHashMap<Box<[u64]>, u64>,
    /// Where the sequence repeats: from the first on, with the period.
    cycle: Option<(u64, u64)>,
    steps: usize,
}

impl<'a> Layers<'a> {
    fn new(dfa: &'a Dfa) -> Self {
        let width = dfa.states().div_ceil(64) as usize;
        let mut bits = vec![0; width];
        for state in (0..dfa.states()).filter(|state| dfa.is_accepting(*state)) {
            set(&mut bits, state);
        }
        let known = FxHashMap::from_iter([(bits.clone().into_boxed_slice(), 0)]);
        Self { dfa, width, bits, known, cycle: None, steps: 0 }
    }

    fn layer(&self, at: u64) -> &[u64] {
        let at = match self.cycle {
            Some((first, period)) if at >= first => first + (at - first) % period,
            _ => at,
        };
        let start = usize::try_from(at).unwrap_or(usize::MAX).saturating_mul(self.width);
        self.bits.get(start..start.saturating_add(self.width)).unwrap_or_default()
    }

    fn contains(&self, at: u64, state: u32) -> bool {
        self.layer(at).get(state as usize / 64).is_some_and(|word| word >> (state % 64) & 1 == 1)
    }

    /// Adds the layer `at`, the one before being known. `false` when the steps are used up.
    fn extend(&mut self, at: u64) -> bool {
        if self.cycle.is_some() {
            return true;
        }
        self.steps += self.dfa.edge_count();
        if self.steps > STEPS {
            return false;
        }
        let mut bits = vec![0; self.width];
        for state in 0..self.dfa.states() {
            if self.dfa.row(state).iter().any(|edge| self.contains(at - 1, edge.to)) {
                set(&mut bits, state);
            }
        }
        if let Some(first) = self.known.get(bits.as_slice()) {
            self.cycle = Some((*first, at - *first));
        } else {
            self.bits.extend_from_slice(&bits);
            self.known.insert(bits.into_boxed_slice(), at);
        }
        true
    }
}

fn set(bits: &mut [u64], state: u32) {
    if let Some(word) = bits.get_mut(state as usize / 64) {
        *word |= 1 << (state % 64);
    }
}
