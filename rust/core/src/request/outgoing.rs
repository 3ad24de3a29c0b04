//! What the transport takes: one finished request and the bounds within which it may be carried out.

use std::fmt;
use std::time::Duration;

use url::Url;

use crate::origin::Reach;

/// The methods of a manifest (RFC 9110 section 9, RFC 5789).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// `GET`
    Get,
    /// `HEAD`
    Head,
    /// `POST`
    Post,
    /// `PUT`
    Put,
    /// `PATCH`
    Patch,
    /// `DELETE`
    Delete,
}

impl Method {
    /// The token that goes on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Which redirects the transport may follow by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// None: every 3xx with a `Location` is `net.redirect`.
    None,
    /// At most three, each to the same scheme, host, port and literal path prefix.
    SameOrigin,
}

/// The bounds of one call, already lowered by the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Resolve, connect, send, wait and read together.
    pub total: Duration,
    /// Making one connection.
    pub connect: Duration,
    /// Bytes of the URL of a redirect that is followed.
    pub url_bytes: usize,
    /// Bytes of all response header fields.
    pub header_bytes: usize,
    /// Bytes of the response body on the wire.
    pub wire_bytes: usize,
    /// Bytes of the response body after content decoding.
    pub decoded_bytes: usize,
    /// Further tries of a request that may be repeated; 0 for any other.
    pub retries: u32,
    /// Redirects that may be followed.
    pub redirects: Redirects,
}

/// A header field; the value of one that carries a secret is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    /// The name as the manifest spells it.
    pub name: String,
    /// Visible ASCII, inner spaces and tabs (RFC 9110 section 5.5 without obs-text).
    pub value: String,
    /// Whether the value holds a secret.
    pub secret: bool,
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Header")
            .field("name", &self.name)
            .field("secret", &self.secret)
            .finish_non_exhaustive()
    }
}

/// One request, finished and checked, secrets in their places. Only a confirmed plan makes one, and it is
/// all that the transport takes. Not printable: it holds values and secrets.
pub struct Outgoing {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: Vec<Header>,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) reach: Reach,
    pub(crate) budget: Budget,
    pub(crate) literal_prefix: String,
}

impl Outgoing {
    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The URL; its host is a registered name, or an IP literal where the grant allows local addresses.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// All header fields in the order of the preview, except those that the transport fixes (`Host`,
    /// `Content-Length`, `Accept-Encoding`, `Connection`).
    pub fn headers(&self) -> &[Header] {
        &self.headers
    }

    /// The body, when one is sent.
    pub fn body(&self) -> Option<&[u8]> {
        self.body.as_deref()
    }

    /// The addresses that the connection may go to.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// The bounds of the call.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The part of the path before the first slot, which a followed redirect keeps.
    pub fn literal_prefix(&self) -> &str {
        &self.literal_prefix
    }

    /// The same request with at most this much time for all of it.
    pub fn within(mut self, total: Duration) -> Self {
        self.budget.total = self.budget.total.min(total);
        self
    }

    /// A request made of nothing, for the tests of the transport alone.
    #[cfg(feature = "test-hooks")]
    #[doc(hidden)]
    pub fn for_test(
        method: Method,
        url: Url,
        headers: Vec<Header>,
        body: Option<Vec<u8>>,
        reach: Reach,
        budget: Budget,
    ) -> Self {
        Self { method, url, headers, body, reach, budget, literal_prefix: "/".to_owned() }
    }

    /// The same request with another literal prefix.
    #[cfg(feature = "test-hooks")]
    #[doc(hidden)]
    pub fn with_literal_prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.literal_prefix);
        self
    }
}
