//! One scenario being played, and what is judged of it.

use std::time::Duration;

use connector_runtime::core::Refusal;
use connector_runtime::core::audit::Deed;
use connector_runtime::{Answer, Session};
use connector_testkit::scenario::{ARGUMENT, Call, Scenario};
use connector_testkit::{Event, Log};
use serde_json::{Value, json};

use crate::canary::Canaries;
use crate::expect;
use crate::kit::HANGS;
use crate::stage::{Part, Stage};

/// One scenario being played, by whoever makes its calls.
pub struct Play {
    scenario: Scenario,
    stage: Stage,
    slack: Duration,
    canaries: Canaries,
    /// How the calls that were made ended, as the audit trail is to tell it.
    ends: Vec<String>,
    /// What was expected, and what came, of the last call or of the first that was otherwise.
    differs: Option<(bool, String, String)>,
    faults: Vec<String>,
}

impl Play {
    pub(crate) fn new(scenario: Scenario, stage: Stage, slack: Duration) -> Self {
        let (canaries, ends, faults) = (Canaries::default(), Vec::new(), Vec::new());
        Self { scenario, stage, slack, canaries, ends, differs: None, faults }
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The connectors that are to be installed, with the source `kit`.
    pub fn parts(&self) -> &[Part] {
        &self.stage.parts
    }

    /// What was printed or told, in which neither a secret nor an argument may stand.
    pub fn said(&mut self, texts: impl IntoIterator<Item = String>) {
        self.stage.said.extend(texts);
    }

    /// Waits until the first server has read a whole request; tells whether one came.
    pub async fn requested(&self) -> bool {
        requested(self.first_log()).await
    }

    /// What the first server has seen.
    pub fn first_log(&self) -> Option<Log> {
        self.stage.servers.first().map(|server| server.log().clone())
    }

    /// Judges the end of a call, counted from 0. Calls are judged in order.
    ///
    /// # Errors
    /// When there is no such call.
    pub fn judge(&mut self, number: usize, seen: &Seen) -> Result<(), String> {
        let call = self.scenario.calls.get(number).ok_or("there is no such call")?;
        self.canaries.add_strings(&arguments(call));
        if self.differs.as_ref().is_none_or(|(differs, ..)| !differs) {
            self.differs = Some((!expect::is_right(call, &seen.code), call.code.clone(), seen.code.clone()));
        }
        if !seen.unasked {
            self.ends.push(if seen.code.starts_with("status.") {
                "ok".to_owned()
            } else {
                seen.code.clone()
            });
        }
        expect::call(call, seen, &self.stage.secrets, self.slack, &mut self.faults);
        self.stage.said.extend(seen.said.iter().cloned());
        Ok(())
    }

    /// The expected code and the one that came, of the last call or of the first that was otherwise.
    pub fn codes(&self) -> (String, String) {
        self.differs.clone().map(|(_, expected, code)| (expected, code)).unwrap_or_default()
    }

    /// Closes the session, judges the audit trail and what went over the network, and gives every fault of the play.
    ///
    /// # Errors
    /// When the audit trail cannot be read.
    pub async fn end(mut self, session: &Session) -> Result<Vec<String>, String> {
        let (records, _) = session.audit().map_err(|refusal| refusal.reason)?;
        self.stage.said.extend(records.iter().map(|record| record.to_value().to_text()));
        let mut recorded: Vec<String> = records
            .iter()
            .filter(|record| record.event.deed == Deed::Call)
            .map(|record| record.event.outcome.to_string())
            .collect();
        recorded.sort();
        self.ends.sort();
        if recorded != self.ends {
            self.faults.push(format!("the audit trail says {recorded:?} where {:?} happened", self.ends));
        }
        if self.stage.said.iter().any(|text| self.canaries.is_in(text) || self.stage.secrets.is_in(text)) {
            self.faults.push("a message or record holds a secret or an argument".to_owned());
        }
        session.close();
        expect::network(&self.scenario, &self.stage, &mut self.faults).await;
        Ok(self.faults)
    }
}

/// What one call came to.
#[derive(Debug, Default)]
pub struct Seen {
    /// `ok`, `status.NNN`, or a stable code.
    pub code: String,
    /// The text for the model.
    pub text: String,
    /// `retryAfter`, in seconds.
    pub retry_after: Option<u64>,
    /// How long it took.
    pub took: Duration,
    /// How long it might take.
    pub deadline: Duration,
    /// It did not end by itself.
    pub hung: bool,
    /// It was not made, since its connector could not be installed.
    pub unasked: bool,
    /// What was printed or told.
    pub said: Vec<String>,
}

impl Seen {
    pub(crate) fn of(code: &str) -> Self {
        Self { code: code.to_owned(), ..Self::default() }
    }

    pub(crate) fn refused(refusal: &Refusal) -> Self {
        let said = vec![format!("{refusal} {refusal:?}")];
        Self { said, ..Self::of(refusal.code.as_str()) }
    }

    pub(crate) fn answered(answer: Answer) -> Self {
        let code = match answer.code {
            Some(code) => code.as_str().to_owned(),
            None if answer.is_error => format!("status.{}", answer.status),
            None => "ok".to_owned(),
        };
        let said = vec![format!("{answer:?}")];
        Self { text: answer.text, retry_after: answer.retry_after, said, ..Self::of(&code) }
    }
}

/// Waits until a server has read a whole request; tells whether one came.
pub async fn requested(log: Option<Log>) -> bool {
    match log {
        Some(log) => log.wait(HANGS, is_request).await.is_some(),
        None => false,
    }
}

/// The arguments of a call.
pub fn arguments(call: &Call) -> Value {
    call.arguments.clone().unwrap_or_else(|| json!({ "words": ARGUMENT }))
}

fn is_request(entry: &connector_testkit::Entry) -> bool {
    matches!(entry.event, Event::Request(_))
}
