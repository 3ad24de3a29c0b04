//! Carrying out a plan: once, within its bounds, with a record of how it ended.

use std::sync::Arc;
use std::time::Duration;

use connector_core::audit::{Deed, Event};
use connector_core::call::{Confirmed, Plan};
use connector_core::json::Sha256;
use connector_core::response::{MapContext, Received};
use connector_core::text::Redactor;
use connector_core::{Code, Refusal};
use connector_net::Client;
use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;

use crate::answer::Answer;
use crate::random::uuid;
use crate::secret::Secret;
use crate::session::{Inner, Session, credential_key};

impl Session {
    /// Carries out a plan and gives the text for the model.
    ///
    /// `confirmation` is the digest that a person was shown; `call_id` a name by which [`cancel`](Self::cancel) finds
    /// the call; `max_chars` a smaller budget for the text. A plan is consumed before the connection is made, also by
    /// a try that fails; whatever is refused before that consumes nothing. Dropping the future cancels the call.
    ///
    /// # Errors
    /// `plan.*`, `rate.limited`, `write.in_flight`, `credential.*`, `grant.denied`, `net.*`, `outcome_unknown`,
    /// `response.invalid`.
    pub async fn execute(
        &self,
        plan: &str,
        confirmation: Option<&str>,
        call_id: Option<&str>,
        max_chars: Option<usize>,
    ) -> Result<Answer, Refusal> {
        let mut run = Run::start(self, plan, confirmation, call_id)?;
        let outgoing = {
            let secrets = &run.secrets;
            run.confirmed.dispatch(|wanted| {
                secrets
                    .iter()
                    .find(|(name, _)| name.as_str() == wanted.name.as_str())
                    .map(|(_, secret)| secret.expose())
            })
        };
        let outgoing = match outgoing {
            Ok(outgoing) => outgoing,
            Err(refusal) => return Err(run.end(refusal)),
        };
        run.sent_bytes = outgoing.body().map_or(0, <[u8]>::len);
        let received = run.client.send(&outgoing, run.token.clone()).await;
        drop(outgoing);
        match received {
            Ok(received) => run.answer(&received, max_chars),
            Err(error) => {
                let refusal = if run.is_write { error.refusal_of_write() } else { error.refusal() };
                run.finish(refusal.code.as_str(), error.status, 0);
                Err(refusal)
            }
        }
    }

    /// Cancels a running call; its socket is closed at once. Gives whether there was one.
    pub fn cancel(&self, call_id: &str) -> bool {
        let state = self.inner.state();
        let token = state.running.get(call_id);
        token.inspect(|token| token.cancel()).is_some()
    }
}

/// One execution. However it ends, also by being dropped, its traces are cleared and its end is recorded.
struct Run {
    inner: Arc<Inner>,
    confirmed: Confirmed,
    conversation: SmolStr,
    client: Arc<Client>,
    token: CancellationToken,
    call_id: String,
    secrets: Vec<(SmolStr, Secret)>,
    tool: String,
    connector: SmolStr,
    digest: Sha256,
    is_write: bool,
    started: Duration,
    sent_bytes: usize,
    ended: bool,
}

impl Run {
    /// Everything that may refuse without consuming the plan, then the plan's end.
    fn start(
        session: &Session,
        id: &str,
        confirmation: Option<&str>,
        call_id: Option<&str>,
    ) -> Result<Self, Refusal> {
        let inner = Arc::clone(&session.inner);
        let now = inner.clock.monotonic();
        let mut state = inner.state();
        state.open()?;
        let Some(waiting) = state.waiting(id).cloned() else {
            return Err(Refusal::new(Code::PlanUnknown, "no plan of this name waits: plan the call again"));
        };
        let plan = &waiting.plan;
        if now.saturating_sub(waiting.made) >= inner.limits.plan_lifetime {
            state.consume(id);
            return Err(Refusal::new(Code::PlanExpired, "the plan waited too long: plan the call again"));
        }
        let given = confirmation.map(|text| Sha256::parse(text).unwrap_or(Sha256([0; 32])));
        let confirmed = plan.confirm(given)?;
        let secrets = confirmed
            .credentials()
            .into_iter()
            .filter_map(|wanted| {
                let key = credential_key(plan.connector(), wanted.name.as_str());
                let found = key.map(|key| state.credentials.get(&key));
                match found {
                    Ok(Some(secret)) => Some(Ok((SmolStr::from(wanted.name.as_str()), secret))),
                    Ok(None) if wanted.optional => None,
                    Ok(None) => {
                        let reason = format!(
                            "the credential `{}` of `{}` is not set",
                            wanted.name,
                            plan.connector().id()
                        );
                        Some(Err(Refusal::new(Code::CredentialMissing, reason)))
                    }
                    Err(refusal) => Some(Err(refusal)),
                }
            })
            .collect::<Result<Vec<_>, _>>()?;
        let (connector, tool) = (SmolStr::from(plan.connector().id()), plan.preview().tool.clone());
        let call_id = match call_id {
            Some(name) if state.running.contains_key(name) => {
                return Err(Refusal::new(Code::CallInvalid, "a call of this id is running already"));
            }
            Some(name) => name.to_owned(),
            None => uuid()?,
        };
        let is_write = plan.is_write();
        if is_write && state.writing.contains(&connector) {
            let reason = format!("another write of `{connector}` is under way");
            return Err(
                Refusal::new(Code::WriteInFlight, reason).advise("Wait for the write before and call again.")
            );
        }
        let grant = plan.connector().grant_hash();
        let client = match state.clients.get(&connector) {
            Some((hash, client)) if *hash == grant => Arc::clone(client),
            _ => Arc::new(Client::new(inner.network.clone())?),
        };
        rate(&mut state.rates, now, plan, &inner)?;
        state.clients.insert(connector.clone(), (grant, Arc::clone(&client)));
        state.consume(id);
        let conversation = waiting.conversation.clone();
        state.flows.confirm(&conversation, plan.flows(), &connector);
        let token = CancellationToken::new();
        state.running.insert(call_id.clone(), token.clone());
        let digest = plan.digest();
        if is_write {
            state.writing.insert(connector.clone());
            state.record(inner.clock.wall_ms(), Deed::Started, &tool, Some(digest), "started");
        }
        drop(state);
        let (sent_bytes, ended) = (0, false);
        Ok(Self {
            inner,
            confirmed,
            conversation,
            client,
            token,
            call_id,
            secrets,
            tool,
            connector,
            digest,
            is_write,
            started: now,
            sent_bytes,
            ended,
        })
    }

