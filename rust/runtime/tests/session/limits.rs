//! How many calls, and how many at a time.

use connector_testkit::Step;
use serde_json::{Value, json};

use crate::support::{
    Network, Stage, code, execute, fine, http, install, least, manifest, ok, origin, plan, run, silent,
};

#[tokio::test]
async fn a_connector_makes_thirty_calls_a_minute() {
    let stage = Stage::new(fine()).await;
    let (session, x) = (&stage.session, json!({ "text": "x" }));
    for _ in 0..30 {
        run(session, "notes.find", &x).await.unwrap();
    }
    let view = plan(session, "notes.add", &x).unwrap();
    let refusal = execute(session, &view).await.unwrap_err();
    assert_eq!(refusal.code.as_str(), "rate.limited");
    assert!(refusal.advice.is_some(), "the model is told to wait");
    assert_eq!(stage.server.log().requests().len(), 30);
    session.advance(60_000);
    assert!(execute(session, &view).await.is_ok(), "and no plan was consumed");
}

#[tokio::test]
async fn a_tool_may_have_a_lower_limit_and_no_higher_one() {
    let mut manifest = manifest("notes");
    manifest["tools"][0]["limits"] = json!({ "callsPerMinute": 2 });
    let stage = Stage::of(&manifest, &least("notes"), fine()).await;
    let (session, x) = (&stage.session, json!({ "text": "x" }));
    run(session, "notes.find", &x).await.unwrap();
    run(session, "notes.find", &x).await.unwrap();
    assert_eq!(code(run(session, "notes.find", &x).await), "rate.limited");
    assert!(run(session, "notes.add", &x).await.is_ok(), "other tools have calls left");
}

#[tokio::test]
async fn one_connectors_calls_are_not_anothers() {
    let mut network = Network::new();
    let _servers =
        (network.serve(&origin("notes"), fine()).await, network.serve(&origin("tasks"), fine()).await);
    let mut options = network.options();
    options.limits.calls_per_minute = 1;
    let session = connector_runtime::Session::open(options);
    for id in ["notes", "tasks"] {
        install(&session, &manifest(id), &least(id)).unwrap();
    }
    let x = json!({ "text": "x" });
    run(&session, "notes.find", &x).await.unwrap();
    assert_eq!(code(run(&session, "notes.find", &x).await), "rate.limited");
    run(&session, "tasks.find", &x).await.unwrap();
}

#[tokio::test]
async fn what_is_refused_is_not_counted() {
    let mut network = Network::new();
    let _server = network.serve(&origin("notes"), fine()).await;
    let mut options = network.options();
    options.limits.calls_per_minute = 1;
    let session = connector_runtime::Session::open(options);
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let view = plan(&session, "notes.add", &json!({ "text": "x" })).unwrap();
    for _ in 0..5 {
        let refused = session.execute(&view.plan, None, None, None).await;
        assert_eq!(code(refused), "plan.confirmation_required");
    }
    assert!(execute(&session, &view).await.is_ok());
}

#[tokio::test]
async fn one_write_of_a_connector_is_in_flight_and_reads_pass_by() {
    let mut network = Network::new();
    let server = network.serve_each(&origin("notes"), vec![silent(), fine()]).await;
    let _other = network.serve(&origin("tasks"), fine()).await;
    let session = network.session();
    for id in ["notes", "tasks"] {
        install(&session, &manifest(id), &least(id)).unwrap();
    }
    let x = json!({ "text": "x" });
    let [first, second, read, other] =
        ["notes.add", "notes.drop", "notes.find", "tasks.add"].map(|tool| plan(&session, tool, &x).unwrap());
    let (outcome, ()) = tokio::join!(execute(&session, &first), async {
        let seen =
            |entry: &connector_testkit::Entry| matches!(entry.event, connector_testkit::Event::Request(_));
        server.log().wait(crate::support::PATIENCE, seen).await.unwrap();
        let refusal = execute(&session, &second).await.unwrap_err();
        assert_eq!(refusal.code.as_str(), "write.in_flight");
        assert!(refusal.advice.is_some());
        assert!(execute(&session, &other).await.is_ok(), "another connector writes");
        assert!(execute(&session, &read).await.is_ok(), "a read passes by");
        assert!(session.cancel(&first.plan));
    });
    assert_eq!(code(outcome), "outcome_unknown");
    assert!(execute(&session, &second).await.is_ok(), "no plan was consumed, and the way is free");
}

#[tokio::test]
async fn a_write_that_fails_frees_the_way() {
    let stage = Stage::new(vec![Step::ReadRequest, Step::Reset]).await;
    let x = json!({ "text": "x" });
    for _ in 0..2 {
        assert_eq!(code(run(&stage.session, "notes.add", &x).await), "outcome_unknown");
    }
}

