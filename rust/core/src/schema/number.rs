//! Sets of numbers: unions of intervals, each perhaps on a lattice (`multipleOf`) and off others.

use std::cmp::Ordering;

use rustc_hash::FxHashSet;

use super::decimal::{Dec, Real};
use super::undecided::Undecided;
use crate::json::Number;

/// The longest walk over multiples for one that is off all other lattices.
const WALK: i128 = 10_000;
/// The most parts of a union.
const PARTS: usize = 1_024;

/// An end of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Bound {
    pub(crate) at: Dec,
    pub(crate) inclusive: bool,
}

/// The numbers between two bounds that are multiples of `step` and of none of `off`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Num {
    pub(crate) lo: Option<Bound>,
    pub(crate) hi: Option<Bound>,
    /// Above zero. Integers are the multiples of one.
    pub(crate) step: Option<Dec>,
    /// Above zero.
    pub(crate) off: Vec<Dec>,
}

impl Num {
    /// Every number.
    pub(crate) const ANY: Self = Self { lo: None, hi: None, step: None, off: Vec::new() };

    /// One number.
    pub(crate) fn point(at: Dec) -> Self {
        let bound = Some(Bound { at, inclusive: true });
        Self { lo: bound, hi: bound, ..Self::ANY }
    }

    /// The one number that this is, where it says no more.
    pub(crate) fn as_point(&self) -> Option<Dec> {
        match (self.lo, self.hi) {
            (Some(lo), Some(hi))
                if lo == hi && lo.inclusive && self.step.is_none() && self.off.is_empty() =>
            {
                Some(lo.at)
            }
            _ => None,
        }
    }

    /// Every integer.
    pub(crate) fn integers() -> Self {
        Self { step: Some(Dec::ONE), ..Self::ANY }
    }

    pub(crate) fn has(&self, number: &Number) -> bool {
        if *self == Self::ANY {
            return true;
        }
        let real = Real::of(number);
        self.lo.is_none_or(|lo| beyond(real.compare(lo.at), lo.inclusive))
            && self.hi.is_none_or(|hi| beyond(real.compare(hi.at).reverse(), hi.inclusive))
            && self.step.is_none_or(|step| real.is_multiple_of(step))
            && !self.off.iter().any(|step| real.is_multiple_of(*step))
    }

    fn has_dec(&self, value: Dec) -> bool {
        self.lo.is_none_or(|lo| beyond(value.cmp(&lo.at), lo.inclusive))
            && self.hi.is_none_or(|hi| beyond(value.cmp(&hi.at).reverse(), hi.inclusive))
            && self.step.is_none_or(|step| value.is_multiple_of(step))
            && !self.off.iter().any(|step| value.is_multiple_of(*step))
    }

    /// Whether every number here is an integer.
    pub(crate) fn is_integral(&self) -> bool {
        let point = |lo: Bound| self.hi.is_some_and(|hi| hi.at == lo.at) && lo.at.is_integer();
        self.step.is_some_and(Dec::is_integer) || self.lo.is_some_and(point)
    }

    /// The numbers in both.
    pub(crate) fn and(&self, other: &Self) -> Result<Self, Undecided> {
        let mut off = self.off.clone();
        off.extend(other.off.iter().filter(|step| !self.off.contains(step)));
        let step = match (self.step, other.step) {
            (Some(a), Some(b)) => Some(a.lcm(b).ok_or(Undecided::Numbers)?),
            (a, b) => a.or(b),
        };
        let lo = tighter(self.lo, other.lo, Ordering::Greater);
        Ok(Self { lo, hi: tighter(self.hi, other.hi, Ordering::Less), step, off })
    }

    /// Every other number, as a union.
    fn complement(&self) -> Vec<Self> {
        let mut parts = Vec::new();
        let turned = |bound: Bound| Some(Bound { inclusive: !bound.inclusive, ..bound });
        if let Some(lo) = self.lo {
            parts.push(Self { hi: turned(lo), ..Self::ANY });
        }
        if let Some(hi) = self.hi {
            parts.push(Self { lo: turned(hi), ..Self::ANY });
        }
        parts.extend(self.step.map(|step| Self { off: vec![step], ..Self::ANY }));
        parts.extend(self.off.iter().map(|step| Self { step: Some(*step), ..Self::ANY }));
        parts
    }

