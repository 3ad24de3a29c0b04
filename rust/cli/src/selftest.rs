//! `connector selftest`: the hostile-origin kit on the user's own machine.

use std::collections::BTreeMap;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use connector_core::json::Value;
use connector_selftest::{Kit, Outcome, watch_panics};
use connector_testkit::scenario::{Group, Scenario, TRAP, all};
use connector_testkit::{Server, Step};
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::Format;
use crate::options::block_on;
use crate::rpc::object;
use crate::style::{ERROR, FRAME, GOOD, QUIET, TITLE, Trouble, out, safe};

/// Scenarios that run side by side: most of them wait.
const SIDE_BY_SIDE: usize = 8;

/// A process of its own for one scenario is given up after this.
const PROCESS: Duration = Duration::from_secs(120);

/// What is run, and how it is told.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// Only scenarios whose id has this in it
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The variables of a scenario are set already: this process is the one that it asks for
    #[arg(long, hide = true)]
    in_environment: bool,
}

/// Runs the kit and reports.
pub(crate) fn selftest(flags: &Flags) -> Result<ExitCode, Trouble> {
    watch_panics();
    let mut groups = all().map_err(|error| Trouble::new("selftest.scenarios", error))?;
    if let Some(part) = &flags.only {
        for group in &mut groups {
            group.scenarios.retain(|scenario| scenario.id.contains(part.as_str()));
        }
        groups.retain(|group| !group.scenarios.is_empty());
        if groups.is_empty() {
            return Err(Trouble::usage("no scenario has this in its id"));
        }
    }
    let outcomes = block_on(run(&groups, flags.in_environment))?;
    let outcomes = outcomes.map_err(|error| Trouble::new("selftest.control", error))?;
    let failed = outcomes.values().filter(|outcome| !outcome.ok()).count();
    match flags.format {
        Format::Text => table(&groups, &outcomes, failed),
        Format::Json => out(&report(&groups, &outcomes).to_text()),
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The outcomes by the ids of their scenarios.
async fn run(groups: &[Group], in_environment: bool) -> Result<BTreeMap<String, Outcome>, String> {
    let kit = Arc::new(Kit::new().await?);
    let places = Arc::new(Semaphore::new(SIDE_BY_SIDE));
    let mut runs = JoinSet::new();
    for group in groups {
        for scenario in group.scenarios.clone() {
            let (kit, places, group) = (Arc::clone(&kit), Arc::clone(&places), group.group.clone());
            runs.spawn(async move {
                let _place = places.acquire_owned().await;
                if scenario.environment.is_empty() || in_environment {
                    kit.run(&group, &scenario).await
                } else {
                    in_process(&group, &scenario).await
                }
            });
        }
    }
    let mut outcomes = BTreeMap::new();
    while let Some(done) = runs.join_next().await {
        let outcome = done.map_err(|_| "a scenario could not be run to its end".to_owned())?;
        outcomes.insert(outcome.id.clone(), outcome);
    }
    Ok(outcomes)
}

/// Runs a scenario in a process of its own, with its variables: those of a process cannot be changed safely from within.
async fn in_process(group: &str, scenario: &Scenario) -> Outcome {
    let started = std::time::Instant::now();
    let last = scenario.calls.last().map(|call| call.code.clone()).unwrap_or_default();
    let mut outcome = Outcome {
        id: scenario.id.clone(),
        group: group.to_owned(),
        expected: last,
        code: String::new(),
        faults: Vec::new(),
        took: Duration::ZERO,
    };
    match tokio::time::timeout(PROCESS, ask(scenario)).await {
        Ok(Ok((code, ok, trapped))) => {
            outcome.code = code;
            if !ok {
                outcome.faults.push("it failed in a process of its own".to_owned());
            }
            if trapped > 0 {
                outcome.faults.push(format!("{trapped} connections to what the environment names"));
            }
        }
        Ok(Err(fault)) => outcome.faults.push(fault),
        Err(_) => outcome.faults.push("its process did not end".to_owned()),
    }
    outcome.took = started.elapsed();
    outcome
}

/// The code and the verdict of the other process, and how many connections its trap saw.
async fn ask(scenario: &Scenario) -> Result<(String, bool, usize), String> {
    let trap = Server::plain(vec![Step::ReadSome]).await.map_err(|error| error.to_string())?;
    let itself = std::env::current_exe().map_err(|error| error.to_string())?;
    let at = trap.address().to_string();
    let variables = scenario.environment.iter().map(|(name, value)| (name, value.replace(TRAP, &at)));
    let output = Command::new(itself)
        .args(["selftest", "--in-environment", "--format", "json", "--only", &scenario.id])
        .envs(variables)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| error.to_string())?;
    let profile = connector_core::json::Profile {
        max_bytes: 1 << 20,
        max_depth: 8,
        numbers: connector_core::json::Numbers::Any,
    };
    let report = connector_core::json::read_strict(&output.stdout, profile)
        .map_err(|_| "its process gave no report".to_owned())?;
    let scenarios = report.get("scenarios").and_then(Value::as_array).unwrap_or_default();
    let found =
        scenarios.iter().find(|found| found.get("id").and_then(Value::as_str) == Some(scenario.id.as_str()));
    let found = found.ok_or("its process did not run it")?;
    let code = found.get("code").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok((code, found.get("ok") == Some(&Value::Bool(true)), trap.log().connections()))
}

/// `{"scenarios": [{"id", "group", "expected", "code", "ok", "faults"?}]}`, in the order of the kit.
fn report(groups: &[Group], outcomes: &BTreeMap<String, Outcome>) -> Value {
    let ids = groups.iter().flat_map(|group| &group.scenarios).map(|scenario| &scenario.id);
    let entry = |outcome: &Outcome| {
        let mut members = vec![
            ("id", Value::from(outcome.id.as_str())),
            ("group", outcome.group.as_str().into()),
            ("expected", outcome.expected.as_str().into()),
            ("code", outcome.code.as_str().into()),
            ("ok", outcome.ok().into()),
        ];
        if !outcome.ok() {
            let faults = outcome.faults.iter().map(|fault| fault.as_str().into()).collect();
            members.push(("faults", Value::Array(faults)));
        }
        object(members)
    };
    let scenarios = ids.filter_map(|id| outcomes.get(id)).map(entry).collect();
    object([("scenarios", Value::Array(scenarios))])
}

/// One line a scenario, under the guard of its group.
fn table(groups: &[Group], outcomes: &BTreeMap<String, Outcome>, failed: usize) {
    let longest = |text: fn(&Outcome) -> &str| outcomes.values().map(|it| text(it).len()).max().unwrap_or(0);
    let (id_width, code_width) = (longest(|it| &it.id), longest(|it| &it.code));
    for group in groups {
        let of_group: Vec<&Outcome> =
            group.scenarios.iter().filter_map(|scenario| outcomes.get(&scenario.id)).collect();
        let good = of_group.iter().filter(|outcome| outcome.ok()).count();
        out(&format!("\n{TITLE}{}{TITLE:#}  {QUIET}{good} of {}{QUIET:#}", group.group, of_group.len()));
        out(&format!("{FRAME}|{FRAME:#} {}", group.guard));
        for outcome in of_group {
            let (style, word) = if outcome.ok() { (GOOD, "ok") } else { (ERROR, "FAILED") };
            let ms = outcome.took.as_millis();
            out(&format!(
                "  {style}{word:<6}{style:#} {:<id_width$}  {:<code_width$}  {QUIET}{ms:>5} ms{QUIET:#}",
                outcome.id,
                safe(&outcome.code)
            ));
            for fault in &outcome.faults {
                out(&format!("         {ERROR}-{ERROR:#} {}", safe(fault)));
            }
        }
    }
    let total = outcomes.len();
    let (style, says) = if failed == 0 { (GOOD, "all as they must") } else { (ERROR, "see above") };
    out(&format!("\n{style}{} passed, {failed} failed{style:#}  {QUIET}{says}{QUIET:#}", total - failed));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_that_ends_otherwise_is_told_with_its_faults() {
        let groups = all().unwrap();
        let outcome = |scenario: &Scenario, faults: &[&str]| Outcome {
            id: scenario.id.clone(),
            group: "path".to_owned(),
            expected: "ok".to_owned(),
            code: "net.tls".to_owned(),
            faults: faults.iter().map(|fault| (*fault).to_owned()).collect(),
            took: Duration::ZERO,
        };
        let [first, second] = &groups[0].scenarios[..2] else { panic!("two scenarios") };
        let outcomes = [outcome(second, &[]), outcome(first, &["`net.tls` where `ok` is right"])];
        let outcomes = outcomes.into_iter().map(|outcome| (outcome.id.clone(), outcome)).collect();
        assert_eq!(
            report(&groups, &outcomes).to_text(),
            "{\"scenarios\":[{\"id\":\"path-read\",\"group\":\"path\",\"expected\":\"ok\",\"code\":\"net.tls\",\"ok\":false,\
             \"faults\":[\"`net.tls` where `ok` is right\"]},\
             {\"id\":\"path-write\",\"group\":\"path\",\"expected\":\"ok\",\"code\":\"net.tls\",\"ok\":true}]}"
        );
    }
}
