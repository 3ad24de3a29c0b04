//! A change of the store, described first and made in one step.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use connector_core::json::{Object, Sha256, Value, sha256};
use connector_core::{Code, Refusal};
use smol_str::SmolStr;

use crate::limits::StoreLimits;
use crate::lock_file::VALUE_DEPTH;
use crate::state::{Entry, GrantRecord, Owner, Part, Pin, Provenance, State, Tombstone};

/// Counters and sequence numbers stay where every double is a whole number.
const COUNTER_CEILING: u64 = (1 << 53) - 1;

/// A change of the store: everything in it happens, or nothing. Made on a state; committed on another it is
/// `store.stale`.
#[derive(Clone)]
pub struct Transaction {
    counter: u64,
    tool_set: Sha256,
    changes: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Pin { id: SmolStr, manifest: Vec<u8>, provenance: Provenance, grant: GrantRecord },
    Grant { id: SmolStr, grant: GrantRecord },
    Unpin { id: SmolStr },
    Source { id: SmolStr, provenance: Provenance },
    Tombstone { name: SmolStr, tombstone: Tombstone },
}

impl Transaction {
    /// A change of this state to the tool set of this hash, so far of nothing else.
    pub fn new(on: &State, tool_set: Sha256) -> Self {
        Self { counter: on.counter, tool_set, changes: Vec::new() }
    }

    fn with(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    /// Installs a manifest, in place of the one of this id if there is one. The id's first provenance stays its own for
    /// good: another is `install.source`, unless [`Transaction::move_source`] comes before.
    pub fn pin(
        self,
        id: impl Into<SmolStr>,
        manifest: Vec<u8>,
        provenance: Provenance,
        grant: GrantRecord,
    ) -> Self {
        self.with(Change::Pin { id: id.into(), manifest, provenance, grant })
    }

    /// Gives an installed connector another grant.
    pub fn grant(self, id: impl Into<SmolStr>, grant: GrantRecord) -> Self {
        self.with(Change::Grant { id: id.into(), grant })
    }

    /// Removes a connector. Its owner and the tombstones of its tools stay.
    pub fn unpin(self, id: impl Into<SmolStr>) -> Self {
        self.with(Change::Unpin { id: id.into() })
    }

    /// Gives a connector id to another source or key: what a person decided in a review, and nothing else does.
    pub fn move_source(self, id: impl Into<SmolStr>, provenance: Provenance) -> Self {
        self.with(Change::Source { id: id.into(), provenance })
    }

    /// Remembers what a full tool name last was, in place of what was known. A name is never forgotten.
    pub fn tombstone(self, name: impl Into<SmolStr>, tombstone: Tombstone) -> Self {
        self.with(Change::Tombstone { name: name.into(), tombstone })
    }

    /// The state that this makes of another, under a counter, and the manifests that it brings.
    ///
    /// # Errors
    /// `store.stale`, `store.limit`, `install.source`, `connector.unknown`.
    pub(crate) fn apply(
        &self,
        state: &State,
        counter: u64,
        limits: &StoreLimits,
    ) -> Result<Applied<'_>, Refusal> {
        if state.counter != self.counter {
            let reason = format!(
                "the transaction was made on counter {}, and the store is at {}",
                self.counter, state.counter
            );
            return Err(Refusal::new(Code::StoreStale, reason));
        }
        let mut next = state.clone();
        let mut manifests = BTreeMap::new();
        for change in &self.changes {
            match change {
                Change::Pin { id, manifest, provenance, grant } => {
                    if manifest.len() > limits.manifest_bytes {
                        return limit(format!(
                            "the manifest of `{id}` is over the limit of {} bytes",
                            limits.manifest_bytes
                        ));
                    }
                    let hash = sha256(manifest);
                    let first = || Owner { provenance: provenance.clone(), manifest: hash, grant: None };
                    let owner = next.owners.entry(id.clone()).or_insert_with(first);
                    if owner.provenance != *provenance {
                        let reason = format!("the connector id `{id}` belongs to another source or key");
                        return Err(Refusal::new(Code::InstallSource, reason));
                    }
                    (owner.manifest, owner.grant) = (hash, None);
                    shallow(&grant.grant)?;
                    let pin = Pin { manifest: hash, provenance: provenance.clone(), grant: grant.clone() };
                    next.pins.insert(id.clone(), entry(pin)?);
                    manifests.insert(hash, manifest.as_slice());
                }
                Change::Grant { id, grant } => {
                    shallow(&grant.grant)?;
                    let Some(pin) = next.pins.get_mut(id) else { return unknown(id) };
                    *pin = entry(Pin { grant: grant.clone(), ..pin.value.clone() })?;
                }
                Change::Unpin { id } => {
                    let Some(pin) = next.pins.remove(id) else { return unknown(id) };
                    if let Some(owner) = next.owners.get_mut(id) {
                        owner.grant = Some(remembered(&pin.value.grant.grant));
                    }
                }
                Change::Source { id, provenance } => {
                    let Some(owner) = next.owners.get_mut(id) else { return unknown(id) };
                    owner.provenance = provenance.clone();
                    if let Some(pin) = next.pins.get_mut(id) {
                        *pin = entry(Pin { provenance: provenance.clone(), ..pin.value.clone() })?;
                    }
                }
                Change::Tombstone { name, tombstone } => {
                    shallow(&tombstone.0)?;
                    next.tombstones.insert(name.clone(), entry(tombstone.clone())?);
                }
            }
        }
        if next.tombstones.len() > limits.tombstones && next.tombstones.len() > state.tombstones.len() {
            return limit(format!(
                "the store remembers {} tool names, and none is ever forgotten",
                limits.tombstones
            ));
        }
        if counter > COUNTER_CEILING {
            return limit("the counter of the store is at its end".into());
        }
        next.counter = counter;
        next.tool_set = self.tool_set;
        next.chain = state.chained(self.tool_set);
        Ok(Applied { state: next, manifests })
    }
}

