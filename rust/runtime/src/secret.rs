//! Secrets, and where they are kept.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use connector_core::Refusal;
use connector_core::toolset::Connector;
use connector_net::CancellationToken;
use zeroize::Zeroizing;

/// A secret. Cannot be printed, compared or serialised; its memory is overwritten when it is dropped.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes over a secret.
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The secret itself, for the moment in which it is written into a request, or into a store of the host.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// What a secret is stored under: another source, connector, name or origin finds nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CredentialKey {
    /// The host's label of where the connector came from.
    pub source: String,
    /// The connector's id.
    pub connector: String,
    /// The credential's name in the manifest.
    pub name: String,
    /// The serialised origin that the secret goes to.
    pub origin: String,
}

impl CredentialKey {
    /// The key of a connector's credential; `credential.unknown` when the manifest has none of this name.
    pub(crate) fn new(connector: &Connector, name: &str) -> Result<Self, Refusal> {
        let origin = connector.credential_origin(name)?.origin().as_str().to_owned();
        Ok(Self {
            source: connector.source().to_owned(),
            connector: connector.id().to_owned(),
            name: name.to_owned(),
            origin,
        })
    }
}

/// A running call that needs a secret.
#[derive(Debug)]
pub struct Need {
    call_id: String,
    deadline: Option<Instant>,
    refused: Option<Secret>,
    token: CancellationToken,
}

impl Need {
    pub(crate) fn new(
        call_id: String,
        deadline: Option<Instant>,
        refused: Option<Secret>,
        token: CancellationToken,
    ) -> Self {
        Self { call_id, deadline, refused, token }
    }

    /// The name of the call.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// The end of the time that the call may take in all; none when that is for ever.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The secret that this call sent and the server refused, when it asks once more.
    pub fn refused(&self) -> Option<&Secret> {
        self.refused.as_ref()
    }

    /// Ends when nobody needs the secret any more: the call was cancelled or dropped, its connector removed or its
    /// grant changed, the session closed.
    pub async fn given_up(&self) {
        self.token.cancelled().await;
    }
}

/// Where a host keeps secrets: a keychain, a keystore.
///
/// The session calls it outside of every lock, from the thread that plans or changes something, and for a call that is
/// sent from a thread of tokio's for what blocks; it may take its time. Only `delete` is called while no other change of what is installed can be made: it must not make one itself.
/// A refusal of the store ends what it was asked for, with nothing sent.
pub trait CredentialStore: Send + Sync {
    /// The secret of this very key.
    fn get(&self, key: &CredentialKey) -> Result<Option<Secret>, Refusal>;

    /// The same for a call that is about to be sent. A store that waits for somebody stops when the call is
    /// [given up](Need::given_up): its answer is awaited no longer.
    fn get_for(&self, key: &CredentialKey, _need: &Need) -> Result<Option<Secret>, Refusal> {
        self.get(key)
    }

    /// Whether there is one; nothing is sent on the answer. A store that asks the person before it gives a secret
    /// answers this without asking.
    fn has(&self, key: &CredentialKey) -> Result<bool, Refusal> {
        Ok(self.get(key)?.is_some())
    }

    /// Keeps a secret in the place of the one before.
    fn set(&self, key: &CredentialKey, secret: Secret) -> Result<(), Refusal>;

    /// Forgets a secret; gives whether there was one.
    fn delete(&self, key: &CredentialKey) -> Result<bool, Refusal>;
}

/// Secrets in memory, for hosts that bring no store of their own and for tests.
#[derive(Default)]
pub struct MemoryStore(Mutex<HashMap<CredentialKey, Secret>>);

impl MemoryStore {
    fn with<T>(&self, f: impl FnOnce(&mut HashMap<CredentialKey, Secret>) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryStore")
    }
}

impl CredentialStore for MemoryStore {
    fn get(&self, key: &CredentialKey) -> Result<Option<Secret>, Refusal> {
        Ok(self.with(|secrets| secrets.get(key).cloned()))
    }

    fn set(&self, key: &CredentialKey, secret: Secret) -> Result<(), Refusal> {
        self.with(|secrets| secrets.insert(key.clone(), secret));
        Ok(())
    }

    fn delete(&self, key: &CredentialKey) -> Result<bool, Refusal> {
        Ok(self.with(|secrets| secrets.remove(key)).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> CredentialKey {
        let text = str::to_owned;
        let (source, connector) = (text("app"), text("notes"));
        CredentialKey { source, connector, name: text("token"), origin: text("https://notes.example") }
    }

    #[test]
    fn a_secret_is_found_under_its_whole_key_alone() {
        let store = MemoryStore::default();
        store.set(&key(), Secret::new("s3cret".into())).unwrap();
        assert_eq!(store.get(&key()).unwrap().unwrap().expose(), "s3cret");
        let change: [fn(&mut CredentialKey); 4] = [
            |key| key.source.push('x'),
            |key| key.connector.push('x'),
            |key| key.name.push('x'),
            |key| key.origin.push('x'),
        ];
        for change in change {
            let mut other = key();
            change(&mut other);
            assert!(store.get(&other).unwrap().is_none() && !store.has(&other).unwrap());
            assert!(!store.delete(&other).unwrap());
        }
        assert!(store.delete(&key()).unwrap() && !store.has(&key()).unwrap());
    }

    #[test]
    fn nothing_prints_a_secret() {
        let store = MemoryStore::default();
        let secret = Secret::new("s3cret".into());
        assert_eq!(format!("{secret:?}"), "Secret(..)");
        store.set(&key(), secret).unwrap();
        assert_eq!(format!("{store:?}"), "MemoryStore");
    }
}
