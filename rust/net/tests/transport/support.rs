//! Requests, budgets and clients as the tests need them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use connector_core::Code;
use connector_core::origin::Reach;
use connector_core::request::{Budget, Header, Method, Outgoing, Redirects};
use connector_core::response::Received;
use connector_net::hooks::{Lookup, ScriptedResolver};
use connector_net::{CancellationToken, Client, ClientOptions, NetError, Pacing, Trust};
use connector_testkit::{Authority, Script, Server, Step};
use url::Url;

/// Long enough for any machine, short enough for a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) const LOOPBACK: Reach = Reach { local_network: false, overlay_network: false, loopback: true };
pub(crate) const PUBLIC: Reach = Reach { local_network: false, overlay_network: false, loopback: false };
pub(crate) const LOCAL: Reach = Reach { local_network: true, overlay_network: false, loopback: false };

/// The defaults of the design, with a deadline that no passing test comes near to.
pub(crate) fn budget() -> Budget {
    Budget {
        total: PATIENCE,
        connect: Duration::from_secs(5),
        url_bytes: 8 << 10,
        header_bytes: 32 << 10,
        wire_bytes: 1 << 20,
        decoded_bytes: 4 << 20,
        retries: 0,
        redirects: Redirects::None,
    }
}

/// A request in the making.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: Vec<Header>,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) reach: Reach,
    pub(crate) budget: Budget,
    pub(crate) prefix: String,
}

impl Call {
    pub(crate) fn new(method: Method, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: None,
            reach: LOOPBACK,
            budget: budget(),
            prefix: "/".to_owned(),
        }
    }

    pub(crate) fn get(url: impl Into<String>) -> Self {
        Self::new(Method::Get, url)
    }

    /// `GET` of a path on a plain loopback server.
    pub(crate) fn at(server: &Server, path: &str) -> Self {
        Self::get(format!("http://{}{path}", server.address()))
    }

    pub(crate) fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push(Header { name: name.to_owned(), value: value.to_owned(), secret: false });
        self
    }

    pub(crate) fn secret(mut self, name: &str, value: &str) -> Self {
        self.headers.push(Header { name: name.to_owned(), value: value.to_owned(), secret: true });
        self
    }

    pub(crate) fn body(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = Some(body.as_ref().to_vec());
        self
    }

    pub(crate) fn reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    pub(crate) fn total(mut self, ms: u64) -> Self {
        self.budget.total = Duration::from_millis(ms);
        self
    }

    pub(crate) fn budget(mut self, change: impl FnOnce(&mut Budget)) -> Self {
        change(&mut self.budget);
        self
    }

    pub(crate) fn outgoing(&self) -> Outgoing {
        Outgoing::for_test(
            self.method,
            Url::parse(&self.url).unwrap(),
            self.headers.clone(),
            self.body.clone(),
            self.reach,
            self.budget.clone(),
        )
        .with_literal_prefix(&self.prefix)
    }

    pub(crate) async fn send(&self, client: &Client) -> Result<Received, NetError> {
        client.send(&self.outgoing(), CancellationToken::new()).await
    }

    /// Sends with a client of its own.
    pub(crate) async fn alone(&self) -> Result<Received, NetError> {
        self.send(&plain_client()).await
    }

    /// The code of the refusal, from a client of its own.
    pub(crate) async fn refused(&self) -> Code {
        self.alone().await.err().expect("a refusal").code()
    }
}

/// A client whose names are looked up in a script, whose roots are those of an authority of its own, and
/// whose addresses may be mapped to loopback ports.
pub(crate) struct Setup {
    pub(crate) options: ClientOptions,
    pub(crate) resolver: Arc<ScriptedResolver>,
}

pub(crate) fn setup(trust: Trust, script: Vec<(&str, Vec<Lookup>)>, map: &[(&str, SocketAddr)]) -> Setup {
    let resolver = script
        .into_iter()
        .fold(ScriptedResolver::new(), |resolver, (name, answers)| resolver.with(name, answers));
    let resolver = Arc::new(resolver);
    let mut options = ClientOptions::new(trust);
    options.resolver = resolver.clone();
    options.connect_map =
        map.iter().map(|(from, to)| (from.parse().unwrap(), *to)).collect::<HashMap<_, _>>();
    // Pauses are as short as they get.
    options.pacing = Pacing { jitter: Arc::new(|| 0.0), ..Pacing::default() };
    Setup { options, resolver }
}

impl Setup {
    pub(crate) fn client(&self) -> Client {
        Client::new(self.options.clone()).unwrap()
    }
}

pub(crate) fn any_trust() -> Trust {
    Trust::pem(&Authority::new().unwrap().pem()).unwrap()
}

pub(crate) fn plain_client() -> Client {
    setup(any_trust(), Vec::new(), &[]).client()
}

pub(crate) fn found(addresses: &[&str]) -> Lookup {
    Lookup::addresses(addresses).unwrap()
}

/// An answer with this body and its length.
pub(crate) fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Reads a request and sends these bytes, then closes.
pub(crate) fn answer(bytes: impl AsRef<[u8]>) -> Script {
    vec![Step::ReadRequest, Step::send(bytes)]
}

/// Reads a request and sends these bytes, then keeps the connection until the client closes it.
pub(crate) fn answer_and_hold(bytes: impl AsRef<[u8]>) -> Script {
    vec![Step::ReadRequest, Step::send(bytes), Step::AwaitClose]
}

/// Runs a future and gives how long it took.
pub(crate) async fn timed<T>(future: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    let outcome = future.await;
    (outcome, start.elapsed())
}
