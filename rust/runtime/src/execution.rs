//! Carrying out a plan: what is asked before anything leaves, the tries, and what becomes of a refused secret.

use connector_core::Refusal;
use connector_core::call::Confirmed;
use connector_core::request::Outgoing;
use connector_core::response::Received;

use crate::answer::Answer;
use crate::place::Place;
use crate::run::Run;
use crate::session::Session;

impl Session {
    /// Carries out a plan and gives the text for the model.
    ///
    /// `confirmation` is the digest that a person was shown; `call_id` a name by which [`cancel`](Self::cancel) finds
    /// the call, the plan's own where it is absent; `max_chars` a smaller budget for the text. A plan is consumed
    /// before the connection is made, also by a try that fails; whatever is refused before that consumes nothing.
    ///
    /// The call has its name, and a write its one place, when this returns, before the future is polled: calls begin in
    /// the order in which they are asked for, and each can be cancelled from then on. Dropping the future cancels the
    /// call. It lives inside a tokio runtime.
    ///
    /// When the server answers 401 to a request that holds a secret, the credential store is asked once more, at
    /// most once a minute for each credential. Only with another secret is the request, which the server refused
    /// before acting, sent once again. After that the secrets are `credential.rejected` until one of them is another.
    ///
    /// # Errors
    /// Before: `plan.*`, `credential.*`, `request.too_large`, `call.invalid` when a call of this id runs,
    /// `write.in_flight`, `rate.limited`. After: `store.*` when the start of a write could not be made durable, and nothing
    /// was sent; `net.*`, `outcome_unknown`, `credential.rejected`.
    pub fn execute(
        &self,
        plan: &str,
        confirmation: Option<&str>,
        call_id: Option<&str>,
        max_chars: Option<usize>,
    ) -> impl Future<Output = Result<Answer, Refusal>> + Send + use<> {
        let reserved = self.reserve(plan, confirmation, call_id.unwrap_or(plan));
        async move {
            let (place, confirmed) = reserved?;
            let (mut run, outgoing) = place.begin(confirmed).await?;
            let outcome = match run.start().await {
                Ok(()) => exchange(&mut run, outgoing).await,
                Err(refusal) => Err(refusal),
            };
            match outcome {
                Ok(received) => run.answer(&received, max_chars),
                Err(refusal) => Err(run.refuse(refusal)),
            }
        }
    }

    fn reserve(
        &self,
        plan: &str,
        confirmation: Option<&str>,
        call_id: &str,
    ) -> Result<(Place, Confirmed), Refusal> {
        let waiting = {
            let state = self.inner.state();
            state.open()?;
            state.waiting(plan)?.clone()
        };
        Place::reserve(&self.inner, waiting, confirmation, call_id)
    }

    /// Cancels a running call; its socket is closed at once. Gives whether there was one.
    pub fn cancel(&self, call_id: &str) -> bool {
        self.inner.state().cancel(call_id)
    }
}

/// Sends the request, and once again with other secrets when the server refuses those.
async fn exchange(run: &mut Run, outgoing: Outgoing) -> Result<Received, Refusal> {
    let mut outcome = run.send(&outgoing).await;
    if run.is_refused() {
        let total = outgoing.budget().total;
        drop(outgoing);
        // A call that nobody waits for asks for nothing more; the store gives what it has to the next one.
        let over = run.place.token.is_cancelled() || total <= run.elapsed();
        let renewed = if over { Ok(false) } else { run.secrets.renew(&run.place).await };
        if renewed.is_err() || run.place.token.is_cancelled() {
            let _told_by_the_next_call = run.secrets.reject(&run.place.inner);
            renewed?;
            return Err(run.place.given_up());
        }
        if renewed? {
            let renewed = run.confirmed.dispatch(&run.secrets.by_name())?;
            let left = total.saturating_sub(run.elapsed());
            outcome = run.send(&renewed.within(left)).await;
        }
        if run.is_refused() {
            return Err(run.secrets.reject(&run.place.inner));
        }
    }
    outcome
}
