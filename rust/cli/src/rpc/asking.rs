//! A credential store that asks the other side: the notification `credential.needed`, answered by `credential.set`.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use connector_core::{Code, Refusal};
use connector_runtime::{CredentialKey, CredentialStore, MemoryStore, Secret};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use super::message::{notification, object};
use super::server::Answers;

/// Secrets in memory. One that a running call needs and that is not set, or that the server refused, is asked for,
/// until the call's deadline.
pub(super) struct AskingStore {
    /// The session's name, as the other side knows it.
    session: String,
    answers: Answers,
    kept: MemoryStore,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    closed: bool,
    /// What is asked for now.
    asked: HashMap<CredentialKey, Asked>,
    /// Calls that wait, by their ids.
    waiting: Vec<(String, Arc<AtomicBool>)>,
}

#[derive(Default)]
struct Asked {
    /// Calls that wait for it.
    calls: usize,
    /// How often it was set since it was asked for.
    sets: u64,
}

tokio::task_local! {
    static CALL: Call;
}

/// The running call on whose behalf the store is used.
struct Call {
    id: String,
    deadline: Option<Instant>,
    /// What the store gave it already: asked again, the server has refused it.
    given: RefCell<HashSet<CredentialKey>>,
}

impl AskingStore {
    pub(super) fn new(session: String, answers: Answers) -> Self {
        let (kept, state, changed) = (MemoryStore::default(), Mutex::default(), Condvar::new());
        Self { session, answers, kept, state, changed }
    }

    /// Runs a call that may be asked for; `time` is the whole time that it may take.
    pub(super) async fn within<T>(id: String, time: Duration, call: impl Future<Output = T>) -> T {
        let deadline = Instant::now().checked_add(time);
        CALL.scope(Call { id, deadline, given: RefCell::default() }, call).await
    }

    /// Ends the waiting of one call. Gives whether it waited.
    pub(super) fn cancel(&self, call_id: &str) -> bool {
        let state = self.state();
        let of_call = state.waiting.iter().filter(|(id, _)| id == call_id);
        let waited = of_call.inspect(|(_, cancelled)| cancelled.store(true, Ordering::Relaxed)).count();
        self.changed.notify_all();
        waited > 0
    }

    /// Ends all waiting.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks, and waits until the secret is set, the call is cancelled or its time is over.
    fn ask(
        &self,
        key: &CredentialKey,
        rejected: bool,
        id: &str,
        deadline: Option<Instant>,
    ) -> Result<(), Refusal> {
        let cancelled = Arc::<AtomicBool>::default();
        let (first, before) = {
            let mut state = self.state();
            state.waiting.push((id.to_owned(), Arc::clone(&cancelled)));
            let asked = state.asked.entry(key.clone()).or_default();
            asked.calls += 1;
            (asked.calls == 1, asked.sets)
        };
        // Several calls that wait for one secret ask once.
        if first {
            let params = object([
                ("session", self.session.as_str().into()),
                ("id", key.connector.as_str().into()),
                ("name", key.name.as_str().into()),
                ("rejected", rejected.into()),
            ]);
            Handle::current().block_on(self.answers.send(notification("credential.needed", params)));
        }
        let mut state = self.state();
        let is_set = |state: &State| state.asked.get(key).is_some_and(|asked| asked.sets > before);
        let ended = |state: &State| state.closed || cancelled.load(Ordering::Relaxed);
        while !is_set(&state) && !ended(&state) {
            let left =
                deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break;
            }
            // The longest time that a condition variable takes on every platform.
            let left = left.min(Duration::from_secs(3_600));
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let ended = ended(&state) && !is_set(&state);
        state.waiting.retain(|(_, other)| !Arc::ptr_eq(other, &cancelled));
        if let Some(asked) = state.asked.get_mut(key) {
            asked.calls -= 1;
            if asked.calls == 0 {
                state.asked.remove(key);
            }
        }
        if ended {
            return Err(Refusal::new(
                Code::NetCancelled,
                "the call was cancelled while it waited for a credential",
            ));
        }
        Ok(())
    }
}

impl CredentialStore for AskingStore {
    fn get(&self, key: &CredentialKey) -> Result<Option<Secret>, Refusal> {
        let kept = self.kept.get(key)?;
        // Only a call that runs asks; to look is not to need.
        let running = CALL.try_with(|call| {
            let again = !call.given.borrow_mut().insert(key.clone());
            (again, call.id.clone(), call.deadline)
        });
        match running {
            Ok((again, id, deadline)) if again || kept.is_none() => {
                block_in_place(|| self.ask(key, again, &id, deadline))?;
                self.kept.get(key)
            }
            _ => Ok(kept),
        }
    }

    fn has(&self, key: &CredentialKey) -> Result<bool, Refusal> {
        self.kept.has(key)
    }

    fn set(&self, key: &CredentialKey, secret: Secret) -> Result<(), Refusal> {
        self.kept.set(key, secret)?;
        if let Some(asked) = self.state().asked.get_mut(key) {
            asked.sets += 1;
        }
        self.changed.notify_all();
        Ok(())
    }

    fn delete(&self, key: &CredentialKey) -> Result<bool, Refusal> {
        self.kept.delete(key)
    }
}
