//! The hostile-origin kit, and the shared cases as its scenarios.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

mod corpora;
mod documentation;
mod scenarios;

use std::sync::Arc;

use connector_selftest::{Kit, Outcome, watch_panics};
use connector_testkit::scenario::Scenario;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Runs scenarios side by side, and fails when any of them does.
async fn run(name: &str, scenarios: Vec<(String, Scenario)>) {
    watch_panics();
    let kit = Arc::new(Kit::new().await.unwrap());
    let places = Arc::new(Semaphore::new(8));
    let mut runs = JoinSet::new();
    for (group, scenario) in scenarios {
        let (kit, places) = (kit.clone(), places.clone());
        runs.spawn(async move {
            let _place = places.acquire_owned().await.unwrap();
            kit.run(&group, &scenario).await
        });
    }
    let outcomes = runs.join_all().await;
    let failed: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.ok()).collect();
    for outcome in &failed {
        println!("FAILED {} {}: {:?}", outcome.group, outcome.id, outcome.faults);
    }
    println!("{name}: {} scenarios, {} failed", outcomes.len(), failed.len());
    assert!(failed.is_empty(), "{} of {name}", failed.len());
}
