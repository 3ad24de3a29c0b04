//! What scenarios take and leave behind: memory by a counting allocator, tasks and open files of the process. So this is
//! one test in a process of its own.
//!
//! `CONNECTOR_ROUNDS` says how often each scenario is played (3 by default), `CONNECTOR_SCENARIO` which: those with it
//! in their id.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

use std::env;
use std::sync::Arc;
use std::time::Duration;

use connector_selftest::{Kit, panics, watch_panics};
use connector_testkit::scenario::{Scenario, all};
use peak_alloc::PeakAlloc;
use tokio::task::JoinSet;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;

/// The caps of the default limits, on wire and decoded bytes, and what a call may take beside them.
const CAPS: usize = MIB + 4 * MIB;
const ALLOWANCE: usize = 2 * MIB;

/// What may be kept for good, such as room in tables that were filled once. Over a thousand rounds a leak of a hundred
/// bytes is more.
const KEPT: usize = 64 << 10;

/// Rounds that run side by side: most scenarios wait.
const SIDE_BY_SIDE: usize = 50;

#[tokio::test]
async fn scenarios_stay_within_their_caps_and_leave_nothing_behind() {
    watch_panics();
    let before = held().2;
    std::mem::forget(vec![1_u8; KEPT]);
    assert!(held().2 >= before + KEPT, "what is kept for good is seen");
    let rounds = env::var("CONNECTOR_ROUNDS").map_or(3, |rounds| rounds.parse().unwrap());
    let only = env::var("CONNECTOR_SCENARIO").unwrap_or_default();
    let kit = Arc::new(Kit::new().await.unwrap());
    let scenarios: Vec<Scenario> = all()
        .unwrap()
        .into_iter()
        .flat_map(|group| group.scenarios)
        .filter(|scenario| scenario.id.contains(&only))
        .collect();

    let mut highest = (0, String::new());
    for scenario in &scenarios {
        let peak = peak(&kit, scenario).await;
        if scenario.id.contains("bomb") || peak > 2 * MIB {
            println!("{}: {} KiB, caps of {} KiB", scenario.id, peak >> 10, CAPS >> 10);
        }
        // A tree of JSON values takes more than its text; how much more is bounded by their number.
        let most = if scenario.id.contains("json") { 8 * CAPS } else { CAPS + ALLOWANCE };
        assert!(peak < most, "{}: {peak}", scenario.id);
        highest = highest.max((peak, scenario.id.clone()));
    }
    println!("the most was {} KiB, in {}", highest.0 >> 10, highest.1);

    let mut grown = (0, String::new());
    for scenario in &scenarios {
        let more = leaves_nothing(&kit, scenario, rounds).await;
        grown = grown.max((more, scenario.id.clone()));
    }
    println!(
        "{} scenarios, {rounds} rounds each: the memory of one grew by {} bytes at most, in {}",
        scenarios.len(),
        grown.0,
        grown.1
    );
    assert_eq!(panics(), 0);
}

/// The peak of one round, servers included, over what was held before.
async fn peak(kit: &Arc<Kit>, scenario: &Scenario) -> usize {
    settled().await;
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let outcome = kit.run("resources", scenario).await;
    assert!(outcome.ok(), "{}: {:?}", outcome.id, outcome.faults);
    MEMORY.peak_usage() - before
}

/// Plays a scenario again and again; how much more memory is held then.
async fn leaves_nothing(kit: &Arc<Kit>, scenario: &Scenario, rounds: usize) -> usize {
    let warm = rounds.min(SIDE_BY_SIDE);
    play(kit, scenario, warm).await;
    let (tasks, files, memory) = settled().await;
    play(kit, scenario, rounds).await;
    let after = settled().await;
    assert!(after.0 <= tasks, "{}: {} tasks where {tasks} were before", scenario.id, after.0);
    assert!(after.1 <= files, "{}: {:?} open files where {files:?} were before", scenario.id, after.1);
    let more = after.2.saturating_sub(memory);
    assert!(more < KEPT, "{}: {more} bytes more after {rounds} rounds", scenario.id);
    more
}

async fn play(kit: &Arc<Kit>, scenario: &Scenario, rounds: usize) {
    let shared = Arc::new(scenario.clone());
    let mut left = rounds;
    while left > 0 {
        let batch = left.min(SIDE_BY_SIDE);
        left -= batch;
        let mut runs = JoinSet::new();
        for _ in 0..batch {
            let (kit, scenario) = (kit.clone(), shared.clone());
            runs.spawn(async move { kit.run("resources", &scenario).await });
        }
        for outcome in runs.join_all().await {
            // Under this load a deadline may come before what a scenario is about, which is tested alone.
            let late = outcome.code == "net.timeout" || waits(scenario);
            let faults: Vec<&String> =
                outcome.faults.iter().filter(|fault| !fault.starts_with("it took ")).collect();
            assert!(faults.is_empty() || late, "{}: {faults:?}", outcome.id);
        }
    }
}

/// Whether a scenario has a time limit of its own, which many at once may reach before what they are about.
fn waits(scenario: &Scenario) -> bool {
    scenario.limits.contains_key("connectTimeoutMs")
        || scenario.calls.iter().any(|call| call.at_least_ms > 0 || call.meanwhile || call.give_up.is_some())
        || scenario.id.starts_with("deadline-")
}

/// Tasks of the runtime, open files of the process where the system tells, bytes of the heap.
fn held() -> (usize, Option<usize>, usize) {
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let files = std::fs::read_dir("/proc/self/fd").ok().map(Iterator::count);
    (tasks, files, MEMORY.current_usage())
}

/// What is held once the ends of the last connections have gone through, on both sides.
async fn settled() -> (usize, Option<usize>, usize) {
    let mut last = held();
    for _ in 0..200 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        let now = held();
        if (now.0, now.1) == (last.0, last.1) && now.2 >= last.2 {
            break;
        }
        last = now;
    }
    held()
}
