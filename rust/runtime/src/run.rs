//! One execution, from the end of its plan to its record.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use connector_core::audit::{Deed, Event};
use connector_core::call::Confirmed;
use connector_core::request::Outgoing;
use connector_core::response::{MapContext, Received};
use connector_core::{Code, Refusal};
use connector_net::{Client, Sent, Spent, retry_after};
use connector_store::Outcome;

use crate::answer::Answer;
use crate::journal::Journal;
use crate::place::Place;
use crate::secrets::Secrets;

/// What a server says that refuses a credential (RFC 9110 section 15.5.2).
const UNAUTHORIZED: u16 = 401;

/// A call that has consumed its plan. However it ends, also by being dropped, its traces are cleared and its end is
/// recorded.
pub(crate) struct Run {
    pub(crate) place: Place,
    /// Held to the end of the call, also when the session is closed before.
    journal: Arc<Journal>,
    pub(crate) confirmed: Confirmed,
    pub(crate) secrets: Secrets,
    client: Arc<Client>,
    spent: Spent,
    sent_bytes: usize,
    received_bytes: usize,
    /// Of the last answer.
    status: Option<u16>,
    /// Whether the last try was answered by a 401.
    refused: bool,
    /// What is known of the request, were the call to end now.
    outcome: Outcome,
    started_write: bool,
    ended: bool,
}

impl Run {
    /// A call whose plan was consumed.
    pub(crate) fn new(
        place: Place,
        journal: Arc<Journal>,
        client: Arc<Client>,
        confirmed: Confirmed,
        secrets: Secrets,
    ) -> Self {
        Self {
            place,
            journal,
            confirmed,
            secrets,
            client,
            spent: Spent::default(),
            sent_bytes: 0,
            received_bytes: 0,
            status: None,
            refused: false,
            outcome: Outcome::NotSent,
            started_write: false,
            ended: false,
        }
    }

    /// Before the first byte of a write leaves, its start is durable. A read needs none.
    pub(crate) async fn start(&mut self) -> Result<(), Refusal> {
        let plan = self.confirmed.plan();
        if !plan.is_write() {
            return Ok(());
        }
        let event = Event {
            time_ms: self.place.inner.clock.wall_ms(),
            deed: Deed::Started,
            subject: plan.preview().tool.to_string(),
            tool_set: plan.tool_set(),
            object: Some(plan.digest()),
            outcome: "started".into(),
            status: None,
            sent_bytes: 0,
            received_bytes: 0,
            duration_ms: 0,
        };
        let (journal, digest, token) = (Arc::clone(&self.journal), plan.digest(), self.place.token.clone());
        if journal.store().is_none() {
            return journal.started(digest, event);
        }
        self.started_write = true;
        // A disk takes its time, and other calls go on.
        let started = tokio::task::spawn_blocking(move || {
            let started = journal.started(digest, event);
            if started.is_ok() && token.is_cancelled() {
                journal.ended(digest, Outcome::NotSent);
                return Err(Refusal::new(Code::NetCancelled, "The call was cancelled."));
            }
            started
        });
        let started = started.await.unwrap_or_else(|_| {
            Err(Refusal::new(Code::StoreIo, "the start of the write could not be recorded"))
        });
        // What was not started has no end.
        self.started_write = started.is_ok();
        started
    }

    /// How long the call has taken by now.
    pub(crate) fn elapsed(&self) -> Duration {
        self.place.inner.clock.monotonic().saturating_sub(self.place.started)
    }

