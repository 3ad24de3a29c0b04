//! A built request: everything in its place but the secrets.

use std::borrow::Cow;
use std::fmt;

use smol_str::SmolStr;
use url::Url;

use super::credential::Auth;
use super::encode::{Pair, PairValue};
use super::outgoing::Method;
use crate::shape::Identifier;

/// The request of one call, finished but for its secrets; made by [`Request::build`](super::Request::build) alone.
#[derive(Debug, Clone)]
pub struct Built {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: Vec<BuiltHeader>,
    pub(super) body: Option<BuiltBody>,
    /// How much of the path stands before the first slot.
    pub(super) literal_path_bytes: usize,
    pub(super) header_value_bytes: usize,
    pub(super) body_bytes: usize,
}

/// A header field of the manifest.
#[derive(Debug, Clone)]
pub(super) struct BuiltHeader {
    pub(super) name: SmolStr,
    pub(super) value: HeaderPart,
}

/// The value of a header field.
#[derive(Debug, Clone)]
pub(super) enum HeaderPart {
    Text(SmolStr),
    Secret(CredentialUse),
}

/// A body without its secrets.
#[derive(Debug, Clone)]
pub(super) enum BuiltBody {
    Json(Node),
    Form(Vec<FormPart>),
    Text(String),
}

/// A field of a form.
#[derive(Debug, Clone)]
pub(super) enum FormPart {
    Pair(Pair),
    Secret(SmolStr, CredentialUse),
}

/// A JSON value without its secrets; what holds none is text already.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Text(String),
    Secret(CredentialUse),
    Array(Vec<Node>),
    /// Names as JSON text.
    Object(Vec<(String, Node)>),
}

/// A place of a request that a secret fills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialUse {
    /// The name of the credential.
    pub name: Identifier,
    /// What is written around the secret.
    pub auth: Auth,
    /// Whether the place is left out when there is no secret.
    pub optional: bool,
}

/// What stands in the place of a secret.
#[derive(Clone, Copy)]
pub enum Given<'s> {
    /// `<credential NAME>`, for the preview.
    Placeholder,
    /// The secret, for the wire.
    Secret(&'s str),
    /// There is none.
    Nothing,
}

/// A request as it is shown or sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The method.
    pub method: Method,
    /// The URL, never with a secret.
    pub url: Url,
    /// The header fields in the order of the wire, those of the transport among them.
    pub headers: Vec<RenderedHeader>,
    /// The body, when one is sent.
    pub body: Option<Vec<u8>>,
    /// Whether a secret fills a place in the body, or would.
    pub secret_body: bool,
}

/// A header field as it is shown or sent.
#[derive(Clone, PartialEq, Eq)]
pub struct RenderedHeader {
    /// The name, each part of it capitalised as on the wire.
    pub name: SmolStr,
    /// The value.
    pub value: Cow<'static, str>,
    /// Whether the transport sets the field, whatever the manifest says.
    pub fixed: bool,
    /// Whether a secret fills the value, or would, or decides it (the length of a body with a secret).
    pub secret: bool,
}

/// Values and secrets are not printed.
impl fmt::Debug for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = self.body.as_ref().map(Vec::len);
        f.debug_struct("Rendered")
            .field("method", &self.method)
            .field("body_bytes", &body)
            .finish_non_exhaustive()
    }
}

/// The value is not printed.
impl fmt::Debug for RenderedHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, fixed, secret, .. } = self;
        f.debug_struct("RenderedHeader")
            .field("name", name)
            .field("fixed", fixed)
            .field("secret", secret)
            .finish_non_exhaustive()
    }
}

impl Built {
    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The URL, which never holds a secret.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The part of the path before the first slot, base path included, which a followed redirect keeps.
    pub fn literal_prefix(&self) -> &str {
        self.url.path().get(..self.literal_path_bytes).unwrap_or_else(|| self.url.path())
    }

    /// About the bytes of memory that it takes, values and structure.
    pub fn size(&self) -> usize {
        let headers: usize = self.headers.iter().map(BuiltHeader::size).sum();
        let body = match &self.body {
            Some(BuiltBody::Json(node)) => node.size(),
            Some(BuiltBody::Form(parts)) => parts.iter().map(FormPart::size).sum(),
            Some(BuiltBody::Text(text)) => text.len(),
            None => 0,
        };
        size_of::<Self>() + self.url.as_str().len() + self.literal_prefix().len() + headers + body
    }

    /// The places that secrets fill, each once for each place.
    pub fn credentials(&self) -> Vec<&CredentialUse> {
        let mut uses: Vec<_> = self
            .headers
            .iter()
            .filter_map(|header| {
                if let HeaderPart::Secret(credential) = &header.value { Some(credential) } else { None }
            })
            .collect();
        match &self.body {
            Some(BuiltBody::Json(node)) => node.credentials(&mut uses),
            Some(BuiltBody::Form(parts)) => uses.extend(parts.iter().filter_map(|part| match part {
                FormPart::Secret(_, credential) => Some(credential),
                FormPart::Pair(_) => None,
            })),
            Some(BuiltBody::Text(_)) | None => {}
        }
        uses
    }
}

impl BuiltHeader {
    fn size(&self) -> usize {
        let value = if let HeaderPart::Text(text) = &self.value { text.len() } else { 0 };
        size_of::<Self>() + value
    }
}

impl FormPart {
    fn size(&self) -> usize {
        let value = match self {
            Self::Pair(Pair { value: PairValue::Text(text), .. }) => text.len(),
            Self::Pair(Pair { value: PairValue::Commas(items), .. }) => {
                items.iter().map(|item| size_of::<SmolStr>() + item.len()).sum()
            }
            Self::Pair(Pair { value: PairValue::Bare, .. }) | Self::Secret(..) => 0,
        };
        size_of::<Self>() + value
    }
}

impl Node {
    fn size(&self) -> usize {
        let inside: usize = match self {
            Self::Text(text) => text.len(),
            Self::Secret(_) => 0,
            Self::Array(items) => items.iter().map(Self::size).sum(),
            Self::Object(members) => {
                members.iter().map(|(name, value)| size_of::<String>() + name.len() + value.size()).sum()
            }
        };
        size_of::<Self>() + inside
    }

    /// An array; text when all of it is.
    pub(super) fn array(items: Vec<Self>) -> Self {
        let texts: Option<Vec<&str>> = items.iter().map(Self::as_text).collect();
        match texts {
            Some(texts) => Self::Text(format!("[{}]", texts.join(","))),
            None => Self::Array(items),
        }
    }

    /// An object; text when all of it is.
    pub(super) fn object(members: Vec<(String, Self)>) -> Self {
        let texts: Option<Vec<String>> = members
            .iter()
            .map(|(name, value)| value.as_text().map(|value| format!("{name}:{value}")))
            .collect();
        match texts {
            Some(texts) => Self::Text(format!("{{{}}}", texts.join(","))),
            None => Self::Object(members),
        }
    }

    fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    fn credentials<'n>(&'n self, uses: &mut Vec<&'n CredentialUse>) {
        match self {
            Self::Text(_) => {}
            Self::Secret(credential) => uses.push(credential),
            Self::Array(items) => items.iter().for_each(|item| item.credentials(uses)),
            Self::Object(members) => members.iter().for_each(|(_, value)| value.credentials(uses)),
        }
    }
}
