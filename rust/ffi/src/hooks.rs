//! Doors for tests: the scenarios of the hostile-origin kit, played by another language. Behind the feature `test-hooks`,
//! which no build for a phone has.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use connector_selftest::scenario::{Call, GiveUp, all};
use connector_selftest::{Kit, Play, Seen, arguments, read_grant};
use tokio::runtime::{Builder, Runtime};

use crate::calls::{Answer, PlannedCall};
use crate::error::ConnectorError;
use crate::grant::Grant;
use crate::runtime::ConnectorRuntime;

/// The kit, with its servers' certificates and its threads.
#[derive(uniffi::Object)]
pub struct TestHooksKit {
    kit: Kit,
    tokio: Arc<Runtime>,
}

/// One scenario of the kit.
#[derive(Debug, Clone, uniffi::Record)]
pub struct TestHooksScenario {
    /// The guard that it is about.
    pub group: String,
    /// Its name.
    pub id: String,
}

/// How a call is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum TestHooksGiveUp {
    /// By `cancel`, 50 ms after it began.
    Cancel,
    /// By `cancel`, when `requested` returns.
    CancelAfterRequest,
    /// By `cancel`, 50 ms after `requested` returns.
    CancelInAnswer,
    /// By the means of the language, when `requested` returns.
    DropAfterRequest,
}

/// A connector that is to be installed, from the source `kit`.
#[derive(Debug, Clone, uniffi::Record)]
pub struct TestHooksConnector {
    /// Its id.
    pub id: String,
    /// Its manifest.
    pub manifest: Vec<u8>,
    /// Its grant.
    pub grant: Grant,
}

/// A call that is to be made.
#[derive(Debug, Clone, uniffi::Record)]
pub struct TestHooksCall {
    /// Which connector it is of, counted from 0. Where that could not be installed, the code of the call is that refusal's.
    pub connector: u32,
    /// The full name of the tool.
    pub tool: String,
    /// The JSON text of the arguments.
    pub arguments: String,
    /// Before it, the clocks are moved on so far.
    pub advance_ms: u64,
    /// Before it, the connector is removed and installed again.
    pub reinstalled: bool,
    /// Before it, the connector gets this grant.
    pub regranted: Option<Grant>,
    /// It begins so long after the one before has ended.
    pub after_ms: u64,
    /// How it is given up.
    pub give_up: Option<TestHooksGiveUp>,
    /// It runs on while the next ones are made, which begin when `requested` returns.
    pub meanwhile: bool,
    /// It is made without the confirmation that it needs.
    pub unconfirmed: bool,
}

/// What came of a call.
#[derive(uniffi::Record)]
pub struct TestHooksSeen {
    /// `ok`, `status.NNN` for an error of the server, or the code of the error or of the answer.
    pub code: String,
    /// The answer, when there was one.
    pub answer: Option<Arc<Answer>>,
    /// How long executing it took.
    pub took_ms: u64,
    /// What `deadlineMs` gave for its plan.
    pub deadline_ms: u64,
    /// It was not made, since its connector could not be installed.
    pub unasked: bool,
    /// What the language prints of the error, the plan and the answer.
    pub said: Vec<String>,
}

/// The servers and the runtime of one scenario.
#[derive(uniffi::Object)]
pub struct TestHooksStage {
    runtime: Arc<ConnectorRuntime>,
    play: Mutex<Option<Play>>,
    tokio: Arc<Runtime>,
}

#[uniffi::export]
impl TestHooksKit {
    /// Makes the certificates and sees how fast the machine is.
    #[uniffi::constructor]
    pub fn new() -> Result<Arc<Self>, ConnectorError> {
        let tokio = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let tokio = tokio.map_err(|error| ConnectorError::internal(error.to_string()))?;
        let kit = tokio.block_on(Kit::new()).map_err(ConnectorError::internal)?;
        Ok(Arc::new(Self { kit, tokio: Arc::new(tokio) }))
    }

    /// All scenarios but those that need a process of their own for its environment.
    pub fn scenarios(&self) -> Result<Vec<TestHooksScenario>, ConnectorError> {
        let groups = all().map_err(ConnectorError::internal)?;
        let scenarios = groups.iter().flat_map(|group| group.scenarios.iter().map(move |one| (group, one)));
        let scenarios = scenarios.filter(|(_, scenario)| scenario.environment.is_empty());
        let named = |(group, one): (&_, &connector_selftest::scenario::Scenario)| {
            let group: &connector_selftest::scenario::Group = group;
            TestHooksScenario { group: group.group.clone(), id: one.id.clone() }
        };
        Ok(scenarios.map(named).collect())
    }

    /// Sets the stage of a scenario.
    pub fn stage(&self, id: String) -> Result<Arc<TestHooksStage>, ConnectorError> {
        let groups = all().map_err(ConnectorError::internal)?;
        let scenario = groups.iter().flat_map(|group| &group.scenarios).find(|scenario| scenario.id == id);
        let scenario = scenario.ok_or_else(|| ConnectorError::host("there is no such scenario"))?;
        let (play, options) =
            self.tokio.block_on(self.kit.set(scenario)).map_err(ConnectorError::internal)?;
        Ok(Arc::new(TestHooksStage {
            runtime: ConnectorRuntime::on(connector_runtime::Session::open(options), None)?,
            play: Mutex::new(Some(play)),
            tokio: Arc::clone(&self.tokio),
        }))
    }
}

