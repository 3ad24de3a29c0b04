//! Sets of objects: members in declared order, required and optional mixed as declared.
//!
//! What may come next hangs on the last declared key that came. Keys that begin alike are told apart as late as they
//! can be, so that few positions are live at a time.

mod joint;
mod keys;
mod piece;
mod split;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::notes::Place;
use super::repeat::Element;
use super::rules::Rules;
use super::shared::Shared;
use super::values::{COMBINED, Values};
use crate::schema::object::Obj;
use crate::schema::set::Clause;
use joint::Joints;
use keys::Target;
use piece::Piece;

/// The alternatives of a set of objects.
pub(super) struct Objects {
    pieces: Vec<Piece>,
    hint: SmolStr,
    /// Rules by what they stand for.
    names: FxHashMap<Part, SmolStr>,
    /// Rules with a name and without a body.
    open: Vec<(Part, SmolStr)>,
    /// How many members stand in the open rule, one after the other.
    chain: usize,
    joints: Joints,
}

/// The most members that stand in one rule, one after the other.
const CHAIN: usize = 32;

/// Above this many alternatives a grammar that has to be short takes any object.
const FEW: usize = 16;

/// What a rule of an object stands for. Places are those of fields, counts those of members before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    /// A member after its key.
    Member(At),
    /// What follows a member.
    After(At),
    /// A branching of keys.
    Node(At, u32),
    /// A member that is not declared, after the opening quote of its key.
    Other(At),
    /// The same after a comma, for a map whose members are counted.
    Next(At),
    /// Several alternatives at once.
    Joint(u32),
}

/// A place in one of the alternatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct At {
    piece: u32,
    field: u32,
    members: u32,
}

impl Objects {
    /// The objects of a union; nothing when there are none.
    pub(super) fn plan(
        clauses: &[Clause<Obj>],
        hint: &SmolStr,
        place: Place,
        values: &mut Values<'_, '_>,
    ) -> Option<Self> {
        let mut sets: Vec<Obj> = Vec::new();
        for clause in clauses {
            if clause.neg.is_empty() {
                sets.push(clause.pos.clone());
                continue;
            }
            for piece in split::split(clause, place, values) {
                if !sets.contains(&piece) {
                    sets.push(piece);
                }
            }
        }
        if values.short && sets.len() > FEW {
            values.notes.add(
                place,
                &[COMBINED, &["patternProperties"]],
                "so many alternatives need too many rules",
            );
            sets = vec![Obj::any()];
        }
        let pieces: Vec<Piece> =
            sets.iter().filter_map(|set| Piece::plan(set, hint, place, values)).collect();
        let joints = Joints::new(&pieces, values);
        let (names, open) = (FxHashMap::default(), Vec::new());
        (!pieces.is_empty()).then(|| Self { pieces, hint: hint.clone(), names, open, chain: 0, joints })
    }

    /// Writes the objects into the open rule.
    pub(super) fn write(&mut self, rules: &mut Rules) {
        rules.writer.literal("{");
        if self.pieces.len() > 1 {
            return self.joint_start(rules);
        }
        let start = At { piece: 0, field: 0, members: 0 };
        if self.is_counted_map() {
            return self.map(start, rules);
        }
        match self.ways(start) {
            (_, false) => rules.writer.literal("}"),
            (false, true) => self.quoted_keys(start, rules),
            (true, true) => {
                rules.writer.open();
                rules.writer.literal("}");
                rules.writer.alternative();
                self.quoted_keys(start, rules);
                rules.writer.close();
            }
        }
    }

    /// Writes the rules that the objects need. No rule may be open.
    pub(super) fn finish(&mut self, rules: &mut Rules) {
        let mut next = 0;
        while let Some((part, name)) = self.open.get(next).cloned() {
            next += 1;
            if rules.is_full() {
                return;
            }
            self.chain = 0;
            rules.begin(&name);
            match part {
                Part::Member(at) => self.member(at, rules),
                Part::After(at) => self.following(at, rules),
                Part::Node(at, node) => self.branches(at, node, rules),
                Part::Other(at) => self.other(at, rules),
                Part::Next(at) => {
                    comma(rules);
                    self.reference(Part::Other(at), rules);
                }
                Part::Joint(set) => self.joint_following(set, rules),
            }
            rules.end();
        }
        for piece in &mut self.pieces {
            for others in &mut piece.others {
                if let Some(keys) = &mut others.keys {
                    keys.finish(rules);
                }
            }
        }
    }

