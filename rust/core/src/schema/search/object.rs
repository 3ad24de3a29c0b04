//! Members of sets of objects.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smol_str::{SmolStr, format_smolstr};

use super::{FirstFound, Search, Witness};
use crate::schema::arena::Id;
use crate::schema::object::Obj;
use crate::schema::string::{is_empty, meet, outside};
use crate::schema::strings::Dfa;
use crate::schema::undecided::Undecided;

/// The most members that are made up to reach a least count.
const MEMBERS: u64 = 1_000;
/// The name of a member that is made up where any will do.
const EXTRA: &str = "extra";

impl Search {
    /// An object of `pos` that is in none of `negatives`: each way of leaving the first is tried.
    pub(super) fn object(&mut self, pos: &Obj, negatives: &[Obj]) -> Result<Option<Witness>, Undecided> {
        if is_empty(pos.count) {
            return Ok(None);
        }
        match negatives.split_first() {
            Some((first, rest)) => self.framed(|search| search.object_outside(pos, first, rest)),
            None => self.members(pos),
        }
    }

    fn object_outside(&mut self, pos: &Obj, out: &Obj, rest: &[Obj]) -> Result<Option<Witness>, Undecided> {
        // What is empty already has no ways out: this prunes discriminated unions to nothing.
        if let Ok(None) = self.members(pos) {
            return Ok(None);
        }
        let mut first = FirstFound::default();
        for count in outside(out.count) {
            let narrowed = Obj { count: meet(pos.count, count), ..pos.clone() };
            let found = self.object(&narrowed, rest);
            if let Some(object) = first.note(found)? {
                return Ok(Some(object));
            }
        }
        // A key that only the other sets declare stands for a fresh one, unless members are counted.
        let counted = pos.count.1.is_some() || rest.iter().any(|other| other.count.0 > 0);
        let others = rest.iter().filter(|_| counted);
        let names: Vec<SmolStr> = names_of([pos, out].into_iter().chain(others));
        for name in &names {
            self.pay(2)?;
            if pos.field(name) == out.field(name) {
                continue;
            }
            let field = self.arena.diff(pos.field(name), out.field(name));
            if field == Id::NEVER || self.is_plainly_empty(field) {
                continue;
            }
            let possible = self.is_possible(field).map(Some);
            if first.note(possible)? == Some(true) {
                self.pay(pos.fields.len() / 4)?;
                let found = self.object(&pos.with(name, field), rest);
                if let Some(object) = first.note(found)? {
                    return Ok(Some(object));
                }
            }
        }
        let fresh = self.fresh_keys(pos, out, rest, &names);
        for (key, field) in first.note(fresh.map(Some))?.unwrap_or_default() {
            let found = self.object(&pos.with(&key, field), rest);
            if let Some(object) = first.note(found)? {
                return Ok(Some(object));
            }
        }
        first.end()
    }

    /// Keys that no set here declares, one of every class that all of them tell apart, with what such a field
    /// may be in `pos` and not in `out`.
    fn fresh_keys(
        &mut self,
        pos: &Obj,
        out: &Obj,
        rest: &[Obj],
        names: &[SmolStr],
    ) -> Result<Vec<(SmolStr, Id)>, Undecided> {
        let mut classes: Vec<(Arc<Dfa>, Id)> = Vec::new();
        for (keys, id) in &pos.rest {
            for (others, other) in &out.rest {
                let field = self.arena.diff(*id, *other);
                let field = self.arena.and(field, Id::PRESENT);
                if field == Id::NEVER || self.is_plainly_empty(field) || self.is_empty(field)? {
                    continue;
                }
                let both = self.products.and(keys, others)?;
                if !both.is_none() {
                    classes.push((both, field));
                }
            }
        }
        for other in rest {
            if other.rest.len() < 2 {
                continue;
            }
            let mut cut = Vec::new();
            for (keys, field) in &classes {
                for (others, _) in &other.rest {
                    let both = self.products.and(keys, others)?;
                    if !both.is_none() {
                        cut.push((both, *field));
                    }
                }
            }
            classes = cut;
        }
        if classes.is_empty() {
            return Ok(Vec::new());
        }
        let all_names = rest.iter().flat_map(|other| other.fields.iter().map(|(name, _)| name));
        let declared: FxHashSet<&str> = names.iter().chain(all_names).map(SmolStr::as_str).collect();
        self.pay(declared.len())?;
        let mut keys = Vec::new();
        for (class, field) in classes {
            if let Some(key) = self.fresh_key(&class, &declared)? {
                keys.push((key, field));
            }
        }
        Ok(keys)
    }

