//! What is installed comes back, and what does not is named.

use std::fs;

use connector_runtime::core::Code;
use connector_runtime::store::StoreOptions;
use serde_json::json;

use crate::kit::{Device, file_hash, offer, store, successor};
use crate::support::{
    Network, bearer, call, code, execute, fine, install, least, least_and, manifest, plan, with_token,
};

#[test]
fn everything_comes_back_under_the_same_contract() {
    let device = Device::new();
    let session = device.open();
    install(
        &session,
        &manifest("notes"),
        &least_and("notes", &json!({ "flows": ["mail"], "only": ["find", "add"] })),
    )
    .unwrap();
    install(&session, &with_token("tasks", &bearer()), &least("tasks")).unwrap();
    let before = session.list().unwrap();
    let grants = |listed: &connector_runtime::Listed| {
        listed.connectors.iter().map(|connector| connector.grant_hash()).collect::<Vec<_>>()
    };
    let session = device.restart(&session);
    let after = session.list().unwrap();
    assert_eq!((after.contract, &after.tools), (before.contract, &before.tools));
    assert_eq!(grants(&after), grants(&before));
    assert!(after.broken.is_empty());
    // Installing the same again is nothing new, and an older contract is stale in another process.
    let counter = session.counter().unwrap();
    install(
        &session,
        &manifest("notes"),
        &least_and("notes", &json!({ "flows": ["mail"], "only": ["find", "add"] })),
    )
    .unwrap();
    assert_eq!(session.counter().unwrap(), counter, "nothing was written");
}

#[test]
fn a_contract_of_an_earlier_process_is_stale_until_the_tools_are_exported_again() {
    let device = Device::new();
    let session = device.open();
    let contract = install(&session, &manifest("notes"), &least("notes")).unwrap().contract.to_string();
    let session = device.restart(&session);
    let find = call("notes.find", &json!({ "text": "x" }));
    assert_eq!(code(session.plan(&find, Some(&contract), None)), "contract.stale");
    assert_eq!(session.list().unwrap().contract.to_string(), contract);
    session.plan(&find, Some(&contract), None).unwrap();
}

#[test]
fn an_id_and_its_tools_stay_remembered_after_removal_and_restart() {
    let device = Device::new();
    let session = device.open();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    session.remove("notes", None).unwrap();
    assert_eq!(code(session.remove("notes", None)), "connector.unknown");
    let session = device.restart(&session);
    assert!(session.list().unwrap().connectors.is_empty());
    assert_eq!(code(offer(&session, &manifest("notes"), "web", &least("notes"), None)), "merge.source");
    let twin = offer(&session, &manifest("Notes"), "app", &least("notes"), None);
    assert_eq!(code(twin), "merge.source", "the same id to a person");
    let mut wider = successor(&manifest("notes"), &manifest("notes"));
    wider["tools"][1]["parameters"]["properties"]["text"] = json!({});
    assert_eq!(code(offer(&session, &wider, "app", &least("notes"), None)), "merge.widening");
    let mut other = manifest("notes");
    other["version"] = json!("2");
    assert_eq!(code(offer(&session, &other, "app", &least("notes"), None)), "merge.supersedes");
    // The very same comes back, and so does a narrower successor.
    offer(&session, &manifest("notes"), "app", &least("notes"), None).unwrap();
    let mut narrower = successor(&manifest("notes"), &manifest("notes"));
    narrower["tools"][1]["parameters"]["properties"]["text"]["maxLength"] = json!(9);
    offer(&session, &narrower, "app", &least("notes"), None).unwrap();
    let session = device.restart(&session);
    assert_eq!(session.list().unwrap().connectors[0].manifest().sha256(), file_hash(&narrower));
    assert_eq!(
        code(offer(&session, &successor(&narrower, &manifest("notes")), "app", &least("notes"), None)),
        "merge.widening"
    );
}

#[test]
fn a_changed_manifest_stays_out_and_the_others_load() {
    let device = Device::new();
    let session = device.open();
    for id in ["notes", "tasks"] {
        install(&session, &manifest(id), &least(id)).unwrap();
    }
    session.close();
    let file = device.folder().join("manifests").join(file_hash(&manifest("notes")).to_string());
    let evil = manifest("notes").to_string().replace("Notes.", "Notes!");
    fs::write(&file, evil).unwrap();
    let session = device.open();
    let listed = session.list().unwrap();
    assert_eq!(listed.connectors.len(), 1);
    assert_eq!((listed.broken[0].0.as_str(), listed.broken[0].1.code), ("notes", Code::StoreManifest));
    assert_eq!(code(plan(&session, "notes.find", &json!({ "text": "x" }))), "call.not_exported");
    plan(&session, "tasks.find", &json!({ "text": "x" })).unwrap();
    // Other changes go on beside it, and it stays named.
    install(&session, &manifest("mail"), &least("mail")).unwrap();
    let session = device.restart(&session);
    assert_eq!(session.list().unwrap().broken.len(), 1);
    // It is no way to a wider grant; the same again mends it.
    let wider = least_and("notes", &json!({ "loopback": true }));
    assert_eq!(code(install(&session, &manifest("notes"), &wider)), "grant.wider");
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let session = device.restart(&session);
    assert!(session.list().unwrap().broken.is_empty());
    assert_eq!(session.list().unwrap().connectors.len(), 3);
}

