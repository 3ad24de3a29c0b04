//! ECMA-262 patterns with the meaning of the `u` flag, compiled into automata.
//!
//! A pattern matches a string when it matches anywhere in it (JSON Schema searches), so `foo` is `Σ*fooΣ*`.
//!
//! **Taken**: characters and classes, `.` (without the four line ends), `\d \w \s` and their complements,
//! `\t \n \v \f \r \0 \cX \xHH \uHHHH \u{H}` with surrogate pairs joined, `[^]` and `[]`, capturing, named and
//! non-capturing groups, greedy and lazy quantifiers, `^ $ \b \B` anywhere, and look-ahead right after a
//! leading `^`, which is intersection or difference. A lone surrogate escape matches nothing, since no string
//! holds one.
//!
//! **Taken beyond `u`**, where an engine without the flag has exactly one reading: any ASCII punctuation or
//! blank after a backslash is itself (`\-`, `\_`, `\"`, `\@`); `]` and `}` stand for themselves outside a class,
//! and so does `{` when nothing after it looks like a count; a hyphen beside a class escape (`[\w-.]`) is itself.
//! A letter or digit after a backslash that ECMA-262 gives no meaning is refused: in other dialects it has one.
//!
//! **Refused by name**: back-references, look-behind, other look-ahead, `\p{..}`, inline flags.

mod automaton;
mod parse;

use std::sync::Arc;

use super::chars::CharSet;
use super::dfa::Operation;
use super::{ANY_LENGTH, Dfa, Length, TooLarge};
use automaton::{Ends, Nfa};
use parse::Node;

/// The most bytes of a pattern.
pub const PATTERN_BYTES: usize = 65_536;
/// The deepest nesting of groups.
pub const GROUP_DEPTH: u32 = 64;
/// The most nodes of the nondeterministic automaton of a pattern.
pub const NFA_NODES: usize = 60_000;
/// The most states of the automaton of a pattern.
pub const DFA_STATES: usize = 4_096;
/// The most steps of making one pattern's automaton: 30 to 50 ms on a desktop machine.
const STEPS: usize = 2_000_000;

/// A compiled pattern: the strings that `dfa` matches *and* whose length lies in `length`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The words, whatever their length.
    pub dfa: Arc<Dfa>,
    /// The lengths, when the pattern bounds them by a count (`^.{1,200}$`, `^(?=.{1,253}$)..`).
    pub length: Length,
}

impl Pattern {
    /// Whether the pattern matches the string.
    pub fn matches(&self, text: &str) -> bool {
        let fits = self.length == ANY_LENGTH || {
            let length = text.chars().count() as u64;
            length >= self.length.0 && self.length.1.is_none_or(|most| length <= most)
        };
        fits && self.dfa.matches(text)
    }

    /// The same set as one automaton, of at most [`DFA_STATES`] states.
    pub fn to_dfa(&self) -> Result<Arc<Dfa>, TooLarge> {
        if self.length == ANY_LENGTH {
            return Ok(Arc::clone(&self.dfa));
        }
        self.dfa.with_length(self.length.0, self.length.1, DFA_STATES).map(Arc::new)
    }
}

/// Why a pattern is refused. Positions count the characters before the place, from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The text is not a pattern of ECMA-262.
    #[error("not an ECMA-262 pattern: {what} (at character {at})")]
    Syntax {
        /// The characters before the place.
        at: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// The pattern uses a feature that the core does not have.
    #[error("the pattern uses {feature} (at character {at}), which is not supported")]
    Unsupported {
        /// The characters before the place.
        at: usize,
        /// The name of the feature, as it stands after "uses".
        feature: &'static str,
    },
    /// The pattern needs more than the core allows.
    #[error("pattern too large: {what}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
    },
}

impl From<TooLarge> for PatternError {
    fn from(TooLarge: TooLarge) -> Self {
        Self::TooLarge { what: STATES }
    }
}

const STATES: &str = "its automaton has too many states";

/// Compiles a pattern. Bounded by [`PATTERN_BYTES`], [`GROUP_DEPTH`], [`NFA_NODES`] and [`DFA_STATES`].
pub fn compile(pattern: &str) -> Result<Pattern, PatternError> {
    if pattern.len() > PATTERN_BYTES {
        return Err(PatternError::TooLarge { what: "the text is too long" });
    }
    let node = parse::parse(pattern)?;
    let (dfa, length) = Compiler { pattern, steps: STEPS }.disjunction(&node, false)?;
    Ok(Pattern { dfa: Arc::new(dfa), length })
}

/// What is left of the steps for one pattern.
struct Compiler<'p> {
    pattern: &'p str,
    steps: usize,
}

/// One alternative at the top of a pattern, its outer assertions told apart.
struct Branch<'a> {
    at_start: bool,
    looks: Vec<(bool, &'a Node)>,
    body: Vec<&'a Node>,
    at_end: bool,
}

