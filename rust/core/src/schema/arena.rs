//! Expressions over sets: built freely, shared, normalised only on demand.

use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::array::Arr;
use super::decimal::Dec;
use super::number::Num;
use super::object::{Fields, Obj};
use super::set::{Clause, Set};
use super::string::{Str, all};
use crate::json::Value;

/// A set of JSON values. Equal sets that were written the same way have equal ids within one arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(u32);

/// A reference, filled in after its target was compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RefId(u32);

/// Operands of an expression.
pub(crate) type Ids = SmallVec<[Id; 4]>;

/// What a set is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    Leaf(Arc<Set>),
    /// Flat and without duplicates, so that a recursive conjunction does not grow for ever.
    And(Ids),
    /// Flat and without duplicates.
    Or(Ids),
    /// What lies in exactly one of these (`oneOf`); of "absent" none knows.
    One(Ids),
    Not(Id),
    Ref(RefId),
}

/// What is known of a set without a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Facts {
    /// "Absent" is not in it.
    pub(crate) present: bool,
    /// A value is in it.
    pub(crate) inhabited: bool,
}

impl Id {
    /// Nothing at all.
    pub(crate) const NEVER: Self = Self(0);
    /// Every value, or absent.
    pub(crate) const ANY: Self = Self(1);
    /// Every value.
    pub(crate) const PRESENT: Self = Self(2);
    /// Only absent.
    pub(crate) const ABSENT: Self = Self(3);
    pub(crate) const NULL: Self = Self(4);
    pub(crate) const BOOLEAN: Self = Self(5);
    pub(crate) const INTEGER: Self = Self(6);
    pub(crate) const NUMBER: Self = Self(7);
    pub(crate) const STRING: Self = Self(8);
    pub(crate) const ARRAY: Self = Self(9);
    pub(crate) const OBJECT: Self = Self(10);

    /// The place of this set in a table with one entry per set.
    pub(crate) fn place(self) -> usize {
        self.0 as usize
    }

    /// Whether this is the same set in every arena.
    pub(crate) fn is_fixed(self) -> bool {
        self.place() < FIXED_COUNT
    }
}

impl RefId {
    /// The place of this reference among those of its arena.
    pub(crate) fn place(self) -> usize {
        self.0 as usize
    }
}

/// The sets with fixed ids, made once for the process.
static FIXED: LazyLock<Vec<(Expr, Facts)>> = LazyLock::new(|| {
    let values = Set::values;
    let sets = [
        Set::default(),
        Set { absent: true, ..values() },
        values(),
        Set { absent: true, ..Set::default() },
        Set { null: true, ..Set::default() },
        Set { fals: true, tru: true, ..Set::default() },
        Set { num: vec![Num::integers()], ..Set::default() },
        Set { num: values().num, ..Set::default() },
        Set { str: values().str, ..Set::default() },
        Set { arr: values().arr, ..Set::default() },
        Set { obj: values().obj, ..Set::default() },
    ];
    let facts = |set: &Set| Facts { present: !set.absent, inhabited: !set.has_no_value() };
    sets.into_iter()
        .map(|set| (facts(&set), set))
        .map(|(facts, set)| (Expr::Leaf(Arc::new(set)), facts))
        .collect()
});

/// The number of [`FIXED`] sets.
const FIXED_COUNT: usize = 11;

/// All the sets of one schema, or of those that are compared.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arena {
    /// Without the fixed ones.
    exprs: Vec<(Expr, Facts)>,
    /// By content; operands that may be ordered freely are sorted here, while `exprs` keeps the first spelling.
    ids: FxHashMap<Expr, Id>,
    refs: Vec<Option<Id>>,
    /// The operands that were looked at since the last reckoning.
    work: usize,
}

impl Arena {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// How many sets there are, the fixed ones included.
    pub(crate) fn len(&self) -> usize {
        self.exprs.len() + FIXED_COUNT
    }

    pub(crate) fn expr(&self, id: Id) -> &Expr {
        &self.entry(id).0
    }

