//! Folders that are no place for a store, and disks that are none.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

mod child;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use child::{command, files, grant, options, role, say};
use connector_core::Code;
use connector_core::json::sha256;
use connector_store::{Durability, Store, StoreOptions, Transaction};

fn code(options: StoreOptions) -> Option<Code> {
    Store::open(StoreOptions { wait: Duration::ZERO, ..options }).err().map(|refusal| refusal.code)
}

fn install(store: &Store, id: &str, bytes: usize) -> Transaction {
    let manifest = id.repeat(bytes / id.len()).into_bytes();
    Transaction::new(&store.state(), sha256(id)).pin(id, manifest, files(), grant(1))
}

#[test]
fn a_folder_is_made_when_it_may_be_and_its_parent_is_there() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    assert_eq!(code(StoreOptions { create: false, ..options(&folder) }), Some(Code::StoreFolder));
    assert!(!folder.exists());
    assert_eq!(code(options(&folder.join("deeper"))), Some(Code::StoreFolder));
    assert_eq!(code(options(&folder)), None);
    let mode = |name: &str| fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(""), mode("manifests")), (0o700, 0o700), "private to its owner");
    for file in ["lock.json", "ledger.log", "audit.log", "process.lock"] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
    assert_eq!(code(StoreOptions { create: false, ..options(&folder) }), None);
}

#[test]
fn what_is_not_a_folder_is_refused() {
    let above = tempfile::tempdir().unwrap();
    let file = above.path().join("file");
    fs::write(&file, "mine").unwrap();
    assert_eq!(code(options(&file)), Some(Code::StoreFolder));
    assert_eq!(code(options(&file.join("store"))), Some(Code::StoreFolder));
    assert_eq!(fs::read(&file).unwrap(), b"mine");
}

/// A link or a pipe in the place of a file is not followed, not waited for, and not written through.
#[test]
fn what_is_not_a_file_is_not_read() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    let store = Store::open(options(&folder)).unwrap();
    store.commit(&install(&store, "notes", 10)).unwrap();
    drop(store);
    let manifest = fs::read_dir(folder.join("manifests")).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(&manifest).unwrap();
    assert!(Command::new("mkfifo").arg(&manifest).status().unwrap().success());
    let elsewhere = above.path().join("elsewhere");
    fs::write(&elsewhere, "mine").unwrap();
    for name in ["audit.log", "lock.json.tmp"] {
        let _there = fs::remove_file(folder.join(name));
        symlink(&elsewhere, folder.join(name)).unwrap();
    }
    let store = Store::open(options(&folder)).unwrap();
    assert_eq!(store.manifest("notes").unwrap_err().code, Code::StoreManifest);
    assert_eq!(store.damage().first().map(|refusal| refusal.code), Some(Code::AuditBroken));
    store.commit(&install(&store, "notes", 10)).unwrap();
    store.commit(&install(&store, "mail", 10)).unwrap();
    assert_eq!(store.manifest("notes").unwrap(), b"notesnotes");
    drop(store);
    assert_eq!(fs::read(&elsewhere).unwrap(), b"mine");

    fs::remove_file(folder.join("lock.json")).unwrap();
    symlink(&elsewhere, folder.join("lock.json")).unwrap();
    assert_eq!(code(options(&folder)), Some(Code::StoreTampered));
}

/// However large a file is made, it costs its limit and a refusal.
#[test]
fn a_file_that_is_too_large_is_not_read() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    let store = Store::open(options(&folder)).unwrap();
    store.commit(&install(&store, "notes", 10)).unwrap();
    let grow = |path: &Path| fs::File::options().write(true).open(path).unwrap().set_len(1 << 33).unwrap();
    grow(&fs::read_dir(folder.join("manifests")).unwrap().next().unwrap().unwrap().path());
    let refusal = store.manifest("notes").unwrap_err();
    assert_eq!(refusal.code, Code::StoreManifest);
    assert!(refusal.reason.contains("over its limit of 1048576 bytes"), "{}", refusal.reason);
    drop(store);
    grow(&folder.join("audit.log"));
    let store = Store::open(options(&folder)).unwrap();
    assert!(
        store.damage().iter().any(|refusal| refusal.reason.contains("something else stands in the place"))
    );
    drop(store);
    grow(&folder.join("lock.json"));
    assert_eq!(code(options(&folder)), Some(Code::StoreTampered));
}

