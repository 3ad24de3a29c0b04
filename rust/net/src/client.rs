//! The client of one grant: tries, redirects, and the one deadline over all of them.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use connector_core::Refusal;
use connector_core::request::{Budget, Outgoing};
use connector_core::response::Received;
use http::Response;
use http::header::{HeaderName, HeaderValue};
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::body;
use crate::coding::Coding;
use crate::connect::Connector;
use crate::error::{Failure, Malformed, NetError, Stage};
use crate::exchange::{Outcome, exchange, request};
use crate::pool::{Connection, Key, Pool};
use crate::progress::Progress;
use crate::redirect;
use crate::resolve::{Resolve, SystemResolver};
use crate::retry::{Pacing, failure_repeats, status_repeats};
use crate::tls::Trust;

/// What a client is made of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// Who vouches for servers.
    pub trust: Trust,
    /// Who looks up names; each answer is judged afterwards.
    pub resolver: Arc<dyn Resolve>,
    /// The clock and the chance behind the pauses between tries.
    pub pacing: Pacing,
    /// Where a judged address is really connected to.
    #[cfg(feature = "test-hooks")]
    pub connect_map: std::collections::HashMap<std::net::SocketAddr, std::net::SocketAddr>,
    /// Where every other judged address is led to; absent: to itself.
    #[cfg(feature = "test-hooks")]
    pub connect_elsewhere: Option<std::net::SocketAddr>,
}

impl ClientOptions {
    /// The system's lookup and clock, and this trust.
    pub fn new(trust: Trust) -> Self {
        Self {
            trust,
            resolver: Arc::new(SystemResolver),
            pacing: Pacing::default(),
            #[cfg(feature = "test-hooks")]
            connect_map: std::collections::HashMap::new(),
            #[cfg(feature = "test-hooks")]
            connect_elsewhere: None,
        }
    }
}

/// Another try may wait on the body of a 401 (RFC 9110 section 15.5.2), which says no more than its status.
const UNAUTHORIZED: u16 = 401;
const REFUSED: Duration = Duration::from_secs(1);

/// The redirects and repeats that the requests of one call have used up together.
#[derive(Debug, Default)]
pub struct Spent {
    hops: AtomicU32,
    tries: AtomicU32,
}

/// The transport of one grant. It keeps connections and TLS sessions of its own and nothing else: no
/// cookies, no proxy, no cache, no credentials. Dropping it closes every kept connection.
///
/// It lives inside a tokio runtime with I/O and time enabled.
pub struct Client {
    connector: Connector,
    pool: Pool,
    pacing: Pacing,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

/// The head of an answer, with what is left of it on its connection.
struct Answer {
    response: Response<Incoming>,
    lease: (Key, Connection),
}

impl Client {
    /// A client with nothing open.
    pub fn new(options: ClientOptions) -> Result<Self, Refusal> {
        let connector = Connector {
            resolver: options.resolver,
            trust: options.trust,
            tls: OnceLock::new(),
            #[cfg(feature = "test-hooks")]
            map: options.connect_map,
            #[cfg(feature = "test-hooks")]
            elsewhere: options.connect_elsewhere,
        };
        Ok(Self { connector, pool: Pool::default(), pacing: options.pacing })
    }

    /// Carries out one request and gives the answer, whatever its status: an error status is an answer.
    ///
    /// All of it (lookups, connections, tries, pauses, redirects, reading) stays within `budget.total`.
    /// When the deadline passes, `cancel` is set, or this future is dropped, the socket is closed at once.
    /// The error says whether any byte may have been sent.
    ///
    /// With `budget.retries` above 0, failures to connect and the statuses 429, 502, 503 and 504 are tried
    /// again after a pause, `Retry-After` being honoured where it fits into the time that is left. An answer
    /// with any of these statuses that is not, or no longer, tried again is given as it is.
    ///
    /// An error status (400 and above) is the answer also when its body is refused, damaged, or does not come in time: it
    /// is given without one, `body_cut`. The body of a 401 is waited for a second at most.
    pub async fn send(&self, outgoing: &Outgoing, cancel: CancellationToken) -> Result<Received, NetError> {
        self.send_more(outgoing, cancel, &Spent::default()).await
    }

