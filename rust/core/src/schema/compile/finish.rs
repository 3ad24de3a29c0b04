//! After the walk: targets of references, pending names, and what makes a schema meaningless.

use rustc_hash::FxHashMap;

use super::{Compiled, Compiler};
use crate::json::Path;
use crate::schema::arena::{Arena, Expr, Id};
use crate::schema::rules as r;
use crate::schema::search::strings;
use crate::schema::undecided::Undecided;

/// The longest chain of sets about one value: a bound for every recursion over expressions.
const CHAIN: u32 = 64;

impl Compiler<'_, '_> {
    pub(super) fn finish(mut self, root: Id) -> Option<Compiled> {
        while let Some(job) = self.jobs.pop() {
            let target = self.target(&job);
            self.arena.close_reference(job.reference, target);
        }
        if self.failed {
            return None;
        }
        if self.arena.has_references()
            && let Err(chain) =
                chains(&self.arena, root, &self.places.iter().map(|(id, _)| *id).collect::<Vec<_>>())
        {
            self.refuse_chain(chain);
            return None;
        }
        for pending in std::mem::take(&mut self.pending_names) {
            let strings = strings(&self.arena, &mut self.products, pending.names);
            let target = strings.and_then(|strings| self.with_keys(&strings));
            match target {
                Ok(target) => self.arena.close_reference(pending.reference, target),
                Err(undecided) => self.too_costly(&Path::Tail(&Path::Root, &pending.pointer), undecided),
            }
        }
        (!self.failed).then_some(Compiled { arena: self.arena, root })
    }

    fn refuse_chain(&mut self, chain: Chain) {
        match chain {
            Chain::Vacuous(id) => {
                let place =
                    self.places.iter().find(|(known, _)| *known == id).map(|(_, place)| place.clone());
                let message = format_args!("the reference leads back to itself without going into a value");
                self.report(
                    &r::REFERENCE_VACUOUS,
                    &Path::Tail(&Path::Root, &place.unwrap_or_default()),
                    message,
                );
            }
            Chain::TooLong => self.too_costly(&Path::Tail(self.at, ""), Undecided::Depth),
        }
    }
}

/// What is wrong with a chain of sets about one value.
enum Chain {
    /// It comes back to this reference.
    Vacuous(Id),
    TooLong,
}

/// Walks all sets without going into values. The walk keeps its own stack: a chain may be as long as a schema.
fn chains(arena: &Arena, root: Id, references: &[Id]) -> Result<(), Chain> {
    let mut heights: FxHashMap<Id, Option<u32>> = FxHashMap::default();
    for start in std::iter::once(root).chain(references.iter().copied()) {
        let mut stack = vec![(start, false)];
        while let Some((id, done)) = stack.pop() {
            let below = operands(arena, id);
            if done {
                let height = below.iter().filter_map(|id| heights.get(id).copied().flatten()).max();
                let height = height.map_or(0, |height| height + 1);
                if height > CHAIN {
                    return Err(Chain::TooLong);
                }
                heights.insert(id, Some(height));
                continue;
            }
            match heights.get(&id) {
                Some(Some(_)) => continue,
                Some(None) => return Err(Chain::Vacuous(reference_on(arena, &stack, id))),
                None => {}
            }
            heights.insert(id, None);
            stack.push((id, true));
            stack.extend(below.into_iter().map(|id| (id, false)));
        }
    }
    Ok(())
}

/// Of a cycle that ends in `id`, a reference: every cycle has one.
fn reference_on(arena: &Arena, stack: &[(Id, bool)], id: Id) -> Id {
    let open = stack.iter().rev().filter(|(_, done)| *done).map(|(id, _)| *id);
    let is_reference = |id: &Id| matches!(arena.expr(*id), Expr::Ref(_));
    std::iter::once(id).chain(open).find(is_reference).unwrap_or(id)
}

/// The sets that an expression is made of, about the same value.
fn operands(arena: &Arena, id: Id) -> Vec<Id> {
    match arena.expr(id) {
        Expr::Leaf(_) => Vec::new(),
        Expr::And(ids) | Expr::Or(ids) | Expr::One(ids) => ids.to_vec(),
        Expr::Not(id) => vec![*id],
        Expr::Ref(reference) => arena.target(*reference).into_iter().collect(),
    }
}
