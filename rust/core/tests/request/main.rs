//! Requests as they go on the wire: the cases of the first-party connectors, the placement of values, and the
//! laws of the finished request.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a helper of a test may fail as the test does"
)]

mod kit;
mod laws;
mod place;
mod wire;
