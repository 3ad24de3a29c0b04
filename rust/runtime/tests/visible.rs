//! Visibility under a model checker: every interleaving of writers and readers, over the very source that sessions use.

#![allow(clippy::unwrap_used, reason = "a test")]

/// What `visible.rs` names as its primitives, here those of loom.
mod sync {
    pub(crate) use loom::sync::{Arc, Mutex, MutexGuard, RwLock};
    pub(crate) use std::sync::PoisonError;
}

#[path = "../src/visible.rs"]
mod visible;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use visible::Visible;

/// A value of two halves that belong together, as the set and its hash do.
#[derive(Clone, Copy)]
struct Version {
    number: u64,
    double: u64,
}

impl Version {
    fn new(number: u64) -> Self {
        Self { number, double: number * 2 }
    }
}

/// The highest version that was committed; a store would have it on disk.
#[derive(Default)]
struct Committed(AtomicU64);

impl Committed {
    fn commit(&self, version: &Version) {
        // Nobody else commits in between, and no version is committed twice.
        let before = self.0.load(Ordering::Acquire);
        assert_eq!(before + 1, version.number);
        self.0.store(version.number, Ordering::Release);
    }
}

fn change(visible: &Visible<Version>, committed: &Committed) {
    let writer = visible.writer();
    let next = Version::new(writer.current().number + 1);
    let committing = |next: &Version| {
        committed.commit(next);
        Ok::<(), ()>(())
    };
    writer.publish(next, committing).unwrap();
    assert_eq!(writer.current().number, next.number, "a writer sees its own change");
}

fn read(visible: &Visible<Version>, committed: &Committed) {
    let mut last = 0;
    for _ in 0..2 {
        let seen = visible.current();
        assert_eq!(seen.double, seen.number * 2, "no reader sees half a change");
        assert!(seen.number >= last, "no reader goes back");
        assert!(committed.0.load(Ordering::Acquire) >= seen.number, "what is visible was committed before");
        last = seen.number;
    }
}

#[test]
fn what_is_visible_is_whole_and_was_committed_before() {
    loom::model(|| {
        let shared = Arc::new((Visible::new(Version::new(0)), Committed::default()));
        let other = Arc::clone(&shared);
        let reader = thread::spawn(move || read(&other.0, &other.1));
        change(&shared.0, &shared.1);
        change(&shared.0, &shared.1);
        reader.join().unwrap();
    });
}

#[test]
fn no_change_is_lost() {
    loom::model(|| {
        let shared = Arc::new((Visible::new(Version::new(0)), Committed::default()));
        let other = Arc::clone(&shared);
        let writer = thread::spawn(move || change(&other.0, &other.1));
        change(&shared.0, &shared.1);
        writer.join().unwrap();
        assert_eq!(shared.0.current().number, 2);
    });
}

#[test]
fn what_was_not_committed_is_never_visible() {
    loom::model(|| {
        let visible = Arc::new(Visible::new(Version::new(0)));
        let other = Arc::clone(&visible);
        let reader = thread::spawn(move || assert_eq!(other.current().number, 0));
        let writer = visible.writer();
        assert_eq!(writer.publish(Version::new(1), |_| Err("the disk is full")), Err("the disk is full"));
        drop(writer);
        reader.join().unwrap();
        assert_eq!(visible.current().number, 0);
    });
}
