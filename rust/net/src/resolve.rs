//! From a name to addresses: the one seam through which every name goes.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::thread;

use tokio::sync::{Semaphore, oneshot};

use crate::error::ResolveError;

/// The addresses of a name, some time later.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = Result<Vec<SocketAddr>, ResolveError>> + Send + 'a>>;

/// Looks up names. What it answers is judged afterwards, address by address: a resolver cannot open a door.
pub trait Resolve: Send + Sync + fmt::Debug {
    /// The addresses of `host`, best first, each with `port`; the scope of a link-local IPv6 address is
    /// kept. `host` is a registered name as the URL standard serialises it, never a literal address. The
    /// future may be dropped at any time.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a>;
}

/// The lookup of the operating system (`getaddrinfo`), with its hosts file, mDNS and search rules.
///
/// Each lookup runs on a thread of its own, since the system offers no way to give one up: a call whose time
/// is over leaves the thread to end by itself, and the process need not wait for it. At most sixteen run at
/// once in the process; further ones wait, within the deadline of their call.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

/// Lookups that may run at the same time.
static LOOKUPS: Semaphore = Semaphore::const_new(16);

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(async move {
            let permit = LOOKUPS.acquire().await.map_err(|_| ResolveError::Failed)?;
            let (answer, answered) = oneshot::channel();
            let host = host.to_owned();
            thread::Builder::new()
                .name("connector-lookup".to_owned())
                .spawn(move || {
                    let found = (host.as_str(), port).to_socket_addrs().map(Iterator::collect);
                    drop(permit);
                    // Nobody listens when the call was given up.
                    drop(answer.send(found));
                })
                .map_err(|_| ResolveError::Failed)?;
            match answered.await {
                Ok(Ok(found)) => Ok(found),
                Ok(Err(error)) => Err(reason(&error)),
                Err(_) => Err(ResolveError::Failed),
            }
        })
    }
}

/// The standard library does not tell the kinds of `getaddrinfo` failure apart, but for a system error.
fn reason(error: &io::Error) -> ResolveError {
    if error.raw_os_error().is_some() { ResolveError::Failed } else { ResolveError::NotFound }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_system_knows_localhost() {
        let found = SystemResolver.resolve("localhost", 8080).await.unwrap();
        assert!(!found.is_empty());
        assert!(found.iter().all(|address| address.ip().is_loopback() && address.port() == 8080));
    }
}
