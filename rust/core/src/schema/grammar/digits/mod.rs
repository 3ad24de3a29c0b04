//! Sets of numbers as automata over their decimal spelling, digit by digit.
//!
//! A number is spelled as integer digits without a leading zero, then perhaps a point and fraction digits; no exponent
//! where there is a bound, no `-0`. At most [`INTEGER_DIGITS`] and [`FRACTION_DIGITS`], more where a bound needs it.

mod parts;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use smol_str::SmolStr;

use super::automaton::{Automaton, Edge, State};
use super::chars::{Ranges, Spelled};
use crate::schema::number::Num;
use parts::{Digit, Lattices, Part, Side};

/// The integer digits that a spelled number has.
const INTEGER_DIGITS: u16 = 16;
/// The fraction digits that a spelled number has.
const FRACTION_DIGITS: u16 = 15;
/// The most states of an automaton.
const STATES: usize = 1_500;
/// The same before equal states are one.
const READS: usize = 24_000;
/// The places in parts that are looked at.
const WORK: usize = 200_000;

/// A set of numbers as an automaton; nothing when it needs too many states.
pub(super) struct Digits {
    pub(super) automaton: Automaton,
    /// Whether a `multipleOf` was left out because its step is too long.
    pub(super) wider: bool,
}

/// The automaton of a union; nothing when it is too large, or no number has a spelling.
pub(super) fn digits(parts: &[Num], hint: &SmolStr) -> Option<Digits> {
    let mut lattices = Lattices::default();
    let parts: Vec<Part> = parts.iter().map(|part| Part::new(part, &mut lattices)).collect();
    let mut wider = lattices.wider;
    let states = Builder::new(&parts, &lattices).build().or_else(|| {
        // With steps of one digit only there are few states.
        wider = true;
        let coarse = lattices.coarse();
        Builder::new(&parts, &coarse).build()
    })?;
    Some(Digits { automaton: Automaton::new(states, "", hint.clone()), wider })
}

/// What was read of a number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Read {
    phase: Phase,
    negative: bool,
    /// Integer digits, or fraction digits after the point.
    count: u16,
    /// The parts that the number may still be in.
    parts: SmallVec<[At; 2]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Phase {
    Start,
    Sign,
    /// After a leading zero.
    Zero,
    Integer,
    Point,
    Fraction,
}

/// Where a number stands within one part.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct At {
    part: u16,
    /// How the digits so far compare to the first digits of the bound.
    lo: Ordering,
    hi: Ordering,
    /// The class in the lattice of the step, and in those that it must not be on.
    step: u16,
    off: SmallVec<[Option<u16>; 1]>,
}

/// Ranges of characters, and where they lead.
type Ways<T> = SmallVec<[((char, char), T); 4]>;

/// Builds the states, the same language once: the automaton has no cycle, so it is minimal when equal states are one.
struct Builder<'p> {
    parts: &'p [Part],
    lattices: &'p Lattices,
    known: FxHashMap<Read, u32>,
    /// What can be read, in the order of its discovery, with where each character leads.
    reads: Vec<(Read, Ways<u32>)>,
    work: usize,
}

/// What tells one state from another: whether a number may end there, and where it goes on.
type Content = (bool, SmallVec<[(u32, Ranges); 3]>);

impl<'p> Builder<'p> {
    fn new(parts: &'p [Part], lattices: &'p Lattices) -> Self {
        Self { parts, lattices, known: FxHashMap::default(), reads: Vec::new(), work: 0 }
    }

