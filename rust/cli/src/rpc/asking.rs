//! A credential store that asks the other side: the notification `credential.needed`, answered by `credential.set`.

use std::cell::RefCell;
use std::collections::HashMap;
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
    /// How often each secret was set.
    sets: HashMap<CredentialKey, u64>,
    /// What is asked for now, after so many secrets, and how many calls wait for it.
    asked: HashMap<(CredentialKey, u64), usize>,
    /// The calls that wait, by their ids.
    waiting: Vec<(String, Arc<AtomicBool>)>,
}

impl State {
    fn sets(&self, key: &CredentialKey) -> u64 {
        self.sets.get(key).copied().unwrap_or(0)
    }
}

tokio::task_local! {
    static CALL: Call;
}

/// The running call on whose behalf the store is used.
struct Call {
    id: String,
    deadline: Option<Instant>,
    /// What the store gave it, by how often that had been set: asked again, the server has refused it.
    given: RefCell<HashMap<CredentialKey, u64>>,
}

/// A call that waits.
struct Waiter {
    id: String,
    deadline: Option<Instant>,
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

    /// Asks, and waits until the secret was set more than `before` times, the call is cancelled or its time is over.
    fn ask(&self, key: &CredentialKey, before: u64, rejected: bool, call: &Waiter) -> Result<(), Refusal> {
        let cancelled = Arc::<AtomicBool>::default();
        let wanted = (key.clone(), before);
        let first = {
            let mut state = self.state();
            state.waiting.push((call.id.clone(), Arc::clone(&cancelled)));
            let calls = state.asked.entry(wanted.clone()).or_default();
            *calls += 1;
            // Several calls that wait for one secret ask once.
            *calls == 1 && state.sets(key) == before
        };
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
        let is_set = |state: &State| state.sets(key) > before;
        let ended = |state: &State| state.closed || cancelled.load(Ordering::Relaxed);
        while !is_set(&state) && !ended(&state) {
            let left = call
                .deadline
                .map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break;
            }
            // The longest time that a condition variable takes on every platform.
            let left = left.min(Duration::from_secs(3_600));
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.waiting.retain(|(_, other)| !Arc::ptr_eq(other, &cancelled));
        if let Some(calls) = state.asked.get_mut(&wanted) {
            *calls -= 1;
            if *calls == 0 {
                state.asked.remove(&wanted);
            }
        }
        if ended(&state) {
            let reason = "the call was cancelled while it waited for a credential";
            return Err(Refusal::new(Code::NetCancelled, reason));
        }
        Ok(())
    }

    /// The secret, and how often it had been set by then.
    fn look(&self, key: &CredentialKey) -> Result<(Option<Secret>, u64), Refusal> {
        let state = self.state();
        Ok((self.kept.get(key)?, state.sets(key)))
    }
}

impl CredentialStore for AskingStore {
    fn get(&self, key: &CredentialKey) -> Result<Option<Secret>, Refusal> {
        let (mut kept, mut sets) = self.look(key)?;
        let running = CALL.try_with(|call| {
            let given = call.given.borrow().get(key).copied();
            (given, Waiter { id: call.id.clone(), deadline: call.deadline })
        });
        // Only a call that runs asks; to look is not to need.
        let Ok((given, call)) = running else { return Ok(kept) };
        let rejected = given == Some(sets) && kept.is_some();
        if rejected || kept.is_none() {
            block_in_place(|| self.ask(key, sets, rejected, &call))?;
            (kept, sets) = self.look(key)?;
        }
        CALL.with(|call| call.given.borrow_mut().insert(key.clone(), sets));
        Ok(kept)
    }

    fn has(&self, key: &CredentialKey) -> Result<bool, Refusal> {
        self.kept.has(key)
    }

    fn set(&self, key: &CredentialKey, secret: Secret) -> Result<(), Refusal> {
        let mut state = self.state();
        self.kept.set(key, secret)?;
        *state.sets.entry(key.clone()).or_default() += 1;
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    fn delete(&self, key: &CredentialKey) -> Result<bool, Refusal> {
        self.kept.delete(key)
    }
}
