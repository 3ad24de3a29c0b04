//! Random transactions and random hosts, against a model and against what the host was told.

use std::collections::BTreeMap;

use connector_core::Code;
use connector_core::json::{Sha256, Value, canonical, sha256};
use proptest::collection::vec;
use proptest::prelude::*;

use super::scenario::{Act, Told, open};
use super::simulated::{Loss, Simulated};
use super::{from, grant, json, key, small, tombstone};
use crate::{Durability, Outcome, State, Store, StoreLimits, Transaction, lock_file};

/// A store as a few maps.
#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    pins: BTreeMap<String, (Sha256, String, Value)>,
    owners: BTreeMap<String, (String, Sha256)>,
    tombstones: BTreeMap<String, Vec<String>>,
    commits: Vec<Sha256>,
}

#[derive(Debug, Clone)]
enum Step {
    Pin(String, u8, &'static str, bool),
    Grant(String, bool),
    Unpin(String),
    Move(String, &'static str),
    Seen(String, String),
}

/// Among the ids some that sort differently as UTF-8 and as UTF-16.
fn id() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]", Just("\u{fb33}".to_owned()), Just("\u{1f600}".to_owned()), Just("\"\\\n".to_owned())]
}

fn source() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just("files"), 1 => Just("store.example")]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (id(), any::<u8>(), source(), any::<bool>()).prop_map(|(id, bytes, from, on)| Step::Pin(id, bytes, from, on)),
        1 => (id(), any::<bool>()).prop_map(|(id, on)| Step::Grant(id, on)),
        2 => id().prop_map(Step::Unpin),
        1 => (id(), source()).prop_map(|(id, from)| Step::Move(id, from)),
        2 => (id(), "[x-z]{0,2}").prop_map(|(name, required)| Step::Seen(name, required)),
    ]
}

