//! A folder, and sessions on it one after the other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use connector_runtime::core::Refusal;
use connector_runtime::core::json::{Sha256, sha256};
use connector_runtime::store::{StoreKey, StoreOptions};
use connector_runtime::{Installed, MemoryStore, Offer, Session, SessionOptions};
use serde_json::{Value, json};

use crate::support::{Network, grant};

/// A folder for a store that goes with the test; the secrets of its host stay over restarts, as a keychain does.
pub(crate) struct Device {
    folder: tempfile::TempDir,
    pub(crate) secrets: Arc<MemoryStore>,
}

impl Device {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), secrets: Arc::default() }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    pub(crate) fn store(&self) -> StoreOptions {
        store(&self.folder())
    }

    pub(crate) fn open(&self) -> Session {
        self.open_with(Network::new().options())
    }

    pub(crate) fn open_with(&self, options: SessionOptions) -> Session {
        self.try_open(options, self.store()).unwrap()
    }

    pub(crate) fn try_open(
        &self,
        mut options: SessionOptions,
        store: StoreOptions,
    ) -> Result<Session, Refusal> {
        options.credentials = Arc::<MemoryStore>::clone(&self.secrets);
        Session::open_store(options, store)
    }

    /// Closes a session and opens another.
    pub(crate) fn restart(&self, session: &Session) -> Session {
        session.close();
        self.open()
    }
}

pub(crate) fn store(folder: &Path) -> StoreOptions {
    StoreOptions::new(folder, StoreKey::new([7; 32]))
}

/// The hash of the file that the tests make of a manifest.
pub(crate) fn file_hash(manifest: &Value) -> Sha256 {
    sha256(manifest.to_string())
}

/// The same manifest at another version, as the successor of another.
pub(crate) fn successor(of: &Value, new: &Value) -> Value {
    let mut new = new.clone();
    new["version"] = json!("2");
    new["supersedes"] = json!(file_hash(of).to_string());
    new
}

/// Installs under the contract of a list, with an approval where there is one.
pub(crate) fn offer(
    session: &Session,
    manifest: &Value,
    source: &str,
    granted: &Value,
    approval: Option<&str>,
) -> Result<Installed, Refusal> {
    let (text, seen) = (manifest.to_string(), session.list()?.contract.to_string());
    let offer = Offer { manifest: text.as_bytes(), source, grant: grant(granted), signature: None };
    session.install_offer(&offer, Some(&seen), approval)
}

/// The token of a review of the same.
pub(crate) fn approval(session: &Session, manifest: &Value, source: &str, granted: &Value) -> String {
    let text = manifest.to_string();
    let offer = Offer { manifest: text.as_bytes(), source, grant: grant(granted), signature: None };
    session.review(&offer).unwrap().approval
}