impl TestHooksStage {
    fn with<T>(
        &self,
        work: impl FnOnce(&mut Play) -> Result<T, ConnectorError>,
    ) -> Result<T, ConnectorError> {
        let mut play = self.play.lock().unwrap_or_else(PoisonError::into_inner);
        work(play.as_mut().ok_or_else(|| ConnectorError::host("the scenario has ended"))?)
    }
}

#[uniffi::export]
impl TestHooksStage {
    /// The runtime, whose clients are led to the servers.
    pub fn runtime(&self) -> Result<Arc<ConnectorRuntime>, ConnectorError> {
        Ok(Arc::clone(&self.runtime))
    }

    /// The connectors that are to be installed first.
    pub fn connectors(&self) -> Result<Vec<TestHooksConnector>, ConnectorError> {
        let limits = self.runtime.session()?.limits();
        self.with(|play| {
            let part = |part: &connector_selftest::Part| {
                let grant = Grant::of(&read_grant(&part.grant, limits)?);
                Ok(TestHooksConnector {
                    id: part.id.clone(),
                    manifest: part.manifest.to_string().into(),
                    grant,
                })
            };
            play.parts().iter().map(part).collect()
        })
    }

    /// The calls that are to be made, in order.
    pub fn calls(&self) -> Result<Vec<TestHooksCall>, ConnectorError> {
        let limits = self.runtime.session()?.limits();
        self.with(|play| {
            let call = |call: &Call| {
                let part = play.parts().get(call.connector);
                let part = part.ok_or_else(|| ConnectorError::internal("there is no such connector"))?;
                let regranted = part.regranted(call).map(|grant| read_grant(&grant, limits)).transpose()?;
                Ok(TestHooksCall {
                    connector: u32::try_from(call.connector).unwrap_or(u32::MAX),
                    tool: part.tool_of(call),
                    arguments: arguments(call).to_string(),
                    advance_ms: call.advance_ms,
                    reinstalled: call.reinstalled,
                    regranted: regranted.as_ref().map(Grant::of),
                    after_ms: call.after_ms,
                    give_up: call.give_up.map(TestHooksGiveUp::of),
                    meanwhile: call.meanwhile,
                    unconfirmed: call.unconfirmed,
                })
            };
            play.scenario().calls.iter().map(call).collect()
        })
    }

    /// Moves the clocks of the runtime on.
    pub fn advance(&self, by_ms: u64) -> Result<(), ConnectorError> {
        self.runtime.session()?.advance(by_ms);
        Ok(())
    }

    /// How long a plan may take.
    pub fn deadline_ms(&self, plan: Arc<PlannedCall>) -> Result<u64, ConnectorError> {
        let time = self.runtime.session()?.time_of(&plan.id()?);
        let time = time.ok_or_else(|| ConnectorError::host("the plan is gone"))?;
        Ok(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    /// Waits until the first server has read a whole request; tells whether one came.
    pub async fn requested(&self) -> Result<bool, ConnectorError> {
        let log = self.with(|play| Ok(play.first_log()))?;
        Ok(self.tokio.spawn(connector_selftest::requested(log)).await.unwrap_or(false))
    }

    /// What the language printed otherwise, as of an install that was refused.
    pub fn said(&self, text: String) -> Result<(), ConnectorError> {
        self.with(|play| {
            play.said([text]);
            Ok(())
        })
    }

    /// Judges the ends of all calls, the audit trail, and what the servers saw; closes the runtime, and gives every fault.
    pub fn judge(&self, calls: Vec<TestHooksSeen>) -> Result<Vec<String>, ConnectorError> {
        let play = self.play.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut play = play.ok_or_else(|| ConnectorError::host("the scenario has ended"))?;
        for (number, seen) in calls.into_iter().enumerate() {
            let (text, retry_after) = match &seen.answer {
                Some(answer) => (answer.text()?, answer.retry_after_seconds()?),
                None => (String::new(), None),
            };
            let seen = Seen {
                code: seen.code,
                text,
                retry_after,
                took: Duration::from_millis(seen.took_ms),
                deadline: Duration::from_millis(seen.deadline_ms),
                hung: false,
                unasked: seen.unasked,
                said: seen.said,
            };
            play.judge(number, &seen).map_err(ConnectorError::internal)?;
        }
        let session = self.runtime.session()?;
        self.tokio.block_on(play.end(session)).map_err(ConnectorError::internal)
    }
}

impl TestHooksGiveUp {
    fn of(way: GiveUp) -> Self {
        match way {
            GiveUp::Cancel => Self::Cancel,
            GiveUp::CancelAfterRequest => Self::CancelAfterRequest,
            GiveUp::CancelInAnswer => Self::CancelInAnswer,
            GiveUp::DropAfterRequest => Self::DropAfterRequest,
        }
    }
}