#[test]
fn a_store_outlives_its_process_on_a_real_disk() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    let store = Store::open(options(&folder)).unwrap();
    let state = store.commit(&install(&store, "notes", 100_000)).unwrap();
    store.ledger().started(sha256("plan"), "notes.write", 5).unwrap();
    drop(store);
    let store = Store::open(StoreOptions { seen: Some(state.counter()), ..options(&folder) }).unwrap();
    assert_eq!(store.state(), state);
    assert_eq!(store.manifest("notes").unwrap().len(), 100_000);
    assert_eq!(store.ledger().interrupted().len(), 1);
}

/// Runs a child in a mount namespace of its own, where a small file system stands in the folder. Says so where the
/// machine does not let it; every error is simulated elsewhere as well.
fn on_a_small_disk(test: &str) {
    let folder = tempfile::tempdir().unwrap();
    if !Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success()) {
        println!("skipped: no user namespaces here");
        return;
    }
    let child = command(test, folder.path(), 0);
    let mut mounted = Command::new("unshare");
    let script = r#"mount -t tmpfs -o size=128k tmpfs "$0" && exec "$@""#;
    mounted
        .args(["-rm", "sh", "-c", script])
        .arg(folder.path())
        .arg(child.get_program())
        .args(child.get_args());
    mounted.envs(child.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = mounted.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("> done"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_full_disk_is_told_and_costs_nothing() {
    on_a_small_disk("fill_the_disk");
}

#[test]
#[ignore = "runs on a small disk"]
fn fill_the_disk() {
    let Some((folder, _)) = role() else { return };
    let store = Store::open(options(&folder)).unwrap();
    let mut installed = 0;
    let refusal = loop {
        match store.commit(&install(&store, &format!("c{installed}"), 20_000)) {
            Ok(_) => installed += 1,
            Err(refusal) => break refusal,
        }
    };
    assert_eq!(refusal.code, Code::StoreFull);
    assert!(installed >= 2 && store.state().pins().len() == installed);
    let filler = folder.join("filler");
    let mut full = fs::File::create(&filler).unwrap();
    while std::io::Write::write(&mut full, &[0; 512]).is_ok() {}
    drop(full);
    let event = || connector_core::audit::Event {
        time_ms: 0,
        deed: connector_core::audit::Deed::Call,
        subject: "x".repeat(5_000),
        tool_set: sha256(""),
        object: None,
        outcome: "ok".into(),
        status: None,
        sent_bytes: 0,
        received_bytes: 0,
        duration_ms: 0,
    };
    assert_eq!(store.audit().append(event(), Durability::Now).unwrap_err().code, Code::StoreFull);
    let long = "x".repeat(5_000);
    assert_eq!(store.ledger().started(sha256("plan"), &long, 0).unwrap_err().code, Code::StoreFull);
    let remove = Transaction::new(&store.state(), sha256("")).unpin("c0");
    assert_eq!(store.commit(&remove).unwrap_err().code, Code::StoreFull);
    drop(store);

    let store = Store::open(options(&folder)).unwrap();
    assert_eq!((store.state().pins().len(), store.damage().len()), (installed, 0));
    assert!(store.load(&store.state()).all(|loaded| loaded.manifest.is_ok()));
    assert_eq!(store.ledger().writes(), []);
    fs::remove_file(filler).unwrap();
    store.commit(&Transaction::new(&store.state(), sha256("")).unpin("c0").unpin("c1")).unwrap();
    store.ledger().started(sha256("plan"), &long, 0).unwrap();
    store.audit().append(event(), Durability::Now).unwrap();
    store.commit(&install(&store, "more", 20_000)).unwrap();
    say("done");
}

#[test]
fn a_read_only_folder_is_told() {
    on_a_small_disk("write_nothing");
}

#[test]
#[ignore = "runs on a small disk"]
fn write_nothing() {
    let Some((folder, _)) = role() else { return };
    let mounted = |how: &str, folder: &Path| {
        let status = Command::new("mount").args(["-o", how]).arg(folder).status().unwrap();
        assert!(status.success());
    };
    mounted("remount,ro", &folder);
    assert_eq!(code(options(&folder)), Some(Code::StoreReadOnly));
    assert_eq!(code(options(&folder.join("store"))), Some(Code::StoreReadOnly));
    mounted("remount,rw", &folder);
    let store = Store::open(options(&folder)).unwrap();
    store.commit(&install(&store, "notes", 10)).unwrap();
    drop(store);
    mounted("remount,ro", &folder);
    assert_eq!(code(options(&folder)), Some(Code::StoreReadOnly));
    say("done");
}