    /// A key of a class that is not declared; `None` is proof that there is none.
    fn fresh_key(
        &mut self,
        class: &Arc<Dfa>,
        declared: &FxHashSet<&str>,
    ) -> Result<Option<SmolStr>, Undecided> {
        if class.is_all() {
            let plain = std::iter::once(SmolStr::new_static(EXTRA));
            let mut numbered = plain.chain((2..).map(|n: usize| format_smolstr!("{EXTRA}{n}")));
            return Ok(numbered.find(|key| !declared.contains(key.as_str())));
        }
        // An empty key is one too, but the hardest to read.
        for least in [1, 0] {
            match self.products.word(class, (least, None))? {
                Some(key) if !declared.contains(key.as_str()) => return Ok(Some(key)),
                _ => {}
            }
        }
        let declared = self.products.of_words(declared.iter().copied())?;
        let free = self.products.minus(class, &declared)?;
        self.products.word(&free, (0, None))
    }

    /// An object of a set without negatives: what is required, then what is optional, then made-up keys, until
    /// the least count is met.
    fn members(&mut self, pos: &Obj) -> Result<Option<Witness>, Undecided> {
        let mut members: Vec<(SmolStr, Option<Witness>)> = Vec::new();
        let mut optional = 0;
        self.pay(pos.fields.len())?;
        for (name, id) in pos.fields.iter() {
            let absent = !self.arena.facts(id).present && self.normal(id)?.absent;
            if absent {
                optional += 1;
                members.push((name.clone(), None));
                continue;
            }
            match self.member(id)? {
                Some(value) => members.push((name.clone(), Some(value))),
                None => return Ok(None),
            }
        }
        let mut count = (members.len() - optional) as u64;
        if pos.count.1.is_some_and(|most| count > most) {
            return Ok(None);
        }
        let mut undecided = None;
        for (name, slot) in members.iter_mut().filter(|(_, slot)| slot.is_none()) {
            if count >= pos.count.0 {
                break;
            }
            let present = self.arena.and(pos.field(name), Id::PRESENT);
            match self.member(present) {
                Ok(Some(value)) => {
                    *slot = Some(value);
                    count += 1;
                }
                Ok(None) => {}
                Err(reason) => undecided = Some(reason),
            }
        }
        let mut members: Vec<(SmolStr, Witness)> =
            members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        if count < pos.count.0 {
            if let Err(reason) = self.made_up(pos, &mut members) {
                undecided = Some(reason);
            }
            if (members.len() as u64) < pos.count.0 {
                return undecided.map_or(Ok(None), Err);
            }
        }
        Ok(Some(Witness::object(members)))
    }

    /// Adds members with keys that are not declared, up to the least count or as many as there are.
    fn made_up(&mut self, pos: &Obj, members: &mut Vec<(SmolStr, Witness)>) -> Result<(), Undecided> {
        if pos.count.0 > MEMBERS {
            return Err(Undecided::Steps);
        }
        let declared = self.products.of_words(pos.fields.iter().map(|(name, _)| name.as_str()))?;
        for (class, id) in &pos.rest {
            let field = self.arena.and(*id, Id::PRESENT);
            let Some(value) = self.member(field)? else { continue };
            let mut keys = self.products.minus(class, &declared)?;
            let endless = !keys.is_finite();
            let mut least = 0;
            while (members.len() as u64) < pos.count.0 {
                let Some(key) = self.products.word(&keys, (least, None))? else { break };
                if endless {
                    // A longer key is another key.
                    least = key.chars().count() as u64 + 1;
                } else {
                    let taken = self.products.of_words(std::iter::once(key.as_str()))?;
                    keys = self.products.minus(&keys, &taken)?;
                }
                members.push((key, value.clone()));
            }
        }
        Ok(())
    }
}

/// The names that several sets declare, each once.
fn names_of<'o>(objects: impl Iterator<Item = &'o Obj>) -> Vec<SmolStr> {
    let mut known = FxHashSet::default();
    let names = objects.flat_map(|object| object.fields.iter().map(|(name, _)| name));
    names.filter(|name| known.insert(*name)).cloned().collect()
}
