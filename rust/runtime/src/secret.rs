//! Secrets, and where they are kept.

use std::collections::HashMap;
use std::fmt;

use smol_str::SmolStr;
use zeroize::Zeroizing;

/// A secret. Cannot be printed, compared or serialised; its memory is overwritten when it is dropped.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes over a secret.
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The secret itself, for the moment in which it is written into a request.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// What a secret is stored under: another source, connector, name or origin finds nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CredentialKey {
    pub(crate) source: SmolStr,
    pub(crate) connector: SmolStr,
    pub(crate) name: SmolStr,
    pub(crate) origin: SmolStr,
}

/// Secrets in memory, for hosts that bring no store of their own and for tests.
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    secrets: HashMap<CredentialKey, Secret>,
}

impl Credentials {
    pub(crate) fn set(&mut self, key: CredentialKey, secret: Secret) {
        self.secrets.insert(key, secret);
    }

    pub(crate) fn get(&self, key: &CredentialKey) -> Option<Secret> {
        self.secrets.get(key).cloned()
    }

    pub(crate) fn delete(&mut self, key: &CredentialKey) -> bool {
        self.secrets.remove(key).is_some()
    }
}
