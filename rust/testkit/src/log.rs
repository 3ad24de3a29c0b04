//! What a server saw, in order.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::Request;

/// One thing that happened on one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A connection was accepted from this address.
    Opened(SocketAddr),
    /// The TLS handshake was done.
    Secured {
        /// The server name that the client asked for.
        name: Option<String>,
        /// Whether the client showed a ticket of an earlier session.
        resumed: bool,
    },
    /// The TLS handshake failed.
    HandshakeFailed,
    /// These bytes came that belong to no whole request.
    Bytes(Vec<u8>),
    /// A whole request came, exactly these bytes.
    Request(Request),
    /// The peer closed its side, or reset the connection.
    PeerClosed,
    /// The script is over, or could not go on since the peer was gone.
    Done,
}

/// An event, with the number of its connection (from 0) and its time.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Connections are counted from 0 in the order in which they were accepted.
    pub connection: usize,
    /// When.
    pub at: Instant,
    /// What.
    pub event: Event,
}

#[derive(Default)]
struct Inner {
    entries: Mutex<Vec<Entry>>,
    changed: Notify,
}

/// The log of one server. Clones share it.
#[derive(Clone, Default)]
pub struct Log(Arc<Inner>);

impl Log {
    pub(crate) fn add(&self, connection: usize, event: Event) {
        let entry = Entry { connection, at: Instant::now(), event };
        self.0.entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        self.0.changed.notify_waiters();
    }

    /// Everything so far.
    pub fn entries(&self) -> Vec<Entry> {
        self.0.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The whole requests so far, in order, over all connections.
    pub fn requests(&self) -> Vec<Request> {
        let request = |entry: Entry| match entry.event {
            Event::Request(request) => Some(request),
            _ => None,
        };
        self.entries().into_iter().filter_map(request).collect()
    }

    /// How many connections were accepted.
    pub fn connections(&self) -> usize {
        self.entries().iter().filter(|entry| matches!(entry.event, Event::Opened(_))).count()
    }

    /// Every byte that came, of whole requests or not.
    pub fn received(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for entry in self.entries() {
            match entry.event {
                Event::Request(request) => bytes.extend(request.raw),
                Event::Bytes(part) => bytes.extend(part),
                _ => {}
            }
        }
        bytes
    }

    /// Waits until an entry fits, at most `limit`; the entry, or [`None`] when the time is over.
    pub async fn wait(&self, limit: Duration, fits: impl Fn(&Entry) -> bool) -> Option<Entry> {
        let found = async {
            loop {
                let changed = self.0.changed.notified();
                tokio::pin!(changed);
                // Registered before looking, so that no change is missed.
                changed.as_mut().enable();
                if let Some(entry) = self.entries().into_iter().find(&fits) {
                    return entry;
                }
                changed.await;
            }
        };
        tokio::time::timeout(limit, found).await.ok()
    }
}
