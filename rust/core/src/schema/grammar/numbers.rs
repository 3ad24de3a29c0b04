//! Sets of numbers.

use smol_str::SmolStr;

use super::automaton::Automaton;
use super::digits::digits;
use super::notes::{Notes, Place};
use super::rules::Rules;
use super::shared::Shared;
use super::values::COMBINED;
use crate::schema::number::Num;
use crate::schema::strings::Dfa;

/// The most states of an automaton where the grammar has to be short.
const FEW_STATES: usize = 64;

/// The keywords that make a set of numbers.
const KEYWORDS: &[&[&str]] = &[
    &["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
    &["enum", "const"],
    COMBINED,
];

/// What a set of numbers is written as.
pub(super) enum Numbers {
    Shared(Shared),
    /// Single numbers, and intervals.
    Automata(Vec<Automaton>),
}

impl Numbers {
    /// The set as a rule of its own, where it needs none.
    pub(super) fn shared(parts: &[Num]) -> Option<Shared> {
        match parts {
            [one] if *one == Num::ANY => Some(Shared::Number),
            [one] if *one == Num::integers() => Some(Shared::Integer),
            _ => None,
        }
    }

    pub(super) fn plan(parts: &[Num], hint: &SmolStr, notes: &mut Notes, place: Place, short: bool) -> Self {
        if let Some(shared) = Self::shared(parts) {
            return Self::Shared(shared);
        }
        let points: Vec<SmolStr> = parts.iter().filter_map(point).collect();
        let intervals: Vec<Num> = parts.iter().filter(|part| point(part).is_none()).cloned().collect();
        let mut automata = Vec::new();
        if !points.is_empty() {
            let dfa = Dfa::words(&points.iter().map(SmolStr::as_str).collect::<Vec<_>>());
            automata.push(Automaton::of_texts(&dfa, "", hint.clone()));
        }
        if !intervals.is_empty() {
            let digits = digits(&intervals, hint);
            if digits.as_ref().is_some_and(|digits| digits.wider) {
                let reason = "the multiples of this step need too many rules";
                notes.add(place, &[&["multipleOf"], COMBINED], reason);
            }
            automata.extend(digits.map(|digits| digits.automaton));
        }
        let written = automata.len() == usize::from(!points.is_empty()) + usize::from(!intervals.is_empty());
        let states: usize = automata.iter().map(Automaton::states).sum();
        if written && (!short || states <= FEW_STATES) {
            return Self::Automata(automata);
        }
        notes.add(place, KEYWORDS, "the numbers need too many rules");
        let integral = parts.iter().all(Num::is_integral);
        Self::Shared(if integral { Shared::Integer } else { Shared::Number })
    }

    /// Writes the alternatives of the set into the open rule.
    pub(super) fn write(&mut self, rules: &mut Rules) {
        match self {
            Self::Shared(shared) => rules.shared(*shared),
            Self::Automata(automata) => {
                for automaton in automata {
                    rules.writer.alternative();
                    automaton.alternatives(rules);
                }
            }
        }
    }

    /// Writes the rules that the set needs. No rule may be open.
    pub(super) fn finish(&mut self, rules: &mut Rules) {
        if let Self::Automata(automata) = self {
            for automaton in automata {
                automaton.finish(rules);
            }
        }
    }
}

/// The spelling of a set of one number.
fn point(num: &Num) -> Option<SmolStr> {
    let lo = num.lo?;
    let one = num.hi == num.lo && lo.inclusive;
    one.then(|| SmolStr::new(lo.at.to_number().lexeme()))
}
