//! Secrets that the host keeps.

use std::fmt;
use std::sync::Arc;

use connector_core::{Code, Refusal};
use connector_runtime::{self as core_runtime, Secret};
use zeroize::Zeroizing;

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

/// Why a store of secrets did not do what it was asked for. Nothing is sent then.
#[derive(Debug, Clone, thiserror::Error, uniffi::Error)]
pub enum CredentialStoreError {
    /// The store cannot be reached, or the person refused. `reason` must hold no secret.
    #[error("{reason}")]
    Unavailable { reason: String },
}

impl From<uniffi::UnexpectedUniFFICallbackError> for CredentialStoreError {
    fn from(_: uniffi::UnexpectedUniFFICallbackError) -> Self {
        // What the host's exception says may hold a secret.
        Self::Unavailable { reason: "the credential store of the host failed".to_owned() }
    }
}

/// Where the application keeps secrets: Keychain, Keystore.
///
/// It is asked when a call is planned or sent, from threads of the core, several at a time, and outside of every lock. It
/// may take a moment, as for a fingerprint; the deadline of the call goes on. Secrets are UTF-8.
#[uniffi::export(foreign)]
pub trait CredentialStore: Send + Sync {
    /// The secret of this very key.
    fn get(&self, key: CredentialKey) -> Result<Option<Vec<u8>>, CredentialStoreError>;

    /// Whether there is one, without asking the person.
    fn has(&self, key: CredentialKey) -> Result<bool, CredentialStoreError>;

    /// Keeps a secret in the place of the one before.
    fn set(&self, key: CredentialKey, secret: Vec<u8>) -> Result<(), CredentialStoreError>;

    /// Forgets a secret; gives whether there was one.
    fn delete(&self, key: CredentialKey) -> Result<bool, CredentialStoreError>;
}

impl fmt::Debug for dyn CredentialStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CredentialStore")
    }
}

/// The host's store as the runtime sees it.
pub(crate) struct HostStore(Arc<dyn CredentialStore>);

impl HostStore {
    pub(crate) fn new(store: Arc<dyn CredentialStore>) -> Self {
        Self(store)
    }
}

impl core_runtime::CredentialStore for HostStore {
    fn get(&self, key: &core_runtime::CredentialKey) -> Result<Option<Secret>, Refusal> {
        let bytes = blocking(|| self.0.get(named(key)))?;
        bytes.map(secret).transpose()
    }

    fn has(&self, key: &core_runtime::CredentialKey) -> Result<bool, Refusal> {
        blocking(|| self.0.has(named(key)))
    }

    fn set(&self, key: &core_runtime::CredentialKey, secret: Secret) -> Result<(), Refusal> {
        blocking(|| self.0.set(named(key), secret.expose().as_bytes().to_vec()))
    }

    fn delete(&self, key: &core_runtime::CredentialKey) -> Result<bool, Refusal> {
        blocking(|| self.0.delete(named(key)))
    }
}

fn named(key: &core_runtime::CredentialKey) -> CredentialKey {
    let core_runtime::CredentialKey { source, connector, name, origin } = key.clone();
    CredentialKey { source, connector, name, origin }
}

/// Takes over the bytes of a secret; nothing of them is left behind.
pub(crate) fn secret(bytes: Vec<u8>) -> Result<Secret, Refusal> {
    String::from_utf8(bytes).map(Secret::new).map_err(|error| {
        drop(Zeroizing::new(error.into_bytes()));
        Refusal::new(Code::CredentialInvalid, "the secret is not UTF-8")
    })
}

/// Asks the host. A callback may take its time: on a thread of the runtime the others take over its work.
fn blocking<T>(ask: impl FnOnce() -> Result<T, CredentialStoreError>) -> Result<T, Refusal> {
    let multi = tokio::runtime::Handle::try_current()
        .is_ok_and(|handle| handle.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread);
    let answer = if multi { tokio::task::block_in_place(ask) } else { ask() };
    answer.map_err(|CredentialStoreError::Unavailable { .. }| {
        Refusal::new(Code::CredentialMissing, "the credential store of the host gave no answer")
    })
}
