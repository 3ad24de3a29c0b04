//! The place of a call among those that run, from the moment in which it was asked for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use connector_core::audit::Deed;
use connector_core::call::Confirmed;
use connector_core::request::Outgoing;
use connector_core::{Code, Refusal};
use connector_net::CancellationToken;

use crate::run::Run;
use crate::secret::Need;
use crate::secrets::Secrets;
use crate::session::Inner;
use crate::state::Waiting;

/// A call that has its name, and has consumed nothing. However it ends, also by being dropped, its name is free again
/// afterwards; where it never began, that is recorded.
pub(crate) struct Place {
    pub(crate) inner: Arc<Inner>,
    pub(crate) waiting: Waiting,
    pub(crate) token: CancellationToken,
    pub(crate) call_id: String,
    /// On the session's clock.
    pub(crate) started: Duration,
    deadline: Option<Instant>,
    /// Whether somebody else records its end.
    recorded: bool,
}

impl Place {
    /// Everything that may refuse at once, and waits for nobody.
    pub(crate) fn reserve(
        inner: &Arc<Inner>,
        waiting: Waiting,
        confirmation: Option<&str>,
        call_id: &str,
    ) -> Result<(Self, Confirmed), Refusal> {
        let started = inner.clock.monotonic();
        let attempt = || {
            waiting.in_force(&inner.shelf.current(), started, inner.limits.plan_lifetime)?;
            let confirmed = waiting.plan.confirm(confirmation)?;
            Ok((inner.state().reserve(&waiting, call_id, started, inner)?, confirmed))
        };
        let (token, confirmed) = attempt().inspect_err(|refusal: &Refusal| {
            record(inner, &waiting, refusal.code);
        })?;
        let deadline = Instant::now().checked_add(waiting.plan.budget().total);
        let (inner, call_id) = (Arc::clone(inner), call_id.to_owned());
        Ok((Self { inner, waiting, token, call_id, started, deadline, recorded: false }, confirmed))
    }

    /// Asks for the secrets, then consumes the plan.
    pub(crate) async fn begin(mut self, confirmed: Confirmed) -> Result<(Run, Outgoing), Refusal> {
        match self.ready(&confirmed).await {
            Ok((secrets, outgoing, client)) => {
                let journal = self.inner.journal();
                self.recorded = journal.is_ok();
                Ok((Run::new(self, journal?, client, confirmed, secrets), outgoing))
            }
            Err(refusal) => {
                self.recorded = true;
                record(&self.inner, &self.waiting, refusal.code);
                Err(refusal)
            }
        }
    }

    async fn ready(
        &self,
        confirmed: &Confirmed,
    ) -> Result<(Secrets, Outgoing, Arc<connector_net::Client>), Refusal> {
        let secrets = Secrets::ask(self, confirmed).await?;
        let outgoing = confirmed.dispatch(&secrets.by_name())?;
        let inner = &self.inner;
        let client = inner.state().begin(&self.waiting, &self.token, self.started, inner)?;
        Ok((secrets, outgoing, client))
    }

    /// What a store is told of the call that needs a secret of it.
    pub(crate) fn need(&self, refused: Option<crate::secret::Secret>) -> Need {
        Need::new(self.call_id.clone(), self.deadline, refused, self.token.clone())
    }

    /// Why the call was cancelled before it was sent, or between its tries.
    pub(crate) fn given_up(&self) -> Refusal {
        self.inner.state().given_up(&self.waiting, self.started, &self.inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.recorded {
            record(&self.inner, &self.waiting, Code::NetCancelled);
        }
        // The record comes before the end: whoever waits for the end finds it.
        self.token.cancel();
        self.inner.state().end(&self.call_id);
    }
}

fn record(inner: &Inner, waiting: &Waiting, code: Code) {
    let plan = &waiting.plan;
    inner.record(Deed::Call, &plan.preview().tool, Some(plan.digest()), code.as_str());
}