fn words(on: bool) -> String {
    format!(r#"{{"loopback":{on},"settings":{{"limit":-2.5e3,"name":"é\u0001"}}}}"#)
}

impl Model {
    /// What a step makes of the model; the code by which a store refuses it otherwise.
    fn step(&mut self, step: &Step) -> Result<(), Code> {
        match step {
            Step::Pin(id, bytes, from, on) => {
                let manifest = sha256([*bytes]);
                let owner = self.owners.entry(id.clone()).or_insert_with(|| ((*from).into(), manifest));
                if owner.0 != *from {
                    return Err(Code::InstallSource);
                }
                owner.1 = manifest;
                self.pins.insert(id.clone(), (sha256([*bytes]), (*from).into(), json(&words(*on))));
            }
            Step::Grant(id, on) => {
                self.pins.get_mut(id).ok_or(Code::ConnectorUnknown)?.2 = json(&words(*on));
            }
            Step::Unpin(id) => drop(self.pins.remove(id).ok_or(Code::ConnectorUnknown)?),
            Step::Move(id, from) => {
                self.owners.get_mut(id).ok_or(Code::ConnectorUnknown)?.0 = (*from).into();
                if let Some(pin) = self.pins.get_mut(id) {
                    pin.1 = (*from).into();
                }
            }
            Step::Seen(name, required) => {
                self.tombstones.insert(name.clone(), required.chars().map(String::from).collect());
            }
        }
        Ok(())
    }

    fn of(state: &State, commits: &[Sha256]) -> Self {
        Self {
            pins: (state.pins())
                .map(|(id, pin)| {
                    let from = pin.provenance.source.to_string();
                    (id.to_string(), (pin.manifest, from, pin.grant.grant.clone()))
                })
                .collect(),
            owners: (state.owners())
                .map(|(id, owner)| (id.to_string(), (owner.provenance.source.to_string(), owner.manifest)))
                .collect(),
            tombstones: (state.tombstones())
                .map(|(name, stone)| {
                    let required = stone.0.get("required").and_then(Value::as_array).unwrap().iter();
                    (name.to_string(), required.map(|name| name.as_str().unwrap().to_owned()).collect())
                })
                .collect(),
            commits: commits.to_vec(),
        }
    }
}

fn transaction(on: &State, tool_set: Sha256, steps: &[Step]) -> Transaction {
    steps.iter().fold(Transaction::new(on, tool_set), |transaction, step| match step {
        Step::Pin(id, bytes, source, on) => {
            transaction.pin(id.as_str(), vec![*bytes], from(source), grant(&words(*on)))
        }
        Step::Grant(id, on) => transaction.grant(id.as_str(), grant(&words(*on))),
        Step::Unpin(id) => transaction.unpin(id.as_str()),
        Step::Move(id, source) => transaction.move_source(id.as_str(), from(source)),
        Step::Seen(name, required) => {
            let required: Vec<String> = required.chars().map(String::from).collect();
            let required: Vec<&str> = required.iter().map(String::as_str).collect();
            transaction.tombstone(name.as_str(), tombstone(&required))
        }
    })
}

fn act() -> impl Strategy<Value = Act> {
    let outcome = prop_oneof![Just(Outcome::Sent), Just(Outcome::NotSent), Just(Outcome::OutcomeUnknown)];
    let durability = prop_oneof![Just(Durability::Now), Just(Durability::Later)];
    prop_oneof![
        1 => (0..12_u64).prop_map(Act::Commit),
        3 => (0..24_u64).prop_map(Act::Start),
        3 => (0..24_u64, outcome).prop_map(|(number, outcome)| Act::End(number, outcome)),
        3 => (0..99_u64, durability).prop_map(|(number, durability)| Act::Record(number, durability)),
        1 => Just(Act::Sync),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// A transaction happens as a whole or not at all, as the model has it, also over restarts.
    #[test]
    fn a_store_is_its_model(transactions in vec((vec(step(), 0..5), any::<bool>()), 1..12)) {
        let files = Simulated::new();
        let open = |seen| Store::on(files.files(), key(), seen, StoreLimits::default()).unwrap();
        let (mut store, mut model) = (open(None), Model::default());
        let mut counter = 0;
        for (number, (steps, restart)) in transactions.iter().enumerate() {
            let (before, tool_set) = (store.state(), sha256(number.to_string()));
            let mut next = model.clone();
            next.commits.push(tool_set);
            let expected = steps.iter().try_for_each(|step| next.step(step));
            let got = store.commit(&transaction(&before, tool_set, steps));
            prop_assert_eq!(got.as_ref().map(|_| ()).map_err(|refusal| refusal.code), expected);
            if got.is_ok() {
                model = next;
                prop_assert!(store.state().counter() > counter);
                counter = store.state().counter();
                prop_assert_eq!(store.state().tool_set(), tool_set);
                prop_assert_eq!(
                    store.commit(&Transaction::new(&before, tool_set)).unwrap_err().code,
                    Code::StoreStale
                );
            }
            prop_assert_eq!(&Model::of(&store.state(), &model.commits), &model);
            if *restart {
                let state = State::clone(&store.state());
                drop(store);
                store = open(Some(counter));
                prop_assert_eq!(&*store.state(), &state);
            }
            for loaded in store.load(&store.state()) {
                prop_assert_eq!(sha256(loaded.manifest.unwrap()), model.pins[loaded.id.as_str()].0);
            }
            let kept = files.names().iter().filter(|name| name.starts_with("manifests/")).count();
            let pinned: std::collections::BTreeSet<_> = model.pins.values().map(|pin| pin.0).collect();
            prop_assert_eq!(kept, pinned.len());
        }
        let chain = model.commits.iter().fold(Sha256([0; 32]), |previous, tool_set| {
            sha256(format!(r#"{{"previous":"{previous}","toolSet":"{tool_set}"}}"#))
        });
        prop_assert_eq!(store.state().chain(), chain);
        let text = files.bytes(lock_file::NAME);
        let text = std::str::from_utf8(&text).unwrap().strip_suffix('\n').unwrap();
        prop_assert_eq!(canonical(&json(text)).unwrap(), text, "the lock file is in RFC 8785 form");
    }

    /// Whatever a host does and wherever the power goes: what it was told holds.
    #[test]
    fn a_host_is_told_the_truth(acts in vec(act(), 1..40), off in 0..250_usize, seed in any::<u64>()) {
        let files = Simulated::new();
        files.off_at(off);
        let mut told = Told::default();
        let _off = open(&files, &told).map(|store| {
            for act in acts {
                // A plan is started once, and ended once: the rest is refused, and nothing of it happens.
                let known = match act {
                    Act::Start(number) => told.started.contains(&number),
                    Act::End(number, _) => told.ended.contains_key(&number),
                    _ => false,
                };
                if known {
                    continue;
                }
                if told.act(&store, act).is_err() {
                    break;
                }
            }
        });
        for loss in [Loss::All, Loss::None, Loss::Torn(seed)] {
            let after = files.after(loss);
            told.check(&open(&after, &told).unwrap(), &after, true, false, false);
        }
    }

    /// Numbers of any size and texts of any kind come back from the logs.
    #[test]
    fn every_record_is_read_back(time in any::<u64>(), tool in "\\PC{0,40}", sizes in any::<(u64, u64, u16)>()) {
        let files = Simulated::new();
        let store = Store::on(files.files(), key(), None, small()).unwrap();
        let plan = sha256("plan");
        store.ledger().started(plan, &tool, time).unwrap();
        let (sent_bytes, received_bytes, status) = sizes;
        let event = super::event(&tool);
        let event = connector_core::audit::Event { time_ms: time, sent_bytes, received_bytes, status: Some(status), ..event };
        let record = store.audit().append(event, Durability::Now).unwrap();
        drop(store);
        let store = Store::on(files.files(), key(), None, small()).unwrap();
        prop_assert_eq!(store.damage(), []);
        let write = store.ledger().write(plan).unwrap();
        prop_assert_eq!(write.tool.as_str(), tool);
        prop_assert_eq!(store.audit().verify(Some(record.hash)).unwrap().kept, 1);
    }
}
