//! A person confirms what has effects: this very plan, once, in time.

use connector_runtime::core::call::Reason;
use serde_json::json;

use crate::support::{
    Network, Stage, code, execute, fine, grant, http, install, least, least_and, manifest, offline, origin,
    outcomes, plan,
};
use connector_testkit::Step;

#[test]
fn writes_and_destructive_calls_ask_unless_the_grant_lets_writes_pass() {
    let asks = |more: &serde_json::Value| {
        let session = offline();
        install(&session, &manifest("notes"), &least_and("notes", more)).unwrap();
        ["find", "add", "drop"].map(|tool| {
            let view = plan(&session, &format!("notes.{tool}"), &json!({ "text": "x" })).unwrap();
            view.needs_confirmation == [Reason::Effect]
        })
    };
    for (more, expected) in [
        (json!({}), [false, true, true]),
        (json!({ "confirm": ["write", "destructive"] }), [false, true, true]),
        (json!({ "confirm": ["read", "write"] }), [true, true, true]),
        (json!({ "confirm": ["read"] }), [true, false, true]),
        (json!({ "confirm": ["destructive"] }), [false, false, true]),
        (json!({ "confirm": [] }), [false, false, true]),
    ] {
        assert_eq!(asks(&more), expected, "{more}");
    }
}

#[tokio::test]
async fn a_missing_or_wrong_confirmation_consumes_nothing() {
    let stage = Stage::new(fine()).await;
    let (session, x) = (&stage.session, json!({ "text": "x" }));
    let (view, twin) = (plan(session, "notes.add", &x).unwrap(), plan(session, "notes.add", &x).unwrap());
    let digest = view.digest.to_string();
    assert_ne!(view.digest, twin.digest, "the same call in another plan has another digest");
    let wrong =
        ["", "yes", &*twin.digest.to_string(), &*"0".repeat(64), &digest.to_uppercase(), &digest[..63]];
    for given in wrong.map(Some).into_iter().chain([None]) {
        let refused = session.execute(&view.plan, given, None, None).await;
        assert_eq!(code(refused), "plan.confirmation_required", "{given:?}");
    }
    assert!(stage.server.log().entries().is_empty());
    assert!(session.execute(&view.plan, Some(&digest), None, None).await.is_ok());
}

#[tokio::test]
async fn a_wrong_confirmation_is_wrong_also_where_none_is_needed() {
    let stage = Stage::new(fine()).await;
    let view = plan(&stage.session, "notes.find", &json!({ "text": "x" })).unwrap();
    let refused = stage.session.execute(&view.plan, Some("yes"), None, None).await;
    assert_eq!(code(refused), "plan.confirmation_required");
    let digest = view.digest.to_string();
    assert!(stage.session.execute(&view.plan, Some(&digest), None, None).await.is_ok());
}

#[tokio::test]
async fn a_plan_is_used_once() {
    let stage = Stage::new(fine()).await;
    let view = plan(&stage.session, "notes.add", &json!({ "text": "x" })).unwrap();
    assert!(execute(&stage.session, &view).await.is_ok());
    assert_eq!(code(execute(&stage.session, &view).await), "plan.unknown");
    assert_eq!(stage.server.log().requests().len(), 1);
}

#[tokio::test]
async fn a_plan_is_used_once_also_by_many_at_the_same_time() {
    let stage = Stage::new(fine()).await;
    let view = plan(&stage.session, "notes.find", &json!({ "text": "x" })).unwrap();
    let tries: Vec<_> = (0..20)
        .map(|_| {
            let (session, view) = (stage.session.clone(), view.clone());
            tokio::spawn(async move { execute(&session, &view).await.is_ok() })
        })
        .collect();
    let mut carried_out = 0;
    for one in tries {
        carried_out += usize::from(one.await.unwrap());
    }
    assert_eq!((carried_out, stage.server.log().requests().len()), (1, 1));
}

#[tokio::test]
async fn a_try_that_fails_consumes_the_plan() {
    let mut network = Network::new();
    let server = network.serve(&origin("notes"), vec![Step::ReadRequest, Step::Reset]).await;
    let session = network.session();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let view = plan(&session, "notes.add", &json!({ "text": "x" })).unwrap();
    assert_eq!(code(execute(&session, &view).await), "outcome_unknown");
    assert_eq!(code(execute(&session, &view).await), "plan.unknown");
    assert_eq!(server.log().connections(), 1, "a write is not repeated");
}

#[tokio::test]
async fn a_try_that_never_connects_consumes_the_plan() {
    let mut network = Network::new();
    network.forbidden(&origin("notes"));
    let session = network.session();
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let view = plan(&session, "notes.add", &json!({ "text": "x" })).unwrap();
    assert_eq!(code(execute(&session, &view).await), "net.address", "nothing was sent, and that is known");
    assert_eq!(code(execute(&session, &view).await), "plan.unknown");
}

#[tokio::test]
async fn a_plan_lives_for_five_minutes() {
    let stage = Stage::new(fine()).await;
    let x = json!({ "text": "x" });
    let (young, old) =
        (plan(&stage.session, "notes.find", &x).unwrap(), plan(&stage.session, "notes.find", &x).unwrap());
    stage.session.advance(290_000);
    assert!(execute(&stage.session, &young).await.is_ok());
    stage.session.advance(10_000);
    for _ in 0..2 {
        assert_eq!(code(execute(&stage.session, &old).await), "plan.expired");
    }
    stage.session.advance(300_000);
    plan(&stage.session, "notes.find", &x).unwrap();
    assert_eq!(code(execute(&stage.session, &old).await), "plan.unknown", "in the end it is forgotten");
}

