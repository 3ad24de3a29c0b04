//! Objects that must not be of some form, as disjoint sets without negatives.

use smol_str::SmolStr;

use super::super::notes::Place;
use super::super::values::{COMBINED, Values};
use crate::schema::arena::Id;
use crate::schema::object::Obj;
use crate::schema::set::Clause;

/// The most sets that one clause is taken apart into.
const PIECES: usize = 256;
/// The most fields of all these sets.
const FIELDS: usize = 4_096;

/// The objects of a clause as a union of disjoint sets; a wider one where that is not possible.
pub(super) fn split(clause: &Clause<Obj>, place: Place, values: &mut Values<'_, '_>) -> Vec<Obj> {
    let mut pieces = vec![clause.pos.clone()];
    let most = (FIELDS / clause.pos.fields.len().max(1)).min(if values.short { 1 } else { PIECES });
    for negative in &clause.neg {
        let mut outside = Vec::new();
        let mut whole = true;
        for piece in &pieces {
            whole &= leave(piece, negative, most, values, &mut outside);
            if !whole {
                break;
            }
        }
        if whole {
            pieces = outside;
        } else {
            values.notes.add(
                place,
                &[COMBINED],
                "objects that must not be of some form are not all told apart",
            );
        }
    }
    pieces
}

/// The objects of a set that are outside another: the first field differs, or it agrees and the second differs, and so
/// on. Says whether these are all.
fn leave(
    from: &Obj,
    negative: &Obj,
    most: usize,
    values: &mut Values<'_, '_>,
    outside: &mut Vec<Obj>,
) -> bool {
    if negative.count != (0, None) || by_other_keys(from, negative, values) {
        return false;
    }
    let own = from.fields.iter().map(|(name, _)| name);
    let more = negative.fields.iter().map(|(name, _)| name).filter(|name| from.fields.get(name).is_none());
    let names: Vec<SmolStr> = own.chain(more).cloned().collect();
    let mut agreeing = from.clone();
    let cost = names.len();
    for name in names {
        // Each step copies the fields.
        if !values.spend(cost) {
            return false;
        }
        let (field, other) = (agreeing.field(&name), negative.field(&name));
        let arena = &mut values.sets.search().arena;
        let (differs, agrees) = (arena.diff(field, other), arena.and(field, other));
        if !is_no_field(differs, values) {
            let piece = agreeing.with(&name, differs);
            if !values.sets.has_no_object(&piece, &[]) {
                outside.push(piece);
            }
            if outside.len() > most {
                return false;
            }
        }
        if is_no_field(agrees, values) {
            break;
        }
        agreeing = agreeing.with(&name, agrees);
    }
    true
}

/// Whether an object can leave the negative by a key that neither declares.
fn by_other_keys(from: &Obj, negative: &Obj, values: &mut Values<'_, '_>) -> bool {
    for (keys, field) in &from.rest {
        for (others, other) in &negative.rest {
            if !values.spend(1) {
                return true;
            }
            let differs = values.sets.search().arena.diff(*field, *other);
            if is_no_field(differs, values) {
                continue;
            }
            let both = values.sets.search().products.and(keys, others);
            if !both.is_ok_and(|both| both.is_none()) {
                return true;
            }
        }
    }
    false
}

/// Whether a field can be neither a value nor absent.
fn is_no_field(id: Id, values: &mut Values<'_, '_>) -> bool {
    if id == Id::NEVER {
        return true;
    }
    let (value, absent) = values.sets.field(id);
    !absent && values.sets.is_empty(value)
}
