//! Calls a minute, for each connector and each tool, in a sliding window.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use connector_core::{Code, Refusal};
use smol_str::SmolStr;

const WINDOW: Duration = Duration::from_secs(60);

/// When the calls of the last minute were made. One entry a call, so its size is bounded by the limits.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    calls: HashMap<SmolStr, VecDeque<Duration>>,
}

impl Rates {
    /// Counts one call under each name, or, when one of them is at its limit, none; then `rate.limited` says how
    /// long to wait.
    pub(crate) fn take(&mut self, now: Duration, limits: &[(&str, u32)]) -> Result<(), Refusal> {
        for (name, limit) in limits {
            let calls = self.calls.entry((*name).into()).or_default();
            while calls.front().is_some_and(|made| now.saturating_sub(*made) >= WINDOW) {
                calls.pop_front();
            }
            if calls.len() >= *limit as usize {
                let oldest = calls.front().copied().unwrap_or(now);
                return Err(limited(name, (oldest + WINDOW).saturating_sub(now)));
            }
        }
        for (name, _) in limits {
            self.calls.entry((*name).into()).or_default().push_back(now);
        }
        Ok(())
    }
}

fn limited(name: &str, wait: Duration) -> Refusal {
    let seconds = wait.as_millis().div_ceil(1_000);
    let reason = format!("`{name}` has made its calls of this minute; the next may be made in {seconds} s");
    Refusal::new(Code::RateLimited, reason)
        .advise("Too many calls were made in the last minute. Wait, or answer with what you have.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_window_slides() {
        let mut rates = Rates::default();
        let mut take = |now| rates.take(at(now), &[("a", 2)]).map_err(|refusal| refusal.reason);
        let wait = |seconds| {
            Err(format!("`a` has made its calls of this minute; the next may be made in {seconds} s"))
        };
        assert_eq!(take(0), Ok(()));
        assert_eq!(take(30), Ok(()));
        assert_eq!(take(40), wait(20));
        assert_eq!(take(60), Ok(()));
        assert_eq!(take(61), wait(29));
    }

    #[test]
    fn a_refused_call_is_counted_nowhere() {
        let mut rates = Rates::default();
        assert!(rates.take(at(0), &[("a", 9), ("a.x", 1)]).is_ok());
        for _ in 0..20 {
            let refusal = rates.take(at(1), &[("a", 9), ("a.x", 1)]).unwrap_err();
            assert_eq!(refusal.code, Code::RateLimited);
        }
        assert!(rates.take(at(2), &[("a", 9), ("a.y", 1)]).is_ok());
    }
}
