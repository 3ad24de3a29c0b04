//! The mutable part of a session, behind one lock that no await ever holds.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use connector_core::call::{Flows, Plan};
use connector_core::json::Sha256;
use connector_core::toolset::{Approvals, Contract, ToolSet};
use connector_core::{Code, Refusal};
use connector_net::{CancellationToken, Client};
use smol_str::SmolStr;

use crate::rates::Rates;
use crate::secret::CredentialStore;
use crate::session::Inner;
use crate::shelf::Shelf;
use crate::standing::Standings;

/// Exports whose contract is still known; an older one is `contract.stale`, and the application exports again.
const CONTRACTS: usize = 256;
/// Plans that wait; the oldest gives way.
const PLANS: usize = 256;
/// The bytes of memory that waiting plans take together; the oldest give way. One plan alone may be larger: what bounds
/// it are the limits of a request.
const PLAN_BYTES: usize = 8 << 20;

pub(crate) struct State {
    /// Reviews that wait for a person's yes.
    pub(crate) approvals: Approvals,
    contracts: VecDeque<Contract>,
    /// Oldest first.
    plans: VecDeque<Waiting>,
    /// What these take together.
    plan_bytes: usize,
    pub(crate) flows: Flows,
    pub(crate) rates: Rates,
    /// None when the session was closed.
    store: Option<Arc<dyn CredentialStore>>,
    pub(crate) standings: Standings,
    /// One client for each grant, dropped with it.
    clients: HashMap<SmolStr, (Sha256, Arc<Client>)>,
    running: HashMap<String, Running>,
}

/// A plan that may be executed.
#[derive(Clone)]
pub(crate) struct Waiting {
    pub(crate) plan: Arc<Plan>,
    /// Of the shelf that it was planned on.
    pub(crate) generation: u64,
    pub(crate) conversation: SmolStr,
    pub(crate) made: Duration,
}

impl Waiting {
    /// Whether the tool set and the very connector that the plan was made of are in force still, without a break, and
    /// it is young enough. Every install and every grant makes another connector, which is the plan's own as long as the
    /// plan lives: the same grant or the same install again wakes no plan.
    pub(crate) fn in_force(&self, shelf: &Shelf, now: Duration, lifetime: Duration) -> Result<(), Refusal> {
        let connector = self.plan.connector();
        let installed = shelf.set.connector(connector.id());
        let is_same = installed.is_some_and(|installed| Arc::ptr_eq(installed, connector));
        if self.generation != shelf.generation || !is_same {
            let reason = "the tool set or the grant changed after the plan was made: plan the call again";
            return Err(Refusal::new(Code::PlanStale, reason));
        }
        if now.saturating_sub(self.made) >= lifetime {
            let reason = "the plan waited too long: plan the call again";
            return Err(Refusal::new(Code::PlanExpired, reason));
        }
        Ok(())
    }
}

/// A call from the moment in which it was asked for: it waits for its secrets, or is sent.
struct Running {
    plan: Arc<Plan>,
    token: CancellationToken,
}

impl State {
    pub(crate) fn new(store: Arc<dyn CredentialStore>) -> Self {
        Self {
            approvals: Approvals::default(),
            contracts: VecDeque::new(),
            plans: VecDeque::new(),
            plan_bytes: 0,
            flows: Flows::default(),
            rates: Rates::default(),
            store: Some(store),
            standings: Standings::default(),
            clients: HashMap::new(),
            running: HashMap::new(),
        }
    }

    /// The store of an open session.
    pub(crate) fn open(&self) -> Result<Arc<dyn CredentialStore>, Refusal> {
        self.store.clone().ok_or_else(|| Refusal::new(Code::SessionClosed, "the session was closed"))
    }

    /// Cancels what runs and lets go of everything.
    pub(crate) fn close(&mut self) {
        self.running.values().for_each(|call| call.token.cancel());
        self.store = None;
        self.standings = Standings::default();
        self.plans.clear();
        self.plan_bytes = 0;
        self.clients.clear();
        self.contracts.clear();
        self.approvals = Approvals::default();
        self.flows = Flows::default();
    }

    /// Makes a contract known and gives its token.
    pub(crate) fn issue(&mut self, contract: Contract) -> Sha256 {
        let id = contract.id();
        // The one that is exported again and again outlives the others.
        self.contracts.retain(|known| known.id() != id);
        if self.contracts.len() >= CONTRACTS {
            self.contracts.pop_front();
        }
        self.contracts.push_back(contract);
        id
    }

    /// The contract of a token that was issued and is not forgotten.
    pub(crate) fn contract(&self, token: &str) -> Result<&Contract, Refusal> {
        let id = Sha256::parse(token);
        let known = id.and_then(|id| self.contracts.iter().find(|contract| contract.id() == id));
        known.ok_or_else(|| {
            let reason = "no export of the current tool set has this contract: export the tools again";
            Refusal::new(Code::ContractStale, reason)
        })
    }

    /// Another tool set has become the current one. Contracts of the old one are forgotten, the clients of changed grants
    /// are dropped, and what runs under them is cancelled; plans stay, as `plan.stale`.
    pub(crate) fn changed(&mut self, set: &ToolSet) {
        self.contracts.retain(|contract| contract.tool_set() == set.hash());
        let grant = |id: &str| set.connector(id).map(|connector| connector.grant_hash());
        self.clients.retain(|id, (hash, _)| grant(id) == Some(*hash));
        let changed = |call: &&Running| {
            let connector = call.plan.connector();
            grant(connector.id()) != Some(connector.grant_hash())
        };
        self.running.values().filter(changed).for_each(|call| call.token.cancel());
    }

