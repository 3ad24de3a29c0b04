//! Normal forms: every expression as one set, with its parts per kind of value.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::Search;
use crate::schema::arena::{Arena, Expr, Id, Ids};
use crate::schema::array::Arr;
use crate::schema::number;
use crate::schema::object::{Fields, Obj};
use crate::schema::set::{Clause, Set};
use crate::schema::string::{Products, Str, is_empty, meet};
use crate::schema::undecided::Undecided;

/// The most parts of a union of arrays or of objects.
const CLAUSES: usize = 1_024;
/// Above this many objects a union is not merged: that takes quadratic time.
const MERGED: usize = 64;
/// What lies in two parts of one kind; nothing when that is plainly empty.
type Meet<T> = fn(&mut Search, &T, &T) -> Result<Option<T>, Undecided>;

/// The most classes of keys.
const CLASSES: usize = 64;

impl Search {
    /// The normal form of a set.
    pub(crate) fn normal(&mut self, id: Id) -> Result<Arc<Set>, Undecided> {
        if let Some(Some(known)) = self.sets.get(id.place()) {
            return Ok(Arc::clone(known));
        }
        if let Some(leaf) = self.arena.leaf_of(id) {
            return Ok(Arc::clone(leaf));
        }
        let set = self.framed(|search| search.normalise(id))?;
        if self.sets.len() <= id.place() {
            self.sets.resize(id.place() + 1, None);
        }
        if let Some(slot) = self.sets.get_mut(id.place()) {
            *slot = Some(Arc::clone(&set));
        }
        Ok(set)
    }

    fn normalise(&mut self, id: Id) -> Result<Arc<Set>, Undecided> {
        match self.arena.expr(id).clone() {
            Expr::Leaf(set) => Ok(set),
            // An open reference stands only in a schema that was refused.
            Expr::Ref(reference) => self.normal(self.arena.target(reference).unwrap_or(Id::NEVER)),
            Expr::And(ids) => self.all_of(&ids),
            Expr::Or(ids) => self.any_of(&ids),
            Expr::Not(id) => {
                let set = self.normal(id)?;
                self.complement(&set).map(Arc::new)
            }
            Expr::One(ids) => {
                let expanded = self.expand(id, &ids)?;
                self.normal(expanded)
            }
        }
    }

    fn fold(
        &mut self,
        ids: &Ids,
        combine: fn(&mut Self, &Set, &Set) -> Result<Set, Undecided>,
    ) -> Result<Arc<Set>, Undecided> {
        let Some((first, rest)) = ids.split_first() else { return Ok(Arc::default()) };
        let mut set = self.normal(*first)?;
        for id in rest {
            let other = self.normal(*id)?;
            set = Arc::new(combine(self, &set, &other)?);
        }
        Ok(set)
    }

    /// Positives are met first, negatives are taken out of what is left.
    fn all_of(&mut self, ids: &Ids) -> Result<Arc<Set>, Undecided> {
        let inner = |search: &Self, id: &Id| match search.arena.expr(*id) {
            Expr::Not(inner) => Some(*inner),
            _ => None,
        };
        let positives: Ids = ids.iter().copied().filter(|id| inner(self, id).is_none()).collect();
        let negatives: Ids = ids.iter().filter_map(|id| inner(self, id)).collect();
        let out = match negatives.as_slice() {
            [] => return self.fold(&positives, Self::both),
            [one] => self.normal(*one)?,
            all => {
                let mut sets = Vec::with_capacity(all.len());
                for id in all {
                    sets.push(self.normal(*id)?);
                }
                Arc::new(together(&sets))
            }
        };
        if positives.is_empty() {
            return self.complement(&out).map(Arc::new);
        }
        let set = self.fold(&positives, Self::both)?;
        self.without(&set, &out).map(Arc::new)
    }

    fn both(&mut self, x: &Set, y: &Set) -> Result<Set, Undecided> {
        Ok(Set {
            absent: x.absent && y.absent,
            null: x.null && y.null,
            fals: x.fals && y.fals,
            tru: x.tru && y.tru,
            num: {
                self.pay(number::cost(&x.num, &y.num) / 8)?;
                number::and(&x.num, &y.num)?
            },
            str: self.products.meet_all(&x.str, &y.str)?,
            arr: self.meet_clauses(&x.arr, &y.arr, Self::meet_arrays)?,
            obj: self.meet_clauses(&x.obj, &y.obj, Self::meet_objects)?,
        })
    }

