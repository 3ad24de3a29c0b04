//! A store: opened, changed in whole steps, read.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use connector_core::audit::Head;
use connector_core::{Code, Refusal};
use smol_str::SmolStr;

use crate::audit::{self, AuditLog};
use crate::disk::Disk;
use crate::fault::{reading, writing};
use crate::files::{Files, UNFINISHED, place, replace};
use crate::key::StoreKey;
use crate::ledger::{self, Ledger};
use crate::limits::StoreLimits;
use crate::state::State;
use crate::transaction::{Applied, Transaction};
use crate::{lock_file, manifests};

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The folder, private to the application; one store in it and nothing else. On iOS not in a container that is shared
    /// with extensions: the system ends an application that is suspended while it holds a lock there.
    pub folder: PathBuf,
    /// The key of this store.
    pub key: StoreKey,
    /// The highest counter that the host has seen ([`State::counter`]); absent, an older lock file cannot be told.
    pub seen: Option<u64>,
    /// Whether a missing folder is made. The folder above it must be there.
    pub create: bool,
    /// How long to wait for another process to close the store.
    pub wait: Duration,
    /// How large it may grow.
    pub limits: StoreLimits,
}

impl StoreOptions {
    /// A folder that is made when it is missing; two seconds' wait, no counter seen, the default limits.
    pub fn new(folder: impl Into<PathBuf>, key: StoreKey) -> Self {
        let (seen, create, wait) = (None, true, Duration::from_secs(2));
        Self { folder: folder.into(), key, seen, create, wait, limits: StoreLimits::default() }
    }
}

/// An installed connector as it was found.
#[derive(Debug)]
pub struct Loaded {
    /// Its id.
    pub id: SmolStr,
    /// The exact bytes of its manifest, or `store.manifest`: the others load all the same.
    pub manifest: Result<Vec<u8>, Refusal>,
}

/// An open store. It belongs to this process until it is dropped. Everything but [`Store::state`] blocks on files.
pub struct Store {
    files: Arc<dyn Files>,
    key: StoreKey,
    limits: StoreLimits,
    /// Held while files change. The highest counter that any lock file of this store was ever written with, also one that
    /// came to nothing: two different lock files never share a counter.
    counter: Mutex<u64>,
    /// What the durable lock file holds; swapped, never changed.
    state: RwLock<Arc<State>>,
    ledger: Ledger,
    audit: AuditLog,
}

impl Store {
    /// Opens the store of a folder, or makes one in an empty folder. Leftovers of a crash are removed.
    ///
    /// # Errors
    /// `store.folder`, `store.locked`, `store.tampered`, `store.rolled_back`, `store.version`, `store.read_only`,
    /// `store.full`, `store.io`.
    pub fn open(options: StoreOptions) -> Result<Self, Refusal> {
        let disk = Disk::open(&options.folder, options.create, options.wait)?;
        Self::on(Arc::new(disk), options.key, options.seen, options.limits)
    }

