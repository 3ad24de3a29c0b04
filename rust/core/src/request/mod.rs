//! From checked arguments to the bytes of one request.
//!
//! ```text
//! template (path, query, header, body)   what a manifest fixes, and the slots in it
//! template + origin + settings + arguments -> build -> Built
//!                                              Built -> render, for the preview and for the wire
//! ```

mod body;
mod build;
mod built;
mod credential;
mod encode;
mod encode_one;
mod fixed;
mod header;
mod header_value;
mod least;
mod literal;
mod outgoing;
mod path;
mod path_value;
mod place;
mod query;
mod render;
mod rules;
mod settings;
mod slot;
mod template;
mod value;

pub use body::{Body, FormValue, Json};
pub use built::{Built, CredentialUse, Given, Rendered, RenderedHeader};
pub use credential::{Auth, Basic, CredentialSlot};
pub use encode::{
    Pair, PairValue, array_pairs, flag_pair, percent_encode, scalar_pair, write_form, write_query,
};
pub use encode_one::{Encoded, encode_one};
pub use fixed::{ACCEPT_ENCODING, fixed_headers};
pub use header::{HeaderName, HeaderValue, Headers};
pub use header_value::check_header_value;
pub use outgoing::{Budget, Header, Method, Outgoing, Redirects};
pub use path::{Part, PathTemplate, Segment};
pub use path_value::{SegmentPart, SlashRule, joined_segment, path_segment, path_segments};
pub(crate) use place::can_stand;
pub use query::{Query, QueryValue};
pub use render::{ACCEPT, USER_AGENT};
pub(crate) use rules::CREDENTIAL_IN_ORIGIN;
pub use rules::RULES;
pub use settings::Settings;
pub use slot::{AnySlot, ArrayStyle, Fill, Options, Position, Slot, Source, Visitor};
pub use template::{Idempotency, OriginName, Request, RequestDraft};
pub use value::{ValueFault, json_value, scalar_text};