    fn any_of(&mut self, ids: &Ids) -> Result<Arc<Set>, Undecided> {
        let mut sets = Vec::with_capacity(ids.len());
        for id in ids {
            sets.push(self.normal(*id)?);
        }
        let mut set = together(&sets);
        if set.num.contains(&number::Num::ANY) {
            set.num = vec![number::Num::ANY];
        }
        let mut seen = FxHashSet::default();
        set.num.retain(|part| seen.insert(part.clone()));
        set.str = self.products.join_all(&set.str, &[])?;
        set.arr = self.distinct(set.arr)?;
        let obj = self.distinct(set.obj)?;
        set.obj = self.merge(obj);
        Ok(Arc::new(set))
    }

    /// Leaves the first of each.
    fn distinct<T: PartialEq>(&mut self, clauses: Vec<Clause<T>>) -> Result<Vec<Clause<T>>, Undecided> {
        if clauses.len() > CLAUSES {
            return Err(Undecided::Clauses);
        }
        let mut kept: Vec<Clause<T>> = Vec::with_capacity(clauses.len());
        for clause in clauses {
            self.pay(1 + kept.len() / 16)?;
            if !kept.contains(&clause) {
                kept.push(clause);
            }
        }
        Ok(kept)
    }

    fn complement(&mut self, x: &Set) -> Result<Set, Undecided> {
        let everything = Set { absent: true, ..Set::values() };
        self.without(&everything, x)
    }

    /// What is in the first set and not in the second.
    fn without(&mut self, x: &Set, out: &Set) -> Result<Set, Undecided> {
        let arr = self.without_clauses(&x.arr, &out.arr, Self::meet_arrays)?;
        let obj = self.without_clauses(&x.obj, &out.obj, Self::meet_objects)?;
        self.pay(number::cost(&x.num, &out.num) / 8)?;
        Ok(Set {
            absent: x.absent && !out.absent,
            null: x.null && !out.null,
            fals: x.fals && !out.fals,
            tru: x.tru && !out.tru,
            num: number::minus(&x.num, &out.num)?,
            str: self.products.minus_all(&x.str, &out.str)?,
            arr,
            obj,
        })
    }

    /// What lies outside a clause lies outside its positive part, which then is one negative more, or inside
    /// one of its negatives.
    fn without_clauses<T: Part>(
        &mut self,
        clauses: &[Clause<T>],
        out: &[Clause<T>],
        meet: Meet<T>,
    ) -> Result<Vec<Clause<T>>, Undecided> {
        if clauses.is_empty() || out.is_empty() {
            return Ok(clauses.to_vec());
        }
        let (plain, others): (Vec<_>, Vec<_>) = out.iter().partition(|clause| clause.neg.is_empty());
        let weight = plain.iter().fold(0, |sum: usize, out| sum.saturating_add(2 + out.pos.weight()));
        self.pay(clauses.len().saturating_mul(weight) / 8)?;
        let mut left: Vec<Clause<T>> = Vec::with_capacity(clauses.len());
        for clause in clauses {
            if plain.iter().any(|out| out.pos == clause.pos) {
                continue;
            }
            let new = plain.iter().map(|out| &out.pos).filter(|out| !clause.neg.contains(out));
            let neg = clause.neg.iter().chain(new).cloned().collect();
            left.push(Clause { pos: clause.pos.clone(), neg });
        }
        for clause in others {
            let inside: Vec<Clause<T>> = clause.neg.iter().map(|neg| neg.clone().into()).collect();
            let mut next = self.meet_clauses(&left, &inside, meet)?;
            for known in left {
                if known.pos != clause.pos {
                    let mut known = known;
                    if !known.neg.contains(&clause.pos) {
                        known.neg.push(clause.pos.clone());
                    }
                    next.push(known);
                }
            }
            if next.len() > CLAUSES {
                return Err(Undecided::Clauses);
            }
            left = next;
        }
        Ok(left)
    }

