//! From a parsed pattern over a nondeterministic automaton to a deterministic one.
//!
//! Assertions are edges that cost no character and hold on a condition: what stands before, and what after.
//! A state of the subset construction therefore carries the kind of the character before it, and its open
//! assertions are closed once the kind of the next one is known.
#![allow(
    clippy::indexing_slicing,
    reason = "indices are nodes and ranges of the arrays made here; `get` would only hide a wrong one"
)]

use super::super::chars::after;
use super::super::dfa::Dfa;
use super::super::intern::{Interner, count};
use super::super::minimise::Builder;
use super::parse::{Node, word_characters};
use super::{DFA_STATES, NFA_NODES, PatternError, STATES};

/// Whether a branch must begin at the start of the string, and end at its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    pub(super) start: bool,
    pub(super) end: bool,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Reads a character of the ranges `from..until` of the pool.
    Read { from: u32, until: u32, next: u32 },
    /// Goes on both ways.
    Fork(u32, u32),
    /// Goes on where the assertion holds.
    Assert(Assertion, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Assertion {
    Start,
    End,
    Boundary(bool),
}

/// What a character is to an assertion; the edge is where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Edge,
    Word,
    Other,
}

impl Assertion {
    fn holds(self, before: Kind, after: Kind) -> bool {
        match self {
            Self::Start => before == Kind::Edge,
            Self::End => after == Kind::Edge,
            Self::Boundary(wanted) => ((before == Kind::Word) != (after == Kind::Word)) == wanted,
        }
    }
}

/// Nothing may follow.
const END: u32 = 0;
/// Anything may follow.
const REST: u32 = 1;
/// The loop before an unanchored branch. Its way on is filled in with the branches.
const SEARCH: u32 = 2;

/// A nondeterministic automaton, built from its end.
pub(super) struct Nfa<'a> {
    pattern: &'a str,
    steps: Vec<Step>,
    ranges: Vec<(char, char)>,
    /// Where branches begin: at the start, or anywhere.
    anchored: Vec<u32>,
    unanchored: Vec<u32>,
    boundaries: bool,
}

impl<'a> Nfa<'a> {
    /// An automaton of no branch. The pattern is for the places in errors.
    pub(super) fn new(pattern: &'a str) -> Self {
        let any = |next| Step::Read { from: 0, until: 1, next };
        let never = Step::Read { from: 0, until: 0, next: END };
        Self {
            pattern,
            steps: vec![never, any(REST), any(SEARCH)],
            ranges: vec![('\0', char::MAX)],
            anchored: Vec::new(),
            unanchored: Vec::new(),
            boundaries: false,
        }
    }

    /// Adds one alternative, the concatenation of the items.
    pub(super) fn branch(&mut self, items: &[&Node], ends: Ends) -> Result<(), PatternError> {
        let mut entry = if ends.end { END } else { REST };
        for item in items.iter().rev() {
            entry = self.build(item, entry)?;
        }
        if ends.start {
            self.anchored.push(entry);
        } else {
            self.unanchored.push(entry);
        }
        Ok(())
    }

    fn add(&mut self, step: Step) -> Result<u32, PatternError> {
        if self.steps.len() >= NFA_NODES {
            return Err(PatternError::TooLarge { what: "written out, it has too many parts" });
        }
        self.steps.push(step);
        Ok(count(self.steps.len() - 1))
    }

    /// The entry of a node after which `next` follows.
    fn build(&mut self, node: &Node, next: u32) -> Result<u32, PatternError> {
        match node {
            Node::Empty => Ok(next),
            Node::Set(set) => {
                let from = count(self.ranges.len());
                self.ranges.extend_from_slice(set.ranges());
                self.add(Step::Read { from, until: count(self.ranges.len()), next })
            }
            Node::Then(items) => items.iter().rev().try_fold(next, |next, item| self.build(item, next)),
            Node::Or(nodes) => {
                let mut entry = None;
                for node in nodes.iter().rev() {
                    let this = self.build(node, next)?;
                    entry = Some(match entry {
                        None => this,
                        Some(others) => self.add(Step::Fork(this, others))?,
                    });
                }
                Ok(entry.unwrap_or(next))
            }
            Node::Repeat { body, min, max } => self.repeat(body, *min, *max, next),
            Node::Start => self.add(Step::Assert(Assertion::Start, next)),
            Node::End => self.add(Step::Assert(Assertion::End, next)),
            Node::Boundary(wanted) => {
                self.boundaries = true;
                self.add(Step::Assert(Assertion::Boundary(*wanted), next))
            }
            Node::Look { at, .. } => {
                let at = self.pattern.get(..*at).map_or(0, |before| before.chars().count());
                Err(PatternError::Unsupported {
                    at,
                    feature: "look-ahead that is not right after a leading `^`",
                })
            }
        }
    }

