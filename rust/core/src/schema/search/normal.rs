//! Normal forms: every expression as one set, with its parts per kind of value.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Search;
use crate::schema::arena::{Arena, Expr, Id, Ids};
use crate::schema::array::Arr;
use crate::schema::disjoint::plainly_disjoint;
use crate::schema::number;
use crate::schema::object::{Fields, Obj};
use crate::schema::set::{Clause, Set};
use crate::schema::string::{Products, Str, is_empty, meet};
use crate::schema::undecided::Undecided;

/// The most parts of a union of arrays or of objects.
const CLAUSES: usize = 1_024;
/// Above this many objects a union is not merged: that takes quadratic time.
const MERGED: usize = 64;
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
            Expr::And(ids) => self.fold(&ids, Self::both),
            Expr::Or(ids) => self.fold(&ids, Self::either),
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

    fn both(&mut self, x: &Set, y: &Set) -> Result<Set, Undecided> {
        Ok(Set {
            absent: x.absent && y.absent,
            null: x.null && y.null,
            fals: x.fals && y.fals,
            tru: x.tru && y.tru,
            num: number::and(&x.num, &y.num)?,
            str: self.products.meet_all(&x.str, &y.str)?,
            arr: self.meet_clauses(&x.arr, &y.arr, Self::meet_arrays)?,
            obj: self.meet_clauses(&x.obj, &y.obj, Self::meet_objects)?,
        })
    }

    fn either(&mut self, x: &Set, y: &Set) -> Result<Set, Undecided> {
        let obj = union(&x.obj, &y.obj)?;
        let mut num = union(&x.num, &y.num)?;
        if num.contains(&number::Num::ANY) {
            num = vec![number::Num::ANY];
        }
        Ok(Set {
            absent: x.absent || y.absent,
            null: x.null || y.null,
            fals: x.fals || y.fals,
            tru: x.tru || y.tru,
            num,
            str: self.products.join_all(&x.str, &y.str)?,
            arr: union(&x.arr, &y.arr)?,
            obj: self.merge(obj),
        })
    }

    fn complement(&mut self, x: &Set) -> Result<Set, Undecided> {
        let mut arr = vec![Clause::from(Arr::ANY)];
        for clause in &x.arr {
            let outside = outside(clause, Arr::ANY);
            arr = self.meet_clauses(&arr, &outside, Self::meet_arrays)?;
        }
        let mut obj = vec![Clause::from(Obj::any())];
        for clause in &x.obj {
            let outside = outside(clause, Obj::any());
            obj = self.meet_clauses(&obj, &outside, Self::meet_objects)?;
        }
        Ok(Set {
            absent: !x.absent,
            null: !x.null,
            fals: !x.fals,
            tru: !x.tru,
            num: number::complement(&x.num)?,
            str: self.products.complement(&x.str)?,
            arr,
            obj,
        })
    }

    fn meet_clauses<T: Clone + PartialEq>(
        &mut self,
        a: &[Clause<T>],
        b: &[Clause<T>],
        meet: fn(&mut Self, &T, &T) -> Result<Option<T>, Undecided>,
    ) -> Result<Vec<Clause<T>>, Undecided> {
        let mut clauses = Vec::new();
        for x in a {
            for y in b {
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

    #[allow(clippy::unnecessary_wraps, reason = "one signature for arrays and objects")]
    fn meet_arrays(&mut self, a: &Arr, b: &Arr) -> Result<Option<Arr>, Undecided> {
        Ok(a.meet(b, |x, y| self.arena.and(x, y)))
    }

    fn meet_objects(&mut self, a: &Obj, b: &Obj) -> Result<Option<Obj>, Undecided> {
        let count = meet(a.count, b.count);
        if is_empty(count) {
            return Ok(None);
        }
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
            return Ok(self.exactly_one(ids, |search, a, b| plainly_disjoint(&search.arena, a, b)));
        }
        let mut out_of_steps = false;
        let expanded = self.exactly_one(ids, |search, a, b| {
            if plainly_disjoint(&search.arena, a, b) {
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
        if out_of_steps { Err(Undecided::Steps) } else { Ok(expanded) }
    }

    fn exactly_one(&mut self, ids: &Ids, mut disjoint: impl FnMut(&mut Self, Id, Id) -> bool) -> Id {
        let mut one = Id::NEVER;
        for (at, id) in ids.iter().enumerate() {
            let mut shared = Ids::new();
            for before in ids.iter().take(at) {
                if !disjoint(self, *before, *id) {
                    shared.push(*before);
                }
            }
            let mut new = *id;
            if !shared.is_empty() {
                let shared = self.arena.or_all(&shared);
                new = self.arena.diff(new, shared);
                one = self.arena.diff(one, *id);
            }
            one = self.arena.or(one, new);
        }
        one
    }
}

/// The name of the one field in which two objects without negatives differ.
fn difference(a: &Clause<Obj>, b: &Clause<Obj>) -> Option<smol_str::SmolStr> {
    let alike =
        a.neg.is_empty() && b.neg.is_empty() && a.pos.count == b.pos.count && a.pos.rest == b.pos.rest;
    if !alike {
        return None;
    }
    let names = a.pos.fields.iter().map(|(name, _)| name);
    let more = b.pos.fields.iter().map(|(name, _)| name).filter(|name| a.pos.fields.get(name).is_none());
    let mut different = names.chain(more).filter(|name| a.pos.field(name) != b.pos.field(name));
    let name = different.next()?;
    different.next().is_none().then(|| name.clone())
}

/// What is in at least one of two unions.
fn union<T: Clone + PartialEq>(a: &[T], b: &[T]) -> Result<Vec<T>, Undecided> {
    let mut union = a.to_vec();
    for part in b {
        if !union.contains(part) {
            union.push(part.clone());
        }
    }
    if union.len() > CLAUSES { Err(Undecided::Clauses) } else { Ok(union) }
}

/// What is outside a clause: outside its positive part, or inside one of its negatives.
fn outside<T: Clone + PartialEq>(clause: &Clause<T>, any: T) -> Vec<Clause<T>> {
    let mut parts: Vec<Clause<T>> = clause.neg.iter().map(|neg| neg.clone().into()).collect();
    if clause.pos != any {
        parts.insert(0, Clause { pos: any, neg: vec![clause.pos.clone()] });
    }
    parts
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
