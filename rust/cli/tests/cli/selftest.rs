//! `connector selftest`: the hostile-origin kit in the command that people have.

use std::collections::BTreeSet;

use connector_testkit::scenario::{ARGUMENT, SECRET, all};
use serde_json::Value;

use crate::support::{connector, run, said};

#[test]
fn every_scenario_is_reported_and_the_process_writes_no_secret_and_no_argument() {
    let said = said(connector().args(["selftest", "--format", "json"]));
    let report = said.json();
    let scenarios = report["scenarios"].as_array().unwrap();
    let failed: Vec<&Value> = scenarios.iter().filter(|scenario| scenario["ok"] != true).collect();
    println!("selftest: {} scenarios, {} failed", scenarios.len(), failed.len());
    assert!(failed.is_empty() && said.status == 0, "{failed:#?} {}", said.err);
    assert!(scenarios.len() >= 150);
    for scenario in scenarios {
        let members: Vec<&String> = scenario.as_object().unwrap().keys().collect();
        assert_eq!(members, ["id", "group", "expected", "code", "ok"]);
    }
    let reported: BTreeSet<&str> =
        scenarios.iter().map(|scenario| scenario["id"].as_str().unwrap()).collect();
    let groups = all().unwrap();
    let of_kit = groups.iter().flat_map(|group| &group.scenarios).map(|scenario| scenario.id.as_str());
    assert_eq!(reported, of_kit.collect());
    for written in [&said.out, &said.err] {
        for canary in [SECRET, ARGUMENT, "canary"] {
            assert!(!written.contains(canary), "{canary}");
        }
    }
}

#[test]
fn the_table_names_guards_and_scenarios() {
    let said = run(&["selftest", "--only", "address-nat64"]);
    assert_eq!((said.status, said.err.as_str()), (0, ""));
    for part in [
        "address  3 of 3",
        "globally reachable",
        "ok     address-nat64-metadata  net.address",
        "3 passed, 0 failed",
    ] {
        assert!(said.out.contains(part), "{part} in {}", said.out);
    }
    assert!(!said.out.contains('\u{1b}'), "no colour without a terminal");
    let coloured = said_coloured();
    assert!(coloured.contains("\u{1b}[1m\u{1b}[32mok"), "{coloured:?}");
}

fn said_coloured() -> String {
    said(connector().args(["selftest", "--only", "address-nat64"]).env("CLICOLOR_FORCE", "1")).out
}

#[test]
fn proxies_of_the_environment_are_set_for_a_process_of_its_own() {
    let said = run(&["selftest", "--only", "ambient-proxy-", "--format", "json"]);
    assert_eq!(said.status, 0, "{}", said.out);
    assert_eq!(said.json()["scenarios"].as_array().unwrap().len(), 3);
}

#[test]
fn a_part_that_no_scenario_has_is_wrong_use() {
    let said = run(&["selftest", "--only", "no-such-scenario"]);
    assert_eq!((said.status, said.out.as_str()), (2, ""));
}
