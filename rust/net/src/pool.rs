//! Connections of one client: each carries one request at a time, and is kept for a while between them.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use connector_core::origin::Reach;
use http_body_util::Full;
use hyper::client::conn::http1::{self, Builder, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout};
use url::{Origin, Url};

use crate::wire::{SentMark, Wire};

/// How long a connection is kept without use.
const IDLE: Duration = Duration::from_secs(30);

/// How old a kept connection may be for a request that must not be sent twice. Servers keep one for five
/// seconds or more; a younger one is not about to be closed under a write.
const IDLE_FOR_WRITES: Duration = Duration::from_secs(2);

/// How long a kept connection has to show that it is free. One is not when the server answered before it had
/// read the request, and never reads the rest.
const SETTLE: Duration = Duration::from_millis(20);

/// Connections kept at most, over all origins of the client.
const KEPT: usize = 64;

/// What the read buffer of a connection holds at most besides a head.
pub(crate) const BUFFER: usize = 64 << 10;

/// What a connection was made for; another request may use it only if all of this is the same.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key {
    origin: Origin,
    reach: Reach,
    header_bytes: usize,
}

impl Key {
    pub(crate) fn new(url: &Url, reach: Reach, header_bytes: usize) -> Self {
        Self { origin: url.origin(), reach, header_bytes }
    }
}

/// One open connection. It works only inside [`drive`](Driver::drive), in the task of the call that it serves: no task
/// of its own can outlive that call, and dropping it closes the socket at once, whatever is under way.
pub(crate) struct Connection {
    pub(crate) sender: SendRequest<Full<Bytes>>,
    pub(crate) driver: Driver,
    pub(crate) mark: SentMark,
    /// Whether it carried a request before.
    pub(crate) reused: bool,
}

/// What moves the bytes of a connection; nothing when it ended.
pub(crate) struct Driver(Option<http1::Connection<TokioIo<Wire>, Full<Bytes>>>);

impl Driver {
    /// Waits for a step of a request while the connection works for it.
    pub(crate) async fn drive<T>(&mut self, step: impl Future<Output = T>) -> T {
        let mut step = pin!(step);
        poll_fn(|cx| {
            // First it hands over what there is to do, then it takes what was done.
            if let Poll::Ready(done) = step.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            self.work(cx);
            step.as_mut().poll(cx)
        })
        .await
    }

    /// Does what can be done without waiting: reads the end of an answer, or that the server closed.
    pub(crate) async fn settle(&mut self) {
        poll_fn(|cx| {
            self.work(cx);
            Poll::Ready(())
        })
        .await;
    }

    fn work(&mut self, cx: &mut Context<'_>) {
        // What went wrong is told by the request's own future.
        if self.0.as_mut().is_some_and(|connection| Pin::new(connection).poll(cx).is_ready()) {
            self.0 = None;
        }
    }
}

impl Connection {
    /// Begins HTTP/1.1 on a fresh stream. Heads over `header_bytes` (status line and fields) are refused
    /// while they are read; the buffer never holds more than that and 64 KiB.
    pub(crate) async fn open(wire: Wire, header_bytes: usize) -> hyper::Result<Self> {
        let mark = wire.mark();
        // As the preview shows the names.
        let (sender, connection) = Builder::new()
            .title_case_headers(true)
            .max_header_size(header_bytes)
            .max_buf_size(header_bytes.saturating_add(BUFFER))
            .handshake(TokioIo::new(wire))
            .await?;
        Ok(Self { sender, driver: Driver(Some(connection)), mark, reused: false })
    }
}

struct Idle {
    key: Key,
    connection: Connection,
    since: Instant,
}

#[derive(Default)]
struct Inner {
    idle: Vec<Idle>,
    reaper: Option<AbortHandle>,
}

/// The kept connections of one client. Dropping it closes them all.
#[derive(Default)]
pub(crate) struct Pool(Arc<Mutex<Inner>>);

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(reaper) = lock(&self.0).reaper.take() {
            reaper.abort();
        }
    }
}

impl Pool {
    /// The youngest open connection kept under the key; for a write, only a very young one.
    pub(crate) async fn take(&self, key: &Key, write: bool) -> Option<Connection> {
        let oldest = if write { IDLE_FOR_WRITES } else { IDLE };
        loop {
            let mut idle = self.pop(key)?;
            if idle.since.elapsed() > oldest {
                continue;
            }
            let Connection { sender, driver, mark, .. } = &mut idle.connection;
            driver.settle().await;
            if sender.is_ready() || matches!(timeout(SETTLE, driver.drive(sender.ready())).await, Ok(Ok(())))
            {
                mark.reset();
                return Some(idle.connection);
            }
        }
    }

    fn pop(&self, key: &Key) -> Option<Idle> {
        let mut inner = lock(&self.0);
        let found = inner.idle.iter().rposition(|idle| idle.key == *key)?;
        Some(inner.idle.remove(found))
    }

    /// Keeps a connection whose answer was read to its end. One that the server closes later is found out when it
    /// is taken.
    pub(crate) async fn keep(&self, key: Key, mut connection: Connection) {
        connection.driver.settle().await;
        if connection.sender.is_closed() {
            return;
        }
        connection.reused = true;
        let mut inner = lock(&self.0);
        if inner.idle.len() >= KEPT {
            inner.idle.remove(0);
        }
        inner.idle.push(Idle { key, connection, since: Instant::now() });
        if inner.reaper.is_none() {
            inner.reaper = Some(tokio::spawn(reap(Arc::downgrade(&self.0))).abort_handle());
        }
    }
}

/// Closes connections when their time is over, and ends when none is left.
async fn reap(pool: Weak<Mutex<Inner>>) {
    loop {
        let next = {
            let Some(pool) = pool.upgrade() else { return };
            let mut inner = lock(&pool);
            inner.idle.retain(|idle| idle.since.elapsed() < IDLE);
            let Some(oldest) = inner.idle.iter().map(|idle| idle.since).min() else {
                inner.reaper = None;
                return;
            };
            oldest + IDLE
        };
        sleep_until(next).await;
    }
}

fn lock(inner: &Mutex<Inner>) -> std::sync::MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}
