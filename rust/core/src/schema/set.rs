//! The normal form of a set of JSON values: one component per kind of value.

use super::array::Arr;
use super::number::Num;
use super::object::Obj;
use super::string::Str;

/// A set of JSON values, and perhaps of "absent", which makes optional fields ordinary.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Set {
    pub(crate) absent: bool,
    pub(crate) null: bool,
    pub(crate) fals: bool,
    pub(crate) tru: bool,
    /// A union.
    pub(crate) num: Vec<Num>,
    /// A union.
    pub(crate) str: Vec<Str>,
    /// A union.
    pub(crate) arr: Vec<Clause<Arr>>,
    /// A union.
    pub(crate) obj: Vec<Clause<Obj>>,
}

/// What is in `pos` and in none of `neg`. Positives are met at once, negatives wait for the emptiness test.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Clause<T> {
    pub(crate) pos: T,
    pub(crate) neg: Vec<T>,
}

impl<T> From<T> for Clause<T> {
    fn from(pos: T) -> Self {
        Self { pos, neg: Vec::new() }
    }
}

impl Set {
    /// Every value; "absent" is none.
    pub(crate) fn values() -> Self {
        Self {
            absent: false,
            null: true,
            fals: true,
            tru: true,
            num: vec![Num::ANY],
            str: vec![Str::any()],
            arr: vec![Arr::ANY.into()],
            obj: vec![Obj::any().into()],
        }
    }

    /// Nothing but "absent", where that is in the set.
    pub(crate) fn has_no_value(&self) -> bool {
        !(self.null || self.fals || self.tru)
            && self.num.is_empty()
            && self.str.is_empty()
            && self.arr.is_empty()
            && self.obj.is_empty()
    }
}
