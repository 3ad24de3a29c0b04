//! Is a value in a set? Decided on the expressions as they were compiled, without normal forms.

use rustc_hash::FxHashMap;

use super::arena::{Arena, Expr, Id};
use super::array::Arr;
use super::object::Obj;
use super::set::Set;
use super::string::within;
use crate::json::{Object, Value};

/// The steps that any value may cost, and those that each scalar, array and object of it adds.
const STEPS: u64 = 100_000;
const STEPS_PER_VALUE: u64 = 32;
/// From this many steps on, answers about arrays and objects are remembered.
const REMEMBER: u64 = 2_000;
/// The most answers that are remembered: a bound for memory.
const REMEMBERED: usize = 100_000;
/// The deepest nesting of expressions and values that is looked into. Arguments nest 32 levels.
const FRAMES: u32 = 600;

/// The question was given up: it took too many steps, or went too deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// Decides about the parts of one value.
pub(crate) struct Judge<'a> {
    arena: &'a Arena,
    root: &'a Value,
    steps: u64,
    allowed: u64,
    frames: u32,
    known: FxHashMap<(Id, usize), bool>,
}

impl<'a> Judge<'a> {
    /// For questions about `root` and what is in it.
    pub(crate) fn new(arena: &'a Arena, root: &'a Value) -> Self {
        Self { arena, root, steps: 0, allowed: STEPS, frames: 0, known: FxHashMap::default() }
    }

    /// Whether the value is in the set.
    pub(crate) fn has(&mut self, id: Id, value: &Value) -> Result<bool, Exhausted> {
        if id == Id::PRESENT || id == Id::ANY {
            return Ok(true);
        }
        self.step()?;
        if self.frames >= FRAMES {
            return Err(Exhausted);
        }
        let remembered = self.steps > REMEMBER && matches!(value, Value::Array(_) | Value::Object(_));
        let key = (id, std::ptr::from_ref(value) as usize);
        if remembered && let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        self.frames += 1;
        let answer = self.judge(id, value);
        self.frames -= 1;
        if remembered
            && self.known.len() < REMEMBERED
            && let Ok(answer) = answer
        {
            self.known.insert(key, answer);
        }
        answer
    }

