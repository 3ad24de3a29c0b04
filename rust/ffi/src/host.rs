//! Callbacks of the host: asked on a thread of their own, for a while, and never from within each other.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use connector_core::{Code, Refusal};
use tokio::runtime::{Handle, RuntimeFlavor};

/// Callbacks that may be under way at once: one that never returns costs a thread for as long as the process lives.
const AT_ONCE: usize = 16;

thread_local! {
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Refuses a call into the core that a callback of the host makes: what it answers to waits for it.
pub(crate) fn refuse_reentry() -> Result<(), Refusal> {
    if IN_CALLBACK.get() {
        return Err(refusal("a callback of the host called back into the core"));
    }
    Ok(())
}

/// Asks the host, for at most a certain time.
#[derive(Clone)]
pub(crate) struct Asker {
    patience: Duration,
    under_way: Arc<AtomicUsize>,
}

impl Asker {
    pub(crate) fn new(patience: Duration) -> Self {
        Self { patience, under_way: Arc::default() }
    }

    /// What the host answers; `host.callback` when it fails, takes too long, or too many are under way.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let slot = Slot::take(&self.under_way)?;
        let (answer, answers) = sync_channel(1);
        let work = move || {
            IN_CALLBACK.set(true);
            let _nobody_waits_any_more = answer.send(ask());
            drop(slot);
        };
        Builder::new()
            .name("connector-callback".to_owned())
            .spawn(work)
            .map_err(|_| refusal("the device gives no thread for a callback of the host"))?;
        let wait = || answers.recv_timeout(self.patience);
        // On a thread of the runtime the others take over its work meanwhile.
        let multi = Handle::try_current().is_ok_and(|h| h.runtime_flavor() == RuntimeFlavor::MultiThread);
        match if multi { tokio::task::block_in_place(wait) } else { wait() } {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Err(refusal("a callback of the host took too long")),
            Err(RecvTimeoutError::Disconnected) => Err(refusal("a callback of the host failed")),
        }
    }
}

/// One of the callbacks that may be under way.
struct Slot(Arc<AtomicUsize>);

impl Slot {
    fn take(under_way: &Arc<AtomicUsize>) -> Result<Self, Refusal> {
        let slot = Self(Arc::clone(under_way));
        if under_way.fetch_add(1, Ordering::SeqCst) >= AT_ONCE {
            return Err(refusal("too many callbacks of the host have not returned"));
        }
        Ok(slot)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What the exception of a host says may hold a secret, and is never repeated.
pub(crate) fn refusal(reason: &str) -> Refusal {
    Refusal::new(Code::HostCallback, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(millis: u64) -> Asker {
        Asker::new(Duration::from_millis(millis))
    }

    #[test]
    fn an_answer_comes_back() {
        assert_eq!(asker(5_000).ask(|| Ok(1)), Ok(1));
    }

    #[test]
    fn a_panic_is_an_error() {
        let error = asker(5_000).ask(|| -> Result<(), Refusal> { panic!("planted") }).unwrap_err();
        assert_eq!(error.code, Code::HostCallback);
    }

    #[test]
    fn one_that_calls_back_is_refused() {
        let error = asker(5_000).ask(refuse_reentry).unwrap_err();
        assert_eq!(error.code, Code::HostCallback);
        assert_eq!(refuse_reentry(), Ok(()));
    }

    #[test]
    fn ones_that_never_return_are_left_behind_and_bounded() {
        let asker = asker(1);
        let (hold, waits) = std::sync::mpsc::channel::<()>();
        let waits = Arc::new(std::sync::Mutex::new(waits));
        for _ in 0..AT_ONCE {
            let waits = Arc::clone(&waits);
            let error = asker.ask(move || Ok(waits.lock().unwrap().recv().is_ok())).unwrap_err();
            assert_eq!(error.reason, "a callback of the host took too long");
        }
        let error = asker.ask(|| Ok(())).unwrap_err();
        assert_eq!(error.reason, "too many callbacks of the host have not returned");
        drop(hold);
        while asker.under_way.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
        assert_eq!(Asker { patience: Duration::from_secs(5), ..asker }.ask(|| Ok(())), Ok(()));
    }
}
