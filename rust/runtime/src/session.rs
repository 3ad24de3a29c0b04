//! A session: one application's connectors, from opening to closing.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use connector_core::audit::{Deed, Record};
use connector_core::grant::Grant;
use connector_core::json::Sha256;
use connector_core::manifest;
use connector_core::text::ModelTokens;
use connector_core::toolset::{Connector, Contract};
use connector_core::{Code, Refusal, TrustLimits};
use connector_net::ClientOptions;

use crate::clock::Clock;
use crate::random::Random;
use crate::secret::{CredentialKey, CredentialStore, MemoryStore, Secret};
use crate::state::State;

/// What a session is opened with.
#[derive(Clone)]
pub struct SessionOptions {
    /// The ceilings of everything that is read or sent.
    pub limits: TrustLimits,
    /// How connections are made.
    pub network: ClientOptions,
    /// The control tokens of the model that reads the answers.
    pub tokens: ModelTokens,
    /// Where secrets are kept.
    pub credentials: Arc<dyn CredentialStore>,
}

impl SessionOptions {
    /// The default limits, no tokens beyond the known families, secrets in memory, and these connections.
    pub fn new(network: ClientOptions) -> Self {
        let (limits, tokens) = (TrustLimits::default(), ModelTokens::default());
        Self { limits, network, tokens, credentials: Arc::<MemoryStore>::default() }
    }
}

impl fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionOptions")
            .field("limits", &self.limits)
            .field("network", &self.network)
            .finish_non_exhaustive()
    }
}

/// One application's connectors, in memory. Cheap to clone; all clones are the same session.
#[derive(Clone)]
pub struct Session {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) limits: TrustLimits,
    pub(crate) network: ClientOptions,
    pub(crate) tokens: ModelTokens,
    pub(crate) clock: Clock,
    pub(crate) random: Random,
    state: Mutex<State>,
}

impl Inner {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves the state whole: every change of it is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an install or a change of grant leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The contract of a full export of the new tool set.
    pub contract: Sha256,
    /// Full names and effect hashes of the connector's tools.
    pub tools: Vec<(String, Sha256)>,
}

/// What is installed.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The contract of a full export.
    pub contract: Sha256,
    /// The connectors, sorted by id.
    pub connectors: Vec<Arc<Connector>>,
    /// The tools that may be called, sorted by full name.
    pub tools: Vec<ListedTool>,
}

/// One tool of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTool {
    /// The full name, `id.name`.
    pub name: String,
    /// The effect hash.
    pub effect_hash: Sha256,
}

impl Session {
    /// Opens a session in memory.
    pub fn open(options: SessionOptions) -> Self {
        let SessionOptions { limits, network, tokens, credentials } = options;
        let (clock, state) = (Clock::new(), Mutex::new(State::new(credentials)));
        Self { inner: Arc::new(Inner { limits, network, tokens, clock, random: Random::default(), state }) }
    }

    /// Closes the session: running calls are cancelled, secrets in memory are overwritten, and everything after is
    /// `session.closed`. The audit trail can still be read.
    pub fn close(&self) {
        self.inner.state().close();
    }

    /// The limits of the session.
    pub fn limits(&self) -> &TrustLimits {
        &self.inner.limits
    }

    /// Checks a manifest, binds it by a grant, and adds it to the tool set.
    ///
    /// `source` is the host's label of where the manifest comes from; `seen` a contract of the current tool set,
    /// which a first install of an id may leave out.
    ///
    /// # Errors
    /// `manifest.invalid` with all findings, `grant.invalid`, `contract.stale`, `install.source`,
    /// `install.replacement`.
    pub fn install(
        &self,
        manifest: &[u8],
        source: &str,
        grant: Grant,
        seen: Option<&str>,
    ) -> Result<Installed, Refusal> {
        let report = manifest::check(manifest, &self.inner.limits);
        let mut subject = String::from("?");
        let bound = match report.manifest {
            Some(checked) => {
                subject = checked.id().to_string();
                Connector::bind(checked, source, grant, &self.inner.limits)
            }
            None => Err(Refusal::new(Code::ManifestInvalid, "the manifest breaks rules of the format")
                .with_findings(report.findings.into_list())),
        };
        self.change(Deed::Install, &subject, seen, bound, |state, connector, seen| {
            state.set.install(connector, seen)
        })
    }

