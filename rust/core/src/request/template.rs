//! The request of a tool: what the manifest fixes, and the slots in it.

use smol_str::SmolStr;

use super::body::Body;
use super::header::{HeaderName, HeaderValue, Headers};
use super::least::Overrun;
use super::outgoing::Method;
use super::path::PathTemplate;
use super::query::Query;
use super::rules::{
    BODY_METHOD, CONTENT_TYPE, CREDENTIAL_IN_ORIGIN, HEADER_DOUBLED, ORIGIN_SLOT, REQUEST_BOUND,
};
use super::slot::{Visitor, as_slot};
use crate::json::{Object, Path, Quoted, Value};
use crate::record;
use crate::shape::{Definitions, Identifier, Reading, SHAPE_WORD, Shape, fragment};

record! {
    /// The one HTTP request that a call of the tool sends.
    pub struct Request, draft RequestDraft, check check_together {
        /// The method. GET and HEAD have no body; PUT and PATCH are never of effect read; DELETE is destructive.
        pub method: Method = "method",
        /// The name of the origin; nothing is ever put into it.
        pub origin: OriginName = "origin",
        /// The path below the origin: one item for each segment, a last empty one for a trailing slash.
        pub path: PathTemplate = "path",
        /// The pairs of the query, in the order in which they are sent.
        pub query: Query = "query",
        /// Header fields; what a framing or routing header says is not for a manifest.
        pub headers: Headers = "headers",
        /// The body, when one is sent.
        pub body: Option<Body> = "body",
        /// Makes a repeat of the request safe: the server acts once for each key.
        pub idempotency: Option<Idempotency> = "idempotency",
    }
}

record! {
    /// How the server knows a repeat of the same request.
    #[derive(PartialEq, Eq)]
    pub struct Idempotency {
        /// The header that carries a random UUID, made with the plan and the same on a repeat.
        pub header: HeaderName = "header",
    }
}

impl Request {
    /// Shows every slot to `visit`; `at` is the place of the request.
    pub fn each_slot(&self, at: &Path<'_>, visit: &mut Visitor<'_>) {
        each_slot(Some(&self.path), Some(&self.query), Some(&self.headers), self.body.as_ref(), at, visit);
    }

    /// Whether the same request may be sent again after it may have reached the server: it only reads, or the
    /// server knows a repeat. `reads` says that the effect of the tool is `read`.
    pub fn is_repeatable(&self, reads: bool) -> bool {
        self.idempotency.is_some() || (reads && matches!(self.method, Method::Get | Method::Head))
    }
}

impl RequestDraft {
    /// Shows every slot that could be read to `visit`; `at` is the place of the request.
    pub fn each_slot(&self, at: &Path<'_>, visit: &mut Visitor<'_>) {
        let body = self.body.as_ref().and_then(Option::as_ref);
        each_slot(self.path.as_ref(), self.query.as_ref(), self.headers.as_ref(), body, at, visit);
    }

    /// Whether every member could be read.
    pub fn is_complete(&self) -> bool {
        self.method.is_some()
            && self.origin.is_some()
            && self.path.is_some()
            && self.query.is_some()
            && self.headers.is_some()
            && self.body.is_some()
            && self.idempotency.is_some()
    }
}

fn each_slot(
    path: Option<&PathTemplate>,
    query: Option<&Query>,
    headers: Option<&Headers>,
    body: Option<&Body>,
    at: &Path<'_>,
    visit: &mut Visitor<'_>,
) {
    if let Some(path) = path {
        path.each_slot(&at.name("path"), visit);
    }
    if let Some(query) = query {
        query.each_slot(&at.name("query"), visit);
    }
    if let Some(headers) = headers {
        headers.each_slot(&at.name("headers"), visit);
    }
    if let Some(body) = body {
        body.each_slot(&at.name("body"), visit);
    }
}

