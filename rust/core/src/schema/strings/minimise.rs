//! From any total automaton to the minimal one in its canonical numbering.
//!
//! Partition refinement in the manner of Hopcroft: a block of states splits the others by *which characters*
//! lead into it, and of the parts of a split block all but the largest split on. Edges stay ranges; no common
//! alphabet is ever made, which for a list of words would be quadratic.
#![allow(
    clippy::indexing_slicing,
    reason = "indices are states, edges and blocks of the arrays made here; `get` would only hide a wrong one"
)]

use super::dfa::{Dfa, Edge, Row};
use super::intern::count;

/// Collects an automaton state by state, in the order of their numbers: first the edges of a state, ascending
/// from `'\0'`, then the state itself. Targets may be states still to come. State 0 starts.
pub(super) struct Builder {
    rows: Vec<Row>,
    edges: Vec<Edge>,
    row_start: usize,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self { rows: Vec::with_capacity(16), edges: Vec::with_capacity(64), row_start: 0 }
    }

    /// How many edges there are so far.
    pub(super) fn edges(&self) -> usize {
        self.edges.len()
    }

    /// An edge of the state that is being collected, unless it only prolongs the one before.
    pub(super) fn edge(&mut self, from: char, to: u32) {
        if self.edges[self.row_start..].last().is_none_or(|last| last.to != to) {
            self.edges.push(Edge { from, to });
        }
    }

    /// Ends the state that is being collected.
    pub(super) fn state(&mut self, accepting: bool) {
        self.rows.push(Row { first: count(self.row_start), accepting });
        self.row_start = self.edges.len();
    }

    /// The minimal automaton of the same set.
    pub(super) fn finish(mut self) -> Dfa {
        let states = self.rows.len();
        self.rows.push(Row { first: count(self.edges.len()), accepting: false });
        let partition = Partition::refine(&self.rows, &self.edges);
        // A construction that numbers states as it discovers them is breadth-first already, so when no two
        // states are equal nothing is left to do.
        if partition.blocks.len() == states {
            return Dfa::from_parts(self.rows, self.edges);
        }
        let (rows, edges) = self.quotient(&partition);
        Dfa::from_parts(rows, edges)
    }

    /// One state for each block, numbered breadth-first.
    fn quotient(&self, partition: &Partition) -> (Vec<Row>, Vec<Edge>) {
        let blocks = partition.blocks.len();
        let mut number = vec![u32::MAX; blocks];
        let mut order = Vec::with_capacity(blocks);
        let mut rows = Vec::with_capacity(blocks + 1);
        let mut edges: Vec<Edge> = Vec::with_capacity(self.edges.len());
        let start = partition.block_of[0];
        number[start as usize] = 0;
        order.push(start);
        let mut next = 0;
        while next < order.len() {
            let state = partition.member(order[next]);
            next += 1;
            let first = edges.len();
            for edge in &self.edges[self.rows[state].first as usize..self.rows[state + 1].first as usize] {
                let block = partition.block_of[edge.to as usize];
                let to = &mut number[block as usize];
                if *to == u32::MAX {
                    *to = count(order.len());
                    order.push(block);
                }
                if edges[first..].last().is_none_or(|last| last.to != *to) {
                    edges.push(Edge { from: edge.from, to: *to });
                }
            }
            rows.push(Row { first: count(first), accepting: self.rows[state].accepting });
        }
        rows.push(Row { first: count(edges.len()), accepting: false });
        (rows, edges)
    }
}

/// States in blocks: `elements` lists them block by block.
struct Partition {
    elements: Vec<u32>,
    place: Vec<u32>,
    block_of: Vec<u32>,
    blocks: Vec<Block>,
}

#[derive(Clone, Copy)]
struct Block {
    start: u32,
    end: u32,
    waiting: bool,
}

/// All characters by which a state leads into the splitting block: a run of ranges in a common pool.
#[derive(Clone, Copy)]
struct Entry {
    block: u32,
    state: u32,
    start: u32,
    end: u32,
}

/// The end of the last range: one past the last character.
const END: u32 = char::MAX as u32 + 1;

impl Partition {
    fn member(&self, block: u32) -> usize {
        self.elements[self.blocks[block as usize].start as usize] as usize
    }

