//! Numbers for slices: the states of a construction are known by their content.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Gives equal slices equal numbers, counted from 0 in the order of their first appearance. The slices lie
/// in one pool, so that a new one costs no allocation of its own.
#[derive(Debug)]
pub(super) struct Interner {
    pool: Vec<u32>,
    ends: Vec<u32>,
    /// Open addressing; 0 is free, else the number plus one. The length is a power of two.
    slots: Vec<u32>,
}

impl Interner {
    pub(super) fn new() -> Self {
        Self { pool: Vec::with_capacity(64), ends: Vec::with_capacity(16), slots: vec![0; 32] }
    }

    /// How many numbers were given.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The slice of a number; empty for a number that was never given.
    pub(super) fn get(&self, id: u32) -> &[u32] {
        let id = id as usize;
        let start = id.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        let end = self.ends.get(id).map_or(0, |end| *end as usize);
        self.pool.get(start..end).unwrap_or_default()
    }

    /// The number of a slice.
    pub(super) fn intern(&mut self, key: &[u32]) -> u32 {
        if self.ends.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mut at = self.home(key);
        loop {
            match self.slots.get(at) {
                Some(0) | None => break,
                Some(taken) if self.get(taken - 1) == key => return taken - 1,
                Some(_) => at = (at + 1) & (self.slots.len() - 1),
            }
        }
        let id = count(self.ends.len());
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = id + 1;
        }
        self.pool.extend_from_slice(key);
        self.ends.push(count(self.pool.len()));
        id
    }

    fn home(&self, key: &[u32]) -> usize {
        let mut hasher = FxHasher::default();
        for word in key {
            hasher.write_u32(*word);
        }
        // The hasher mixes the low bits best.
        let [a, b, c, d, ..] = hasher.finish().to_le_bytes();
        u32::from_le_bytes([a, b, c, d]) as usize & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        for id in 0..count(self.ends.len()) {
            let mut at = self.home(self.get(id));
            while self.slots.get(at).is_some_and(|taken| *taken != 0) {
                at = (at + 1) & (self.slots.len() - 1);
            }
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = id + 1;
            }
        }
    }
}

/// A count as a state number. Every construction is capped far below the limit.
pub(super) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_slices_get_equal_numbers_through_growth() {
        let mut interner = Interner::new();
        let keys: Vec<Vec<u32>> = (0..500).map(|n| (0..n % 7).map(|i| n * 31 + i).collect()).collect();
        let first: Vec<u32> = keys.iter().map(|key| interner.intern(key)).collect();
        let again: Vec<u32> = keys.iter().map(|key| interner.intern(key)).collect();
        assert_eq!(first, again);
        for (key, id) in keys.iter().zip(first) {
            assert_eq!(interner.get(id), key);
        }
    }
}
