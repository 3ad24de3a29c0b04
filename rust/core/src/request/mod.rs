//! From checked arguments to the bytes of one request.
//!
//! ```text
//! template (path, query, header, body)   what a manifest fixes, and the slots in it
//! template + origin + settings + arguments -> build -> Built
//!                                              Built -> render, for the preview and for the wire
//! ```

mod body;
mod fixed;
mod header;
mod literal;
mod outgoing;
mod path;
mod query;
mod rules;
mod slot;
mod template;

pub use body::{Body, FormValue, Json};
pub use fixed::{ACCEPT_ENCODING, fixed_headers};
pub use header::{HeaderName, HeaderValue, Headers};
pub use outgoing::{Budget, Header, Method, Outgoing, Redirects};
pub use path::{Part, PathTemplate, Segment};
pub use query::{Query, QueryValue};
pub use rules::RULES;
pub use slot::{
    AnySlot, ArrayStyle, Auth, Basic, CredentialSlot, Fill, Options, Position, Slot, Source, Visitor,
};
pub use template::{Idempotency, OriginName, Request, RequestDraft};