    /// Every count is written out, so counts beyond the cap of nodes end the building; a body is never empty.
    fn repeat(&mut self, body: &Node, min: u64, max: Option<u64>, next: u32) -> Result<u32, PatternError> {
        let mut entry = next;
        let mut required = min;
        match max {
            None => {
                let fork = self.add(Step::Fork(next, next))?;
                let again = self.build(body, fork)?;
                self.steps[fork as usize] = Step::Fork(again, next);
                entry = fork;
                if required > 0 {
                    entry = again;
                    required -= 1;
                }
            }
            Some(max) => {
                for _ in min..max {
                    let once = self.build(body, entry)?;
                    entry = self.add(Step::Fork(once, next))?;
                }
            }
        }
        for _ in 0..required {
            let before = self.steps.len();
            entry = self.build(body, entry)?;
            // A body that adds nothing (all its counts are zero) need not be written so often.
            if self.steps.len() == before {
                break;
            }
        }
        Ok(entry)
    }

    /// The minimal automaton of the strings in which one of the branches is found. Takes what it costs from
    /// `budget`.
    pub(super) fn determinise(mut self, budget: &mut usize) -> Result<Dfa, PatternError> {
        let mut start = std::mem::take(&mut self.anchored);
        if !self.unanchored.is_empty() {
            // The loop goes on to itself, and by forks to every branch that may begin anywhere.
            let mut on = SEARCH;
            for entry in std::mem::take(&mut self.unanchored) {
                on = self.add(Step::Fork(entry, on))?;
            }
            if let Step::Read { next, .. } = &mut self.steps[SEARCH as usize] {
                *next = on;
            }
            start.push(on);
        }
        Subsets::new(&self, budget).explore(&start)
    }
}

/// A state of the deterministic automaton is a sorted set of nodes with the kind of the character before.
struct Subsets<'a> {
    nfa: &'a Nfa<'a>,
    budget: &'a mut usize,
    known: Interner,
    /// When a node was last reached, in rounds.
    reached: Vec<u32>,
    round: u32,
    stack: Vec<u32>,
    key: Vec<u32>,
}

/// Nodes that read the characters `from..until` (`None`: to the last), and how to go on.
#[derive(Clone, Copy)]
struct Item {
    from: char,
    until: Option<char>,
    next: u32,
}

impl<'a> Subsets<'a> {
    fn new(nfa: &'a Nfa<'a>, budget: &'a mut usize) -> Self {
        let reached = vec![0; nfa.steps.len()];
        let (stack, key) = (Vec::new(), Vec::new());
        Self { nfa, budget, known: Interner::new(), reached, round: 0, stack, key }
    }

    fn explore(mut self, start: &[u32]) -> Result<Dfa, PatternError> {
        let mut builder = Builder::new();
        self.round += 1;
        self.key.clear();
        self.key.push(Kind::Edge as u32);
        for node in start {
            self.close(*node, None);
        }
        self.number();
        let kinds = self.kinds();
        let (mut members, mut items, mut cuts, mut active) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut state = 0;
        while (state as usize) < self.known.len() {
            members.clear();
            members.extend_from_slice(self.known.get(state));
            let before = match members[0] {
                0 => Kind::Edge,
                1 => Kind::Word,
                _ => Kind::Other,
            };
            let nodes = &members[1..];
            let accepting = self.resolve(nodes, before, Kind::Edge).iter().any(|n| *n == END || *n == REST);
            items.clear();
            let open = nodes.iter().any(|node| matches!(self.nfa.steps[*node as usize], Step::Assert(..)));
            if open || self.nfa.boundaries {
                for &(kind, from, until) in &kinds {
                    let resolved = self.resolve(nodes, before, kind);
                    self.collect(&resolved, (from, until), &mut items);
                }
            } else {
                self.collect(nodes, ('\0', None), &mut items);
            }
            self.edges(&mut builder, &mut items, &mut cuts, &mut active, &kinds)?;
            builder.state(accepting);
            state += 1;
            if self.known.len() > DFA_STATES {
                return Err(PatternError::TooLarge { what: STATES });
            }
        }
        Ok(builder.finish())
    }

