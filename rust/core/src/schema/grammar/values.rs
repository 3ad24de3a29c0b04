//! Sets of any values as rules: one rule per set, by a work list.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use smol_str::SmolStr;

use super::arrays::Array;
use super::chars::escaped;
use super::formats::{self, FormatRules};
use super::notes::{Notes, Place, Step};
use super::numbers::Numbers;
use super::objects::Objects;
use super::rules::Rules;
use super::sets::Sets;
use super::shared::Shared;
use super::strings::{Scope, Strings};
use crate::schema::arena::{Arena, Id};
use crate::schema::array::Arr;
use crate::schema::set::Set;
use crate::schema::string::{Str, Words};
use crate::schema::strings::{ANY_LENGTH, formats as known_formats};

/// The longest constant that is repeated where it is used, in bytes.
const SHORT: usize = 48;

/// The work that may go into taking objects apart, in fields copied.
const PURSE: usize = 1_000_000;

/// How a value is written where it stands.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Shared(Shared),
    Format(&'static FormatRules),
    /// A rule, and its number: it is written once it is used.
    Rule(SmolStr, usize),
    /// Exactly this text.
    Constant(SmolStr),
}

impl Value {
    pub(super) fn write(&self, rules: &mut Rules) {
        match self {
            Self::Shared(shared) => rules.shared(*shared),
            Self::Format(format) => rules.format(format),
            Self::Rule(name, number) => rules.used(name, *number),
            Self::Constant(text) => rules.writer.literal(text),
        }
    }
}

/// Writes the sets of one schema as rules.
pub(super) struct Values<'a, 's> {
    pub(super) rules: &'a mut Rules,
    pub(super) sets: Sets<'s>,
    pub(super) notes: Notes,
    /// Whether the grammar has to be short, at the price of being wider.
    pub(super) short: bool,
    /// The work that may still go into taking objects apart.
    purse: usize,
    known: FxHashMap<Id, Value>,
    open: Vec<Open>,
}

/// A set with a name and without a rule.
#[derive(Debug, Clone)]
struct Open {
    id: Id,
    name: SmolStr,
    number: usize,
    place: Place,
}

impl<'a, 's> Values<'a, 's> {
    pub(super) fn new(rules: &'a mut Rules, arena: &'s Arena, short: bool) -> Self {
        let (sets, notes) = (Sets::new(arena), Notes::default());
        Self { rules, sets, notes, short, purse: PURSE, known: FxHashMap::default(), open: Vec::new() }
    }

    /// Takes from the work that may go into taking objects apart; says whether that was left.
    pub(super) fn spend(&mut self, work: usize) -> bool {
        let left = self.purse.checked_sub(work);
        self.purse = left.unwrap_or(0);
        left.is_some()
    }

    /// Writes the rule of a set, and all that it needs. The name is `root`, or was given for this.
    pub(super) fn write(&mut self, id: Id, name: SmolStr) {
        let id = self.sets.target(id);
        let number = self.rules.number();
        self.known.insert(id, Value::Rule(name.clone(), number));
        self.rules.mark(number);
        self.open.push(Open { id, name, number, place: Place::ROOT });
        // First come, first written: the rules read from the outside in. What is not used yet waits.
        let mut waiting: Vec<Open> = Vec::new();
        let mut next = 0;
        while !self.rules.is_full() {
            let open = if let Some(open) = self.open.get(next) {
                next += 1;
                open.clone()
            } else if let Some(place) = waiting.iter().position(|open| self.rules.is_used(open.number)) {
                waiting.remove(place)
            } else {
                break;
            };
            if self.rules.is_used(open.number) {
                self.rule(open.id, &open.name, open.place);
            } else {
                waiting.push(open);
            }
        }
    }

    /// How a set is written where it is used. A rule of its own is named like `hint`.
    pub(super) fn value(&mut self, id: Id, hint: &str, from: Place, step: impl FnOnce() -> Step) -> Value {
        let id = self.sets.target(id);
        let shared = match id {
            Id::BOOLEAN => Shared::Boolean,
            Id::INTEGER => Shared::Integer,
            Id::NUMBER => Shared::Number,
            Id::STRING => Shared::String,
            Id::ARRAY => Shared::Array,
            Id::OBJECT => Shared::Object,
            Id::ANY | Id::PRESENT => Shared::Value,
            _ => {
                if let Some(known) = self.known.get(&id) {
                    return known.clone();
                }
                let value = self.sets.normal(id).ok().and_then(|set| plain(&set)).unwrap_or_else(|| {
                    let name = self.rules.names.like(hint);
                    let place = self.notes.step(from, step());
                    let number = self.rules.number();
                    self.open.push(Open { id, name: name.clone(), number, place });
                    Value::Rule(name, number)
                });
                self.known.insert(id, value.clone());
                return value;
            }
        };
        Value::Shared(shared)
    }

