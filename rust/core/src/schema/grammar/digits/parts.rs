//! The parts of a set of numbers, with their bounds digit by digit.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::lattice::Lattice;
use super::{FRACTION_DIGITS, INTEGER_DIGITS};
use crate::schema::decimal::Dec;
use crate::schema::number::{Bound, Num};

/// The lattices of all parts, each once.
#[derive(Debug, Default)]
pub(super) struct Lattices {
    list: Vec<Lattice>,
    known: FxHashMap<Dec, Option<usize>>,
    pub(super) wider: bool,
}

impl Lattices {
    fn of(&mut self, step: Dec) -> Option<usize> {
        if let Some(known) = self.known.get(&step) {
            return *known;
        }
        let place = Lattice::of(step).map(|lattice| {
            self.list.push(lattice);
            self.list.len() - 1
        });
        self.known.insert(step, place);
        place
    }

    /// A lattice that holds the step, if not the step's own then one of decimals.
    fn around(&mut self, step: Dec) -> usize {
        self.of(step).unwrap_or_else(|| {
            self.wider = true;
            let scale = u16::try_from((-step.parts().1).max(0)).unwrap_or(u16::MAX);
            self.list.push(Lattice::decimal(scale));
            self.list.len() - 1
        })
    }

    pub(super) fn get(&self, place: usize) -> Option<&Lattice> {
        self.list.get(place)
    }

    pub(super) fn coarse(&self) -> Self {
        let list = self.list.iter().map(|lattice| Lattice::decimal(lattice.scale)).collect();
        Self { list, known: FxHashMap::default(), wider: true }
    }
}

/// One interval of a union, with its bounds by the sign of the number.
#[derive(Debug)]
pub(super) struct Part {
    /// Where the number is zero or positive; nothing where no such number is in the part.
    pub(super) positive: Option<Side>,
    pub(super) negative: Option<Side>,
    pub(super) step: Option<usize>,
    pub(super) off: SmallVec<[usize; 1]>,
}

/// The bounds of a magnitude.
#[derive(Debug, Default, Clone)]
pub(super) struct Side {
    pub(super) lo: Option<Digit>,
    pub(super) hi: Option<Digit>,
    pub(super) integer_digits: u16,
    pub(super) fraction_digits: u16,
}

/// A bound, digit by digit.
#[derive(Debug, Clone)]
pub(super) struct Digit {
    pub(super) integer: SmallVec<[u8; 16]>,
    pub(super) fraction: SmallVec<[u8; 8]>,
    pub(super) inclusive: bool,
}

impl Part {
    pub(super) fn new(num: &Num, lattices: &mut Lattices) -> Self {
        let step = num.step.map(|step| lattices.around(step));
        let mut off = SmallVec::new();
        for step in &num.off {
            match lattices.of(*step) {
                Some(place) => off.push(place),
                None => lattices.wider = true,
            }
        }
        let fraction_digits = match step.and_then(|step| lattices.get(step)) {
            Some(lattice) => lattice.scale,
            None if num.is_integral() => 0,
            None => fraction_digits(num),
        };
        // Of what is on no lattice the digits alone must reach a number that is off it, or on it.
        let fraction_digits = match step {
            None => num.off.iter().map(|off| places(*off).saturating_add(1)).fold(fraction_digits, u16::max),
            Some(_) => fraction_digits,
        };
        let least = num.step.map_or(0, |step| Digit::new(&Bound { at: step, inclusive: true }).integer.len());
        let least = u16::try_from(least).unwrap_or(u16::MAX);
        let zero = Bound { at: Dec::ZERO, inclusive: true };
        let positive = |bound: &Bound| bound.at.is_positive() || bound.at == Dec::ZERO;
        let side = |lo: Option<Bound>, hi: Option<Bound>| Side::new(lo, hi, fraction_digits, least);
        let lo = num.lo.filter(|lo| lo.at.is_positive() || (lo.at == Dec::ZERO && !lo.inclusive));
        let hi = num.hi.filter(|hi| !positive(hi));
        Self {
            positive: num.hi.is_none_or(|hi| positive(&hi)).then(|| side(lo, num.hi)),
            // Zero is no negative number.
            negative: num
                .lo
                .is_none_or(|lo| !positive(&lo))
                .then(|| side(hi.or(Some(Bound { inclusive: false, ..zero })), num.lo)),
            step,
            off,
        }
    }

    pub(super) fn side(&self, negative: bool) -> Option<&Side> {
        if negative { self.negative.as_ref() } else { self.positive.as_ref() }
    }
}

impl Side {
    /// The magnitudes from the bound nearer to zero to the one farther from it.
    fn new(near: Option<Bound>, far: Option<Bound>, fraction_digits: u16, least: u16) -> Self {
        let near = near.map(|bound| Digit::new(&bound));
        let long = near.as_ref().map_or(0, |near| u16::try_from(near.integer.len()).unwrap_or(u16::MAX));
        let long = long.max(least);
        let integer_digits = if long < INTEGER_DIGITS { INTEGER_DIGITS } else { long.saturating_add(1) };
        // What no spelled number passes needs no comparison.
        let far = far
            .map(|bound| Digit::new(&bound))
            .filter(|far| far.integer.len() <= usize::from(integer_digits));
        Self { lo: near, hi: far, integer_digits, fraction_digits }
    }
}

impl Digit {
    fn new(bound: &Bound) -> Self {
        let (mantissa, power) = bound.at.parts();
        let text = mantissa.unsigned_abs().to_string();
        let mut digits: SmallVec<[u8; 16]> = text.bytes().map(|digit| digit - b'0').collect();
        let mut fraction = SmallVec::new();
        if let Ok(zeros) = usize::try_from(power) {
            digits.extend(std::iter::repeat_n(0, zeros));
        } else {
            let places = usize::try_from(-power).unwrap_or(0);
            let zeros = places.saturating_sub(digits.len());
            fraction.extend(std::iter::repeat_n(0, zeros));
            let whole = digits.len().saturating_sub(places);
            fraction.extend(digits.drain(whole..));
            if digits.is_empty() {
                digits.push(0);
            }
        }
        Self { integer: digits, fraction, inclusive: bound.inclusive }
    }
}

/// The fraction digits that some number of a part has for sure.
fn fraction_digits(num: &Num) -> u16 {
    let most = [num.lo, num.hi].iter().flatten().map(|bound| places(bound.at)).max().unwrap_or(0);
    if most < FRACTION_DIGITS {
        return FRACTION_DIGITS;
    }
    let (Some(lo), Some(hi)) = (num.lo, num.hi) else { return FRACTION_DIGITS };
    // Whether a number of few digits lies between: the interval without its ends, in units of the last digit.
    let unit = Dec::new(1, -i64::from(FRACTION_DIGITS));
    let between =
        unit.and_then(|unit| Some((lo.at.quotient(unit)?.0.checked_add(1)?, hi.at.quotient(unit)?.1 - 1)));
    match between {
        Some((first, last)) if first <= last => FRACTION_DIGITS,
        _ => most.saturating_add(1),
    }
}

/// The fraction digits of a number.
fn places(at: Dec) -> u16 {
    u16::try_from((-at.parts().1).max(0)).unwrap_or(u16::MAX)
}
