//! The shared cases: raw answers, lengths, codings, redirects.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_core::Code;
use connector_core::request::Redirects;
use connector_core::response::Received;
use connector_net::{Failure, Malformed, NetError, Trust};
use connector_testkit::{Authority, Script, Server, Step, cases};
use serde_json::Value;

use crate::support::{Call, PATIENCE, PUBLIC, answer, found, ok, setup, timed};

fn list(file: &Value) -> &[Value] {
    file["cases"].as_array().unwrap()
}

fn text<'a>(case: &'a Value, member: &str) -> &'a str {
    case[member].as_str().unwrap_or_default()
}

fn bytes(case: &Value, member: &str) -> Vec<u8> {
    STANDARD.decode(text(case, member)).unwrap()
}

async fn get(script: Script) -> Result<Received, NetError> {
    let server = Server::plain(script).await.unwrap();
    Call::at(&server, "/").total(5_000).alone().await
}

/// Counts right, argued and wrong, and fails on the last.
#[derive(Default)]
struct Tally {
    right: usize,
    argued: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, id: &str, right: bool, argued: &[(&str, &str)], told: impl FnOnce() -> String) {
        let is_argued = argued.iter().any(|(argued, _)| *argued == id);
        match (right, is_argued) {
            (true, false) => self.right += 1,
            (false, true) => self.argued += 1,
            (true, true) => self.wrong.push(format!("{id}: argued without need")),
            (false, false) => self.wrong.push(format!("{id}: {}", told())),
        }
    }

    fn end(self, name: &str) {
        println!("{name}: {} right, {} argued, {} wrong", self.right, self.argued, self.wrong.len());
        assert!(self.wrong.is_empty(), "{:#?}", self.wrong);
    }
}

fn told(outcome: &Result<Received, NetError>) -> String {
    match outcome {
        Ok(received) => format!("{} {:?}", received.status, String::from_utf8_lossy(&received.body)),
        Err(error) => format!("{:?}", error.failure),
    }
}

#[tokio::test]
async fn raw_answers() {
    let Some(file) = cases::load("http", "raw-responses.json") else { return };
    let mut tally = Tally::default();
    for case in list(&file) {
        let outcome = get(answer(bytes(case, "raw_b64"))).await;
        let accepted = outcome.as_ref().ok();
        let right = match text(case, "expect") {
            "accept" => accepted.is_some_and(|received| {
                case["text"].as_str().is_none_or(|text| received.body == text.as_bytes())
            }),
            "reject" | "reject-or-chunked-wins" | "reject-or-accept" | "reject-or-strip" => {
                accepted.is_none()
            }
            // Choices, pinned.
            "reject-or-lenient" | "accept-or-cap" | "reject-or-error-status" => {
                match text(case, "id") {
                    // RFC 9112 section 7.1 asks for CRLF in chunks, and hyper holds to it.
                    "chunked-bare-lf" => accepted.is_none(),
                    "100-times-1xx" => accepted.is_some_and(|received| received.body == b"ok"),
                    // No class that is known: the caller shows the number, as of any error.
                    "status-999" => accepted.is_some_and(|received| received.status == 999),
                    _ => false,
                }
            }
            other => panic!("{other}"),
        };
        tally.add(text(case, "id"), right, &[], || told(&outcome));
    }
    tally.end("http/raw-responses");
}

const LINE_FEED: &str = "RFC 9112 section 2.2 lets a recipient take a bare LF for the end of a line; nothing \
    behind this client could read it in another way";
const AFTER_CLOSE: &str = "what comes after the last answer of a connection is not read";
const NOT_HTTP: &str = "neither HTTP/1.0 nor HTTP/1.1";
const TRANSFER: &str = "a transfer coding that was not asked for would be handed over undecoded";
const REDIRECT: &str = "well-formed, and a redirect that is not followed";
const EXTENSION: &str = "rejected as it stands; whole, what follows a chunk's size is read past unread (RFC 9112 \
    section 7.1.1 has unknown extensions ignored), and no second reader could cut the chunks in another way";