    pub(crate) fn facts(&self, id: Id) -> Facts {
        self.entry(id).1
    }

    fn entry(&self, id: Id) -> &(Expr, Facts) {
        static NOTHING: LazyLock<(Expr, Facts)> = LazyLock::new(|| {
            (Expr::Leaf(Arc::new(Set::default())), Facts { present: true, inhabited: false })
        });
        match id.place().checked_sub(FIXED_COUNT) {
            Some(place) => self.exprs.get(place),
            None => FIXED.get(id.place()),
        }
        .unwrap_or(&NOTHING)
    }

    /// The set as it was compiled, when it is no expression.
    pub(crate) fn leaf_of(&self, id: Id) -> Option<&Arc<Set>> {
        if let Expr::Leaf(set) = self.expr(id) { Some(set) } else { None }
    }

    /// The target of a reference, once it is compiled.
    pub(crate) fn target(&self, reference: RefId) -> Option<Id> {
        self.refs.get(reference.place()).copied().flatten()
    }

    /// A reference whose target is still open.
    pub(crate) fn open_reference(&mut self) -> (RefId, Id) {
        let reference = RefId(u32::try_from(self.refs.len()).unwrap_or(u32::MAX));
        self.refs.push(None);
        (reference, self.intern(Expr::Ref(reference)))
    }

    pub(crate) fn close_reference(&mut self, reference: RefId, target: Id) {
        if let Some(slot) = self.refs.get_mut(reference.place()) {
            *slot = Some(target);
        }
    }

    /// All references, in the order in which they were opened.
    pub(crate) fn references(&self) -> Vec<Id> {
        let reference = |(at, (expr, _)): (usize, &(Expr, Facts))| {
            matches!(expr, Expr::Ref(_)).then(|| u32::try_from(at + FIXED_COUNT).ok().map(Id)).flatten()
        };
        if self.refs.is_empty() {
            return Vec::new();
        }
        self.exprs.iter().enumerate().filter_map(reference).collect()
    }

    pub(crate) fn leaf(&mut self, set: Set) -> Id {
        let fixed = FIXED.iter().position(|(known, _)| matches!(known, Expr::Leaf(known) if **known == set));
        match fixed.and_then(|place| u32::try_from(place).ok()) {
            Some(place) => Id(place),
            None => self.intern(Expr::Leaf(Arc::new(set))),
        }
    }

    /// A set that is none of the fixed ones.
    pub(crate) fn shared_leaf(&mut self, set: Arc<Set>) -> Id {
        self.intern(Expr::Leaf(set))
    }

    /// How many operands were put together since this was asked last: what a search pays for.
    pub(crate) fn take_work(&mut self) -> usize {
        std::mem::take(&mut self.work)
    }

