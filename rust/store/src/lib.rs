//! The store: the one place of Connector Core that touches files.
//!
//! ```text
//! folder/
//!   lock.json          what is installed: pins, grants, owners, tombstones, chain, counter; canonical, authenticated
//!   manifests/SHA256   the exact bytes of the pinned manifests, named by their hash
//!   ledger.log         the writes: started before the first byte, ended when the answer is known
//!   audit.log          the audit trail
//!   process.lock       empty; locked while a process has the store open
//! ```
//!
//! **Changes.** [`Store::commit`] takes a [`Transaction`]: the manifests are made durable first, then the lock file
//! replaces the old one in one step (write, fsync, rename, fsync of the folder), then the new [`State`] is visible, then
//! manifests that nothing names any more are removed. A crash at any point leaves the old state or the new one.
//!
//! **Who may write.** One process at a time: the second waits a little and is told `store.locked`. The lock is the
//! operating system's, so it goes with the process.
//!
//! **What an attacker with the folder can do.** Nothing unnoticed with `lock.json`: it carries an HMAC under the host's
//! [`StoreKey`] and a counter that the host may keep too. A changed manifest no longer fits its pin and is refused alone.
//! Lines of the ledger are chained under the key, lines of the audit trail by their hashes, against a head that the
//! host may keep. Whoever can cut the newest lines off a log can do so unseen by a host that keeps no head.
//! Use one key for each store: two stores under one key could be swapped.
//!
//! Secrets never come here: credentials live with the host.

mod audit;
mod disk;
mod fault;
mod files;
mod host_file;
mod key;
mod ledger;
mod limits;
mod lines;
mod lock_file;
mod log;
mod manifests;
mod state;
mod store;
mod transaction;

pub use audit::{AuditLog, Durability, Verified};
pub use host_file::HostFile;
pub use key::StoreKey;
pub use ledger::{Ledger, Outcome, Write};
pub use limits::StoreLimits;
pub use state::{GrantRecord, Owner, Pin, Provenance, State, Tombstone};
pub use store::{Loaded, Store, StoreOptions};
pub use transaction::Transaction;

#[cfg(test)]
mod tests;
