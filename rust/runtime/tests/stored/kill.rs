//! A real process that makes real writes through a session is killed (SIGKILL) at 200 random points.

#![cfg(unix)]

use std::collections::HashMap;
use std::time::Duration;

use connector_runtime::core::json::Sha256;
use connector_runtime::store::{Outcome, StoreOptions, Write};
use connector_runtime::{ClientOptions, Session, SessionOptions, Trust};
use connector_testkit::{Request, Script, Server, Step};
use serde_json::{Value, json};

use crate::child::{Random, role, say, start};
use crate::kit::store;
use crate::support::{execute, http, install, manifest, plan};

const KILLS: u64 = 200;

fn open(folder: &std::path::Path) -> Session {
    let mut options = SessionOptions::new(ClientOptions::new(Trust::platform()));
    options.limits.calls_per_minute = u32::MAX;
    let mut store = StoreOptions { wait: Duration::from_secs(10), ..store(folder) };
    // Every write of all processes is remembered: a fast disk makes thousands.
    store.limits.ledger_bytes = 64 << 20;
    Session::open_store(options, store).unwrap()
}

fn granted(port: u64) -> Value {
    json!({ "origins": { "server": format!("http://127.0.0.1:{port}") }, "loopback": true })
}

/// Writes one text after the other: most to the server, some to one that cuts the connection, some to nowhere. Tells the
/// digest of each plan before it is carried out, and its end.
#[test]
#[ignore = "the process that is killed"]
fn write_for_ever() {
    let Some((folder, number)) = role() else { return };
    let (port, round) = (number >> 32, number & 0xffff_ffff);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let session = open(&folder);
        install(&session, &manifest("notes"), &granted(port)).unwrap();
        install(&session, &manifest("nowhere"), &granted(3)).unwrap();
        // Each process begins with another kind, so that all of them come however slow the machine is.
        for number in round.. {
            let tool = if number % 5 == 4 { "nowhere.add" } else { "notes.add" };
            let text =
                if number % 5 == 3 { format!("cut {round}-{number}") } else { format!("{round}-{number}") };
            let view = plan(&session, tool, &json!({ "text": text })).unwrap();
            say(&format!("plan {} {text}", view.digest));
            let outcome = execute(&session, &view).await;
            let outcome = outcome.map_or_else(|refusal| refusal.code.as_str(), |_| "ok");
            say(&format!("end {} {outcome}", view.digest));
        }
    });
}

/// Answers, or cuts the connection where the text says so.
fn server() -> Script {
    let answer = |request: &Request| {
        let text = String::from_utf8_lossy(request.body()).into_owned();
        if text.contains("cut") { b"?\r\n\r\n".to_vec() } else { http(200, "application/json", &[], b"{}") }
    };
    vec![Step::ReadRequest, Step::Answer(std::sync::Arc::new(answer)), Step::Restart]
}

/// How often each text came.
fn arrived(server: &Server) -> HashMap<String, u64> {
    let mut counts = HashMap::new();
    for request in server.log().requests() {
        let body: Value = serde_json::from_slice(request.body()).unwrap();
        *counts.entry(body["text"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn a_killed_process_never_sends_a_write_twice_and_each_reads_what_became_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(Server::plain(server())).unwrap();
    let mut random = Random::new();
    let mut plans: HashMap<Sha256, (String, Option<String>)> = HashMap::new();
    for round in 0..KILLS {
        let port = u64::from(server.address().port());
        let (mut child, mut lines) = start("kill::write_for_ever", folder.path(), port << 32 | round);
        // One in four is killed at a time that may be before it has opened the store.
        let mut words: Vec<String> = Vec::new();
        if random.below(4) > 0 {
            words.extend(lines.next());
        }
        std::thread::sleep(Duration::from_micros(random.below(30_000)));
        child.kill().unwrap();
        words.extend(lines);
        child.wait().unwrap();
        for line in words {
            let (what, rest) = line.split_once(' ').unwrap();
            let (digest, rest) = rest.split_once(' ').unwrap();
            let digest = Sha256::parse(digest).unwrap();
            match what {
                "plan" => drop(plans.insert(digest, (rest.to_owned(), None))),
                _ => plans.get_mut(&digest).unwrap().1 = Some(rest.to_owned()),
            }
        }
        let session = open(folder.path());
        assert_eq!(session.damage().unwrap(), []);
        session.close();
    }
    // What was on its way when a process was killed has arrived by now, or never will.
    std::thread::sleep(Duration::from_millis(300));
    let (session, arrived) = (open(folder.path()), arrived(&server));
    let writes: HashMap<Sha256, Write> =
        session.writes().unwrap().into_iter().map(|write| (write.plan, write)).collect();
    assert!(arrived.values().all(|count| *count == 1), "a request came twice");
    let mut counts = HashMap::new();
    for (digest, (text, end)) in &plans {
        let came = arrived.get(text).copied().unwrap_or(0);
        let Some(write) = writes.get(digest) else {
            assert_eq!((came, end), (0, &None), "{text} was sent and is not known");
            *counts.entry("not begun").or_insert(0) += 1;
            continue;
        };
        match write.outcome {
            Outcome::Sent => assert_eq!(came, 1, "{text}"),
            Outcome::NotSent => assert_eq!(came, 0, "{text}"),
            Outcome::OutcomeUnknown => {}
        }
        // What the process could still say is what the ledger says.
        match end.as_deref() {
            Some("ok") => assert_eq!(write.outcome, Outcome::Sent, "{text}"),
            Some("outcome_unknown") => assert_eq!(write.outcome, Outcome::OutcomeUnknown, "{text}"),
            Some(other) => assert_eq!((other, write.outcome), ("net.connect", Outcome::NotSent), "{text}"),
            None => {}
        }
        let interrupted = if write.is_interrupted() { "interrupted" } else { write.outcome.as_str() };
        *counts.entry(interrupted).or_insert(0) += 1;
    }
    println!("{KILLS} kills, {} plans, {} requests: {counts:?}", plans.len(), arrived.len());
    for outcome in ["sent", "not_sent", "outcome_unknown", "interrupted"] {
        assert!(counts.get(outcome).is_some_and(|count| *count > 0), "the kills came while it was writing");
    }
}
