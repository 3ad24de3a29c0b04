//! The guarded transport: the one place that opens a connection.
//!
//! A [`Client`] takes an [`Outgoing`](connector_core::request::Outgoing), which only a confirmed plan makes,
//! and gives a [`Received`](connector_core::response::Received) or a [`NetError`]. On the way:
//!
//! * every host, name or literal address, is judged by the core's address policy before its socket is opened,
//!   for every single connection, and the socket goes to a judged address (`connect`);
//! * TLS 1.2 or 1.3 by rustls, HTTP/1.1 by hyper, nothing else: no proxy, cookies, cache, referer, upgrade;
//! * one deadline over all of it, and caps while reading: the head of an answer is bounded by
//!   `budget.header_bytes` in hyper's parser (with at most 100 fields), its read buffer by that and 64 KiB,
//!   the body by the caps on wire and decoded bytes (`body`), a decoder by a window of 32 KiB;
//! * no redirect but to the same origin, no repeat but of what may be repeated (`redirect`, `retry`).
//!
//! No error holds a URL, a header, an argument or a secret.

mod body;
mod client;
mod coding;
mod connect;
mod error;
mod exchange;
#[cfg(feature = "test-hooks")]
pub mod hooks;
mod pool;
mod progress;
mod redirect;
mod resolve;
mod retry;
mod socket;
mod tls;
mod wire;

pub use client::{Client, ClientOptions, Spent};
pub use error::{
    BadCoding, BadRedirect, ConnectFailure, Failure, Forbidden, Malformed, NetError, ResolveError, Sent,
    Stage, TlsFailure, Unsendable,
};
pub use resolve::{Resolve, Resolving, SystemResolver};
pub use retry::{Pacing, retry_after};
pub use tls::Trust;
pub use tokio_util::sync::CancellationToken;
