//! What a session promises, each promise as a test.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

#[path = "../../../core/tests/manifest/base.rs"]
#[allow(dead_code, reason = "only the manifest is used")]
mod base;
mod begin;
mod confirmation;
mod contract;
mod credentials;
mod end;
mod flows;
mod grants;
mod install;
mod limits;
mod preview;
mod secrecy;
#[path = "../support/mod.rs"]
mod support;
mod unauthorized;
