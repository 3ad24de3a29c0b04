//! When a request is tried again, and how long to wait before.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::RETRY_AFTER;

use crate::error::{Failure, TlsFailure};

/// The first pause; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// The longest pause of our own choice.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// The clock and the chance that pauses are made of, injectable for tests.
#[derive(Clone)]
pub struct Pacing {
    /// The wall clock, against which a `Retry-After` date is read.
    pub now: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    /// A share from 0 to 1 of the jitter: a pause is between half of its length and the whole.
    pub jitter: Arc<dyn Fn() -> f64 + Send + Sync>,
}

impl fmt::Debug for Pacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pacing")
    }
}

impl Default for Pacing {
    /// The system's clock, and chance from the standard library's hasher.
    fn default() -> Self {
        Self { now: Arc::new(SystemTime::now), jitter: Arc::new(chance) }
    }
}

/// A number from 0 to 1. Only the spread of pauses hangs on it, no secret.
fn chance() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    f64::from(u16::try_from(RandomState::new().hash_one(0_u8) & 0xffff).unwrap_or(0)) / f64::from(u16::MAX)
}

/// Whether an answer asks to be tried again (RFC 9110 section 15.6, RFC 6585 section 4).
pub(crate) fn status_repeats(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}

/// Whether a failure is one of connecting, before which nothing was sent, or of a kept connection that the
/// server had closed.
pub(crate) fn failure_repeats(failure: Failure) -> bool {
    matches!(failure, Failure::Connect(_) | Failure::Tls(TlsFailure::Broken))
}

impl Pacing {
    /// How long to wait before try number `tries` + 2, or `None` when there is no time left for it: then the
    /// answer is handed over, and its `Retry-After` with it.
    pub(crate) fn pause(&self, tries: u32, headers: Option<&HeaderMap>, left: Duration) -> Option<Duration> {
        let asked = headers.and_then(|headers| self.retry_after(headers));
        let pause = asked.unwrap_or_else(|| {
            let longest = FIRST_PAUSE.saturating_mul(1 << tries.min(8)).min(LONGEST_PAUSE);
            longest.mul_f64(0.5 + (self.jitter)().clamp(0.0, 1.0) / 2.0)
        });
        (pause < left).then_some(pause)
    }

    /// `Retry-After` (RFC 9110 section 10.2.3): seconds or a date, a date in the past being no wait. Anything
    /// else, and more than one, says nothing.
    fn retry_after(&self, headers: &HeaderMap) -> Option<Duration> {
        let values = headers.get_all(RETRY_AFTER).iter().map(http::HeaderValue::as_bytes);
        retry_after(values, (self.now)())
    }
}

/// The longest `Retry-After` that is told; a longer one is this long.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How long to wait, by the values of `Retry-After` in one answer (RFC 9110 section 10.2.3): seconds, or a date, of
/// which one in the past is no wait; at most a year. Anything else, and more than one value, says nothing.
pub fn retry_after<'a>(values: impl IntoIterator<Item = &'a [u8]>, now: SystemTime) -> Option<Duration> {
    let mut values = values.into_iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let text = std::str::from_utf8(value).ok()?.trim();
    let wait = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Digits beyond what fits are a wait without end.
        text.parse().map_or(Duration::MAX, Duration::from_secs)
    } else {
        httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default()
    };
    Some(wait.min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(784_111_777); // Sun, 06 Nov 1994 08:49:37 GMT

    fn pacing(jitter: f64) -> Pacing {
        Pacing { now: Arc::new(|| SystemTime::UNIX_EPOCH + NOW), jitter: Arc::new(move || jitter) }
    }

    fn after(values: &[&str]) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(RETRY_AFTER, value.parse().unwrap());
        }
        pacing(0.0).retry_after(&headers)
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let seconds = Duration::from_secs;
        for (value, wait) in [
            ("0", Some(seconds(0))),
            ("120", Some(seconds(120))),
            (" 7 ", Some(seconds(7))),
            ("99999999999999999999999999", Some(LONGEST_WAIT)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(LONGEST_WAIT)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(seconds(10))),
            ("Sunday, 06-Nov-94 08:49:47 GMT", Some(seconds(10))),
            ("Sun Nov  6 08:49:47 1994", Some(seconds(10))),
            ("Sun, 06 Nov 1994 08:49:27 GMT", Some(seconds(0))),
            ("", None),
            ("-1", None),
            ("+1", None),
            ("1.5", None),
            ("1e3", None),
            ("soon", None),
        ] {
            assert_eq!(after(&[value]), wait, "{value:?}");
        }
        assert_eq!(after(&["1", "1"]), None);
    }

    #[test]
    fn a_pause_fits_into_the_time_that_is_left() {
        let ms = Duration::from_millis;
        assert_eq!(pacing(1.0).pause(0, None, ms(1_000)), Some(ms(250)));
        assert_eq!(pacing(0.0).pause(0, None, ms(1_000)), Some(ms(125)));
        assert_eq!(pacing(1.0).pause(1, None, ms(1_000)), Some(ms(500)));
        assert_eq!(pacing(1.0).pause(u32::MAX, None, ms(60_000)), Some(LONGEST_PAUSE));
        assert_eq!(pacing(1.0).pause(0, None, ms(250)), None);
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, "3".parse().unwrap());
        assert_eq!(pacing(1.0).pause(0, Some(&headers), ms(3_001)), Some(ms(3_000)));
        assert_eq!(pacing(1.0).pause(0, Some(&headers), ms(3_000)), None, "it is reported instead");
    }

    #[test]
    fn chance_is_a_share() {
        assert!((0..1_000).all(|_| (0.0..=1.0).contains(&chance())));
    }
}