    /// Adds what is left without some numbers, which are sorted, to a union.
    fn without_points(&self, holes: &[Dec], union: &mut Vec<Self>) {
        let mut left = self.clone();
        for hole in holes.iter().filter(|hole| self.has_dec(**hole)) {
            let end = Some(Bound { at: *hole, inclusive: false });
            let before = Self { hi: end, ..left.clone() };
            if !matches!(before.member(), Ok(None)) {
                union.push(before);
            }
            left.lo = end;
        }
        if !matches!(left.member(), Ok(None)) {
            union.push(left);
        }
    }

    /// Whether one interval ends before the other begins.
    fn is_apart(&self, other: &Self) -> bool {
        let before = |hi: Option<Bound>, lo: Option<Bound>| {
            hi.zip(lo).is_some_and(|(hi, lo)| match hi.at.cmp(&lo.at) {
                Ordering::Less => true,
                Ordering::Equal => !(hi.inclusive && lo.inclusive),
                Ordering::Greater => false,
            })
        };
        before(self.hi, other.lo) || before(other.hi, self.lo)
    }

    /// A number of the set; `None` is proof that there is none.
    pub(crate) fn member(&self) -> Result<Option<Dec>, Undecided> {
        if let (Some(lo), Some(hi)) = (self.lo, self.hi) {
            match lo.at.cmp(&hi.at) {
                Ordering::Greater => return Ok(None),
                Ordering::Equal => return Ok(Some(lo.at).filter(|at| self.has_dec(*at))),
                Ordering::Less => {}
            }
        }
        match self.step {
            Some(step) => self.member_on(step),
            None => self.member_between().map(Some),
        }
    }

    /// A multiple of the step: one period of all lattices is walked from the bound that is nearest to zero.
    fn member_on(&self, step: Dec) -> Result<Option<Dec>, Undecided> {
        if self.off.iter().any(|off| step.is_multiple_of(*off)) {
            return Ok(None);
        }
        let ends = [self.lo, self.hi].into_iter().flatten().map(|bound| bound.at);
        if let Some(end) = ends.clone().find(|end| self.has_dec(*end)) {
            return Ok(Some(end));
        }
        let whole = self.off.iter().try_fold(step, |whole, off| whole.lcm(*off));
        let period = whole.and_then(|whole| whole.quotient(step)).map_or(i128::MAX, |(period, _)| period);
        let least = self.lo.map(|lo| lo.at.quotient(step).map(|(_, up)| up).ok_or(Undecided::Numbers));
        let most = self.hi.map(|hi| hi.at.quotient(step).map(|(down, _)| down).ok_or(Undecided::Numbers));
        let (start, direction) = match (&least, &most) {
            (Some(Ok(least)), _) if *least > 0 => (*least, 1),
            (_, Some(Ok(most))) if *most < 0 => (*most, -1),
            // A bound too far out to count from: one on the far side of zero does no harm.
            (Some(Err(undecided)), _) if self.lo.is_some_and(|lo| lo.at.is_positive()) => {
                return Err(*undecided);
            }
            (_, Some(Err(undecided))) if self.hi.is_some_and(|hi| !hi.at.is_positive()) => {
                return Err(*undecided);
            }
            _ => (0, 0),
        };
        for n in 0..=period.saturating_add(1) {
            if n > WALK {
                return Err(Undecided::Numbers);
            }
            let mut inside = false;
            for sign in if direction == 0 { [1, -1] } else { [direction, direction] } {
                let Some(value) = step.times(start + sign * n) else { return Err(Undecided::Numbers) };
                if self.has_dec(value) {
                    return Ok(Some(value));
                }
                inside |= self.lo.is_none_or(|lo| value >= lo.at) && self.hi.is_none_or(|hi| value <= hi.at);
            }
            if !inside && n > 0 {
                break;
            }
        }
        Ok(None)
    }

    /// A number of an interval that is no point: there always is one, with as few digits as may be.
    fn member_between(&self) -> Result<Dec, Undecided> {
        let near = self.lo.or(self.hi).map_or(Dec::ZERO, |bound| bound.at);
        let far = self.hi.map_or(near, |bound| bound.at);
        let rounded = [near, far].into_iter().filter_map(|at| at.quotient(Dec::ONE));
        let whole = rounded.flat_map(|(down, up)| [up, down, up.saturating_add(1), down.saturating_sub(1)]);
        let integers = whole.filter_map(|n| Dec::ONE.times(n));
        let simple = [Dec::ZERO].into_iter().chain(integers).chain([near, far]);
        if let Some(value) = simple.clone().find(|value| self.has_dec(*value)) {
            return Ok(value);
        }
        // A number with more places than every lattice is on none of them.
        let lattices = self.off.iter().map(|off| off.power());
        let coarsest = lattices.chain([near.power(), far.power()]).min().unwrap_or(0).min(0);
        let from = if self.lo.is_none() && self.hi.is_some() { -1 } else { 1 };
        for places in 1..=i64::try_from(super::decimal::DIGITS).unwrap_or(30) {
            let Some(value) = near.plus(from, coarsest - places) else { break };
            if self.has_dec(value) {
                return Ok(value);
            }
        }
        Err(Undecided::Numbers)
    }
}

