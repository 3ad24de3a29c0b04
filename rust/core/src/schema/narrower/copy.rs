//! Copies the sets of one arena into another.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::twins::Twins;
use crate::schema::arena::{Arena, Expr, Id, Ids, RefId};
use crate::schema::array::Arr;
use crate::schema::object::{Fields, Obj};
use crate::schema::set::{Clause, Set};

/// Copies a set and what it is made of into another arena; sets that are there already get their ids. Gives
/// the set's id there.
///
/// Without recursion: what a set is made of was made before it, but for the targets of references.
pub(super) fn copy(into: &mut Arena, from: &Arena, root: Id, twins: &mut Twins<'_>) -> Id {
    let candidates = into.references();
    let reached = reached(from, root, twins, &candidates);
    let mut copied = Copied { places: vec![None; from.len()] };
    for (id, twin) in &reached.twins {
        copied.set(*id, *twin);
    }
    let mut references: FxHashMap<RefId, RefId> = FxHashMap::default();
    for (reference, id) in &reached.references {
        let (there, copy) = into.open_reference();
        references.insert(*reference, there);
        copied.set(*id, copy);
    }
    for id in &reached.sets {
        let copy = match from.expr(*id) {
            Expr::Leaf(set) => copied.leaf(into, set),
            Expr::And(ids) => into.and_all(&copied.ids(ids)),
            Expr::Or(ids) => into.or_all(&copied.ids(ids)),
            Expr::One(ids) => into.one(copied.ids(ids)),
            Expr::Not(id) => into.not(copied.id(*id)),
            Expr::Ref(_) => continue,
        };
        copied.set(*id, copy);
    }
    for (here, there) in references {
        if let Some(target) = from.target(here) {
            into.close_reference(there, copied.id(target));
        }
    }
    copied.id(root)
}

/// What a set is made of.
struct Reached {
    /// Without references and their twins, each after what it is made of.
    sets: Vec<Id>,
    references: Vec<(RefId, Id)>,
    /// References that have a twin.
    twins: Vec<(Id, Id)>,
}

fn reached(from: &Arena, root: Id, twins: &mut Twins<'_>, candidates: &[Id]) -> Reached {
    let mut seen = vec![false; from.len()];
    let mut reached = Reached { sets: Vec::new(), references: Vec::new(), twins: Vec::new() };
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        let Some(seen) = seen.get_mut(id.place()) else { continue };
        if id.is_fixed() || std::mem::replace(seen, true) {
            continue;
        }
        match from.expr(id) {
            Expr::Leaf(set) => open.extend(parts(set)),
            Expr::And(ids) | Expr::Or(ids) | Expr::One(ids) => open.extend(ids.iter().copied()),
            Expr::Not(inner) => open.push(*inner),
            Expr::Ref(reference) => {
                if let Some(twin) = twins.reference(*reference, id, candidates) {
                    reached.twins.push((id, twin));
                } else {
                    reached.references.push((*reference, id));
                    open.extend(from.target(*reference));
                }
                continue;
            }
        }
        reached.sets.push(id);
    }
    reached.sets.sort_unstable();
    reached
}

/// The sets that a leaf is made of.
fn parts(set: &Set) -> impl Iterator<Item = Id> {
    let of_array = |array: &Arr| {
        let counted: Vec<Id> = array.counts.iter().map(|count| count.of).collect();
        array.prefix.iter().copied().chain([array.rest]).chain(counted).collect::<Vec<_>>()
    };
    let arrays = set.arr.iter().flat_map(|clause| clause.neg.iter().chain([&clause.pos])).flat_map(of_array);
    let objects = set.obj.iter().flat_map(|clause| clause.neg.iter().chain([&clause.pos]));
    let of_object = |object| {
        let Obj { fields, rest, .. }: &Obj = object;
        fields.iter().map(|(_, id)| id).chain(rest.iter().map(|(_, id)| *id))
    };
    arrays.chain(objects.flat_map(of_object))
}

/// What was copied, by its place in the first arena.
struct Copied {
    places: Vec<Option<Id>>,
}

impl Copied {
    fn set(&mut self, id: Id, copy: Id) {
        if let Some(place) = self.places.get_mut(id.place()) {
            *place = Some(copy);
        }
    }

    fn id(&self, id: Id) -> Id {
        if id.is_fixed() {
            return id;
        }
        // Everything that is reached was copied before it is used.
        self.places.get(id.place()).copied().flatten().unwrap_or(Id::ANY)
    }

    fn ids(&self, ids: &[Id]) -> Ids {
        ids.iter().map(|id| self.id(*id)).collect()
    }

    fn leaf(&self, into: &mut Arena, set: &Arc<Set>) -> Id {
        if set.arr.is_empty() && set.obj.is_empty() {
            return into.shared_leaf(Arc::clone(set));
        }
        let arr = set.arr.iter().map(|clause| self.clause(clause, Self::array)).collect();
        let obj = set.obj.iter().map(|clause| self.clause(clause, Self::object)).collect();
        into.shared_leaf(Arc::new(Set { arr, obj, num: set.num.clone(), str: set.str.clone(), ..**set }))
    }

    fn clause<T>(&self, clause: &Clause<T>, one: fn(&Self, &T) -> T) -> Clause<T> {
        Clause {
            pos: one(self, &clause.pos),
            neg: clause.neg.iter().map(|negative| one(self, negative)).collect(),
        }
    }

    fn array(&self, array: &Arr) -> Arr {
        let mut copy = array.clone();
        copy.prefix.iter_mut().chain([&mut copy.rest]).for_each(|id| *id = self.id(*id));
        copy.counts.iter_mut().for_each(|count| count.of = self.id(count.of));
        copy
    }

    fn object(&self, object: &Obj) -> Obj {
        let mut fields = Fields::with_capacity(object.fields.len());
        for (name, id) in object.fields.iter() {
            fields.push(name.clone(), self.id(id));
        }
        let rest = object.rest.iter().map(|(keys, id)| (Arc::clone(keys), self.id(*id))).collect();
        Obj { fields, rest, count: object.count }
    }
}
