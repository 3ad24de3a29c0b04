//! Keys that may come next, as prefix trees that share their parts.
//!
//! Of optional fields each may be followed by any later one. All these sets of keys are suffixes of one list, so the
//! trees are built from its end: adding a key copies the nodes on one path, and the rest is shared by all trees.

use smallvec::SmallVec;
use smol_str::SmolStr;

/// The nodes of all trees over some keys.
#[derive(Debug)]
pub(super) struct Trees {
    /// As they stand in a JSON text after the opening quote, the closing quote included: none begins another.
    keys: Vec<SmolStr>,
    nodes: Vec<Node>,
}

/// A branching: the edges begin with different characters.
type Node = SmallVec<[Edge; 2]>;

#[derive(Debug, Clone, Copy)]
struct Edge {
    /// Part of a key, from and to a byte.
    key: u32,
    from: u32,
    to: u32,
    target: Target,
}

/// Where an edge leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// The end of a key.
    Key(usize),
    Node(u32),
}

impl Trees {
    pub(super) fn new(keys: Vec<SmolStr>) -> Self {
        Self { keys, nodes: Vec::new() }
    }

    /// The key at a place.
    pub(super) fn key(&self, at: usize) -> &str {
        self.keys.get(at).map_or("", SmolStr::as_str)
    }

    /// The tree of one key more; it comes first.
    pub(super) fn with(&mut self, tree: Option<u32>, key: usize) -> u32 {
        self.insert(tree, key, 0)
    }

    /// The edges of a node, as text and target.
    pub(super) fn edges(&self, node: u32) -> impl ExactSizeIterator<Item = (&str, Target)> {
        let edges = self.nodes.get(node as usize).map(SmallVec::as_slice).unwrap_or_default();
        edges.iter().map(|edge| (self.text(edge), edge.target))
    }

    fn text(&self, edge: &Edge) -> &str {
        self.key(edge.key as usize).get(edge.from as usize..edge.to as usize).unwrap_or_default()
    }

    /// Recursion is as deep as keys begin alike.
    fn insert(&mut self, node: Option<u32>, key: usize, from: usize) -> u32 {
        let mut edges = node.and_then(|node| self.nodes.get(node as usize)).cloned().unwrap_or_default();
        let rest = self.key(key).get(from..).unwrap_or_default();
        let first = rest.chars().next();
        let known = edges.iter().position(|edge| self.text(edge).chars().next() == first);
        let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        match known.and_then(|at| edges.get(at).map(|edge| (at, *edge))) {
            None => {
                let to = small(self.key(key).len());
                edges.insert(0, Edge { key: small(key), from: small(from), to, target: Target::Key(key) });
            }
            Some((at, edge)) => {
                let alike = |(a, b): &(char, char)| a == b;
                let same = rest.chars().zip(self.text(&edge).chars()).take_while(alike);
                let shared: usize = same.map(|(c, _)| c.len_utf8()).sum();
                let below = match edge.target {
                    Target::Node(node) if small(shared) == edge.to - edge.from => Some(node),
                    _ => {
                        let tail = Edge { from: edge.from + small(shared), ..edge };
                        Some(self.push(SmallVec::from_iter([tail])))
                    }
                };
                let node = self.insert(below, key, from + shared);
                let to = small(from + shared);
                if let Some(slot) = edges.get_mut(at) {
                    *slot = Edge { key: small(key), from: small(from), to, target: Target::Node(node) };
                }
            }
        }
        self.push(edges)
    }

    fn push(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        u32::try_from(self.nodes.len() - 1).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_of(trees: &Trees, node: u32, prefix: &str, found: &mut Vec<String>) {
        let mut first = Vec::new();
        for (text, target) in trees.edges(node) {
            assert!(!text.is_empty());
            first.push(text.chars().next());
            let whole = format!("{prefix}{text}");
            match target {
                Target::Key(at) => {
                    assert_eq!(trees.key(at), whole);
                    found.push(whole);
                }
                Target::Node(node) => keys_of(trees, node, &whole, found),
            }
        }
        let count = first.len();
        first.sort();
        first.dedup();
        assert_eq!(first.len(), count, "no two edges begin alike");
    }

    #[test]
    fn each_tree_holds_its_keys_and_no_others() {
        let keys =
            ["a\"", "ab\"", "abc\"", "b\"", "\"", "été\"", "éta\"", "abd\"", "prefix_1\"", "prefix_2\""];
        let mut trees = Trees::new(keys.iter().map(SmolStr::new).collect());
        let mut tree = None;
        for at in (0..keys.len()).rev() {
            let root = trees.with(tree, at);
            tree = Some(root);
            let mut found = Vec::new();
            keys_of(&trees, root, "", &mut found);
            let mut expected = keys[at..].to_vec();
            expected.sort_unstable();
            found.sort();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn two_hundred_keys_that_begin_alike_share_their_nodes() {
        let keys: Vec<SmolStr> = (0..200).map(|at| SmolStr::from(format!("property_{at:03}\""))).collect();
        let mut trees = Trees::new(keys);
        (0..200).rev().fold(None, |tree, at| Some(trees.with(tree, at)));
        assert!(trees.nodes.len() < 1_000, "{}", trees.nodes.len());
    }
}
