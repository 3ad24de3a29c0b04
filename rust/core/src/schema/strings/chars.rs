//! Sets of characters as sorted ranges of Unicode scalar values. Surrogates are not characters here: they
//! are clipped on the way in, so that equal sets are written the same way.

use smallvec::{SmallVec, smallvec};

/// The next scalar value, stepping over the surrogates.
pub(super) fn after(c: char) -> Option<char> {
    (c..=char::MAX).nth(1)
}

/// The scalar value before, stepping over the surrogates.
pub(super) fn before(c: char) -> Option<char> {
    ('\0'..=c).rev().nth(1)
}

/// A set of characters: inclusive ranges, sorted, neither overlapping nor adjacent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CharSet(SmallVec<[(char, char); 2]>);

impl CharSet {
    /// One character.
    pub(super) fn of(c: char) -> Self {
        Self(smallvec![(c, c)])
    }

    /// The union of ranges in any order; a range whose ends are exchanged adds nothing.
    pub(super) fn from_ranges(ranges: impl IntoIterator<Item = (char, char)>) -> Self {
        let mut all: SmallVec<[(char, char); 2]> = ranges.into_iter().filter(|(lo, hi)| lo <= hi).collect();
        all.sort_unstable();
        let mut merged: SmallVec<[(char, char); 2]> = SmallVec::new();
        for (lo, hi) in all {
            match merged.last_mut() {
                Some(last) if after(last.1).is_none_or(|next| lo <= next) => last.1 = last.1.max(hi),
                _ => merged.push((lo, hi)),
            }
        }
        Self(merged)
    }

    /// Every other character.
    pub(super) fn complement(&self) -> Self {
        let mut rest = SmallVec::new();
        let mut next = Some('\0');
        for &(lo, hi) in &self.0 {
            if let (Some(from), Some(to)) = (next, before(lo))
                && from <= to
            {
                rest.push((from, to));
            }
            next = after(hi);
        }
        if let Some(from) = next {
            rest.push((from, char::MAX));
        }
        Self(rest)
    }

    /// The ranges, in order.
    pub(super) fn ranges(&self) -> &[(char, char)] {
        &self.0
    }

    /// Whether no character is in the set.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every character is in the set.
    pub(super) fn is_any(&self) -> bool {
        self.0.as_slice() == [('\0', char::MAX)]
    }
}

/// The range of two code points without its surrogates, if anything is left.
pub(super) fn scalar_range(lo: u32, hi: u32) -> Option<(char, char)> {
    let lo = char::from_u32(lo).unwrap_or('\u{E000}');
    let hi = char::from_u32(hi).unwrap_or('\u{D7FF}');
    (lo <= hi).then_some((lo, hi))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_step_over_the_surrogates() {
        assert_eq!(after('\u{D7FF}'), Some('\u{E000}'));
        assert_eq!(before('\u{E000}'), Some('\u{D7FF}'));
        assert_eq!(after(char::MAX), None);
        assert_eq!(before('\0'), None);
    }

    #[test]
    fn ranges_are_sorted_and_merged_across_the_surrogates() {
        let set = CharSet::from_ranges([('\u{E000}', '\u{E010}'), ('b', 'd'), ('a', 'b'), ('x', '\u{D7FF}')]);
        assert_eq!(set.ranges(), [('a', 'd'), ('x', '\u{E010}')]);
        assert_eq!(set.complement().complement(), set);
        assert_eq!(set.complement().ranges(), [('\0', '`'), ('e', 'w'), ('\u{E011}', char::MAX)]);
    }

    #[test]
    fn surrogates_are_clipped_from_ranges() {
        assert_eq!(scalar_range(0xD800, 0xDFFF), None);
        assert_eq!(scalar_range(0xD000, 0xDBFF), Some(('\u{D000}', '\u{D7FF}')));
        assert_eq!(scalar_range(0xDC00, 0xFFFF), Some(('\u{E000}', '\u{FFFF}')));
        assert!(
            CharSet::default().complement().is_any()
                && CharSet::default().complement().complement().is_empty()
        );
    }
}