    /// The characters by kind, as ranges `from..until`. Without `\b` all are of the other kind.
    fn kinds(&self) -> Vec<(Kind, char, Option<char>)> {
        if !self.nfa.boundaries {
            return vec![(Kind::Other, '\0', None)];
        }
        let mut kinds = Vec::new();
        let mut from = '\0';
        for &(lo, hi) in word_characters().ranges() {
            kinds.push((Kind::Other, from, Some(lo)));
            kinds.push((Kind::Word, lo, after(hi)));
            from = after(hi).unwrap_or(char::MAX);
        }
        kinds.push((Kind::Other, from, None));
        kinds
    }

    /// Adds to the key what is reached from the node without a character. Assertions stay in the key; with the
    /// kinds before and after given, those that hold are passed too.
    fn close(&mut self, node: u32, around: Option<(Kind, Kind)>) {
        self.stack.push(node);
        while let Some(node) = self.stack.pop() {
            if std::mem::replace(&mut self.reached[node as usize], self.round) == self.round {
                continue;
            }
            *self.budget = self.budget.saturating_sub(1);
            match self.nfa.steps[node as usize] {
                Step::Fork(a, b) => self.stack.extend([a, b]),
                Step::Read { .. } => self.key.push(node),
                Step::Assert(assertion, next) => match around {
                    Some((before, after)) if assertion.holds(before, after) => self.stack.push(next),
                    Some(_) => {}
                    // Past the first character `^` never holds again; the key begins with the kind.
                    None if assertion == Assertion::Start && self.key[0] != Kind::Edge as u32 => {}
                    None => self.key.push(node),
                },
            }
        }
    }

    /// The nodes with their assertions decided.
    fn resolve(&mut self, nodes: &[u32], before: Kind, after: Kind) -> Vec<u32> {
        self.round += 1;
        self.key.clear();
        for node in nodes {
            self.close(*node, Some((before, after)));
        }
        std::mem::take(&mut self.key)
    }

    /// The number of the state in the key. A state that nothing can leave unaccepted is its own.
    fn number(&mut self) -> u32 {
        let kind = if self.key.len() == 1 { 0 } else { self.key[0] };
        if self.key[1..].contains(&REST) {
            self.key.clear();
            self.key.extend([0, REST]);
        } else {
            self.key[0] = kind;
            self.key[1..].sort_unstable();
        }
        self.known.intern(&self.key)
    }

    /// The readings of the nodes within `window`.
    fn collect(&mut self, nodes: &[u32], window: (char, Option<char>), items: &mut Vec<Item>) {
        for node in nodes {
            let Step::Read { from, until, next } = self.nfa.steps[*node as usize] else { continue };
            for &(lo, hi) in &self.nfa.ranges[from as usize..until as usize] {
                *self.budget = self.budget.saturating_sub(1);
                let from = lo.max(window.0);
                let until = match (after(hi), window.1) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                if until.is_none_or(|until| from < until) {
                    items.push(Item { from, until, next });
                }
            }
        }
    }

    /// The edges of a state: where the readings begin and end, the set of those that go on changes.
    fn edges(
        &mut self,
        builder: &mut Builder,
        items: &mut [Item],
        cuts: &mut Vec<char>,
        active: &mut Vec<Item>,
        kinds: &[(Kind, char, Option<char>)],
    ) -> Result<(), PatternError> {
        items.sort_unstable_by_key(|item| item.from);
        cuts.clear();
        cuts.extend(items.iter().flat_map(|item| [Some(item.from), item.until]).flatten());
        cuts.extend(kinds.iter().map(|(_, from, _)| *from));
        cuts.sort_unstable();
        cuts.dedup();
        active.clear();
        let mut coming = items.iter().peekable();
        let mut kinds = kinds.iter().peekable();
        let mut kind = Kind::Other;
        for &cut in &*cuts {
            active.retain(|item| item.until.is_none_or(|until| cut < until));
            while let Some(item) = coming.next_if(|item| item.from <= cut) {
                active.push(*item);
            }
            while let Some((next, ..)) = kinds.next_if(|(_, from, _)| *from <= cut) {
                kind = *next;
            }
            self.round += 1;
            self.key.clear();
            self.key.push(kind as u32);
            for item in &*active {
                self.close(item.next, None);
            }
            *self.budget = self.budget.saturating_sub(1 + active.len());
            if *self.budget == 0 {
                return Err(PatternError::TooLarge { what: STATES });
            }
            builder.edge(cut, self.number());
        }
        Ok(())
    }
}