impl Compiler<'_> {
    /// The strings in which a search finds the node; with `anchored`, finds it at the start.
    fn disjunction(&mut self, node: &Node, anchored: bool) -> Result<(Dfa, Length), PatternError> {
        let mut branches = Vec::new();
        alternatives(node, anchored, &mut branches);
        if let [branch] = branches.as_slice() {
            return self.branch(branch);
        }
        // Alternatives without conditions of their own share one automaton.
        let (plain, special): (Vec<_>, Vec<_>) =
            branches.iter().partition(|branch| branch.looks.is_empty() && counted(branch).is_none());
        let mut union = self.plain(&plain)?;
        for branch in special {
            let (dfa, length) = self.branch(branch)?;
            let dfa = dfa.with_length(length.0, length.1, DFA_STATES)?;
            union = self.combine(&union, &dfa, Operation::Or)?;
        }
        Ok((union, ANY_LENGTH))
    }

    fn branch(&mut self, branch: &Branch<'_>) -> Result<(Dfa, Length), PatternError> {
        let (mut dfa, mut length) = match counted(branch) {
            Some((class, length)) => (self.star(class)?, length),
            None => (self.plain(&[branch])?, ANY_LENGTH),
        };
        for (negative, body) in &branch.looks {
            let (seen, seen_length) = self.disjunction(body, true)?;
            if *negative {
                let seen = seen.with_length(seen_length.0, seen_length.1, DFA_STATES)?;
                dfa = self.combine(&dfa, &seen, Operation::Minus)?;
            } else {
                dfa = self.combine(&dfa, &seen, Operation::And)?;
                length = both(length, seen_length);
            }
        }
        if dfa.is_none() || length.1.is_some_and(|most| most < length.0) {
            return Ok((Dfa::none(), ANY_LENGTH));
        }
        Ok((dfa, length))
    }

    fn star(&mut self, class: &CharSet) -> Result<Dfa, PatternError> {
        let node = Node::Repeat { body: Box::new(Node::Set(class.clone())), min: 0, max: None };
        let branch = Branch { at_start: true, looks: Vec::new(), body: vec![&node], at_end: true };
        self.plain(&[&branch])
    }

    fn plain(&mut self, branches: &[&Branch<'_>]) -> Result<Dfa, PatternError> {
        let mut nfa = Nfa::new(self.pattern);
        for branch in branches {
            nfa.branch(&branch.body, Ends { start: branch.at_start, end: branch.at_end })?;
        }
        nfa.determinise(&mut self.steps)
    }

    fn combine(&mut self, left: &Dfa, right: &Dfa, operation: Operation) -> Result<Dfa, PatternError> {
        let dfa = left.combine(right, operation, DFA_STATES)?;
        // A product costs at least the states that it reaches, which are no fewer than those that remain.
        self.steps =
            self.steps.saturating_sub(left.edge_count() + right.edge_count() + 16 * dfa.edge_count());
        if self.steps == 0 {
            return Err(TooLarge.into());
        }
        Ok(dfa)
    }
}

fn alternatives<'a>(node: &'a Node, anchored: bool, out: &mut Vec<Branch<'a>>) {
    if let Node::Or(nodes) = node {
        for node in nodes {
            alternatives(node, anchored, out);
        }
        return;
    }
    let items = match node {
        Node::Then(items) => items.as_slice(),
        single => std::slice::from_ref(single),
    };
    let mut branch = Branch { at_start: anchored, looks: Vec::new(), body: Vec::new(), at_end: false };
    for item in items {
        match item {
            Node::Start if branch.body.is_empty() => branch.at_start = true,
            Node::Look { negative, body, .. } if branch.body.is_empty() && branch.at_start => {
                branch.looks.push((*negative, body));
            }
            other => branch.body.push(other),
        }
    }
    while let Some(Node::End) = branch.body.last() {
        branch.body.pop();
        branch.at_end = true;
    }
    out.push(branch);
}

/// `^C{m,n}$` with one class is `C*` with a length, at whatever `n`; so is an unanchored `[^]{m,}`.
fn counted<'a>(branch: &Branch<'a>) -> Option<(&'a CharSet, Length)> {
    let [Node::Repeat { body, min, max }] = branch.body.as_slice() else { return None };
    let Node::Set(class) = &**body else { return None };
    // `?`, `*` and `+` are as short without a length.
    if class.is_empty() || (*min).max(max.unwrap_or(0)) < 2 {
        None
    } else if branch.at_start && branch.at_end {
        Some((class, (*min, *max)))
    } else {
        class.is_any().then_some((class, (*min, None)))
    }
}

fn both(a: Length, b: Length) -> Length {
    let most = match (a.1, b.1) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    (a.0.max(b.0), most)
}
