//! Sets of numbers as automata over their decimal spelling, digit by digit.
//!
//! A number is spelled as integer digits without a leading zero, then perhaps a point and fraction digits; no exponent
//! where there is a bound, no `-0`. At most [`INTEGER_DIGITS`] and [`FRACTION_DIGITS`], more where a bound needs it.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use smol_str::SmolStr;

use super::automaton::{Automaton, Edge, State};
use super::chars::{Ranges, Spelled};
use super::lattice::Lattice;
use crate::schema::decimal::Dec;
use crate::schema::number::{Bound, Num};

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

/// The lattices of all parts, each once.
#[derive(Debug, Default)]
struct Lattices {
    list: Vec<Lattice>,
    known: FxHashMap<Dec, Option<usize>>,
    wider: bool,
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

    fn get(&self, place: usize) -> Option<&Lattice> {
        self.list.get(place)
    }

    fn coarse(&self) -> Self {
        let list = self.list.iter().map(|lattice| Lattice::decimal(lattice.scale)).collect();
        Self { list, known: FxHashMap::default(), wider: true }
    }
}

/// One interval of a union, with its bounds by the sign of the number.
#[derive(Debug)]
struct Part {
    /// Where the number is zero or positive; nothing where no such number is in the part.
    positive: Option<Side>,
    negative: Option<Side>,
    step: Option<usize>,
    off: SmallVec<[usize; 1]>,
}

/// The bounds of a magnitude.
#[derive(Debug, Default, Clone)]
struct Side {
    lo: Option<Digit>,
    hi: Option<Digit>,
    integer_digits: u16,
    fraction_digits: u16,
}

/// A bound, digit by digit.
#[derive(Debug, Clone)]
struct Digit {
    integer: SmallVec<[u8; 16]>,
    fraction: SmallVec<[u8; 8]>,
    inclusive: bool,
}

