//! Manifests as authors write them: the samples and the first-party connectors check clean, and each sentence
//! of the format that forbids something is a rule that a broken manifest meets.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a helper of a test may fail as the test does"
)]

mod base;
mod clean;
mod complete;
mod laws;
mod rules;
mod schema;
