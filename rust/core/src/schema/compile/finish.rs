//! After the walk: the targets of references, and `propertyNames` that waited for them.

use super::{Compiled, Compiler};
use crate::json::Path;
use crate::schema::arena::Id;
use crate::schema::search::strings;

impl Compiler<'_, '_> {
    pub(super) fn finish(mut self, root: Id) -> Option<Compiled> {
        while let Some(job) = self.jobs.pop() {
            let target = self.target(&job);
            self.arena.close_reference(job.reference, target);
        }
        if self.failed {
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
}
