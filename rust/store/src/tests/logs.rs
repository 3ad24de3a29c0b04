//! The ledger and the audit trail: what they remember, and what they notice.

use connector_core::Code;
use connector_core::audit::Event;
use connector_core::json::{Sha256, sha256};

use super::simulated::Simulated;
use super::{event, key, plan, small};
use crate::{Durability, Outcome, Store, StoreLimits};

fn open(files: &Simulated, limits: &StoreLimits) -> Store {
    Store::on(files.files(), key(), None, limits.clone()).unwrap()
}

/// A trail of six records, and its lines: the header first.
fn trail() -> (Simulated, Vec<Sha256>, Vec<String>) {
    let files = Simulated::new();
    let store = open(&files, &StoreLimits::default());
    let hashes =
        (0..6).map(|at| store.audit().append(event(&format!("a.t{at}")), Durability::Now).unwrap().hash);
    let hashes = hashes.collect();
    (files.clone(), hashes, lines(&files, "audit.log"))
}

fn lines(files: &Simulated, name: &str) -> Vec<String> {
    String::from_utf8(files.bytes(name)).unwrap().lines().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_line_of_the_trail_that_was_changed_removed_or_moved_is_named() {
    let (files, hashes, lines) = trail();
    let check = |lines: &[String], kept: Option<Sha256>| {
        let files = files.copy();
        files.put("audit.log", lines.concat().as_bytes());
        let store = open(&files, &StoreLimits::default());
        let opened = store.damage();
        let verified = store.audit().verify(kept);
        assert_eq!(opened.first(), verified.as_ref().err().filter(|_| !opened.is_empty()));
        verified.map_err(|refusal| {
            assert_eq!(refusal.code, Code::AuditBroken);
            refusal.reason
        })
    };
    let without = |at: usize| [&lines[..at], &lines[at + 1..]].concat();
    let with = |at: usize, line: String| [&lines[..at], &[line], &lines[at + 1..]].concat();
    assert_eq!(check(&lines, None).unwrap().kept, 6);
    for head in &hashes {
        assert!(check(&lines, Some(*head)).is_ok(), "a head of any time");
    }
    let reason = |text: &str| Err(format!("the audit trail: {text}"));
    assert_eq!(check(&without(3), None), reason("a line was removed, after line 2"));
    assert_eq!(check(&without(1), None), reason("a line was removed, after line 0"));
    let changed = with(3, lines[3].replace("a.t2", "a.t9"));
    assert_eq!(check(&changed, None), reason("a line was changed, after line 2"));
    assert_eq!(
        check(&with(3, lines[3].replace('{', "{ ")), None),
        reason("a line was changed, after line 2")
    );
    let swapped = [&lines[..2], &[lines[3].clone(), lines[2].clone()], &lines[4..]].concat();
    assert_eq!(check(&swapped, None), reason("a line was removed, after line 1"));
    let doubled = [&lines[..4], &lines[3..]].concat();
    assert_eq!(check(&doubled, None), reason("a line stands out of order, after line 3"));
    let inserted = [&lines[..3], &["{}\n".to_owned()], &lines[3..]].concat();
    assert_eq!(check(&inserted, None), reason("a line was changed, after line 2"));
    let another = with(0, self::lines(&files, "ledger.log")[0].clone());
    assert_eq!(check(&another, None), reason("the header was changed, after line 0"));
    assert_eq!(check(&without(0), None), reason("the header was changed, after line 0"));
    let floor = with(0, lines[0].replace("\"sequence\":0", "\"sequence\":2"));
    assert_eq!(check(&floor, None), reason("the header was changed, after line 0"));

    // Who cuts the end off is not found out by the trail alone, but by a host that kept its head.
    let cut = &lines[..5];
    assert_eq!(check(cut, None).unwrap().kept, 4);
    assert!(check(cut, hashes.get(5).copied()).unwrap_err().contains("not among those kept (1 to 4)"));
    // A trail that was written anew from its third line on, hashes and all.
    let forged = Simulated::new();
    let other = open(&forged, &StoreLimits::default());
    (0..6).for_each(|at| {
        drop(other.audit().append(event(&format!("a.t{}", if at < 2 { at } else { 9 })), Durability::Now));
    });
    let forged = String::from_utf8(forged.bytes("audit.log")).unwrap();
    let forged: Vec<String> = forged.lines().map(|line| format!("{line}\n")).collect();
    assert_eq!(forged[..3], lines[..3]);
    assert!(check(&forged, None).is_ok());
    assert!(check(&forged, hashes.get(5).copied()).is_err());
}

#[test]
fn a_damaged_trail_goes_on_and_stays_damaged() {
    let (files, _, lines) = trail();
    files.put("audit.log", [&lines[..2], &lines[4..]].concat().concat().as_bytes());
    let limits = small();
    let store = open(&files, &limits);
    assert_eq!(store.damage().len(), 1);
    for _ in 0..40 {
        store.audit().append(event("a.b"), Durability::Later).unwrap();
        assert_eq!(store.audit().verify(None).unwrap_err().code, Code::AuditBroken);
    }
    drop(store);
    assert_eq!(open(&files, &limits).damage().len(), 1, "the header remembers what was dropped");
}

#[test]
fn a_torn_end_is_cut_off_and_is_no_damage() {
    let (files, hashes, lines) = trail();
    let whole = lines.concat();
    for cut in whole.len() - lines[6].len()..whole.len() {
        for zeros in [0, 40] {
            let files = files.copy();
            let torn = [&whole.as_bytes()[..cut], &vec![0; zeros]].concat();
            files.put("audit.log", &torn);
            let store = open(&files, &StoreLimits::default());
            assert_eq!(store.damage(), []);
            assert_eq!(store.audit().head(), hashes[4]);
            let next = store.audit().append(event("a.t5"), Durability::Now).unwrap();
            assert_eq!((next.sequence, next.hash), (6, hashes[5]));
            assert_eq!(files.bytes("audit.log"), whole.as_bytes());
        }
    }
}

/// A crash cuts a line or leaves holes in it; a whole one with another seal was changed by somebody, and stays told.
#[test]
fn a_changed_line_at_the_end_is_a_damage_for_good() {
    let (files, _, lines) = trail();
    let changed = [lines[..6].concat(), lines[6].replace("a.t5", "a.t9")].concat();
    files.put("audit.log", changed.as_bytes());
    for _ in 0..2 {
        let store = open(&files, &StoreLimits::default());
        assert_eq!(store.damage()[0].reason, "the audit trail: a line was changed, after line 5");
        store.audit().append(event("a.more"), Durability::Now).unwrap();
    }
}

#[test]
fn the_end_of_the_ledger_cannot_be_cut_unseen() {
    let files = Simulated::new();
    let store = open(&files, &StoreLimits::default());
    for number in 0..3 {
        store.ledger().started(plan(number), "a.b", 0).unwrap();
        let started = Event { object: Some(plan(number)), outcome: "started".into(), ..event("a.b") };
        store.audit().append(started, Durability::Now).unwrap();
    }
    drop(store);
    assert_eq!(open(&files, &StoreLimits::default()).damage(), []);
    let lines = lines(&files, "ledger.log");
    for kept in 1..4 {
        let files = files.copy();
        files.put("ledger.log", lines[..kept].concat().as_bytes());
        let damage = open(&files, &StoreLimits::default()).damage();
        assert_eq!(damage.len(), 1, "{kept}");
        assert!(damage[0].reason.contains("tells of a write that is not here"), "{}", damage[0].reason);
    }
}

#[test]
fn a_full_trail_drops_its_older_half_and_remembers_where_it_was() {
    let files = Simulated::new();
    let limits = small();
    let store = open(&files, &limits);
    let mut hashes = Vec::new();
    for at in 0..100_u64 {
        hashes.push(store.audit().append(event("a.b"), Durability::Later).unwrap().hash);
        let size = files.bytes("audit.log").len();
        assert!(size <= limits.audit_bytes, "{size}");
        let verified = store.audit().verify(hashes.last().copied()).unwrap();
        assert_eq!(verified.dropped + verified.kept, at + 1);
        assert_eq!(store.audit().records().unwrap().len() as u64, verified.kept);
    }
    let verified = store.audit().verify(None).unwrap();
    assert!(verified.dropped > 80 && verified.kept >= 3, "{verified:?}");
    let floor = usize::try_from(verified.dropped).unwrap();
    assert!(
        store.audit().verify(hashes.get(floor - 1).copied()).is_ok(),
        "the last that was dropped is remembered"
    );
    assert!(store.audit().verify(hashes.get(floor - 2).copied()).is_err());
    // The oldest that is kept cannot be removed unseen.
    drop(store);
    let lines = lines(&files, "audit.log");
    files.put("audit.log", [&lines[..1], &lines[2..]].concat().concat().as_bytes());
    assert_eq!(open(&files, &limits).damage().len(), 1);
}

#[test]
fn a_plan_is_started_once_and_ended_once() {
    let files = Simulated::new();
    let store = open(&files, &StoreLimits::default());
    let ledger = store.ledger();
    let refused =
        |result: Result<(), connector_core::Refusal>| assert_eq!(result.unwrap_err().code, Code::LedgerOrder);
    assert_eq!(ledger.write(plan(0)), None);
    refused(ledger.ended(plan(0), Outcome::Sent));
    ledger.started(plan(0), "a.b", 17).unwrap();
    refused(ledger.started(plan(0), "a.b", 18));
    let under_way = ledger.write(plan(0)).unwrap();
    assert_eq!((under_way.outcome, under_way.ended, under_way.time_ms), (Outcome::OutcomeUnknown, false, 17));
    assert_eq!(ledger.interrupted(), []);
    ledger.ended(plan(0), Outcome::NotSent).unwrap();
    refused(ledger.ended(plan(0), Outcome::Sent));
    refused(ledger.started(plan(0), "a.b", 19));
    ledger.started(plan(1), "a.c", 20).unwrap();
    drop(store);

    let store = open(&files, &StoreLimits::default());
    let ledger = store.ledger();
    refused(ledger.started(plan(0), "a.b", 21));
    refused(ledger.started(plan(1), "a.c", 21));
    let writes: Vec<_> =
        ledger.writes().into_iter().map(|write| (write.tool, write.outcome, write.ended)).collect();
    assert_eq!(
        writes,
        [("a.b".into(), Outcome::NotSent, true), ("a.c".into(), Outcome::OutcomeUnknown, false)]
    );
    assert_eq!(ledger.interrupted().len(), 1);
    ledger.ended(plan(1), Outcome::Sent).unwrap();
    assert_eq!(ledger.interrupted(), [], "its outcome was learned later");
    assert!(ledger.is_whole());
}

#[test]
fn a_write_without_an_end_outlives_any_number_of_others() {
    let files = Simulated::new();
    let mut limits = small();
    let store = open(&files, &limits);
    store.ledger().started(plan(0), "a.interrupted", 0).unwrap();
    drop(store);
    let store = open(&files, &limits);
    store.ledger().started(plan(1), "a.long", 0).unwrap();
    for number in 2..60 {
        store.ledger().started(plan(number), "a.short", 0).unwrap();
        store.ledger().ended(plan(number), Outcome::Sent).unwrap();
        assert!(files.bytes("ledger.log").len() <= limits.ledger_bytes);
    }
    assert!(!store.ledger().is_whole());
    assert_eq!(store.ledger().write(plan(2)), None);
    let remembered = store.ledger().writes();
    store.ledger().ended(plan(1), Outcome::Sent).unwrap();
    drop(store);
    limits.ledger_bytes = 1_000;
    let store = open(&files, &limits);
    assert_eq!(store.ledger().writes().len(), remembered.len(), "the file says the same");
    assert_eq!(store.ledger().write(plan(1)).unwrap().outcome, Outcome::Sent);
    let interrupted: Vec<_> = store.ledger().interrupted().into_iter().map(|write| write.tool).collect();
    assert_eq!(interrupted, ["a.interrupted"]);
}

#[test]
fn as_many_writes_may_be_under_way_as_the_ledger_can_carry() {
    let files = Simulated::new();
    let limits = StoreLimits { ledger_bytes: 40_000, ..small() };
    let store = open(&files, &limits);
    let full = (0..1_000).find_map(|number| {
        store.ledger().started(plan(number), "a.b", 0).err().map(|refusal| (number, refusal))
    });
    let (most, refusal) = full.unwrap();
    assert_eq!(refusal.code, Code::StoreLimit);
    assert!((20..40).contains(&most), "a quarter of the ledger: {most}");
    store.ledger().ended(plan(7), Outcome::Sent).unwrap();
    // However many others come and go, none of these is lost, and the newest of the others are remembered.
    for number in 1_000..1_300 {
        store.ledger().started(plan(number), "a.b", 0).unwrap();
        store.ledger().ended(plan(number), Outcome::Sent).unwrap();
        assert!(number < 1_010 || store.ledger().write(plan(number - 10)).is_some());
    }
    drop(store);
    let store = open(&files, &limits);
    assert_eq!(store.ledger().interrupted().len() as u64, most - 1);
    assert!(store.ledger().write(plan(1_290)).is_some());
    // Interrupted ones do not stand in the way of new ones, which are carried before them.
    (2_000..2_005).for_each(|number| store.ledger().started(plan(number), "a.b", 0).unwrap());
    for number in 2_005..2_300 {
        store.ledger().started(plan(number), "a.b", 0).unwrap();
        store.ledger().ended(plan(number), Outcome::Sent).unwrap();
    }
    assert!((2_000..2_005).all(|number| store.ledger().write(plan(number)).is_some()));
}

#[test]
fn a_forged_line_of_the_ledger_is_not_believed() {
    let files = Simulated::new();
    let store = open(&files, &StoreLimits::default());
    store.ledger().started(plan(0), "a.b", 0).unwrap();
    store.ledger().ended(plan(0), Outcome::OutcomeUnknown).unwrap();
    store.ledger().started(plan(1), "a.b", 0).unwrap();
    drop(store);
    let lines = lines(&files, "ledger.log");
    // The outcome is edited, and the line sealed again as well as one can without the key.
    let edited = lines[2].replace("outcome_unknown", "not_sent");
    let content = edited.replacen(
        &format!("\"hash\":\"{}\",", &edited[edited.find("\"hash\":\"").unwrap() + 8..][..64]),
        "",
        1,
    );
    let hash = sha256(content.trim_end());
    let resealed =
        edited.replacen(&edited[edited.find("\"hash\":\"").unwrap() + 8..][..64], &hash.to_string(), 1);
    for line in [edited, resealed] {
        let files = files.copy();
        files.put("ledger.log", [lines[0].as_str(), &lines[1], &line, &lines[3]].concat().as_bytes());
        let store = open(&files, &StoreLimits::default());
        assert_eq!(store.damage().first().map(|refusal| refusal.code), Some(Code::StoreTampered));
        assert!(!store.ledger().is_whole());
        assert_eq!(store.ledger().write(plan(0)).unwrap().outcome, Outcome::OutcomeUnknown);
        assert!(store.ledger().write(plan(1)).is_some(), "what is whole is kept");
    }
    files.take("ledger.log");
    let store = open(&files, &StoreLimits::default());
    assert_eq!(store.damage().first().map(|refusal| refusal.code), Some(Code::StoreTampered));
    assert!(!store.ledger().is_whole(), "an absent write is not known to be unsent");
}

#[test]
fn a_line_that_is_too_long_is_refused_and_leaves_no_trace() {
    let files = Simulated::new();
    let store = open(&files, &StoreLimits::default());
    let before = (files.bytes("audit.log"), files.bytes("ledger.log"));
    let long = "x".repeat(20_000);
    assert_eq!(store.audit().append(event(&long), Durability::Now).unwrap_err().code, Code::StoreLimit);
    assert_eq!(store.ledger().started(plan(0), &long, 0).unwrap_err().code, Code::StoreLimit);
    assert_eq!((files.bytes("audit.log"), files.bytes("ledger.log")), before);
    assert_eq!(store.ledger().write(plan(0)), None);
}

#[test]
fn a_change_behind_the_stores_back_is_found_by_the_next_check() {
    let (files, _, lines) = trail();
    let store = open(&files, &StoreLimits::default());
    files.put("audit.log", lines[..4].concat().as_bytes());
    assert_eq!(store.audit().verify(None).unwrap_err().code, Code::AuditBroken);
}
