//! Plans of a session.

use std::sync::Arc;
use std::time::Duration;

use connector_core::Refusal;
use connector_core::audit::Deed;
use connector_core::call::{CheckedCall, Plan, PlanSeed, Preview, Reason, ToolCall, check};
use connector_core::json::Sha256;
use connector_core::manifest::Tool;
use smol_str::SmolStr;

use crate::secret::{CredentialKey, CredentialStore};
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
    pub preview: Arc<Preview>,
}

impl Session {
    /// Plans a call that was made under a contract of the current tool set. A refusal is recorded; a plan is
    /// recorded when it is executed.
    ///
    /// `conversation` names the conversation whose text the model has read; all calls without one share one.
    ///
    /// # Errors
    /// `contract.stale`, and those of [`check`] and [`Plan::new`].
    pub fn plan(
        &self,
        call: &ToolCall,
        contract: Option<&str>,
        conversation: Option<&str>,
    ) -> Result<PlanView, Refusal> {
        self.try_plan(call, contract, conversation).inspect_err(|refusal| {
            let set = self.inner.set();
            // A name that no tool has is the model's text, which no record holds.
            let tool = set.tool(&call.name).map(|tool| tool.tool.full_name().clone());
            let subject = tool.unwrap_or_else(|| SmolStr::new_static("?"));
            self.inner.record(Deed::Call, &subject, None, refusal.code.as_str());
        })
    }

    fn try_plan(
        &self,
        call: &ToolCall,
        contract: Option<&str>,
        conversation: Option<&str>,
    ) -> Result<PlanView, Refusal> {
        let (store, contract) = {
            let state = self.inner.state();
            (state.open()?, state.contract(contract.unwrap_or_default())?.clone())
        };
        let shelf = self.inner.shelf.current();
        let limits = &self.inner.limits;
        let checked = check(&shelf.set, &contract, call, limits)?;
        let conversation = conversation.unwrap_or_default();
        let connector = checked.connector();
        let keyed = checked.tool().is_some_and(|tool| tool.request().idempotency.is_some());
        let without = without(&checked, &*store)?;
        let lets_in = |from: &str| connector.grant().lets_in(from);
        let flows = self.inner.state().flows.unconfirmed(conversation, connector.id(), lets_in);
        let seed = PlanSeed {
            id: self.inner.random.uuid()?,
            idempotency_key: keyed.then(|| self.inner.random.uuid()).transpose()?,
            flows,
            without,
        };
        let plan = Arc::new(Plan::new(&checked, seed, limits)?);
        let view = PlanView {
            plan: plan.id().to_owned(),
            digest: plan.digest(),
            needs_confirmation: plan.needs_confirmation().to_vec(),
            preview: Arc::clone(plan.preview()),
        };
        let mut state = self.inner.state();
        state.open()?;
        let (generation, made) = (shelf.generation, self.inner.clock.monotonic());
        let waiting = Waiting { plan, generation, conversation: conversation.into(), made };
        state.keep(waiting, limits.plan_lifetime);
        Ok(view)
    }
}

impl Session {
    /// The whole time that a waiting plan may take: as long may a credential store ask a person on its behalf.
    pub fn time_of(&self, plan: &str) -> Option<Duration> {
        self.inner.state().waiting(plan).ok().map(|waiting| waiting.plan.budget().total)
    }
}

/// The credentials that are not set, of those that the call may go without.
fn without(call: &CheckedCall, store: &dyn CredentialStore) -> Result<Vec<SmolStr>, Refusal> {
    let mut without = Vec::new();
    for name in call.tool().into_iter().flat_map(Tool::optional_credentials) {
        if !store.has(&CredentialKey::new(call.connector(), name)?)? {
            without.push(name.clone());
        }
    }
    Ok(without)
}