    /// Opens the store on a file system that is this process's own.
    pub(crate) fn on(
        files: Arc<dyn Files>,
        key: StoreKey,
        seen: Option<u64>,
        limits: StoreLimits,
    ) -> Result<Self, Refusal> {
        let found = match files.read(lock_file::NAME, limits.lock_bytes.saturating_mul(2).max(LOCK_FLOOR)) {
            Ok(bytes) => Some(lock_file::decode(&bytes, &key, seen)?),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) if matches!(error.kind(), ErrorKind::FileTooLarge | ErrorKind::InvalidInput) => {
                let reason = format!("something else stands in the place of the lock file: {error}");
                return Err(Refusal::new(Code::StoreTampered, reason));
            }
            Err(error) => return Err(reading("the lock file", &error)),
        };
        let unfinished = unfinished(&*files);
        files
            .make_folder(manifests::FOLDER)
            .map_err(|error| writing("the folder of the manifests", &error))?;
        let expected = found.is_some();
        if !expected {
            nothing_lost(&*files, seen)?;
        }
        let ledger = Ledger::open(Arc::clone(&files), key.clone(), limits.ledger_bytes, expected)?;
        let (audit, started) = AuditLog::open(Arc::clone(&files), key.clone(), limits.audit_bytes, expected)?;
        ledger.knows(&started);
        let state = if let Some(state) = found {
            state
        } else {
            let written = !ledger.writes().is_empty() || audit.head() != Head::default().hash;
            if written || ledger.damage().is_some() || audit.damage().is_some() {
                return Err(lost());
            }
            let state = State::empty();
            let text = lock_file::encode(&state, &key)?;
            replace(&*files, "", lock_file::NAME, text.as_bytes())
                .map_err(|error| writing("the lock file", &error))?;
            state
        };
        manifests::collect(&*files, &state);
        // A lock file that was half made may have been copied away: its counter is not used again.
        let counter = state.counter.saturating_add(u64::from(unfinished));
        let (counter, state) = (Mutex::new(counter), RwLock::new(Arc::new(state)));
        Ok(Self { files, key, limits, counter, state, ledger, audit })
    }

    /// What is installed: the state of the last commit. Never waits for a commit.
    pub fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes a change. Once this returns `Ok` it is durable and visible; before, no reader sees any of it, and after an
    /// error the old state is in force. (Where the device fails so late that the old lock file cannot be put back either,
    /// the new state may be found when the store is opened again, unless a commit succeeds before.) Gives the new state, whose counter the host may keep.
    ///
    /// # Errors
    /// `store.stale` when the transaction was made on another state; `store.limit`, `install.source`,
    /// `connector.unknown`; `store.full`, `store.read_only`, `store.io`.
    pub fn commit(&self, transaction: &Transaction) -> Result<Arc<State>, Refusal> {
        let mut highest = self.counter.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.state();
        let counter = highest.saturating_add(1);
        let Applied { state, manifests } = transaction.apply(&now, counter, &self.limits)?;
        let text = lock_file::encode(&state, &self.key)?;
        let limit = self.limits.lock_bytes;
        if text.len() > limit && text.len() > lock_file::encode(&now, &self.key)?.len() {
            let reason = format!(
                "the lock file would be over its limit of {limit} bytes: it keeps what every tool ever seen was"
            );
            return Err(Refusal::new(Code::StoreLimit, reason));
        }
        *highest = counter;
        let brought = manifests.into_iter().filter(|(hash, bytes)| !self.is_kept(&now, *hash, bytes.len()));
        let written = manifests::write(&*self.files, brought).and_then(|()| {
            let replaced = replace(&*self.files, "", lock_file::NAME, text.as_bytes());
            replaced.map_err(|error| writing("the lock file", &error))
        });
        if let Err(refusal) = written {
            if self.put_back(&now).is_ok() {
                manifests::collect(&*self.files, &now);
            }
            return Err(refusal);
        }
        let state = Arc::new(state);
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&state);
        manifests::collect(&*self.files, &state);
        Ok(state)
    }

    /// The exact bytes of the manifest of an installed connector.
    ///
    /// # Errors
    /// `connector.unknown`; `store.manifest` when the file is not the one that was installed.
    pub fn manifest(&self, id: &str) -> Result<Vec<u8>, Refusal> {
        let mut state = self.state();
        loop {
            let Some(pin) = state.pin(id) else {
                return Err(Refusal::new(
                    Code::ConnectorUnknown,
                    format!("no connector `{id}` is installed"),
                ));
            };
            let read = manifests::read(&*self.files, id, pin.manifest, self.limits.manifest_bytes);
            let now = self.state();
            if read.is_ok() || now.counter() == state.counter() {
                return read;
            }
            // A commit came between, and its manifests are others.
            state = now;
        }
    }

    /// Every installed connector of the current state with its manifest, or with the reason why it has none. Of an
    /// older state, manifests may be gone.
    pub fn load<'s>(&'s self, state: &'s State) -> impl Iterator<Item = Loaded> + 's {
        state.pins().map(|(id, pin)| {
            let manifest = manifests::read(&*self.files, id, pin.manifest, self.limits.manifest_bytes);
            Loaded { id: id.clone(), manifest }
        })
    }

    /// The write ledger.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The audit trail.
    pub fn audit(&self) -> &AuditLog {
        &self.audit
    }

    /// What was found changed or removed in the logs when the store was opened. They go on all the same, with the
    /// lines that are whole: a person should be told.
    pub fn damage(&self) -> Vec<Refusal> {
        self.ledger.damage().into_iter().chain(self.audit.damage()).collect()
    }

    /// Sees to it that the lock file is the one of this state, which is in force, and durably so.
    fn put_back(&self, in_force: &State) -> Result<(), Refusal> {
        let text = lock_file::encode(in_force, &self.key)?;
        let stands = self.files.read(lock_file::NAME, text.len()).is_ok_and(|bytes| bytes == text.as_bytes());
        let placed = if stands { Ok(()) } else { place(&*self.files, lock_file::NAME, text.as_bytes()) };
        let durable = placed.and_then(|()| self.files.sync_folder(""));
        durable.map_err(|error| writing("the lock file", &error))
    }

    /// Whether a manifest is pinned now, and so durable, and its file is still itself.
    fn is_kept(&self, state: &State, hash: connector_core::json::Sha256, len: usize) -> bool {
        state
            .pins()
            .any(|(id, pin)| pin.manifest == hash && manifests::read(&*self.files, id, hash, len).is_ok())
    }
}

/// Lock files up to this size are read whatever the limit is now: a lower limit must not lock a host out.
const LOCK_FLOOR: usize = 64 << 20;

/// Removes what a crash left half written; gives whether a lock file was among it.
fn unfinished(files: &dyn Files) -> bool {
    let mut found = false;
    for name in [lock_file::NAME, ledger::FILE, audit::FILE] {
        let removed = files.remove(&format!("{name}{UNFINISHED}")).is_ok();
        found |= removed && name == lock_file::NAME;
    }
    found
}

/// Without a lock file there must be no sign that there ever was one.
fn nothing_lost(files: &dyn Files, seen: Option<u64>) -> Result<(), Refusal> {
    if let Some(seen) = seen.filter(|seen| *seen > 0) {
        let reason = format!("there is no lock file, and counter {seen} was seen: the store was emptied");
        return Err(Refusal::new(Code::StoreRolledBack, reason));
    }
    match manifests::any(files) {
        Ok(false) => Ok(()),
        Ok(true) => Err(lost()),
        Err(error) => Err(reading("the folder of the manifests", &error)),
    }
}

fn lost() -> Refusal {
    let reason = "there is no lock file, but there are manifests or records: it was removed";
    Refusal::new(Code::StoreTampered, reason)
}
