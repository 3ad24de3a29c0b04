//! Several sets of objects at once: as long as they say the same, they are one, so that few positions are live.
//!
//! A discriminator (a field with another constant in each set) tells them apart at its value. Where fields of the same
//! name may be different values, both ways are written.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use smol_str::SmolStr;

use super::super::rules::Rules;
use super::super::shared::Shared;
use super::super::values::Values;
use super::super::words::Words;
use super::piece::{Piece, words};
use super::{At, Objects, Part, colon};
use crate::schema::arena::Id;

/// The most sets of places that are one rule; past these each place is on its own.
const SETS: usize = 256;

/// The places where several alternatives stand.
type Places = SmallVec<[At; 4]>;

/// Sets of places, each once.
#[derive(Debug, Default)]
pub(super) struct Joints {
    sets: Vec<Places>,
    known: FxHashMap<Places, u32>,
    /// The words of fields that are nothing else.
    words: FxHashMap<Id, Arc<[SmolStr]>>,
}

impl Joints {
    pub(super) fn new(pieces: &[Piece], values: &mut Values<'_, '_>) -> Self {
        let mut joints = Self::default();
        if pieces.len() > 1 {
            for field in pieces.iter().flat_map(|piece| &piece.fields) {
                if let Some(words) = words(field.id, values) {
                    joints.words.insert(field.id, words);
                }
            }
        }
        joints
    }
}

impl Objects {
    /// Writes all alternatives after the opening brace.
    pub(super) fn joint_start(&mut self, rules: &mut Rules) {
        let pieces = 0..u32::try_from(self.pieces.len()).unwrap_or(u32::MAX);
        let places: Places = pieces.map(|piece| At { piece, field: 0, members: 0 }).collect();
        let (end, goes_on) = self.joint_ways(&places);
        let both = end && goes_on;
        if both {
            rules.writer.open();
        }
        if end {
            rules.writer.literal("}");
        }
        if both {
            rules.writer.alternative();
        }
        if goes_on {
            rules.writer.literal("\"");
            self.joint_keys(&places, rules);
        }
        if both {
            rules.writer.close();
        }
    }

    /// Writes what follows a member in one of several alternatives.
    pub(super) fn joint_following(&mut self, set: u32, rules: &mut Rules) {
        let Some(places) = self.joints.sets.get(set as usize).cloned() else { return };
        let (end, goes_on) = self.joint_ways(&places);
        if goes_on {
            rules.writer.literal(",");
            rules.shared(Shared::Ws);
            rules.writer.literal("\"");
            self.joint_keys(&places, rules);
        }
        if end {
            rules.writer.alternative();
            rules.writer.literal("}");
        }
    }

    fn joint_ways(&self, places: &Places) -> (bool, bool) {
        places.iter().map(|at| self.ways(*at)).fold((false, false), |a, b| (a.0 || b.0, a.1 || b.1))
    }

    /// Writes the keys that may come next in any of the alternatives.
    fn joint_keys(&mut self, places: &Places, rules: &mut Rules) {
        let mut keys: Vec<(SmolStr, Places)> = Vec::new();
        let mut known: FxHashMap<SmolStr, usize> = FxHashMap::default();
        let mut others: SmallVec<[At; 2]> = SmallVec::new();
        for at in places {
            let Some(piece) = self.piece(*at) else { continue };
            for (place, field) in piece.candidates(at.field as usize, at.members) {
                let member = At { field: u32::try_from(place).unwrap_or(u32::MAX), ..*at };
                let slot = *known.entry(field.name.clone()).or_insert_with(|| {
                    keys.push((field.name.clone(), Places::new()));
                    keys.len() - 1
                });
                if let Some((_, members)) = keys.get_mut(slot) {
                    members.push(member);
                }
            }
            if piece.takes_others(at.field as usize, at.members) {
                others.push(self.tail(*at));
            }
        }
        let group = !others.is_empty() && (others.len() > 1 || !keys.is_empty());
        if group {
            rules.writer.open();
        }
        let tree = Words::new(keys.iter().enumerate().map(|(at, (name, _))| (name, at)));
        tree.write(rules, |rules, at| {
            if let Some((_, members)) = keys.get(at) {
                self.joint_member(members, rules);
            }
        });
        for at in others {
            if group {
                rules.writer.alternative();
            }
            self.reference(Part::Other(at), rules);
        }
        if group {
            rules.writer.close();
        }
    }

    /// Writes a member after its key, by the values that it has in the alternatives.
    fn joint_member(&mut self, members: &Places, rules: &mut Rules) {
        colon(rules);
        let mut values: SmallVec<[(Id, Places); 2]> = SmallVec::new();
        for at in members {
            let Some(piece) = self.piece(*at) else { continue };
            let Some(field) = piece.fields.get(at.field as usize) else { continue };
            let after = At { field: at.field + 1, members: piece.counted(at.members), ..*at };
            match values.iter_mut().find(|(id, _)| *id == field.id) {
                Some((_, places)) => places.push(after),
                None => values.push((field.id, Places::from_iter([after]))),
            }
        }
        let mut by_word: Vec<(SmolStr, Places)> = Vec::new();
        let mut known: FxHashMap<SmolStr, usize> = FxHashMap::default();
        if values.len() > 1 {
            values.retain(|(id, places)| {
                let Some(words) = self.joints.words.get(id) else { return true };
                for word in words.iter() {
                    let slot = *known.entry(word.clone()).or_insert_with(|| {
                        by_word.push((word.clone(), Places::new()));
                        by_word.len() - 1
                    });
                    if let Some((_, after)) = by_word.get_mut(slot) {
                        after.extend(places.iter().copied());
                    }
                }
                false
            });
        }
        let group = values.len() + usize::from(!by_word.is_empty()) > 1;
        if group {
            rules.writer.open();
        }
        if !by_word.is_empty() {
            rules.writer.literal("\"");
            let tree = Words::new(by_word.iter().enumerate().map(|(at, (word, _))| (word, at)));
            tree.write(rules, |rules, at| {
                if let Some((_, places)) = by_word.get(at) {
                    self.joint_after(places, rules);
                }
            });
        }
        for (id, places) in values {
            if group {
                rules.writer.alternative();
            }
            let value = places.first().and_then(|at| {
                let fields = &self.piece(*at)?.fields;
                fields.iter().find(|field| field.id == id).map(|field| field.value.clone())
            });
            if let Some(value) = value {
                value.write(rules);
            }
            self.joint_after(&places, rules);
        }
        if group {
            rules.writer.close();
        }
    }

    /// Writes what follows a member, in each alternative that it leaves.
    fn joint_after(&mut self, places: &Places, rules: &mut Rules) {
        if rules.is_full() {
            return;
        }
        let mut places = places.clone();
        places.sort_unstable();
        places.dedup();
        if let [at] = places.as_slice() {
            return match self.ways(*at) {
                (_, false) => rules.writer.literal("}"),
                _ => self.reference(Part::After(*at), rules),
            };
        }
        let known = self.joints.known.get(&places).copied();
        let next = u32::try_from(self.joints.sets.len()).unwrap_or(u32::MAX);
        if let Some(set) = known.or_else(|| (self.joints.sets.len() < SETS).then_some(next)) {
            if known.is_none() {
                self.joints.sets.push(places.clone());
                self.joints.known.insert(places, set);
            }
            return self.reference(Part::Joint(set), rules);
        }
        rules.writer.open();
        for at in places {
            rules.writer.alternative();
            self.reference(Part::After(at), rules);
        }
        rules.writer.close();
    }
}
