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

    /// What all comparisons of one merge share: some 0.2 s. Honest ones take a hundredth of [`COMPARISON`](Self::COMPARISON)
    /// each.
    pub(crate) const MERGE: Self = Self { steps: 1_200_000, automata: 8_000_000 };

    /// As much of this as `other` allows.
    pub(crate) fn at_most(self, other: Self) -> Self {
        Self { steps: self.steps.min(other.steps), automata: self.automata.min(other.automata) }
    }

    /// What is left of this when so much of `given` is left.
    pub(crate) fn after(self, given: Self, left: Self) -> Self {
        let (steps, automata) =
            (given.steps.saturating_sub(left.steps), given.automata.saturating_sub(left.automata));
        Self { steps: self.steps.saturating_sub(steps), automata: self.automata.saturating_sub(automata) }
    }

    /// Whether nothing is left of the steps or of the automata.
    pub(crate) fn is_spent(self) -> bool {
        self.steps == 0 || self.automata == 0
    }

    /// So many times as much.
    pub(crate) fn times(self, times: u32) -> Self {
        let automata = self.automata.saturating_mul(usize::try_from(times).unwrap_or(usize::MAX));
        Self { steps: self.steps.saturating_mul(times), automata }
    }
}

/// What a level of a search costs.
pub(super) const FRAME: usize = 16;