/// A grant as it is remembered when its connector is removed: what a later one must not be wider than. The words of the
/// person go.
fn remembered(grant: &Value) -> Value {
    let members = grant.as_object().into_iter().flat_map(Object::iter);
    let kept = members.filter(|(name, _)| !matches!(name.as_str(), "origins" | "settings"));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// What a transaction makes of a state.
pub(crate) struct Applied<'t> {
    pub(crate) state: State,
    pub(crate) manifests: BTreeMap<Sha256, &'t [u8]>,
}

fn unknown<T>(id: &str) -> Result<T, Refusal> {
    Err(Refusal::new(Code::ConnectorUnknown, format!("no connector `{id}` is installed")))
}

fn limit<T>(reason: String) -> Result<T, Refusal> {
    Err(Refusal::new(Code::StoreLimit, reason))
}

/// What could not be read back is never written.
fn shallow(value: &Value) -> Result<(), Refusal> {
    if is_shallow(value, VALUE_DEPTH) {
        return Ok(());
    }
    limit(format!("a grant or a tombstone nests deeper than {VALUE_DEPTH} levels"))
}

fn entry<T: Part>(value: T) -> Result<Arc<Entry<T>>, Refusal> {
    Entry::new(value).map_or_else(|| limit("a number is beyond the range of a double".into()), Ok)
}

fn is_shallow(value: &Value, levels: usize) -> bool {
    let inner = |mut values: Box<dyn Iterator<Item = &Value> + '_>| {
        levels.checked_sub(1).is_some_and(|rest| values.all(|value| is_shallow(value, rest)))
    };
    match value {
        Value::Array(items) => inner(Box::new(items.iter())),
        Value::Object(members) => inner(Box::new(members.values())),
        _ => true,
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction")
            .field("counter", &self.counter)
            .field("changes", &self.changes.len())
            .finish_non_exhaustive()
    }
}
