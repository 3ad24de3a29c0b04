//! Objects without negatives: which keys may come next, and what was counted.

use std::sync::Arc;

use smol_str::SmolStr;

use super::super::automaton::Automaton;
use super::super::chars::escaped;
use super::super::notes::{Place, Step};
use super::super::strings::{FEW_STATES, STATES};
use super::super::values::{COMBINED, Value, Values};
use super::keys::Trees;
use crate::schema::arena::Id;
use crate::schema::object::Obj;
use crate::schema::string::Words;
use crate::schema::strings::Dfa;

/// The most states (fields by counts) of objects whose members are counted.
const COUNTED: u64 = 2_000;
/// With more fields than this, a grammar that has to be short leaves their order open.
const ORDERED: usize = 16;

/// The keywords about declared fields.
const FIELDS: &[&[&str]] = &[&["properties", "required", "minProperties", "maxProperties"], COMBINED];

/// The keywords about keys that are not declared.
const OTHERS: &[&[&str]] =
    &[&["additionalProperties", "patternProperties", "propertyNames"], &["properties"], COMBINED];

/// The objects of one set, declared fields first and in their order.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) fields: Vec<Field>,
    pub(super) others: Vec<Others>,
    /// How many members there are, as far as fields and requirements do not say it.
    least: u64,
    most: Option<u64>,
    /// Counts are told apart up to here.
    top: u32,
    /// For each field how many from it on are required, and 0 at the end.
    required: Vec<u64>,
    pub(super) trees: Trees,
    /// The tree of the keys that may come next, by count and by place.
    roots: Vec<Option<u32>>,
    /// Fields come in any order, and none is required.
    pub(super) loose: bool,
}

/// A declared field.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: SmolStr,
    pub(super) id: Id,
    pub(super) value: Value,
    pub(super) optional: bool,
}

/// A class of keys that are not declared.
#[derive(Debug)]
pub(super) struct Others {
    /// Nothing for every key.
    pub(super) keys: Option<Automaton>,
    pub(super) value: Value,
}

impl Piece {
    /// The objects of a set; nothing when there are none.
    pub(super) fn plan(
        object: &Obj,
        hint: &SmolStr,
        place: Place,
        values: &mut Values<'_, '_>,
    ) -> Option<Self> {
        let mut fields = Vec::with_capacity(object.fields.len());
        for (name, id) in object.fields.iter() {
            let (id, optional) = values.sets.field(id);
            if values.sets.is_empty(id) {
                if optional {
                    continue;
                }
                return None;
            }
            let value = values.value(id, name, place, || Step::Field(name.clone()));
            fields.push(Field { name: name.clone(), id, value, optional });
        }
        let others = others(object, hint, place, values);
        let count = fields.len() as u64;
        let needed = fields.iter().filter(|field| !field.optional).count() as u64;
        let least = if object.count.0 > needed { object.count.0 } else { 0 };
        let most = object.count.1.filter(|most| !others.is_empty() || *most < count);
        if most.is_some_and(|most| most < needed || most < least) || (others.is_empty() && least > count) {
            return None;
        }
        if !others.is_empty() && least > needed + 1 {
            values.notes.add(
                place,
                &[&["minProperties"], COMBINED],
                "a key that is not declared may come again and be counted",
            );
        }
        let mut piece = Self {
            required: Vec::new(),
            trees: Trees::new(fields.iter().map(|field| written(&field.name)).collect()),
            fields,
            others,
            least,
            most,
            top: 0,
            roots: Vec::new(),
            loose: false,
        };
        piece.bound(place, values);
        piece.grow();
        Some(piece)
    }

    /// Sets what is counted, and gives up what would be too much.
    fn bound(&mut self, place: Place, values: &mut Values<'_, '_>) {
        let count = self.fields.len();
        self.loose = values.short && count > ORDERED;
        if self.loose {
            values.notes.add(
                place,
                FIELDS,
                "with so many fields their order and presence need too many rules",
            );
            (self.least, self.most) = (0, None);
        }
        let top = self.most.unwrap_or(self.least);
        if top > 0 && top.saturating_add(1).saturating_mul(count as u64) > COUNTED {
            values.notes.add(
                place,
                &[&["minProperties", "maxProperties"], COMBINED],
                "counting so many members needs too many rules",
            );
            (self.least, self.most) = (0, None);
        }
        self.top = u32::try_from(self.most.unwrap_or(self.least)).unwrap_or(u32::MAX);
    }

    /// Builds the trees of the keys that may come next, from the last field to the first.
    fn grow(&mut self) {
        let count = self.fields.len();
        self.required = vec![0; count + 1];
        for at in (0..count).rev() {
            let after = self.required.get(at + 1).copied().unwrap_or(0);
            let here = self.fields.get(at).is_some_and(|field| !field.optional);
            if let Some(slot) = self.required.get_mut(at) {
                *slot = after + u64::from(here);
            }
        }
        if count == 0 {
            return;
        }
        self.roots = vec![None; count * (self.top as usize + 1)];
        for members in 0..=self.top {
            let mut tree = None;
            for at in (0..count).rev() {
                if !self.loose && self.fields.get(at).is_some_and(|field| !field.optional) {
                    tree = None;
                }
                if self.is_viable(at + 1, self.counted(members)) {
                    tree = Some(self.trees.with(tree, at));
                }
                if let Some(root) = self.roots.get_mut(members as usize * count + at) {
                    *root = tree;
                }
            }
        }
    }