    /// Keeps a plan for its execution.
    pub(crate) fn keep(&mut self, waiting: Waiting, lifetime: Duration) {
        let now = waiting.made;
        // Oldest first. A plan is remembered twice as long as it lives, so that using it late is `plan.expired`.
        self.plan_bytes = self.plan_bytes.saturating_add(waiting.plan.size());
        while let Some(first) = self.plans.front() {
            let old = now.saturating_sub(first.made) >= lifetime * 2;
            if !old && self.plans.len() < PLANS && self.plan_bytes <= PLAN_BYTES {
                break;
            }
            self.plan_bytes = self.plan_bytes.saturating_sub(first.plan.size());
            self.plans.pop_front();
        }
        self.plans.push_back(waiting);
    }

    /// A plan that was made and is neither used nor forgotten.
    pub(crate) fn waiting(&self, plan: &str) -> Result<&Waiting, Refusal> {
        let found = self.plans.iter().find(|waiting| waiting.plan.id() == plan);
        found
            .ok_or_else(|| Refusal::new(Code::PlanUnknown, "no plan of this name waits: plan the call again"))
    }

    /// Gives a call its name and, if it writes, the one place of its connector, and takes nothing else. Refuses when
    /// another try has the plan, the name is taken, or another write of the connector runs.
    pub(crate) fn reserve(
        &mut self,
        waiting: &Waiting,
        call_id: &str,
        now: Duration,
        inner: &Inner,
    ) -> Result<CancellationToken, Refusal> {
        let plan = &waiting.plan;
        self.waiting(plan.id())?;
        // Read under this lock: a writer that comes after it finds the call among those that run.
        waiting.in_force(&inner.shelf.current(), now, inner.limits.plan_lifetime)?;
        if self.running.values().any(|call| Arc::ptr_eq(&call.plan, plan)) {
            return Err(Refusal::new(Code::PlanUnknown, "the plan is being carried out already"));
        }
        if self.running.contains_key(call_id) {
            return Err(Refusal::new(Code::CallInvalid, "a call of this id is running already"));
        }
        let id = plan.connector().id();
        let writes = |call: &Running| call.plan.is_write() && call.plan.connector().id() == id;
        if plan.is_write() && self.running.values().any(writes) {
            let reason = format!("another write of `{id}` is under way");
            let advice = "Wait for the write before and call again.";
            return Err(Refusal::new(Code::WriteInFlight, reason).advise(advice));
        }
        let token = CancellationToken::new();
        let running = Running { plan: Arc::clone(plan), token: token.clone() };
        self.running.insert(call_id.to_owned(), running);
        Ok(token)
    }

    /// Takes the plan of a reserved call for good. Refuses, and then takes nothing, when the call was cancelled, the
    /// plan is no longer in force, or the calls of this minute are made.
    pub(crate) fn begin(
        &mut self,
        waiting: &Waiting,
        token: &CancellationToken,
        now: Duration,
        inner: &Inner,
    ) -> Result<Arc<Client>, Refusal> {
        let plan = &waiting.plan;
        if token.is_cancelled() {
            return Err(self.given_up(waiting, now, inner));
        }
        waiting.in_force(&inner.shelf.current(), now, inner.limits.plan_lifetime)?;
        let id = plan.connector().id();
        let grant = plan.connector().grant_hash();
        let client = match self.clients.get(id) {
            Some((hash, client)) if *hash == grant => Arc::clone(client),
            _ => Arc::new(Client::new(inner.network.clone())?),
        };
        let all = inner.limits.calls_per_minute;
        let own = plan.tool().and_then(|tool| tool.limits().calls_per_minute);
        let own = own.map_or(all, |own| u32::try_from(own.get()).unwrap_or(u32::MAX).min(all));
        self.rates.take(now, &[(id, all), (&plan.preview().tool, own)])?;
        self.clients.insert(id.into(), (grant, Arc::clone(&client)));
        // Others may have taken its room while it waited for its secrets.
        if let Some(at) = self.plans.iter().position(|other| Arc::ptr_eq(&other.plan, plan)) {
            self.plans.remove(at);
            self.plan_bytes = self.plan_bytes.saturating_sub(plan.size());
        }
        self.flows.confirm(&waiting.conversation, plan.flows(), id);
        Ok(client)
    }

    /// Why a call was cancelled that had not begun.
    pub(crate) fn given_up(&self, waiting: &Waiting, now: Duration, inner: &Inner) -> Refusal {
        let changed = waiting.in_force(&inner.shelf.current(), now, inner.limits.plan_lifetime).err();
        let cancelled = || Refusal::new(Code::NetCancelled, "the call was cancelled before it was sent");
        changed.filter(|_| self.store.is_some()).unwrap_or_else(cancelled)
    }

    /// A call came to its end.
    pub(crate) fn end(&mut self, call_id: &str) {
        self.running.remove(call_id);
    }

    /// Cancels a running call; gives whether there is one.
    pub(crate) fn cancel(&self, call_id: &str) -> bool {
        self.running.get(call_id).inspect(|call| call.token.cancel()).is_some()
    }
}
