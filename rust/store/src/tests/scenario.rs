//! What a host does with a store, and what it was told about it: the measure of what must be there afterwards.

use std::collections::{BTreeMap, BTreeSet};

use connector_core::Refusal;
use connector_core::json::{Sha256, sha256};

use super::simulated::Simulated;
use super::{event, from, grant, key, plan, small, tombstone};
use crate::{Durability, Outcome, State, Store, Transaction};

/// One thing that a host does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    Commit(u64),
    Start(u64),
    End(u64, Outcome),
    Record(u64, Durability),
    Sync,
}

use Act::{Commit, End, Record, Start, Sync};
use Durability::{Later, Now};
use Outcome::{NotSent, OutcomeUnknown, Sent};

/// Installs, replaces and removes; writes of every end, two under way at once; logs that turn over.
pub(super) const ACTS: [Act; 40] = [
    Record(0, Later),
    Commit(0),
    Record(1, Now),
    Start(0),
    Record(2, Now),
    End(0, Sent),
    Commit(1),
    Record(3, Later),
    Start(1),
    Start(2),
    End(2, NotSent),
    Record(4, Later),
    Commit(2),
    Start(3),
    End(3, Sent),
    Record(5, Now),
    Start(4),
    End(4, OutcomeUnknown),
    Commit(3),
    Record(6, Later),
    Record(7, Later),
    Sync,
    Start(5),
    End(5, Sent),
    Commit(4),
    Start(6),
    End(6, NotSent),
    Record(8, Now),
    Start(7),
    End(7, Sent),
    Record(9, Later),
    Commit(5),
    Start(8),
    Record(10, Now),
    End(8, Sent),
    End(1, Sent),
    Start(9),
    Commit(6),
    Record(11, Later),
    Record(12, Now),
];

