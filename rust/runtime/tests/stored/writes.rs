//! The ledger of writes behind sessions.

use connector_runtime::store::Outcome;
use serde_json::{Value, json};

use crate::kit::Device;
use crate::support::{
    Network, PATIENCE, answering, call, code, confirmation, execute, fine, http, install, manifest, plan,
    silent,
};

fn local() -> Value {
    json!({ "origins": { "server": "http://notes.local" }, "localNetwork": true })
}

/// What the ledger says of a plan after a restart.
fn told(device: &Device, digest: connector_runtime::core::json::Sha256) -> Option<(Outcome, bool)> {
    let session = device.open();
    let write = session.writes().unwrap().into_iter().find(|write| write.plan == digest);
    session.close();
    write.map(|write| (write.outcome, write.ended))
}

#[tokio::test]
async fn a_write_that_was_answered_reads_sent_whatever_the_answer() {
    for script in [fine(), answering(|_| http(500, "text/plain", &[], b"no"))] {
        let (device, mut network) = (Device::new(), Network::new());
        let server = network.serve("http://notes.local", script).await;
        let session = device.open_with(network.options());
        install(&session, &manifest("notes"), &local()).unwrap();
        let view = plan(&session, "notes.add", &json!({ "text": "x" })).unwrap();
        execute(&session, &view).await.unwrap();
        assert_eq!(code(execute(&session, &view).await), "plan.unknown", "a plan is good for one request");
        session.close();
        assert_eq!(told(&device, view.digest), Some((Outcome::Sent, true)));
        assert_eq!(server.log().requests().len(), 1);
    }
}

#[tokio::test]
async fn a_write_that_could_not_connect_reads_not_sent() {
    let (device, mut network) = (Device::new(), Network::new());
    network.forbidden("http://notes.local");
    let session = device.open_with(network.options());
    install(&session, &manifest("notes"), &local()).unwrap();
    let view = plan(&session, "notes.add", &json!({ "text": "x" })).unwrap();
    assert_eq!(code(execute(&session, &view).await), "net.address");
    session.close();
    assert_eq!(told(&device, view.digest), Some((Outcome::NotSent, true)));
}

#[tokio::test]
async fn a_write_that_was_cut_reads_outcome_unknown() {
    let (device, mut network) = (Device::new(), Network::new());
    let server = network.serve("http://notes.local", silent()).await;
    let session = device.open_with(network.options());
    install(&session, &manifest("notes"), &local()).unwrap();
    let view = plan(&session, "notes.add", &json!({ "text": "x" })).unwrap();
    let (outcome, ()) = tokio::join!(execute(&session, &view), async {
        let read =
            |entry: &connector_testkit::Entry| matches!(entry.event, connector_testkit::Event::Request(_));
        server.log().wait(PATIENCE, read).await.unwrap();
        session.cancel(&view.plan);
    });
    assert_eq!(code(outcome), "outcome_unknown");
    session.close();
    assert_eq!(told(&device, view.digest), Some((Outcome::OutcomeUnknown, true)));
}

/// A read leaves no line; what was refused before it began neither.
#[tokio::test]
async fn only_writes_that_begin_are_in_the_ledger() {
    let (device, mut network) = (Device::new(), Network::new());
    let _server = network.serve("http://notes.local", fine()).await;
    let session = device.open_with(network.options());
    install(&session, &manifest("notes"), &local()).unwrap();
    let find = plan(&session, "notes.find", &json!({ "text": "x" })).unwrap();
    execute(&session, &find).await.unwrap();
    let add = plan(&session, "notes.add", &json!({ "text": "x" })).unwrap();
    assert_eq!(code(session.execute(&add.plan, None, None, None).await), "plan.confirmation_required");
    assert!(session.writes().unwrap().is_empty());
    execute(&session, &add).await.unwrap();
    assert_eq!(session.writes().unwrap().len(), 1);
    session.close();
    assert_eq!(code(session.writes()), "session.closed");
}

/// Without room for the start of a write nothing leaves.
#[tokio::test]
async fn a_write_whose_start_cannot_be_kept_is_not_sent() {
    let (device, mut network) = (Device::new(), Network::new());
    let server = network.serve("http://notes.local", fine()).await;
    let mut store = device.store();
    // Not even one start fits.
    store.limits.ledger_bytes = 1_000;
    let session = device.try_open(network.options(), store).unwrap();
    install(&session, &manifest("notes"), &local()).unwrap();
    let view = plan(&session, "notes.add", &json!({ "text": "x" })).unwrap();
    assert_eq!(code(execute(&session, &view).await), "store.limit");
    assert!(server.log().requests().is_empty());
    // Reads go on.
    let find = plan(&session, "notes.find", &json!({ "text": "x" })).unwrap();
    execute(&session, &find).await.unwrap();
}

/// Two tries of one plan at once: one of them is sent.
#[tokio::test]
async fn a_plan_is_sent_once_however_often_it_is_tried() {
    let (device, mut network) = (Device::new(), Network::new());
    let server = network.serve("http://notes.local", fine()).await;
    let session = device.open_with(network.options());
    install(&session, &manifest("notes"), &local()).unwrap();
    let contract = session.list().unwrap().contract.to_string();
    let view = session.plan(&call("notes.add", &json!({ "text": "x" })), Some(&contract), None).unwrap();
    let digest = confirmation(&view).unwrap();
    let tries = (0..8).map(|number| {
        let (session, plan, digest) = (session.clone(), view.plan.clone(), digest.clone());
        tokio::spawn(async move {
            session.execute(&plan, Some(&digest), Some(&format!("try {number}")), None).await.is_ok()
        })
    });
    let mut sent = 0;
    for task in tries.collect::<Vec<_>>() {
        sent += u32::from(task.await.unwrap());
    }
    assert_eq!((sent, server.log().requests().len()), (1, 1));
}
