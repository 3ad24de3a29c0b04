//! A credential store that asks the other side: the notification `credential.needed`, answered by `credential.set`.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use connector_core::{Code, Refusal};
use connector_runtime::{CredentialKey, CredentialStore, MemoryStore, Need, Secret};
use tokio::runtime::Handle;
use tokio::sync::watch;

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
    /// Moves with each secret that is set.
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    /// How often each secret was set.
    sets: HashMap<CredentialKey, u64>,
    /// What is asked for now, after so many secrets, and how many calls wait for it.
    asked: HashMap<(CredentialKey, u64), usize>,
}

impl State {
    fn sets(&self, key: &CredentialKey) -> u64 {
        self.sets.get(key).copied().unwrap_or(0)
    }
}

impl AskingStore {
    pub(super) fn new(session: String, answers: Answers) -> Self {
        let (kept, state, changed) = (MemoryStore::default(), Mutex::default(), watch::Sender::default());
        Self { session, answers, kept, state, changed }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks, and waits until the secret was set more than `before` times, the call is given up or its time is over.
    async fn ask(
        &self,
        key: &CredentialKey,
        before: u64,
        rejected: bool,
        need: &Need,
    ) -> Result<(), Refusal> {
        let mut changed = self.changed.subscribe();
        let wanted = (key.clone(), before);
        let first = {
            let mut state = self.state();
            let calls = state.asked.entry(wanted.clone()).or_default();
            *calls += 1;
            // Several calls that wait for one secret ask once.
            *calls == 1 && state.sets(key) == before
        };
        let answered = async {
            if first {
                let params = object([
                    ("session", self.session.as_str().into()),
                    ("id", key.connector.as_str().into()),
                    ("name", key.name.as_str().into()),
                    ("rejected", rejected.into()),
                ]);
                self.answers.send(notification("credential.needed", params)).await;
            }
            while self.state().sets(key) <= before && changed.changed().await.is_ok() {}
        };
        let over = async {
            match need.deadline() {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        let cancelled = || Refusal::new(Code::NetCancelled, "nobody waits for the credential any more");
        let ended = tokio::select! {
            biased;
            () = need.given_up() => Err(cancelled()),
            () = answered => Ok(()),
            () = over => Ok(()),
        };
        let mut state = self.state();
        if let Some(calls) = state.asked.get_mut(&wanted) {
            *calls -= 1;
            if *calls == 0 {
                state.asked.remove(&wanted);
            }
        }
        ended
    }

    /// The secret, and how often it had been set by then.
    fn look(&self, key: &CredentialKey) -> Result<(Option<Secret>, u64), Refusal> {
        let state = self.state();
        Ok((self.kept.get(key)?, state.sets(key)))
    }
}

impl CredentialStore for AskingStore {
    /// Only a call that runs asks; to look is not to need.
    fn get(&self, key: &CredentialKey) -> Result<Option<Secret>, Refusal> {
        self.kept.get(key)
    }

    fn get_for(&self, key: &CredentialKey, need: &Need) -> Result<Option<Secret>, Refusal> {
        let (kept, sets) = self.look(key)?;
        let is_refused = |secret: &Secret| need.refused().is_some_and(|old| old.expose() == secret.expose());
        if kept.as_ref().is_some_and(|secret| !is_refused(secret)) {
            return Ok(kept);
        }
        Handle::current().block_on(self.ask(key, sets, kept.is_some(), need))?;
        Ok(self.look(key)?.0)
    }

    fn has(&self, key: &CredentialKey) -> Result<bool, Refusal> {
        self.kept.has(key)
    }

    fn set(&self, key: &CredentialKey, secret: Secret) -> Result<(), Refusal> {
        let mut state = self.state();
        self.kept.set(key, secret)?;
        *state.sets.entry(key.clone()).or_default() += 1;
        drop(state);
        self.changed.send_replace(());
        Ok(())
    }

    fn delete(&self, key: &CredentialKey) -> Result<bool, Refusal> {
        self.kept.delete(key)
    }
}
