//! An immutable set of bound connectors, named by its hash.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smol_str::SmolStr;

use super::{Connector, Contract};
use crate::json::{Sha256, Value, canonical, sha256};
use crate::manifest::Tool;
use crate::{Code, Refusal};

/// The connectors that are installed at one moment. Immutable; its name is the SHA-256 over the sorted full names
/// of its tools and their effect hashes, whatever the order in which the connectors came.
#[derive(Debug, Clone)]
pub struct ToolSet {
    connectors: BTreeMap<SmolStr, Arc<Connector>>,
    hash: Sha256,
}

/// One tool of a set, with the connector that it belongs to.
#[derive(Debug, Clone, Copy)]
pub struct ToolRef<'s> {
    /// The connector.
    pub connector: &'s Arc<Connector>,
    /// The tool.
    pub tool: &'s Tool,
}

impl Default for ToolSet {
    fn default() -> Self {
        Self::of(BTreeMap::new())
    }
}

impl ToolSet {
    fn of(connectors: BTreeMap<SmolStr, Arc<Connector>>) -> Self {
        let mut tools: Vec<(&str, Sha256)> =
            connectors.values().flat_map(|connector| connector.effects()).collect();
        tools.sort_unstable();
        let pair = |(name, hash): (&str, Sha256)| Value::Array(vec![name.into(), hash.to_string().into()]);
        let document = Value::Array(tools.into_iter().map(pair).collect());
        let hash = sha256(canonical(&document).unwrap_or_default());
        Self { connectors, hash }
    }

    /// The SHA-256 that names this set.
    pub fn hash(&self) -> Sha256 {
        self.hash
    }

    /// The connectors, sorted by id.
    pub fn connectors(&self) -> impl ExactSizeIterator<Item = &Arc<Connector>> {
        self.connectors.values()
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

    /// The set with one connector more.
    ///
    /// `seen` is the tool set that the caller saw last (compare and swap); the first install of an id may leave it
    /// out. Installing what is installed already gives the same set.
    ///
    /// # Errors
    /// `contract.stale`; `install.source` and `install.replacement` when the id is taken.
    pub fn install(&self, connector: Arc<Connector>, seen: Option<Sha256>) -> Result<Self, Refusal> {
        self.expect(seen)?;
        let id = connector.id();
        if let Some(installed) = self.connectors.get(id) {
            if installed.source() != connector.source() {
                let reason = format!("the connector id `{id}` belongs to another source, for good");
                return Err(Refusal::new(Code::InstallSource, reason));
            }
            if installed.manifest().sha256() == connector.manifest().sha256()
                && installed.grant_hash() == connector.grant_hash()
            {
                return Ok(self.clone());
            }
            let reason = format!("the connector `{id}` is installed already; replacing it takes a review");
            return Err(Refusal::new(Code::InstallReplacement, reason));
        }
        let mut connectors = self.connectors.clone();
        connectors.insert(id.into(), connector);
        Ok(Self::of(connectors))
    }

    /// The set in which a connector has another grant; `connector` is the installed one, bound anew.
    ///
    /// # Errors
    /// `connector.unknown`, `install.replacement` when it is of another manifest, `grant.wider` when the new
    /// grant allows anything that the old one does not.
    pub fn regrant(&self, connector: Arc<Connector>) -> Result<Self, Refusal> {
        let id = connector.id();
        let Some(installed) = self.connectors.get(id) else {
            return Err(Refusal::new(Code::ConnectorUnknown, format!("no connector `{id}` is installed")));
        };
        if installed.manifest().sha256() != connector.manifest().sha256() {
            let reason = "a grant holds for the manifest that it was given for".to_owned();
            return Err(Refusal::new(Code::InstallReplacement, reason));
        }
        if let Some(member) = connector.grant().wider_member(installed.grant()) {
            let reason = format!("the new grant is wider in `{member}`, which takes an approval");
            return Err(Refusal::new(Code::GrantWider, reason));
        }
        let mut connectors = self.connectors.clone();
        connectors.insert(id.into(), connector);
        Ok(Self::of(connectors))
    }

    /// Compare and swap: the caller names the tool set that it saw.
    fn expect(&self, seen: Option<Sha256>) -> Result<(), Refusal> {
        if seen.is_none_or(|seen| seen == self.hash) {
            return Ok(());
        }
        let reason = "the tool set is not the one that the contract was made for: list it again".to_owned();
        Err(Refusal::new(Code::ContractStale, reason))
    }

    /// The contract of an export of every tool that the grants let be called.
    pub fn contract(&self) -> Contract {
        let names = self.connectors.values().flat_map(|connector| connector.callable()).map(Into::into);
        Contract::new(self.hash, names.collect())
    }

    /// The contract of an export of some tools; names that are not in the set, or not granted, are left out.
    pub fn contract_of<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Contract {
        let all: BTreeSet<&str> =
            self.connectors.values().flat_map(|connector| connector.callable()).collect();
        let names = names.into_iter().filter(|name| all.contains(name)).map(Into::into);
        Contract::new(self.hash, names.collect())
    }
}
