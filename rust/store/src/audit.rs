//! The audit trail on disk.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use connector_core::audit::{Event, Head, Record};
use connector_core::json::{Sha256, Value};
use connector_core::{Code, Refusal};

use crate::files::Files;
use crate::key::StoreKey;
use crate::lines::{Line, Seal, Sealer};
use crate::log::{Kind, Log};
use crate::state::hash;

pub(crate) const FILE: &str = "audit.log";
/// The outcome of the record of a write that is about to leave.
const STARTED: &str = "started";
const KIND: Kind = Kind { what: "the audit trail", damage: Code::AuditBroken };

/// When a record outlives a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Once the append has returned.
    Now,
    /// With the next one that is durable; a crash of the process alone loses nothing.
    Later,
}

/// What a check of the trail found in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// How many records were dropped to make room, all of them older than those that are kept.
    pub dropped: u64,
    /// How many records are kept.
    pub kept: u64,
    /// The head: what the host may keep for the next check.
    pub head: Sha256,
}

/// The trail of one store: the records of [`connector_core::audit`], chained by hash over all sessions. All of it
/// blocks on files.
pub struct AuditLog {
    log: Mutex<Log>,
}

impl AuditLog {
    /// Opens the trail; gives the plans of the writes that its records say were started, oldest first.
    pub(crate) fn open(
        files: Arc<dyn Files>,
        key: StoreKey,
        limit: usize,
        expected: bool,
    ) -> Result<(Self, Vec<Sha256>), Refusal> {
        let sealer = Sealer { key, seal: Seal::Hash, file: FILE };
        let mut started = Vec::new();
        let log = Log::open(files, sealer, KIND, limit, expected, &mut |record, _| {
            if record.get("outcome").and_then(Value::as_str) == Some(STARTED) {
                started.extend(hash(record, "object"));
            }
        })?;
        Ok((Self { log: Mutex::new(log) }, started))
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // A panic elsewhere leaves the log whole: what it remembers follows what is written.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a record and gives it back.
    ///
    /// # Errors
    /// `store.limit`, `store.io`, `store.read_only`, `store.full`; then nothing was recorded, and the next record
    /// takes this one's place.
    pub fn append(&self, event: Event, durability: Durability) -> Result<Record, Refusal> {
        let mut log = self.log();
        let record = Record::after(log.head(), event);
        let line = Line::sealed(&record.to_value(), record.head())?;
        if log.has_room(&line) {
            log.append(&line, durability == Durability::Now)?;
        } else {
            log.turn(|_, _| Ok(vec![line]))?;
        }
        Ok(record)
    }

    /// Makes every record so far outlive a loss of power.
    ///
    /// # Errors
    /// `store.io`, `store.read_only`, `store.full`.
    pub fn sync(&self) -> Result<(), Refusal> {
        self.log().sync()
    }

    /// The hash of the last record ever added, zeros when there was none.
    pub fn head(&self) -> Sha256 {
        self.log().head().hash
    }

    /// The records that are kept and whose hashes fit, oldest first.
    ///
    /// # Errors
    /// `store.io`; `store.version` when one is of a form that this version does not read.
    pub fn records(&self) -> Result<Vec<Record>, Refusal> {
        let mut records = Vec::new();
        self.log().reread(&mut |record, _| records.push(Record::from_value(record)))?;
        let records: Option<Vec<Record>> = records.into_iter().collect();
        records.ok_or_else(|| {
            let reason =
                "a record of the audit trail is of a form that this version does not read: update it";
            Refusal::new(Code::StoreVersion, reason)
        })
    }

    /// Reads the trail from disk and checks that no record was changed, removed or put in another place: neither among
    /// those that are kept, nor between them and those that were dropped. With the head that the host kept (of any
    /// time, as long as its record is not dropped) a trail that was cut off or written anew is found too.
    ///
    /// # Errors
    /// `audit.broken`, naming the place; `store.io`.
    pub fn verify(&self, kept: Option<Sha256>) -> Result<Verified, Refusal> {
        let mut log = self.log();
        let mut count = 0;
        let mut seen = kept.is_none_or(|kept| kept == Head::default().hash);
        let scan = log.reread(&mut |_, place| {
            count += 1;
            seen |= kept == Some(place.hash);
        })?;
        if let Some(broken) = scan.broken {
            return Err(log.refuse(broken));
        }
        if !seen && kept != Some(scan.dropped.hash) {
            let (from, to) = (scan.dropped.sequence.saturating_add(1), scan.head.sequence);
            let reason = format!(
                "the audit trail: the record that the host saw last is not among those kept ({from} to {to}): \
                 it was removed or changed, or has long been dropped"
            );
            return Err(Refusal::new(Code::AuditBroken, reason));
        }
        Ok(Verified { dropped: scan.dropped.sequence, kept: count, head: scan.head.hash })
    }

    pub(crate) fn damage(&self) -> Option<Refusal> {
        self.log().damage()
    }
}
