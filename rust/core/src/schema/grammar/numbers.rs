//! Sets of numbers.

use smol_str::SmolStr;

use super::digits::{Digits, digits};
use super::notes::{Notes, Place};
use super::rules::Rules;
use super::shared::Shared;
use super::values::COMBINED;
use crate::schema::number::Num;

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
    Digits(Box<Digits>),
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
        let digits = digits(parts, hint).filter(|digits| !short || digits.automaton.states() <= FEW_STATES);
        let Some(digits) = digits else {
            notes.add(place, KEYWORDS, "the numbers need too many rules");
            let integral = parts.iter().all(Num::is_integral);
            return Self::Shared(if integral { Shared::Integer } else { Shared::Number });
        };
        if digits.wider {
            let reason = "the multiples of this step need too many rules";
            notes.add(place, &[&["multipleOf"], COMBINED], reason);
        }
        Self::Digits(Box::new(digits))
    }

    /// Writes the alternatives of the set into the open rule.
    pub(super) fn write(&mut self, rules: &mut Rules) {
        match self {
            Self::Shared(shared) => rules.shared(*shared),
            Self::Digits(digits) => digits.automaton.alternatives(rules),
        }
    }

    /// Writes the rules that the set needs. No rule may be open.
    pub(super) fn finish(&mut self, rules: &mut Rules) {
        if let Self::Digits(digits) = self {
            digits.automaton.finish(rules);
        }
    }
}
