//! One execution, from the end of its plan to its record.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use connector_core::audit::{Deed, Event};
use connector_core::call::Confirmed;
use connector_core::request::Outgoing;
use connector_core::response::{MapContext, Received};
use connector_core::{Code, Refusal};
use connector_net::{CancellationToken, Client, retry_after};
use smol_str::SmolStr;

use crate::answer::Answer;
use crate::secrets::Secrets;
use crate::session::Inner;
use crate::state::Waiting;

/// A call that has consumed its plan. However it ends, also by being dropped, its traces are cleared and its end is
/// recorded.
pub(crate) struct Run {
    pub(crate) inner: Arc<Inner>,
    pub(crate) confirmed: Confirmed,
    pub(crate) secrets: Secrets,
    conversation: SmolStr,
    client: Arc<Client>,
    token: CancellationToken,
    call_id: String,
    started: Duration,
    sent_bytes: usize,
    received_bytes: usize,
    /// Of the last answer.
    status: Option<u16>,
    ended: bool,
}

impl Run {
    /// Consumes the plan. A write is recorded before its first byte leaves.
    pub(crate) fn begin(
        inner: Arc<Inner>,
        waiting: &Waiting,
        confirmed: Confirmed,
        secrets: Secrets,
        call_id: &str,
        now: Duration,
    ) -> Result<Self, Refusal> {
        let plan = &waiting.plan;
        let (client, token) = {
            let mut state = inner.state();
            let begun = state.begin(waiting, call_id, now, &inner)?;
            if plan.is_write() {
                let (time, digest) = (inner.clock.wall_ms(), Some(plan.digest()));
                state.record(time, Deed::Started, &plan.preview().tool, digest, "started");
            }
            begun
        };
        Ok(Self {
            inner,
            confirmed,
            secrets,
            conversation: waiting.conversation.clone(),
            client,
            token,
            call_id: call_id.to_owned(),
            started: now,
            sent_bytes: 0,
            received_bytes: 0,
            status: None,
            ended: false,
        })
    }

    /// How long the call has taken by now.
    pub(crate) fn elapsed(&self) -> Duration {
        self.inner.clock.monotonic().saturating_sub(self.started)
    }

    /// Sends one request and gives its answer, whatever the status.
    pub(crate) async fn send(&mut self, outgoing: &Outgoing) -> Result<Received, Refusal> {
        self.sent_bytes += outgoing.body().map_or(0, <[u8]>::len);
        match self.client.send(outgoing, self.token.clone()).await {
            Ok(received) => {
                self.received_bytes += received.wire_bytes;
                self.status = Some(received.status);
                Ok(received)
            }
            Err(error) => {
                self.status = error.status.or(self.status);
                let is_write = self.confirmed.plan().is_write();
                Err(if is_write { error.refusal_of_write() } else { error.refusal() })
            }
        }
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
            limits: &self.inner.limits,
            tokens: &self.inner.tokens,
            secrets: &self.secrets.redactor(&self.confirmed),
            max_chars,
        };
        let mapped = tool.response().apply(received, &context);
        let code = mapped.refusal.map(|refusal| refusal.code);
        self.inner.state().flows.returned(&self.conversation, plan.connector().id());
        self.finish(code.map_or("ok", Code::as_str));
        Ok(Answer {
            text: mapped.text,
            truncated: mapped.truncated,
            status: received.status,
            is_error: mapped.is_error,
            code,
            retry_after: wait_asked(received, self.inner.clock.wall_ms()),
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
            time_ms: self.inner.clock.wall_ms(),
            deed: Deed::Call,
            subject: plan.preview().tool.to_string(),
            tool_set: plan.tool_set(),
            object: Some(plan.digest()),
            outcome,
            status: self.status,
            sent_bytes: size(self.sent_bytes),
            received_bytes: size(self.received_bytes),
            duration_ms: u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        let mut state = self.inner.state();
        state.end(&self.call_id);
        state.trail.append(event);
    }
}

impl Drop for Run {
    /// The future was dropped on the way. How much of the request had left by then is not known here: a write may
    /// have begun.
    fn drop(&mut self) {
        if !self.ended {
            let code =
                if self.confirmed.plan().is_write() { Code::OutcomeUnknown } else { Code::NetCancelled };
            self.finish(code.as_str());
        }
    }
}

/// What `Retry-After` says, in whole seconds from now.
fn wait_asked(received: &Received, now_ms: u64) -> Option<u64> {
    let values = received.headers.iter().filter(|(name, _)| name == "retry-after");
    let now = UNIX_EPOCH + Duration::from_millis(now_ms);
    retry_after(values.map(|(_, value)| value.as_slice()), now).map(|wait| wait.as_secs())
}