#[test]
fn a_removal_forgets_no_grant_over_restarts() {
    let device = Device::new();
    let session = device.open();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    session.remove("notes", None).unwrap();
    let session = device.restart(&session);
    let wider = least_and("notes", &json!({ "loopback": true }));
    assert_eq!(code(install(&session, &manifest("notes"), &wider)), "grant.wider");
    install(&session, &manifest("notes"), &least("notes")).unwrap();
}

#[test]
fn a_connector_that_cannot_be_used_can_be_removed() {
    let device = Device::new();
    let session = device.open();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    session.close();
    fs::remove_dir_all(device.folder().join("manifests")).unwrap();
    fs::create_dir(device.folder().join("manifests")).unwrap();
    let session = device.open();
    assert_eq!(session.list().unwrap().broken[0].1.code, Code::StoreManifest);
    session.remove("notes", None).unwrap();
    assert!(session.list().unwrap().broken.is_empty());
    let session = device.restart(&session);
    assert!(session.list().unwrap().broken.is_empty());
    assert_eq!(code(offer(&session, &manifest("notes"), "web", &least("notes"), None)), "merge.source");
}

#[test]
fn an_older_or_edited_lock_file_is_refused() {
    let device = Device::new();
    let session = device.open();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let lock = device.folder().join("lock.json");
    let older = fs::read(&lock).unwrap();
    session.remove("notes", None).unwrap();
    let seen = session.counter().unwrap();
    session.close();
    let open = |seen| device.try_open(Network::new().options(), StoreOptions { seen, ..device.store() });
    fs::write(&lock, &older).unwrap();
    assert_eq!(open(seen).err().unwrap().code, Code::StoreRolledBack);
    let edited = String::from_utf8(older).unwrap().replace("\"loopback\":false", "\"loopback\":true");
    let edited = edited.replace("\"source\":\"app\"", "\"source\":\"web\"");
    fs::write(&lock, edited).unwrap();
    assert_eq!(open(None).err().unwrap().code, Code::StoreTampered);
    fs::remove_file(&lock).unwrap();
    assert!(matches!(open(None).err().unwrap().code, Code::StoreTampered));
}

#[test]
fn one_session_has_the_store() {
    let device = Device::new();
    let session = device.open();
    let mut waiting = store(&device.folder());
    waiting.wait = std::time::Duration::ZERO;
    let refused = device.try_open(Network::new().options(), waiting).err().unwrap();
    assert_eq!(refused.code, Code::StoreLocked);
    session.close();
    device.open();
}

/// A commit that comes to nothing is a change that never was.
#[test]
fn what_cannot_be_made_durable_is_never_visible() {
    let device = Device::new();
    let session = device.open();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let before = session.list().unwrap();
    let manifests = device.folder().join("manifests");
    fs::rename(&manifests, device.folder().join("away")).unwrap();
    assert!(code(install(&session, &manifest("tasks"), &least("tasks"))).starts_with("store."));
    let after = session.list().unwrap();
    assert_eq!((after.contract, after.connectors.len()), (before.contract, 1));
    fs::rename(device.folder().join("away"), &manifests).unwrap();
    install(&session, &manifest("tasks"), &least("tasks")).unwrap();
    let session = device.restart(&session);
    assert_eq!(session.list().unwrap().connectors.len(), 2);
}

#[tokio::test]
async fn what_came_back_is_called_and_every_deed_is_in_the_trail() {
    let (device, mut network) = (Device::new(), Network::new());
    let _server = network.serve("http://notes.local", fine()).await;
    let origin =
        json!({ "origins": { "server": "http://notes.local" }, "localNetwork": true, "confirm": [] });
    let session = device.open_with(network.options());
    install(&session, &manifest("notes"), &origin).unwrap();
    assert_eq!(code(install(&session, &json!({}), &json!({}))), "manifest.invalid");
    session.close();
    let session = device.open_with(network.options());
    let head = session.audit().unwrap().1;
    let view = plan(&session, "notes.add", &json!({ "text": "x" })).unwrap();
    execute(&session, &view).await.unwrap();
    session.remove("notes", None).unwrap();
    let told = crate::support::outcomes(&session);
    let told: Vec<String> = told.into_iter().map(|(deed, outcome)| format!("{deed} {outcome}")).collect();
    assert_eq!(
        told,
        [
            "install notes ok",
            "install ? manifest.invalid",
            "started notes.add started",
            "call notes.add ok",
            "remove notes ok"
        ]
    );
    assert_eq!(session.verify_audit(Some(head)).unwrap().kept, 5);
    session.close();
    // A record that is changed on disk is found.
    let log = device.folder().join("audit.log");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replacen("install", "remove_", 1)).unwrap();
    let session = device.open_with(network.options());
    assert_eq!(code(session.verify_audit(None)), "audit.broken");
    assert_eq!(session.damage().unwrap()[0].code, Code::AuditBroken);
}
