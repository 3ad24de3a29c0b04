//! Who may speak for a connector id.

use std::io::Cursor;

use connector_runtime::core::Refusal;
use connector_runtime::core::signature::{Policies, Policy, PublicKey, TrustedKeys};
use connector_runtime::{Installed, Offer, Session, SessionOptions};
use minisign::KeyPair;
use serde_json::Value;

use crate::kit::{Device, successor};
use crate::support::{Network, code, grant, least, manifest, outcomes};

fn pair() -> (KeyPair, PublicKey) {
    let pair = KeyPair::generate_unencrypted_keypair().unwrap();
    let key = PublicKey::parse(&pair.pk.to_base64()).unwrap();
    (pair, key)
}

fn sign(pair: &KeyPair, text: &str) -> String {
    minisign::sign(None, &pair.sk, Cursor::new(text.as_bytes()), None, None).unwrap().to_string()
}

fn options(trusted: TrustedKeys) -> SessionOptions {
    let mut options = Network::new().options();
    options.trusted = trusted;
    let required = [("store.example".into(), Policy::Required)];
    options.policies = Policies { otherwise: Policy::Optional, sources: required.into() };
    options
}

fn install(
    session: &Session,
    manifest: &Value,
    source: &str,
    signature: Option<&str>,
    approval: Option<&str>,
) -> Result<Installed, Refusal> {
    let (text, seen) = (manifest.to_string(), session.list()?.contract.to_string());
    let id = manifest["id"].as_str().unwrap();
    let offer = Offer { manifest: text.as_bytes(), source, grant: grant(&least(id)), signature };
    session.install_offer(&offer, Some(&seen), approval)
}

#[test]
fn a_source_that_must_sign_does() {
    let (device, (pair, key), (stranger, _)) = (Device::new(), pair(), pair());
    let session = device.open_with(options(TrustedKeys::new().trust(key.clone(), ["notes"])));
    let notes = manifest("notes");
    assert_eq!(code(install(&session, &notes, "store.example", None, None)), "signature.missing");
    let wrong = sign(&pair, "other bytes");
    for source in ["store.example", "app"] {
        assert_eq!(code(install(&session, &notes, source, Some(&wrong), None)), "signature.invalid");
        let unknown = sign(&stranger, &notes.to_string());
        assert_eq!(code(install(&session, &notes, source, Some(&unknown), None)), "signature.key");
        // Nothing is parsed before the signature is judged: what is no manifest at all is refused for it alone.
        assert_eq!(
            code(install(&session, &serde_json::json!({ "id": "notes" }), source, Some(&wrong), None)),
            "signature.invalid"
        );
    }
    let tasks = manifest("tasks");
    let theirs = sign(&pair, &tasks.to_string());
    assert_eq!(code(install(&session, &tasks, "store.example", Some(&theirs), None)), "signature.key");
    install(&session, &notes, "store.example", Some(&sign(&pair, &notes.to_string())), None).unwrap();
    assert_eq!(session.list().unwrap().connectors[0].key(), Some(key.as_str()));
    assert!(outcomes(&session).contains(&("install ?".into(), "signature.missing".into())));
}

#[test]
fn signed_never_becomes_unsigned_nor_changes_its_key_but_by_a_review() {
    let (device, (pair, key), (second, other)) = (Device::new(), pair(), pair());
    let trusted = TrustedKeys::new().trust(key.clone(), ["notes"]).trust(other.clone(), ["notes"]);
    let session = device.open_with(options(trusted.clone()));
    let (first, next) = (manifest("notes"), successor(&manifest("notes"), &manifest("notes")));
    install(&session, &first, "app", Some(&sign(&pair, &first.to_string())), None).unwrap();
    session.close();
    let session = device.open_with(options(trusted));
    assert_eq!(session.list().unwrap().connectors[0].key(), Some(key.as_str()));
    assert_eq!(code(install(&session, &next, "app", None, None)), "merge.source");
    let theirs = sign(&second, &next.to_string());
    assert_eq!(code(install(&session, &next, "app", Some(&theirs), None)), "merge.source");
    let text = next.to_string();
    let offer = Offer {
        manifest: text.as_bytes(),
        source: "app",
        grant: grant(&least("notes")),
        signature: Some(&theirs),
    };
    let reviewed = session.review(&offer).unwrap();
    assert_eq!(reviewed.changes[0].kind.as_str(), "key");
    // The approval is for this key and no other.
    assert_eq!(code(install(&session, &next, "app", None, Some(&reviewed.approval))), "approval.invalid");
    let again = session.review(&offer).unwrap();
    install(&session, &next, "app", Some(&theirs), Some(&again.approval)).unwrap();
    assert_eq!(session.list().unwrap().connectors[0].key(), Some(other.as_str()));
}