impl Part {
    fn new(num: &Num, lattices: &mut Lattices) -> Self {
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
        let zero = Bound { at: Dec::ZERO, inclusive: true };
        let positive = |bound: &Bound| bound.at.is_positive() || bound.at == Dec::ZERO;
        let side = |lo: Option<Bound>, hi: Option<Bound>| Side::new(lo, hi, fraction_digits);
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

    fn side(&self, negative: bool) -> Option<&Side> {
        if negative { self.negative.as_ref() } else { self.positive.as_ref() }
    }
}

impl Side {
    /// The magnitudes from the bound nearer to zero to the one farther from it.
    fn new(near: Option<Bound>, far: Option<Bound>, fraction_digits: u16) -> Self {
        let near = near.map(|bound| Digit::new(&bound));
        let long = near.as_ref().map_or(0, |near| u16::try_from(near.integer.len()).unwrap_or(u16::MAX));
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
    let places = |bound: &Bound| u16::try_from((-bound.at.parts().1).max(0)).unwrap_or(u16::MAX);
    let most = [num.lo, num.hi].iter().flatten().map(places).max().unwrap_or(0);
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

#[cfg(test)]
mod tests {
    use super::super::gbnf::Gbnf;
    use super::super::rules::Rules;
    use super::*;
    use crate::json::Number;

    fn dec(text: &str) -> Dec {
        Dec::from_number(&Number::parse(text).unwrap()).unwrap()
    }

    /// `lo..hi`, exclusive with parentheses, on a lattice and off others.
    fn num(lo: &str, hi: &str, step: &str, off: &[&str]) -> Num {
        let bound = |text: &str, open: char| {
            let at = text.trim_matches(['(', ')', '[', ']']);
            (!at.is_empty()).then(|| Bound { at: dec(at), inclusive: !text.contains(open) })
        };
        let step = (!step.is_empty()).then(|| dec(step));
        Num { lo: bound(lo, '('), hi: bound(hi, ')'), step, off: off.iter().map(|off| dec(off)).collect() }
    }

    fn rules_of(parts: &[Num]) -> (String, bool) {
        let mut rules = Rules::new();
        let name = rules.names.like("n");
        let mut digits = digits(parts, &name).unwrap();
        rules.begin(&name);
        digits.automaton.alternatives(&mut rules);
        rules.end();
        digits.automaton.finish(&mut rules);
        (rules.into_parts().0, digits.wider)
    }

    const SAMPLES: [&str; 60] = [
        "0",
        "1",
        "2",
        "3",
        "5",
        "7",
        "9",
        "10",
        "11",
        "12",
        "14",
        "19",
        "20",
        "21",
        "35",
        "49",
        "50",
        "51",
        "99",
        "100",
        "101",
        "110",
        "128",
        "199",
        "200",
        "255",
        "256",
        "999",
        "1000",
        "1001",
        "65535",
        "65536",
        "9007199254740991",
        "9007199254740992",
        "9999999999999999",
        "-1",
        "-2",
        "-5",
        "-7",
        "-9",
        "-10",
        "-11",
        "-99",
        "-100",
        "-9999999999999999",
        "0.5",
        "0.1",
        "0.01",
        "0.25",
        "0.999999999999999",
        "1.5",
        "2.5",
        "9.99",
        "-0.5",
        "-0.25",
        "99.5",
        "100.5",
        "0.000000000000001",
        "-1.5",
        "0.3",
    ];

    #[test]
    fn the_rules_take_the_spelled_numbers_of_the_set_and_no_others() {
        let sets = [
            vec![num("[0", "100]", "1", &[])],
            vec![num("[1", "", "1", &[])],
            vec![num("(0", "", "1", &[])],
            vec![num("", "-1]", "1", &[])],
            vec![num("[-9007199254740991", "9007199254740991]", "1", &[])],
            vec![num("[-10", "10]", "", &[])],
            vec![num("(0", "1)", "", &[])],
            vec![num("[0", "1]", "", &[])],
            vec![num("", "0)", "", &[])],
            vec![num("[0.25", "100.5)", "", &[])],
            vec![num("[-1.5", "2.5]", "", &[])],
            vec![num("[0", "1000]", "7", &[])],
            vec![num("", "", "7", &[])],
            vec![num("[0", "", "0.01", &[])],
            vec![num("[-100", "100]", "0.5", &["1"])],
            vec![num("", "", "", &["1"])],
            vec![num("", "", "", &["0.5", "0.3"])],
            vec![num("[1", "1]", "", &[]), num("[2.5", "2.5]", "", &[]), num("[65535", "65535]", "", &[])],
            vec![num("[1", "10)", "1", &[]), num("(50", "", "", &[])],
            vec![num("[-1e300", "1.7976931348623157e308]", "", &[])],
            vec![num("[0", "", "1000", &[])],
            vec![num("[99.999", "101]", "", &["1"])],
        ];
        for parts in &sets {
            let (text, wider) = rules_of(parts);
            assert!(!wider);
            let grammar = Gbnf::read(&text);
            let mut taken = 0;
            for sample in SAMPLES {
                let number = Number::parse(sample).unwrap();
                let has = parts.iter().any(|part| part.has(&number));
                assert_eq!(grammar.takes("n", sample), has, "{parts:?} {sample}\n{text}");
                taken += usize::from(has);
            }
            assert!(
                taken > 0 && taken < SAMPLES.len()
                    || parts[0].lo.is_some_and(|lo| !lo.at.is_integer() || lo.at < dec("-1e299")),
                "{parts:?}"
            );
            for odd in ["-0", "-0.0", "00", "01", "1.", ".5", "1e2", "+1", "", "-"] {
                assert!(!grammar.takes("n", odd), "{parts:?} {odd}\n{text}");
            }
        }
    }

    #[test]
    fn an_integer_has_no_fraction() {
        for parts in [num("[0", "", "1", &[]), num("[5", "5]", "", &[]), num("[0", "100]", "5", &[])] {
            assert!(!Gbnf::read(&rules_of(&[parts]).0).takes("n", "5.0"));
        }
        assert!(Gbnf::read(&rules_of(&[num("[0", "10]", "", &[])]).0).takes("n", "5.0"));
    }

    #[test]
    fn caps_rise_where_a_bound_needs_it() {
        for (parts, sample) in [
            (num("[1e20", "", "1", &[]), "100000000000000000001"),
            (num("", "-1e20]", "", &[]), "-100000000000000000000.5"),
            (num("(1e-20", "2e-20)", "", &[]), "0.000000000000000000015"),
            (num("[1e-20", "1e-20]", "", &[]), "0.00000000000000000001"),
            (num("[1e40", "1e40]", "", &[]), "10000000000000000000000000000000000000000"),
            (num("(0.9999999999999999", "1)", "", &[]), "0.99999999999999995"),
        ] {
            let (text, _) = rules_of(std::slice::from_ref(&parts));
            assert!(Gbnf::read(&text).takes("n", sample), "{parts:?}\n{text}");
        }
    }

    #[test]
    fn common_ranges_are_short() {
        assert_eq!(rules_of(&[num("[1", "", "1", &[])]).0, "n ::= [1-9] [0-9]{0,15}\n");
        assert_eq!(rules_of(&[num("[0", "", "1", &[])]).0, "n ::= \"0\" | [1-9] [0-9]{0,15}\n");
        assert_eq!(
            rules_of(&[num("[0", "100]", "1", &[])]).0,
            "n ::= \"0\" | \"1\" n-2 | [2-9] [0-9]?\nn-2 ::= | \"0\" \"0\"? | [1-9]\n"
        );
        assert_eq!(
            rules_of(&[num("[0", "", "", &[])]).0,
            "n ::= \"0\" n-2 | [1-9] [0-9]{0,15} n-2\nn-2 ::= | \".\" [0-9]{1,15}\n"
        );
    }

    #[test]
    fn a_step_that_is_too_long_is_left_out_and_said() {
        for step in ["1.0000001", "1001", "12345678901234567890"] {
            let (text, wider) = rules_of(&[num("[0", "", step, &[])]);
            assert!(wider && Gbnf::read(&text).takes("n", "0"), "{text}");
        }
        let (text, wider) = rules_of(&[num("", "", "", &["1.0000001"])]);
        assert!(wider && Gbnf::read(&text).takes("n", "1.5"));
        // 997 remainders at each of 16 digits.
        let (text, wider) = rules_of(&[num("", "", "997", &[])]);
        assert!(wider && Gbnf::read(&text).takes("n", "1994"));
    }
}