    fn refine(rows: &[Row], edges: &[Edge]) -> Self {
        let states = rows.len() - 1;
        let mut partition = Self::by_acceptance(&rows[..states]);
        let incoming = Incoming::of(rows, edges);
        let mut waiting: Vec<u32> = Vec::new();
        // Every character leads into the whole, so one of the two blocks splits as much as both.
        if let [a, b] = partition.blocks[..] {
            let smaller = u32::from(a.end - a.start > b.end - b.start);
            waiting.push(smaller);
            partition.blocks[smaller as usize].waiting = true;
        }
        let (mut hits, mut pool, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(splitter) = waiting.pop() {
            if partition.blocks.len() == states {
                break;
            }
            let block = &mut partition.blocks[splitter as usize];
            block.waiting = false;
            hits.clear();
            for state in &partition.elements[block.start as usize..block.end as usize] {
                hits.extend_from_slice(incoming.to(*state));
            }
            hits.sort_unstable();
            pool.clear();
            entries.clear();
            for &(state, from, until) in &hits {
                match entries.last_mut() {
                    Some(Entry { state: last, end, .. }) if *last == state => {
                        let before: &mut (u32, u32) = &mut pool[*end as usize - 1];
                        if before.1 == from {
                            before.1 = until;
                        } else {
                            pool.push((from, until));
                            *end += 1;
                        }
                    }
                    _ => {
                        let start = count(pool.len());
                        pool.push((from, until));
                        let block = partition.block_of[state as usize];
                        entries.push(Entry { block, state, start, end: start + 1 });
                    }
                }
            }
            partition.split(&mut entries, &pool, &mut waiting);
        }
        partition
    }

    fn by_acceptance(rows: &[Row]) -> Self {
        let states = count(rows.len());
        let accepting = (0..states).filter(|s| rows[*s as usize].accepting);
        let others = (0..states).filter(|s| !rows[*s as usize].accepting);
        let elements: Vec<u32> = accepting.chain(others).collect();
        let split = count(rows.iter().filter(|row| row.accepting).count());
        let mut place = vec![0; rows.len()];
        for (at, state) in elements.iter().enumerate() {
            place[*state as usize] = count(at);
        }
        let (blocks, block_of) = if split == 0 || split == states {
            (vec![Block { start: 0, end: states, waiting: false }], vec![0; rows.len()])
        } else {
            let first = Block { start: 0, end: split, waiting: false };
            let second = Block { start: split, end: states, waiting: false };
            (vec![first, second], rows.iter().map(|row| u32::from(!row.accepting)).collect())
        };
        Self { elements, place, block_of, blocks }
    }

    /// Splits every block that the entries reach: states with equal ranges stay together, and states without
    /// an entry do.
    fn split(&mut self, entries: &mut [Entry], pool: &[(u32, u32)], waiting: &mut Vec<u32>) {
        let ranges = |entry: &Entry| &pool[entry.start as usize..entry.end as usize];
        entries.sort_unstable_by(|a, b| a.block.cmp(&b.block).then_with(|| ranges(a).cmp(ranges(b))));
        for reached in entries.chunk_by(|a, b| a.block == b.block) {
            let Some(block) = reached.first().map(|entry| entry.block) else { continue };
            let size = self.blocks[block as usize].end - self.blocks[block as usize].start;
            if size == 1 {
                continue;
            }
            let untouched = size > count(reached.len());
            let first_part = self.blocks.len();
            let mut parts = reached.chunk_by(|a, b| ranges(a) == ranges(b)).peekable();
            while let Some(part) = parts.next() {
                if parts.peek().is_some() || untouched {
                    self.move_out(block, part);
                }
            }
            self.enqueue(block, first_part, waiting);
        }
    }

    /// Makes a new block of states at the front of their block.
    fn move_out(&mut self, block: u32, part: &[Entry]) {
        let new = count(self.blocks.len());
        let start = self.blocks[block as usize].start;
        let mut front = start;
        for entry in part {
            let (at, displaced) = (self.place[entry.state as usize], self.elements[front as usize]);
            self.elements.swap(at as usize, front as usize);
            self.place[displaced as usize] = at;
            self.place[entry.state as usize] = front;
            self.block_of[entry.state as usize] = new;
            front += 1;
        }
        self.blocks[block as usize].start = front;
        self.blocks.push(Block { start, end: front, waiting: false });
    }

    /// What a block was split into waits to split others: all parts when the whole was waiting, else all but
    /// the largest.
    fn enqueue(&mut self, block: u32, first_part: usize, waiting: &mut Vec<u32>) {
        let parts = || std::iter::once(block as usize).chain(first_part..self.blocks.len());
        if first_part == self.blocks.len() {
            return;
        }
        let spared = if self.blocks[block as usize].waiting {
            Some(block as usize)
        } else {
            parts().max_by_key(|part| self.blocks[*part].end - self.blocks[*part].start)
        };
        for part in parts().collect::<smallvec::SmallVec<[usize; 8]>>() {
            if Some(part) != spared {
                self.blocks[part].waiting = true;
                waiting.push(count(part));
            }
        }
    }
}

/// For each state the edges that lead to it: where from, and the range as `from..until`.
struct Incoming {
    first: Vec<u32>,
    list: Vec<(u32, u32, u32)>,
}

impl Incoming {
    fn of(rows: &[Row], edges: &[Edge]) -> Self {
        let states = rows.len() - 1;
        let mut first = vec![0u32; states + 1];
        for edge in edges {
            first[edge.to as usize] += 1;
        }
        let mut sum = 0;
        for slot in &mut first {
            sum += *slot;
            *slot = sum;
        }
        // Filling from the back moves each `first` down to where its list starts.
        let mut list = vec![(0, 0, 0); edges.len()];
        for state in (0..states).rev() {
            let row = &edges[rows[state].first as usize..rows[state + 1].first as usize];
            let mut until = END;
            for edge in row.iter().rev() {
                let slot = &mut first[edge.to as usize];
                *slot -= 1;
                list[*slot as usize] = (count(state), edge.from as u32, until);
                until = edge.from as u32;
            }
        }
        Self { first, list }
    }

    fn to(&self, state: u32) -> &[(u32, u32, u32)] {
        &self.list[self.first[state as usize] as usize..self.first[state as usize + 1] as usize]
    }
}