/// What is judged on several members together.
fn check_together(request: &RequestDraft, source: &Object, at: &Path<'_>, reading: &mut Reading<'_>) {
    if let (Some(Method::Get | Method::Head), true) = (request.method, source.contains_key("body")) {
        reading.findings.add(&BODY_METHOD, &at.name("body"), format_args!("GET and HEAD have no body"));
    }
    for Overrun { member, what, limit } in request.overruns(reading.limits) {
        let message = format_args!("the fixed parts of the {what} are over the limit of {limit} bytes");
        reading.findings.add(&REQUEST_BOUND, &at.name(member), message);
    }
    let Some(headers) = &request.headers else { return };
    if let Some((name, HeaderValue::Literal(value))) =
        headers.0.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"))
    {
        let at = at.name("headers");
        let at = at.name(name);
        match &request.body {
            Some(None) => {
                let message = format_args!("a request without a body has no `Content-Type`");
                reading.findings.add(&CONTENT_TYPE, &at, message);
            }
            Some(Some(body)) if !agrees(value, body) => {
                let kind = body.kind();
                let message = format_args!("{} does not agree with a `{kind}` body", Quoted(value));
                reading.findings.add(&CONTENT_TYPE, &at, message);
            }
            _ => {}
        }
    }
    if let Some(Some(Idempotency { header: HeaderName(key) })) = &request.idempotency
        && let Some((name, _)) = headers.0.iter().find(|(name, _)| name.eq_ignore_ascii_case(key))
    {
        // The later one of the file, whichever it is.
        let members = source.keys().filter(|member| matches!(member.as_str(), "headers" | "idempotency"));
        let message = format_args!("the header {} stands twice", Quoted(name));
        if members.last().is_some_and(|last| last == "headers") {
            reading.findings.add_name(&HEADER_DOUBLED, &at.name("headers").name(name), message);
        } else {
            reading.findings.add(&HEADER_DOUBLED, &at.name("idempotency").name("header"), message);
        }
    }
}

/// Whether a media type (RFC 9110 section 8.3.1) is one of the body's kind, in UTF-8.
fn agrees(media_type: &str, body: &Body) -> bool {
    let mut parts = media_type.split(';').map(|part| part.trim_matches([' ', '\t']).to_ascii_lowercase());
    let essence = parts.next().unwrap_or_default();
    let utf8 = parts.all(|parameter| match parameter.split_once('=') {
        Some(("charset", value)) => matches!(value, "utf-8" | "utf8" | "\"utf-8\"" | "\"utf8\""),
        Some((name, value)) => super::slot::is_token(name) && !value.is_empty(),
        None => false,
    });
    let right = match (body, essence.split_once('/')) {
        (_, None) => false,
        (Body::Json(_), Some((kind, subtype))) => {
            essence == "application/json" || (super::slot::is_token(kind) && is_json_suffixed(subtype))
        }
        (Body::Form(_), _) => essence == "application/x-www-form-urlencoded",
        (Body::Text(_), Some((kind, subtype))) => kind == "text" && super::slot::is_token(subtype),
    };
    right && utf8
}

/// A structured syntax suffix of RFC 6839.
fn is_json_suffixed(subtype: &str) -> bool {
    super::slot::is_token(subtype) && subtype.strip_suffix("+json").is_some_and(|rest| !rest.is_empty())
}

/// The name of an origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginName(pub Identifier);

impl Shape for OriginName {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        match as_slot(value) {
            Some(slot) if slot.contains_key("$credential") => reading.refuse(
                &CREDENTIAL_IN_ORIGIN,
                at,
                format_args!("a credential cannot stand in an origin"),
            ),
            Some(_) => reading.refuse(&ORIGIN_SLOT, at, format_args!("a slot cannot stand in an origin")),
            None => Identifier::read(value, at, reading).map(Self),
        }
    }

    fn describe(definitions: &mut Definitions) -> Value {
        Identifier::describe(definitions)
    }
}

const METHODS: [Method; 6] =
    [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete];

impl Shape for Method {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let found =
            value.as_str().and_then(|word| METHODS.into_iter().find(|method| method.as_str() == word));
        if found.is_none() {
            let words = METHODS.map(Method::as_str).join("`, `");
            reading.findings.add(&SHAPE_WORD, at, format_args!("expected one of `{words}`"));
        }
        found
    }

    fn describe(_: &mut Definitions) -> Value {
        let words = METHODS.iter().map(|method| method.as_str().into()).collect();
        fragment([("enum", Value::Array(words))])
    }
}

/// The name as the manifest spells it, for messages.
impl AsRef<SmolStr> for HeaderName {
    fn as_ref(&self) -> &SmolStr {
        &self.0
    }
}