    /// The tree of the declared keys that may come next.
    pub(super) fn root(&self, at: usize, members: u32) -> Option<u32> {
        let count = self.fields.len();
        let at = if self.loose { 0 } else { at };
        if at >= count { None } else { self.roots.get(members as usize * count + at).copied().flatten() }
    }

    /// The declared fields that may come next, in order.
    pub(super) fn candidates(&self, at: usize, members: u32) -> impl Iterator<Item = (usize, &Field)> {
        let mut done = false;
        let rest = self.fields.iter().enumerate().skip(if self.loose { 0 } else { at });
        let until = rest.take_while(move |(_, field)| {
            let before = done;
            done |= !(field.optional || self.loose);
            !before
        });
        until.filter(move |(place, _)| self.is_viable(place + 1, self.counted(members)))
    }

    /// One member more.
    pub(super) fn counted(&self, members: u32) -> u32 {
        // Past a maximum a count is told apart once, as too many.
        let top = if self.most.is_some() { self.top.saturating_add(1) } else { self.top };
        members.saturating_add(1).min(top)
    }

    /// Whether the object may end before the field at this place.
    pub(super) fn may_end(&self, at: usize, members: u32) -> bool {
        self.loose || (self.needs(at) == 0 && u64::from(members) >= self.least)
    }

    /// Whether a key that is not declared may come next.
    pub(super) fn takes_others(&self, at: usize, members: u32) -> bool {
        !self.others.is_empty()
            && (self.loose
                || (self.needs(at) == 0 && self.is_viable(self.fields.len(), self.counted(members))))
    }

    /// Whether members are counted.
    pub(super) fn counts(&self) -> bool {
        self.top > 0 || self.most.is_some()
    }

    /// How many members there are of a map without declared fields.
    pub(super) fn range(&self) -> (u64, Option<u64>) {
        (self.least, self.most)
    }

    /// Whether a field's key stands in more than one tree.
    pub(super) fn is_shared(&self, at: usize) -> bool {
        self.loose
            || at
                .checked_sub(1)
                .and_then(|before| self.fields.get(before))
                .is_some_and(|field| field.optional)
    }

    fn needs(&self, at: usize) -> u64 {
        self.required.get(at).copied().unwrap_or(0)
    }

    /// Whether some object goes on from here.
    fn is_viable(&self, at: usize, members: u32) -> bool {
        if self.loose {
            return true;
        }
        let members = u64::from(members);
        let left = self.fields.len().saturating_sub(at) as u64;
        self.most.is_none_or(|most| members + self.needs(at) <= most)
            && (!self.others.is_empty() || members + left >= self.least)
    }
}

/// A key as it stands in a JSON text after the opening quote.
fn written(name: &SmolStr) -> SmolStr {
    let text = escaped(name);
    smol_str::format_smolstr!("{}\"", text.as_deref().unwrap_or(name))
}

/// The classes of keys that are not declared and may be there.
fn others(object: &Obj, hint: &SmolStr, place: Place, values: &mut Values<'_, '_>) -> Vec<Others> {
    let mut others = Vec::new();
    let mut declared: Option<Dfa> = None;
    for (class, id) in &object.rest {
        if *id == Id::ABSENT {
            continue;
        }
        let (id, _) = values.sets.field(*id);
        if values.sets.is_empty(id) {
            continue;
        }
        let declared = declared.get_or_insert_with(|| {
            Dfa::words(&object.fields.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())
        });
        let most = if values.short { FEW_STATES } else { STATES };
        let keys = class.minus(declared).ok().filter(|keys| keys.states() <= most).unwrap_or_else(|| {
            values.notes.add(place, OTHERS, "the keys that are not declared need too many rules");
            if class.states() <= most { Dfa::clone(class) } else { Dfa::all() }
        });
        if keys.is_none() {
            continue;
        }
        let value = values.value(id, &smol_str::format_smolstr!("{hint}-value"), place, || Step::Other);
        let hint = smol_str::format_smolstr!("{hint}-key");
        let keys = (!keys.is_all()).then(|| Automaton::of_strings(&keys, hint));
        others.push(Others { keys, value });
    }
    others
}

/// The words of a set that holds nothing else.
pub(super) fn words(id: Id, values: &mut Values<'_, '_>) -> Option<Arc<[SmolStr]>> {
    let set = values.sets.normal(id).ok()?;
    let alone =
        !(set.null || set.tru || set.fals) && set.num.is_empty() && set.arr.is_empty() && set.obj.is_empty();
    match set.str.as_slice() {
        [one] if alone => match &one.words {
            Words::List(words) => Some(Arc::clone(words)),
            Words::Dfa(_) => None,
        },
        _ => None,
    }
}
