//! What is installed at one moment, and how it comes back from a store.

use std::collections::BTreeMap;
use std::sync::Arc;

use connector_core::grant::Grant;
use connector_core::json::Value;
use connector_core::manifest;
use connector_core::toolset::{Connector, Past, ToolSet};
use connector_core::{Code, Refusal, TrustLimits};
use connector_store::{Loaded, Pin, State, Store};
use smol_str::SmolStr;

/// The tool set in force, and what is installed and cannot be used. Never changed, only replaced.
#[derive(Clone, Default)]
pub(crate) struct Shelf {
    pub(crate) set: Arc<ToolSet>,
    /// How many tool sets the session had before. The hash of a set comes back with the same installs; this does not, so
    /// that what died with a tool set stays dead.
    pub(crate) generation: u64,
    pub(crate) broken: BTreeMap<SmolStr, Broken>,
}

/// An installed connector that did not come back from the store.
#[derive(Clone)]
pub(crate) struct Broken {
    /// Why it is out.
    pub(crate) refusal: Refusal,
}

impl Shelf {
    /// Everything that a store keeps. What does not come back is named, and the rest loads all the same.
    ///
    /// # Errors
    /// `store.version` when what is remembered is of a form that this version does not read.
    pub(crate) fn load(store: &Store, limits: &TrustLimits) -> Result<Self, Refusal> {
        let state = store.state();
        let mut set = ToolSet::remembering(past(&state, limits)?);
        let mut broken = BTreeMap::new();
        for Loaded { id, manifest } in store.load(&state) {
            let Some(pin) = state.pin(&id) else { continue };
            let restored = manifest
                .and_then(|bytes| restore(&bytes, &id, pin, limits))
                .and_then(|connector| set.install(Arc::new(connector), None));
            match restored {
                Ok(next) => set = next,
                Err(refusal) => {
                    broken.insert(id, Broken { refusal });
                }
            }
        }
        Ok(Self { set: Arc::new(set), generation: 0, broken })
    }

    /// The shelf with the next set; `id` is in it now, or gone for good, and no longer broken.
    pub(crate) fn with(&self, set: ToolSet, id: &str) -> Self {
        let mut broken = self.broken.clone();
        broken.remove(id);
        let generation = self.generation.saturating_add(u64::from(set.hash() != self.set.hash()));
        Self { set: Arc::new(set), generation, broken }
    }

    /// Whether a connector stands on both as it is.
    pub(crate) fn has_the_same(&self, other: &Self, id: &str) -> bool {
        let (one, two) = (self.set.connector(id), other.set.connector(id));
        let same = match (one, two) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (one, two) => one.is_none() && two.is_none(),
        };
        same && self.broken.contains_key(id) == other.broken.contains_key(id)
    }
}

/// What is remembered of every connector id.
fn past(state: &State, limits: &TrustLimits) -> Result<Vec<Past>, Refusal> {
    let mut tombstones: BTreeMap<&str, Vec<(SmolStr, Value)>> = BTreeMap::new();
    for (name, tombstone) in state.tombstones() {
        let id = name.split_once('.').map_or("", |(id, _)| id);
        tombstones.entry(id).or_default().push((name.clone(), tombstone.0.clone()));
    }
    let restore = |(id, owner): (&SmolStr, &connector_store::Owner)| {
        let (from, known) = (&owner.provenance, tombstones.remove(id.as_str()).unwrap_or_default());
        let last = state.pin(id).map(|pin| &pin.grant.grant).or(owner.grant.as_ref());
        // One that is not known, or cannot be read, counts as the least: whatever is more takes an approval.
        let grant = last.and_then(|grant| Grant::read(grant, limits).ok()).unwrap_or_default();
        Past::restore(id, &from.source, from.key.as_deref(), (owner.manifest, grant), known, limits)
    };
    let past: Option<Vec<Past>> = state.owners().map(restore).collect();
    past.filter(|_| tombstones.is_empty()).ok_or_else(|| {
        let reason =
            "what the store remembers is of a form that this version does not read: update the application";
        Refusal::new(Code::StoreVersion, reason)
    })
}

fn restore(bytes: &[u8], id: &str, pin: &Pin, limits: &TrustLimits) -> Result<Connector, Refusal> {
    let report = manifest::check(bytes, limits);
    let Some(checked) = report.manifest else {
        let reason = format!("the manifest of `{id}`, which was installed, breaks rules of this version");
        return Err(Refusal::new(Code::ManifestInvalid, reason).with_findings(report.findings.into_list()));
    };
    let grant = Grant::read(&pin.grant.grant, limits)?;
    let connector = Connector::bind(checked, &pin.provenance.source, grant, limits)?;
    // A grant holds for the manifest that it was given for, as both were then.
    if connector.grant_hash() != pin.grant.hash || connector.id() != id {
        return Err(Refusal::new(
            Code::GrantInvalid,
            format!("the grant of `{id}` is not the one that was given"),
        ));
    }
    Ok(match &pin.provenance.key {
        Some(key) => connector.signed_by(key),
        None => connector,
    })
}
