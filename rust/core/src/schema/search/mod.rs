//! The emptiness test: is anything in a set, and if so, what?

mod array;
mod budget;
mod normal;
mod object;
mod witness;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use budget::Budget;
pub(crate) use normal::strings;
pub(crate) use witness::Witness;

use super::arena::{Arena, Expr, Id};
use super::array::Arr;
use super::disjoint::plainly_disjoint;
use super::number;
use super::object::Obj;
use super::set::Set;
use super::string::Products;
use super::undecided::Undecided;

/// The parts of sets (or words) that are compared when it is asked whether sets plainly share nothing.
const GLANCES: usize = 256;
/// The operands of an expression that are put together for one step.
const OPERANDS: usize = 4;
/// The frames of the search on the stack at once: phones' threads have 512 KiB.
const FRAMES: u32 = 128;

/// A search over the sets of an arena, which grows as sets are combined.
///
/// Answers are exact or [`Undecided`]; the work is bounded by steps over the life of a search.
pub(crate) struct Search {
    pub(crate) arena: Arena,
    pub(crate) products: Products,
    /// Normal forms, by id.
    sets: Vec<Option<Arc<Set>>>,
    /// Proven: a member, or that there is none.
    members: FxHashMap<Id, Option<Witness>>,
    /// The ids whose members are being looked for. On the stack an id counts as empty: a member is finite.
    stack: Vec<Id>,
    /// The lowest place of the stack on whose emptiness an answer was built.
    lowest: usize,
    /// `oneOf`s that are being taken apart.
    expanding: FxHashSet<Id>,
    /// What is left of the budget.
    steps: u32,
    frames: u32,
}

impl Search {
    /// For questions about one schema.
    pub(crate) fn new(arena: Arena) -> Self {
        Self::within(arena, Budget::SCHEMA)
    }

    pub(crate) fn within(mut arena: Arena, budget: Budget) -> Self {
        arena.take_work();
        Self {
            arena,
            products: Products::within(budget.automata),
            sets: Vec::new(),
            members: FxHashMap::default(),
            stack: Vec::new(),
            lowest: usize::MAX,
            expanding: FxHashSet::default(),
            steps: budget.steps,
            frames: 0,
        }
    }

    /// Another budget in place of what is left, for another question.
    pub(crate) fn refill(&mut self, budget: Budget) {
        self.steps = budget.steps;
        self.products.refill(budget.automata);
    }

    /// A search that may take so many times as long, for a reader that asks about every part of a schema.
    pub(crate) fn times(arena: Arena, times: u32) -> Self {
        Self::within(arena, Budget::SCHEMA.times(times))
    }

    /// Whether a clause of objects is empty.
    pub(crate) fn has_no_object(&mut self, pos: &Obj, negatives: &[Obj]) -> Result<bool, Undecided> {
        Ok(self.object(pos, negatives)?.is_none())
    }

    /// Whether a clause of arrays is empty.
    pub(crate) fn has_no_array(&mut self, pos: &Arr, negatives: &[Arr]) -> Result<bool, Undecided> {
        Ok(self.array(pos, negatives)?.is_none())
    }

    /// A value of the set; `None` is proof that there is none. "Absent" is no value.
    pub(crate) fn member(&mut self, id: Id) -> Result<Option<Witness>, Undecided> {
        if id == Id::NEVER || id == Id::ABSENT {
            return Ok(None);
        }
        if let Some(known) = self.members.get(&id) {
            return Ok(known.clone());
        }
        if let Some(place) = self.stack.iter().position(|busy| *busy == id) {
            self.lowest = self.lowest.min(place);
            return Ok(None);
        }
        let here = self.stack.len();
        let outer = std::mem::replace(&mut self.lowest, usize::MAX);
        self.stack.push(id);
        let found = self.framed(|search| search.member_of(id));
        self.stack.pop();
        let used = self.lowest;
        self.lowest = outer.min(if used < here { used } else { usize::MAX });
        let found = found?;
        // A "no" that rests on the emptiness of something further down is not proven yet.
        if found.is_some() || used >= here {
            self.members.insert(id, found.clone());
        }
        Ok(found)
    }

    /// Whether no value is in the set.
    pub(crate) fn is_empty(&mut self, id: Id) -> Result<bool, Undecided> {
        Ok(!self.arena.facts(id).inhabited && self.member(id)?.is_none())
    }

    /// The steps that are left.
    #[cfg(test)]
    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// What is left of the budget.
    pub(crate) fn left(&self) -> Budget {
        Budget { steps: self.steps, automata: self.products.left() }
    }

