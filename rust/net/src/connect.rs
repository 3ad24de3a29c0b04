//! Making a connection: resolve, judge, connect, shake hands. No other place opens a socket.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use connector_core::origin::{Reach, is_local, judge};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use crate::error::{ConnectFailure, Failure, Forbidden, ResolveError, Stage, TlsFailure, Unsendable};
use crate::progress::Progress;
use crate::resolve::Resolve;
use crate::socket::Socket;
use crate::tls::{self, Trust};
use crate::wire::Wire;

/// Addresses that one connection tries at most.
const ADDRESSES: usize = 8;

/// How long an address has before the next is tried beside it (RFC 8305 section 5).
const STAGGER: Duration = Duration::from_millis(250);

/// Makes the connections of one client.
pub(crate) struct Connector {
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) trust: Trust,
    pub(crate) tls: OnceLock<TlsConnector>,
    #[cfg(feature = "test-hooks")]
    pub(crate) map: std::collections::HashMap<SocketAddr, SocketAddr>,
    #[cfg(feature = "test-hooks")]
    pub(crate) elsewhere: Option<SocketAddr>,
}

impl Connector {
    /// A connection to an allowed address of the URL's origin, `limit` being the time for TCP and TLS
    /// together; the lookup is bounded by the deadline of the call alone.
    pub(crate) async fn connect(
        &self,
        url: &Url,
        reach: Reach,
        limit: Duration,
        progress: &Progress,
    ) -> Result<Wire, Failure> {
        let addresses = self.addresses(url, reach, progress).await?;
        progress.stage(Stage::Connect);
        match timeout(limit, self.handshake(url, addresses)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::Connect(ConnectFailure::TimedOut)),
        }
    }

    /// The addresses that may be connected to, in the order of the attempts. Names and literal hosts pass
    /// the same guard, here and nowhere else.
    async fn addresses(
        &self,
        url: &Url,
        reach: Reach,
        progress: &Progress,
    ) -> Result<Vec<SocketAddr>, Failure> {
        let port = url.port_or_known_default().ok_or(Failure::Request(Unsendable::Url))?;
        let host = url.host().ok_or(Failure::Request(Unsendable::Url))?;
        let literal = match host {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
        };
        let found = match (literal, host) {
            (Some(address), _) => vec![SocketAddr::new(address, port)],
            (None, Host::Domain(name)) => {
                progress.stage(Stage::Resolve);
                self.resolver.resolve(name, port).await?
            }
            (None, _) => Vec::new(),
        };

        let must_be_local = literal.is_some() || url.scheme() == "http";
        let mut refused = None;
        let mut allowed = Vec::new();
        for mut address in found {
            match permit(address.ip(), reach, must_be_local) {
                Ok(()) => {
                    address.set_port(port);
                    allowed.push(address);
                }
                Err(reason) => refused = refused.or(Some(reason)),
            }
        }
        match refused {
            Some(reason) if allowed.is_empty() => Err(Failure::Address(reason)),
            None if allowed.is_empty() => Err(Failure::Resolve(ResolveError::NotFound)),
            _ => Ok(interleave(allowed)),
        }
    }

    async fn handshake(&self, url: &Url, addresses: Vec<SocketAddr>) -> Result<Wire, Failure> {
        #[cfg(feature = "test-hooks")]
        let addresses: Vec<_> = addresses
            .into_iter()
            .map(|address| self.map.get(&address).copied().or(self.elsewhere).unwrap_or(address))
            .collect();

        let stream = race(addresses).await.map_err(Failure::Connect)?;
        // Without it only latency is lost.
        drop(stream.set_nodelay(true));
        let stream = Socket(stream);
        if url.scheme() != "https" {
            return Ok(Wire::plain(stream));
        }
        let name = match url.host() {
            Some(Host::Domain(name)) => {
                ServerName::try_from(name.to_owned()).map_err(|_| Failure::Request(Unsendable::Url))?
            }
            Some(Host::Ipv4(address)) => ServerName::from(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => ServerName::from(IpAddr::V6(address)),
            None => return Err(Failure::Request(Unsendable::Url)),
        };
        match self.tls().map_err(Failure::Tls)?.connect(name, stream).await {
            Ok(stream) => Ok(Wire::tls(stream)),
            Err(error) => Err(Failure::Tls(tls::failure(&error))),
        }
    }

    fn tls(&self) -> Result<&TlsConnector, TlsFailure> {
        if let Some(tls) = self.tls.get() {
            return Ok(tls);
        }
        let made = self.trust.connector()?;
        Ok(self.tls.get_or_init(|| made))
    }
}

