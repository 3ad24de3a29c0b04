//! A real process is killed (SIGKILL) at 200 random points while it commits, and at 200 while it writes.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod child;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::time::Duration;

use child::{Lines, Random, files, grant, options, plan, role, say, start};
use connector_core::Code;
use connector_core::audit::{Deed, Event};
use connector_core::json::{Value, sha256};
use connector_store::{Durability, Outcome, State, Store, StoreLimits, StoreOptions, Tombstone, Transaction};

const KILLS: u64 = 200;
/// The connectors of a store are the last ones of a row of commits, each with what its number says.
const CONNECTORS: u64 = 5;

/// The commit with a number, counted from 1.
fn commit(on: &State, number: u64) -> Transaction {
    let id = format!("c{}", number % CONNECTORS);
    let manifest = format!("manifest {number} ").repeat(usize::try_from(number % 97).unwrap() * 20);
    let schema = Value::from(number);
    Transaction::new(on, sha256(format!("set {number}")))
        .pin(id.as_str(), manifest.into_bytes(), files(), grant(number))
        .tombstone(format!("{id}.tool{}", number % 31), Tombstone(schema))
}

/// Which commit a store is at: everything in it has to say the same.
fn number(store: &Store) -> u64 {
    let state = store.state();
    let grants = state.pins().map(|(_, pin)| pin.grant.grant.to_text().parse::<u64>().unwrap());
    let Some(newest) = grants.max() else { return 0 };
    assert_eq!(state.tool_set(), sha256(format!("set {newest}")));
    assert_eq!(state.pins().len() as u64, newest.min(CONNECTORS));
    let oldest = newest.saturating_sub(CONNECTORS - 1).max(1);
    for number in oldest..=newest {
        assert_eq!(state.pin(&format!("c{}", number % CONNECTORS)).unwrap().grant, grant(number));
    }
    for (_, stone) in state.tombstones() {
        let named = stone.0.to_text().parse::<u64>().unwrap();
        assert!((1..=newest).contains(&named));
    }
    for loaded in store.load(&state) {
        loaded.manifest.unwrap();
    }
    newest
}

#[test]
#[ignore = "the process that is killed"]
fn commit_for_ever() {
    let Some((folder, _)) = role() else { return };
    let store = Store::open(options(&folder)).unwrap();
    let mut at = number(&store);
    loop {
        let state = store.commit(&commit(&store.state(), at + 1)).unwrap();
        at += 1;
        say(&format!("committed {at} {}", state.counter()));
    }
}

/// Waits a random while, kills the process, and gives what it said. One in four is killed at a time that may be before
/// it has opened the store, the others while they work.
fn kill(mut child: std::process::Child, mut lines: Lines, random: &mut Random) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    if random.below(4) > 0 {
        words.extend(lines.next());
    }
    std::thread::sleep(Duration::from_micros(random.below(25_000)));
    child.kill().unwrap();
    words.extend(lines);
    assert!(!child.wait().unwrap().success());
    words
}

#[test]
fn a_killed_process_leaves_the_old_state_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new();
    let (mut told, mut seen, mut unfinished, mut untold) = (0, 0, 0, 0);
    for _ in 0..KILLS {
        let (child, lines) = start("commit_for_ever", folder.path(), 0);
        for words in kill(child, lines, &mut random) {
            let numbers: Vec<u64> = words.split(' ').skip(1).map(|number| number.parse().unwrap()).collect();
            (told, seen) = (numbers[0], numbers[1]);
        }
        unfinished += u64::from(half_written(folder.path()));
        let store = Store::open(StoreOptions { seen: Some(seen), ..options(folder.path()) }).unwrap();
        let found = number(&store);
        assert!(found == told || found == told + 1, "told {told}, found {found}");
        untold += found - told;
        (told, seen) = (found, store.state().counter());
        assert!(!half_written(folder.path()), "leftovers are removed");
        let manifests = fs::read_dir(folder.path().join("manifests")).unwrap().count() as u64;
        assert_eq!(manifests, found.min(CONNECTORS));
    }
    println!(
        "{KILLS} kills, {told} commits; {unfinished} kills left something half written, {untold} were between the commit and its answer"
    );
    assert!(told > KILLS / 4, "the kills came while it was committing");
}

fn half_written(folder: &Path) -> bool {
    let folders = [folder.to_owned(), folder.join("manifests")];
    let names = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    names.map(|entry| entry.unwrap().file_name()).any(|name| name.to_string_lossy().ends_with(".tmp"))
}