    fn meet_clauses<T: Part>(
        &mut self,
        a: &[Clause<T>],
        b: &[Clause<T>],
        meet: Meet<T>,
    ) -> Result<Vec<Clause<T>>, Undecided> {
        let mut clauses = Vec::new();
        for x in a {
            for y in b {
                let negatives = x.neg.len() + y.neg.len();
                self.pay(2 + clauses.len() / 8 + negatives.saturating_mul(1 + x.pos.weight() / 8))?;
                let Some(pos) = meet(self, &x.pos, &y.pos)? else { continue };
                let mut neg = x.neg.clone();
                neg.extend(y.neg.iter().filter(|other| !x.neg.contains(other)).cloned());
                if neg.contains(&pos) {
                    continue;
                }
                let clause = Clause { pos, neg };
                if !clauses.contains(&clause) {
                    clauses.push(clause);
                }
                if clauses.len() > CLAUSES {
                    return Err(Undecided::Clauses);
                }
            }
        }
        Ok(clauses)
    }

    fn meet_arrays(&mut self, a: &Arr, b: &Arr) -> Result<Option<Arr>, Undecided> {
        self.pay(a.weight() + b.weight())?;
        Ok(a.meet(b, |x, y| self.arena.and(x, y)))
    }

    fn meet_objects(&mut self, a: &Obj, b: &Obj) -> Result<Option<Obj>, Undecided> {
        let count = meet(a.count, b.count);
        if is_empty(count) {
            return Ok(None);
        }
        self.pay(2 * (a.fields.len() + b.fields.len()))?;
        let mut fields = Fields::with_capacity(a.fields.len().max(b.fields.len()));
        for (name, id) in a.fields.iter() {
            fields.push(name.clone(), self.arena.and(id, b.field(name)));
        }
        for (name, id) in b.fields.iter() {
            if a.fields.get(name).is_none() {
                fields.push(name.clone(), self.arena.and(a.class(name), id));
            }
        }
        if fields.iter().any(|(_, id)| id == Id::NEVER || self.is_plainly_empty(id)) {
            return Ok(None);
        }
        let mut rest = SmallVec::new();
        for (keys, id) in &a.rest {
            for (others, other) in &b.rest {
                let both = self.products.and(keys, others)?;
                if !both.is_none() {
                    rest.push((both, self.arena.and(*id, *other)));
                }
            }
        }
        if rest.len() > CLASSES { Err(Undecided::Clauses) } else { Ok(Some(Obj { fields, rest, count })) }
    }

    /// Two objects that differ in one field are one with the union there: exact, and it keeps unions small.
    fn merge(&mut self, mut clauses: Vec<Clause<Obj>>) -> Vec<Clause<Obj>> {
        if clauses.len() > MERGED {
            return clauses;
        }
        'again: loop {
            for (at, a) in clauses.iter().enumerate() {
                for (other, b) in clauses.iter().enumerate().skip(at + 1) {
                    if self.pay(1 + a.pos.fields.len() / 32).is_err() {
                        return clauses;
                    }
                    let Some(name) = difference(a, b) else { continue };
                    let id = self.arena.or(a.pos.field(&name), b.pos.field(&name));
                    let merged = a.pos.with(&name, id);
                    clauses.remove(other);
                    if let Some(clause) = clauses.get_mut(at) {
                        clause.pos = merged;
                    }
                    continue 'again;
                }
            }
            return clauses;
        }
    }

    /// What lies in exactly one of several sets. Where a set shares nothing with those before it, which is the
    /// rule, it is a plain union. That may take a search; within another such search the longer form serves.
    fn expand(&mut self, one: Id, ids: &Ids) -> Result<Id, Undecided> {
        let may_search = self.expanding.is_empty();
        if !self.expanding.insert(one) {
            return self.exactly_one(ids, Self::are_plainly_disjoint);
        }
        let mut out_of_steps = false;
        let expanded = self.exactly_one(ids, |search, a, b| {
            if search.are_plainly_disjoint(a, b) {
                return true;
            }
            if !may_search || out_of_steps {
                return false;
            }
            let both = search.arena.and(a, b);
            let empty = search.unassuming(|search| search.is_empty(both));
            out_of_steps = empty == Err(Undecided::Steps);
            empty == Ok(true)
        });
        self.expanding.remove(&one);
        if out_of_steps { Err(Undecided::Steps) } else { expanded }
    }

    fn exactly_one(
        &mut self,
        ids: &Ids,
        mut disjoint: impl FnMut(&mut Self, Id, Id) -> bool,
    ) -> Result<Id, Undecided> {
        let mut one: Vec<Id> = Vec::new();
        for (at, id) in ids.iter().enumerate() {
            self.pay(1 + at / 4)?;
            let mut shared = Ids::new();
            for before in ids.iter().take(at) {
                if !disjoint(self, *before, *id) {
                    shared.push(*before);
                }
            }
            if shared.is_empty() {
                one.push(*id);
                continue;
            }
            let (before, shared) = (self.arena.or_all(&one), self.arena.or_all(&shared));
            one = vec![self.arena.diff(before, *id), self.arena.diff(*id, shared)];
        }
        Ok(self.arena.or_all(&one))
    }
}

