//! Connectors installed, replaced, reviewed, removed.

use connector_core::toolset;
use connector_runtime::{Installed, Offer, Reviewed};

use crate::error::ConnectorError;
use crate::grant::{Effect, Grant};
use crate::runtime::ConnectorRuntime;

/// A manifest that is to be installed, and under what.
#[derive(Debug, Clone, uniffi::Record)]
pub struct Installation {
    /// The exact bytes of the file.
    pub manifest: Vec<u8>,
    /// The application's label of where they come from: the bundle, a file, a shop.
    pub source: String,
    /// What the person allows it.
    pub grant: Grant,
    /// The text of its detached signature (a `.minisig` file).
    #[uniffi(default = None)]
    pub signature: Option<String>,
}

/// A tool, and the hash over everything that can change what it does.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct ToolSummary {
    /// The full name, `id.tool`.
    pub name: String,
    /// The effect hash, 64 lower-case hexadecimal digits.
    pub effect_hash: String,
}

/// What an install or another grant leads to.
#[derive(Debug, Clone, uniffi::Record)]
pub struct InstallOutcome {
    /// A contract of the new tool set, for the next change.
    pub contract: String,
    /// The connector's tools.
    pub tools: Vec<ToolSummary>,
}

/// One difference.
#[derive(Debug, Clone, uniffi::Record)]
pub struct Change {
    /// What changed, one word (`widened`, `origin`, `tool_added`, ...).
    pub kind: String,
    /// The full name of the tool, where it is about one.
    pub tool: Option<String>,
    /// Where in the manifest, or below `/grant`, as an RFC 6901 pointer.
    pub pointer: String,
    /// What was there, as JSON text.
    pub before: Option<String>,
    /// What is there now, as JSON text.
    pub after: Option<String>,
    /// For a widening: arguments that are accepted now and were refused, as JSON text.
    pub witness: Option<String>,
}

/// What an install or another grant would change, for a person.
#[derive(Debug, Clone, uniffi::Record)]
pub struct Review {
    /// Every difference, those that need no approval included.
    pub changes: Vec<Change>,
    /// Whether any of them needs an approval.
    pub needs_approval: bool,
    /// Brought back, it lets exactly these differences through, once, within ten minutes.
    pub approval: String,
}

/// An installed connector.
#[derive(Debug, Clone, uniffi::Record)]
pub struct InstalledConnector {
    /// The id.
    pub id: String,
    /// The version of its manifest.
    pub version: String,
    /// The title; clean text.
    pub title: String,
    /// The description; clean text.
    pub description: String,
    /// Where it came from, as the application said.
    pub source: String,
    /// SHA-256 of its manifest.
    pub sha256: String,
    /// Where its requests go, in ASCII.
    pub origins: Vec<String>,
    /// The names of its credentials.
    pub credentials: Vec<String>,
    /// What the person allowed.
    pub grant: Grant,
    /// What its tools do, the worst last.
    pub effects: Vec<Effect>,
    /// Its tools that may be called.
    pub tools: Vec<ToolSummary>,
}

/// An installed connector that did not come back from the store.
#[derive(Debug, Clone, uniffi::Record)]
pub struct UnusableConnector {
    /// The id.
    pub id: String,
    /// The stable code.
    pub code: String,
    /// Why.
    pub reason: String,
}

impl InstallOutcome {
    fn of(installed: Installed) -> Self {
        let tool = |(name, hash): (String, connector_core::json::Sha256)| ToolSummary {
            name,
            effect_hash: hash.to_string(),
        };
        Self {
            contract: installed.contract.to_string(),
            tools: installed.tools.into_iter().map(tool).collect(),
        }
    }
}

impl Review {
    fn of(reviewed: Reviewed) -> Self {
        let text = |value: Option<connector_core::json::Value>| value.map(|value| value.to_text());
        let change = |change: toolset::Change| Change {
            kind: change.kind.as_str().to_owned(),
            tool: change.tool.map(Into::into),
            pointer: change.pointer,
            before: text(change.before),
            after: text(change.after),
            witness: text(change.witness),
        };
        Self {
            changes: reviewed.changes.into_iter().map(change).collect(),
            needs_approval: reviewed.needs_approval,
            approval: reviewed.approval,
        }
    }
}

/// A list of what is installed.
#[derive(Debug, Clone, uniffi::Record)]
pub struct InstalledList {
    /// A contract of the tool set, for the next change.
    pub contract: String,
    /// The connectors, sorted by id.
    pub connectors: Vec<InstalledConnector>,
    /// What is installed and cannot be used. Installing the same again or removing it mends it.
    pub unusable: Vec<UnusableConnector>,
}

