//! Two processes on one store.

#![cfg(unix)]

mod child;

use std::time::{Duration, Instant};

use child::{command, files, grant, options, role, say, start};
use connector_core::Code;
use connector_core::json::sha256;
use connector_store::{Store, StoreOptions, Transaction};

#[test]
#[ignore = "the other process"]
fn hold_the_store() {
    let Some((folder, _)) = role() else { return };
    let _store = Store::open(options(&folder)).unwrap();
    say("open");
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn the_second_process_is_told_after_a_bounded_wait_and_comes_in_when_the_first_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, mut lines) = start("hold_the_store", folder.path(), 0);
    assert_eq!(lines.next().as_deref(), Some("open"));
    let open =
        |wait| Store::open(StoreOptions { wait, ..options(folder.path()) }).map_err(|refusal| refusal.code);
    assert_eq!(open(Duration::ZERO).err(), Some(Code::StoreLocked));
    let before = Instant::now();
    assert_eq!(open(Duration::from_millis(60)).err(), Some(Code::StoreLocked));
    assert!(before.elapsed() >= Duration::from_millis(60));
    child.kill().unwrap();
    assert!(open(Duration::from_secs(10)).is_ok(), "the lock died with its process");
    child.wait().unwrap();
}

#[test]
fn a_store_is_open_once_in_a_process_too() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::open(StoreOptions { wait: Duration::ZERO, ..options(folder.path()) });
    let store = open().unwrap();
    assert_eq!(open().err().map(|refusal| refusal.code), Some(Code::StoreLocked));
    drop(store);
    assert!(open().is_ok());
}

const COMMITS: u64 = 12;

#[test]
#[ignore = "the other process"]
fn take_turns() {
    let Some((folder, number)) = role() else { return };
    for _ in 0..COMMITS {
        let store = Store::open(options(&folder)).unwrap();
        let id = format!("c{number}");
        let so_far = store.state().pin(&id).map_or(0, |pin| pin.grant.grant.to_text().parse().unwrap());
        let transaction = Transaction::new(&store.state(), sha256("set"));
        store.commit(&transaction.pin(id, b"manifest".to_vec(), files(), grant(so_far + 1))).unwrap();
    }
    say("done");
}

#[test]
fn processes_that_take_turns_lose_no_commit() {
    let folder = tempfile::tempdir().unwrap();
    let mut children: Vec<_> =
        (0..3).map(|number| command("take_turns", folder.path(), number).spawn().unwrap()).collect();
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    let store = Store::open(options(folder.path())).unwrap();
    let state = store.state();
    assert_eq!(state.counter(), 3 * COMMITS);
    assert!(state.pins().all(|(_, pin)| pin.grant == grant(COMMITS)));
    assert_eq!(state.pins().len(), 3);
}