#[tokio::test]
async fn a_plan_dies_with_its_tool_set() {
    let stage = Stage::new(fine()).await;
    let view = plan(&stage.session, "notes.find", &json!({ "text": "x" })).unwrap();
    install(&stage.session, &manifest("tasks"), &least("tasks")).unwrap();
    assert_eq!(code(execute(&stage.session, &view).await), "plan.stale");
    assert!(stage.server.log().entries().is_empty());
}

#[tokio::test]
async fn a_plan_dies_with_its_grant() {
    let stage = Stage::new(fine()).await;
    let view = plan(&stage.session, "notes.add", &json!({ "text": "x" })).unwrap();
    let narrower = least_and("notes", &json!({ "confirm": ["read", "write"] }));
    stage.session.set_grant("notes", grant(&narrower)).unwrap();
    assert_eq!(code(execute(&stage.session, &view).await), "plan.stale");
}

/// The tool set and the grant have their old hashes again, and a plan of before is dead all the same.
#[tokio::test]
async fn a_dead_plan_stays_dead_when_the_same_comes_back() {
    let stage = Stage::new(fine()).await;
    let (session, x) = (&stage.session, json!({ "text": "x" }));
    let before = session.list().unwrap().contract;
    let planned = || plan(session, "notes.add", &x).unwrap();

    let view = planned();
    session.remove("notes", None).unwrap();
    install(session, &manifest("notes"), &least("notes")).unwrap();
    assert_eq!(session.list().unwrap().contract, before);
    assert_eq!(code(execute(session, &view).await), "plan.stale", "removed and installed again");

    let view = planned();
    install(session, &manifest("tasks"), &least("tasks")).unwrap();
    session.remove("tasks", None).unwrap();
    assert_eq!(session.list().unwrap().contract, before);
    assert_eq!(code(execute(session, &view).await), "plan.stale", "another came and went");

    let view = planned();
    let narrower = least_and("notes", &json!({ "confirm": ["read", "write"] }));
    session.set_grant("notes", grant(&narrower)).unwrap();
    let wide = grant(&least("notes"));
    let approval = session.review_grant("notes", wide.clone()).unwrap().approval;
    session.set_grant_approved("notes", wide, Some(&approval)).unwrap();
    assert_eq!(session.list().unwrap().contract, before);
    assert_eq!(code(execute(session, &view).await), "plan.stale", "another grant and the old one again");

    assert!(stage.server.log().entries().is_empty());
    assert!(execute(session, &planned()).await.is_ok());
}

#[tokio::test]
async fn the_same_grant_again_changes_nothing() {
    let stage = Stage::new(fine()).await;
    let view = plan(&stage.session, "notes.add", &json!({ "text": "x" })).unwrap();
    stage.session.set_grant("notes", grant(&least("notes"))).unwrap();
    install(&stage.session, &manifest("notes"), &least("notes")).unwrap();
    assert!(execute(&stage.session, &view).await.is_ok());
}

#[tokio::test]
async fn a_refused_execution_is_recorded_and_an_unknown_plan_is_not() {
    let stage = Stage::new(fine()).await;
    let view = plan(&stage.session, "notes.add", &json!({ "text": "x" })).unwrap();
    assert_eq!(code(stage.session.execute("none", None, None, None).await), "plan.unknown");
    assert_eq!(code(stage.session.execute(&view.plan, None, None, None).await), "plan.confirmation_required");
    execute(&stage.session, &view).await.unwrap();
    let expected = [
        ("install notes", "ok"),
        ("call notes.add", "plan.confirmation_required"),
        ("started notes.add", "started"),
        ("call notes.add", "ok"),
    ];
    assert_eq!(outcomes(&stage.session), expected.map(|(what, code)| (what.to_owned(), code.to_owned())));
    let (records, _) = stage.session.audit().unwrap();
    let digests: Vec<_> = records.iter().skip(1).map(|record| record.event.object).collect();
    assert_eq!(digests, [Some(view.digest); 3]);
}

#[tokio::test]
async fn a_write_is_recorded_before_it_leaves() {
    let stage = Stage::new(vec![Step::ReadRequest, Step::AwaitClose]).await;
    let view = plan(&stage.session, "notes.add", &json!({ "text": "x" })).unwrap();
    let running = tokio::spawn({
        let (session, view) = (stage.session.clone(), view.clone());
        async move { execute(&session, &view).await }
    });
    stage.request().await;
    let last = outcomes(&stage.session).pop().unwrap();
    assert_eq!(last, ("started notes.add".to_owned(), "started".to_owned()));
    assert!(stage.session.cancel(&view.plan), "without an id of its own a call has the name of its plan");
    assert_eq!(code(running.await.unwrap()), "outcome_unknown");
}

#[tokio::test]
async fn an_error_status_is_an_answer() {
    let refuse = http(409, "application/json", &[], b"{}");
    let stage = Stage::new(vec![Step::ReadRequest, Step::Send(refuse)]).await;
    let view = plan(&stage.session, "notes.add", &json!({ "text": "x" })).unwrap();
    let answer = execute(&stage.session, &view).await.unwrap();
    assert!(answer.is_error);
    assert_eq!(answer.status, 409);
}