    /// Gives an installed connector another grant, which may only be narrower than the one in force at that moment. It
    /// ends the connector's plans, and cancels what runs under the old grant.
    ///
    /// # Errors
    /// `connector.unknown`, `grant.invalid`, `grant.wider`.
    pub fn set_grant(&self, id: &str, grant: Grant) -> Result<Installed, Refusal> {
        let installed = self.connector(id)?;
        let manifest = Arc::clone(installed.manifest());
        let bound = Connector::bind(manifest, installed.source(), grant, &self.inner.limits);
        self.change(Deed::Grant, id, None, bound, |state, connector, _| state.set.regrant(connector))
    }

    fn change(
        &self,
        deed: Deed,
        subject: &str,
        seen: Option<&str>,
        bound: Result<Connector, Refusal>,
        merge: impl FnOnce(
            &State,
            Arc<Connector>,
            Option<Sha256>,
        ) -> Result<connector_core::toolset::ToolSet, Refusal>,
    ) -> Result<Installed, Refusal> {
        let time = self.inner.clock.wall_ms();
        let mut state = self.inner.state();
        state.open()?;
        let result = bound.and_then(|connector| {
            let seen = seen.map(|token| state.contract(token).map(Contract::tool_set)).transpose()?;
            let connector = Arc::new(connector);
            let hash = connector.manifest().sha256();
            let tools = connector.effects().map(|(name, hash)| (name.to_owned(), hash)).collect();
            Ok((merge(&state, connector, seen)?, hash, tools))
        });
        match result {
            Ok((set, manifest, tools)) => {
                state.replace(set);
                state.record(time, deed, subject, Some(manifest), "ok");
                let contract = state.set.contract();
                Ok(Installed { contract: state.issue(contract), tools })
            }
            Err(refusal) => {
                state.record(time, deed, subject, None, refusal.code.as_str());
                Err(refusal)
            }
        }
    }

    /// What is installed now.
    pub fn list(&self) -> Result<Listed, Refusal> {
        let mut state = self.inner.state();
        state.open()?;
        let set = Arc::clone(&state.set);
        let contract = set.contract();
        let mut tools: Vec<ListedTool> = set
            .connectors()
            .flat_map(|connector| connector.effects())
            .filter(|(name, _)| contract.shows(name))
            .map(|(name, effect_hash)| ListedTool { name: name.to_owned(), effect_hash })
            .collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        let contract = state.issue(contract);
        Ok(Listed { contract, connectors: set.connectors().cloned().collect(), tools })
    }

    /// Sets a secret; it goes to the origin that the manifest names and to no other. A plan that was made before
    /// uses it, unless it was made to go without.
    ///
    /// # Errors
    /// `connector.unknown`, `credential.unknown`; `credential.invalid` when the secret is empty or cannot stand in
    /// one of its places; what the store refuses.
    pub fn set_credential(&self, id: &str, name: &str, secret: Secret) -> Result<(), Refusal> {
        let (store, connector) = self.credentials_of(id)?;
        connector.check_secret(name, secret.expose(), &self.inner.limits)?;
        let key = CredentialKey::new(&connector, name)?;
        store.set(&key, secret)?;
        self.inner.state().standings.forget(&key);
        Ok(())
    }

    /// Whether a secret is set. The secret itself never comes back.
    pub fn has_credential(&self, id: &str, name: &str) -> Result<bool, Refusal> {
        let (store, connector) = self.credentials_of(id)?;
        store.has(&CredentialKey::new(&connector, name)?)
    }

    /// Forgets a secret; gives whether there was one.
    pub fn delete_credential(&self, id: &str, name: &str) -> Result<bool, Refusal> {
        let (store, connector) = self.credentials_of(id)?;
        let key = CredentialKey::new(&connector, name)?;
        let deleted = store.delete(&key)?;
        self.inner.state().standings.forget(&key);
        Ok(deleted)
    }

    fn credentials_of(&self, id: &str) -> Result<(Arc<dyn CredentialStore>, Arc<Connector>), Refusal> {
        let store = self.inner.state().open()?;
        Ok((store, self.connector(id)?))
    }

    fn connector(&self, id: &str) -> Result<Arc<Connector>, Refusal> {
        let state = self.inner.state();
        state.open()?;
        let unknown = || Refusal::new(Code::ConnectorUnknown, format!("no connector `{id}` is installed"));
        state.set.connector(id).cloned().ok_or_else(unknown)
    }

    /// The audit records that are kept, oldest first, and the head of their chain.
    pub fn audit(&self) -> (Vec<Record>, Sha256) {
        let state = self.inner.state();
        (state.trail.records().cloned().collect(), state.trail.head())
    }

    /// Moves the session's clocks on.
    #[cfg(feature = "test-hooks")]
    pub fn advance(&self, by_ms: u64) {
        self.inner.clock.advance(by_ms);
    }
}