    /// Writes the rule of a set, with an alternative for each kind of value.
    fn rule(&mut self, id: Id, name: &SmolStr, place: Place) {
        let Ok(set) = self.sets.normal(id) else {
            self.notes.add(place, &[COMBINED], "deciding about this takes too many steps");
            self.rules.begin(name);
            self.rules.shared(Shared::Value);
            return self.rules.end();
        };
        let numbers =
            (!set.num.is_empty()).then(|| Numbers::plan(&set.num, name, &mut self.notes, place, self.short));
        let scope = &mut Scope { sets: &mut self.sets, notes: &mut self.notes, place, short: self.short };
        let strings = match set.str.as_slice() {
            [] => SmallVec::new(),
            parts => Strings::plan(parts, name, scope),
        };
        let mut arrays: SmallVec<[Array; 1]> = SmallVec::new();
        for clause in &set.arr {
            arrays.extend(Array::plan(clause, name, place, self));
        }
        let objects = if set.obj.is_empty() { None } else { Objects::plan(&set.obj, name, place, self) };
        let constants = set.null || set.tru || set.fals;
        if !constants && numbers.is_none() && strings.is_empty() && arrays.is_empty() && objects.is_none() {
            // A rule without a body would take the empty text.
            self.notes.add(
                place,
                &[COMBINED],
                "whether anything is valid here takes too many steps to decide",
            );
            self.rules.begin(name);
            self.rules.shared(Shared::Value);
            return self.rules.end();
        }
        self.alternatives(name, &set, numbers, strings, arrays, objects);
    }

    fn alternatives(
        &mut self,
        name: &SmolStr,
        set: &Set,
        mut numbers: Option<Numbers>,
        mut strings: SmallVec<[Strings; 1]>,
        mut arrays: SmallVec<[Array; 1]>,
        mut objects: Option<Objects>,
    ) {
        let rules = &mut *self.rules;
        rules.begin(name);
        for (there, text) in [(set.null, "null"), (set.tru, "true"), (set.fals, "false")] {
            if there {
                rules.writer.alternative();
                rules.writer.literal(text);
            }
        }
        if let Some(numbers) = &mut numbers {
            rules.writer.alternative();
            numbers.write(rules);
        }
        for strings in &mut strings {
            rules.writer.alternative();
            strings.write(rules, name);
        }
        for array in &mut arrays {
            rules.writer.alternative();
            array.write(rules);
        }
        if let Some(objects) = &mut objects {
            rules.writer.alternative();
            objects.write(rules);
        }
        rules.end();
        if let Some(numbers) = &mut numbers {
            numbers.finish(rules);
        }
        strings.iter_mut().for_each(|strings| strings.finish(rules));
        arrays.iter_mut().for_each(|array| array.finish(rules));
        if let Some(objects) = &mut objects {
            objects.finish(rules);
        }
    }
}

/// The keywords that combine schemas.
pub(super) const COMBINED: &[&str] =
    &["not", "oneOf", "anyOf", "allOf", "if", "dependentSchemas", "dependentRequired", "dependencies"];

/// A set that needs no rule of its own.
fn plain(set: &Set) -> Option<Value> {
    let constants = usize::from(set.null) + usize::from(set.tru) + usize::from(set.fals);
    let others = set.num.len() + set.str.len() + set.arr.len() + set.obj.len();
    if others == 0 {
        return match (set.null, set.tru, set.fals) {
            (true, false, false) => Some(Value::Constant("null".into())),
            (false, true, false) => Some(Value::Constant("true".into())),
            (false, false, true) => Some(Value::Constant("false".into())),
            (false, true, true) => Some(Value::Shared(Shared::Boolean)),
            _ => None,
        };
    }
    if others == 4 && constants == 3 && set.absent == Set::default().absent && *set == Set::values() {
        return Some(Value::Shared(Shared::Value));
    }
    if constants > 0 || others > 1 {
        return None;
    }
    if let [one] = set.str.as_slice() {
        return string(one);
    }
    if !set.num.is_empty() {
        return Numbers::shared(&set.num).map(Value::Shared);
    }
    if let [clause] = set.arr.as_slice() {
        return (clause.neg.is_empty() && clause.pos == Arr::ANY).then_some(Value::Shared(Shared::Array));
    }
    let clause = set.obj.first()?;
    let any = clause.neg.is_empty()
        && clause.pos.fields.len() == 0
        && clause.pos.count == (0, None)
        && clause.pos.rest.iter().all(|(_, id)| matches!(*id, Id::ANY));
    any.then_some(Value::Shared(Shared::Object))
}

fn string(part: &Str) -> Option<Value> {
    match &part.words {
        Words::List(words) => match &**words {
            [one] if one.len() <= SHORT => {
                let text = escaped(one).map_or_else(|| one.clone(), SmolStr::from);
                Some(Value::Constant(smol_str::format_smolstr!("\"{text}\"")))
            }
            _ => None,
        },
        Words::Dfa(dfa) if part.length == ANY_LENGTH => {
            if dfa.is_all() {
                return Some(Value::Shared(Shared::String));
            }
            let (place, name) = known_formats::of_dfa(dfa)?;
            formats::rules(place, name, &Arc::clone(dfa)).map(Value::Format)
        }
        Words::Dfa(_) => None,
    }
}
