//! One writer, and readers that wait for nobody.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use connector_runtime::core::{Code, Refusal};
use connector_runtime::{CredentialKey, CredentialStore, MemoryStore, Secret, Session};
use serde_json::json;

use crate::kit::Device;
use crate::support::{
    Network, PATIENCE, bearer, call, execute, fine, install, least, manifest, plan, secret, with_token,
};

/// A keychain in which a writer stands still until it is told to go on.
struct Stopping {
    secrets: MemoryStore,
    reached: Mutex<Sender<()>>,
    go: Mutex<Receiver<()>>,
}

impl CredentialStore for Stopping {
    fn get(&self, key: &CredentialKey) -> Result<Option<Secret>, Refusal> {
        self.secrets.get(key)
    }

    fn set(&self, key: &CredentialKey, secret: Secret) -> Result<(), Refusal> {
        self.secrets.set(key, secret)
    }

    fn delete(&self, key: &CredentialKey) -> Result<bool, Refusal> {
        let deleted = self.secrets.delete(key)?;
        if deleted {
            self.reached.lock().unwrap().send(()).unwrap();
            self.go.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        }
        Ok(deleted)
    }
}

/// In the middle of a change everything that reads goes on, down to a whole call.
#[tokio::test(flavor = "multi_thread")]
async fn a_writer_in_the_middle_of_its_change_stops_no_reader() {
    let mut network = Network::new();
    let _server = network.serve("http://notes.local", fine()).await;
    let ((reached, waits), (go, gone)) = (channel(), channel());
    let mut options = network.options();
    let secrets = MemoryStore::default();
    options.credentials = Arc::new(Stopping { secrets, reached: Mutex::new(reached), go: Mutex::new(gone) });
    let session = Session::open(options);
    let granted = json!({ "origins": { "server": "http://notes.local" }, "localNetwork": true });
    install(&session, &manifest("notes"), &granted).unwrap();
    install(&session, &with_token("tasks", &bearer()), &least("tasks")).unwrap();
    session.set_credential("tasks", "token", secret("s3cret")).unwrap();
    let before = session.list().unwrap();

    let writer = session.clone();
    let removing = std::thread::spawn(move || writer.remove("tasks", None));
    waits.recv_timeout(PATIENCE).unwrap();
    assert_eq!(
        session.list().unwrap().contract,
        before.contract,
        "nothing is visible before it is committed"
    );
    let view = plan(&session, "notes.find", &json!({ "text": "x" })).unwrap();
    execute(&session, &view).await.unwrap();
    assert!(session.audit().unwrap().0.len() >= 3);
    assert!(!removing.is_finished());

    go.send(()).unwrap();
    removing.join().unwrap().unwrap();
    assert_eq!(session.list().unwrap().connectors.len(), 1);
}

/// Many readers beside a writer that changes a store all the time: each sees whole states only, and none goes back.
#[test]
fn readers_under_load_see_whole_states_only() {
    const CHANGES: u64 = 120;
    let device = Device::new();
    let session = device.open_with({
        let mut options = Network::new().options();
        options.limits.calls_per_minute = u32::MAX;
        options
    });
    install(&session, &manifest("notes"), &least("notes")).unwrap();
    let (done, reads, slowest) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    // What a writer was told is committed, by contract; readers may see one that is committed and not told yet.
    let told = Mutex::new(HashSet::from([session.list().unwrap().contract]));
    let seen = Mutex::new(HashSet::new());
    let mut changing = Duration::ZERO;
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let start = Instant::now();
                    let listed = session.list().unwrap();
                    let names: Vec<&str> = listed.tools.iter().map(|tool| tool.name.as_str()).collect();
                    let mut whole: Vec<String> = Vec::new();
                    for connector in &listed.connectors {
                        whole
                            .extend(["add", "drop", "find"].map(|name| format!("{}.{name}", connector.id())));
                    }
                    assert_eq!(names, whole, "no half of a connector");
                    let text = listed.contract.to_string();
                    let planned =
                        session.plan(&call("notes.find", &json!({ "text": "x" })), Some(&text), None);
                    // Between the two the set may have changed, and then nothing is planned.
                    match planned {
                        Ok(view) => assert_eq!(view.preview.tool, "notes.find"),
                        Err(refusal) => assert_eq!(refusal.code, Code::ContractStale),
                    }
                    seen.lock().unwrap().insert(listed.contract);
                    let took = u64::try_from(start.elapsed().as_micros()).unwrap();
                    slowest.fetch_max(took, Ordering::Relaxed);
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for number in 0..CHANGES {
            let id = format!("c{}", number % 10);
            let start = Instant::now();
            let contract = if number / 10 % 2 == 0 {
                install(&session, &manifest(&id), &least(&id)).unwrap().contract
            } else {
                session.remove(&id, None).unwrap()
            };
            changing += start.elapsed();
            told.lock().unwrap().insert(contract);
        }
        done.store(true, Ordering::Relaxed);
    });
    let (reads, slowest) = (reads.into_inner(), Duration::from_micros(slowest.into_inner()));
    println!("{reads} reads beside {CHANGES} changes of {:?}; the slowest took {slowest:?}", changing / 120);
    assert!(reads > CHANGES, "readers went on");
    let (seen, told) = (seen.into_inner().unwrap(), told.into_inner().unwrap());
    assert!(seen.is_subset(&told), "whatever was seen was committed");
}
