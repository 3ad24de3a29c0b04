//! A persistent sorted map whose content has a hash: changing one entry costs the length of its key, whatever the
//! number of entries, and leaves the rest shared with the map before.

use std::sync::Arc;

use crate::json::{Sha256, sha256};

/// What stands in a tree.
pub(super) trait Leaf: Clone {
    /// The hash of its content.
    fn digest(&self) -> Sha256;
}

/// A radix tree over the bytes of the keys. Its shape hangs on its content alone, so equal maps have equal hashes,
/// in whatever order they were made.
#[derive(Debug, Clone)]
pub(super) struct Tree<T> {
    root: Arc<Node<T>>,
}

#[derive(Debug)]
struct Node<T> {
    /// The entry whose key ends here.
    entry: Option<T>,
    /// By the next byte of the key, ascending; none is empty.
    below: Vec<(u8, Arc<Node<T>>)>,
    /// The entries here and below.
    count: usize,
    hash: Sha256,
}

impl<T: Leaf> Default for Tree<T> {
    fn default() -> Self {
        Self { root: Arc::new(Node::new(None, Vec::new())) }
    }
}

impl<T: Leaf> Node<T> {
    /// The hash is SHA-256 over: 1 and the entry's hash, or 0; then for each child its byte and its hash.
    fn new(entry: Option<T>, below: Vec<(u8, Arc<Self>)>) -> Self {
        let mut text = Vec::with_capacity(33 * (below.len() + 1));
        text.push(u8::from(entry.is_some()));
        text.extend(entry.iter().flat_map(|entry| entry.digest().0));
        for (byte, child) in &below {
            text.push(*byte);
            text.extend(child.hash.0);
        }
        let count = usize::from(entry.is_some()) + below.iter().map(|(_, child)| child.count).sum::<usize>();
        Self { entry, below, count, hash: sha256(text) }
    }

    /// The node with another entry (or none) at the end of `key`; nothing when it is then empty.
    fn with(&self, key: &[u8], entry: Option<T>) -> Option<Arc<Self>> {
        let Some((byte, rest)) = key.split_first() else {
            let empty = entry.is_none() && self.below.is_empty();
            return (!empty).then(|| Arc::new(Self::new(entry, self.below.clone())));
        };
        let mut below = self.below.clone();
        match below.binary_search_by_key(byte, |(byte, _)| *byte) {
            Ok(at) => {
                let child = below.get(at).and_then(|(_, child)| child.with(rest, entry));
                match (child, below.get_mut(at)) {
                    (Some(child), Some(slot)) => slot.1 = child,
                    _ => drop(below.remove(at)),
                }
            }
            Err(at) => {
                let fresh = Self { entry: None, below: Vec::new(), count: 0, hash: Sha256([0; 32]) };
                if let Some(child) = fresh.with(rest, entry) {
                    below.insert(at, (*byte, child));
                }
            }
        }
        let empty = self.entry.is_none() && below.is_empty();
        (!empty).then(|| Arc::new(Self::new(self.entry.clone(), below)))
    }
}

impl<T: Leaf> Tree<T> {
    pub(super) fn get(&self, key: &str) -> Option<&T> {
        let mut node = &self.root;
        for byte in key.bytes() {
            let at = node.below.binary_search_by_key(&byte, |(byte, _)| *byte).ok()?;
            node = &node.below.get(at)?.1;
        }
        node.entry.as_ref()
    }

    /// The map with an entry added, or in the place of the one that was there.
    pub(super) fn insert(&self, key: &str, entry: T) -> Self {
        self.with(key, Some(entry))
    }

    /// The map without an entry.
    pub(super) fn remove(&self, key: &str) -> Self {
        self.with(key, None)
    }

    fn with(&self, key: &str, entry: Option<T>) -> Self {
        self.root.with(key.as_bytes(), entry).map_or_else(Self::default, |root| Self { root })
    }

    /// The hash of the whole content.
    pub(super) fn hash(&self) -> Sha256 {
        self.root.hash
    }

    /// The entries, sorted by the bytes of their keys.
    pub(super) fn iter(&self) -> Iter<'_, T> {
        Iter { open: vec![&self.root], left: self.root.count }
    }
}

pub(super) struct Iter<'t, T> {
    open: Vec<&'t Node<T>>,
    left: usize,
}

impl<'t, T> Iterator for Iter<'t, T> {
    type Item = &'t T;

    fn next(&mut self) -> Option<&'t T> {
        while let Some(node) = self.open.pop() {
            self.open.extend(node.below.iter().rev().map(|(_, child)| child.as_ref()));
            if let Some(entry) = &node.entry {
                self.left = self.left.saturating_sub(1);
                return Some(entry);
            }
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    impl Leaf for u8 {
        fn digest(&self) -> Sha256 {
            sha256([*self])
        }
    }

    proptest! {
        /// Against the map of the standard library: content, order, and a hash that hangs on the content alone.
        #[test]
        fn it_is_a_sorted_map(steps in proptest::collection::vec(("[ab]{0,4}", proptest::option::of(0u8..4)), 0..40)) {
            let (mut tree, mut map) = (Tree::default(), BTreeMap::new());
            let mut seen: Vec<(BTreeMap<String, u8>, Sha256)> = Vec::new();
            for (key, entry) in steps {
                if let Some(entry) = entry {
                    map.insert(key.clone(), entry);
                    tree = tree.insert(&key, entry);
                } else {
                    map.remove(&key);
                    tree = tree.remove(&key);
                }
                prop_assert!(tree.iter().eq(map.values()));
                prop_assert_eq!(tree.iter().len(), map.len());
                prop_assert_eq!(tree.get(&key), map.get(&key));
                for (other, hash) in &seen {
                    prop_assert_eq!(*other == map, *hash == tree.hash());
                }
                seen.push((map.clone(), tree.hash()));
            }
        }
    }
}
