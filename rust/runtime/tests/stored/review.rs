//! What a merge refuses is a person's decision.

use connector_runtime::core::toolset::ChangeKind;
use serde_json::{Value, json};

use crate::kit::{Device, approval, file_hash, offer, successor};
use crate::support::{call, code, execute, grant, install, least, least_and, manifest, plan};

fn wider() -> Value {
    let mut wider = successor(&manifest("notes"), &manifest("notes"));
    wider["tools"][1]["parameters"]["properties"]["text"] = json!({ "type": ["string", "integer"] });
    wider["title"] = json!("Better notes");
    wider
}

#[test]
fn an_approval_lets_its_differences_through_once_and_the_new_schema_counts_after_a_restart() {
    let device = Device::new();
    let session = device.open();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    assert_eq!(code(offer(&session, &wider(), "app", &least("notes"), None)), "merge.widening");
    let token = approval(&session, &wider(), "app", &least("notes"));
    let before = session.list().unwrap().contract;
    let installed = offer(&session, &wider(), "app", &least("notes"), Some(&token)).unwrap();
    assert_ne!(installed.contract, before, "every planner's cache is void");
    assert_eq!(code(offer(&session, &wider(), "app", &least("notes"), Some(&token))), "approval.invalid");
    let session = device.restart(&session);
    assert_eq!(session.list().unwrap().connectors[0].manifest().sha256(), file_hash(&wider()));
    offer(&session, &successor(&wider(), &wider()), "app", &least("notes"), None).unwrap();
}

#[test]
fn a_review_shows_what_widens_with_a_witness_and_the_texts() {
    let device = Device::new();
    let session = device.open();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let text = wider().to_string();
    let offer = connector_runtime::Offer {
        manifest: text.as_bytes(),
        source: "app",
        grant: grant(&least("notes")),
        signature: None,
    };
    let reviewed = session.review(&offer).unwrap();
    assert!(reviewed.needs_approval);
    let kinds: Vec<ChangeKind> = reviewed.changes.iter().map(|change| change.kind).collect();
    assert!(kinds.contains(&ChangeKind::Widened) && kinds.contains(&ChangeKind::Text));
    assert!(reviewed.changes.iter().any(|change| change.witness.is_some()));
}

#[test]
fn an_approval_is_for_this_offer_on_this_tool_set_and_for_ten_minutes() {
    let device = Device::new();
    let session = device.open();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let token = || approval(&session, &wider(), "app", &least("notes"));
    let refused = |manifest: &Value, source: &str, granted: &Value, token: &str| {
        assert_eq!(code(offer(&session, manifest, source, granted, Some(token))), "approval.invalid");
    };
    let mut other = wider();
    other["title"] = json!("Even better notes");
    refused(&other, "app", &least("notes"), &token());
    refused(&wider(), "web", &least("notes"), &token());
    refused(&wider(), "app", &least_and("notes", &json!({ "loopback": true })), &token());
    refused(&wider(), "app", &least("notes"), "no token");
    let late = token();
    session.advance(600_000);
    refused(&wider(), "app", &least("notes"), &late);
    let before = token();
    install(&session, &manifest("tasks"), &least("tasks")).unwrap();
    refused(&wider(), "app", &least("notes"), &before);
    // A restart forgets approvals.
    let kept = token();
    let session = device.restart(&session);
    assert_eq!(code(offer(&session, &wider(), "app", &least("notes"), Some(&kept))), "approval.invalid");
}

#[test]
fn another_source_takes_the_id_by_a_review_and_keeps_it() {
    let device = Device::new();
    let session = device.open();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let token = approval(&session, &manifest("notes"), "web", &least("notes"));
    offer(&session, &manifest("notes"), "web", &least("notes"), Some(&token)).unwrap();
    let session = device.restart(&session);
    assert_eq!(session.list().unwrap().connectors[0].source(), "web");
    assert_eq!(code(offer(&session, &manifest("notes"), "app", &least("notes"), None)), "merge.source");
}

#[tokio::test]
async fn a_wider_grant_takes_an_approval_and_ends_the_plans_of_the_old_one() {
    let device = Device::new();
    let session = device.open();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let wider = grant(&least_and("notes", &json!({ "loopback": true })));
    assert_eq!(code(session.set_grant("notes", wider.clone())), "grant.wider");
    let reviewed = session.review_grant("notes", wider.clone()).unwrap();
    let told: Vec<&str> = reviewed.changes.iter().map(|change| change.pointer.as_str()).collect();
    assert_eq!(told, ["/grant/loopback"]);
    let view = plan(&session, "notes.find", &json!({ "text": "x" })).unwrap();
    session.set_grant_approved("notes", wider.clone(), Some(&reviewed.approval)).unwrap();
    assert_eq!(code(execute(&session, &view).await), "plan.stale");
    assert_eq!(
        code(session.set_grant_approved("notes", wider.clone(), Some(&reviewed.approval))),
        "approval.invalid"
    );
    let session = device.restart(&session);
    let listed = session.list().unwrap();
    assert_eq!(listed.connectors[0].grant_hash(), wider.hash(file_hash(&manifest("notes"))));
    session.set_grant("notes", grant(&least("notes"))).unwrap();
}

/// Compare and swap, and a plan that dies with its tool set.
#[tokio::test]
async fn a_stale_contract_installs_removes_and_calls_nothing() {
    let device = Device::new();
    let session = device.open();
    let old = install(&session, &manifest("notes"), &least("notes")).unwrap().contract.to_string();
    let view = plan(&session, "notes.find", &json!({ "text": "x" })).unwrap();
    install(&session, &manifest("tasks"), &least("tasks")).unwrap();
    assert_eq!(
        code(session.plan(&call("notes.find", &json!({ "text": "x" })), Some(&old), None)),
        "contract.stale"
    );
    assert_eq!(
        code(session.plan(&call("notes.find", &json!({ "text": "x" })), None, None)),
        "contract.stale"
    );
    assert_eq!(code(session.remove("notes", Some(&old))), "contract.stale");
    let text = manifest("mail").to_string();
    assert_eq!(
        code(session.install(text.as_bytes(), "app", grant(&least("mail")), Some(&old))),
        "contract.stale"
    );
    assert_eq!(code(execute(&session, &view).await), "plan.stale");
    let now = session.list().unwrap().contract.to_string();
    let after = session.remove("notes", Some(&now)).unwrap();
    assert_eq!(after, session.list().unwrap().contract);
}
