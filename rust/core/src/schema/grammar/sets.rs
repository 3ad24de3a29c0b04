//! The sets of a schema, as the writer asks about them.

use std::sync::Arc;

use crate::schema::arena::{Arena, Expr, Id};
use crate::schema::array::Arr;
use crate::schema::object::Obj;
use crate::schema::search::Search;
use crate::schema::set::Set;
use crate::schema::undecided::Undecided;

/// A grammar asks about every part of a schema, where the emptiness test of its reader stops at the first member.
const PATIENCE: u32 = 8;

/// The sets of a schema. Most questions are answered where they stand; the algebra is set up for the first other one.
pub(in crate::schema) struct Sets<'s> {
    arena: &'s Arena,
    search: Option<Box<Search>>,
}

impl<'s> Sets<'s> {
    pub(in crate::schema) fn new(arena: &'s Arena) -> Self {
        Self { arena, search: None }
    }

    pub(in crate::schema) fn search(&mut self) -> &mut Search {
        self.search.get_or_insert_with(|| Box::new(Search::times(self.arena.clone(), PATIENCE)))
    }

    fn arena(&self) -> &Arena {
        self.search.as_ref().map_or(self.arena, |search| &search.arena)
    }

    /// The set that a reference stands for.
    pub(in crate::schema) fn target(&self, mut id: Id) -> Id {
        // References that lead round in a circle were refused.
        while let Expr::Ref(reference) = self.arena().expr(id)
            && let Some(target) = self.arena().target(*reference)
        {
            id = target;
        }
        id
    }

    /// The normal form of a set.
    pub(in crate::schema) fn normal(&mut self, id: Id) -> Result<Arc<Set>, Undecided> {
        let id = self.target(id);
        match self.arena().leaf_of(id) {
            Some(leaf) => Ok(Arc::clone(leaf)),
            None => self.search().normal(id),
        }
    }

    /// Whether no value is in a set. What is not decided is taken for a set that has one.
    pub(in crate::schema) fn is_empty(&mut self, id: Id) -> bool {
        match id {
            Id::NEVER | Id::ABSENT => true,
            _ if self.arena().facts(id).inhabited => false,
            _ => self.search().is_empty(id) == Ok(true),
        }
    }

    /// The values of what a field may be, and whether it may be absent.
    pub(in crate::schema) fn field(&mut self, id: Id) -> (Id, bool) {
        let arena = self.arena();
        if arena.facts(id).present {
            return (id, false);
        }
        match (id, arena.expr(id)) {
            (Id::ANY, _) => return (Id::PRESENT, true),
            (Id::ABSENT, _) => return (Id::NEVER, true),
            (_, Expr::Or(ids)) if ids.contains(&Id::ABSENT) => {
                if let [Id::ABSENT, value] | [value, Id::ABSENT] = ids.as_slice()
                    && arena.facts(*value).present
                {
                    return (*value, true);
                }
            }
            _ => {}
        }
        let absent = self.normal(id).is_ok_and(|set| set.absent);
        (self.search().arena.and(id, Id::PRESENT), absent)
    }

    pub(in crate::schema) fn has_no_object(&mut self, pos: &Obj, negatives: &[Obj]) -> bool {
        self.search().has_no_object(pos, negatives) == Ok(true)
    }

    pub(in crate::schema) fn has_no_array(&mut self, pos: &Arr, negatives: &[Arr]) -> bool {
        self.search().has_no_array(pos, negatives) == Ok(true)
    }
}
