//! The one object of an application.

use std::sync::Arc;

use connector_core::Refusal;
use connector_runtime::Session;
use tokio::runtime::{Builder, Runtime};

use crate::check::{self, CheckReport};
use crate::error::ConnectorError;
use crate::host::refuse_reentry;
use crate::options::{Cleartext, RuntimeOptions};
use crate::secret::SecretBytes;

/// Threads for connections. Requests wait far more than they work; the second goes on while a callback of the host takes
/// its time.
const THREADS: usize = 2;

/// An application's connectors. One object for an application; every method may be called from any thread. What reads or
/// writes files blocks: call it off the main thread.
///
/// Kotlin: `ConnectorRuntime.open(RuntimeOptions()).use { runtime -> runtime.list() }`
///
/// Swift: `let runtime = try ConnectorRuntime.open(options: RuntimeOptions())`
#[derive(uniffi::Object)]
pub struct ConnectorRuntime {
    session: Session,
    cleartext: Option<Cleartext>,
    /// Its own, so that connections live on when no call is awaited, and end with the object.
    tokio: Option<Runtime>,
}

#[uniffi::export]
impl ConnectorRuntime {
    /// Opens the connectors of an application. A store belongs to this process until `shutdown`.
    #[uniffi::constructor]
    pub fn open(options: RuntimeOptions) -> Result<Arc<Self>, ConnectorError> {
        let (session, cleartext) = (options.session()?, options.cleartext());
        let session = match options.store {
            None => Session::open(session),
            Some(store) => Session::open_store(session, store.options()?)?,
        };
        Self::on(session, cleartext)
    }

    /// Ends everything: running calls are cancelled, secrets in memory overwritten, the store is free for others.
    /// Everything after is an error with the code `session.closed`.
    pub fn shutdown(&self) -> Result<(), ConnectorError> {
        self.session.close();
        Ok(())
    }

    /// Checks the exact bytes of a manifest under the limits of this runtime. A bad manifest is a report, not an error.
    pub fn check(&self, manifest: Vec<u8>) -> Result<CheckReport, ConnectorError> {
        Ok(check::report(&manifest, self.session()?.limits()))
    }

    /// Sets a secret (UTF-8) of a connector. It goes to the origin that the manifest names and to no other, and never
    /// comes back.
    pub fn set_credential(&self, id: String, name: String, value: SecretBytes) -> Result<(), ConnectorError> {
        Ok(self.session()?.set_credential(&id, &name, value.into_secret()?)?)
    }

    /// Whether a secret is set.
    pub fn has_credential(&self, id: String, name: String) -> Result<bool, ConnectorError> {
        Ok(self.session()?.has_credential(&id, &name)?)
    }

    /// Forgets a secret; gives whether there was one.
    pub fn delete_credential(&self, id: String, name: String) -> Result<bool, ConnectorError> {
        Ok(self.session()?.delete_credential(&id, &name)?)
    }
}

impl ConnectorRuntime {
    /// The object of a session.
    pub(crate) fn on(session: Session, cleartext: Option<Cleartext>) -> Result<Arc<Self>, ConnectorError> {
        let tokio = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
        let tokio = tokio.map_err(|_| ConnectorError::internal("the device gives no threads"))?;
        Ok(Arc::new(Self { session, cleartext, tokio: Some(tokio) }))
    }

    /// What the platform says about an origin.
    pub(crate) fn check_cleartext(&self, origin: &str) -> Result<(), Refusal> {
        self.cleartext.as_ref().map_or(Ok(()), |cleartext| cleartext.check(origin))
    }

    /// The session; not from within a callback.
    pub(crate) fn session(&self) -> Result<&Session, ConnectorError> {
        refuse_reentry()?;
        Ok(&self.session)
    }

    /// The threads of this object.
    pub(crate) fn threads(&self) -> Result<&Runtime, ConnectorError> {
        self.tokio.as_ref().ok_or_else(|| ConnectorError::internal("the threads are gone"))
    }
}

impl Drop for ConnectorRuntime {
    fn drop(&mut self) {
        self.session.close();
        // A callback of the host may be what drops this, on a thread that cannot wait for itself.
        if let Some(tokio) = self.tokio.take() {
            tokio.shutdown_background();
        }
    }
}
