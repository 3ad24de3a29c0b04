//! The merge: every invariant as a named example, as a law over random sequences, and for every leaf of a manifest;
//! then the review that lets exactly the listed differences through.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a helper of a test may fail as the test does"
)]

#[path = "../manifest/base.rs"]
#[allow(dead_code, reason = "the manifest tests use the rest")]
mod base;
mod conditions;
mod kit;
mod laws;
mod leaves;
mod review;
mod source_document;
mod vectors;
