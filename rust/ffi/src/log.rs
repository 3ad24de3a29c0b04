//! What happens, told to the host as it happens.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Builder;

use connector_core::audit::Event;
use connector_runtime::Observer;

use crate::audit::AuditEvent;
use crate::credentials::HostError;
use crate::error::ConnectorError;

/// Events that wait for a slow host; more are left out, and stand in the audit trail all the same.
const WAITING: usize = 1_024;

/// Hears of every event of the audit trail as it happens: for logs and for what the person sees.
///
/// It is called on one thread of the core, one event after the other, and holds up nothing but the next event. What it
/// throws is ignored. When more than 1,024 events wait, further ones are left out here; `audit` has them all.
///
/// Kotlin: `object : LogSink { override fun log(event: AuditEvent) { Log.i("connectors", "${event.subject} ${event.outcome}") } }`
///
/// Swift: `final class Log: LogSink { func log(event: AuditEvent) throws { logger.info("\(event.subject) \(event.outcome)") } }`
#[uniffi::export(foreign)]
pub trait LogSink: Send + Sync {
    /// One event. It holds no value of an argument and no secret.
    fn log(&self, event: AuditEvent) -> Result<(), HostError>;
}

/// Leads events to the host's sink until it is dropped.
pub(crate) fn observer(sink: Arc<dyn LogSink>) -> Result<Observer, ConnectorError> {
    let (events, waiting) = sync_channel::<Event>(WAITING);
    Builder::new()
        .name("connector-log".to_owned())
        .spawn(move || deliver(&sink, &waiting))
        .map_err(|_| ConnectorError::internal("the device gives no threads"))?;
    Ok(Arc::new(move |event| {
        let _left_out_when_full = events.try_send(event.clone());
    }))
}

fn deliver(sink: &Arc<dyn LogSink>, waiting: &Receiver<Event>) {
    for event in waiting {
        let _its_own_matter = sink.log(AuditEvent::of(event));
    }
}
