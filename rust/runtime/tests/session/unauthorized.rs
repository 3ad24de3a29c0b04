//! What a 401 leads to: one more question to the store, at most one more try, then silence.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use connector_runtime::core::Refusal;
use connector_runtime::{CredentialKey, CredentialStore, Secret, Session};
use connector_testkit::Server;
use serde_json::json;

use crate::support::{
    Network, answering, bearer, code, execute, http, install, least_and, ok, origin, outcomes, plan, run,
    secret, with_token,
};

/// A store that gives these secrets in turn, the last again and again, and counts.
#[derive(Default)]
struct Turns {
    secrets: Mutex<Vec<&'static str>>,
    asked: AtomicUsize,
    /// So many are asked before the first is answered.
    together: AtomicUsize,
}

impl Turns {
    fn of(secrets: &[&'static str]) -> Arc<Self> {
        Arc::new(Self { secrets: Mutex::new(secrets.to_vec()), ..Self::default() })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl CredentialStore for Turns {
    fn get(&self, _: &CredentialKey) -> Result<Option<Secret>, Refusal> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        while self.asked() < self.together.load(Ordering::SeqCst) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let secrets = self.secrets.lock().unwrap();
        Ok(secrets.get(turn).or(secrets.last()).map(|s| secret(s)))
    }

    fn has(&self, _: &CredentialKey) -> Result<bool, Refusal> {
        Ok(!self.secrets.lock().unwrap().is_empty())
    }

    fn set(&self, _: &CredentialKey, secret: Secret) -> Result<(), Refusal> {
        *self.secrets.lock().unwrap() = vec![String::leak(secret.expose().to_owned())];
        Ok(())
    }

    fn delete(&self, _: &CredentialKey) -> Result<bool, Refusal> {
        self.secrets.lock().unwrap().clear();
        Ok(true)
    }
}

/// A server that takes one token, and a session whose store gives these.
async fn stage(store: &Arc<Turns>, good: &'static str) -> (Session, Server) {
    let check = answering(move |request| {
        if request.header("authorization") == Some(format!("Bearer {good}")) {
            ok(&json!({ "seen": request.header("authorization") }))
        } else {
            http(401, "application/json", &[], br#"{"message": "no"}"#)
        }
    });
    let mut network = Network::new();
    let server = network.serve(&origin("notes"), check).await;
    let mut options = network.options();
    options.credentials = store.clone();
    let session = Session::open(options);
    let granted = least_and("notes", &json!({ "cleartextCredentials": true }));
    install(&session, &with_token("notes", &bearer()), &granted).unwrap();
    (session, server)
}

fn tokens(server: &Server) -> Vec<String> {
    let token = |request: &connector_testkit::Request| request.header("authorization").unwrap().split_off(7);
    server.log().requests().iter().map(token).collect()
}

#[tokio::test]
async fn another_secret_of_the_store_is_tried_once() {
    for tool in ["notes.find", "notes.add", "notes.drop"] {
        let store = Turns::of(&["old", "new"]);
        let (session, server) = stage(&store, "new").await;
        let answer = run(&session, tool, &json!({ "text": "x" })).await.unwrap();
        assert_eq!(
            (answer.status, answer.is_error),
            (200, false),
            "{tool}: the server refused before acting"
        );
        assert_eq!((tokens(&server), store.asked()), (vec!["old".to_owned(), "new".to_owned()], 2));
        assert!(!answer.text.contains("new"), "the second secret does not come back either: {}", answer.text);
        assert_eq!(outcomes(&session).last().unwrap().1, "ok");
        let requests = server.log().requests();
        let rest =
            |index: usize| String::from_utf8(requests[index].raw.clone()).unwrap().replace("old", "new");
        assert_eq!(rest(0), rest(1), "it is the same request");
    }
}

#[tokio::test]
async fn the_same_secret_is_not_tried_again() {
    let store = Turns::of(&["old"]);
    let (session, server) = stage(&store, "new").await;
    let x = json!({ "text": "x" });
    let refusal = run(&session, "notes.find", &x).await.unwrap_err();
    assert_eq!(refusal.code.as_str(), "credential.rejected");
    assert!(refusal.advice.is_some(), "the model is told to stop");
    assert_eq!((tokens(&server).len(), store.asked()), (1, 2));
    let (records, _) = session.audit().unwrap();
    let last = &records.last().unwrap().event;
    assert_eq!((&*last.outcome, last.status), ("credential.rejected", Some(401)));
}

#[tokio::test]
async fn a_rejected_secret_is_not_sent_until_it_is_set_anew() {
    let store = Turns::of(&["old"]);
    let (session, server) = stage(&store, "new").await;
    let x = json!({ "text": "x" });
    assert_eq!(code(run(&session, "notes.find", &x).await), "credential.rejected");
    let view = plan(&session, "notes.add", &x).unwrap();
    for _ in 0..3 {
        assert_eq!(code(execute(&session, &view).await), "credential.rejected");
        session.advance(61_000);
    }
    assert_eq!(tokens(&server), ["old"], "an address is not banned for what the core sends");
    session.set_credential("notes", "token", secret("new")).unwrap();
    assert!(execute(&session, &view).await.is_ok(), "and no plan was consumed");
}

#[tokio::test]
async fn the_same_secret_set_anew_is_tried_anew() {
    let store = Turns::of(&["old"]);
    let (session, server) = stage(&store, "new").await;
    let x = json!({ "text": "x" });
    assert_eq!(code(run(&session, "notes.find", &x).await), "credential.rejected");
    session.set_credential("notes", "token", secret("old")).unwrap();
    assert_eq!(code(run(&session, "notes.find", &x).await), "credential.rejected");
    assert_eq!(tokens(&server), ["old", "old"]);
}

#[tokio::test]
async fn another_secret_in_the_host_s_own_store_counts_as_set_anew() {
    let store = Turns::of(&["old"]);
    let (session, _server) = stage(&store, "new").await;
    let x = json!({ "text": "x" });
    assert_eq!(code(run(&session, "notes.find", &x).await), "credential.rejected");
    *store.secrets.lock().unwrap() = vec!["new"];
    assert!(run(&session, "notes.find", &x).await.is_ok());
}

#[tokio::test]
async fn two_refused_secrets_are_two_requests_and_no_more() {
    let store = Turns::of(&["one", "two", "three"]);
    let (session, server) = stage(&store, "three").await;
    let x = json!({ "text": "x" });
    assert_eq!(code(run(&session, "notes.find", &x).await), "credential.rejected");
    assert_eq!((tokens(&server), store.asked()), (vec!["one".to_owned(), "two".to_owned()], 2));
    assert!(run(&session, "notes.find", &x).await.is_ok(), "the third is another secret");
}

#[tokio::test]
async fn the_store_is_asked_once_more_once_a_minute() {
    let store = Turns::of(&["one", "two", "three", "four"]);
    let (session, server) = stage(&store, "none of them").await;
    let x = json!({ "text": "x" });
    assert_eq!(code(run(&session, "notes.find", &x).await), "credential.rejected");
    assert_eq!(store.asked(), 2);
    // Asked when it is sent; refused; not asked once more within the minute, and what was learned then is refused too.
    assert_eq!(code(run(&session, "notes.find", &x).await), "credential.rejected");
    assert_eq!((tokens(&server), store.asked()), (["one", "two", "three"].map(str::to_owned).to_vec(), 3));
    session.advance(60_000);
    assert_eq!(code(run(&session, "notes.find", &x).await), "credential.rejected");
    assert_eq!(store.asked(), 5, "a minute later: for the request, and once more");
}

#[tokio::test]
async fn calls_side_by_side_share_the_one_refresh() {
    let store = Turns::of(&["old", "old", "old", "new"]);
    store.together.store(3, Ordering::SeqCst);
    let (session, server) = stage(&store, "new").await;
    let views = [(); 3].map(|()| plan(&session, "notes.find", &json!({ "text": "x" })).unwrap());
    let [a, b, c] = &views;
    let outcomes = tokio::join!(execute(&session, a), execute(&session, b), execute(&session, c));
    for outcome in [outcomes.0, outcomes.1, outcomes.2] {
        assert_eq!(outcome.err().map(|refusal| refusal.reason), None);
    }
    assert_eq!(store.asked(), 4, "one for each request, and one refresh");
    assert_eq!(tokens(&server).iter().filter(|token| *token == "new").count(), 3);
}

#[tokio::test]
async fn a_secret_that_is_gone_by_then_is_rejected() {
    let store = Turns::of(&["old"]);
    let (session, server) = stage(&store, "new").await;
    let emptied = store.clone();
    let view = plan(&session, "notes.find", &json!({ "text": "x" })).unwrap();
    let (outcome, ()) = tokio::join!(execute(&session, &view), async {
        server
            .log()
            .wait(crate::support::PATIENCE, |entry| {
                matches!(entry.event, connector_testkit::Event::Opened(_))
            })
            .await;
        emptied.secrets.lock().unwrap().clear();
    });
    assert_eq!(code(outcome), "credential.rejected");
    assert_eq!(tokens(&server), ["old"]);
}

#[tokio::test]
async fn a_401_to_a_request_without_a_secret_is_an_answer() {
    let refuse = answering(|_| http(401, "application/json", &[], b"{}"));
    let stage = crate::support::Stage::new(refuse).await;
    let answer = run(&stage.session, "notes.find", &json!({ "text": "x" })).await.unwrap();
    assert_eq!((answer.status, answer.is_error), (401, true));
    assert_eq!(stage.server.log().requests().len(), 1);
}

#[tokio::test]
async fn other_refusals_of_the_server_are_answers() {
    for status in [400, 403, 407, 419] {
        let refuse = answering(move |_| http(status, "application/json", &[], b"{}"));
        let stage = crate::support::Stage::with_token("s3cret", refuse).await;
        let answer = run(&stage.session, "notes.find", &json!({ "text": "x" })).await.unwrap();
        assert_eq!((answer.status, answer.is_error), (status, true));
        assert!(
            run(&stage.session, "notes.find", &json!({ "text": "x" })).await.is_ok(),
            "the secret is not blamed"
        );
    }
}

#[tokio::test]
async fn the_second_try_has_what_is_left_of_the_time() {
    let store = Turns::of(&["old", "new"]);
    let mut network = Network::new();
    let script = vec![
        connector_testkit::Step::ReadRequest,
        connector_testkit::Step::Pause(std::time::Duration::from_secs(1)),
        connector_testkit::Step::Send(http(401, "application/json", &[], b"{}")),
        connector_testkit::Step::ReadRequest,
        connector_testkit::Step::AwaitClose,
    ];
    let server = network.serve(&origin("notes"), script).await;
    let mut options = network.options();
    options.credentials = store.clone();
    options.limits.total_timeout = std::time::Duration::from_millis(1_500);
    let session = Session::open(options);
    let granted = least_and("notes", &json!({ "cleartextCredentials": true }));
    install(&session, &with_token("notes", &bearer()), &granted).unwrap();
    let view = plan(&session, "notes.add", &json!({ "text": "x" })).unwrap();
    assert_eq!(
        code(execute(&session, &view).await),
        "outcome_unknown",
        "the second try was a write that began"
    );
    assert_eq!(tokens(&server), ["old", "new"]);
    let took = session.audit().unwrap().0.last().unwrap().event.duration_ms;
    assert!((1_500..2_400).contains(&took), "one deadline over both tries: {took} ms");
}

#[tokio::test]
async fn an_answer_with_another_status_after_the_first_401_clears_nothing_it_should_not() {
    let store = Turns::of(&["old", "new"]);
    let (session, _server) = stage(&store, "new").await;
    let x = json!({ "text": "x" });
    run(&session, "notes.find", &x).await.unwrap();
    // The first secret was refused, but the server's last word was about the second.
    *store.secrets.lock().unwrap() = vec!["old"];
    let outcome = run(&session, "notes.find", &x).await;
    assert!(outcome.is_ok(), "the refresh of this minute is known: its secret is used");
}