    fn member_of(&mut self, id: Id) -> Result<Option<Witness>, Undecided> {
        if self.is_plainly_empty(id) {
            return Ok(None);
        }
        let set = self.normal(id)?;
        if let Some(scalar) = Witness::of_constants(&set) {
            return Ok(Some(scalar));
        }
        let mut first = FirstFound::default();
        if let Some(number) = first.note(number::member(&set.num))? {
            return Ok(Some(Witness::number(number)));
        }
        for part in &set.str {
            if let Some(word) = first.note(self.products.member(part))? {
                return Ok(Some(Witness::string(word)));
            }
        }
        for clause in &set.arr {
            let found = self.array(&clause.pos, &clause.neg);
            if let Some(array) = first.note(found)? {
                return Ok(Some(array));
            }
        }
        for clause in &set.obj {
            let found = self.object(&clause.pos, &clause.neg);
            if let Some(object) = first.note(found)? {
                return Ok(Some(object));
            }
        }
        first.end()
    }

    /// Whether a field may be anything, a value or absent.
    fn is_possible(&mut self, id: Id) -> Result<bool, Undecided> {
        if !self.arena.facts(id).present && self.normal(id)?.absent {
            return Ok(true);
        }
        Ok(!self.is_empty(id)?)
    }

    /// Whether two parts of a conjunction plainly share nothing.
    fn is_plainly_empty(&mut self, id: Id) -> bool {
        let Expr::And(ids) = self.arena.expr(id) else { return false };
        let mut left = GLANCES;
        let pairs = ids.iter().enumerate().flat_map(|(at, a)| ids.iter().take(at).map(move |b| (*a, *b)));
        let mut empty = false;
        for (a, b) in pairs {
            // Thousands of operands have millions of pairs.
            if left == 0 || empty {
                break;
            }
            empty = plainly_disjoint(&self.arena, a, b, &mut left);
        }
        self.paid_for(GLANCES - left);
        empty
    }

    fn are_plainly_disjoint(&mut self, a: Id, b: Id) -> bool {
        let mut left = GLANCES;
        let disjoint = plainly_disjoint(&self.arena, a, b, &mut left);
        self.paid_for(GLANCES - left);
        disjoint
    }

    /// Takes the price of comparisons at a glance, which end by themselves, from what is left.
    fn paid_for(&mut self, glances: usize) {
        self.steps = self.steps.saturating_sub(u32::try_from(glances / 4).unwrap_or(u32::MAX));
    }

    /// Runs one level of the search, within the bounds of steps and stack.
    fn framed<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Undecided>) -> Result<T, Undecided> {
        self.pay(budget::FRAME)?;
        if self.frames >= FRAMES {
            return Err(Undecided::Depth);
        }
        self.frames += 1;
        let result = run(self);
        self.frames -= 1;
        result
    }

    /// Pays for some steps of work, and for what was put together in the arena meanwhile.
    fn pay(&mut self, steps: usize) -> Result<(), Undecided> {
        let steps = steps.saturating_add(self.arena.take_work() / OPERANDS);
        let left = u32::try_from(steps).ok().and_then(|steps| self.steps.checked_sub(steps));
        self.steps = left.unwrap_or(0);
        left.map(drop).ok_or(Undecided::Steps)
    }

    /// Runs with an empty stack, so that the answer rests on no assumption.
    fn unassuming<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let stack = std::mem::take(&mut self.stack);
        let lowest = std::mem::replace(&mut self.lowest, usize::MAX);
        let result = run(self);
        self.stack = stack;
        self.lowest = lowest;
        result
    }
}

/// An undecided branch does not end a search: another may yield a member. Only used-up steps do.
#[derive(Default)]
struct FirstFound {
    undecided: Option<Undecided>,
}

impl FirstFound {
    /// What a branch yields, an undecided one being remembered.
    fn note<T>(&mut self, found: Result<Option<T>, Undecided>) -> Result<Option<T>, Undecided> {
        match found {
            Ok(found) => Ok(found),
            Err(Undecided::Steps) => Err(Undecided::Steps),
            Err(undecided) => {
                self.undecided = Some(undecided);
                Ok(None)
            }
        }
    }

