//! What must be so, in the end of a call and on the sockets.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use connector_testkit::scenario::{Call, Saw, Scenario};
use connector_testkit::{Event, Log};

use crate::canary::Canaries;
use crate::play::Seen;
use crate::stage::Stage;

/// How long servers have to see the ends of their connections.
const SETTLE: Duration = Duration::from_millis(400);

/// How long an end that must come is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Times are read on two clocks, the call's and ours.
const GRAIN: Duration = Duration::from_millis(5);

/// Whether a call may end with this code.
pub(crate) fn is_right(call: &Call, code: &str) -> bool {
    let fits = |right: &str| match right {
        "answered" => matches!(code, "ok" | "response.invalid") || code.starts_with("status."),
        "net.*" => code.starts_with("net."),
        _ => code == right,
    };
    fits(&call.code) || call.or_code.as_deref().is_some_and(fits)
}

/// Judges the end of one call.
pub(crate) fn call(call: &Call, seen: &Seen, secrets: &Canaries, slack: Duration, faults: &mut Vec<String>) {
    if !is_right(call, &seen.code) {
        faults.push(format!("`{}` where `{}` is right", seen.code, call.code));
    }
    let most = call.at_most_ms.map_or(seen.deadline, Duration::from_millis) + slack;
    if seen.hung || seen.took > most {
        faults.push(format!("it took {:?}, and at most {most:?} is right", seen.took));
    }
    if seen.took + GRAIN < Duration::from_millis(call.at_least_ms) {
        faults.push(format!("it took {:?}, and at least {} ms is right", seen.took, call.at_least_ms));
    }
    let text = &seen.text;
    if secrets.is_in(text) {
        faults.push("the model would read a secret".to_owned());
    }
    for part in &call.text {
        if !text.contains(part.as_str()) {
            faults.push(format!("the model does not read {part:?}"));
        }
    }
    for part in &call.lacks {
        if text.contains(part.as_str()) {
            faults.push(format!("the model reads {part:?}"));
        }
    }
    if call.retry_after.is_some() && seen.retry_after != call.retry_after {
        faults.push(format!("retryAfter is {:?}, and {:?} is right", seen.retry_after, call.retry_after));
    }
}

/// Judges what went over the network, once the session is closed.
pub(crate) async fn network(scenario: &Scenario, stage: &Stage, faults: &mut Vec<String>) {
    let trapped = stage.trap.log().connections();
    if trapped > 0 {
        faults.push(format!("{trapped} connections to a forbidden address"));
    }
    let asked = stage.resolver.asked();
    if scenario.lookups.is_some_and(|lookups| lookups != asked.len()) {
        faults.push(format!("{} lookups, and {:?} are right", asked.len(), scenario.lookups));
    }
    for name in asked {
        if !stage.names.contains(&name) {
            faults.push("a name was looked up that no origin has".to_owned());
        }
    }
    for (server, plan) in stage.servers.iter().zip(&scenario.servers) {
        let log = server.log();
        if plan.saw.closed && log.wait(PATIENCE, |entry| entry.event == Event::PeerClosed).await.is_none() {
            faults.push("the socket stays open".to_owned());
        }
        settle(log).await;
        saw(&plan.saw, log, faults);
    }
}

/// Waits until every connection has ended, or for a while.
async fn settle(log: &Log) {
    let until = Instant::now() + SETTLE;
    while Instant::now() < until {
        let entries = log.entries();
        let ended = |event: &Event| matches!(event, Event::Done | Event::HandshakeFailed | Event::PeerClosed);
        let over: BTreeSet<usize> =
            entries.iter().filter(|entry| ended(&entry.event)).map(|entry| entry.connection).collect();
        if over.len() == log.connections() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn saw(saw: &Saw, log: &Log, faults: &mut Vec<String>) {
    let requests = log.requests();
    let mut count = |what: &str, expected: Option<usize>, found: usize| {
        if let Some(expected) = expected.filter(|expected| *expected != found) {
            faults.push(format!("{found} {what} at a server, and {expected} are right"));
        }
    };
    count("connections", saw.connections, log.connections());
    count("requests", saw.requests, requests.len());
    let received = String::from_utf8_lossy(&log.received()).into_owned();
    if saw.anything.is_some_and(|anything| anything == received.is_empty()) {
        faults.push("a server saw something where nothing is right, or the other way round".to_owned());
    }
    for part in &saw.holds {
        if !received.contains(part) {
            faults.push(format!("a server did not see {part:?}"));
        }
    }
    let folded = received.to_ascii_lowercase();
    for part in &saw.lacks {
        if folded.contains(&part.to_ascii_lowercase()) {
            faults.push(format!("a server saw {part:?}"));
        }
    }
    if let Some(name) = &saw.same_header {
        let values: Vec<Option<String>> = requests.iter().map(|request| request.header(name)).collect();
        let first = values.first().cloned().flatten();
        if first.is_none() || values.iter().any(|value| *value != first) {
            faults.push(format!("the requests do not agree in {name:?}"));
        }
    }
    let targets = requests.iter().map(connector_testkit::Request::target);
    if saw.targets.as_ref().is_some_and(|right| !targets.eq(right.iter().cloned())) {
        faults.push("the requests have other targets".to_owned());
    }
}
