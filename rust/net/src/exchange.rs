//! One request on one connection, and the head of its answer.

use bytes::Bytes;
use connector_core::request::{Budget, Method, Outgoing, fixed_headers};
use http::header::{CONTENT_LENGTH, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING};
use http::{HeaderMap, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use url::{Position, Url};

use crate::error::{ConnectFailure, Failure, Malformed, Unsendable};
use crate::pool::{BUFFER, Connection};
use crate::progress::Progress;

/// The request as HTTP/1.1, `url` being that of the outgoing request or of a redirect that is followed.
///
/// Its fields are `Host`, those of the outgoing request in their order, then the other fixed ones; names go
/// in lower case. What the core already made sure of is checked once more, since this is the last place.
pub(crate) fn request(outgoing: &Outgoing, url: &Url) -> Result<Request<Full<Bytes>>, Failure> {
    let bad_url = Failure::Request(Unsendable::Url);
    let has_userinfo = !url.username().is_empty() || url.password().is_some();
    if !matches!(url.scheme(), "https" | "http") || !url.has_host() || has_userinfo {
        return Err(bad_url);
    }
    let safe = matches!(outgoing.method(), Method::Get | Method::Head);
    if safe && outgoing.body().is_some() {
        return Err(Failure::Request(Unsendable::Body));
    }
    let target = &url[Position::BeforePath..Position::AfterQuery];
    let uri = Uri::try_from(target).map_err(|_| bad_url)?;

    let fixed = fixed_headers(outgoing.method(), url, outgoing.body().map(<[u8]>::len));
    let (before, after): (Vec<_>, Vec<_>) = fixed.partition(|(name, _)| *name == HOST);
    let mut headers = HeaderMap::new();
    for (name, value) in before {
        add(&mut headers, name, &value, false)?;
    }
    for header in outgoing.headers() {
        if TRANSPORT.iter().any(|name| header.name.eq_ignore_ascii_case(name)) {
            return Err(Failure::Request(Unsendable::HeaderName));
        }
        add(&mut headers, &header.name, &header.value, header.secret)?;
    }
    for (name, value) in after {
        add(&mut headers, name, &value, false)?;
    }

    let body = outgoing.body().map(Bytes::copy_from_slice).unwrap_or_default();
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = match outgoing.method() {
        Method::Get => http::Method::GET,
        Method::Head => http::Method::HEAD,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Patch => http::Method::PATCH,
        Method::Delete => http::Method::DELETE,
    };
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    Ok(request)
}

/// Fields that are the transport's own, or would change the framing or the connection.
const TRANSPORT: [&str; 10] = [
    "host",
    "content-length",
    "accept-encoding",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "upgrade",
    "te",
    "trailer",
    "expect",
];

fn add(headers: &mut HeaderMap, name: &str, value: &str, secret: bool) -> Result<(), Failure> {
    let bad = |what| Err(Failure::Request(what));
    let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else { return bad(Unsendable::HeaderName) };
    let readable = value.bytes().all(|byte| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t'));
    if !readable || value.trim() != value {
        return bad(Unsendable::HeaderValue);
    }
    let Ok(mut value) = HeaderValue::from_str(value) else { return bad(Unsendable::HeaderValue) };
    value.set_sensitive(secret);
    if headers.insert(name, value).is_some() {
        return bad(Unsendable::HeaderName);
    }
    Ok(())
}

/// What became of a request that was given to a connection.
pub(crate) enum Outcome {
    /// The head of the answer.
    Answered(Response<Incoming>),
    /// The connection had ended; nothing was sent, and the request is still whole.
    Untouched(Request<Full<Bytes>>),
}

/// Gives a request to a connection and waits for the head of the final answer; interim ones are read past.
pub(crate) async fn exchange(
    connection: &mut Connection,
    request: Request<Full<Bytes>>,
    budget: &Budget,
    progress: &Progress,
) -> Result<Outcome, Failure> {
    connection.mark.allow(head_bytes(budget));
    progress.send(connection.mark.clone());
    let response = connection.sender.try_send_request(request);
    match connection.driver.drive(response).await {
        Ok(response) => {
            connection.mark.allow(body_bytes(budget));
            // Also where the rest cannot be trusted: a refused secret is refused.
            progress.answered(response.status().as_u16());
            check_framing(&response)?;
            Ok(Outcome::Answered(response))
        }
        Err(mut error) => match error.take_message() {
            Some(request) if connection.reused && progress.take_back() => Ok(Outcome::Untouched(request)),
            _ => Err(failure(error.error(), connection, budget)),
        },
    }
}

/// What may come before the final head was read: a few interim answers, that head, and what is read ahead of the body.
fn head_bytes(budget: &Budget) -> usize {
    budget.header_bytes.saturating_add(BUFFER).saturating_mul(4)
}

/// What may come of a body, framing included: a chunk takes five bytes beside its own, and a trailer is a head.
fn body_bytes(budget: &Budget) -> usize {
    budget.wire_bytes.saturating_mul(2).saturating_add(head_bytes(budget))
}

/// The fields of one head that hyper takes.
const FIELDS: usize = 100;

fn failure(error: &hyper::Error, connection: &Connection, budget: &Budget) -> Failure {
    // hyper says the same of a head over its caps and of a length beyond what it counts (2^64 - 2 and more).
    if error.is_parse_too_large() && connection.mark.is_within(budget.header_bytes, FIELDS) {
        Failure::Protocol(Malformed::Length)
    } else if error.is_parse_too_large() || connection.mark.flooded() {
        Failure::HeadersTooLarge
    } else if error.is_parse() {
        Failure::Protocol(Malformed::Head)
    } else if connection.reused && !connection.mark.heard() {
        Failure::Connect(ConnectFailure::Stale)
    } else {
        Failure::Protocol(Malformed::CutShort)
    }
}

/// What hyper lets pass and we do not: every head must say in one way only where its body ends.
fn check_framing(response: &Response<Incoming>) -> Result<(), Failure> {
    if response.status().as_u16() == 101 {
        return Err(Failure::Protocol(Malformed::Upgrade));
    }
    let headers = response.headers();
    let mut lengths =
        headers.get_all(CONTENT_LENGTH).iter().flat_map(|value| value.as_bytes().split(|b| *b == b','));
    if let Some(first) = lengths.next().map(<[u8]>::trim_ascii) {
        // The same number written in two ways is two values (RFC 9110 section 8.6 speaks of identical ones).
        let one = first.iter().all(u8::is_ascii_digit) && lengths.all(|length| length.trim_ascii() == first);
        if !one || headers.contains_key(TRANSFER_ENCODING) {
            return Err(Failure::Protocol(Malformed::Length));
        }
    }
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    if let Some(coding) = codings.next() {
        let chunked = coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked");
        if !chunked || codings.next().is_some() {
            return Err(Failure::Protocol(Malformed::TransferCoding));
        }
    }
    Ok(())
}
