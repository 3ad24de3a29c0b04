//! Sets given as lists of words.

use super::chars::after;
use super::dfa::{Dfa, Edge, Row};
use super::intern::{Interner, count};

/// The state from which nothing is reached, before states are numbered.
const NOWHERE: u32 = u32::MAX;

impl Dfa {
    /// The set of exactly these words, in any order and however often. Built word by word in minimal form
    /// (Daciuk and others, 2000), in time linear in the characters once the words are sorted.
    pub fn words(words: &[&str]) -> Self {
        let mut words = words.to_vec();
        words.sort_unstable();
        words.dedup();
        if words.is_empty() {
            return Self::none();
        }
        // A frozen node is known by its content: whether it ends a word, then character and child in turn.
        let mut frozen = Interner::new();
        // The nodes along the current word, not frozen yet; those past `depth` wait to be used again.
        let mut path: Vec<Vec<u32>> = vec![vec![0]];
        let mut depth = 0;
        let mut previous: Vec<char> = Vec::new();
        for word in words {
            let shared = word.chars().zip(&previous).take_while(|(a, b)| a == *b).count();
            freeze(&mut frozen, &mut path, &mut depth, shared);
            previous.truncate(shared);
            for c in word.chars().skip(shared) {
                previous.push(c);
                if let Some(node) = path.get_mut(depth) {
                    node.extend([c as u32, NOWHERE]);
                }
                depth += 1;
                match path.get_mut(depth) {
                    Some(spare) => {
                        spare.clear();
                        spare.push(0);
                    }
                    None => path.push(vec![0]),
                }
            }
            if let Some(ends) = path.get_mut(depth).and_then(|node| node.first_mut()) {
                *ends = 1;
            }
        }
        freeze(&mut frozen, &mut path, &mut depth, 0);
        let root = frozen.intern(path.first().map(Vec::as_slice).unwrap_or_default());
        number(&frozen, root)
    }
}

/// Freezes the nodes below `keep` and hangs each into its parent, whose last child it is.
fn freeze(frozen: &mut Interner, path: &mut [Vec<u32>], depth: &mut usize, keep: usize) {
    while *depth > keep {
        let id = frozen.intern(path.get(*depth).map(Vec::as_slice).unwrap_or_default());
        *depth -= 1;
        if let Some(child) = path.get_mut(*depth).and_then(|parent| parent.last_mut()) {
            *child = id;
        }
    }
}

/// Numbers the nodes breadth-first and fills the gaps between their children with the dead state.
fn number(frozen: &Interner, root: u32) -> Dfa {
    let mut numbers = vec![u32::MAX; frozen.len() + 1];
    let mut order = Vec::with_capacity(frozen.len() + 1);
    let mut visit = |node: u32, order: &mut Vec<u32>| {
        let slot = if node == NOWHERE { numbers.last_mut() } else { numbers.get_mut(node as usize) };
        let Some(slot) = slot else { return u32::MAX };
        if *slot == u32::MAX {
            *slot = count(order.len());
            order.push(node);
        }
        *slot
    };
    visit(root, &mut order);
    let mut rows = Vec::with_capacity(frozen.len() + 2);
    let mut edges = Vec::with_capacity(frozen.len() * 3);
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        next += 1;
        let first = edges.len();
        let content = if node == NOWHERE { &[0][..] } else { frozen.get(node) };
        let (accepting, children) = content.split_first().unwrap_or((&0, &[]));
        let mut gap = Some('\0');
        let mut push = |from: char, to: u32| {
            if edges.get(first..).and_then(<[Edge]>::last).is_none_or(|last: &Edge| last.to != to) {
                edges.push(Edge { from, to });
            }
        };
        for child in children.chunks_exact(2) {
            let &[c, to] = child else { continue };
            let Some(c) = char::from_u32(c) else { continue };
            if let Some(from) = gap.filter(|from| *from < c) {
                push(from, visit(NOWHERE, &mut order));
            }
            push(c, visit(to, &mut order));
            gap = after(c);
        }
        if let Some(from) = gap {
            push(from, visit(NOWHERE, &mut order));
        }
        rows.push(Row { first: count(first), accepting: *accepting == 1 });
    }
    rows.push(Row { first: count(edges.len()), accepting: false });
    Dfa::from_parts(rows, edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_and_nothing_else() {
        let dfa = Dfa::words(&["stop", "top", "", "tops", "top", "é"]);
        for word in ["stop", "top", "", "tops", "é"] {
            assert!(dfa.matches(word));
        }
        for other in ["s", "to", "stops", "e"] {
            assert!(!dfa.matches(other));
        }
        assert!(Dfa::words(&[]).is_none());
        assert_eq!(Dfa::words(&[""]).states(), 2);
    }

    #[test]
    fn common_endings_are_shared() {
        let words: Vec<String> = (0..5_000).map(|n| format!("value-{n}")).collect();
        let dfa = Dfa::words(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(dfa.states(), 12);
        assert!(dfa.matches("value-4999") && !dfa.matches("value-5000") && !dfa.matches("value-007"));
        assert_eq!(dfa.lengths(), Some((7, Some(10))));
    }

    #[test]
    fn the_last_character_of_all_leaves_no_gap_behind_it() {
        let dfa = Dfa::words(&["\u{10FFFF}", "\0", "\u{D7FF}", "\u{E000}"]);
        assert!(dfa.matches("\u{10FFFF}") && dfa.matches("\u{E000}") && !dfa.matches("a"));
        assert_eq!(dfa.edges(0).count(), 5);
    }
}
