//! Secrets go with their connector, and to no other.

use std::sync::Arc;

use connector_runtime::core::{Code, Refusal};
use connector_runtime::{CredentialKey, CredentialStore, MemoryStore, Secret, Session};
use serde_json::json;

use crate::kit::{Device, approval, offer, successor};
use crate::support::{Network, bearer, code, grant, install, least, least_and, secret, with_token};

fn key(source: &str, origin: &str) -> CredentialKey {
    let text = str::to_owned;
    CredentialKey {
        source: text(source),
        connector: text("notes"),
        name: text("token"),
        origin: text(origin),
    }
}

#[test]
fn a_removed_connector_takes_its_secrets_with_it() {
    let device = Device::new();
    let session = device.open();
    install(&session, &with_token("notes", &bearer()), &least("notes")).unwrap();
    let origin =
        session.list().unwrap().connectors[0].credential_origin("token").unwrap().origin().to_string();
    session.set_credential("notes", "token", secret("s3cret")).unwrap();
    assert!(device.secrets.has(&key("app", &origin)).unwrap());
    session.remove("notes", None).unwrap();
    assert!(!device.secrets.has(&key("app", &origin)).unwrap());
    install(&session, &with_token("notes", &bearer()), &least("notes")).unwrap();
    assert!(!session.has_credential("notes", "token").unwrap());
}

/// Also when its manifest cannot be read any more.
#[test]
fn a_connector_that_cannot_be_used_takes_its_secrets_with_it() {
    let device = Device::new();
    let session = device.open();
    install(&session, &with_token("notes", &bearer()), &least("notes")).unwrap();
    let origin =
        session.list().unwrap().connectors[0].credential_origin("token").unwrap().origin().to_string();
    session.set_credential("notes", "token", secret("s3cret")).unwrap();
    session.close();
    for file in std::fs::read_dir(device.folder().join("manifests")).unwrap() {
        std::fs::write(file.unwrap().path(), "{}").unwrap();
    }
    let session = device.open();
    session.remove("notes", None).unwrap();
    assert!(!device.secrets.has(&key("app", &origin)).unwrap());
}

#[test]
fn another_source_gets_no_secret_not_even_by_a_review() {
    let device = Device::new();
    let session = device.open();
    let manifest = with_token("notes", &bearer());
    install(&session, &manifest, &least("notes")).unwrap();
    let origin =
        session.list().unwrap().connectors[0].credential_origin("token").unwrap().origin().to_string();
    session.set_credential("notes", "token", secret("s3cret")).unwrap();
    let token = approval(&session, &manifest, "web", &least("notes"));
    offer(&session, &manifest, "web", &least("notes"), Some(&token)).unwrap();
    assert!(!session.has_credential("notes", "token").unwrap());
    assert!(
        !device.secrets.has(&key("app", &origin)).unwrap()
            && !device.secrets.has(&key("web", &origin)).unwrap()
    );
}

#[test]
fn a_secret_stays_with_a_successor_and_goes_with_its_server() {
    let device = Device::new();
    let session = device.open();
    let manifest = with_token("notes", &bearer());
    install(&session, &manifest, &least("notes")).unwrap();
    session.set_credential("notes", "token", secret("s3cret")).unwrap();
    let next = successor(&manifest, &manifest);
    offer(&session, &next, "app", &least("notes"), None).unwrap();
    assert!(session.has_credential("notes", "token").unwrap());
    let origin =
        session.list().unwrap().connectors[0].credential_origin("token").unwrap().origin().to_string();
    let mut moved = least("notes");
    moved["origins"]["server"] = json!("https://elsewhere.example");
    let reviewed = session.review_grant("notes", grant(&moved)).unwrap();
    session.set_grant_approved("notes", grant(&moved), Some(&reviewed.approval)).unwrap();
    assert!(!session.has_credential("notes", "token").unwrap());
    assert!(!device.secrets.has(&key("app", &origin)).unwrap(), "the old server's secret is gone");
}

/// A keychain that gives nothing away.
struct Locked(MemoryStore);

impl CredentialStore for Locked {
    fn get(&self, key: &CredentialKey) -> Result<Option<Secret>, Refusal> {
        self.0.get(key)
    }

    fn set(&self, key: &CredentialKey, secret: Secret) -> Result<(), Refusal> {
        self.0.set(key, secret)
    }

    fn delete(&self, _: &CredentialKey) -> Result<bool, Refusal> {
        Err(Refusal::new(Code::CredentialMissing, "the keychain is locked"))
    }
}

#[test]
fn a_connector_whose_secrets_cannot_be_deleted_stays() {
    let mut options = Network::new().options();
    options.credentials = Arc::new(Locked(MemoryStore::default()));
    let session = Session::open(options);
    install(&session, &with_token("notes", &bearer()), &least("notes")).unwrap();
    session.set_credential("notes", "token", secret("s3cret")).unwrap();
    assert_eq!(code(session.remove("notes", None)), "credential.missing");
    assert_eq!(session.list().unwrap().connectors.len(), 1);
    assert!(session.has_credential("notes", "token").unwrap());
}

/// A keychain during whose work another connector takes the place.
#[test]
fn a_secret_that_was_set_while_its_connector_was_removed_is_gone_too() {
    struct Slow(MemoryStore, std::sync::Mutex<Option<Session>>);
    impl CredentialStore for Slow {
        fn get(&self, key: &CredentialKey) -> Result<Option<Secret>, Refusal> {
            self.0.get(key)
        }
        fn set(&self, key: &CredentialKey, secret: Secret) -> Result<(), Refusal> {
            let session = self.1.lock().unwrap().take();
            if let Some(session) = session {
                session.remove("notes", None)?;
            }
            self.0.set(key, secret)
        }
        fn delete(&self, key: &CredentialKey) -> Result<bool, Refusal> {
            self.0.delete(key)
        }
    }
    let mut options = Network::new().options();
    let slow = Arc::new(Slow(MemoryStore::default(), std::sync::Mutex::default()));
    options.credentials = Arc::<Slow>::clone(&slow);
    let session = Session::open(options);
    let granted = least_and("notes", &json!({}));
    install(&session, &with_token("notes", &bearer()), &granted).unwrap();
    let origin =
        session.list().unwrap().connectors[0].credential_origin("token").unwrap().origin().to_string();
    *slow.1.lock().unwrap() = Some(session.clone());
    assert_eq!(code(session.set_credential("notes", "token", secret("s3cret"))), "connector.unknown");
    assert!(slow.0.get(&key("app", &origin)).unwrap().is_none());
}
