//! A session: one application's connectors, from opening to closing.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use connector_core::audit::{Deed, Event, Record};
use connector_core::json::Sha256;
use connector_core::signature::{Policies, TrustedKeys};
use connector_core::text::ModelTokens;
use connector_core::toolset::{Connector, ToolSet};
use connector_core::{Code, Refusal, TrustLimits};
use connector_net::ClientOptions;
use connector_store::{Store, StoreOptions, Verified, Write};
use smol_str::SmolStr;

use crate::clock::Clock;
use crate::journal::{Journal, Observer};
use crate::random::Random;
use crate::secret::{CredentialKey, CredentialStore, MemoryStore, Secret};
use crate::shelf::Shelf;
use crate::state::State;
use crate::visible::Visible;

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
    /// The keys by which manifests may be signed.
    pub trusted: TrustedKeys,
    /// Whose manifests must be signed.
    pub policies: Policies,
    /// Who hears of every event of the audit trail as it happens.
    pub observer: Option<Observer>,
}

impl SessionOptions {
    /// The default limits, no tokens beyond the known families, secrets in memory, no trusted keys, signatures required
    /// of nobody, and these connections.
    pub fn new(network: ClientOptions) -> Self {
        Self {
            limits: TrustLimits::default(),
            network,
            tokens: ModelTokens::default(),
            credentials: Arc::<MemoryStore>::default(),
            trusted: TrustedKeys::new(),
            policies: Policies::default(),
            observer: None,
        }
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

/// One application's connectors, in memory or in a store. Cheap to clone; all clones are the same session.
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
    pub(crate) trusted: TrustedKeys,
    pub(crate) policies: Policies,
    /// What is installed. A change of it takes the writer, and never waits for the state; whoever holds the state takes
    /// no writer.
    pub(crate) shelf: Visible<Shelf>,
    /// None when the session was closed and had a store, which others may open then.
    journal: Mutex<Option<Arc<Journal>>>,
    state: Mutex<State>,
}

impl Inner {
    /// The tool set in force.
    pub(crate) fn set(&self) -> Arc<ToolSet> {
        Arc::clone(&self.shelf.current().set)
    }

    /// Where the traces of an open session go.
    pub(crate) fn journal(&self) -> Result<Arc<Journal>, Refusal> {
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.clone().ok_or_else(|| Refusal::new(Code::SessionClosed, "the session was closed"))
    }

    /// Records a deed that has neither sizes nor duration.
    pub(crate) fn record(&self, deed: Deed, subject: &str, object: Option<Sha256>, outcome: &'static str) {
        let Ok(journal) = self.journal() else { return };
        journal.record(Event {
            time_ms: self.clock.wall_ms(),
            deed,
            subject: subject.to_owned(),
            tool_set: self.set().hash(),
            object,
            outcome: outcome.into(),
            status: None,
            sent_bytes: 0,
            received_bytes: 0,
            duration_ms: 0,
        });
    }

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
    /// What is installed and did not come back from the store, by id, with the reason. Installing the same again or
    /// removing it mends it.
    pub broken: Vec<(SmolStr, Refusal)>,
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
    pub fn open(mut options: SessionOptions) -> Self {
        let journal = Journal::in_memory(options.observer.take());
        Self::on(options, journal, Shelf::default())
    }

    /// Opens a session on a store, which is this process's until the session is closed. What is installed there comes
    /// back; a connector that does not is named by [`list`](Self::list), and the others work.
    ///
    /// Everything that changes what is installed is durable once it returns, and blocks on files. Planning and listing do
    /// not wait for it.
    ///
    /// # Errors
    /// `store.folder`, `store.locked`, `store.tampered`, `store.rolled_back`, `store.version`, `store.read_only`,
    /// `store.full`, `store.io`.
    pub fn open_store(mut options: SessionOptions, mut store: StoreOptions) -> Result<Self, Refusal> {
        store.limits.manifest_bytes = options.limits.manifest_bytes;
        let store = Store::open(store)?;
        let shelf = Shelf::load(&store, &options.limits)?;
        let journal = Journal::on(store, options.observer.take());
        Ok(Self::on(options, journal, shelf))
    }