    fn judge(&mut self, id: Id, value: &Value) -> Result<bool, Exhausted> {
        match self.arena.expr(id) {
            Expr::Leaf(set) => self.in_set(set, value),
            Expr::And(ids) => {
                for id in ids {
                    if !self.has(*id, value)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Expr::Or(ids) => {
                for id in ids {
                    if self.has(*id, value)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Expr::One(ids) => {
                let mut one = false;
                for id in ids {
                    if self.has(*id, value)? {
                        if one {
                            return Ok(false);
                        }
                        one = true;
                    }
                }
                Ok(one)
            }
            Expr::Not(id) => Ok(!self.has(*id, value)?),
            Expr::Ref(reference) => match self.arena.target(*reference) {
                Some(target) => self.has(target, value),
                None => Ok(false),
            },
        }
    }

    fn in_set(&mut self, set: &Set, value: &Value) -> Result<bool, Exhausted> {
        Ok(match value {
            Value::Null => set.null,
            Value::Bool(true) => set.tru,
            Value::Bool(false) => set.fals,
            Value::Number(number) => set.num.iter().any(|part| part.has(number)),
            Value::String(text) => set.str.iter().any(|part| part.has(text)),
            Value::Array(items) => {
                for clause in &set.arr {
                    if self.in_array(&clause.pos, items)? && !self.in_any_array(&clause.neg, items)? {
                        return Ok(true);
                    }
                }
                false
            }
            Value::Object(object) => {
                for clause in &set.obj {
                    if self.in_object(&clause.pos, object)? && !self.in_any_object(&clause.neg, object)? {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }

    fn in_any_array(&mut self, sets: &[Arr], items: &[Value]) -> Result<bool, Exhausted> {
        for set in sets {
            if self.in_array(set, items)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn in_any_object(&mut self, sets: &[Obj], object: &Object) -> Result<bool, Exhausted> {
        for set in sets {
            if self.in_object(set, object)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn in_array(&mut self, set: &Arr, items: &[Value]) -> Result<bool, Exhausted> {
        if !within(items.len() as u64, set.length) {
            return Ok(false);
        }
        for (place, item) in items.iter().enumerate() {
            if !self.has(set.at(place), item)? {
                return Ok(false);
            }
        }
        for count in &set.counts {
            let mut found = 0;
            for item in items {
                found += u64::from(self.has(count.of, item)?);
            }
            if !within(found, count.count) {
                return Ok(false);
            }
        }
        Ok(!set.unique || all_differ(items))
    }

    fn in_object(&mut self, set: &Obj, object: &Object) -> Result<bool, Exhausted> {
        if !within(object.len() as u64, set.count) {
            return Ok(false);
        }
        let mut declared = 0;
        for (name, id) in set.fields.iter() {
            match object.get(name) {
                Some(value) => {
                    declared += 1;
                    if !self.has(id, value)? {
                        return Ok(false);
                    }
                }
                None if !self.may_be_absent(id)? => return Ok(false),
                None => {}
            }
        }
        if declared == object.len() {
            return Ok(true);
        }
        for (name, value) in object.iter() {
            if set.fields.get(name).is_none() && !self.has(set.class(name), value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether "absent" is in the set.
    fn may_be_absent(&mut self, id: Id) -> Result<bool, Exhausted> {
        if self.arena.facts(id).present {
            return Ok(false);
        }
        self.step()?;
        Ok(match self.arena.expr(id) {
            Expr::Leaf(set) => set.absent,
            Expr::And(ids) => {
                for id in ids {
                    if !self.may_be_absent(*id)? {
                        return Ok(false);
                    }
                }
                true
            }
            Expr::Or(ids) => {
                for id in ids {
                    if self.may_be_absent(*id)? {
                        return Ok(true);
                    }
                }
                false
            }
            Expr::Not(id) => !self.may_be_absent(*id)?,
            Expr::One(_) | Expr::Ref(_) => false,
        })
    }

    fn step(&mut self) -> Result<(), Exhausted> {
        self.steps += 1;
        if self.steps > self.allowed {
            if self.allowed > STEPS {
                return Err(Exhausted);
            }
            self.allowed = STEPS + 1 + STEPS_PER_VALUE * size(self.root);
        }
        Ok(())
    }
}

/// How many scalars, arrays and objects a value is made of.
fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(object) => 1 + object.values().map(size).sum::<u64>(),
        _ => 1,
    }
}

/// Whether no two items are equal: `1` and `1.0` are, and objects whatever the order of their members.
pub(crate) fn all_differ(items: &[Value]) -> bool {
    if items.len() <= 8 {
        return items.iter().enumerate().all(|(at, item)| !items.iter().take(at).any(|other| other == item));
    }
    // One spelling per value, sorted: no choice of values makes that slow.
    let mut spellings: Vec<String> = items.iter().map(spelling).collect();
    spellings.sort_unstable();
    spellings.windows(2).all(|pair| !matches!(pair, [a, b] if a == b))
}

/// A text that is the same for equal values only.
fn spelling(value: &Value) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Number(number) => {
                let decimal = number.decimal();
                let sign = if decimal.negative { "-" } else { "" };
                out.push_str(sign);
                out.push_str(&decimal.digits);
                out.push('e');
                out.push_str(&decimal.exponent.to_string());
            }
            Value::Array(items) => {
                out.push('[');
                for item in items {
                    write(item, out);
                    out.push(',');
                }
                out.push(']');
            }
            Value::Object(object) => {
                let mut members: Vec<_> = object.iter().collect();
                members.sort_unstable_by_key(|(name, _)| name.as_str());
                out.push('{');
                for (name, value) in members {
                    Value::String(name.clone()).write(out);
                    out.push(':');
                    write(value, out);
                    out.push(',');
                }
                out.push('}');
            }
            other => other.write(out),
        }
    }
    let mut out = String::new();
    write(value, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_text;

    #[test]
    fn items_differ_by_value_not_by_spelling() {
        let items = |text: &str| read_text(text).unwrap().as_array().unwrap().to_vec();
        for (text, differ) in [
            ("[1, 1.0]", false),
            ("[{\"a\":1,\"b\":2}, {\"b\":2.0,\"a\":1}]", false),
            ("[1, true]", true),
            ("[0, false, null, \"\", [], {}]", true),
            ("[[1],[1.0]]", false),
        ] {
            assert_eq!(all_differ(&items(text)), differ, "{text}");
            let padding = (0..20).map(|n| Value::from(format!("p{n}")));
            let many: Vec<_> = items(text).into_iter().chain(padding).collect();
            assert_eq!(all_differ(&many), differ, "{text}");
        }
    }
}