/// The change with a number: every second one replaces or removes what another installed.
pub(super) fn transaction(on: &State, number: u64) -> Transaction {
    let id = format!("c{}", number % 3);
    let transaction = Transaction::new(on, sha256(format!("set {number}")));
    if let Some((first, _)) = on.pins().next().filter(|_| number % 4 == 3) {
        return transaction.unpin(first.clone());
    }
    transaction
        .pin(
            id.as_str(),
            format!("manifest {number}").into_bytes(),
            from("files"),
            grant(r#"{"loopback":true}"#),
        )
        .tombstone(format!("{id}.tool{number}"), tombstone(&["a"]))
}

/// What the host was told.
#[derive(Default)]
pub(super) struct Told {
    /// The state in force, and one that may have come into force without the host being told.
    pub(super) state: Option<State>,
    pub(super) tried: Option<State>,
    pub(super) started: BTreeSet<u64>,
    pub(super) refused: BTreeSet<u64>,
    pub(super) ended: BTreeMap<u64, Outcome>,
    pub(super) ending: BTreeMap<u64, Outcome>,
    /// Places and hashes of records, and how many of them are durable.
    pub(super) records: Vec<(u64, Sha256)>,
    pub(super) durable: usize,
}

impl Told {
    /// Does one thing and writes down what came of it.
    pub(super) fn act(&mut self, store: &Store, act: Act) -> Result<(), Refusal> {
        match act {
            Commit(number) => {
                let before = store.state();
                let transaction = transaction(&before, number);
                self.tried = Some(transaction.apply(&before, 0, &small()).unwrap().state);
                match store.commit(&transaction) {
                    Ok(after) => {
                        assert!(same(&after, self.tried.as_ref().unwrap()) && *store.state() == *after);
                        (self.state, self.tried) = (Some(State::clone(&after)), None);
                    }
                    Err(refusal) => {
                        assert_eq!(store.state(), before, "a commit that failed is not visible");
                        return Err(refusal);
                    }
                }
            }
            Start(number) => {
                self.refused.insert(number);
                store.ledger().started(plan(number), "c0.tool", number)?;
                self.refused.remove(&number);
                self.started.insert(number);
            }
            End(number, outcome) => {
                if self.started.contains(&number) {
                    self.ending.insert(number, outcome);
                    store.ledger().ended(plan(number), outcome)?;
                    self.ending.remove(&number);
                    self.ended.insert(number, outcome);
                }
            }
            Record(number, durability) => {
                let record = store.audit().append(event(&format!("c0.tool{number}")), durability)?;
                self.records.push((record.sequence, record.hash));
                if durability == Now {
                    self.durable = self.records.len();
                }
            }
            Sync => {
                store.audit().sync()?;
                self.durable = self.records.len();
            }
        }
        Ok(())
    }

    /// Whether a store that was opened afterwards holds what the host was told. `power` says whether the power was lost,
    /// `exact` whether what failed is known not to have happened, `damage` whether lines may be found damaged.
    pub(super) fn check(&self, store: &Store, files: &Simulated, power: bool, exact: bool, damage: bool) {
        let state = store.state();
        let told = self.state.as_ref().is_none_or(|told| same(told, &state));
        let tried = !exact && self.tried.as_ref().is_some_and(|tried| same(tried, &state));
        assert!(told || tried, "neither the old state nor the new one: {state:?}");
        for loaded in store.load(&state) {
            loaded.manifest.unwrap();
        }
        let wanted: BTreeSet<String> =
            state.pins().map(|(_, pin)| format!("manifests/{}", pin.manifest)).collect();
        let own = ["audit.log", "ledger.log", "lock.json"].map(String::from);
        let wanted: BTreeSet<String> = wanted.into_iter().chain(own).collect();
        assert_eq!(files.names().into_iter().collect::<BTreeSet<_>>(), wanted, "leftovers");

        let ledger = store.ledger();
        let dropped = !ledger.is_whole();
        for number in &self.started {
            let told = self.ended.get(number).copied();
            match ledger.write(plan(*number)) {
                Some(write) if write.ended => {
                    let tried = self.ending.get(number).copied().filter(|_| !exact);
                    assert_eq!(Some(write.outcome), told.or(tried), "{number}");
                }
                Some(write) => {
                    assert_eq!(write.outcome, OutcomeUnknown);
                    assert!(power || told.is_none(), "the end of {number} is lost without a loss of power");
                }
                // Only a write that had ended may be dropped to make room.
                None => assert!(dropped && told.is_some(), "the start of {number} is lost"),
            }
            assert!(
                ledger.write(plan(*number)).is_none() || ledger.started(plan(*number), "again", 0).is_err()
            );
        }
        for number in &self.refused {
            let write = ledger.write(plan(*number));
            assert!(
                write.is_none_or(|write| !exact && write.outcome == OutcomeUnknown),
                "{number} was refused"
            );
        }

        let kept: Vec<(u64, Sha256)> =
            (store.audit().records().unwrap().iter()).map(|record| (record.sequence, record.hash)).collect();
        let first = kept.first().map_or(u64::MAX, |(sequence, _)| *sequence);
        let must = if power { self.durable } else { self.records.len() };
        for record in self.records.iter().take(must).filter(|(sequence, _)| *sequence >= first) {
            assert!(kept.contains(record), "a durable record is lost: {record:?}");
        }
        assert!(must == 0 || !kept.is_empty());
        if !damage {
            assert_eq!(store.damage(), []);
            // A head that has long been dropped says nothing any more.
            let last = self.records.get(..must).unwrap().last().filter(|(sequence, _)| sequence + 1 >= first);
            store.audit().verify(last.map(|(_, hash)| *hash)).unwrap();
        }
    }
}

/// Whether two states are one but for the counter.
pub(super) fn same(a: &State, b: &State) -> bool {
    State { counter: 0, ..a.clone() } == State { counter: 0, ..b.clone() }
}

/// Opens the store of a folder with what the host has seen.
pub(super) fn open(files: &Simulated, told: &Told) -> Result<Store, Refusal> {
    let seen = told.state.as_ref().map(State::counter);
    Store::on(files.files(), key(), seen, small())
}