#[uniffi::export]
impl ConnectorRuntime {
    /// Installs a connector, or replaces the one of its id.
    ///
    /// `contract` is that of any export or list of the current tool set, which a first install of an id may leave out;
    /// `approval` that of a review of this very installation. What a replacement may change without an approval is little:
    /// schemas may narrow, limits may fall, tools may go.
    #[uniffi::method(default(contract = None, approval = None))]
    pub fn install(
        &self,
        installation: Installation,
        contract: Option<String>,
        approval: Option<String>,
    ) -> Result<InstallOutcome, ConnectorError> {
        let Installation { manifest, source, grant, signature } = installation;
        let grant = grant.read(self.session()?.limits())?;
        let offer = Offer { manifest: &manifest, source: &source, grant, signature: signature.as_deref() };
        let installed = self.session()?.install_offer(&offer, contract.as_deref(), approval.as_deref());
        installed.map(InstallOutcome::of).map_err(|refusal| ConnectorError::about(refusal, Some(&manifest)))
    }

    /// Tells what an installation would change, for a person, with the approval by which it is let through.
    pub fn review(&self, installation: Installation) -> Result<Review, ConnectorError> {
        let Installation { manifest, source, grant, signature } = installation;
        let grant = grant.read(self.session()?.limits())?;
        let offer = Offer { manifest: &manifest, source: &source, grant, signature: signature.as_deref() };
        let reviewed = self.session()?.review(&offer);
        reviewed.map(Review::of).map_err(|refusal| ConnectorError::about(refusal, Some(&manifest)))
    }

    /// Gives an installed connector another grant. One that is wider in any member needs the approval of `reviewGrant`.
    #[uniffi::method(default(approval = None))]
    pub fn set_grant(
        &self,
        id: String,
        grant: Grant,
        approval: Option<String>,
    ) -> Result<InstallOutcome, ConnectorError> {
        let grant = grant.read(self.session()?.limits())?;
        Ok(InstallOutcome::of(self.session()?.set_grant_approved(&id, grant, approval.as_deref())?))
    }

    /// Tells what another grant would change.
    pub fn review_grant(&self, id: String, grant: Grant) -> Result<Review, ConnectorError> {
        let grant = grant.read(self.session()?.limits())?;
        Ok(Review::of(self.session()?.review_grant(&id, grant)?))
    }

    /// Removes a connector with its secrets; what runs is cancelled. Its source and what its tools were stay remembered.
    /// Gives a contract of the tool set that is left.
    #[uniffi::method(default(contract = None))]
    pub fn remove(&self, id: String, contract: Option<String>) -> Result<String, ConnectorError> {
        Ok(self.session()?.remove(&id, contract.as_deref())?.to_string())
    }

    /// What is installed.
    pub fn list(&self) -> Result<InstalledList, ConnectorError> {
        let listed = self.session()?.list()?;
        let tools: Vec<ToolSummary> = listed
            .tools
            .into_iter()
            .map(|tool| ToolSummary { name: tool.name, effect_hash: tool.effect_hash.to_string() })
            .collect();
        let connector = |connector: &std::sync::Arc<toolset::Connector>| {
            let manifest = connector.manifest();
            let prefix = format!("{}.", connector.id());
            let mut effects: Vec<Effect> = Vec::new();
            for effect in [Effect::Read, Effect::Write, Effect::Destructive] {
                if manifest.tools().iter().any(|tool| Effect::of(tool.effect()) == effect) {
                    effects.push(effect);
                }
            }
            let origins = manifest.origins().iter().filter_map(|(name, _)| connector.origin(name.as_str()));
            InstalledConnector {
                id: connector.id().to_owned(),
                version: manifest.version().to_owned(),
                title: manifest.title().to_owned(),
                description: manifest.description().to_owned(),
                source: connector.source().to_owned(),
                sha256: manifest.sha256().to_string(),
                origins: origins.map(|origin| origin.origin().as_str().to_owned()).collect(),
                credentials: manifest
                    .credentials()
                    .iter()
                    .map(|(name, _)| name.as_str().to_owned())
                    .collect(),
                grant: Grant::of(connector.grant()),
                effects,
                tools: tools.iter().filter(|tool| tool.name.starts_with(&prefix)).cloned().collect(),
            }
        };
        let unusable = listed.broken.into_iter().map(|(id, refusal)| UnusableConnector {
            id: id.to_string(),
            code: refusal.code.as_str().to_owned(),
            reason: refusal.reason,
        });
        Ok(InstalledList {
            contract: listed.contract.to_string(),
            connectors: listed.connectors.iter().map(connector).collect(),
            unusable: unusable.collect(),
        })
    }
}
