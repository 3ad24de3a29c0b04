//! From checked arguments to the bytes of one request.

mod fixed;
mod outgoing;

pub use fixed::{ACCEPT_ENCODING, fixed_headers};
pub use outgoing::{Budget, Header, Method, Outgoing, Redirects};
