//! The stream of one connection, and the mark that tells whether a request began to leave.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use crate::socket::Socket;

const QUIET: u8 = 0;
const BEGUN: u8 = 1;
const SEALED: u8 = 2;

/// What the current request of a connection came to, shared with the call that waits for it.
///
/// That a byte was handed to the connection is set *before* the first write, and can be sealed: a call that
/// gives up seals the mark and learns for good whether anything left, also when the connection lives on
/// another thread.
///
/// It also counts what comes back, framing included, and ends the stream where that is more than an answer within
/// its caps can need: interim answers without end, chunks that are all framing.
#[derive(Clone, Default)]
pub(crate) struct SentMark(Arc<Marks>);

#[derive(Default)]
struct Marks {
    sent: AtomicU8,
    heard: AtomicUsize,
    lines: AtomicUsize,
    allowed: AtomicUsize,
    flooded: AtomicBool,
}

impl SentMark {
    /// Makes ready for the next request on a kept connection.
    pub(crate) fn reset(&self) {
        self.0.sent.store(QUIET, Ordering::SeqCst);
        self.0.heard.store(0, Ordering::SeqCst);
        self.0.lines.store(0, Ordering::SeqCst);
        self.0.allowed.store(0, Ordering::SeqCst);
        self.0.flooded.store(false, Ordering::SeqCst);
    }

    /// Lets this many further bytes of the answer come.
    pub(crate) fn allow(&self, bytes: usize) {
        let heard = self.0.heard.load(Ordering::SeqCst);
        self.0.allowed.store(heard.saturating_add(bytes), Ordering::SeqCst);
    }

    /// Whether more came than was allowed at its time, which ended the stream.
    pub(crate) fn flooded(&self) -> bool {
        self.0.flooded.load(Ordering::SeqCst)
    }

    /// Whether anything may have been sent; if not, nothing will be.
    pub(crate) fn seal(&self) -> bool {
        match self.0.sent.compare_exchange(QUIET, SEALED, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => false,
            Err(state) => state == BEGUN,
        }
    }

    /// Whether any byte of an answer came.
    pub(crate) fn heard(&self) -> bool {
        self.0.heard.load(Ordering::SeqCst) > 0
    }

    /// Whether all that came would be a head within so many bytes and fields. hyper refuses one that fills its room.
    pub(crate) fn is_within(&self, bytes: usize, fields: usize) -> bool {
        // The status line and the blank line are none.
        let lines = self.0.lines.load(Ordering::SeqCst);
        self.0.heard.load(Ordering::SeqCst) < bytes && lines <= fields + 2
    }

    /// Counts bytes that came.
    fn hear(&self, came: &[u8]) -> io::Result<()> {
        let lines = came.split(|byte| *byte == b'\n').skip(1).count();
        self.0.lines.fetch_add(lines, Ordering::SeqCst);
        let bytes = came.len();
        let heard = self.0.heard.fetch_add(bytes, Ordering::SeqCst).saturating_add(bytes);
        if heard > self.0.allowed.load(Ordering::SeqCst) {
            self.0.flooded.store(true, Ordering::SeqCst);
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn begin(&self) -> io::Result<()> {
        match self.0.sent.compare_exchange(QUIET, BEGUN, Ordering::SeqCst, Ordering::SeqCst) {
            Err(SEALED) => Err(io::ErrorKind::ConnectionAborted.into()),
            _ => Ok(()),
        }
    }
}

enum Stream {
    Plain(Socket),
    Tls(Box<TlsStream<Socket>>),
}

/// One connection's byte stream, after its handshake.
pub(crate) struct Wire {
    stream: Stream,
    mark: SentMark,
}

impl Wire {
    pub(crate) fn plain(stream: Socket) -> Self {
        Self { stream: Stream::Plain(stream), mark: SentMark::default() }
    }

    pub(crate) fn tls(stream: TlsStream<Socket>) -> Self {
        Self { stream: Stream::Tls(Box::new(stream)), mark: SentMark::default() }
    }

    pub(crate) fn mark(&self) -> SentMark {
        self.mark.clone()
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_read(cx, buf),
        };
        if let Some(came) = buf.filled().get(before..).filter(|came| !came.is_empty()) {
            self.mark.hear(came)?;
        }
        read
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.mark.begin()?;
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.mark.begin()?;
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Plain(stream) => stream.is_write_vectored(),
            Stream::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_mark_lets_nothing_out() {
        let mark = SentMark::default();
        assert!(!mark.seal());
        assert!(mark.begin().is_err());
        assert!(!mark.seal(), "sealing twice tells the same");
    }

    #[test]
    fn a_begun_mark_stays_begun() {
        let mark = SentMark::default();
        mark.begin().unwrap();
        mark.begin().unwrap();
        assert!(mark.seal());
        assert!(mark.seal());
        mark.reset();
        assert!(!mark.seal());
    }

    #[test]
    fn an_answer_may_take_what_it_was_allowed() {
        let mark = SentMark::default();
        mark.allow(10);
        mark.hear(&[0; 10]).unwrap();
        mark.allow(5);
        mark.hear(&[0; 5]).unwrap();
        assert!(!mark.flooded() && mark.heard());
        assert!(mark.hear(&[0]).is_err());
        assert!(mark.flooded());
        mark.reset();
        assert!(!mark.flooded() && !mark.heard());
    }
}
