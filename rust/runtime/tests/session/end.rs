//! How calls end before their answer, and how a session does.

use std::time::Duration;

use connector_runtime::core::{Code, audit};
use connector_runtime::{PlanView, Session};
use connector_testkit::{Event, Step};
use serde_json::json;

use crate::support::{
    Network, PATIENCE, Stage, call, code, confirmation, execute, fine, grant, install, least, manifest,
    offline, origin, outcomes, plan, secret, silent,
};

#[tokio::test]
async fn cancelling_closes_the_socket_at_once() {
    for (tool, expected) in [("notes.find", "net.cancelled"), ("notes.add", "outcome_unknown")] {
        let stage = Stage::new(silent()).await;
        let view = plan(&stage.session, tool, &json!({ "text": "x" })).unwrap();
        let confirmation = confirmation(&view);
        let running = stage.session.execute(&view.plan, confirmation.as_deref(), Some("mine"), None);
        let (outcome, ()) = tokio::join!(running, async {
            stage.request().await;
            assert!(!stage.session.cancel("another"));
            assert!(stage.session.cancel("mine"));
        });
        assert_eq!(code(outcome), expected);
        stage.closed().await;
        assert_eq!(outcomes(&stage.session).last().unwrap().1, expected);
        assert!(!stage.session.cancel("mine"));
    }
}

#[tokio::test]
async fn dropping_the_future_closes_the_socket_and_is_recorded() {
    for (tool, expected) in [("notes.find", "net.cancelled"), ("notes.add", "outcome_unknown")] {
        let stage = Stage::new(silent()).await;
        let view = plan(&stage.session, tool, &json!({ "text": "x" })).unwrap();
        tokio::select! {
            _ = execute(&stage.session, &view) => panic!("the server never answers"),
            _ = stage.request() => {}
        }
        stage.closed().await;
        assert_eq!(outcomes(&stage.session).last().unwrap().1, expected);
        let (records, head) = stage.session.audit().unwrap();
        assert!(audit::verify(&records, head));
        assert!(!stage.session.cancel(&view.plan), "nothing is left running");
    }
}

#[tokio::test]
async fn a_write_that_is_cancelled_before_it_was_sent_has_a_known_outcome() {
    let mut network = Network::new();
    network.hang(&origin("notes"));
    let session = network.session();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let view = plan(&session, "notes.add", &json!({ "text": "x" })).unwrap();
    let (outcome, ()) = tokio::join!(execute(&session, &view), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(session.cancel(&view.plan));
    });
    assert_eq!(code(outcome), "net.cancelled");
}

#[tokio::test]
async fn a_call_ends_with_its_time() {
    for (tool, expected) in [("notes.find", "net.timeout"), ("notes.add", "outcome_unknown")] {
        let mut manifest = manifest("notes");
        for tool in manifest["tools"].as_array_mut().unwrap() {
            tool["limits"] = json!({ "timeoutMs": 1_000 });
        }
        let stage = Stage::of(&manifest, &least("notes"), silent()).await;
        let view = plan(&stage.session, tool, &json!({ "text": "x" })).unwrap();
        assert_eq!(code(execute(&stage.session, &view).await), expected);
        stage.closed().await;
    }
}

#[tokio::test]
async fn a_closed_session_does_nothing_more() {
    let stage = Stage::with_token("s3cret", fine()).await;
    let (session, x) = (&stage.session, json!({ "text": "x" }));
    let contract = session.list().unwrap().contract.to_string();
    let view = plan(session, "notes.find", &x).unwrap();
    session.close();
    session.close();
    let closed = "session.closed";
    assert_eq!(code(session.execute(&view.plan, None, None, None).await), closed);
    assert_eq!(code(session.plan(&call("notes.find", &x), Some(&contract), None)), closed);
    assert_eq!(code(install(session, &manifest("tasks"), &least("tasks"))), closed);
    assert_eq!(code(session.set_grant("notes", grant(&least("notes")))), closed);
    assert_eq!(code(session.list().map(|_| ())), closed);
    assert_eq!(code(session.set_credential("notes", "token", secret("x"))), closed);
    assert_eq!(code(session.has_credential("notes", "token")), closed);
    assert_eq!(code(session.delete_credential("notes", "token")), closed);
    assert!(!session.cancel("any"));
    assert!(stage.server.log().entries().is_empty());
}

#[tokio::test]
async fn closing_cancels_what_runs_and_keeps_the_trail() {
    let stage = Stage::new(silent()).await;
    let view = plan(&stage.session, "notes.add", &json!({ "text": "x" })).unwrap();
    let before = stage.session.audit().unwrap().0.len();
    let (outcome, ()) = tokio::join!(execute(&stage.session, &view), async {
        stage.request().await;
        stage.session.close();
    });
    assert_eq!(code(outcome), "outcome_unknown");
    stage.closed().await;
    let (records, head) = stage.session.audit().unwrap();
    assert!(audit::verify(&records, head));
    assert_eq!(records.len(), before + 2, "the start and the end of the write");
    assert_eq!(records.last().unwrap().event.outcome, "outcome_unknown");
}