    /// The same for one of several requests of a call, which have redirects and repeats together.
    pub async fn send_more(
        &self,
        outgoing: &Outgoing,
        cancel: CancellationToken,
        spent: &Spent,
    ) -> Result<Received, NetError> {
        let progress = Progress::new();
        if outgoing.budget().total.is_zero() {
            return Err(progress.error(progress.timeout()));
        }
        let deadline = deadline(outgoing.budget().total);
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Failure::Cancelled),
            () = sleep_until(deadline) => progress.told().ok_or_else(|| progress.timeout()),
            outcome = self.tries(outgoing, deadline, &progress, spent) => outcome,
        };
        outcome.map_err(|failure| progress.error(failure))
    }

    async fn tries(
        &self,
        outgoing: &Outgoing,
        deadline: Instant,
        progress: &Progress,
        spent: &Spent,
    ) -> Result<Received, Failure> {
        let budget = outgoing.budget();
        let mut url = outgoing.url().clone();
        loop {
            let outcome = self.one(outgoing, &url, progress).await;
            let tries = spent.tries.load(Ordering::Relaxed);
            let again = match &outcome {
                _ if tries >= budget.retries => None,
                Err(failure) if failure_repeats(*failure) => Some(None),
                Ok(answer) if status_repeats(answer.response.status().as_u16()) => {
                    Some(Some(answer.response.headers()))
                }
                _ => None,
            };
            let left = deadline.saturating_duration_since(Instant::now());
            let pause = again.and_then(|headers| self.pacing.pause(tries, headers, left));
            if let Some(pause) = pause {
                drop(outcome);
                spent.tries.fetch_add(1, Ordering::Relaxed);
                progress.stage(Stage::Pause);
                sleep(pause).await;
                continue;
            }

            let answer = outcome?;
            let status = answer.response.status().as_u16();
            if redirect::is_redirect(status, answer.response.headers()) {
                let hops = spent.hops.fetch_add(1, Ordering::Relaxed);
                url = redirect::next(outgoing, &url, status, answer.response.headers(), hops)
                    .map_err(Failure::Redirect)?;
                self.discard(answer).await;
                continue;
            }
            return self.receive(answer, budget, progress).await;
        }
    }

    /// One try: a kept connection or a new one, the request, the head of the answer.
    async fn one(&self, outgoing: &Outgoing, url: &Url, progress: &Progress) -> Result<Answer, Failure> {
        let budget = outgoing.budget();
        let key = Key::new(url, outgoing.reach(), budget.header_bytes);
        let mut request = request(outgoing, url)?;
        // By the budget and not by the method: a GET may be declared a write.
        let once_only = budget.retries == 0;
        while let Some(mut connection) = self.pool.take(&key, once_only).await {
            match exchange(&mut connection, request, budget, progress).await? {
                Outcome::Answered(response) => return Ok(Answer { response, lease: (key, connection) }),
                Outcome::Untouched(whole) => request = whole,
            }
        }
        let mut connection = self.open(outgoing, url, progress).await?;
        match exchange(&mut connection, request, budget, progress).await? {
            Outcome::Answered(response) => Ok(Answer { response, lease: (key, connection) }),
            Outcome::Untouched(_) => Err(Failure::Protocol(Malformed::CutShort)),
        }
    }

    async fn open(&self, outgoing: &Outgoing, url: &Url, progress: &Progress) -> Result<Connection, Failure> {
        let budget = outgoing.budget();
        let wire = self.connector.connect(url, outgoing.reach(), budget.connect, progress).await?;
        Connection::open(wire, budget.header_bytes).await.map_err(|_| Failure::Protocol(Malformed::CutShort))
    }

    async fn receive(
        &self,
        answer: Answer,
        budget: &Budget,
        progress: &Progress,
    ) -> Result<Received, Failure> {
        let Answer { response, lease: (key, mut connection) } = answer;
        let (head, body) = response.into_parts();
        let status = head.status.as_u16();
        let field = |(name, value): (&HeaderName, &HeaderValue)| {
            (name.as_str().to_owned(), value.as_bytes().to_vec())
        };
        let headers = head.headers.iter().map(field).collect();
        let received = Received { status, headers, body: Vec::new(), body_cut: true, wire_bytes: 0 };
        if status >= 400 {
            progress.tell(received.clone());
        }
        let reading = connection.driver.drive(body::read(body, Coding::of(&head.headers), budget));
        let read = if status == UNAUTHORIZED {
            timeout(REFUSED, reading).await.unwrap_or_else(|_| Err(progress.timeout()))
        } else {
            reading.await
        };
        let body = match read {
            Ok(body) => body,
            Err(failure) => {
                let flooded = matches!(failure, Failure::Protocol(_)) && connection.mark.flooded();
                let failure = if flooded { Failure::BodyTooLarge } else { failure };
                return progress.told().ok_or(failure);
            }
        };
        if body.ended {
            self.pool.keep(key, connection).await;
        }
        Ok(Received { body: body.bytes, body_cut: body.cut, wire_bytes: body.wire_bytes, ..received })
    }

    /// Throws an answer away unread: its connection is kept only when it has no body.
    async fn discard(&self, answer: Answer) {
        let Answer { response, lease: (key, connection) } = answer;
        if response.body().is_end_stream() {
            self.pool.keep(key, connection).await;
        }
    }
}

/// The instant at which a call that starts now is over.
fn deadline(total: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(total).unwrap_or_else(|| now + Duration::from_secs(3_600))
}
