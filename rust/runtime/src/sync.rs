//! The primitives of [`visible`](crate::visible), named here so that its test can put those of a model checker in their
//! place.

pub(crate) use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