/// Whether an address may be connected to. `http` and literal hosts are for local addresses alone, since a
/// public origin is a name that a certificate can vouch for.
fn permit(address: IpAddr, reach: Reach, must_be_local: bool) -> Result<(), Forbidden> {
    judge(address, reach).map_err(Forbidden::Denied)?;
    if must_be_local && !is_local(address) {
        return Err(Forbidden::Public);
    }
    Ok(())
}

/// The families in turn, beginning with that of the first (RFC 8305 section 4), and not too many.
fn interleave(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v4 = addresses.first().is_some_and(SocketAddr::is_ipv4);
    let (first, second): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv4() == first_is_v4);
    let mut second = second.into_iter();
    let mut mixed = Vec::new();
    for address in first {
        mixed.push(address);
        mixed.extend(second.next());
    }
    mixed.extend(second);
    mixed.truncate(ADDRESSES);
    mixed
}

/// The first connection that stands: one address after the other, the next beside a slow one.
async fn race(addresses: Vec<SocketAddr>) -> Result<TcpStream, ConnectFailure> {
    if let [address] = addresses.as_slice() {
        return TcpStream::connect(address).await.map_err(|error| failure(&error));
    }
    let mut waiting = addresses.into_iter();
    let mut attempts = JoinSet::new();
    let mut last = ConnectFailure::Unreachable;
    loop {
        if let Some(address) = waiting.next() {
            attempts.spawn(TcpStream::connect(address));
        }
        tokio::select! {
            done = attempts.join_next() => match done {
                Some(Ok(Ok(stream))) => return Ok(stream),
                Some(Ok(Err(error))) => last = failure(&error),
                Some(Err(_)) => last = ConnectFailure::Other,
                None => return Err(last),
            },
            () = sleep(STAGGER) => {}
        }
    }
}

fn failure(error: &io::Error) -> ConnectFailure {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => ConnectFailure::Refused,
        io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::AddrNotAvailable
        | io::ErrorKind::NetworkDown => ConnectFailure::Unreachable,
        io::ErrorKind::TimedOut => ConnectFailure::TimedOut,
        _ => ConnectFailure::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: Reach = Reach { local_network: true, overlay_network: true, loopback: true };

    fn at(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_public_address_is_for_names_and_https_alone() {
        assert_eq!(permit(at("93.184.216.34"), Reach::default(), false), Ok(()));
        assert_eq!(permit(at("93.184.216.34"), LOCAL, true), Err(Forbidden::Public));
        assert_eq!(permit(at("192.168.1.5"), LOCAL, true), Ok(()));
        assert!(matches!(permit(at("192.168.1.5"), Reach::default(), false), Err(Forbidden::Denied(_))));
    }

    #[test]
    fn families_take_turns_from_that_of_the_first() {
        let addresses = |list: &[&str]| list.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>();
        let given = addresses(&["[2001:db8::1]:1", "[2001:db8::2]:1", "192.0.2.1:1", "192.0.2.2:1"]);
        let mixed = addresses(&["[2001:db8::1]:1", "192.0.2.1:1", "[2001:db8::2]:1", "192.0.2.2:1"]);
        assert_eq!(interleave(given), mixed);
        let many = (0..100).map(|port| SocketAddr::new(at("192.0.2.1"), port)).collect();
        assert_eq!(interleave(many).len(), ADDRESSES);
    }
}
