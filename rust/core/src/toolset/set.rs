//! An immutable set of bound connectors, named by its hash.

use std::collections::BTreeSet;
use std::sync::Arc;

use smol_str::SmolStr;

use super::merge::Past;
use super::tree::Tree;
use super::{Connector, Contract};
use crate::json::Sha256;
use crate::manifest::Tool;
use crate::shape::folded;

/// The connectors that are installed at one moment, and what is remembered of all that ever were. Immutable.
///
/// Its name is a SHA-256 over the full names of its tools and their effect hashes, whatever the order in which the
/// connectors came. A set shares all but what changed with the one before, so a change costs the same however many
/// connectors there are.
#[derive(Debug, Clone, Default)]
pub struct ToolSet {
    connectors: Tree<Arc<Connector>>,
    past: Tree<Arc<Past>>,
    /// The same by folded id: ids that only differ in case or in `_` and `-` are one.
    owners: Tree<Arc<Past>>,
    tombstones: usize,
}

/// One tool of a set, with the connector that it belongs to.
#[derive(Debug, Clone, Copy)]
pub struct ToolRef<'s> {
    /// The connector.
    pub connector: &'s Arc<Connector>,
    /// The tool.
    pub tool: &'s Tool,
}

impl ToolSet {
    /// An empty set that remembers what a store kept.
    pub fn remembering(past: impl IntoIterator<Item = Past>) -> Self {
        let mut set = Self::default();
        for past in past {
            set.remember(past);
        }
        set
    }

    /// The SHA-256 that names this set.
    pub fn hash(&self) -> Sha256 {
        self.connectors.hash()
    }

    /// The connectors, sorted by id.
    pub fn connectors(&self) -> impl ExactSizeIterator<Item = &Arc<Connector>> {
        self.connectors.iter()
    }

    /// The connector of an id.
    pub fn connector(&self, id: &str) -> Option<&Arc<Connector>> {
        self.connectors.get(id)
    }

    /// The tool of a full name `id.name`.
    pub fn tool(&self, full_name: &str) -> Option<ToolRef<'_>> {
        let connector = self.connectors.get(full_name.split_once('.')?.0)?;
        let tool = connector.manifest().tool(full_name)?;
        Some(ToolRef { connector, tool })
    }

    /// What is remembered for good, sorted by connector id; for a store.
    pub fn past(&self) -> impl ExactSizeIterator<Item = &Arc<Past>> {
        self.past.iter()
    }

    /// What is remembered of a connector id.
    pub fn past_of(&self, id: &str) -> Option<&Past> {
        self.past.get(id).map(AsRef::as_ref)
    }

    /// What is remembered of the id that this one collides with, as names do (ASCII lower case, `-` for `_`), or of this
    /// very id.
    pub fn owner_of(&self, id: &str) -> Option<&Past> {
        self.owners.get(&folded(id)).map(AsRef::as_ref)
    }

    /// How many tool names are remembered.
    pub fn tombstones(&self) -> usize {
        self.tombstones
    }

    /// The contract of an export of every tool that the grants let be called.
    pub fn contract(&self) -> Contract {
        let names = self.connectors().flat_map(|connector| connector.callable()).map(Into::into);
        Contract::new(self.hash(), names.collect())
    }

    /// The contract of an export of some tools; names that are not in the set, or not granted, are left out.
    pub fn contract_of<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Contract {
        let all: BTreeSet<&str> = self.connectors().flat_map(|connector| connector.callable()).collect();
        let names = names.into_iter().filter(|name| all.contains(name)).map(Into::into);
        Contract::new(self.hash(), names.collect())
    }

    /// The set with a connector, and what is remembered of it; every check was made.
    pub(super) fn with(&self, connector: Arc<Connector>, past: Past) -> Self {
        let mut set = self.clone();
        set.remember(past);
        let id = SmolStr::new(connector.id());
        set.connectors = set.connectors.insert(&id, connector);
        set
    }

    pub(super) fn without(&self, id: &str) -> Self {
        Self { connectors: self.connectors.remove(id), ..self.clone() }
    }

    fn remember(&mut self, past: Past) {
        let known = self.past_of(past.id()).map_or(0, Past::names);
        self.tombstones = self.tombstones.saturating_sub(known) + past.names();
        let past = Arc::new(past);
        self.past = self.past.insert(past.id(), Arc::clone(&past));
        // The first one of a folded id stays its owner.
        if self.owner_of(past.id()).is_none_or(|owner| owner.id() == past.id()) {
            self.owners = self.owners.insert(&folded(past.id()), past);
        }
    }
}
