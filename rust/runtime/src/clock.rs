//! The one place of the runtime that reads a clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A monotonic clock for lifetimes and rates, and a wall clock for the audit trail.
#[derive(Debug)]
pub(crate) struct Clock {
    started: Instant,
    /// Milliseconds that tests have moved both clocks on; stays 0 otherwise.
    advanced_ms: AtomicU64,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), advanced_ms: AtomicU64::new(0) }
    }

    /// Time since the clock was made; never goes back.
    pub(crate) fn monotonic(&self) -> Duration {
        self.started.elapsed() + self.advanced()
    }

    /// Milliseconds since 1970, as the device believes.
    pub(crate) fn wall_ms(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + self.advanced();
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    }

    /// Moves both clocks on.
    #[cfg(feature = "test-hooks")]
    pub(crate) fn advance(&self, by_ms: u64) {
        self.advanced_ms.fetch_add(by_ms, Ordering::Relaxed);
    }

    fn advanced(&self) -> Duration {
        Duration::from_millis(self.advanced_ms.load(Ordering::Relaxed))
    }
}
