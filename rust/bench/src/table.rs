//! Rows of ratios, each with the bound that it is held to.

use std::time::{Duration, Instant};

/// The table, printed as it grows.
pub(crate) struct Table {
    missed: Vec<String>,
}

/// Medians of two things that ran in turns.
pub(crate) struct Pair {
    pub(crate) ours: Duration,
    pub(crate) reference: Duration,
}

impl Table {
    pub(crate) fn new() -> Self {
        println!("{:<54} {:>12} {:>12} {:>8}  bound", "what, against what", "ours", "reference", "ratio");
        Self { missed: Vec::new() }
    }

    /// A row of two times.
    pub(crate) fn times(&mut self, what: &str, pair: &Pair, bound: f64) {
        let ratio = pair.ours.as_secs_f64() / pair.reference.as_secs_f64();
        let [ours, reference] =
            [pair.ours, pair.reference].map(|time| format!("{:.1} us", time.as_secs_f64() * 1e6));
        self.row(what, &ours, &reference, ratio, bound);
    }

    /// A row of any two figures.
    pub(crate) fn row(&mut self, what: &str, ours: &str, reference: &str, ratio: f64, bound: f64) {
        let held = if ratio <= bound { "held" } else { "MISSED" };
        println!("{what:<54} {ours:>12} {reference:>12} {ratio:>8.2}  <= {bound} {held}");
        if ratio > bound {
            self.missed.push(what.to_owned());
        }
    }

    /// Says which bounds were missed.
    pub(crate) fn finish(self) {
        if self.missed.is_empty() {
            println!("all bounds held");
        } else {
            println!("missed: {}", self.missed.join("; "));
        }
    }
}

/// Runs both in turns for `rounds` rounds, after a tenth of them to warm up, and gives the medians of one run.
pub(crate) fn in_turns(rounds: usize, mut ours: impl FnMut(), mut reference: impl FnMut()) -> Pair {
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..rounds + rounds / 10 {
        let first = time(&mut ours);
        let second = time(&mut reference);
        if round >= rounds / 10 {
            times[0].push(first);
            times[1].push(second);
        }
    }
    let [ours, reference] = times.map(median);
    Pair { ours, reference }
}

fn time(run: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
