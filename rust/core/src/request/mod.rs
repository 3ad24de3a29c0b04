//! From checked arguments to the bytes of one request.

mod outgoing;

pub use outgoing::{Budget, Header, Method, Outgoing, Redirects};
