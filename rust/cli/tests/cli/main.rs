//! The command and the RPC seam from outside: the real binary, real files, real sockets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

mod bad_input;
mod call;
mod check;
mod corpora;
mod demo;
mod documentation;
mod export;
mod kept;
mod memory;
mod messages;
mod preview;
mod pure;
mod rpc;
mod schema;
mod selftest;
mod session;
mod sign;
mod store;
mod support;
mod terminal;
