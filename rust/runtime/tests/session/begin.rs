//! How calls begin: in the order in which they are asked for, under their names, and waiting for their secrets.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use connector_runtime::core::Refusal;
use connector_runtime::{CredentialKey, CredentialStore, Need, Secret, Session};
use serde_json::json;
use tokio::runtime::Handle;

use crate::support::{
    Network, PATIENCE, Stage, answering, bearer, code, confirmation, execute, fine, grant, http, install,
    least, least_and, ok, origin, outcomes, plan, run, secret, silent, with_token,
};

#[tokio::test]
async fn a_call_can_be_cancelled_as_soon_as_it_was_asked_for() {
    for tool in ["notes.find", "notes.add"] {
        let stage = Stage::new(silent()).await;
        let view = plan(&stage.session, tool, &json!({ "text": "x" })).unwrap();
        let running = stage.session.execute(&view.plan, confirmation(&view).as_deref(), Some("mine"), None);
        assert!(stage.session.cancel("mine"), "before it is polled");
        assert_eq!(code(running.await), "net.cancelled");
        assert!(!stage.session.cancel("mine"));
        assert!(stage.server.log().entries().is_empty(), "nothing was sent");
        assert_eq!(outcomes(&stage.session).last().unwrap().1, "net.cancelled");
    }
}

#[tokio::test]
async fn writes_begin_in_the_order_in_which_they_are_asked_for() {
    let stage = Stage::new(fine()).await;
    let views =
        ["first", "second"].map(|text| plan(&stage.session, "notes.add", &json!({ "text": text })).unwrap());
    let [first, second] = views
        .each_ref()
        .map(|view| stage.session.execute(&view.plan, confirmation(view).as_deref(), None, None));
    // Polled the other way round.
    let (second, first) = tokio::join!(second, first);
    assert_eq!((code(second), first.unwrap().status), ("write.in_flight", 200));
    assert!(execute(&stage.session, &views[1]).await.is_ok(), "what was refused consumed nothing");
}

#[tokio::test]
async fn a_call_that_is_never_polled_leaves_nothing_behind() {
    let stage = Stage::new(fine()).await;
    let view = plan(&stage.session, "notes.add", &json!({ "text": "x" })).unwrap();
    let confirmation = confirmation(&view);
    drop(stage.session.execute(&view.plan, confirmation.as_deref(), Some("mine"), None));
    assert!(!stage.session.cancel("mine"));
    assert_eq!(outcomes(&stage.session).last().unwrap().1, "net.cancelled");
    assert!(execute(&stage.session, &view).await.is_ok(), "its plan is not consumed");
}

#[tokio::test]
async fn one_plan_is_carried_out_by_one_call() {
    let stage = Stage::new(fine()).await;
    let view = plan(&stage.session, "notes.find", &json!({ "text": "x" })).unwrap();
    let [one, two] = ["one", "two"].map(|id| stage.session.execute(&view.plan, None, Some(id), None));
    let (one, two) = tokio::join!(one, two);
    assert_eq!((one.unwrap().status, code(two)), (200, "plan.unknown"));
}

/// A store that waits until nobody needs the secret any more, and counts how often that was.
#[derive(Default)]
struct Waits(AtomicUsize);

impl CredentialStore for Waits {
    fn get(&self, _: &CredentialKey) -> Result<Option<Secret>, Refusal> {
        Ok(None)
    }

    fn get_for(&self, _: &CredentialKey, need: &Need) -> Result<Option<Secret>, Refusal> {
        assert!(need.refused().is_none() && need.deadline().is_some() && need.call_id() == "mine");
        Handle::current().block_on(need.given_up());
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(None)
    }

    fn set(&self, _: &CredentialKey, _: Secret) -> Result<(), Refusal> {
        Ok(())
    }

    fn delete(&self, _: &CredentialKey) -> Result<bool, Refusal> {
        Ok(false)
    }
}

#[tokio::test]
async fn a_call_that_waits_for_a_secret_ends_with_what_it_waits_for() {
    type End = fn(&Session);
    let ends: [(End, &str); 4] = [
        (|session| assert!(session.remove("notes", None).is_ok()), "plan.stale"),
        (|session| drop(session.set_grant("notes", grant(&least("notes"))).unwrap()), "plan.stale"),
        (|session| assert!(session.cancel("mine")), "net.cancelled"),
        (Session::close, "net.cancelled"),
    ];
    for (end, expected) in ends {
        let store = Arc::new(Waits::default());
        let mut network = Network::new();
        let server = network.serve(&origin("notes"), fine()).await;
        let mut options = network.options();
        options.credentials = store.clone();
        let session = Session::open(options);
        let granted = least_and("notes", &json!({ "cleartextCredentials": true }));
        install(&session, &with_token("notes", &bearer()), &granted).unwrap();
        let view = plan(&session, "notes.find", &json!({ "text": "x" })).unwrap();
        let mut running = pin!(session.execute(&view.plan, None, Some("mine"), None));
        let waits = tokio::time::timeout(Duration::from_millis(50), running.as_mut()).await;
        assert!(waits.is_err(), "it waits");
        end(&session);
        let ended = tokio::time::timeout(PATIENCE / 2, running).await.expect("at once");
        assert_eq!(code(ended), expected);
        while store.0.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(server.log().entries().is_empty());
    }
}

#[tokio::test]
async fn of_two_refused_secrets_the_one_that_is_set_anew_is_tried_with_the_other() {
    let check = answering(|request| {
        let good = |name: &str, value: &str| request.header(name).is_none_or(|given| given == value);
        let both = good("authorization", "Bearer right") && good("x-key", "key");
        if both { ok(&json!({})) } else { http(401, "application/json", &[], b"{}") }
    });
    let mut manifest = with_token("notes", &bearer());
    manifest["credentials"]["key"] = manifest["credentials"]["token"].clone();
    manifest["tools"][1]["request"]["headers"]["X-Key"] = json!({ "$credential": "key" });
    manifest["tools"][0]["request"]["headers"] = json!({ "X-Key": { "$credential": "key" } });
    let granted = least_and("notes", &json!({ "cleartextCredentials": true }));
    let stage = Stage::of(&manifest, &granted, check).await;
    let (session, x) = (&stage.session, json!({ "text": "x" }));
    let tool = |at: usize| format!("notes.{}", manifest["tools"][at]["name"].as_str().unwrap());
    let (one, both) = (tool(0), tool(1));
    session.set_credential("notes", "token", secret("wrong")).unwrap();
    session.set_credential("notes", "key", secret("key")).unwrap();
    let refusal = run(session, &both, &x).await.unwrap_err();
    assert_eq!(refusal.code.as_str(), "credential.rejected");
    assert!(refusal.reason.contains("`key`") && refusal.reason.contains("`token`"), "{}", refusal.reason);
    assert_eq!(code(run(session, &both, &x).await), "credential.rejected");
    assert_eq!(stage.server.log().requests().len(), 1, "together they are not sent again");
    assert!(run(session, &one, &x).await.is_ok(), "the one that may be good is not refused alone");
    session.set_credential("notes", "token", secret("right")).unwrap();
    assert!(run(session, &both, &x).await.is_ok());
}
