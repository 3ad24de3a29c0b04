//! A credential store that gives what a scenario says.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use connector_runtime::core::{Code, Refusal};
use connector_runtime::{CredentialKey, CredentialStore, Secret};

/// The secrets of each connector, given in turn, the last for good.
#[derive(Default)]
pub(crate) struct ScriptedStore(Mutex<HashMap<String, VecDeque<String>>>);

impl ScriptedStore {
    pub(crate) fn add(&self, connector: &str, secrets: &[String]) {
        let mut scripts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        scripts.insert(connector.to_owned(), secrets.iter().cloned().collect());
    }

    fn next(&self, key: &CredentialKey, take: bool) -> Option<Secret> {
        let mut scripts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let script = scripts.get_mut(&key.connector)?;
        let secret = script.front().cloned()?;
        if take && script.len() > 1 {
            script.pop_front();
        }
        Some(Secret::new(secret))
    }
}

impl CredentialStore for ScriptedStore {
    fn get(&self, key: &CredentialKey) -> Result<Option<Secret>, Refusal> {
        Ok(self.next(key, true))
    }

    fn has(&self, key: &CredentialKey) -> Result<bool, Refusal> {
        Ok(self.next(key, false).is_some())
    }

    fn set(&self, _: &CredentialKey, _: Secret) -> Result<(), Refusal> {
        Err(Refusal::new(Code::CredentialUnknown, "the store of a scenario is not set"))
    }

    fn delete(&self, key: &CredentialKey) -> Result<bool, Refusal> {
        let mut scripts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(scripts.remove(&key.connector).is_some())
    }
}