const LENGTH: &str = "the body is shorter than its length; llhttp, which is fed, waits for more";

/// Labels of llhttp's tests that are not ours, and why.
const LLHTTP_ARGUED: &[(&str, &str)] = &[
    ("connection: HTTP/1.1 with keep-alive disabled and 204 status", AFTER_CLOSE),
    ("connection: HTTP/1.1 with keep-alive disabled, content-length", AFTER_CLOSE),
    ("content-length: Content-Length reset when no body is received", LENGTH),
    ("content-length: Tabs in `Content-Length` (surrounding)", LENGTH),
    ("invalid: Only LFs present and no body", LINE_FEED),
    ("invalid: Only LFs present", LINE_FEED),
    ("sample: No carriage ret", LINE_FEED),
    ("sample: RTSP response", NOT_HTTP),
    ("sample: ICE response", NOT_HTTP),
    ("sample: HTTP version 0.9", NOT_HTTP),
    ("sample: Google 301", REDIRECT),
    ("sample: bonjourmadame.fr", REDIRECT),
    ("transfer-encoding: Trailing space on chunked body", EXTENSION),
    ("transfer-encoding: No extension after semicolon", EXTENSION),
    ("transfer-encoding: Unbalanced chunk extensions quoting", EXTENSION),
    ("transfer-encoding: `chunked` before other transfer-encoding", TRANSFER),
    ("transfer-encoding: multiple transfer-encoding where chunked is not the last one", TRANSFER),
    ("transfer-encoding: `chunkedchunked` transfer-encoding does not enable chunked enconding", TRANSFER),
];

/// The answers lost their last line ends when they were taken from their pages. As they stand they are cut
/// short, which must be an error; with their line ends they must be taken, if that is their label.
#[tokio::test]
async fn raw_answers_of_llhttp() {
    let Some(file) = cases::load("http", "raw-responses-llhttp.json") else { return };
    let mut tally = Tally::default();
    let mut completed = 0;
    for case in list(&file) {
        let mut raw = bytes(case, "raw_b64");
        let mut outcome = get(answer(&raw)).await;
        let cut = Err(Failure::Protocol(Malformed::CutShort));
        if outcome.as_ref().map(|_| ()).map_err(|error| error.failure) == cut {
            completed += 1;
            for _ in 0..2 {
                raw.extend(b"\r\n");
                outcome = get(answer(&raw)).await;
                if outcome.as_ref().map(|_| ()).map_err(|error| error.failure) != cut {
                    break;
                }
            }
        }
        let right = outcome.is_ok() == (text(case, "expect") == "accept");
        tally.add(text(case, "id"), right, LLHTTP_ARGUED, || {
            format!("{} {:?}", told(&outcome), String::from_utf8_lossy(&raw))
        });
    }
    println!("{completed} were cut short, and tried again with their line ends");
    tally.end("http/raw-responses-llhttp");
}

