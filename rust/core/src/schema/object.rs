//! Sets of objects.

use std::sync::Arc;

use smallvec::SmallVec;
use smol_str::SmolStr;

use super::arena::Id;
use super::string::all;
use super::strings::{Dfa, Length};

/// The objects whose fields lie in given sets: one per name, and one per class of all other keys. A set that
/// holds "absent" leaves its field optional.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Obj {
    /// In declared order.
    pub(crate) fields: Fields,
    /// Disjoint classes that together hold every key; `ABSENT` for keys that may not be there.
    pub(crate) rest: SmallVec<[(Arc<Dfa>, Id); 1]>,
    /// How many members there are.
    pub(crate) count: Length,
}

impl Obj {
    /// Every object.
    pub(crate) fn any() -> Self {
        Self { fields: Fields::default(), rest: SmallVec::from_iter([(all(), Id::ANY)]), count: (0, None) }
    }

    /// What the field of this name may be.
    pub(crate) fn field(&self, name: &str) -> Id {
        self.fields.get(name).unwrap_or_else(|| self.class(name))
    }

    /// What a field that is not declared by this name may be.
    pub(crate) fn class(&self, name: &str) -> Id {
        match self.rest.as_slice() {
            [(_, id)] => *id,
            classes => classes.iter().find(|(keys, _)| keys.matches(name)).map_or(Id::ABSENT, |(_, id)| *id),
        }
    }

    /// The objects of this set whose field of this name lies in `id`.
    pub(crate) fn with(&self, name: &str, id: Id) -> Self {
        let mut other = self.clone();
        other.fields.set(name, id);
        other
    }

    /// Whether no key is taken but the declared ones.
    pub(crate) fn is_closed(&self) -> bool {
        self.rest.iter().all(|(_, id)| *id == Id::ABSENT)
    }
}

/// Fields by name, in declared order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields {
    list: Vec<(SmolStr, Id)>,
    /// Places in the list, sorted by name; kept only above [`INDEXED`] fields.
    index: Vec<u32>,
}

/// Up to this many fields a look-up walks the list.
const INDEXED: usize = 12;

impl Fields {
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&SmolStr, Id)> + Clone {
        self.list.iter().map(|(name, id)| (name, *id))
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { list: Vec::with_capacity(capacity), index: Vec::new() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Id> {
        self.place(name).and_then(|at| self.list.get(at)).map(|(_, id)| *id)
    }

    /// Sets a field; a new one goes to the end.
    pub(crate) fn set(&mut self, name: &str, id: Id) {
        match self.place(name) {
            Some(at) => {
                if let Some(slot) = self.list.get_mut(at) {
                    slot.1 = id;
                }
            }
            None => self.push(SmolStr::new(name), id),
        }
    }

    /// Adds a field whose name is not there yet.
    pub(crate) fn push(&mut self, name: SmolStr, id: Id) {
        let at = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        if !self.index.is_empty()
            && let Err(slot) = self.search(&name)
        {
            self.index.insert(slot, at);
        }
        self.list.push((name, id));
        if self.index.is_empty() && self.list.len() > INDEXED {
            self.index = (0..=at).collect();
            let list = &self.list;
            self.index.sort_unstable_by(|a, b| name_at(list, *a).cmp(name_at(list, *b)));
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        if self.index.is_empty() {
            return self.list.iter().position(|(known, _)| known == name);
        }
        self.search(name).ok().and_then(|at| self.index.get(at)).map(|at| *at as usize)
    }

    fn search(&self, name: &str) -> Result<usize, usize> {
        self.index.binary_search_by(|at| name_at(&self.list, *at).cmp(name))
    }
}

fn name_at(list: &[(SmolStr, Id)], at: u32) -> &str {
    list.get(at as usize).map_or("", |(name, _)| name.as_str())
}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl Eq for Fields {}

impl std::hash::Hash for Fields {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.list.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_below_and_above_the_index_and_keep_their_order() {
        let mut fields = Fields::default();
        for at in (0..50).rev() {
            fields.set(&format!("f{at}"), Id::ANY);
        }
        fields.set("f7", Id::ABSENT);
        assert_eq!(fields.len(), 50);
        assert_eq!(fields.get("f7"), Some(Id::ABSENT));
        assert_eq!((0..50).filter(|at| fields.get(&format!("f{at}")) == Some(Id::ANY)).count(), 49);
        assert_eq!(fields.get("f50"), None);
        assert_eq!(fields.iter().next().map(|(name, _)| name.as_str()), Some("f49"));
    }

    #[test]
    fn a_key_that_is_not_declared_falls_into_its_class() {
        let digits =
            Arc::new(crate::schema::strings::pattern::compile("^[0-9]+$").unwrap().dfa.as_ref().clone());
        let mut object = Obj::any();
        let rest = Arc::new(digits.complement());
        object.rest = SmallVec::from_iter([(digits, Id::PRESENT), (rest, Id::ABSENT)]);
        object.fields.set("7", Id::NEVER);
        assert_eq!(object.field("7"), Id::NEVER);
        assert_eq!(object.field("8"), Id::PRESENT);
        assert_eq!(object.field("x"), Id::ABSENT);
        assert!(!object.is_closed());
    }
}
