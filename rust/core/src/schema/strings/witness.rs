//! Members of a set of strings: a shortest one with a length in an interval, and what lengths there are.

use smol_str::SmolStr;

use super::Length;
use super::dfa::{Dfa, START};
use super::intern::{Interner, count};

/// The longest word that is given as a witness, in characters.
pub const WITNESS_CHARS: u64 = 20_000;

/// The edges that are followed before the search for a witness ends: some 50 ms, and at most 16 MB.
pub const WITNESS_STEPS: usize = 4_000_000;

/// The characters of one range that are tried where several words are looked for.
const VARIANTS: usize = 32;

/// Whether there is a word was not decided: it would be longer than [`WITNESS_CHARS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("a string that shows the difference would be too long to say")]
pub struct TooLong;

impl Dfa {
    /// A shortest word of the set whose length lies in `lo..=hi`, made of plain characters where it can be.
    /// `None` is proof that there is none.
    pub fn word(&self, lo: u64, hi: Option<u64>) -> Result<Option<String>, TooLong> {
        self.word_within(lo, hi, &mut { WITNESS_STEPS })
    }

    /// The same, for callers that bound the sum of many: what it costs is taken from `steps`, and when they are
    /// used up it is [`TooLong`].
    pub fn word_within(
        &self,
        lo: u64,
        hi: Option<u64>,
        steps: &mut usize,
    ) -> Result<Option<String>, TooLong> {
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
        let mut layers = Layers::new(self, steps);
        for length in 0..=last.min(WITNESS_CHARS) {
            if length >= lo && layers.contains(length, START) {
                return Ok(Some(self.spell(&layers, length)));
            }
            if !layers.extend() {
                return Err(TooLong);
            }
        }
        if last > WITNESS_CHARS { Err(TooLong) } else { Ok(None) }
    }

    /// Some different words of the set whose length lies in `lo..=hi`, short and plain ones first. Fewer than `most` are no
    /// proof that there are no others: of a range of characters only the plainest are tried. What it costs is taken from
    /// `steps`, and it ends when they are used up.
    pub fn words_within(&self, lo: u64, hi: Option<u64>, most: usize, steps: &mut usize) -> Vec<SmolStr> {
        let mut words = Vec::new();
        let Some((least, longest)) = self.lengths() else { return words };
        let hi = [hi, longest].into_iter().flatten().min().unwrap_or(u64::MAX);
        let mut layers = Layers::new(self, steps);
        for length in 0..=hi.min(WITNESS_CHARS) {
            if length >= lo.max(least) && layers.contains(length, START) {
                self.spell_some(&mut layers, length, most, &mut words);
            }
            if words.len() >= most || !layers.extend() {
                break;
            }
            *layers.steps = layers.steps.saturating_sub(1);
        }
        words
    }

    /// Adds words of one length, depth first: from every state on the way there is a way on.
    fn spell_some(&self, layers: &mut Layers<'_>, length: u64, most: usize, words: &mut Vec<SmolStr>) {
        if length == 0 {
            words.push(SmolStr::default());
            return;
        }
        let mut word: Vec<char> = Vec::new();
        let mut open = vec![self.steps_from(layers, START, length - 1)];
        while let Some(steps) = open.last_mut() {
            let Some((c, to)) = steps.pop() else {
                open.pop();
                word.pop();
                continue;
            };
            word.push(c);
            if (word.len() as u64) < length {
                let left = length - 1 - word.len() as u64;
                open.push(self.steps_from(layers, to, left));
            } else {
                words.push(word.iter().collect::<String>().into());
                *layers.steps = layers.steps.saturating_sub(word.len());
                word.pop();
            }
            if words.len() >= most || *layers.steps == 0 {
                return;
            }
        }
    }