#[tokio::test]
async fn lengths() {
    let Some(file) = cases::load("http", "content-lengths.json") else { return };
    let mut tally = Tally::default();
    for case in list(&file) {
        let head = text(case, "header");
        let outcome = get(answer(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{}", "x".repeat(42)))).await;
        let right = match (text(case, "strict"), &outcome) {
            ("accept", Ok(received)) => Some(received.body.len() as u64) == case["browser_output"].as_u64(),
            ("reject", Err(error)) => error.code() == Code::NetProtocol,
            _ => false,
        };
        tally.add(head, right, &[], || told(&outcome));
    }
    tally.end("http/content-lengths");
}

#[tokio::test]
async fn codings() {
    let Some(file) = cases::load("http", "compression.json") else { return };
    let mut tally = Tally::default();
    for case in list(&file) {
        let body = bytes(case, "b64");
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {}\r\nContent-Length: {}\r\n\r\n",
            text(case, "content_encoding"),
            body.len()
        );
        let (outcome, took) =
            timed(get(vec![Step::ReadRequest, Step::send([head.as_bytes(), &body].concat())])).await;
        let plain = usize::try_from(case["plain_bytes"].as_u64().unwrap()).unwrap();
        let whole = outcome.as_ref().is_ok_and(|received| received.body.len() == plain && !received.body_cut);
        let cut = outcome.as_ref().is_ok_and(|received| received.body.len() == 4 << 20 && received.body_cut);
        let refused = outcome.as_ref().is_err_and(|error| error.code() == Code::NetEncoding);
        let stacked = text(case, "content_encoding").contains(',');
        let right = match text(case, "expect") {
            // Of the choices: what follows the last member is damage.
            "reject" | "reject-or-ignore" => refused,
            "accept-empty-or-reject" | "accept or cap header" => whole,
            expect if stacked => refused && expect.contains("stacked"),
            // The transport is done when the bytes are within the cap; depth and items are the reader's.
            _ if plain <= 4 << 20 => whole,
            _ => cut,
        };
        let in_time = took < PATIENCE / 4 || took < Duration::from_secs(3);
        tally.add(text(case, "id"), right && in_time, &[], || {
            format!(
                "{} after {took:?}",
                outcome.as_ref().map_or_else(
                    |error| format!("{:?}", error.failure),
                    |received| format!("{} bytes", received.body.len())
                )
            )
        });
    }
    tally.end("http/compression");
}

/// The redirect matrix, each row under both settings of a manifest. Its origin is `https://api.example.com`,
/// and every other host that it names is a trap.
#[tokio::test]
async fn redirects() {
    let Some(file) = cases::load("ssrf", "redirects.json") else { return };
    let authority = Authority::new().unwrap();
    let identity = authority.issue(&["api.example.com"]).unwrap();
    let trap = Server::answering(|_| ok("trap").into_bytes()).await.unwrap();
    let mut tally = Tally::default();
    for case in list(&file) {
        let status = case["status"].as_u64().unwrap();
        let location = case["location"].as_str().map(|location| format!("Location: {location}\r\n"));
        let hop = format!("HTTP/1.1 {status} X\r\n{}Content-Length: 0\r\n\r\n", location.unwrap_or_default());
        let server = Server::answering_tls(&identity, move |request| {
            if request.target() == "/start" { hop.clone() } else { ok("there") }.into_bytes()
        })
        .await
        .unwrap();
        let public = |name| (name, vec![found(&["93.184.216.34"])]);
        let names = vec![
            public("api.example.com:443"),
            public("api.example.com:80"),
            public("api.example.com:8443"),
            public("evil.example:443"),
            public("evil.example:80"),
        ];
        let trapped = trap.address();
        let map = [
            ("93.184.216.34:443", server.address()),
            ("93.184.216.34:80", trapped),
            ("93.184.216.34:8443", trapped),
            ("169.254.169.254:80", trapped),
        ];
        let client = setup(Trust::pem(&authority.pem()).unwrap(), names, &map).client();
        let mut right = true;
        let mut seen = Vec::new();
        for redirects in [Redirects::None, Redirects::SameOrigin] {
            let call = Call::get("https://api.example.com/start").secret("Authorization", "Bearer s3cret");
            let outcome =
                call.reach(PUBLIC).budget(|budget| budget.redirects = redirects).send(&client).await;
            let refused = outcome.as_ref().is_err_and(|error| error.code() == Code::NetRedirect);
            right &= match text(case, "expect") {
                // No redirect at all: the caller shows the status as an error.
                "error: no Location" => {
                    outcome.as_ref().is_ok_and(|received| u64::from(received.status) == status)
                }
                "same-origin" if redirects == Redirects::SameOrigin => {
                    outcome.as_ref().is_ok_and(|received| received.body == b"there")
                }
                _ => refused,
            };
            seen.push(told(&outcome));
        }
        let id = format!("{status} {:?}", case["location"]);
        tally.add(&id, right, &[], || format!("{seen:?}"));
    }
    assert_eq!(trap.log().connections(), 0);
    tally.end("ssrf/redirects");
}
