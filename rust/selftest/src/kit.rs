//! Running one scenario and judging it.

use std::time::{Duration, Instant};

use connector_runtime::core::call::ToolCall;
use connector_runtime::core::{Code, Refusal};
use connector_runtime::{Answer, PlanView, Session, SessionOptions};
use connector_testkit::Log;
use connector_testkit::scenario::{Call, GiveUp, Scenario, all};
use tokio::task::JoinHandle;

use crate::play::{Play, Seen, arguments, requested};
use crate::stage::{Certificates, Stage};

/// What a busy machine may take on top of what the control run says.
const LEAST_SLACK: Duration = Duration::from_secs(1);

/// How many times as long as the control run a call may take beside its deadline.
const CONTROL_RUNS: u32 = 20;

/// A scenario that is still running so long after its deadline hangs.
pub(crate) const HANGS: Duration = Duration::from_secs(30);

/// A moment.
const MOMENT: Duration = Duration::from_millis(50);

/// What a scenario came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The scenario.
    pub id: String,
    /// The guard that it is about.
    pub group: String,
    /// The expected code of the last call, or of the first that was otherwise.
    pub expected: String,
    /// The code that this call had.
    pub code: String,
    /// Everything that was not as it must be; empty when all is well.
    pub faults: Vec<String>,
    /// How long it took, with its servers.
    pub took: Duration,
}

