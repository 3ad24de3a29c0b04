//! Plans of a session.

use std::sync::Arc;

use connector_core::call::{Plan, PlanSeed, Preview, Reason, ToolCall, check};
use connector_core::json::Sha256;
use connector_core::{Code, Refusal};

use crate::random::uuid;
use crate::session::Session;
use crate::state::Waiting;

/// What a person is shown of a plan, and what the application needs to carry it out.
#[derive(Debug, Clone)]
pub struct PlanView {
    /// The plan's name, for `execute`.
    pub plan: String,
    /// What a confirmation repeats.
    pub digest: Sha256,
    /// Why a person must confirm; empty when none must.
    pub needs_confirmation: Vec<Reason>,
    /// The request, for a person.
    pub preview: Preview,
}

impl Session {
    /// Plans a call that was made under a contract of the current tool set.
    ///
    /// `conversation` names the conversation whose text the model has read; all calls without one share one.
    ///
    /// # Errors
    /// Those of [`check`] and [`Plan::new`].
    pub fn plan(
        &self,
        call: &ToolCall,
        contract: Option<&str>,
        conversation: Option<&str>,
    ) -> Result<PlanView, Refusal> {
        let (set, contract) = {
            let state = self.inner.state();
            state.open()?;
            let known = contract.and_then(Sha256::parse).and_then(|id| state.contract(id)).cloned();
            let stale = || {
                Refusal::new(
                    Code::ContractStale,
                    "no export of the current tool set has this contract: export again",
                )
            };
            (Arc::clone(&state.set), known.ok_or_else(stale)?)
        };
        let limits = &self.inner.limits;
        let checked = check(&set, &contract, call, limits)?;
        let conversation = conversation.unwrap_or_default();
        let connector = Arc::clone(checked.connector());
        let grant = connector.grant();
        let flows =
            self.inner.state().flows.unconfirmed(conversation, connector.id(), |from| grant.lets_in(from));
        let seed = PlanSeed { id: uuid()?, idempotency_key: uuid()?, flows };
        let plan = Arc::new(Plan::new(&checked, seed, limits)?);
        let view = PlanView {
            plan: plan.id().to_owned(),
            digest: plan.digest(),
            needs_confirmation: plan.needs_confirmation().to_vec(),
            preview: plan.preview().clone(),
        };
        let mut state = self.inner.state();
        state.open()?;
        let waiting = Waiting { plan, conversation: conversation.into(), made: self.inner.clock.monotonic() };
        state.keep(waiting, limits.plan_lifetime);
        Ok(view)
    }
}
