//! Sets of numbers, in the forms that llama.rn's converter reads right.

use super::parts::{Piece, UNREAD, bare};
use super::readable::{BOUND, LAST, end_is_read, is_plain};
use super::spoken;
use super::write::Writer;
use crate::json::Value;
use crate::schema::decimal::Dec;
use crate::schema::grammar::notes::Schemas;
use crate::schema::number::{Bound, Num};

impl<'s> Writer<'s> {
    pub(super) fn numbers(
        &mut self,
        parts: &[Num],
        schemas: &Schemas<'s>,
        constants: &mut Vec<Value>,
        list: &mut Vec<Piece>,
    ) {
        const LOWER: &[&str] = &["minimum", "exclusiveMinimum"];
        const UPPER: &[&str] = &["maximum", "exclusiveMaximum"];
        const STEP: &[&str] = &["multipleOf"];
        const LONG: &str = "llama.rn cannot write bounds of so many digits";
        if parts.is_empty() {
            return;
        }
        let points: Vec<Dec> = parts.iter().map_while(spoken::point).collect();
        let numbers: Vec<crate::json::Number> = points.iter().map(|point| point.to_number()).collect();
        if points.len() == parts.len() && numbers.iter().all(is_plain) {
            return constants.extend(numbers.into_iter().map(Value::Number));
        }
        let outer = std::mem::take(&mut self.told);
        let number = if !parts.iter().all(Num::is_integral) {
            if *parts != [Num::ANY] {
                self.change(schemas, &[STEP, LOWER, UPPER].concat(), UNREAD);
                self.tell_all(spoken::numbers(parts));
            }
            bare("number")
        } else if parts.iter().any(is_far) {
            let reason = "llama.rn writes integers of at most 16 digits: any number passes while decoding";
            self.change(schemas, &[STEP, LOWER, UPPER].concat(), reason);
            self.tell("integer".to_owned());
            self.tell_all(spoken::numbers(parts));
            bare("number")
        } else {
            let mut number = bare("integer");
            let lo = parts.iter().map(|part| part.lo).min_by(|a, b| order(*a, *b, false)).flatten();
            let hi = parts.iter().map(|part| part.hi).max_by(|a, b| order(*a, *b, true)).flatten();
            let mut lost = parts.first().cloned().unwrap_or_default();
            let (least, most) = (lo.map(|lo| whole(lo, true)), hi.map(|hi| whole(hi, false)));
            let bounds = [("minimum", LOWER, least, &mut lost.lo), ("maximum", UPPER, most, &mut lost.hi)];
            for (name, keywords, bound, lost) in bounds {
                match bound {
                    None => {}
                    Some(Some(bound)) => {
                        let _ = number.insert(name, bound.into());
                        *lost = None;
                    }
                    Some(None) => self.change(schemas, keywords, LONG),
                }
            }
            let (least, most) = (least.flatten(), most.flatten());
            if least.is_none() != most.is_none() && !end_is_read(least.map(i128::from), most.map(i128::from))
            {
                const ALONE: &str =
                    "llama.rn misreads it without another bound: the end of its integers is one";
                let (name, keywords, end) =
                    if most.is_none() { ("maximum", LOWER, LAST) } else { ("minimum", UPPER, -LAST) };
                self.change(schemas, keywords, ALONE);
                let _ = number.insert(name, end.into());
            }
            if parts.len() > 1 {
                self.change(schemas, &[STEP, LOWER, UPPER].concat(), UNREAD);
                self.tell_all(spoken::numbers(parts));
            } else {
                if lost.step != Some(Dec::ONE) || !lost.off.is_empty() {
                    self.change(schemas, STEP, UNREAD);
                }
                self.tell_all(spoken::numbers(&[lost]));
            }
            number
        };
        let told = std::mem::replace(&mut self.told, outer);
        list.push(Piece { schema: number, told });
    }
}

/// The order of two bounds, nothing being the end of all numbers on their side.
fn order(a: Option<Bound>, b: Option<Bound>, upper: bool) -> std::cmp::Ordering {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let (below, above) = if upper { (Less, Greater) } else { (Greater, Less) };
    match (a, b) {
        (None, None) => Equal,
        (None, Some(_)) => above,
        (Some(_), None) => below,
        (Some(a), Some(b)) => a.at.cmp(&b.at),
    }
}

/// Whether integers of more than 16 digits are what a set is about: the converter's `integer` would leave them out, where
/// its `number` writes 17 digits and an exponent.
fn is_far(part: &Num) -> bool {
    let digits = |at: Dec| {
        let (mantissa, power) = at.parts();
        i64::try_from(mantissa.unsigned_abs().to_string().len()).unwrap_or(i64::MAX) + power
    };
    // The bound nearer to zero has to leave room for numbers beyond it.
    let beyond =
        |bound: Option<Bound>, near: bool| bound.is_some_and(|bound| digits(bound.at) + i64::from(near) > 16);
    beyond(part.lo, part.hi.is_none() && part.lo.is_some_and(|lo| lo.at.is_positive()))
        || beyond(part.hi, part.lo.is_none() && part.hi.is_some_and(|hi| !hi.at.is_positive()))
        || part.step.is_some_and(|step| digits(step) > 16)
}

/// The integer at or inside a bound; nothing where it has too many digits.
fn whole(bound: Bound, lower: bool) -> Option<i64> {
    let (mantissa, power) = bound.at.parts();
    let (floor, exact) = if power >= 0 {
        let scale = 10i128.checked_pow(u32::try_from(power).ok()?)?;
        (mantissa.checked_mul(scale)?, true)
    } else {
        let scale = 10i128.checked_pow(u32::try_from(-power).ok()?)?;
        (mantissa.div_euclid(scale), false)
    };
    let inside = match (exact, lower) {
        (true, true) => floor + i128::from(!bound.inclusive),
        (true, false) => floor - i128::from(!bound.inclusive),
        (false, true) => floor + 1,
        (false, false) => floor,
    };
    (inside.abs() < BOUND).then_some(inside).and_then(|bound| i64::try_from(bound).ok())
}
