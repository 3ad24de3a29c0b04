//! Secrets: write-only, each for one source, connector, name and origin, and never on their way back.

use std::sync::{Arc, Mutex};

use connector_runtime::core::Refusal;
use connector_runtime::{CredentialKey, CredentialStore, MemoryStore, Secret};
use serde_json::{Value, json};

use crate::support::{
    Network, Stage, answering, bearer, code, execute, fine, install, least, least_and, manifest, offline, ok,
    origin, plan, promised, run, secret, with_token,
};

#[test]
fn a_credential_of_the_manifest_is_set_asked_for_and_deleted() {
    let session = offline();
    install(&session, &with_token("notes", &bearer()), &least("notes")).unwrap();
    assert!(!session.has_credential("notes", "token").unwrap());
    session.set_credential("notes", "token", secret("s3cret")).unwrap();
    assert!(session.has_credential("notes", "token").unwrap());
    assert!(session.delete_credential("notes", "token").unwrap());
    assert!(!session.delete_credential("notes", "token").unwrap());
    assert_eq!(code(session.set_credential("notes", "other", secret("x"))), "credential.unknown");
    assert_eq!(code(session.has_credential("notes", "other")), "credential.unknown");
}

#[test]
fn a_secret_that_cannot_stand_in_its_place_is_refused_when_it_is_set() {
    let set = |slot: &Value, text: &str| {
        let session = offline();
        install(&session, &with_token("notes", slot), &least("notes")).unwrap();
        session.set_credential("notes", "token", secret(text))
    };
    let basic = json!({ "$credential": "token", "scheme": "Basic" });
    let user = json!({ "$credential": "token", "scheme": "Basic", "password": "" });
    let long = "x".repeat(8 << 10);
    for (slot, bad) in [
        (bearer(), vec!["", "a\nb", "a\r", "\u{0}", "é", " a", "a ", &*long]),
        (basic.clone(), vec!["", "no colon", "a:b\n", &*long]),
        (user.clone(), vec!["a:b", "a\u{7f}"]),
    ] {
        for text in bad {
            let refusal = set(&slot, text).unwrap_err();
            assert_eq!(refusal.code.as_str(), "credential.invalid", "{slot} {text:?}");
            assert!(text.len() < 4 || !refusal.to_string().contains(text));
        }
    }
    for (slot, good) in [(bearer(), "a b"), (basic, "user:påss word"), (user, "ä")] {
        set(&slot, good).unwrap();
    }
}

/// A store that writes down what it is asked for.
#[derive(Default)]
struct Watched {
    inner: MemoryStore,
    asked: Mutex<Vec<CredentialKey>>,
}

impl CredentialStore for Watched {
    fn get(&self, key: &CredentialKey) -> Result<Option<Secret>, Refusal> {
        self.asked.lock().unwrap().push(key.clone());
        self.inner.get(key)
    }

    fn has(&self, key: &CredentialKey) -> Result<bool, Refusal> {
        self.inner.has(key)
    }

    fn set(&self, key: &CredentialKey, secret: Secret) -> Result<(), Refusal> {
        self.inner.set(key, secret)
    }

    fn delete(&self, key: &CredentialKey) -> Result<bool, Refusal> {
        self.inner.delete(key)
    }
}

#[tokio::test]
async fn a_secret_is_kept_under_source_connector_name_and_origin_and_asked_for_when_it_is_sent() {
    let store = Arc::new(Watched::default());
    let mut network = Network::new();
    let server = network.serve(&origin("notes"), fine()).await;
    let mut options = network.options();
    options.credentials = store.clone();
    let session = connector_runtime::Session::open(options);
    let granted = least_and("notes", &json!({ "cleartextCredentials": true }));
    install(&session, &with_token("notes", &bearer()), &granted).unwrap();
    session.set_credential("notes", "token", secret("s3cret")).unwrap();
    let view = plan(&session, "notes.find", &json!({ "text": "x" })).unwrap();
    assert!(store.asked.lock().unwrap().is_empty(), "a plan needs no secret");
    execute(&session, &view).await.unwrap();
    let text = str::to_owned;
    let (source, connector, name) = (text("app"), text("notes"), text("token"));
    let key = CredentialKey { source, connector, name, origin: text("http://notes.local") };
    assert_eq!(*store.asked.lock().unwrap(), std::slice::from_ref(&key), "once");
    assert_eq!(server.log().requests()[0].header("authorization").as_deref(), Some("Bearer s3cret"));
    // What another app stored under a key that differs in one part is not found.
    store.inner.delete(&key).unwrap();
    for part in 0..4 {
        let mut other = key.clone();
        [&mut other.source, &mut other.connector, &mut other.name, &mut other.origin][part].push('x');
        store.inner.set(&other, secret("another")).unwrap();
    }
    let view = plan(&session, "notes.find", &json!({ "text": "x" })).unwrap();
    assert_eq!(code(execute(&session, &view).await), "credential.missing");
}

