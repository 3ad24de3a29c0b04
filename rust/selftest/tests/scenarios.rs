//! Every scenario of the kit, through the public session.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

use std::sync::Arc;

use connector_selftest::{Kit, Outcome, watch_panics};
use connector_testkit::scenario::all;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_scenario_ends_as_it_must() {
    watch_panics();
    let only = std::env::var("CONNECTOR_SCENARIO").ok();
    let kit = Arc::new(Kit::new().await.unwrap());
    let places = Arc::new(Semaphore::new(8));
    let mut runs = JoinSet::new();
    for group in all().unwrap() {
        for scenario in group.scenarios {
            if only.as_ref().is_some_and(|only| !scenario.id.contains(only)) {
                continue;
            }
            let (kit, places, group) = (kit.clone(), places.clone(), group.group.clone());
            runs.spawn(async move {
                let _place = places.acquire_owned().await.unwrap();
                kit.run(&group, &scenario).await
            });
        }
    }
    let outcomes = runs.join_all().await;
    let failed: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.ok()).collect();
    for outcome in &failed {
        println!("FAILED {} {}: {:?}", outcome.group, outcome.id, outcome.faults);
    }
    println!("{} scenarios, {} failed", outcomes.len(), failed.len());
    assert!(failed.is_empty());
}