    fn intern(&mut self, expr: Expr) -> Id {
        let key = match &expr {
            Expr::And(ids) => Expr::And(sorted(ids)),
            Expr::Or(ids) => Expr::Or(sorted(ids)),
            Expr::One(ids) => Expr::One(sorted(ids)),
            other => other.clone(),
        };
        let next = Id(u32::try_from(self.len()).unwrap_or(u32::MAX));
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            let facts = self.facts_of(&expr);
            self.exprs.push((expr, facts));
        }
        id
    }

    /// What lies in both.
    pub(crate) fn and(&mut self, a: Id, b: Id) -> Id {
        if a == b || b == Id::ANY {
            return a;
        }
        if a == Id::ANY {
            return b;
        }
        self.and_all(&[a, b])
    }

    /// What lies in all.
    pub(crate) fn and_all(&mut self, ids: &[Id]) -> Id {
        let mut operands = Ids::new();
        for id in ids {
            match self.expr(*id) {
                Expr::And(ids) => operands.extend(ids.iter().copied()),
                _ => operands.push(*id),
            }
        }
        self.work = self.work.saturating_add(operands.len());
        if operands.contains(&Id::NEVER) {
            return Id::NEVER;
        }
        operands.retain(|id| *id != Id::ANY);
        let some_value = operands.iter().any(|id| self.facts(*id).present);
        if some_value {
            // "Absent" is out, so no operand needs to speak of it.
            let kept: Ids = operands.iter().map(|id| self.without_absent(*id)).collect();
            if kept.contains(&Id::NEVER) {
                return Id::NEVER;
            }
            operands.clear();
            for id in kept {
                match self.expr(id) {
                    Expr::And(ids) => operands.extend(ids.iter().copied()),
                    _ => operands.push(id),
                }
            }
            if operands.iter().any(|id| *id != Id::PRESENT && self.facts(*id).present) {
                operands.retain(|id| *id != Id::PRESENT);
            }
        }
        dedup(&mut operands);
        if self.contradict(&operands) {
            return Id::NEVER;
        }
        match operands.as_slice() {
            [] => Id::ANY,
            [one] => *one,
            _ => self.intern(Expr::And(operands)),
        }
    }

    /// Whether one of these is the complement of another.
    fn contradict(&self, ids: &Ids) -> bool {
        let inner = |id: &Id| if let Expr::Not(inner) = self.expr(*id) { Some(*inner) } else { None };
        if ids.len() < 32 {
            ids.iter().filter_map(inner).any(|id| ids.contains(&id))
        } else {
            let known: rustc_hash::FxHashSet<Id> = ids.iter().copied().collect();
            ids.iter().filter_map(inner).any(|id| known.contains(&id))
        }
    }

    /// The set for where "absent" is out anyway: the same values, told without it where that is simple.
    fn without_absent(&mut self, id: Id) -> Id {
        match (id, self.expr(id)) {
            (Id::ANY, _) => Id::PRESENT,
            (Id::ABSENT, _) => Id::NEVER,
            (_, Expr::Or(ids)) if ids.contains(&Id::ABSENT) => {
                let kept: Ids = ids.iter().copied().filter(|id| *id != Id::ABSENT).collect();
                match kept.as_slice() {
                    [one] => *one,
                    _ => self.intern(Expr::Or(kept)),
                }
            }
            _ => id,
        }
    }

    /// What lies in at least one.
    pub(crate) fn or(&mut self, a: Id, b: Id) -> Id {
        self.or_all(&[a, b])
    }

    /// What lies in at least one.
    pub(crate) fn or_all(&mut self, ids: &[Id]) -> Id {
        let mut operands = Ids::new();
        for id in ids {
            match self.expr(*id) {
                Expr::Or(ids) => operands.extend(ids.iter().copied()),
                _ => operands.push(*id),
            }
        }
        self.work = self.work.saturating_add(operands.len());
        if operands.contains(&Id::ANY) {
            return Id::ANY;
        }
        operands.retain(|id| *id != Id::NEVER);
        dedup(&mut operands);
        match operands.as_slice() {
            [] => Id::NEVER,
            [one] => *one,
            [Id::PRESENT, Id::ABSENT] | [Id::ABSENT, Id::PRESENT] => Id::ANY,
            _ => self.intern(Expr::Or(operands)),
        }
    }

    /// The set, or absent.
    pub(crate) fn optional(&mut self, id: Id) -> Id {
        self.or(id, Id::ABSENT)
    }

    /// What lies in exactly one. None of these may hold "absent".
    pub(crate) fn one(&mut self, ids: Ids) -> Id {
        let operands: Ids = ids.into_iter().filter(|id| *id != Id::NEVER).collect();
        match operands.as_slice() {
            [] => Id::NEVER,
            [one] => *one,
            _ => self.intern(Expr::One(operands)),
        }
    }

    /// Everything else, "absent" included.
    pub(crate) fn not(&mut self, id: Id) -> Id {
        match (id, self.expr(id)) {
            (Id::NEVER, _) => Id::ANY,
            (Id::ANY, _) => Id::NEVER,
            (Id::PRESENT, _) => Id::ABSENT,
            (Id::ABSENT, _) => Id::PRESENT,
            (_, Expr::Not(inner)) => *inner,
            _ => self.intern(Expr::Not(id)),
        }
    }

    /// What lies in the first and not in the second.
    pub(crate) fn diff(&mut self, a: Id, b: Id) -> Id {
        let other = self.not(b);
        self.and(a, other)
    }

    /// Exactly this value; nothing when it holds a number that is too long.
    pub(crate) fn constant(&mut self, value: &Value) -> Option<Id> {
        let mut set = Set::default();
        match value {
            Value::Null => return Some(Id::NULL),
            Value::Bool(value) => (set.tru, set.fals) = (*value, !*value),
            Value::Number(number) => set.num.push(Num::point(Dec::from_number(number)?)),
            Value::String(text) => set.str.extend(Str::of_words(vec![text.clone()])),
            Value::Array(items) => {
                let prefix = items.iter().map(|item| self.constant(item)).collect::<Option<Vec<_>>>()?;
                let length = items.len() as u64;
                set.arr.push(Arr { prefix, length: (length, Some(length)), ..Arr::ANY }.into());
            }
            Value::Object(object) => {
                let mut fields = Fields::with_capacity(object.len());
                for (name, value) in object.iter() {
                    fields.push(name.clone(), self.constant(value)?);
                }
                let rest = SmallVec::from_iter([(all(), Id::ABSENT)]);
                set.obj.push(Obj { fields, rest, count: (0, None) }.into());
            }
        }
        Some(self.leaf(set))
    }

    fn facts_of(&self, expr: &Expr) -> Facts {
        let facts = |id: &Id| self.facts(*id);
        match expr {
            Expr::Leaf(set) => Facts { present: !set.absent, inhabited: self.is_inhabited_at_sight(set) },
            Expr::And(ids) => Facts { present: ids.iter().any(|id| facts(id).present), inhabited: false },
            Expr::Or(ids) => Facts {
                present: ids.iter().all(|id| facts(id).present),
                inhabited: ids.iter().any(|id| facts(id).inhabited),
            },
            Expr::One(_) | Expr::Ref(_) => Facts { present: true, inhabited: false },
            Expr::Not(_) => Facts::default(),
        }
    }

    /// Whether a value is in the set, judged by its own parts and the facts of what they are made of.
    fn is_inhabited_at_sight(&self, set: &Set) -> bool {
        set.null
            || set.fals
            || set.tru
            || set.str.iter().any(Str::has_member_at_sight)
            || set.num.iter().any(|num| *num == Num::ANY || matches!(num.member(), Ok(Some(_))))
            || set.arr.iter().any(|clause| self.array_at_sight(clause))
            || set.obj.iter().any(|clause| self.object_at_sight(clause))
    }

    fn array_at_sight(&self, Clause { pos, neg }: &Clause<Arr>) -> bool {
        let Ok(least) = usize::try_from(pos.length.0) else { return false };
        let items = (0..least.min(pos.prefix.len() + 1)).all(|place| self.facts(pos.at(place)).inhabited);
        neg.is_empty()
            && items
            && pos.counts.iter().all(|count| count.count.0 == 0 && least == 0)
            && !(pos.unique && least > 1)
            && pos.length.1.is_none_or(|most| pos.length.0 <= most)
    }

    fn object_at_sight(&self, Clause { pos, neg }: &Clause<Obj>) -> bool {
        let mut required = 0;
        for (_, id) in pos.fields.iter() {
            let facts = self.facts(id);
            if facts.present && !facts.inhabited {
                return false;
            }
            required += u64::from(facts.present);
        }
        neg.is_empty() && pos.count.0 <= required && pos.count.1.is_none_or(|most| required <= most)
    }
}

fn sorted(ids: &Ids) -> Ids {
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted
}

/// Leaves the first of each.
fn dedup(ids: &mut Ids) {
    if ids.len() < 32 {
        let mut kept = Ids::new();
        ids.retain(|id| {
            let new = !kept.contains(id);
            if new {
                kept.push(*id);
            }
            new
        });
    } else {
        let mut seen = rustc_hash::FxHashSet::default();
        ids.retain(|id| seen.insert(*id));
    }
}
