//! The mutable part of a session, behind one lock that no await ever holds.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use connector_core::audit::{Deed, Event, Trail};
use connector_core::call::{Flows, Plan};
use connector_core::json::Sha256;
use connector_core::toolset::{Contract, ToolSet};
use connector_core::{Code, Refusal};
use connector_net::Client;
use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;

use crate::rates::Rates;
use crate::secret::Credentials;

/// Exports whose contract is still known; an older one is `contract.stale`, and the application exports again.
const CONTRACTS: usize = 256;
/// Plans that wait; the oldest gives way.
const PLANS: usize = 256;
/// Audit records kept in memory.
const RECORDS: usize = 10_000;

pub(crate) struct State {
    pub(crate) set: Arc<ToolSet>,
    contracts: VecDeque<Contract>,
    plans: BTreeMap<u64, Waiting>,
    next_plan: u64,
    pub(crate) flows: Flows,
    pub(crate) rates: Rates,
    pub(crate) credentials: Credentials,
    pub(crate) trail: Trail,
    /// One client for each grant, dropped with it.
    pub(crate) clients: HashMap<SmolStr, (Sha256, Arc<Client>)>,
    pub(crate) running: HashMap<String, CancellationToken>,
    pub(crate) writing: HashSet<SmolStr>,
    pub(crate) closed: bool,
}

#[derive(Clone)]
pub(crate) struct Waiting {
    pub(crate) plan: Arc<Plan>,
    pub(crate) conversation: SmolStr,
    pub(crate) made: Duration,
}

impl State {
    pub(crate) fn new() -> Self {
        Self {
            set: Arc::default(),
            contracts: VecDeque::new(),
            plans: BTreeMap::new(),
            next_plan: 0,
            flows: Flows::default(),
            rates: Rates::default(),
            credentials: Credentials::default(),
            trail: Trail::new(RECORDS),
            clients: HashMap::new(),
            running: HashMap::new(),
            writing: HashSet::new(),
            closed: false,
        }
    }

    pub(crate) fn open(&self) -> Result<(), Refusal> {
        if self.closed { Err(Refusal::new(Code::SessionClosed, "the session was closed")) } else { Ok(()) }
    }

    /// Makes a contract known and gives its token.
    pub(crate) fn issue(&mut self, contract: Contract) -> Sha256 {
        let id = contract.id();
        if self.contract(id).is_none() {
            if self.contracts.len() >= CONTRACTS {
                self.contracts.pop_front();
            }
            self.contracts.push_back(contract);
        }
        id
    }

    /// The contract of a token that was issued and is not forgotten.
    pub(crate) fn contract(&self, id: Sha256) -> Option<&Contract> {
        self.contracts.iter().find(|contract| contract.id() == id)
    }

    /// Makes another tool set the current one; plans and clients of changed grants die.
    pub(crate) fn replace(&mut self, set: ToolSet) {
        self.set = Arc::new(set);
        let set = Arc::clone(&self.set);
        self.contracts.retain(|contract| contract.tool_set() == set.hash());
        let grant = |id: &str| set.connector(id).map(|connector| connector.grant_hash());
        self.plans.retain(|_, waiting| {
            waiting.plan.tool_set() == set.hash()
                && grant(waiting.plan.connector().id()) == Some(waiting.plan.connector().grant_hash())
        });
        self.clients.retain(|id, (hash, _)| grant(id) == Some(*hash));
    }

    /// Keeps a plan for its execution.
    pub(crate) fn keep(&mut self, waiting: Waiting, lifetime: Duration) {
        let now = waiting.made;
        // A plan is remembered twice as long as it lives, so that using it late is `plan.expired` and not `plan.unknown`.
        self.plans.retain(|_, old| now.saturating_sub(old.made) < lifetime * 2);
        while self.plans.len() >= PLANS {
            self.plans.pop_first();
        }
        self.plans.insert(self.next_plan, waiting);
        self.next_plan += 1;
    }

    pub(crate) fn waiting(&self, plan: &str) -> Option<&Waiting> {
        self.plans.values().find(|waiting| waiting.plan.id() == plan)
    }

    /// Takes a plan for good.
    pub(crate) fn consume(&mut self, plan: &str) {
        self.plans.retain(|_, waiting| waiting.plan.id() != plan);
    }

    /// Records a deed that has neither sizes nor duration.
    pub(crate) fn record(
        &mut self,
        time_ms: u64,
        deed: Deed,
        subject: &str,
        object: Option<Sha256>,
        outcome: &'static str,
    ) {
        self.trail.append(Event {
            time_ms,
            deed,
            subject: subject.to_owned(),
            tool_set: self.set.hash(),
            object,
            outcome,
            status: None,
            sent_bytes: 0,
            received_bytes: 0,
            duration_ms: 0,
        });
    }
}