    /// The characters by which a state may be left when `left` more follow, the plainest last.
    fn steps_from(&self, layers: &mut Layers<'_>, state: u32, left: u64) -> Vec<(char, u32)> {
        let mut found = Vec::new();
        for (range, to) in self.edges(state).filter(|(_, to)| layers.contains(left, *to)) {
            let (rank, first) = plainest(*range.start(), *range.end());
            let last = PLAIN.get(usize::from(rank)).map_or(*range.end(), |(_, last)| *range.end().min(last));
            found.extend((first..=last).take(VARIANTS).map(|c| ((rank, c), to)));
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        *layers.steps = layers.steps.saturating_sub(1 + self.row(state).len() + found.len());
        found.into_iter().map(|((_, c), to)| (c, to)).collect()
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

/// Ranges of characters, those that are easier to read first.
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

/// The character of a range that is easiest to read, with a rank that is lower the easier it is.
fn plainest(lo: char, hi: char) -> (u8, char) {
    for (rank, (from, to)) in (0..).zip(PLAIN) {
        if lo.max(from) <= hi.min(to) {
            return (rank, lo.max(from));
        }
    }
    (u8::MAX, hi)
}

/// For each number of steps the states from which exactly so many steps lead to acceptance, in order. The
/// sequence is periodic in the end, so it is kept up to its first repetition.
struct Layers<'b> {
    /// For each state the states with an edge to it.
    sources: Vec<Vec<u32>>,
    known: Interner,
    /// Where the sequence repeats: from the first on, with the period.
    cycle: Option<(u64, u64)>,
    /// What is left of the steps.
    steps: &'b mut usize,
}

impl<'b> Layers<'b> {
    fn new(dfa: &Dfa, steps: &'b mut usize) -> Self {
        let mut sources = vec![Vec::new(); dfa.states() as usize];
        for state in 0..dfa.states() {
            for edge in dfa.row(state) {
                if let Some(sources) = sources.get_mut(edge.to as usize) {
                    sources.push(state);
                }
            }
        }
        let mut known = Interner::new();
        known.intern(&(0..dfa.states()).filter(|state| dfa.is_accepting(*state)).collect::<Vec<_>>());
        *steps = steps.saturating_sub(dfa.states() as usize);
        Self { sources, known, cycle: None, steps }
    }

    fn contains(&self, at: u64, state: u32) -> bool {
        let at = match self.cycle {
            Some((first, period)) if at >= first => first + (at - first) % period,
            _ => at,
        };
        u32::try_from(at).is_ok_and(|at| self.known.get(at).binary_search(&state).is_ok())
    }

    /// Adds the layer after the last. `false` when the steps are used up.
    fn extend(&mut self) -> bool {
        if self.cycle.is_some() {
            return true;
        }
        let number = count(self.known.len());
        let mut next = Vec::new();
        for state in self.known.get(number - 1) {
            next.extend(self.sources.get(*state as usize).into_iter().flatten());
        }
        *self.steps = self.steps.saturating_sub(1 + next.len());
        next.sort_unstable();
        next.dedup();
        let layer = self.known.intern(&next);
        if layer < number {
            self.cycle = Some((u64::from(layer), u64::from(number - layer)));
        }
        *self.steps > 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::compile;
    use super::*;

    fn dfa(pattern: &str) -> Dfa {
        compile(pattern).unwrap().to_dfa().unwrap().as_ref().clone()
    }

    #[test]
    fn a_word_is_short_and_plain() {
        assert_eq!(dfa("foo").word(0, None), Ok(Some("foo".into())));
        assert_eq!(dfa(r"^\d{3}-\w+$").word(0, None), Ok(Some("000-a".into())));
        assert_eq!(dfa("^[^a-z]$").word(0, None), Ok(Some("A".into())));
        assert_eq!(Dfa::all().word(3, Some(3)), Ok(Some("aaa".into())));
        assert_eq!(Dfa::none().word(0, None), Ok(None));
    }

    #[test]
    fn no_word_is_proof_that_there_is_none() {
        assert_eq!(dfa("^(?:ab)*$").word(3, Some(3)), Ok(None));
        assert_eq!(dfa("^(?:ab)*$").word(19_999, Some(19_999)), Ok(None));
        assert_eq!(dfa("^a{2,5}$").word(6, None), Ok(None));
        assert_eq!(dfa("^a{2,5}$").word(1_000_000, None), Ok(None));
        assert_eq!(Dfa::all().word(5, Some(4)), Ok(None));
    }

    #[test]
    fn a_word_that_is_too_long_to_say_is_told_from_none() {
        assert_eq!(dfa("foo").word(20_000, None).unwrap().map(|word| word.len()), Some(20_000));
        assert_eq!(dfa("foo").word(20_001, None), Err(TooLong));
        assert_eq!(Dfa::all().word(u64::MAX, None), Err(TooLong));
        // Lengths that are multiples of 127 and 129 come together only at 16,383 and its multiples.
        let both = dfa("^(?:.{127})*$").and(&dfa("^(?:.{129})*$")).unwrap();
        assert_eq!(both.word(1, None).unwrap().map(|word| word.len()), Some(16_383));
        assert_eq!(both.word(16_384, None), Err(TooLong));
    }

    #[test]
    fn lengths_tell_the_finite_from_the_infinite() {
        assert_eq!(dfa("^a{2,5}$|^b$").lengths(), Some((1, Some(5))));
        assert_eq!(dfa("^a{2,}$").lengths(), Some((2, None)));
        assert_eq!(Dfa::none().lengths(), None);
        assert!(Dfa::none().is_finite() && Dfa::words(&["a"]).is_finite() && !Dfa::all().is_finite());
    }
}