    /// The states, the start first; nothing when there are too many, or no number has a spelling.
    fn build(mut self) -> Option<Vec<State>> {
        self.discover(Read { phase: Phase::Start, negative: false, count: 0, parts: SmallVec::new() });
        let mut next = 0;
        while let Some((read, _)) = self.reads.get(next) {
            let edges = self.next(&read.clone());
            let edges = edges.into_iter().map(|(symbol, read)| (symbol, self.discover(read))).collect();
            if let Some((_, slot)) = self.reads.get_mut(next) {
                *slot = edges;
            }
            next += 1;
            if self.reads.len() > READS || self.work > WORK {
                return None;
            }
        }
        // From the ends of numbers to their beginnings, so that what follows is known.
        let mut order: Vec<u32> = (0..u32::try_from(self.reads.len()).ok()?).collect();
        order.sort_by_key(|at| {
            self.reads.get(*at as usize).map(|(read, _)| std::cmp::Reverse((read.phase, read.count)))
        });
        let mut numbers: Vec<Option<u32>> = vec![None; self.reads.len()];
        let mut states: Vec<Content> = Vec::new();
        let mut same: FxHashMap<Content, u32> = FxHashMap::default();
        for at in order {
            let (read, reached) = self.reads.get(at as usize)?;
            let mut edges: SmallVec<[(u32, Ranges); 3]> = SmallVec::new();
            for (symbol, to) in reached {
                let Some(to) = numbers.get(*to as usize).copied().flatten() else { continue };
                match edges.iter_mut().find(|(known, _)| *known == to) {
                    Some((_, ranges)) => match ranges.last_mut() {
                        Some(last) if u32::from(last.1) + 1 == u32::from(symbol.0) => last.1 = symbol.1,
                        _ => ranges.push(*symbol),
                    },
                    None => edges.push((to, Ranges::from_slice(&[*symbol]))),
                }
            }
            let content = (self.accepts(read), edges);
            if !content.0 && content.1.is_empty() {
                continue;
            }
            let fresh = u32::try_from(states.len()).ok()?;
            let number = *same.entry(content).or_insert_with_key(|content| {
                states.push(content.clone());
                fresh
            });
            if let Some(slot) = numbers.get_mut(at as usize) {
                *slot = Some(number);
            }
        }
        let start = numbers.first().copied().flatten()?;
        if states.len() > STATES {
            return None;
        }
        // The start was numbered last.
        let states = states.iter().take(start as usize + 1).rev().map(|(accepting, edges)| {
            let edge = |(to, raw): &(u32, Ranges)| Edge {
                to: start.saturating_sub(*to),
                characters: Spelled { raw: raw.clone(), ..Spelled::default() },
            };
            State::new(*accepting, edges.iter().map(edge))
        });
        Some(states.collect())
    }

    fn discover(&mut self, read: Read) -> u32 {
        let next = u32::try_from(self.reads.len()).unwrap_or(u32::MAX);
        self.work += read.parts.len();
        *self.known.entry(read).or_insert_with_key(|read| {
            self.reads.push((read.clone(), SmallVec::new()));
            next
        })
    }

    /// Where each character leads; characters ascend.
    fn next(&self, read: &Read) -> Ways<Read> {
        let mut next = SmallVec::new();
        match read.phase {
            Phase::Start | Phase::Sign => {
                let negative = read.phase == Phase::Sign;
                if !negative && self.parts.iter().any(|part| part.negative.is_some()) {
                    next.push((('-', '-'), Read { phase: Phase::Sign, ..read.clone() }));
                }
                let parts = self.parts.iter().enumerate().filter(|(_, part)| part.side(negative).is_some());
                let parts = parts.map(|(place, part)| self.at_start(place, part)).collect();
                let empty = Read { phase: Phase::Integer, negative, count: 0, parts };
                next.extend(self.digits(&empty));
            }
            Phase::Zero | Phase::Integer => {
                let parts = read.parts.iter().filter_map(|at| self.at_point(read, at)).collect();
                let point = Read { phase: Phase::Point, count: 0, parts, ..*read };
                if !point.parts.is_empty() {
                    next.push((('.', '.'), point));
                }
                if read.phase == Phase::Integer {
                    next.extend(self.digits(read));
                }
            }
            Phase::Point | Phase::Fraction => next.extend(self.digits(read)),
        }
        next
    }

    fn at_start(&self, place: usize, part: &Part) -> At {
        let class = |lattice: usize| self.lattices.get(lattice).map_or(0, |lattice| lattice.start);
        At {
            part: u16::try_from(place).unwrap_or(u16::MAX),
            lo: Ordering::Equal,
            hi: Ordering::Equal,
            step: part.step.map_or(0, class),
            off: part.off.iter().map(|lattice| Some(class(*lattice))).collect(),
        }
    }

    /// The state of a part after the point: integer parts are compared as a whole.
    fn at_point(&self, read: &Read, at: &At) -> Option<At> {
        let side = self.side(read, at)?;
        if side.fraction_digits == 0 {
            return None;
        }
        let whole = |bound: &Option<Digit>, order: Ordering| match bound {
            Some(bound) => usize::from(read.count).cmp(&bound.integer.len()).then(order),
            None => Ordering::Equal,
        };
        let (lo, hi) = (whole(&side.lo, at.lo), whole(&side.hi, at.hi));
        let inside =
            (side.lo.is_none() || lo != Ordering::Less) && (side.hi.is_none() || hi != Ordering::Greater);
        inside.then(|| At { lo, hi, ..at.clone() })
    }