    /// Sends one request and gives its answer, whatever the status.
    pub(crate) async fn send(&mut self, outgoing: &Outgoing) -> Result<Received, Refusal> {
        self.sent_bytes += outgoing.body().map_or(0, <[u8]>::len);
        // Until the transport says more.
        let before = std::mem::replace(&mut self.outcome, Outcome::OutcomeUnknown);
        match self.client.send_more(outgoing, self.place.token.clone(), &self.spent).await {
            Ok(received) => {
                self.outcome = Outcome::Sent;
                self.received_bytes += received.wire_bytes;
                self.status = Some(received.status);
                self.refused = received.status == UNAUTHORIZED;
                Ok(received)
            }
            Err(error) => {
                self.refused = error.status == Some(UNAUTHORIZED);
                self.status = error.status.or(self.status);
                let refusal = error.refusal_of_write();
                self.outcome = match (error.sent, refusal.code) {
                    (Sent::Not, _) => before,
                    (Sent::Maybe, Code::OutcomeUnknown) => Outcome::OutcomeUnknown,
                    (Sent::Maybe, _) => Outcome::Sent,
                };
                Err(if self.confirmed.plan().is_write() { refusal } else { error.refusal() })
            }
        }
    }

    /// Whether the server refused the secrets of the last request: the head of its answer says so, whatever became of
    /// the rest of it.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused && !self.secrets.is_empty()
    }

    /// Maps the answer and records the end.
    pub(crate) fn answer(mut self, received: &Received, max_chars: Option<usize>) -> Result<Answer, Refusal> {
        let plan = self.confirmed.plan();
        let Some(tool) = plan.tool() else {
            return Err(self.refuse(Refusal::new(Code::ResponseInvalid, "the tool is gone")));
        };
        let context = MapContext {
            tool: tool.full_name(),
            method: plan.preview().method,
            limits: &self.place.inner.limits,
            tokens: &self.place.inner.tokens,
            secrets: &self.secrets.redactor(&self.confirmed),
            max_chars,
        };
        let mapped = tool.response().apply(received, &context);
        let code = mapped.refusal.map(|refusal| refusal.code);
        self.place.inner.state().flows.returned(&self.place.waiting.conversation, plan.connector().id());
        self.finish(code.map_or("ok", Code::as_str));
        Ok(Answer {
            text: mapped.text,
            truncated: mapped.truncated,
            status: received.status,
            is_error: mapped.is_error,
            code,
            retry_after: wait_asked(received, self.place.inner.clock.wall_ms()),
        })
    }

    /// Records a refusal and gives it back.
    pub(crate) fn refuse(mut self, refusal: Refusal) -> Refusal {
        self.finish(refusal.code.as_str());
        refusal
    }

    fn finish(&mut self, outcome: &'static str) {
        self.ended = true;
        let plan = self.confirmed.plan();
        let size = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let event = Event {
            time_ms: self.place.inner.clock.wall_ms(),
            deed: Deed::Call,
            subject: plan.preview().tool.to_string(),
            tool_set: plan.tool_set(),
            object: Some(plan.digest()),
            outcome: outcome.into(),
            status: self.status,
            sent_bytes: size(self.sent_bytes),
            received_bytes: size(self.received_bytes),
            duration_ms: u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        if self.started_write {
            self.journal.ended(plan.digest(), self.outcome);
        }
        self.journal.record(event);
    }
}

impl Drop for Run {
    /// The future was dropped on the way. How much of the request had left by then is not known here: a write may
    /// have begun.
    fn drop(&mut self) {
        if !self.ended {
            // A start that is still being written finds that nobody waits for it.
            self.place.token.cancel();
            let unknown = self.confirmed.plan().is_write() && self.outcome != Outcome::NotSent;
            let code = if unknown { Code::OutcomeUnknown } else { Code::NetCancelled };
            self.finish(code.as_str());
        }
    }
}

/// What `Retry-After` says, in whole seconds from now; what is begun of one counts as one.
fn wait_asked(received: &Received, now_ms: u64) -> Option<u64> {
    let values = received.headers.iter().filter(|(name, _)| name == "retry-after");
    let now = UNIX_EPOCH + Duration::from_millis(now_ms);
    retry_after(values.map(|(_, value)| value.as_slice()), now)
        .map(|wait| wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
}
