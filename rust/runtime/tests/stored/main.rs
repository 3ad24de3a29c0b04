//! Sessions on a store: what comes back after a restart, what a person decides, and what a killed process leaves behind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

#[path = "../../../store/tests/child/mod.rs"]
mod child;
mod kill;
mod kit;
mod readers;
mod restart;
mod review;
mod secrets;
mod signatures;
#[path = "../support/mod.rs"]
mod support;
mod writes;