/// What clauses are made of.
trait Part: Clone + PartialEq {
    /// How many parts of its own are copied with it.
    fn weight(&self) -> usize;
}

impl Part for Arr {
    fn weight(&self) -> usize {
        self.prefix.len() + self.counts.len()
    }
}

impl Part for Obj {
    fn weight(&self) -> usize {
        self.fields.len() + self.rest.len()
    }
}

/// The name of the one field in which two objects without negatives differ.
fn difference(a: &Clause<Obj>, b: &Clause<Obj>) -> Option<smol_str::SmolStr> {
    let alike =
        a.neg.is_empty() && b.neg.is_empty() && a.pos.count == b.pos.count && a.pos.rest == b.pos.rest;
    if !alike {
        return None;
    }
    let mut pairs = a.pos.fields.iter().zip(b.pos.fields.iter());
    if a.pos.fields.len() == b.pos.fields.len() && pairs.clone().all(|((x, _), (y, _))| x == y) {
        let mut different = pairs.by_ref().filter(|((_, x), (_, y))| x != y);
        let ((name, _), _) = different.next()?;
        return different.next().is_none().then(|| name.clone());
    }
    let names = a.pos.fields.iter().map(|(name, _)| name);
    let more = b.pos.fields.iter().map(|(name, _)| name).filter(|name| a.pos.fields.get(name).is_none());
    let mut different = names.chain(more).filter(|name| a.pos.field(name) != b.pos.field(name));
    let name = different.next()?;
    different.next().is_none().then(|| name.clone())
}

/// What is in at least one of several sets, part beside part.
fn together(sets: &[Arc<Set>]) -> Set {
    let mut all = Set::default();
    for set in sets {
        all.absent |= set.absent;
        all.null |= set.null;
        all.fals |= set.fals;
        all.tru |= set.tru;
        all.num.extend(set.num.iter().cloned());
        all.str.extend(set.str.iter().cloned());
        all.arr.extend(set.arr.iter().cloned());
        all.obj.extend(set.obj.iter().cloned());
    }
    all
}

/// The strings of a set, without any other of its parts: these never hang on the names of properties.
pub(crate) fn strings(arena: &Arena, products: &mut Products, id: Id) -> Result<Vec<Str>, Undecided> {
    match arena.expr(id) {
        Expr::Leaf(set) => Ok(set.str.clone()),
        Expr::Ref(reference) => match arena.target(*reference) {
            Some(target) => strings(arena, products, target),
            // Only `propertyNames` is still open then, which says nothing of strings.
            None => Ok(vec![Str::any()]),
        },
        Expr::And(ids) => ids.iter().try_fold(vec![Str::any()], |both, id| {
            let other = strings(arena, products, *id)?;
            products.meet_all(&both, &other)
        }),
        Expr::Or(ids) => ids.iter().try_fold(Vec::new(), |either, id| {
            let other = strings(arena, products, *id)?;
            products.join_all(&either, &other)
        }),
        Expr::Not(id) => {
            let inner = strings(arena, products, *id)?;
            products.complement(&inner)
        }
        Expr::One(ids) => {
            let (mut one, mut any) = (Vec::new(), Vec::new());
            for id in ids {
                let next = strings(arena, products, *id)?;
                let (not_next, not_any) = (products.complement(&next)?, products.complement(&any)?);
                let (old, new) = (products.meet_all(&one, &not_next)?, products.meet_all(&next, &not_any)?);
                one = products.join_all(&old, &new)?;
                any = products.join_all(&any, &next)?;
            }
            Ok(one)
        }
    }
}
