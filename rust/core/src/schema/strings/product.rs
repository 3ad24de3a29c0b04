//! What needs a product of automata: the boolean operations, and a length taken into the states.

use rustc_hash::FxHashMap;

use super::dfa::{Dfa, START};
use super::intern::count;
use super::minimise::Builder;
use super::{ANY_LENGTH, TooLarge};

/// The most states of a product before it is made minimal; beyond, [`TooLarge`].
pub const PRODUCT_STATES: usize = 16_384;

/// The steps of one boolean operation, unless the caller counts them: enough for 16,384 states of sixteen
/// edges, which take 20 to 60 ms on a desktop machine.
pub const PRODUCT_STEPS: usize = 2_000_000;

/// What an edge of a product costs, its share of the minimisation included, where reading one costs one.
const EDGE_STEPS: usize = 8;

/// A boolean operation on two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The strings in both.
    And,
    /// The strings in at least one.
    Or,
    /// The strings of the first that are not in the second.
    Minus,
}

impl Dfa {
    /// The strings in both sets.
    pub fn and(&self, other: &Self) -> Result<Self, TooLarge> {
        self.combine(other, Operation::And, &mut { PRODUCT_STEPS })
    }

    /// The strings in at least one of the sets.
    pub fn or(&self, other: &Self) -> Result<Self, TooLarge> {
        self.combine(other, Operation::Or, &mut { PRODUCT_STEPS })
    }

    /// The strings of this set that are not in the other.
    pub fn minus(&self, other: &Self) -> Result<Self, TooLarge> {
        self.combine(other, Operation::Minus, &mut { PRODUCT_STEPS })
    }

    /// The operation, for callers that bound the sum of many: what it costs is taken from `steps`, and when
    /// they are used up, or the product passes [`PRODUCT_STATES`], it is [`TooLarge`]. Where one side decides
    /// alone, or both are equal, no product is made.
    pub fn combine(&self, other: &Self, operation: Operation, steps: &mut usize) -> Result<Self, TooLarge> {
        let (none, all) = (Self::is_none, Self::is_all);
        match operation {
            Operation::And if none(self) || all(other) || self == other => Ok(self.clone()),
            Operation::And if none(other) || all(self) => Ok(other.clone()),
            Operation::Or if all(self) || none(other) || self == other => Ok(self.clone()),
            Operation::Or if all(other) || none(self) => Ok(other.clone()),
            Operation::Minus if none(self) || none(other) => Ok(self.clone()),
            Operation::Minus if all(other) || self == other => Ok(Self::none()),
            Operation::Minus if all(self) => Ok(other.complement()),
            _ => self.product(other, operation, steps),
        }
    }

    fn product(&self, other: &Self, operation: Operation, steps: &mut usize) -> Result<Self, TooLarge> {
        let sinks = operation.deciding_sinks();
        let left_decides = sinks.left.and_then(|accepting| self.sink(accepting));
        let right_decides = sinks.right.and_then(|accepting| other.sink(accepting));
        explore(PRODUCT_STATES, steps, sinks.outcome, |pair, edge| {
            let (mut left, mut right) = (self.row(pair.0), other.row(pair.1));
            let mut from = '\0';
            while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
                let decided = Some(a.to) == left_decides || Some(b.to) == right_decides;
                edge(from, (!decided).then_some((a.to, b.to)));
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
            operation.of(self.is_accepting(pair.0), other.is_accepting(pair.1))
        })
    }

    /// The strings of the set whose length in characters lies in `lo..=hi`, as one automaton, of at most `cap`
    /// states before it is made minimal.
    pub fn with_length(&self, lo: u64, hi: Option<u64>, cap: usize) -> Result<Self, TooLarge> {
        self.with_length_within(lo, hi, cap, &mut { usize::MAX })
    }