    /// Maps what came back and records the end.
    fn answer(mut self, received: &Received, max_chars: Option<usize>) -> Result<Answer, Refusal> {
        let plan = self.confirmed.plan();
        let Some(tool) = plan.tool() else {
            return Err(self.end(Refusal::new(Code::ResponseInvalid, "the tool is gone")));
        };
        let redactor = Redactor::new(self.secrets.iter().map(|(_, secret)| secret.expose().as_bytes()));
        let context = MapContext {
            tool: &self.tool,
            method: plan.preview().method,
            limits: &self.inner.limits,
            tokens: &self.inner.tokens,
            secrets: &redactor,
            max_chars,
        };
        let mapped = tool.response().apply(received, &context);
        let code = mapped.refusal.map(|refusal| refusal.code);
        let outcome = code.map_or("ok", Code::as_str);
        let conversation = self.conversation.clone();
        self.inner.state().flows.returned(&conversation, &self.connector);
        self.finish(outcome, Some(received.status), received.wire_bytes);
        Ok(Answer {
            text: mapped.text,
            truncated: mapped.truncated,
            status: received.status,
            is_error: mapped.is_error,
            code,
            retry_after: retry_after(received, self.inner.clock.wall_ms()),
        })
    }

    /// Records a refusal and gives it back.
    fn end(&mut self, refusal: Refusal) -> Refusal {
        self.finish(refusal.code.as_str(), None, 0);
        refusal
    }

    fn finish(&mut self, outcome: &'static str, status: Option<u16>, received_bytes: usize) {
        self.ended = true;
        let duration = self.inner.clock.monotonic().saturating_sub(self.started);
        let size = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let mut state = self.inner.state();
        state.running.remove(&self.call_id);
        if self.is_write {
            state.writing.remove(&self.connector);
        }
        let event = Event {
            time_ms: self.inner.clock.wall_ms(),
            deed: Deed::Call,
            subject: self.tool.clone(),
            tool_set: self.confirmed.plan().tool_set(),
            object: Some(self.digest),
            outcome,
            status,
            sent_bytes: size(self.sent_bytes),
            received_bytes: size(received_bytes),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        };
        state.trail.append(event);
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !self.ended {
            let code = if self.is_write { Code::OutcomeUnknown } else { Code::NetCancelled };
            self.finish(code.as_str(), None, 0);
        }
    }
}

/// What `Retry-After` says, in seconds from now (RFC 9110 section 10.2.3); a date that is past is 0.
fn retry_after(received: &Received, now_ms: u64) -> Option<u64> {
    let (_, value) = received.headers.iter().find(|(name, _)| name == "retry-after")?;
    let text = std::str::from_utf8(value).ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(seconds);
    }
    let date = httpdate::parse_http_date(text).ok()?;
    let at = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(at.saturating_sub(Duration::from_millis(now_ms)).as_secs())
}

fn rate(rates: &mut crate::rates::Rates, now: Duration, plan: &Plan, inner: &Inner) -> Result<(), Refusal> {
    let connector = plan.connector().id();
    let limit = inner.limits.calls_per_minute;
    let tool = &plan.preview().tool;
    let own = plan.tool().and_then(|tool| tool.limits().calls_per_minute);
    let own = own.map_or(limit, |own| u32::try_from(own.get()).unwrap_or(u32::MAX).min(limit));
    rates.take(now, &[(connector, limit), (tool, own)]).map_err(|wait| {
        let reason = format!(
            "`{connector}` has made its calls of this minute; the next may be made in {} s",
            wait.as_secs() + 1
        );
        Refusal::new(Code::RateLimited, reason)
            .advise("Too many calls were made in the last minute. Wait, or answer with what you have.")
    })
}
