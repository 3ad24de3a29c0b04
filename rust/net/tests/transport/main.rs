//! The transport against loopback servers that do exactly what a script says.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

mod address;
mod answers;
mod cancel;
mod corpora;
mod deadline;
mod redirects;
mod repeats;
mod requests;
mod secrecy;
mod support;
mod tls;