    fn on(options: SessionOptions, journal: Journal, shelf: Shelf) -> Self {
        let SessionOptions {
            limits,
            network,
            tokens,
            credentials,
            trusted,
            policies,
            observer: _in_the_journal,
        } = options;
        let (clock, state) = (Clock::new(), Mutex::new(State::new(credentials)));
        let (shelf, journal) = (Visible::new(shelf), Mutex::new(Some(Arc::new(journal))));
        let random = Random::default();
        Self {
            inner: Arc::new(Inner {
                limits,
                network,
                tokens,
                clock,
                random,
                trusted,
                policies,
                shelf,
                journal,
                state,
            }),
        }
    }

    /// Closes the session: running calls are cancelled, secrets in memory are overwritten, and everything after is
    /// `session.closed`. A store is free for others once the cancelled calls have recorded their end; the audit trail of a
    /// session in memory can still be read.
    pub fn close(&self) {
        self.inner.state().close();
        let writer = self.inner.shelf.writer();
        let _never_fails = writer.publish(Shelf::default(), |_| Ok::<(), Refusal>(()));
        let mut journal = self.inner.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = journal.as_ref() {
            open.fall_silent();
            if open.store().is_some() {
                *journal = None;
            }
        }
    }

    /// The limits of the session.
    pub fn limits(&self) -> &TrustLimits {
        &self.inner.limits
    }

    /// What is installed now.
    pub fn list(&self) -> Result<Listed, Refusal> {
        self.inner.state().open()?;
        let shelf = self.inner.shelf.current();
        let contract = shelf.set.contract();
        let mut tools: Vec<ListedTool> = shelf
            .set
            .connectors()
            .flat_map(|connector| connector.effects())
            .filter(|(name, _)| contract.shows(name))
            .map(|(name, effect_hash)| ListedTool { name: name.to_owned(), effect_hash })
            .collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        let contract = self.inner.state().issue(contract);
        let connectors = shelf.set.connectors().cloned().collect();
        let broken = shelf.broken.iter().map(|(id, broken)| (id.clone(), broken.refusal.clone())).collect();
        Ok(Listed { contract, connectors, tools, broken })
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
        // Removed meanwhile, or bound to another server: its secrets went with it, and this one goes too.
        let now = self.connector(id).and_then(|connector| CredentialKey::new(&connector, name));
        if now.as_ref().ok() != Some(&key) {
            store.delete(&key)?;
            now?;
            return Err(Refusal::new(
                Code::CredentialUnknown,
                "the credential goes elsewhere since: set it again",
            ));
        }
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

    pub(crate) fn connector(&self, id: &str) -> Result<Arc<Connector>, Refusal> {
        self.inner.state().open()?;
        let unknown = || Refusal::new(Code::ConnectorUnknown, format!("no connector `{id}` is installed"));
        self.inner.set().connector(id).cloned().ok_or_else(unknown)
    }

    /// The audit records that are kept, oldest first, and the head of their chain.
    ///
    /// # Errors
    /// `store.io`, `store.version`; `session.closed` when the session had a store.
    pub fn audit(&self) -> Result<(Vec<Record>, Sha256), Refusal> {
        self.inner.journal()?.audit()
    }

    /// The hash of the last audit record, which the host may keep.
    pub fn audit_head(&self) -> Result<Sha256, Refusal> {
        Ok(self.inner.journal()?.head())
    }

    /// Checks that no kept record was changed, removed or moved; with the head that the host kept also that none was cut
    /// off.
    ///
    /// # Errors
    /// `audit.broken`, naming the place; `store.io`, `session.closed`.
    pub fn verify_audit(&self, kept: Option<Sha256>) -> Result<Verified, Refusal> {
        self.inner.journal()?.verify(kept)
    }

    /// The writes that the store remembers, oldest first, each `sent`, `not_sent` or `outcome_unknown`; none in memory.
    /// One of an earlier process that has not ended was interrupted, and a person should be told.
    pub fn writes(&self) -> Result<Vec<Write>, Refusal> {
        Ok(self.inner.journal()?.writes())
    }

    /// What a person should be told about the logs of the store: lines that were changed or removed, records that could
    /// not be written.
    pub fn damage(&self) -> Result<Vec<Refusal>, Refusal> {
        Ok(self.inner.journal()?.damage())
    }

    /// The counter of the store, which the host may keep: an older lock file put back is found by it. None in memory.
    pub fn counter(&self) -> Result<Option<u64>, Refusal> {
        Ok(self.inner.journal()?.store().map(|store| store.state().counter()))
    }

    /// Moves the session's clocks on.
    #[cfg(feature = "test-hooks")]
    pub fn advance(&self, by_ms: u64) {
        self.inner.clock.advance(by_ms);
    }
}