    pub(super) fn with_length_within(
        &self,
        lo: u64,
        hi: Option<u64>,
        cap: usize,
        steps: &mut usize,
    ) -> Result<Self, TooLarge> {
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
        // The count stops at `top`, where it is too long, or long enough if there is no bound above.
        let top = hi.map_or(lo, |hi| hi.saturating_add(1));
        let top = u32::try_from(top).ok().filter(|top| (*top as usize) < cap).ok_or(TooLarge)?;
        let dead = self.dead();
        explore(cap, steps, false, |(state, length), edge| {
            let next = (length + 1).min(top);
            let too_long = hi.is_some() && next == top;
            for step in self.row(state) {
                let gone = too_long || Some(step.to) == dead;
                edge(step.from, (!gone).then_some((step.to, next)));
            }
            u64::from(length) >= lo && self.is_accepting(state)
        })
    }
}

/// Explores pairs from `(START, START)` breadth-first. `visit` names the edges of a pair in ascending order and
/// says whether the pair accepts; an edge to no pair leads where all that follows has the same `outcome`.
fn explore(
    cap: usize,
    steps: &mut usize,
    outcome: bool,
    mut visit: impl FnMut((u32, u32), &mut dyn FnMut(char, Option<(u32, u32)>)) -> bool,
) -> Result<Dfa, TooLarge> {
    let mut list: Vec<Option<(u32, u32)>> = vec![Some((START, START))];
    let mut numbers: FxHashMap<Option<(u32, u32)>, u32> =
        FxHashMap::from_iter([(Some((START, START)), START)]);
    let mut builder = Builder::new();
    let mut next = 0;
    while let Some(&pair) = list.get(next) {
        let edges = builder.edges();
        match pair {
            None => {
                builder.edge('\0', count(next));
                builder.state(outcome);
            }
            Some(pair) => {
                let accepting = visit(pair, &mut |from, to| {
                    let number = *numbers.entry(to).or_insert_with(|| {
                        list.push(to);
                        count(list.len() - 1)
                    });
                    builder.edge(from, number);
                });
                builder.state(accepting);
            }
        }
        *steps = steps.saturating_sub(EDGE_STEPS * (1 + builder.edges() - edges));
        if *steps == 0 || list.len() > cap {
            return Err(TooLarge);
        }
        next += 1;
    }
    Ok(builder.finish())
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

#[cfg(test)]
mod tests {
    use super::super::pattern::compile;
    use super::*;

    fn dfa(pattern: &str) -> Dfa {
        compile(pattern).unwrap().dfa.as_ref().clone()
    }

    #[test]
    fn equal_sets_are_equal_however_they_were_made() {
        assert_eq!(dfa("^[a-z]*$").and(&dfa("^[m-z]*$")).unwrap(), dfa("^[m-z]*$"));
        assert_eq!(dfa("^a").or(&dfa("b$")).unwrap(), dfa("^a|b$"));
        assert_eq!(Dfa::all().minus(&dfa("^$")).unwrap(), dfa("[^]"));
        assert_eq!(dfa("^(?:aa)*$").or(&dfa("^a(?:aa)*$")).unwrap(), dfa("^a*$"));
        assert!(dfa("^a").and(&dfa("^b")).unwrap().is_none());
    }

    #[test]
    fn a_product_that_is_too_large_is_refused() {
        let (a, b) = (dfa("^(?:.{127})*$"), dfa("^(?:.{131})*$"));
        assert_eq!(a.and(&b), Err(TooLarge));
        assert_eq!(a.and(&a), Ok(a.clone()));
        let mut steps = 1_000;
        assert_eq!(dfa("^.{50}b").combine(&dfa("^(?:.{20})*$"), Operation::And, &mut steps), Err(TooLarge));
        assert_eq!(steps, 0);
    }

    #[test]
    fn a_length_that_holds_anyway_costs_no_states() {
        let dates = dfa(r"^\d{4}-\d\d$");
        assert_eq!(dates.with_length(3, Some(1_000_000_000), 8), Ok(dates.clone()));
        assert_eq!(dates.with_length(8, None, 100), Ok(Dfa::none()));
        assert_eq!(dfa(".*foo.*").with_length(0, Some(200), 4_096).unwrap().states(), 793);
        assert_eq!(dfa("foo").with_length(0, Some(5_000), 4_096), Err(TooLarge));
        assert_eq!(dfa("foo").with_length(u64::MAX, None, 4_096), Err(TooLarge));
        assert_eq!(dfa("foo").with_length(3, Some(2), 4_096), Ok(Dfa::none()));
    }
}
