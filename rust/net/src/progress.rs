//! How far a call came, seen from outside its future: for the deadline, for cancellation, for the truth
//! about what was sent.

use std::sync::{Mutex, PoisonError};

use connector_core::response::Received;

use crate::error::{Failure, NetError, Sent, Stage};
use crate::wire::SentMark;

/// The progress of one call over all its tries.
pub(crate) struct Progress(Mutex<State>);

struct State {
    stage: Stage,
    current: Option<SentMark>,
    sent: bool,
    status: Option<u16>,
    /// An answer whose status says enough, without its body.
    told: Option<Received>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(State {
            stage: Stage::Resolve,
            current: None,
            sent: false,
            status: None,
            told: None,
        }))
    }

    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What the call does now.
    pub(crate) fn stage(&self, stage: Stage) {
        self.with(|state| state.stage = stage);
    }

    /// A request is about to be given to the connection of this mark; the last answer, if any, is no longer
    /// that of the call.
    pub(crate) fn send(&self, mark: SentMark) {
        self.with(|state| {
            state.settle();
            state.stage = Stage::Wait;
            state.current = Some(mark);
            state.status = None;
            state.told = None;
        });
    }

    /// The head of an answer says enough, whatever becomes of its body.
    pub(crate) fn tell(&self, head: Received) {
        self.with(|state| state.told = Some(head));
    }

    /// The head that said enough, where there was one.
    pub(crate) fn told(&self) -> Option<Received> {
        self.with(|state| state.told.take())
    }

    /// The connection gave the request back; whether it is certain that nothing of it was sent.
    pub(crate) fn take_back(&self) -> bool {
        self.with(|state| !state.settle())
    }

    /// The head of an answer was read, so the request was sent.
    pub(crate) fn answered(&self, status: u16) {
        self.with(|state| {
            state.current = None;
            state.sent = true;
            state.stage = Stage::Read;
            state.status = Some(status);
        });
    }

    /// What the call was doing when its time ended.
    pub(crate) fn timeout(&self) -> Failure {
        Failure::Timeout(self.with(|state| state.stage))
    }

    /// The error of the call. Seals the mark: what was not sent by now never will be.
    pub(crate) fn error(&self, failure: Failure) -> NetError {
        self.with(|state| {
            state.settle();
            let sent = if state.sent { Sent::Maybe } else { Sent::Not };
            NetError { failure, sent, status: state.status }
        })
    }
}

impl State {
    /// Whether the current try may have sent something; from here on it will not.
    fn settle(&mut self) -> bool {
        let sent = self.current.take().is_some_and(|mark| mark.seal());
        self.sent |= sent;
        sent
    }
}
