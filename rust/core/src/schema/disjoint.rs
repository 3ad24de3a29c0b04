//! Whether two sets share nothing, as far as that is seen without a search.

use smol_str::SmolStr;

use super::arena::{Arena, Expr, Id};
use super::number;
use super::object::Obj;
use super::set::Set;
use super::string::Str;
use super::string::Words::List;

/// The nesting of expressions and fields that is looked into.
const DEPTH: u32 = 3;

/// Whether two sets plainly share no value: by their kinds, words and numbers, without a search.
pub(crate) fn plainly_disjoint(arena: &Arena, a: Id, b: Id) -> bool {
    plainly_disjoint_to(arena, a, b, DEPTH)
}

fn plainly_disjoint_to(arena: &Arena, a: Id, b: Id, depth: u32) -> bool {
    if a == Id::NEVER || b == Id::NEVER {
        return true;
    }
    if depth == 0 {
        return false;
    }
    match (arena.expr(a), arena.expr(b)) {
        (Expr::Leaf(x), Expr::Leaf(y)) => leaves_disjoint(arena, x, y, depth),
        (Expr::And(ids), _) => ids.iter().any(|id| plainly_disjoint_to(arena, *id, b, depth - 1)),
        (_, Expr::And(ids)) => ids.iter().any(|id| plainly_disjoint_to(arena, a, *id, depth - 1)),
        (Expr::Or(ids), _) => ids.iter().all(|id| plainly_disjoint_to(arena, *id, b, depth - 1)),
        (_, Expr::Or(ids)) => ids.iter().all(|id| plainly_disjoint_to(arena, a, *id, depth - 1)),
        (Expr::Ref(reference), _) => {
            arena.target(*reference).is_some_and(|id| plainly_disjoint_to(arena, id, b, depth - 1))
        }
        (_, Expr::Ref(reference)) => {
            arena.target(*reference).is_some_and(|id| plainly_disjoint_to(arena, a, id, depth - 1))
        }
        _ => false,
    }
}

fn leaves_disjoint(arena: &Arena, x: &Set, y: &Set, depth: u32) -> bool {
    let kinds = (x.absent && y.absent) || (x.null && y.null) || (x.fals && y.fals) || (x.tru && y.tru);
    let arrays = !x.arr.is_empty() && !y.arr.is_empty();
    !kinds
        && !arrays
        && (x.str.is_empty() || y.str.is_empty() || words_disjoint(&x.str, &y.str))
        && (x.num.is_empty()
            || y.num.is_empty()
            || number::and(&x.num, &y.num).is_ok_and(|both| both.is_empty()))
        && x.obj.iter().all(|x| y.obj.iter().all(|y| objects_disjoint(arena, &x.pos, &y.pos, depth)))
}

/// Unions of lists of words, or of a list and anything.
fn words_disjoint(a: &[Str], b: &[Str]) -> bool {
    let none_of = |words: &[SmolStr], other: &Str| !words.iter().any(|word| other.has(word));
    a.iter().all(|a| {
        b.iter().all(|b| match (&a.words, &b.words) {
            (List(words), _) => none_of(words, b),
            (_, List(words)) => none_of(words, a),
            _ => false,
        })
    })
}

/// A field that both have, and whose sets are disjoint, tells them apart.
fn objects_disjoint(arena: &Arena, a: &Obj, b: &Obj, depth: u32) -> bool {
    let apart = |a: &Obj, b: &Obj| {
        a.fields.iter().any(|(name, id)| plainly_disjoint_to(arena, id, b.field(name), depth - 1))
    };
    apart(a, b) || apart(b, a)
}