    /// Nothing was found: that is a proof only when every branch was decided.
    fn end<T>(self) -> Result<Option<T>, Undecided> {
        self.undecided.map_or(Ok(None), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::testing::{broken, closed, open};

    /// The witness of a schema, which the schema takes.
    fn witness(schema: &str) -> String {
        let schema = open(schema);
        let found = Search::new(schema.0.arena.clone()).member(schema.0.root).unwrap().unwrap();
        let value = found.value().unwrap();
        assert_eq!(schema.accepts(&value), Ok(()), "{} {value}", schema.source());
        value.to_text()
    }

    #[test]
    fn a_witness_is_simple() {
        for (schema, expected) in [
            ("true", "null"),
            (r#"{"type": "string", "minLength": 3}"#, "\"aaa\""),
            (r#"{"type": "string", "pattern": "^[0-9]+-x$"}"#, "\"0-x\""),
            (r#"{"type": "integer", "exclusiveMinimum": 6, "multipleOf": 4}"#, "8"),
            (r#"{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}"#, "0.1"),
            (
                r#"{"type": "array", "minItems": 2, "items": {"type": "integer"}, "uniqueItems": true}"#,
                "[0,-1]",
            ),
            (r#"{"type": "array", "contains": {"type": "string"}}"#, "[\"\"]"),
            (
                r#"{"type": "object", "required": ["b", "a"], "properties": {"a": {"type": "null"}}}"#,
                r#"{"a":null,"b":null}"#,
            ),
            (
                r#"{"type": "object", "minProperties": 2, "additionalProperties": {"type": "boolean"}}"#,
                r#"{"":false,"a":false}"#,
            ),
            (
                r#"{"type": "object", "minProperties": 1, "propertyNames": {"pattern": "^k.$"}}"#,
                r#"{"ka":null}"#,
            ),
            (r#"{"enum": [{"x": [1]}]}"#, r#"{"x":[1]}"#),
        ] {
            assert_eq!(witness(schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_witness_leaves_every_excluded_set() {
        for schema in [
            r#"{"type": "object", "not": {"additionalProperties": {"type": "string"}}}"#,
            r#"{"type": "object", "not": {"patternProperties": {"^x": {"type": "string"}}}, "maxProperties": 1}"#,
            r#"{"type": "array", "not": {"uniqueItems": true}, "items": {"type": "integer"}}"#,
            r#"{"type": "array", "not": {"contains": {"const": 1}, "minContains": 2}, "minItems": 3}"#,
            r#"{"type": "array", "contains": {"multipleOf": 2}, "minContains": 2, "maxContains": 2, "minItems": 4, "items": {"type": "integer"}}"#,
            r#"{"type": "object", "allOf": [{"not": {"required": ["a"]}}, {"not": {"minProperties": 3}}, {"not": {"maxProperties": 1}}]}"#,
            r#"{"oneOf": [{"type": "object", "properties": {"a": {"const": 1}}}, {"type": "object", "properties": {"b": {"const": 1}}}]}"#,
            r#"{"type": "integer", "allOf": [{"not": {"multipleOf": 2}}, {"not": {"multipleOf": 3}}, {"not": {"const": 1}}, {"minimum": 0}]}"#,
            r#"{"type": "string", "not": {"enum": ["", "a"]}, "maxLength": 1}"#,
        ] {
            witness(schema);
        }
    }

    #[test]
    fn recursion_is_decided_by_finite_members() {
        // Every number is a sum of two smaller ones, for ever; with a leaf it ends.
        let tree = |leaf: &str| {
            format!(
                r##"{{"$ref": "#/$defs/e", "$defs": {{"e": {{"oneOf": [{{"$ref": "#/$defs/add"}}, {{"$ref": "#/$defs/neg"}}{leaf}]}},
                    "add": {{"type": "object", "properties": {{"l": {{"$ref": "#/$defs/e"}}, "r": {{"$ref": "#/$defs/e"}}}}, "required": ["l", "r"]}},
                    "neg": {{"type": "object", "properties": {{"of": {{"$ref": "#/$defs/e"}}}}, "required": ["of"]}}}}}}"##
            )
        };
        assert_eq!(broken(&tree(""))[0].0, "schema.unsatisfiable");
        closed(&tree(r#", {"type": "integer"}"#));
        // An even and an odd list of equal length do not meet.
        let lists = r##"{"type": "array", "allOf": [{"$ref": "#/$defs/even"}, {"$ref": "#/$defs/odd"}], "$defs": {
            "even": {"anyOf": [{"const": []}, {"type": "array", "prefixItems": [true, {"$ref": "#/$defs/odd"}], "minItems": 2, "maxItems": 2}]},
            "odd": {"type": "array", "prefixItems": [true, {"$ref": "#/$defs/even"}], "minItems": 2, "maxItems": 2}}}"##;
        assert_eq!(broken(lists)[0].0, "schema.unsatisfiable");
    }

    #[test]
    fn a_difference_of_equal_sets_is_empty_and_cheap() {
        let schema = open(
            r##"{"prefixItems": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}], "$defs": {
                "a": {"type": "object", "properties": {"v": {"type": "integer"}, "n": {"$ref": "#/$defs/a"}}, "additionalProperties": false},
                "b": {"type": "object", "properties": {"n": {"$ref": "#/$defs/b"}, "v": {"type": "integer"}}, "additionalProperties": false}}}"##,
        );
        let set = schema.0.arena.leaf_of(schema.0.root).unwrap();
        let (a, b) = (set.arr[0].pos.at(0), set.arr[0].pos.at(1));
        let mut search = Search::new(schema.0.arena.clone());
        for (a, b) in [(a, b), (b, a)] {
            let wider = search.arena.diff(a, b);
            assert_eq!(search.is_empty(wider), Ok(true));
        }
        let spent = Budget::SCHEMA.steps - search.steps;
        assert!(spent < 500, "{spent}");
    }
}
