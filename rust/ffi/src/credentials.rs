//! Secrets that the host keeps.

use std::sync::Arc;

use connector_core::Refusal;
use connector_runtime::{self as core_runtime, Secret};

use crate::host::{Asker, refusal};
use crate::secret::MaybeSecret;

/// What a secret is kept under: another source, connector, name or origin is another secret.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct CredentialKey {
    /// The application's label of where the connector came from.
    pub source: String,
    /// The connector's id.
    pub connector: String,
    /// The credential's name in the manifest.
    pub name: String,
    /// The origin that the secret goes to, and no other.
    pub origin: String,
}

/// Why the host did not do what it was asked for.
#[derive(Debug, Clone, thiserror::Error, uniffi::Error)]
pub enum HostError {
    /// It cannot, or the person refused. `reason` is dropped, since it may hold a secret.
    #[error("{reason}")]
    Unavailable {
        /// Dropped.
        reason: String,
    },
}

impl From<uniffi::UnexpectedUniFFICallbackError> for HostError {
    fn from(_: uniffi::UnexpectedUniFFICallbackError) -> Self {
        Self::Unavailable { reason: String::new() }
    }
}

/// Where the application keeps secrets: Keychain, Keystore.
///
/// It is asked when a call is planned or sent, on threads of the core, several at a time. It may take a while, as for a
/// fingerprint: `RuntimeOptions.callbackTimeoutMs` at most, and the deadline of the call goes on. One that fails, takes
/// longer, or calls back into the `ConnectorRuntime` is the error `host.callback`, and nothing is sent. Secrets are UTF-8.
#[uniffi::export(foreign)]
pub trait CredentialStore: Send + Sync {
    /// The secret of this very key.
    fn get(&self, key: CredentialKey) -> Result<MaybeSecret, HostError>;

    /// Whether there is one, without asking the person.
    fn has(&self, key: CredentialKey) -> Result<bool, HostError>;

    /// Keeps a secret in the place of the one before.
    fn set(&self, key: CredentialKey, secret: Vec<u8>) -> Result<(), HostError>;

    /// Forgets a secret; gives whether there was one.
    fn delete(&self, key: CredentialKey) -> Result<bool, HostError>;
}

/// The host's store as the runtime sees it.
pub(crate) struct HostStore {
    store: Arc<dyn CredentialStore>,
    asker: Asker,
}

impl HostStore {
    pub(crate) fn new(store: Arc<dyn CredentialStore>, asker: Asker) -> Self {
        Self { store, asker }
    }

    fn ask<T: Send + 'static>(
        &self,
        key: &core_runtime::CredentialKey,
        ask: impl FnOnce(&dyn CredentialStore, CredentialKey) -> Result<T, HostError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let (store, key) = (Arc::clone(&self.store), named(key));
        self.asker.ask(move || {
            ask(store.as_ref(), key).map_err(|_| refusal("the credential store of the host gave no answer"))
        })
    }
}

impl core_runtime::CredentialStore for HostStore {
    fn get(&self, key: &core_runtime::CredentialKey) -> Result<Option<Secret>, Refusal> {
        self.ask(key, |store, key| store.get(key))?.into_secret()
    }

    fn has(&self, key: &core_runtime::CredentialKey) -> Result<bool, Refusal> {
        self.ask(key, |store, key| store.has(key))
    }

    fn set(&self, key: &core_runtime::CredentialKey, secret: Secret) -> Result<(), Refusal> {
        let bytes = secret.expose().as_bytes().to_vec();
        self.ask(key, |store, key| store.set(key, bytes))
    }

    fn delete(&self, key: &core_runtime::CredentialKey) -> Result<bool, Refusal> {
        self.ask(key, |store, key| store.delete(key))
    }
}

fn named(key: &core_runtime::CredentialKey) -> CredentialKey {
    let core_runtime::CredentialKey { source, connector, name, origin } = key.clone();
    CredentialKey { source, connector, name, origin }
}
