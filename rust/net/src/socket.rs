//! A TCP socket that never raises a signal.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// What small buffers are gathered into, so that a head and its body leave in one packet.
const GATHERED: usize = 4096;

/// A socket whose every write is a `send`, which std makes without SIGPIPE. A vectored write would be `writev`, which raises
/// it when the peer is gone, and that ends a process whose host does not ignore it, as Swift's does not.
pub(crate) struct Socket(pub(crate) TcpStream);

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut waiting = bufs.iter().filter(|buf| !buf.is_empty()).peekable();
        let Some(first) = waiting.next() else { return Poll::Ready(Ok(0)) };
        if first.len() >= GATHERED || waiting.peek().is_none() {
            return Pin::new(&mut self.0).poll_write(cx, first);
        }
        let mut room = [0; GATHERED];
        let mut filled = 0;
        for (place, byte) in room.iter_mut().zip(first.iter().chain(waiting.flat_map(|buf| buf.iter()))) {
            *place = *byte;
            filled += 1;
        }
        Pin::new(&mut self.0).poll_write(cx, room.get(..filled).unwrap_or_default())
    }

    /// hyper keeps a body apart from its head then, and goes on reading while a large one waits.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn what_is_gathered_arrives_in_order() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut near = Socket(TcpStream::connect(address).await.unwrap());
        let (mut far, _) = listener.accept().await.unwrap();
        let long = vec![b'l'; 3 * GATHERED];
        let parts: [&[u8]; 5] = [b"head", b"", b"body", &long, b"end"];
        let whole = parts.concat();
        let mut sent = 0;
        while sent < whole.len() {
            let mut slices = parts.map(IoSlice::new);
            let mut left = slices.as_mut_slice();
            IoSlice::advance_slices(&mut left, sent);
            sent += near.write_vectored(left).await.unwrap();
        }
        drop(near);
        let mut came = Vec::new();
        far.read_to_end(&mut came).await.unwrap();
        assert_eq!(came, whole);
    }
}
