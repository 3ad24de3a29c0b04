//! Somebody else writes into the folder.

use connector_core::Code;
use connector_core::json::{Sha256, sha256};
use proptest::prelude::*;

use super::simulated::Simulated;
use super::{from, grant, json, key, tombstone};
use crate::{GrantRecord, Provenance, State, Store, StoreKey, StoreLimits, Transaction, lock_file};

fn open(files: &Simulated, seen: Option<u64>) -> Result<Store, Code> {
    Store::on(files.files(), key(), seen, StoreLimits::default()).map_err(|refusal| refusal.code)
}

fn install(on: &State, id: &str, manifest: &str) -> Transaction {
    Transaction::new(on, sha256(manifest)).pin(id, manifest.as_bytes().to_vec(), from("files"), grant("{}"))
}

/// A store with two connectors.
fn two() -> (Simulated, Store) {
    let files = Simulated::new();
    let store = open(&files, None).unwrap();
    store.commit(&install(&store.state(), "notes", "notes 1")).unwrap();
    store.commit(&install(&store.state(), "mail", "mail 1")).unwrap();
    (files, store)
}

#[test]
fn an_older_lock_file_is_refused_by_a_host_that_kept_the_counter() {
    let (files, store) = two();
    let old = files.bytes(lock_file::NAME);
    let seen = store.commit(&Transaction::new(&store.state(), sha256("x")).unpin("mail")).unwrap().counter();
    drop(store);
    assert!(open(&files, Some(seen)).is_ok());
    files.put(lock_file::NAME, &old);
    files.put(&format!("manifests/{}", sha256("mail 1")), b"mail 1");
    let names = files.names();
    assert_eq!(open(&files, Some(seen)).err(), Some(Code::StoreRolledBack));
    assert_eq!(files.names(), names, "nothing is cleaned up after a refused lock file");
    assert!(open(&files, Some(seen - 1)).is_ok(), "the host saw no more than that");
}

#[test]
fn a_lock_file_of_another_key_or_of_a_newer_format_is_told_apart() {
    let (files, _) = two();
    let other = Store::on(files.files(), StoreKey::new([8; 32]), None, StoreLimits::default());
    assert_eq!(other.err().map(|refusal| refusal.code), Some(Code::StoreTampered));
    let content = r#"{"format":2}"#;
    let code = Sha256(key().code("lock", content.as_bytes()));
    files.put(lock_file::NAME, format!("{{\"content\":{content},\"mac\":\"{code}\"}}\n").as_bytes());
    assert_eq!(open(&files, None).err(), Some(Code::StoreVersion));
}

#[test]
fn a_removed_lock_file_is_not_an_empty_store() {
    let (files, store) = two();
    drop(store);
    files.take(lock_file::NAME);
    assert_eq!(open(&files, None).err(), Some(Code::StoreTampered));
    // Without manifests the records tell.
    let files = Simulated::new();
    open(&files, None).unwrap().ledger().started(sha256("plan"), "a.b", 0).unwrap();
    files.take(lock_file::NAME);
    assert_eq!(open(&files, None).err(), Some(Code::StoreTampered));
    // And with nothing left, the host's own memory.
    assert_eq!(open(&Simulated::new(), Some(1)).err(), Some(Code::StoreRolledBack));
    assert!(open(&Simulated::new(), Some(0)).is_ok());
}

