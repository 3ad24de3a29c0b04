//! Carrying out a plan: what is asked before anything leaves, the tries, and what becomes of a refused secret.

use std::sync::Arc;

use connector_core::Refusal;
use connector_core::audit::Deed;
use connector_core::request::Outgoing;
use connector_core::response::Received;

use crate::answer::Answer;
use crate::run::Run;
use crate::secrets::Secrets;
use crate::session::Session;
use crate::state::Waiting;

/// What a server says that refuses a credential (RFC 9110 section 15.5.2).
const UNAUTHORIZED: u16 = 401;

impl Session {
    /// Carries out a plan and gives the text for the model.
    ///
    /// `confirmation` is the digest that a person was shown; `call_id` a name by which [`cancel`](Self::cancel) finds
    /// the call, the plan's own where it is absent; `max_chars` a smaller budget for the text. A plan is consumed
    /// before the connection is made, also by a try that fails; whatever is refused before that consumes nothing.
    /// Dropping the future cancels the call.
    ///
    /// When the server answers 401 to a request that holds a secret, the credential store is asked once more, at
    /// most once a minute for each credential. Only with another secret is the request, which the server refused
    /// before acting, sent once again. After that the secret is `credential.rejected` until another one is set.
    ///
    /// # Errors
    /// Before: `plan.*`, `credential.*`, `request.too_large`, `call.invalid` when a call of this id runs,
    /// `write.in_flight`, `rate.limited`. After: `store.*` when the start of a write could not be made durable, and nothing
    /// was sent; `net.*`, `outcome_unknown`, `credential.rejected`.
    pub async fn execute(
        &self,
        plan: &str,
        confirmation: Option<&str>,
        call_id: Option<&str>,
        max_chars: Option<usize>,
    ) -> Result<Answer, Refusal> {
        let waiting = {
            let state = self.inner.state();
            state.open()?;
            state.waiting(plan)?.clone()
        };
        let (mut run, outgoing) =
            self.begin(&waiting, confirmation, call_id.unwrap_or(plan)).inspect_err(|refusal| {
                let digest = Some(waiting.plan.digest());
                let tool = &waiting.plan.preview().tool;
                self.inner.record(Deed::Call, tool, digest, refusal.code.as_str());
            })?;
        let outcome = match run.start().await {
            Ok(()) => exchange(&mut run, outgoing).await,
            Err(refusal) => Err(refusal),
        };
        match outcome {
            Ok(received) => run.answer(&received, max_chars),
            Err(refusal) => Err(run.refuse(refusal)),
        }
    }

    /// Everything that may refuse without consuming the plan, then the plan's end.
    fn begin(
        &self,
        waiting: &Waiting,
        confirmation: Option<&str>,
        call_id: &str,
    ) -> Result<(Run, Outgoing), Refusal> {
        let inner = &self.inner;
        let now = inner.clock.monotonic();
        waiting.in_force(&inner.shelf.current(), now, inner.limits.plan_lifetime)?;
        let confirmed = waiting.plan.confirm(confirmation)?;
        let secrets = Secrets::ask(inner, &confirmed)?;
        let outgoing = confirmed.dispatch(&secrets.by_name())?;
        let run = Run::begin(Arc::clone(inner), waiting, confirmed, secrets, call_id, now)?;
        Ok((run, outgoing))
    }

    /// Cancels a running call; its socket is closed at once. Gives whether there was one.
    pub fn cancel(&self, call_id: &str) -> bool {
        self.inner.state().cancel(call_id)
    }
}

/// Sends the request, and once again with other secrets when the server refuses those.
async fn exchange(run: &mut Run, outgoing: Outgoing) -> Result<Received, Refusal> {
    let mut received = run.send(&outgoing).await?;
    if received.status == UNAUTHORIZED && !run.secrets.is_empty() {
        let total = outgoing.budget().total;
        drop(outgoing);
        if run.secrets.renew(&run.inner)? {
            let renewed = run.confirmed.dispatch(&run.secrets.by_name())?;
            let left = total.saturating_sub(run.elapsed());
            received = run.send(&renewed.within(left)).await?;
        }
        if received.status == UNAUTHORIZED {
            return Err(run.secrets.reject(&run.inner));
        }
    }
    Ok(received)
}