    fn piece(&self, at: At) -> Option<&Piece> {
        self.pieces.get(at.piece as usize)
    }

    /// Whether an object may end here, and whether it may go on.
    fn ways(&self, at: At) -> (bool, bool) {
        self.piece(at).map_or((true, false), |piece| {
            let field = at.field as usize;
            let goes_on = piece.root(field, at.members).is_some() || piece.takes_others(field, at.members);
            (piece.may_end(field, at.members), goes_on)
        })
    }

    /// Writes a reference to a rule, which is written later.
    fn reference(&mut self, part: Part, rules: &mut Rules) {
        let name = self.name(part, rules);
        rules.writer.name(&name);
    }

    fn name(&mut self, part: Part, rules: &mut Rules) -> SmolStr {
        if let Some(name) = self.names.get(&part) {
            return name.clone();
        }
        let hint = &self.hint;
        let field = |field: usize, at: At| {
            self.piece(at).and_then(|piece| piece.fields.get(field)).map(|field| &field.name)
        };
        let name = match part {
            Part::Member(at) => match field(at.field as usize, at) {
                Some(name) => rules.names.like(&smol_str::format_smolstr!("{hint}-{name}")),
                None => rules.names.after(hint),
            },
            Part::After(at) => {
                match (at.field as usize).checked_sub(1).and_then(|before| field(before, at)) {
                    Some(name) => rules.names.like(&smol_str::format_smolstr!("{hint}-after-{name}")),
                    None => rules.names.after(&smol_str::format_smolstr!("{hint}-more")),
                }
            }
            Part::Node(..) => rules.names.after(&smol_str::format_smolstr!("{hint}-key")),
            Part::Other(_) => rules.names.after(&smol_str::format_smolstr!("{hint}-other")),
            Part::Next(_) => rules.names.after(&smol_str::format_smolstr!("{hint}-next")),
            Part::Joint(_) => rules.names.after(&smol_str::format_smolstr!("{hint}-either")),
        };
        self.names.insert(part, name.clone());
        self.open.push((part, name.clone()));
        name
    }

    /// Writes what follows a member, as one sequence.
    fn after(&mut self, at: At, rules: &mut Rules) {
        self.chain += 1;
        let alone = self.chain < CHAIN && self.piece(at).is_some_and(|piece| !piece.counts() && !piece.loose);
        match self.ways(at) {
            (_, false) => rules.writer.literal("}"),
            // Only one member leads here.
            (false, true) if alone => self.following(at, rules),
            (true, true) if alone && at.field as usize <= self.declared(at) && !self.is_tail(at) => {
                rules.writer.open();
                self.following(at, rules);
                rules.writer.close();
            }
            _ => {
                // Past the last declared field, and in any order, places are one.
                let piece = self.piece(at);
                let field = if piece.is_some_and(|piece| piece.loose) { 0 } else { at.field };
                self.reference(Part::After(At { field, ..at }), rules);
            }
        }
    }

    fn declared(&self, at: At) -> usize {
        self.piece(at).map_or(0, |piece| piece.fields.len())
    }

    /// Whether only keys that are not declared may follow: one rule for all of them.
    fn is_tail(&self, at: At) -> bool {
        at.field as usize >= self.declared(at)
    }

    /// Writes the ways on after a member as alternatives.
    fn following(&mut self, at: At, rules: &mut Rules) {
        let (end, goes_on) = self.ways(at);
        if goes_on {
            rules.writer.literal(",");
            rules.shared(Shared::Ws);
            self.quoted_keys(at, rules);
        }
        if end {
            rules.writer.alternative();
            rules.writer.literal("}");
        }
    }

