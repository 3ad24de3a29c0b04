//! What all readers see, and the one writer that changes it.

use crate::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// A value that is replaced as a whole. A reader takes the one in force and keeps it as long as it likes. It waits for no
/// writer's work: the lock around the pointer is held to copy or to set it and for nothing else.
pub(crate) struct Visible<T> {
    writing: Mutex<()>,
    current: RwLock<Arc<T>>,
}

impl<T> Visible<T> {
    pub(crate) fn new(first: T) -> Self {
        Self { writing: Mutex::new(()), current: RwLock::new(Arc::new(first)) }
    }

    /// The value in force.
    pub(crate) fn current(&self) -> Arc<T> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until nobody else writes.
    pub(crate) fn writer(&self) -> Writer<'_, T> {
        // A panic elsewhere leaves the value whole: every change of it is one assignment.
        Writer { visible: self, _alone: self.writing.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}

/// The one that may change the value, until it is dropped.
pub(crate) struct Writer<'v, T> {
    visible: &'v Visible<T>,
    _alone: MutexGuard<'v, ()>,
}

impl<T> Writer<'_, T> {
    /// The value in force, which nobody else changes now.
    pub(crate) fn current(&self) -> Arc<T> {
        self.visible.current()
    }

    /// Commits the next value, and only then lets readers see it. After an error nobody ever sees it.
    pub(crate) fn publish<E>(&self, next: T, commit: impl FnOnce(&T) -> Result<(), E>) -> Result<(), E> {
        commit(&next)?;
        *self.visible.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        Ok(())
    }
}
