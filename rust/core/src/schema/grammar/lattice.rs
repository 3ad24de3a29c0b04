//! Multiples of a step as automata over decimal digits: the remainder so far, told apart only as far as it matters.

use rustc_hash::FxHashMap;

use crate::schema::decimal::Dec;

/// The greatest step, as an integer at its scale.
const MODULUS: u128 = 1_000;
/// The most fraction digits of a step.
const SCALE: i64 = 6;

/// The multiples of `modulus × 10^-scale`.
#[derive(Debug)]
pub(super) struct Lattice {
    /// The most digits after the point that a multiple has.
    pub(super) scale: u16,
    /// The class that each digit leads to, by class.
    next: Vec<[u16; 10]>,
    /// For each class a bit for each number of digits still missing to the scale: whether a number that ends so is a
    /// multiple.
    ends: Vec<u8>,
    /// The class of a number without digits.
    pub(super) start: u16,
}

impl Lattice {
    /// The automaton of a step, if it is small enough.
    pub(super) fn of(step: Dec) -> Option<Self> {
        let (mantissa, power) = step.parts();
        let scale = if power < 0 { -power } else { 0 };
        let zeros = u32::try_from(power.max(0)).ok()?;
        let modulus = mantissa.unsigned_abs().checked_mul(10u128.checked_pow(zeros)?)?;
        if modulus == 0 || modulus > MODULUS || scale > SCALE {
            return None;
        }
        Some(Self::new(usize::try_from(modulus).ok()?, u16::try_from(scale).ok()?))
    }

    /// The multiples of `10^-scale`, for a step that is too fine or too long.
    pub(super) fn decimal(scale: u16) -> Self {
        Self::new(1, scale)
    }

    fn new(modulus: usize, scale: u16) -> Self {
        let ends_of = |rest: usize| {
            (0..=u32::from(scale.min(7))).fold(0u8, |bits, missing| {
                let zero = (rest * 10usize.pow(missing)).is_multiple_of(modulus);
                bits | u8::from(zero) << missing
            })
        };
        // Remainders that end alike and lead to alike ones are one class (Moore's refinement).
        let mut class: Vec<u16> = vec![0; modulus];
        let mut count = 0;
        loop {
            let mut known: FxHashMap<(u8, u16, [u16; 10]), u16> = FxHashMap::default();
            let at = |rest: usize| class.get(rest).copied().unwrap_or(0);
            let refined: Vec<u16> = (0..modulus)
                .map(|rest| {
                    let next = std::array::from_fn(|digit| at((rest * 10 + digit) % modulus));
                    let fresh = u16::try_from(known.len()).unwrap_or(u16::MAX);
                    *known.entry((ends_of(rest), at(rest), next)).or_insert(fresh)
                })
                .collect();
            let grown = known.len() > count;
            count = known.len();
            class = refined;
            if !grown {
                break;
            }
        }
        let at = |rest: usize| class.get(rest).copied().unwrap_or(0);
        let mut next = vec![[0; 10]; count];
        let mut ends = vec![0; count];
        for rest in 0..modulus {
            let place = usize::from(at(rest));
            if let (Some(next), Some(ends)) = (next.get_mut(place), ends.get_mut(place)) {
                *next = std::array::from_fn(|digit| at((rest * 10 + digit) % modulus));
                *ends = ends_of(rest);
            }
        }
        Self { scale, next, ends, start: at(0) }
    }

    /// The class after another digit.
    pub(super) fn after(&self, class: u16, digit: u8) -> u16 {
        self.next.get(usize::from(class)).and_then(|next| next.get(usize::from(digit))).copied().unwrap_or(0)
    }

    /// Whether a number of this class with so many fraction digits, at most [`scale`](Self::scale), is a multiple.
    pub(super) fn ends(&self, class: u16, fraction: u16) -> bool {
        let missing = self.scale.saturating_sub(fraction);
        // A step with more places than there are bits has no other remainder than zero.
        missing > 7 || self.ends.get(usize::from(class)).is_some_and(|ends| ends >> missing & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Number;

    fn dec(text: &str) -> Dec {
        Dec::from_number(&Number::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn a_number_ends_well_when_it_is_a_multiple() {
        for step in [
            "1", "2", "7", "10", "12", "100", "1000", "0.5", "0.01", "0.25", "2.5", "0.3", "0.000001",
            "0.999",
        ] {
            let lattice = Lattice::of(dec(step)).unwrap();
            for text in [
                "0", "1", "7", "12", "14", "35", "100", "250", "999", "1000", "12000", "0.5", "2.5", "0.3",
                "0.25", "0.75", "7.25", "1.998", "1.01",
            ] {
                let fraction =
                    text.split_once('.').map_or(0, |(_, fraction)| u16::try_from(fraction.len()).unwrap());
                if fraction > lattice.scale {
                    continue;
                }
                let digits = text.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0');
                let class = digits.fold(lattice.start, |class, digit| lattice.after(class, digit));
                assert_eq!(
                    lattice.ends(class, fraction),
                    dec(text).is_multiple_of(dec(step)),
                    "{text} of {step}"
                );
            }
        }
    }

    #[test]
    fn only_as_many_remainders_are_told_apart_as_matter() {
        for (step, classes) in [("1", 1), ("1000", 4), ("7", 7), ("0.01", 1), ("0.5", 2), ("20", 3)] {
            let lattice = Lattice::of(dec(step)).unwrap();
            assert_eq!(lattice.next.len(), classes, "{step}");
        }
        assert!(Lattice::of(dec("1001")).is_none() && Lattice::of(dec("0.0000001")).is_none());
    }
}