#[test]
fn a_manifest_that_does_not_fit_its_pin_is_refused_by_name_and_the_others_load() {
    let (files, store) = two();
    let file = format!("manifests/{}", sha256("notes 1"));
    for changed in [Some("notes 2"), Some(""), None] {
        match changed {
            Some(bytes) => files.put(&file, bytes.as_bytes()),
            None => files.take(&file),
        }
        let reopened = open(&files, None).unwrap();
        for loaded in reopened.load(&reopened.state()) {
            if loaded.id == "notes" {
                let refusal = loaded.manifest.unwrap_err();
                assert_eq!(refusal.code, Code::StoreManifest);
                assert!(refusal.reason.contains("`notes`"), "{}", refusal.reason);
            } else {
                assert_eq!(loaded.manifest.unwrap(), b"mail 1");
            }
        }
        assert_eq!(reopened.manifest("notes").unwrap_err().code, Code::StoreManifest);
        assert_eq!(reopened.manifest("mail").unwrap(), b"mail 1");
        assert_eq!(reopened.manifest("else").unwrap_err().code, Code::ConnectorUnknown);
    }
    store.commit(&install(&store.state(), "notes", "notes 1")).unwrap();
    assert_eq!(store.manifest("notes").unwrap(), b"notes 1", "installing it again mends it");
}

#[test]
fn a_store_removes_only_what_it_made() {
    let (files, store) = two();
    files.put("manifests/README.md", b"mine");
    files.put("photo.jpg", b"mine");
    files.put(&format!("manifests/{}.tmp", sha256("half")), b"left by a crash");
    files.put(&format!("manifests/{}.tmp", sha256("notes 1")), b"left by a crash");
    files.put(&format!("manifests/{}", sha256("garbage")), b"garbage");
    store.commit(&Transaction::new(&store.state(), sha256("x")).unpin("mail")).unwrap();
    let kept = [
        "audit.log",
        "ledger.log",
        "lock.json",
        "photo.jpg",
        "manifests/README.md",
        &format!("manifests/{}", sha256("notes 1")),
    ];
    let mut names = files.names();
    names.sort();
    let mut kept = kept.map(String::from).to_vec();
    kept.sort();
    assert_eq!(names, kept);
}

#[test]
fn two_lock_files_never_share_a_counter() {
    let (files, store) = two();
    let counter = store.state().counter();
    let failing = files.steps() + 3;
    files.fail(failing..failing + 9, std::io::ErrorKind::StorageFull);
    let refusal = store.commit(&install(&store.state(), "more", "more 1")).unwrap_err();
    assert_eq!(refusal.code, Code::StoreFull);
    files.heal();
    let state = store.commit(&install(&store.state(), "other", "other 1")).unwrap();
    assert_eq!(state.counter(), counter + 2, "the one that failed may have been copied away");
    drop(store);
    files.put("lock.json.tmp", b"left by a crash");
    let store = open(&files, None).unwrap();
    assert_eq!(store.commit(&install(&store.state(), "more", "more 1")).unwrap().counter(), counter + 4);
}

#[test]
fn an_id_stays_with_its_source_and_key_also_after_removal() {
    let (_, store) = two();
    let signed = Provenance { key: Some("RWQ".into()), ..from("files") };
    let pin = |provenance: &Provenance| {
        Transaction::new(&store.state(), sha256("x")).pin(
            "notes",
            b"notes 2".to_vec(),
            provenance.clone(),
            grant("{}"),
        )
    };
    store.commit(&Transaction::new(&store.state(), sha256("x")).unpin("notes")).unwrap();
    for other in [from("store.example"), signed.clone()] {
        assert_eq!(store.commit(&pin(&other)).unwrap_err().code, Code::InstallSource);
    }
    assert_eq!(store.state().owner("notes").map(|owner| &owner.provenance), Some(&from("files")));
    let reviewed = Transaction::new(&store.state(), sha256("x")).move_source("notes", signed.clone());
    let reviewed = reviewed.pin("notes", b"notes 2".to_vec(), signed.clone(), grant("{}"));
    store.commit(&reviewed).unwrap();
    assert_eq!(store.state().pin("notes").unwrap().provenance, signed);
    assert_eq!(store.commit(&pin(&from("files"))).unwrap_err().code, Code::InstallSource);
}