#[tokio::test]
async fn a_missing_secret_consumes_nothing() {
    let granted = least_and("notes", &json!({ "cleartextCredentials": true }));
    let stage = Stage::of(&with_token("notes", &bearer()), &granted, fine()).await;
    let view = plan(&stage.session, "notes.find", &json!({ "text": "x" })).unwrap();
    assert_eq!(code(execute(&stage.session, &view).await), "credential.missing");
    stage.session.set_credential("notes", "token", secret("s3cret")).unwrap();
    execute(&stage.session, &view).await.unwrap();
}

/// A store whose secret cannot be sent, or that fails.
struct Broken(Option<&'static str>);

impl CredentialStore for Broken {
    fn get(&self, _: &CredentialKey) -> Result<Option<Secret>, Refusal> {
        let locked = || Refusal::new(connector_runtime::core::Code::StoreIo, "the keychain is locked");
        self.0.map(|text| Some(secret(text))).ok_or_else(locked)
    }

    fn set(&self, _: &CredentialKey, _: Secret) -> Result<(), Refusal> {
        self.get(&CredentialKey {
            source: String::new(),
            connector: String::new(),
            name: String::new(),
            origin: String::new(),
        })
        .map(|_| ())
    }

    fn delete(&self, _: &CredentialKey) -> Result<bool, Refusal> {
        Ok(false)
    }
}

#[tokio::test]
async fn what_a_store_cannot_give_consumes_nothing() {
    for (store, expected) in [(Broken(Some("a\nb")), "credential.invalid"), (Broken(None), "store.io")] {
        let mut network = Network::new();
        let server = network.serve(&origin("notes"), fine()).await;
        let mut options = network.options();
        options.credentials = Arc::new(store);
        let session = connector_runtime::Session::open(options);
        let granted = least_and("notes", &json!({ "cleartextCredentials": true }));
        install(&session, &with_token("notes", &bearer()), &granted).unwrap();
        let view = plan(&session, "notes.find", &json!({ "text": "x" })).unwrap();
        for _ in 0..2 {
            assert_eq!(code(execute(&session, &view).await), expected);
        }
        assert!(server.log().entries().is_empty());
    }
}

#[tokio::test]
async fn a_credential_over_http_has_a_grant_of_its_own() {
    let manifest = with_token("notes", &bearer());
    let stage = Stage::of(&manifest, &least("notes"), fine()).await;
    stage.session.set_credential("notes", "token", secret("s3cret")).unwrap();
    assert_eq!(code(plan(&stage.session, "notes.find", &json!({ "text": "x" }))), "grant.denied");
    let stage = Stage::with_token("s3cret", fine()).await;
    assert!(run(&stage.session, "notes.find", &json!({ "text": "x" })).await.is_ok());
}

#[tokio::test]
async fn an_optional_credential_is_shown_and_sent_when_it_is_set_and_neither_when_not() {
    let slot = json!({ "$credential": "token", "scheme": "Bearer", "absent": "omit" });
    let granted = least_and("notes", &json!({ "cleartextCredentials": true }));
    let stage = Stage::of(&with_token("notes", &slot), &granted, fine()).await;
    let (session, x) = (&stage.session, json!({ "text": "x" }));
    let anonymous = plan(session, "notes.find", &x).unwrap();
    session.set_credential("notes", "token", secret("s3cret")).unwrap();
    let named = plan(session, "notes.find", &x).unwrap();
    // The plan that was shown without goes without, whatever was set since.
    execute(session, &anonymous).await.unwrap();
    execute(session, &named).await.unwrap();
    let wire: Vec<_> =
        stage.server.log().requests().iter().map(|r| String::from_utf8(r.raw.clone()).unwrap()).collect();
    assert_eq!(wire, [promised(&anonymous.preview, &[]), promised(&named.preview, &[("token", "s3cret")])]);
    assert!(!wire[0].contains("Authorization") && wire[1].contains("Authorization: Bearer s3cret"));
    // And the plan that was shown with it does not go without.
    let named = plan(session, "notes.find", &x).unwrap();
    session.delete_credential("notes", "token").unwrap();
    assert_eq!(code(execute(session, &named).await), "credential.missing");
}

#[tokio::test]
async fn an_optional_credential_over_http_is_denied_when_it_would_be_sent() {
    let slot = json!({ "$credential": "token", "scheme": "Bearer", "absent": "omit" });
    let stage = Stage::of(&with_token("notes", &slot), &least("notes"), fine()).await;
    let (session, x) = (&stage.session, json!({ "text": "x" }));
    assert!(run(session, "notes.find", &x).await.is_ok());
    session.set_credential("notes", "token", secret("s3cret")).unwrap();
    assert_eq!(code(plan(session, "notes.find", &x)), "grant.denied");
}

/// Every way in which these tests send a secret, with what of it a server may know.
fn places() -> Vec<(Value, &'static str, Vec<&'static str>)> {
    let basic = |more: Value| {
        let mut slot = json!({ "$credential": "token", "scheme": "Basic" });
        for (name, value) in more.as_object().unwrap() {
            slot[name] = value.clone();
        }
        slot
    };
    vec![
        (bearer(), "tok-4f6b/91+==", vec!["tok-4f6b/91+=="]),
        (basic(json!({})), "alice:Pa$$ wörd", vec!["alice:Pa$$ wörd", "Pa$$ wörd"]),
        (basic(json!({})), "alice:a1b", vec!["alice:a1b"]),
        (basic(json!({ "user": "api" })), "key-88f1", vec!["key-88f1", "api:key-88f1"]),
        (basic(json!({ "password": "" })), "key-88f1", vec!["key-88f1", "key-88f1:"]),
    ]
}

#[tokio::test]
async fn a_secret_that_the_server_sends_back_is_a_placeholder() {
    let percent = |text: &str| text.bytes().fold(String::new(), |all, b| format!("{all}%{b:02X}"));
    for (slot, given, known) in places() {
        let echo = answering(|request| {
            let authorization = request.header("authorization").unwrap();
            let coded = authorization.split(' ').nth(1).unwrap().to_owned();
            ok(&json!({ "headers": { "Authorization": authorization }, "coded": coded }))
        });
        let granted = least_and("notes", &json!({ "cleartextCredentials": true }));
        let stage = Stage::of(&with_token("notes", &slot), &granted, echo).await;
        stage.session.set_credential("notes", "token", secret(given)).unwrap();
        let answer = run(&stage.session, "notes.find", &json!({ "text": "x" })).await.unwrap();
        let sent = stage.server.log().requests()[0].header("authorization").unwrap();
        let coded = sent.split(' ').nth(1).unwrap();
        assert!(!answer.text.contains(coded), "{slot}: {}", answer.text);

        let spelled: Vec<String> =
            known.iter().flat_map(|text| [(*text).to_owned(), percent(text)]).collect();
        let body = json!({ "spelled": spelled });
        let granted = least_and("notes", &json!({ "cleartextCredentials": true }));
        let stage = Stage::of(&with_token("notes", &slot), &granted, answering(move |_| ok(&body))).await;
        stage.session.set_credential("notes", "token", secret(given)).unwrap();
        let answer = run(&stage.session, "notes.find", &json!({ "text": "x" })).await.unwrap();
        for text in &spelled {
            let written = serde_json::to_string(text).unwrap();
            assert!(!answer.text.contains(&written[1..written.len() - 1]), "{slot} {text}: {}", answer.text);
        }
    }
}

#[tokio::test]
async fn a_secret_in_the_message_of_an_error_is_a_placeholder_too() {
    let mut manifest = with_token("notes", &bearer());
    manifest["tools"][0]["response"] = json!({ "error": { "message": "/message" } });
    let granted = least_and("notes", &json!({ "cleartextCredentials": true }));
    let refuse = answering(|_| {
        crate::support::http(403, "application/json", &[], br#"{"message": "the token s3cret-77 may not"}"#)
    });
    let stage = Stage::of(&manifest, &granted, refuse).await;
    stage.session.set_credential("notes", "token", secret("s3cret-77")).unwrap();
    let answer = run(&stage.session, "notes.find", &json!({ "text": "x" })).await.unwrap();
    assert!(answer.text.contains("the token ") && !answer.text.contains("s3cret-77"), "{}", answer.text);
}

#[tokio::test]
async fn a_secret_goes_to_its_own_connector_alone() {
    let mut network = Network::new();
    let notes = network.serve(&origin("notes"), fine()).await;
    let tasks = network.serve(&origin("tasks"), fine()).await;
    let session = network.session();
    let granted =
        |id: &str| least_and(id, &json!({ "cleartextCredentials": true, "flows": ["notes", "tasks"] }));
    for id in ["notes", "tasks"] {
        install(&session, &with_token(id, &bearer()), &granted(id)).unwrap();
        session.set_credential(id, "token", secret(&format!("of-{id}"))).unwrap();
    }
    for id in ["notes", "tasks"] {
        run(&session, &format!("{id}.find"), &json!({ "text": "x" })).await.unwrap();
    }
    for (server, id) in [(notes, "notes"), (tasks, "tasks")] {
        let sent: Vec<_> =
            server.log().requests().iter().map(|r| r.header("authorization").unwrap()).collect();
        assert_eq!(sent, [format!("Bearer of-{id}")]);
    }
    install(&session, &manifest("mail"), &least("mail")).unwrap();
    assert!(session.has_credential("notes", "token").unwrap(), "an install forgets no secret");
}