/// Whether a value that compares so to a lower bound is inside.
fn beyond(order: Ordering, inclusive: bool) -> bool {
    order == Ordering::Greater || (inclusive && order == Ordering::Equal)
}

/// The bound that leaves less: the greater lower one, the lesser upper one, at equality the exclusive one.
fn tighter(a: Option<Bound>, b: Option<Bound>, wanted: Ordering) -> Option<Bound> {
    match (a, b) {
        (Some(a), Some(b)) => Some(match a.at.cmp(&b.at) {
            Ordering::Equal => Bound { at: a.at, inclusive: a.inclusive && b.inclusive },
            order if order == wanted => a,
            _ => b,
        }),
        (a, b) => a.or(b),
    }
}

/// A union, single numbers (an `enum` may have thousands) apart from the rest.
struct Union<'n> {
    points: FxHashSet<Dec>,
    rest: Vec<&'n Num>,
}

impl<'n> Union<'n> {
    fn new(parts: &'n [Num]) -> Self {
        let rest = parts.iter().filter(|part| part.as_point().is_none()).collect();
        Self { points: parts.iter().filter_map(Num::as_point).collect(), rest }
    }

    fn has(&self, value: Dec) -> bool {
        self.points.contains(&value) || self.rest.iter().any(|part| part.has_dec(value))
    }
}

/// The numbers in both unions.
pub(crate) fn and(a: &[Num], b: &[Num]) -> Result<Vec<Num>, Undecided> {
    if *a == [Num::ANY] {
        return Ok(b.to_vec());
    }
    if *b == [Num::ANY] || a == b {
        return Ok(a.to_vec());
    }
    let (x, y) = (Union::new(a), Union::new(b));
    let points = |parts: &[Num], union: &Union<'_>, other: &Union<'_>| {
        let both = |part: &Num| part.as_point().is_some_and(|at| union.has(at) && other.has(at));
        parts.iter().filter(|part| both(part)).cloned().collect::<Vec<_>>()
    };
    let mut parts = points(a, &x, &y);
    parts.extend(
        points(b, &y, &x)
            .into_iter()
            .filter(|part| part.as_point().is_some_and(|at| !x.points.contains(&at))),
    );
    for x in &x.rest {
        for y in &y.rest {
            if x.is_apart(y) {
                continue;
            }
            let part = x.and(y)?;
            if !matches!(part.member(), Ok(None)) && !parts.contains(&part) {
                parts.push(part);
            }
            if parts.len() > PARTS {
                return Err(Undecided::Clauses);
            }
        }
    }
    Ok(parts)
}

/// The numbers of the first union that are not in the second.
pub(crate) fn minus(a: &[Num], b: &[Num]) -> Result<Vec<Num>, Undecided> {
    let out = Union::new(b);
    let mut holes: Vec<Dec> = out.points.iter().copied().collect();
    holes.sort_unstable();
    let mut rest: Vec<Num> = Vec::new();
    for part in a.iter().filter(|part| part.as_point().is_none()) {
        part.without_points(&holes, &mut rest);
    }
    for other in &out.rest {
        if rest.iter().all(|part| part.is_apart(other)) {
            continue;
        }
        let mut parts: Vec<Num> = Vec::with_capacity(rest.len() + 1);
        for part in rest {
            if part.is_apart(other) {
                parts.push(part);
            } else if part != **other {
                for outside in other.complement() {
                    let left = part.and(&outside)?;
                    if !matches!(left.member(), Ok(None)) {
                        parts.push(left);
                    }
                }
            }
        }
        rest = parts;
        if rest.len() > PARTS {
            break;
        }
    }
    rest.extend(a.iter().filter(|part| part.as_point().is_some_and(|at| !out.has(at))).cloned());
    if rest.len() > PARTS { Err(Undecided::Clauses) } else { Ok(rest) }
}

