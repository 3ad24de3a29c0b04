//! The server: accepts on loopback, runs the script of each connection, writes down what it saw.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::HandshakeKind;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::log::{Event, Log};
use crate::script::{Script, Step};
use crate::socket::Socket;
use crate::{Identity, Request};

/// Makes the bytes of an answer (status line, header fields, body) from a request.
pub trait Handler: Fn(&Request) -> Vec<u8> + Send + Sync + 'static {}

impl<F: Fn(&Request) -> Vec<u8> + Send + Sync + 'static> Handler for F {}

/// A server on a loopback port of its own. Dropping it closes the port and every connection.
pub struct Server {
    address: SocketAddr,
    log: Log,
    accepting: AbortHandle,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Server {
    /// A plain server that runs the same script on every connection.
    pub async fn plain(script: Script) -> io::Result<Self> {
        Self::start("127.0.0.1:0", None, vec![script]).await
    }

    /// A plain server with a script for each connection in turn; the last serves all further ones.
    pub async fn plain_each(scripts: Vec<Script>) -> io::Result<Self> {
        Self::start("127.0.0.1:0", None, scripts).await
    }

    /// A TLS server (1.2 and 1.3) with this identity.
    pub async fn tls(identity: &Identity, script: Script) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let acceptor = identity.acceptor(rustls::ALL_VERSIONS)?;
        Ok(Self::start("127.0.0.1:0", Some(acceptor), vec![script]).await?)
    }

    /// A plain server that answers every request, one after the other on each connection.
    pub async fn answering(handler: impl Handler) -> io::Result<Self> {
        Self::plain(answering(handler)).await
    }

    /// The same under TLS.
    pub async fn answering_tls(
        identity: &Identity,
        handler: impl Handler,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Self::tls(identity, answering(handler)).await
    }

    /// A TLS server with a script for each connection in turn; the last serves all further ones.
    pub async fn tls_each(
        identity: &Identity,
        scripts: Vec<Script>,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let acceptor = identity.acceptor(rustls::ALL_VERSIONS)?;
        Ok(Self::start("127.0.0.1:0", Some(acceptor), scripts).await?)
    }

    /// A plain server at a given loopback address, such as `[::1]:0`.
    pub async fn plain_at(address: &str, script: Script) -> io::Result<Self> {
        Self::start(address, None, vec![script]).await
    }

    async fn start(address: &str, tls: Option<TlsAcceptor>, scripts: Vec<Script>) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let log = Log::default();
        let accepting = tokio::spawn(accept(listener, tls, scripts, log.clone())).abort_handle();
        Ok(Self { address, log, accepting })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it saw so far; a clone outlives the server.
    pub fn log(&self) -> &Log {
        &self.log
    }
}

fn answering(handler: impl Handler) -> Script {
    vec![Step::ReadRequest, Step::Answer(Arc::new(handler)), Step::Restart]
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, scripts: Vec<Script>, log: Log) {
    let mut connections = JoinSet::new();
    let mut number = 0;
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, peer)) = accepted else { continue };
                let script = scripts.get(number).or(scripts.last()).cloned().unwrap_or_default();
                log.add(number, Event::Opened(peer));
                connections.spawn(serve(stream, tls.clone(), script, Watch { log: log.clone(), number }));
                number += 1;
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// The log as one connection writes it.
struct Watch {
    log: Log,
    number: usize,
}

impl Watch {
    fn add(&self, event: Event) {
        self.log.add(self.number, event);
    }
}

async fn serve(stream: TcpStream, tls: Option<TlsAcceptor>, script: Script, watch: Watch) {
    // Without it only latency is lost.
    drop(stream.set_nodelay(true));
    match tls {
        None => {
            let mut peer = Peer { stream, buffer: Vec::new(), watch };
            if run(&mut peer, &script).await {
                drop(peer.stream.set_zero_linger());
            }
            peer.watch.add(Event::Done);
        }
        Some(acceptor) => {
            let Ok(stream) = acceptor.accept(Socket(stream)).await else {
                return watch.add(Event::HandshakeFailed);
            };
            let session = stream.get_ref().1;
            watch.add(Event::Secured {
                name: session.server_name().map(str::to_owned),
                resumed: session.handshake_kind() == Some(HandshakeKind::Resumed),
            });
            let mut peer = Peer { stream, buffer: Vec::new(), watch };
            if run(&mut peer, &script).await {
                drop(peer.stream.get_ref().0.0.set_zero_linger());
            } else {
                // A clean end; the peer may be gone.
                drop(peer.stream.shutdown().await);
            }
            peer.watch.add(Event::Done);
        }
    }
}

/// Runs a script to its end, or until the peer is gone; whether the connection is to be reset.
async fn run<S: AsyncRead + AsyncWrite + Unpin>(peer: &mut Peer<S>, script: &[Step]) -> bool {
    loop {
        let mut restart = false;
        let mut last = None;
        for step in script {
            let went = match step {
                Step::ReadRequest => peer.request().await.map(|request| last = Some(request)),
                Step::ReadSome => {
                    let came = if peer.buffer.is_empty() { peer.read().await } else { Some(()) };
                    peer.flush_log();
                    came
                }
                Step::Send(bytes) => peer.send(bytes).await,
                Step::Repeat(bytes, times) => peer.repeat(bytes, *times).await,
                Step::Drip(bytes, every) => {
                    let mut went = Some(());
                    for byte in bytes {
                        tokio::time::sleep(*every).await;
                        went = went.and(peer.send(&[*byte]).await);
                    }
                    went
                }
                Step::Pause(time) => {
                    tokio::time::sleep(*time).await;
                    Some(())
                }
                Step::AwaitClose => {
                    while peer.read().await.is_some() {}
                    peer.flush_log();
                    Some(())
                }
                Step::Close => peer.stream.shutdown().await.ok(),
                Step::Reset => return true,
                Step::Restart => {
                    restart = true;
                    break;
                }
                Step::Answer(answer) => match &last {
                    Some(request) => peer.send(&answer(request)).await,
                    None => Some(()),
                },
            };
            if went.is_none() {
                peer.flush_log();
                return false;
            }
        }
        if !restart {
            peer.flush_log();
            return false;
        }
    }
}

struct Peer<S> {
    stream: S,
    buffer: Vec<u8>,
    watch: Watch,
}

/// Each step gives [`None`] when the peer is gone.
impl<S: AsyncRead + AsyncWrite + Unpin> Peer<S> {
    async fn read(&mut self) -> Option<()> {
        self.buffer.reserve(16_384);
        if let Ok(1..) = self.stream.read_buf(&mut self.buffer).await {
            return Some(());
        }
        self.watch.add(Event::PeerClosed);
        None
    }

    async fn request(&mut self) -> Option<Request> {
        loop {
            if let Some(request) = Request::take(&mut self.buffer) {
                self.watch.add(Event::Request(request.clone()));
                return Some(request);
            }
            self.read().await?;
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> Option<()> {
        self.stream.write_all(bytes).await.ok()?;
        self.stream.flush().await.ok()
    }

    async fn repeat(&mut self, bytes: &[u8], times: Option<u64>) -> Option<()> {
        let mut left = times;
        while left != Some(0) {
            self.send(bytes).await?;
            left = left.map(|left| left - 1);
        }
        Some(())
    }

    fn flush_log(&mut self) {
        if !self.buffer.is_empty() {
            self.watch.add(Event::Bytes(std::mem::take(&mut self.buffer)));
        }
    }
}