/// A ledger and a trail that turn over many times.
fn small(folder: &Path) -> StoreOptions {
    StoreOptions {
        limits: StoreLimits { ledger_bytes: 40_000, audit_bytes: 20_000, ..StoreLimits::default() },
        ..options(folder)
    }
}

fn event(number: u64, deed: Deed) -> Event {
    Event {
        time_ms: number,
        deed,
        subject: "c0.write".into(),
        tool_set: sha256("set"),
        object: Some(plan(number)),
        outcome: "ok".into(),
        status: None,
        sent_bytes: 0,
        received_bytes: 0,
        duration_ms: 0,
    }
}

#[test]
#[ignore = "the process that is killed"]
fn write_for_ever() {
    let Some((folder, first)) = role() else { return };
    let store = Store::open(small(&folder)).unwrap();
    let (ledger, audit) = (store.ledger(), store.audit());
    for number in first.. {
        match ledger.started(plan(number), "c0.write", number) {
            Ok(()) => {}
            Err(refusal) if refusal.code == Code::LedgerOrder => continue,
            Err(refusal) => panic!("{refusal}"),
        }
        let started = audit.append(event(number, Deed::Started), Durability::Now).unwrap();
        say(&format!("head {}", started.hash));
        let outcome = match number % 3 {
            0 => Outcome::Sent,
            1 => Outcome::OutcomeUnknown,
            _ => Outcome::NotSent,
        };
        if outcome != Outcome::NotSent {
            // The parent is the server, and the pipe the connection.
            say(&format!("request {number}"));
        }
        ledger.ended(plan(number), outcome).unwrap();
        audit.append(event(number, Deed::Call), Durability::Later).unwrap();
    }
}

#[test]
fn a_killed_process_never_sends_a_write_twice_and_knows_what_became_of_each() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new();
    let mut requests: HashMap<u64, u64> = HashMap::new();
    let mut counts = [0, 0, 0];
    let (mut next, mut interrupted, mut head) = (0_u64, 0, None);
    for _ in 0..KILLS {
        // The process that comes next tries plans again that the one before may have started.
        let (child, lines) = start("write_for_ever", folder.path(), next.saturating_sub(5));
        for words in kill(child, lines, &mut random) {
            match words.split_once(' ').unwrap() {
                ("request", number) => *requests.entry(number.parse().unwrap()).or_default() += 1,
                ("head", hash) => head = connector_core::json::Sha256::parse(hash),
                other => panic!("{other:?}"),
            }
        }
        let store = Store::open(small(folder.path())).unwrap();
        assert_eq!(store.damage(), []);
        store.audit().verify(head).unwrap();
        let ledger = store.ledger();
        let remembered: BTreeSet<u64> = ledger.writes().iter().map(|write| write.time_ms).collect();
        let newest = remembered.last().map_or(0, |newest| newest + 1);
        // Older ones were dropped to make room, but for those without an end.
        let oldest =
            (0..newest).rev().take_while(|number| remembered.contains(number)).last().unwrap_or(newest);
        let kept = remembered.iter().copied().filter(|number| *number < oldest);
        for number in kept.chain(oldest..newest.max(next) + 5) {
            let sent = requests.get(&number).copied().unwrap_or(0);
            assert!(sent <= 1, "{number} was sent twice");
            match ledger.write(plan(number)) {
                None => assert_eq!(sent, 0, "{number} was sent and is not known"),
                Some(write) => {
                    match write.outcome {
                        Outcome::Sent => assert_eq!(sent, 1, "{number}"),
                        Outcome::NotSent => assert_eq!(sent, 0, "{number}"),
                        Outcome::OutcomeUnknown => assert!(!write.ended || number % 3 == 1),
                    }
                    if number >= next {
                        counts[match write.outcome {
                            Outcome::Sent => 0,
                            Outcome::NotSent => 1,
                            Outcome::OutcomeUnknown => 2,
                        }] += 1;
                    }
                }
            }
        }
        interrupted = ledger.interrupted().len();
        next = newest;
    }
    assert!(requests.values().all(|count| *count == 1));
    let [sent, not_sent, unknown] = counts;
    println!(
        "{KILLS} kills, {next} writes: {sent} sent, {not_sent} not sent, {unknown} unknown, of which {interrupted} \
         interrupted; {} requests came in",
        requests.len()
    );
    assert!(interrupted > 0 && sent > KILLS / 4, "the kills came while it was writing");
}