/// How one of the thousand calls ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Answer,
    Cancelled,
    Dropped,
    Refused,
}

async fn end_of(session: Session, view: PlanView, name: String, end: End) -> bool {
    let running = session.execute(&view.plan, None, Some(&name), None);
    match end {
        End::Answer => tokio::time::timeout(PATIENCE, running).await.unwrap().is_ok(),
        End::Refused => code(running.await) == "net.address",
        End::Cancelled => {
            let cancelling = async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                assert!(session.cancel(&name));
            };
            code(tokio::join!(running, cancelling).0) == "net.cancelled"
        }
        End::Dropped => {
            tokio::select! {
                _ = running => false,
                () = tokio::time::sleep(Duration::from_millis(20)) => true,
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_side_by_side_leave_nothing_running() {
    let mut network = Network::new();
    let server = network.serve(&origin("notes"), fine()).await;
    network.hang(&origin("slow"));
    network.forbidden(&origin("metadata"));
    let mut options = network.options();
    options.limits.calls_per_minute = 10_000;
    let session = Session::open(options);
    for id in ["notes", "slow", "metadata"] {
        install(&session, &manifest(id), &least(id)).unwrap();
    }
    let mut ended = 0;
    // Four times 250 plans: no more wait at one time than are kept.
    for round in 0..4 {
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..250 {
            let (id, end) = match number % 4 {
                0 => ("notes", End::Answer),
                1 => ("slow", End::Cancelled),
                2 => ("slow", End::Dropped),
                _ => ("metadata", End::Refused),
            };
            // A conversation for each call: no text flows from one to another.
            let view = alone(&session, id, number + round * 250);
            let name = format!("{round}-{number}");
            let session = session.clone();
            calls.spawn(async move { (end, end_of(session, view, name, end).await) });
        }
        while let Some(call) = calls.join_next().await {
            let (end, well) = call.unwrap();
            assert!(well, "{end:?}");
            ended += 1;
        }
    }
    assert_eq!(ended, 1_000);
    assert_eq!(server.log().requests().len(), 252);
    for round in 0..4 {
        for number in 0..250 {
            assert!(!session.cancel(&format!("{round}-{number}")), "{round}-{number} still runs");
        }
    }
    let (records, head) = session.audit().unwrap();
    assert!(audit::verify(&records, head));
    let count = |outcome: &str| records.iter().filter(|record| record.event.outcome == outcome).count();
    assert_eq!((count("ok") - 3, count("net.cancelled"), count("net.address")), (252, 500, 248));
}

fn alone(session: &Session, id: &str, number: usize) -> PlanView {
    let contract = session.list().unwrap().contract.to_string();
    let call = call(&format!("{id}.find"), &json!({ "text": "x" }));
    session.plan(&call, Some(&contract), Some(&format!("talk {number}"))).unwrap()
}

#[tokio::test]
async fn the_oldest_of_too_many_plans_gives_way() {
    let stage = Stage::new(fine()).await;
    let first = plan(&stage.session, "notes.find", &json!({ "text": "x" })).unwrap();
    for _ in 0..256 {
        plan(&stage.session, "notes.find", &json!({ "text": "x" })).unwrap();
    }
    assert_eq!(code(execute(&stage.session, &first).await), "plan.unknown");
}

#[test]
fn the_contract_that_is_exported_again_and_again_outlives_the_others() {
    let session = offline();
    let contract = install(&session, &manifest("notes"), &least("notes")).unwrap().contract.to_string();
    for _ in 0..300 {
        assert_eq!(session.list().unwrap().contract.to_string(), contract);
    }
    assert!(session.plan(&call("notes.find", &json!({ "text": "x" })), Some(&contract), None).is_ok());
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_an_answer_with_a_code() {
    let mut manifest = manifest("notes");
    manifest["tools"][1]["response"] = json!({ "fields": { "id": "/id" } });
    let broken = crate::support::http(200, "application/json", &[], b"{\"id\": ");
    let stage = Stage::of(&manifest, &least("notes"), vec![Step::ReadRequest, Step::Send(broken)]).await;
    let view = plan(&stage.session, "notes.add", &json!({ "text": "x" })).unwrap();
    let answer = execute(&stage.session, &view).await.unwrap();
    assert_eq!((answer.status, answer.code.map(Code::as_str)), (200, Some("response.invalid")));
    assert_eq!(outcomes(&stage.session).last().unwrap().1, "response.invalid");
    let sent =
        stage.server.log().entries().iter().filter(|entry| matches!(entry.event, Event::Request(_))).count();
    assert_eq!(sent, 1);
}