    /// Writes the keys that may come next, and all that follows them.
    fn quoted_keys(&mut self, at: At, rules: &mut Rules) {
        rules.writer.literal("\"");
        let Some(piece) = self.piece(at) else { return };
        let root = piece.root(at.field as usize, at.members);
        let others = piece.takes_others(at.field as usize, at.members);
        let several = root.is_some_and(|root| piece.trees.edges(root).len() > 1);
        match root {
            None => self.reference(Part::Other(self.tail(at)), rules),
            Some(root) if !several && !others => self.branches(at, root, rules),
            Some(root) => {
                rules.writer.open();
                self.branches(at, root, rules);
                if others {
                    rules.writer.alternative();
                    self.reference(Part::Other(self.tail(at)), rules);
                }
                rules.writer.close();
            }
        }
    }

    /// The place past the declared fields.
    fn tail(&self, at: At) -> At {
        At { field: u32::try_from(self.declared(at)).unwrap_or(u32::MAX), ..at }
    }

    /// Writes a branching of keys as alternatives, one edge as a sequence.
    fn branches(&mut self, at: At, node: u32, rules: &mut Rules) {
        let Some(piece) = self.piece(at) else { return };
        let edges: smallvec::SmallVec<[(SmolStr, Target); 4]> =
            piece.trees.edges(node).map(|(text, target)| (SmolStr::new(text), target)).collect();
        for (place, (text, target)) in edges.into_iter().enumerate() {
            if place > 0 {
                rules.writer.alternative();
            }
            rules.writer.literal(&text);
            match target {
                Target::Node(node) => self.reference(Part::Node(At { field: 0, ..at }, node), rules),
                Target::Key(field) => {
                    let member = At { field: u32::try_from(field).unwrap_or(u32::MAX), ..at };
                    if self.piece(at).is_some_and(|piece| piece.is_shared(field)) {
                        self.reference(Part::Member(member), rules);
                    } else {
                        self.member(member, rules);
                    }
                }
            }
        }
    }

    /// Writes a member after its key, and what follows it.
    fn member(&mut self, at: At, rules: &mut Rules) {
        colon(rules);
        let Some(piece) = self.piece(at) else { return };
        if let Some(field) = piece.fields.get(at.field as usize) {
            field.value.write(rules);
        }
        let members = piece.counted(at.members);
        self.after(At { field: at.field + 1, members, ..at }, rules);
    }

    /// Writes members that are not declared, after the opening quote, as alternatives.
    fn other(&mut self, at: At, rules: &mut Rules) {
        let counted_map = self.is_counted_map();
        let classes = self.piece(at).map_or(0, |piece| piece.others.len());
        for class in 0..classes {
            rules.writer.alternative();
            let Some(others) =
                self.pieces.get_mut(at.piece as usize).and_then(|piece| piece.others.get_mut(class))
            else {
                return;
            };
            match &mut others.keys {
                Some(keys) => keys.start(rules),
                None => rules.shared(Shared::Text),
            }
            colon(rules);
            others.value.write(rules);
            if counted_map {
                continue;
            }
            let members = self.piece(at).map_or(0, |piece| piece.counted(at.members));
            self.after(At { members, ..at }, rules);
        }
    }

    /// Whether the objects are maps without declared fields whose members are counted: a repetition.
    fn is_counted_map(&self) -> bool {
        matches!(self.pieces.as_slice(), [piece] if piece.fields.is_empty() && !piece.others.is_empty() && piece.range() != (0, None))
    }

    fn map(&mut self, at: At, rules: &mut Rules) {
        let (least, most) = self.piece(at).map_or((0, None), Piece::range);
        if most == Some(0) {
            return rules.writer.literal("}");
        }
        let next = Element::Name(self.name(Part::Next(at), rules));
        if least == 0 {
            rules.writer.open();
            rules.writer.literal("}");
            rules.writer.alternative();
        }
        rules.writer.literal("\"");
        self.reference(Part::Other(at), rules);
        rules.repeat(&next, least.saturating_sub(1), most.map(|most| most - 1));
        rules.writer.literal("}");
        if least == 0 {
            rules.writer.close();
        }
    }
}

fn colon(rules: &mut Rules) {
    rules.writer.literal(":");
    rules.shared(Shared::Ws);
}

fn comma(rules: &mut Rules) {
    rules.writer.literal(",");
    rules.shared(Shared::Ws);
    rules.writer.literal("\"");
}