/// What meeting two unions, or taking one out of the other, costs in comparisons of parts.
pub(crate) fn cost(a: &[Num], b: &[Num]) -> usize {
    let rest = |parts: &[Num]| parts.iter().filter(|part| part.as_point().is_none()).count();
    a.len() + b.len() + rest(a).saturating_mul(b.len()) + rest(b).saturating_mul(a.len())
}

/// A number of the union; `None` is proof that there is none.
pub(crate) fn member(parts: &[Num]) -> Result<Option<Dec>, Undecided> {
    let mut undecided = None;
    for part in parts {
        match part.member() {
            Ok(Some(value)) => return Ok(Some(value)),
            Ok(None) => {}
            Err(reason) => undecided = Some(reason),
        }
    }
    undecided.map_or(Ok(None), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dec(text: &str) -> Dec {
        Dec::from_number(&Number::parse(text).unwrap()).unwrap()
    }

    /// `lo..hi`, inclusive with brackets, on a lattice, off others.
    fn num(lo: &str, hi: &str, step: &str, off: &[&str]) -> Num {
        let bound = |text: &str, open: char| {
            let at = text.trim_matches(['(', ')', '[', ']']);
            (!at.is_empty()).then(|| Bound { at: dec(at), inclusive: !text.contains(open) })
        };
        let step = (!step.is_empty()).then(|| dec(step));
        Num { lo: bound(lo, '('), hi: bound(hi, ')'), step, off: off.iter().map(|off| dec(off)).collect() }
    }

    fn has(part: &Num, text: &str) -> bool {
        part.has(&Number::parse(text).unwrap())
    }

    #[test]
    fn bounds_are_inclusive_or_not() {
        let part = num("[1", "2)", "", &[]);
        assert!(has(&part, "1") && has(&part, "1.99999999999999999999999999999999999999"));
        assert!(!has(&part, "2") && !has(&part, "0.99999999999999999999999999999999999999"));
    }

    #[test]
    fn an_integer_of_any_length_is_an_integer() {
        let integers = Num::integers();
        assert!(has(&integers, "12345678910111213141516171819202122232425262728293031"));
        assert!(has(&integers, "1.0") && has(&integers, "1e308") && !has(&integers, "1.5"));
    }

    #[test]
    fn a_member_is_in_the_set_and_none_means_empty() {
        for (lo, hi, step, off, there) in [
            ("", "", "", &[][..], true),
            ("(0", "1)", "", &[], true),
            ("(0", "1)", "1", &[], false),
            ("[1", "1]", "", &[], true),
            ("[1", "1)", "", &[], false),
            ("[2", "1]", "", &[], false),
            ("(0", "1)", "0.5", &[], true),
            ("[1", "", "3", &["9"], true),
            ("[1", "", "3", &["1.5"], false),
            ("[2", "3]", "", &["1"], true),
            ("[9", "9.00000000000000000001)", "", &["1"], true),
            ("", "-1e300]", "", &[], true),
            ("[1e308", "", "1", &[], true),
            ("[5", "9]", "10", &[], false),
            ("[-9", "-5]", "10", &[], false),
            ("", "-5)", "10", &["20"], true),
        ] {
            let part = num(lo, hi, step, off);
            let member = part.member().unwrap();
            assert_eq!(member.is_some(), there, "{part:?}");
            assert!(member.is_none_or(|member| part.has(&member.to_number())), "{part:?} {member:?}");
        }
    }

    #[test]
    fn a_set_and_its_complement_share_nothing_and_leave_nothing() {
        let set = [num("[0", "10)", "0.5", &[]), num("[20", "", "", &["3"])];
        let rest = minus(&[Num::ANY], &set).unwrap();
        assert_eq!(member(&and(&set, &rest).unwrap()).unwrap(), None);
        for text in ["-1", "0", "0.25", "0.5", "9.5", "10", "15", "20", "21", "21.5", "24", "1e300"] {
            let number = Number::parse(text).unwrap();
            let inside = set.iter().any(|part| part.has(&number));
            assert_eq!(rest.iter().any(|part| part.has(&number)), !inside, "{text}");
        }
    }

    #[test]
    fn what_needs_too_many_digits_is_undecided() {
        let (a, b) = (num("", "", "1e-300", &[]), num("", "", "7", &[]));
        assert_eq!(a.and(&b), Err(Undecided::Numbers));
    }
}