    /// What each further digit leads to, digits that lead to the same as one range.
    fn digits(&self, read: &Read) -> Ways<Read> {
        let mut next: Ways<Read> = SmallVec::new();
        for digit in 0..10u8 {
            let after = self.after(read, digit);
            if after.parts.is_empty() {
                continue;
            }
            let c = char::from(b'0' + digit);
            match next.last_mut() {
                Some((range, last)) if *last == after && u32::from(range.1) + 1 == u32::from(c) => {
                    range.1 = c;
                }
                _ => next.push(((c, c), after)),
            }
        }
        next
    }

    fn after(&self, read: &Read, digit: u8) -> Read {
        let (phase, count) = match read.phase {
            Phase::Integer if read.count == 0 && digit == 0 => (Phase::Zero, 1),
            Phase::Point => (Phase::Fraction, 1),
            phase => (phase, read.count + 1),
        };
        let fraction = phase == Phase::Fraction;
        let parts = read.parts.iter().filter_map(|at| {
            let side = self.side(read, at)?;
            if count > if fraction { side.fraction_digits } else { side.integer_digits } {
                return None;
            }
            let place = usize::from(count) - 1;
            let compare = |bound: &Option<Digit>, order: Ordering| match bound {
                Some(bound) if fraction => order.then(digit.cmp(bound.fraction.get(place).unwrap_or(&0))),
                Some(bound) => match bound.integer.get(place) {
                    Some(known) => order.then(digit.cmp(known)),
                    None => Ordering::Greater,
                },
                None => Ordering::Equal,
            };
            let (lo, hi) = (compare(&side.lo, at.lo), compare(&side.hi, at.hi));
            // What is past a bound stays past it.
            let above = |bound: &Digit| {
                hi == Ordering::Greater && (fraction || usize::from(count) >= bound.integer.len())
            };
            let below = fraction && side.lo.is_some() && lo == Ordering::Less;
            if below || side.hi.as_ref().is_some_and(above) {
                return None;
            }
            // An integer with more digits than the bound is above it, whatever they are.
            let longer = |bound: &Option<Digit>| {
                bound.as_ref().is_some_and(|bound| usize::from(count) > bound.integer.len())
            };
            let lo = if !fraction && longer(&side.lo) { Ordering::Greater } else { lo };
            let part = self.parts.get(usize::from(at.part))?;
            let lattice = |place: &usize| self.lattices.get(*place);
            let step = match part.step.as_ref().and_then(lattice) {
                Some(lattice) => lattice.after(at.step, digit),
                None => 0,
            };
            let off = part.off.iter().zip(&at.off).map(|(place, class)| {
                let lattice = lattice(place)?;
                match (*class)? {
                    // Past the scale any digit but zero is off the lattice for good.
                    class if fraction && count > lattice.scale => (digit == 0).then_some(class),
                    class => Some(lattice.after(class, digit)),
                }
            });
            Some(At { part: at.part, lo, hi, step, off: off.collect() })
        });
        Read { phase, negative: read.negative, count, parts: parts.collect() }
    }

    /// Whether a number may end here.
    fn accepts(&self, read: &Read) -> bool {
        let fraction = read.phase == Phase::Fraction;
        if !fraction && !matches!(read.phase, Phase::Zero | Phase::Integer) {
            return false;
        }
        read.parts.iter().any(|at| {
            let (Some(side), Some(part)) = (self.side(read, at), self.parts.get(usize::from(at.part))) else {
                return false;
            };
            let compare = |bound: &Digit, order: Ordering| {
                let order = if fraction {
                    order
                } else {
                    usize::from(read.count).cmp(&bound.integer.len()).then(order)
                };
                // A fraction that is cut short is below the bound that goes on.
                let read = if fraction { usize::from(read.count) } else { 0 };
                let cut = bound.fraction.iter().skip(read).any(|digit| *digit != 0);
                order.then(if cut { Ordering::Less } else { Ordering::Equal })
            };
            let fits = |bound: &Option<Digit>, order: Ordering, wanted: Ordering| {
                bound.as_ref().is_none_or(|bound| match compare(bound, order) {
                    Ordering::Equal => bound.inclusive,
                    order => order == wanted,
                })
            };
            let digits = if fraction { read.count } else { 0 };
            let on = |place: usize, class: u16, digits: u16| {
                self.lattices.get(place).is_some_and(|lattice| lattice.ends(class, digits.min(lattice.scale)))
            };
            fits(&side.lo, at.lo, Ordering::Greater)
                && fits(&side.hi, at.hi, Ordering::Less)
                && part.step.is_none_or(|place| on(place, at.step, digits))
                && !part
                    .off
                    .iter()
                    .zip(&at.off)
                    .any(|(place, class)| class.is_some_and(|class| on(*place, class, digits)))
        })
    }

    fn side(&self, read: &Read, at: &At) -> Option<&Side> {
        self.parts.get(usize::from(at.part))?.side(read.negative)
    }
}
