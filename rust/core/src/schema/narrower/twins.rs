//! What two arenas have in common.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::schema::arena::{Arena, Expr, Id, RefId};
use crate::schema::array::Arr;
use crate::schema::object::Obj;
use crate::schema::set::{Clause, Set};

/// The pairs of sets that are compared before the rest counts as different: that costs time, never truth.
const PAIRS: usize = 20_000;

/// Sets of a new arena that are written like sets of an old one, through recursion.
pub(super) struct Twins<'a> {
    new: &'a Arena,
    old: &'a Arena,
    /// New references, with the old ones that mean the same.
    references: FxHashMap<RefId, Id>,
    /// Pairs that were proven.
    known: FxHashSet<(Id, Id)>,
    left: usize,
}

/// Pairs that have yet to be equal.
type Open = Vec<(Id, Id)>;

impl<'a> Twins<'a> {
    pub(super) fn new(new: &'a Arena, old: &'a Arena) -> Self {
        let (references, known) = (FxHashMap::default(), FxHashSet::default());
        Self { new, old, references, known, left: PAIRS }
    }

    /// Whether two sets are written alike. Recursion: two sets are equal unless a difference is found, so
    /// nothing is proven before every pair was looked at.
    pub(super) fn are(&mut self, new: Id, old: Id) -> bool {
        let mut seen: FxHashSet<(Id, Id)> = FxHashSet::default();
        let mut references = Vec::new();
        let mut open = vec![(new, old)];
        while let Some((new, old)) = open.pop() {
            if new.is_fixed() || old.is_fixed() {
                if new == old {
                    continue;
                }
                return false;
            }
            let pair = (new, old);
            if self.known.contains(&pair) || !seen.insert(pair) {
                continue;
            }
            let Some(left) = self.left.checked_sub(1) else { return false };
            self.left = left;
            let alike = match (self.new.expr(new), self.old.expr(old)) {
                (Expr::Leaf(x), Expr::Leaf(y)) => leaves(x, y, &mut open),
                (Expr::And(x), Expr::And(y)) | (Expr::Or(x), Expr::Or(y)) | (Expr::One(x), Expr::One(y)) => {
                    ids(x, y, &mut open)
                }
                (Expr::Not(x), Expr::Not(y)) => {
                    open.push((*x, *y));
                    true
                }
                (Expr::Ref(x), Expr::Ref(y)) => match (self.new.target(*x), self.old.target(*y)) {
                    (Some(a), Some(b)) => {
                        references.push((*x, old));
                        open.push((a, b));
                        true
                    }
                    _ => false,
                },
                _ => false,
            };
            if !alike {
                return false;
            }
        }
        self.known.extend(seen);
        self.references.extend(references);
        true
    }

    /// The set of the old arena that means what a reference of the new one means. References of a schema come
    /// in the order of their first use, so that the same place is the best guess.
    pub(super) fn reference(&mut self, reference: RefId, id: Id, candidates: &[Id]) -> Option<Id> {
        if let Some(known) = self.references.get(&reference) {
            return Some(*known);
        }
        let (later, sooner) = candidates.split_at(candidates.len().min(reference.place()));
        let mut order = sooner.iter().chain(later.iter().rev());
        order.find(|old| self.are(id, **old)).copied()
    }
}

fn leaves(x: &Set, y: &Set, open: &mut Open) -> bool {
    let constants = |set: &Set| (set.absent, set.null, set.fals, set.tru);
    constants(x) == constants(y)
        && x.num == y.num
        && x.str == y.str
        && clauses(&x.arr, &y.arr, open, arrays)
        && clauses(&x.obj, &y.obj, open, objects)
}

fn clauses<T>(
    x: &[Clause<T>],
    y: &[Clause<T>],
    open: &mut Open,
    alike: fn(&T, &T, &mut Open) -> bool,
) -> bool {
    x.len() == y.len()
        && x.iter().zip(y).all(|(x, y)| {
            x.neg.len() == y.neg.len()
                && alike(&x.pos, &y.pos, open)
                && x.neg.iter().zip(&y.neg).all(|(x, y)| alike(x, y, open))
        })
}

fn arrays(x: &Arr, y: &Arr, open: &mut Open) -> bool {
    let counts = x.counts.len() == y.counts.len()
        && x.counts.iter().zip(&y.counts).all(|(x, y)| {
            open.push((x.of, y.of));
            x.count == y.count
        });
    open.push((x.rest, y.rest));
    counts && x.length == y.length && x.unique == y.unique && ids(&x.prefix, &y.prefix, open)
}

fn objects(x: &Obj, y: &Obj, open: &mut Open) -> bool {
    x.count == y.count
        && x.fields.len() == y.fields.len()
        && x.rest.len() == y.rest.len()
        && x.fields.iter().zip(y.fields.iter()).all(|((x, a), (y, b))| {
            open.push((a, b));
            x == y
        })
        && x.rest.iter().zip(&y.rest).all(|((x, a), (y, b))| {
            open.push((*a, *b));
            x == y
        })
}

fn ids(x: &[Id], y: &[Id], open: &mut Open) -> bool {
    open.extend(x.iter().copied().zip(y.iter().copied()));
    x.len() == y.len()
}
