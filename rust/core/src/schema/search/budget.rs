//! What a search may cost.

/// A bound for the work of one search; the same on every machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Of some 100 ns each on a desktop machine.
    pub(super) steps: u32,
    /// Of automata, some 20 ns each.
    pub(super) automata: usize,
}

impl Budget {
    /// For a question about one schema.
    pub(crate) const SCHEMA: Self = Self { steps: 400_000, automata: 4_000_000 };
    /// For one schema against another: some 10 ms.
    pub(crate) const COMPARISON: Self = Self { steps: 60_000, automata: 400_000 };
    /// For one part, when the question where a comparison failed is asked: some 0.2 ms.
    pub(crate) const PLACE: Self = Self { steps: 1_000, automata: 5_000 };

    /// So many times as much.
    pub(crate) fn times(self, times: u32) -> Self {
        let automata = self.automata.saturating_mul(usize::try_from(times).unwrap_or(usize::MAX));
        Self { steps: self.steps.saturating_mul(times), automata }
    }
}

/// What a level of a search costs.
pub(super) const FRAME: usize = 16;
