//! What was done: the audit trail and the writes of the store.

use connector_core::Refusal;
use connector_core::audit::{Event, Record};
use connector_core::json::Sha256;

use crate::error::ConnectorError;
use crate::runtime::ConnectorRuntime;

/// One deed. No value and no secret stands in it.
#[derive(Debug, Clone, uniffi::Record)]
pub struct AuditEvent {
    /// Milliseconds since 1970, by the clock of the device.
    pub time_ms: u64,
    /// `install`, `review`, `grant`, `remove`, `started`, `call`.
    pub deed: String,
    /// The connector, or the full name of a tool.
    pub subject: String,
    /// `ok`, `started`, or a stable code.
    pub outcome: String,
    /// The HTTP status, when there was an answer.
    pub status: Option<u16>,
    /// Bytes of the request body.
    pub sent_bytes: u64,
    /// Bytes of the response body on the wire.
    pub received_bytes: u64,
    /// How long it took.
    pub duration_ms: u64,
}

impl AuditEvent {
    pub(crate) fn of(event: Event) -> Self {
        Self {
            time_ms: event.time_ms,
            deed: event.deed.as_str().to_owned(),
            subject: event.subject,
            outcome: event.outcome.into_owned(),
            status: event.status,
            sent_bytes: event.sent_bytes,
            received_bytes: event.received_bytes,
            duration_ms: event.duration_ms,
        }
    }
}

/// An event with its place in the trail.
#[derive(Debug, Clone, uniffi::Record)]
pub struct AuditRecord {
    /// Counts from 1 without gaps.
    pub sequence: u64,
    /// What was done.
    pub event: AuditEvent,
    /// The hash of this record, which covers the one before.
    pub hash: String,
}

/// The records that are kept.
#[derive(Debug, Clone, uniffi::Record)]
pub struct AuditTrail {
    /// Oldest first.
    pub records: Vec<AuditRecord>,
    /// The hash of the last record. An application that keeps it elsewhere finds out by `verifyAudit` when records were
    /// cut off.
    pub head: String,
}

/// A write of which it is not known whether it happened: the application ended in the middle of it.
#[derive(Debug, Clone, uniffi::Record)]
pub struct InterruptedWrite {
    /// The full name of the tool.
    pub tool: String,
    /// When it began, in milliseconds since 1970.
    pub time_ms: u64,
}

/// Something that was found to be wrong with a store.
#[derive(Debug, Clone, uniffi::Record)]
pub struct Damage {
    /// The stable code.
    pub code: String,
    /// What it is, one sentence.
    pub reason: String,
}

#[uniffi::export]
impl ConnectorRuntime {
    /// The audit trail.
    pub fn audit(&self) -> Result<AuditTrail, ConnectorError> {
        let (records, head) = self.session()?.audit()?;
        let record = |Record { sequence, event, hash, .. }| AuditRecord {
            sequence,
            event: AuditEvent::of(event),
            hash: hash.to_string(),
        };
        Ok(AuditTrail { records: records.into_iter().map(record).collect(), head: head.to_string() })
    }

    /// Checks that no kept record was changed, removed or moved; with a head that was kept also that none was cut off. An
    /// error `audit.broken` names the place. Gives the head.
    #[uniffi::method(default(head = None))]
    pub fn verify_audit(&self, head: Option<String>) -> Result<String, ConnectorError> {
        let kept = match head {
            None => None,
            Some(text) => {
                let hash = Sha256::parse(&text);
                Some(hash.ok_or_else(|| ConnectorError::host("a head is 64 lower-case hexadecimal digits"))?)
            }
        };
        Ok(self.session()?.verify_audit(kept)?.head.to_string())
    }

    /// The writes that an earlier run of the application began and did not end. A person should be told.
    pub fn interrupted_writes(&self) -> Result<Vec<InterruptedWrite>, ConnectorError> {
        let writes =
            self.session()?.writes()?.into_iter().filter(connector_runtime::store::Write::is_interrupted);
        Ok(writes
            .map(|write| InterruptedWrite { tool: write.tool.to_string(), time_ms: write.time_ms })
            .collect())
    }

    /// What a person should be told about the logs of the store: lines that were changed or removed, records that could
    /// not be written. Empty when all is well.
    pub fn damage(&self) -> Result<Vec<Damage>, ConnectorError> {
        let damage = self.session()?.damage()?.into_iter();
        Ok(damage
            .map(|Refusal { code, reason, .. }| Damage { code: code.as_str().to_owned(), reason })
            .collect())
    }

    /// The counter of the store, for `StoreLocation.seenCounter` of the next run; absent in memory.
    pub fn counter(&self) -> Result<Option<u64>, ConnectorError> {
        Ok(self.session()?.counter()?)
    }
}
