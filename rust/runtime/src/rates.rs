//! Calls a minute, for each connector and each tool, in a sliding window.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use smol_str::SmolStr;

const WINDOW: Duration = Duration::from_secs(60);

/// When the calls of the last minute were made. One entry a call, so its size is bounded by the limits.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    calls: HashMap<SmolStr, VecDeque<Duration>>,
}

impl Rates {
    /// Counts one call under each name, or, when one of them is at its limit, none; then gives how long to wait.
    pub(crate) fn take(&mut self, now: Duration, limits: &[(&str, u32)]) -> Result<(), Duration> {
        for (name, limit) in limits {
            let calls = self.calls.entry((*name).into()).or_default();
            while calls.front().is_some_and(|made| now.saturating_sub(*made) >= WINDOW) {
                calls.pop_front();
            }
            if calls.len() >= *limit as usize {
                let oldest = calls.front().copied().unwrap_or(now);
                return Err((oldest + WINDOW).saturating_sub(now));
            }
        }
        for (name, _) in limits {
            self.calls.entry((*name).into()).or_default().push_back(now);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_slides() {
        let mut rates = Rates::default();
        let at = Duration::from_secs;
        assert_eq!(rates.take(at(0), &[("a", 2)]), Ok(()));
        assert_eq!(rates.take(at(30), &[("a", 2)]), Ok(()));
        assert_eq!(rates.take(at(40), &[("a", 2)]), Err(at(20)));
        assert_eq!(rates.take(at(60), &[("a", 2)]), Ok(()));
        assert_eq!(rates.take(at(61), &[("a", 2)]), Err(at(29)));
    }

    #[test]
    fn a_refused_call_is_counted_nowhere() {
        let mut rates = Rates::default();
        let at = Duration::from_secs;
        assert_eq!(rates.take(at(0), &[("a", 9), ("a.x", 1)]), Ok(()));
        for _ in 0..20 {
            assert!(rates.take(at(1), &[("a", 9), ("a.x", 1)]).is_err());
        }
        assert_eq!(rates.take(at(2), &[("a", 9), ("a.y", 1)]), Ok(()));
    }
}