impl Outcome {
    /// Whether all is well.
    pub fn ok(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Runs scenarios. It lives inside a tokio runtime of several threads.
pub struct Kit {
    certificates: Certificates,
    slack: Duration,
}

impl Kit {
    /// Makes the certificates, and runs the kit's first scenario, which must go well, to see how fast this machine is.
    ///
    /// # Errors
    /// When the scenarios cannot be read, or the control run fails.
    pub async fn new() -> Result<Self, String> {
        let groups = all()?;
        let control =
            groups.first().and_then(|group| group.scenarios.first()).ok_or("there are no scenarios")?;
        let mut kit = Self { certificates: Certificates::new()?, slack: HANGS };
        let mut slowest = Duration::ZERO;
        for _ in 0..3 {
            let outcome = kit.run("control", control).await;
            if let Some(fault) = outcome.faults.first() {
                return Err(format!("the control run failed: {fault}"));
            }
            slowest = slowest.max(outcome.took);
        }
        kit.slack = LEAST_SLACK + slowest * CONTROL_RUNS;
        Ok(kit)
    }

    /// Runs one scenario of a group. Whatever goes wrong is a fault of the outcome.
    pub async fn run(&self, group: &str, scenario: &Scenario) -> Outcome {
        let started = Instant::now();
        let panics = crate::panics();
        let mut outcome = Outcome {
            id: scenario.id.clone(),
            group: group.to_owned(),
            expected: scenario.calls.last().map(|call| call.code.clone()).unwrap_or_default(),
            code: String::new(),
            faults: Vec::new(),
            took: Duration::ZERO,
        };
        if let Err(fault) = self.play(scenario, &mut outcome).await {
            outcome.faults.push(fault);
        }
        if crate::panics() > panics {
            outcome.faults.push("something panicked meanwhile".to_owned());
        }
        outcome.took = started.elapsed();
        outcome
    }

    /// Sets the stage of a scenario, and gives the options of the session that plays on it.
    ///
    /// # Errors
    /// When a server cannot be opened, or the scenario is not of the format.
    pub async fn set(&self, scenario: &Scenario) -> Result<(Play, SessionOptions), String> {
        let (stage, options) = Stage::set(&self.certificates, scenario).await?;
        Ok((Play::new(scenario.clone(), stage, self.slack), options))
    }

    async fn play(&self, scenario: &Scenario, outcome: &mut Outcome) -> Result<(), String> {
        let (mut play, options) = self.set(scenario).await?;
        let session = Session::open(options);
        let parts = play.parts().to_vec();
        let refused: Vec<Option<Code>> = parts
            .iter()
            .map(|part| {
                let refusal = part.install(&session).err()?;
                play.said([format!("{refusal} {refusal:?}")]);
                Some(refusal.code)
            })
            .collect();
        let mut seen = Vec::new();
        for (number, call) in scenario.calls.iter().enumerate() {
            session.advance(call.advance_ms);
            let part = parts.get(call.connector).ok_or("there is no such connector")?;
            if let Some(code) = refused.get(call.connector).copied().flatten() {
                seen.push(Running::Done(Seen { unasked: true, ..Seen::of(code.as_str()) }));
                continue;
            }
            part.before(&session, call)?;
            let log = play.first_log();
            tokio::time::sleep(Duration::from_millis(call.after_ms)).await;
            let running = run(session.clone(), part.tool_of(call), call.clone(), number, log);
            if call.meanwhile {
                let running = tokio::spawn(running);
                if !play.requested().await {
                    return Err("no request came".to_owned());
                }
                seen.push(Running::Still(running));
            } else {
                seen.push(Running::Done(running.await?));
            }
        }
        for (number, running) in seen.into_iter().enumerate() {
            let seen = match running {
                Running::Done(seen) => seen,
                Running::Still(task) => task.await.map_err(|_| "a call panicked")??,
            };
            play.judge(number, &seen)?;
        }
        let (expected, code) = play.codes();
        (outcome.expected, outcome.code) = (expected, code);
        outcome.faults = play.end(&session).await?;
        Ok(())
    }
}

enum Running {
    Done(Seen),
    Still(JoinHandle<Result<Seen, String>>),
}

/// Plans and carries out one call.
async fn run(
    session: Session,
    tool: String,
    call: Call,
    number: usize,
    log: Option<Log>,
) -> Result<Seen, String> {
    let contract = session.list().map_err(|refusal| refusal.reason)?.contract.to_string();
    let asked = ToolCall { name: tool, arguments: arguments(&call).to_string() };
    let view = match session.plan(&asked, Some(&contract), None) {
        Ok(view) => view,
        Err(refusal) => return Ok(Seen::refused(&refusal)),
    };
    let deadline = session.time_of(&view.plan).ok_or("the plan is gone")?;
    let started = Instant::now();
    let id = format!("call-{number}");
    let ending = execute(&session, &view, &call, &id, log);
    let ended = tokio::time::timeout(deadline + HANGS, ending).await;
    let (took, hung) = (started.elapsed(), ended.is_err());
    let seen = match ended {
        Ok(Some(Ok(answer))) => Seen::answered(answer),
        Ok(Some(Err(refusal))) => Seen::refused(&refusal),
        // Nobody is there to be told: the trail says how it ended.
        Ok(None) => {
            let (records, _) = session.audit().map_err(|refusal| refusal.reason)?;
            Seen::of(records.last().map_or("none", |record| &record.event.outcome))
        }
        Err(_) => Seen::of(Code::NetTimeout.as_str()),
    };
    Ok(Seen { took, deadline, hung, ..seen })
}

/// The end of a call, or nothing when its future was dropped.
async fn execute(
    session: &Session,
    view: &PlanView,
    call: &Call,
    id: &str,
    log: Option<Log>,
) -> Option<Result<Answer, Refusal>> {
    let confirmation =
        (!view.needs_confirmation.is_empty() && !call.unconfirmed).then(|| view.digest.to_string());
    let running = session.execute(&view.plan, confirmation.as_deref(), Some(id), None);
    let requested = async {
        if !requested(log).await {
            std::future::pending::<()>().await;
        }
    };
    match call.give_up {
        None => Some(running.await),
        Some(GiveUp::Cancel) => {
            let cancel = async {
                tokio::time::sleep(MOMENT).await;
                session.cancel(id);
            };
            Some(tokio::join!(running, cancel).0)
        }
        Some(GiveUp::CancelAfterRequest | GiveUp::CancelInAnswer) => {
            let cancel = async {
                requested.await;
                if call.give_up == Some(GiveUp::CancelInAnswer) {
                    tokio::time::sleep(MOMENT).await;
                }
                session.cancel(id);
            };
            Some(tokio::join!(running, cancel).0)
        }
        Some(GiveUp::DropAfterRequest) => {
            tokio::select! {
                ended = running => Some(ended),
                () = requested => None,
            }
        }
    }
}
