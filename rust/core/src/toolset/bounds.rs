//! The bounds of a tool, as they hold under the limits of the host.

use crate::TrustLimits;
use crate::json::{Object, Value};
use crate::manifest::{Effect, Tool};
use crate::request::{Method, Redirects};

/// What a call of a tool may take at most; what the manifest does not say is as the host has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds([u64; 5]);

/// The members of `limits` in a manifest.
const NAMES: [&str; 5] = ["timeoutMs", "maxResponseBytes", "retries", "redirects", "callsPerMinute"];

impl Bounds {
    pub(super) fn new(tool: &Tool, limits: &TrustLimits) -> Self {
        let asked = tool.limits();
        let read = tool.effect() == Effect::Read;
        let fetches = read && matches!(tool.request().method, Method::Get | Method::Head);
        let host = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let time = match asked.timeout_ms {
            Some(ms) => ms.get(),
            None => host(limits.total_timeout),
        };
        let bytes = limits.response_decoded_bytes as u64;
        let retries = match asked.retries {
            Some(retries) => retries.get(),
            None if read => 2,
            None => 0,
        };
        let calls = u64::from(limits.calls_per_minute);
        let follows = fetches && asked.redirects == Some(Redirects::SameOrigin);
        Self([
            time.min(host(limits.total_timeout_ceiling)),
            asked.max_response_bytes.map_or(bytes, |asked| asked.get().min(bytes)),
            if tool.request().is_repeatable(read) { retries } else { 0 },
            u64::from(follows),
            asked.calls_per_minute.map_or(calls, |asked| asked.get().min(calls)),
        ])
    }

    /// The bounds that differ, by the name that the manifest gives them, with their numbers before and now.
    pub(super) fn changes(self, before: Self) -> impl Iterator<Item = (&'static str, u64, u64)> {
        let pairs = NAMES.into_iter().zip(before.0.into_iter().zip(self.0));
        pairs.filter(|(_, (then, now))| then != now).map(|(name, (then, now))| (name, then, now))
    }

    pub(super) fn to_value(self) -> Value {
        let members = NAMES.into_iter().zip(self.0).map(|(name, number)| (name, Value::from(number)));
        Value::Object(members.collect::<Object>())
    }

    pub(super) fn from_value(value: &Value) -> Option<Self> {
        let number = |name: &str| u64::try_from(value.get(name)?.as_number()?.as_integer()?).ok();
        let mut numbers = [0; 5];
        for (slot, name) in numbers.iter_mut().zip(NAMES) {
            *slot = number(name)?;
        }
        Some(Self(numbers))
    }
}