#[test]
fn limits_refuse_and_nothing_is_forgotten() {
    let files = Simulated::new();
    let open = |limits: &StoreLimits| Store::on(files.files(), key(), None, limits.clone()).unwrap();
    let limits =
        StoreLimits { tombstones: 3, manifest_bytes: 10, lock_bytes: 2_000, ..StoreLimits::default() };
    let store = open(&limits);
    let change = || Transaction::new(&store.state(), sha256("x"));
    let refused = |transaction: Transaction| {
        let before = store.state();
        assert_eq!(store.commit(&transaction).unwrap_err().code, Code::StoreLimit);
        assert_eq!(store.state(), before);
    };
    store.commit(&change().tombstone("a.x", tombstone(&[])).tombstone("a.y", tombstone(&[]))).unwrap();
    refused(change().tombstone("b.x", tombstone(&[])).tombstone("b.y", tombstone(&[])));
    store.commit(&change().tombstone("b.x", tombstone(&[])).tombstone("a.x", tombstone(&["a"]))).unwrap();
    refused(change().tombstone("b.y", tombstone(&[])));
    assert_eq!(store.state().tombstone("a.x"), Some(&tombstone(&["a"])));

    refused(change().pin("a", vec![b' '; 11], from("files"), grant("{}")));
    let long = format!("\"{}\"", "x".repeat(2_000));
    refused(change().pin("a", vec![b' '; 10], from("files"), grant(&long)));
    let deep = |levels: usize| GrantRecord {
        grant: json(&format!("{}{}", "[".repeat(levels), "]".repeat(levels))),
        hash: sha256(""),
    };
    refused(change().pin("a", vec![b' '; 10], from("files"), deep(65)));
    let huge = GrantRecord {
        grant: connector_core::json::Value::Number(connector_core::json::Number::parse("1e999").unwrap()),
        hash: sha256(""),
    };
    refused(change().pin("a", vec![b' '; 10], from("files"), huge));
    store.commit(&change().pin("a", vec![b' '; 10], from("files"), deep(64))).unwrap();

    drop(store);
    let lower = StoreLimits { tombstones: 1, lock_bytes: 100, ..limits };
    let store = open(&lower);
    store.commit(&Transaction::new(&store.state(), sha256("x")).unpin("a")).unwrap();
    let more = Transaction::new(&store.state(), sha256("x")).tombstone("c.x", tombstone(&[]));
    assert_eq!(store.commit(&more).unwrap_err().code, Code::StoreLimit);
}

#[test]
fn nothing_of_a_grant_is_printed() {
    let (_, store) = two();
    let secret = grant(r#"{"settings":{"notebook":"diary"}}"#);
    let transaction = Transaction::new(&store.state(), sha256("x")).grant("notes", secret);
    let state = store.commit(&transaction).unwrap();
    let printed = format!("{transaction:?} {state:?} {:?}", key());
    assert!(!printed.contains("diary"), "{printed}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_changed_lock_file_is_used(place in any::<prop::sample::Index>(), change in 1..=255_u8, cut in any::<bool>()) {
        let (files, _) = two();
        let mut bytes = files.bytes(lock_file::NAME);
        let at = place.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= change;
        }
        files.put(lock_file::NAME, &bytes);
        prop_assert_eq!(open(&files, None).err(), Some(Code::StoreTampered));
    }

    #[test]
    fn no_bytes_in_the_place_of_a_file_make_it_panic(name in 0..4_usize, bytes in any::<Vec<u8>>()) {
        let (files, _) = two();
        let names = ["lock.json", "ledger.log", "audit.log", &format!("manifests/{}", sha256("mail 1"))];
        files.put(names[name], &bytes);
        let opened = open(&files, None);
        prop_assert_eq!(opened.is_ok(), name != 0);
        if let Ok(store) = opened {
            prop_assert_eq!(store.damage().len(), usize::from(name != 3));
            store.ledger().started(sha256("plan"), "a.b", 0).unwrap();
            store.audit().append(super::event("a.b"), crate::Durability::Now).unwrap();
            store.commit(&install(&store.state(), "mail", "mail 2")).unwrap();
        }
    }
}