#[tokio::test]
async fn a_call_has_its_id_to_itself() {
    let stage = Stage::new(silent()).await;
    let x = json!({ "text": "x" });
    let views = [(); 2].map(|()| plan(&stage.session, "notes.find", &x).unwrap());
    let (first, ()) = tokio::join!(stage.session.execute(&views[0].plan, None, Some("one"), None), async {
        stage.request().await;
        let twin = stage.session.execute(&views[1].plan, None, Some("one"), None).await;
        assert_eq!(code(twin), "call.invalid");
        assert!(stage.session.cancel("one"));
    });
    assert_eq!(code(first), "net.cancelled");
    assert!(!stage.session.cancel("one"), "it runs no more");
}

#[tokio::test]
async fn the_budget_of_a_call_is_the_manifests_or_less() {
    let long: Value = json!({ "text": "x".repeat(10_000) });
    let stage = Stage::new(crate::support::answering(move |_| ok(&long))).await;
    let x = json!({ "text": "x" });
    for (budget, most) in [(None, 4_000), (Some(500), 500), (Some(100_000), 4_000), (Some(0), 2)] {
        let view = plan(&stage.session, "notes.find", &x).unwrap();
        let answer = stage.session.execute(&view.plan, None, None, budget).await.unwrap();
        assert!(answer.text.chars().count() <= most && answer.truncated, "{budget:?}");
    }
}

#[tokio::test]
async fn retry_after_is_reported_when_it_is_not_waited_for() {
    for (value, expected) in [("120", Some(120)), ("Fri, 01 Jan 2021 00:00:00 GMT", Some(0)), ("soon", None)]
    {
        let header = [("Retry-After".to_owned(), value.to_owned())];
        let refuse = http(429, "application/json", &header, b"{}");
        let mut manifest = manifest("notes");
        manifest["tools"][0]["limits"] = json!({ "retries": 0 });
        let stage = Stage::of(&manifest, &least("notes"), vec![Step::ReadRequest, Step::Send(refuse)]).await;
        let answer = run(&stage.session, "notes.find", &json!({ "text": "x" })).await.unwrap();
        assert_eq!((answer.status, answer.is_error, answer.retry_after), (429, true, expected));
    }
}

#[tokio::test]
async fn reads_and_what_has_an_idempotency_key_are_repeated_and_nothing_else() {
    let busy = http(503, "application/json", &[], b"{}");
    let script = || vec![Step::ReadRequest, Step::Send(busy.clone()), Step::Restart];
    let mut manifest = manifest("notes");
    let keyed = |manifest: &mut Value, index: usize| {
        manifest["tools"][index]["request"]["idempotency"] = json!({ "header": "Idempotency-Key" });
    };
    manifest["tools"][0]["request"]["method"] = json!("POST");
    for (what, key, retries, effect, requests) in [
        ("a POST that reads", false, None, "read", 1),
        ("a POST that reads, with a key", true, None, "read", 3),
        ("a POST that writes, with a key", true, None, "write", 1),
        ("a POST that writes, with a key and retries", true, Some(1), "write", 2),
        ("a POST that writes", false, None, "write", 1),
    ] {
        let mut manifest = manifest.clone();
        manifest["tools"][0]["effect"] = json!(effect);
        if key {
            keyed(&mut manifest, 0);
        }
        if let Some(retries) = retries {
            manifest["tools"][0]["limits"] = json!({ "retries": retries });
        }
        let granted = crate::support::least_and("notes", &json!({ "confirm": [] }));
        let stage = Stage::of(&manifest, &granted, script()).await;
        let answer = run(&stage.session, "notes.find", &json!({ "text": "x" })).await.unwrap();
        assert_eq!((answer.status, stage.server.log().requests().len()), (503, requests), "{what}");
    }
}

/// A flood of large plans costs a few of them: the oldest give way by their bytes, long before their number does.
#[tokio::test]
async fn waiting_plans_are_bounded_by_their_bytes_too() {
    let stage = Stage::new(fine()).await;
    let session = &stage.session;
    let large = |n: usize| json!({ "text": format!("{n:04}{}", "x".repeat(200_000)) });
    let views: Vec<_> = (0..60).map(|n| plan(session, "notes.add", &large(n)).unwrap()).collect();
    let waits = |view: &&connector_runtime::PlanView| session.time_of(&view.plan).is_some();
    let kept = views.iter().filter(waits).count();
    // Twice its body each: the request and its preview.
    assert!((15..=21).contains(&kept), "{kept}");
    assert!(views.iter().rev().take(kept).all(|view| waits(&view)), "the oldest went");
    let small = plan(session, "notes.add", &json!({ "text": "x" })).unwrap();
    assert!(execute(session, &small).await.is_ok());
    assert_eq!(code(execute(session, &views[0]).await), "plan.unknown");
    assert!(execute(session, views.last().unwrap()).await.is_ok());
}
