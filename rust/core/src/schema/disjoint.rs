//! Whether two sets plainly share nothing, without a search.

use super::arena::{Arena, Expr, Id};
use super::number::{self, Num};
use super::object::Obj;
use super::set::Set;
use super::string::Str;

/// Whether two sets plainly share no value: by their kinds, words and numbers, without a search. At most so many
/// parts (or words) are compared as are `left`; beyond, the answer is no.
pub(crate) fn plainly_disjoint(arena: &Arena, a: Id, b: Id, left: &mut usize) -> bool {
    Glance { arena, left }.disjoint(a, b, 3)
}

struct Glance<'a, 'l> {
    arena: &'a Arena,
    left: &'l mut usize,
}

impl Glance<'_, '_> {
    fn disjoint(&mut self, a: Id, b: Id, depth: u32) -> bool {
        let arena = self.arena;
        if a == Id::NEVER || b == Id::NEVER {
            return true;
        }
        if depth == 0 || !self.pay(1) {
            return false;
        }
        match (arena.expr(a), arena.expr(b)) {
            (Expr::Leaf(x), Expr::Leaf(y)) => self.leaves(x, y, depth),
            (Expr::And(ids), _) => ids.iter().any(|id| self.disjoint(*id, b, depth - 1)),
            (_, Expr::And(ids)) => ids.iter().any(|id| self.disjoint(a, *id, depth - 1)),
            (Expr::Or(ids), _) => ids.iter().all(|id| self.disjoint(*id, b, depth - 1)),
            (_, Expr::Or(ids)) => ids.iter().all(|id| self.disjoint(a, *id, depth - 1)),
            (Expr::Ref(reference), _) => {
                arena.target(*reference).is_some_and(|id| self.disjoint(id, b, depth - 1))
            }
            (_, Expr::Ref(reference)) => {
                arena.target(*reference).is_some_and(|id| self.disjoint(a, id, depth - 1))
            }
            _ => false,
        }
    }

    fn leaves(&mut self, x: &Set, y: &Set, depth: u32) -> bool {
        let kinds = (x.absent && y.absent) || (x.null && y.null) || (x.fals && y.fals) || (x.tru && y.tru);
        let arrays = !x.arr.is_empty() && !y.arr.is_empty();
        !kinds
            && !arrays
            && (x.str.is_empty() || y.str.is_empty() || self.words(&x.str, &y.str))
            && (x.num.is_empty() || y.num.is_empty() || self.numbers(&x.num, &y.num))
            && x.obj.iter().all(|x| y.obj.iter().all(|y| self.objects(&x.pos, &y.pos, depth)))
    }

    /// Unions of lists of words, or of a list and anything.
    fn words(&mut self, a: &[Str], b: &[Str]) -> bool {
        use super::string::Words::List;
        let mut none_of = |words: &[smol_str::SmolStr], other: &Str| {
            self.pay(words.len()) && !words.iter().any(|word| other.has(word))
        };
        a.iter().all(|a| {
            b.iter().all(|b| match (&a.words, &b.words) {
                (List(x), List(y)) if x.len() > y.len() => none_of(y, a),
                (List(words), _) => none_of(words, b),
                (_, List(words)) => none_of(words, a),
                _ => false,
            })
        })
    }

    fn numbers(&mut self, a: &[Num], b: &[Num]) -> bool {
        self.pay(number::cost(a, b)) && number::and(a, b).is_ok_and(|both| both.is_empty())
    }

    /// A field that both have, and whose sets are disjoint, tells them apart.
    fn objects(&mut self, a: &Obj, b: &Obj, depth: u32) -> bool {
        let mut apart =
            |a: &Obj, b: &Obj| a.fields.iter().any(|(name, id)| self.disjoint(id, b.field(name), depth - 1));
        apart(a, b) || apart(b, a)
    }

    /// Pays for some comparisons; `false` when they are used up.
    fn pay(&mut self, comparisons: usize) -> bool {
        let left = self.left.checked_sub(comparisons);
        *self.left = left.unwrap_or(0);
        left.is_some()
    }
}
