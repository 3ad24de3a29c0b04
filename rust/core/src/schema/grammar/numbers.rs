//! Sets of numbers.

use smol_str::SmolStr;

use super::automaton::Automaton;
use super::digits::digits;
use super::lattice::Lattice;
use super::notes::{Notes, Place};
use super::rules::Rules;
use super::shared::Shared;
use super::values::COMBINED;
use crate::schema::decimal::Dec;
use crate::schema::number::{Bound, Num};
use crate::schema::strings::Dfa;

/// The most states of an automaton where the grammar has to be short.
const FEW_STATES: usize = 64;

/// The keywords that make a set of numbers.
const KEYWORDS: &[&[&str]] = &[
    &["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
    &["enum", "const"],
    COMBINED,
];

/// The zeros at the end of the multiples of a step that ends with as many.
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The integer digits of the shared rule of integers, and those that the one of numbers reaches with its exponent.
const INTEGER_REACH: i64 = 16;
const NUMBER_REACH: i64 = 99;

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
        let mut points: Vec<SmolStr> = parts.iter().filter_map(point).collect();
        let intervals = parts.iter().filter(|part| point(part).is_none());
        let (mut intervals, long): (Vec<Num>, Vec<Num>) =
            intervals.cloned().partition(|part| zeros(part).is_none());
        let mut automata = Vec::new();
        let mut wanted = 0;
        for part in &long {
            let zero = SmolStr::new_static("0");
            if part.has(&Dec::ZERO.to_number()) && !points.contains(&zero) {
                points.push(zero);
            }
            match zeros(part).and_then(|end| Some((end, without_zeros(part, end.len())?))) {
                Some((_, halves)) if halves.is_empty() => {}
                Some((end, halves)) => {
                    wanted += 1;
                    if let Some(digits) = digits(&halves, hint) {
                        if digits.wider {
                            notes.add(place, &[&["multipleOf"], COMBINED], MULTIPLES);
                        }
                        automata.push(digits.automaton.with_end(end));
                    }
                }
                None => intervals.push(part.clone()),
            }
        }
        if !points.is_empty() {
            wanted += 1;
            let dfa = Dfa::words(&points.iter().map(SmolStr::as_str).collect::<Vec<_>>());
            automata.push(Automaton::of_texts(&dfa, "", hint.clone()));
        }
        if !intervals.is_empty() {
            wanted += 1;
            let digits = digits(&intervals, hint);
            if digits.as_ref().is_some_and(|digits| digits.wider) {
                notes.add(place, &[&["multipleOf"], COMBINED], MULTIPLES);
            }
            automata.extend(digits.map(|digits| digits.automaton));
        }
        let written = automata.len() == wanted;
        let states: usize = automata.iter().map(Automaton::states).sum();
        // A wider rule must still reach a number of the set.
        let reached = |digits: i64| parts.iter().any(|part| reaches(part, digits));
        if written && (!short || states <= FEW_STATES || !reached(NUMBER_REACH)) {
            return Self::Automata(automata);
        }
        notes.add(place, KEYWORDS, "the numbers need too many rules");
        let integral = parts.iter().all(Num::is_integral) && reached(INTEGER_REACH);
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

const MULTIPLES: &str = "the multiples of this step need too many rules";

/// The zeros with which all multiples of a step end, where that is too long to be counted by.
fn zeros(part: &Num) -> Option<&'static str> {
    let step = part.step.filter(|step| Lattice::of(*step).is_none())?;
    ZEROS.get(..usize::try_from(step.power()).ok().filter(|zeros| *zeros > 0)?)
}

/// The multiples without zero and without so many zeros at the end: those above zero, and those below.
fn without_zeros(part: &Num, zeros: usize) -> Option<Vec<Num>> {
    let power = i64::try_from(zeros).ok()?;
    let scaled = |at: Dec| {
        let (mantissa, at) = at.parts();
        Dec::new(mantissa, at - power)
    };
    let bound = |bound: Option<Bound>| match bound {
        None => Some(None),
        Some(Bound { at, inclusive }) => Some(Some(Bound { at: scaled(at)?, inclusive })),
    };
    let off = part.off.iter().map(|step| scaled(*step)).collect::<Option<Vec<Dec>>>()?;
    let step = Some(scaled(part.step?)?);
    let whole = Num { lo: bound(part.lo)?, hi: bound(part.hi)?, step, off };
    let zero = Some(Bound { at: Dec::ZERO, inclusive: false });
    // With its zeros a number has no more digits than others, where there are such.
    let room = INTEGER_REACH.saturating_sub(power);
    let cap = |sign: i128| Dec::new(sign, room).map(|at| Bound { at, inclusive: false });
    let sides = [(zero, None, None, cap(1)), (None, zero, cap(-1), None)];
    let mut halves = Vec::new();
    for (lo, hi, least, most) in sides {
        let half = whole.and(&Num { lo, hi, ..Num::ANY }).ok()?;
        let short = half.and(&Num { lo: least, hi: most, ..Num::ANY }).ok()?;
        if room > 0 && short.member() != Ok(None) {
            halves.push(short);
        } else if half.member() != Ok(None) {
            halves.push(half);
        }
    }
    Some(halves)
}

/// Whether integers of so many digits may be in a set, as far as its bounds and its step say.
fn reaches(part: &Num, digits: i64) -> bool {
    let short = |at: Dec| {
        let (mantissa, power) = at.parts();
        i64::try_from(mantissa.unsigned_abs().to_string().len()).unwrap_or(i64::MAX) + power <= digits
    };
    part.lo.is_none_or(|lo| !lo.at.is_positive() || short(lo.at))
        && part.hi.is_none_or(|hi| hi.at.is_positive() || short(hi.at))
        && part.step.is_none_or(short)
}

/// The spelling of a set of one number.
fn point(num: &Num) -> Option<SmolStr> {
    let lo = num.lo?;
    let one = num.hi == num.lo && lo.inclusive;
    one.then(|| SmolStr::new(lo.at.to_number().lexeme()))
}
