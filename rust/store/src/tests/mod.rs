//! The store on a file system that loses power, fails and runs full, and against a model of itself.

mod faults;
mod laws;
mod logs;
mod power;
mod scenario;
mod simulated;
mod tampering;

use connector_core::audit::{Deed, Event};
use connector_core::json::{Numbers, Profile, Sha256, Value, read_strict, sha256};

use crate::{GrantRecord, Provenance, StoreKey, StoreLimits, Tombstone};

fn key() -> StoreKey {
    StoreKey::new([7; 32])
}

/// Logs so small that they turn over within a scenario.
fn small() -> StoreLimits {
    StoreLimits { ledger_bytes: 4_200, audit_bytes: 3_000, ..StoreLimits::default() }
}

fn json(text: &str) -> Value {
    read_strict(text.as_bytes(), Profile { max_bytes: 1 << 20, max_depth: 128, numbers: Numbers::Exact })
        .unwrap()
}

fn from(source: &str) -> Provenance {
    Provenance { source: source.into(), key: None }
}

fn grant(text: &str) -> GrantRecord {
    GrantRecord { grant: json(text), hash: sha256(text) }
}

fn tombstone(required: &[&str]) -> Tombstone {
    let names = required.iter().map(|name| (*name).into()).collect();
    let schema = json(r#"{"type": "object", "properties": {"a": {"type": "integer", "maximum": 2.5}}}"#);
    Tombstone(Value::Object([("schema", schema), ("required", Value::Array(names))].into_iter().collect()))
}

fn plan(number: u64) -> Sha256 {
    sha256(format!("plan {number}"))
}

fn event(subject: &str) -> Event {
    Event {
        time_ms: 1_700_000_000_000,
        deed: Deed::Call,
        subject: subject.into(),
        tool_set: sha256("set"),
        object: None,
        outcome: "ok".into(),
        status: Some(200),
        sent_bytes: 0,
        received_bytes: 10,
        duration_ms: 5,
    }
}
