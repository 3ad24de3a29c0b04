//! What is judged on the members of one tool together: effect and limits.

use super::{EFFECT_METHOD, LIMIT_CEILING, LIMIT_REDIRECTS, LIMIT_RETRIES};
use crate::json::{Object, Path};
use crate::manifest::document::{Ceiling, Effect, Limits, ToolDraft};
use crate::request::{Method, Redirects};
use crate::shape::Reading;

/// Judges effect and limits against the request.
pub(in crate::manifest) fn check_tool(
    tool: &ToolDraft,
    _: &Object,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) {
    let method = tool.request.as_ref().and_then(|request| request.method);
    if let (Some(effect), Some(method)) = (tool.effect, method) {
        check_effect(effect, method, &at.name("effect"), reading);
    }
    let Some(Some(limits)) = &tool.limits else { return };
    let at = at.name("limits");
    check_ceilings(limits, &at, reading);
    let (Some(effect), Some(request), Some(method)) = (tool.effect, &tool.request, method) else { return };
    let reads = effect == Effect::Read && matches!(method, Method::Get | Method::Head);
    let repeatable = reads || !matches!(request.idempotency, Some(None));
    if limits.retries.is_some_and(|retries| retries.get() > 0) && !repeatable {
        let message = format_args!("the request may not be repeated");
        reading.findings.add(&LIMIT_RETRIES, &at.name("retries"), message);
    }
    if limits.redirects == Some(Redirects::SameOrigin) && !reads {
        let message = format_args!("the request follows no redirect");
        reading.findings.add(&LIMIT_REDIRECTS, &at.name("redirects"), message);
    }
}

fn check_effect(effect: Effect, method: Method, at: &Path<'_>, reading: &mut Reading<'_>) {
    let wrong = match method {
        Method::Get | Method::Head | Method::Post => false,
        Method::Put | Method::Patch => effect == Effect::Read,
        Method::Delete => effect != Effect::Destructive,
    };
    if wrong {
        let (effect, method) = (effect.as_str(), method.as_str());
        reading.findings.add(&EFFECT_METHOD, at, format_args!("{method} cannot be of effect `{effect}`"));
    }
}

fn check_ceilings(limits: &Limits, at: &Path<'_>, reading: &mut Reading<'_>) {
    let host = reading.limits;
    let count = |most: usize| u64::try_from(most).unwrap_or(u64::MAX);
    let asked = [
        (
            "timeoutMs",
            limits.timeout_ms.map(Ceiling::get),
            u64::try_from(host.total_timeout_ceiling.as_millis()).unwrap_or(u64::MAX),
        ),
        ("maxResponseBytes", limits.max_response_bytes.map(Ceiling::get), count(host.response_decoded_bytes)),
        ("callsPerMinute", limits.calls_per_minute.map(Ceiling::get), u64::from(host.calls_per_minute)),
    ];
    for (name, asked, ceiling) in asked {
        if asked.is_some_and(|asked| asked > ceiling) {
            let message = format_args!("`{name}` is over the host's ceiling of {ceiling}");
            reading.findings.add(&LIMIT_CEILING, &at.name(name), message);
        }
    }
}
