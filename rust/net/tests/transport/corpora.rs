//! The shared cases: raw answers, lengths, codings.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_core::Code;
use connector_core::response::Received;
use connector_net::NetError;
use connector_testkit::{Script, Server, Step, cases};
use serde_json::Value;

use crate::support::{Call, PATIENCE, answer, timed};

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
            "reject" => accepted.is_none(),
            // Choices, pinned.
            "reject-or-lenient" | "accept-or-cap" | "reject-or-error-status" => {
                let pinned = match text(case, "id") {
                    // RFC 9112 section 7.1 asks for CRLF in chunks, and hyper holds to it.
                    "chunked-bare-lf" => accepted.is_none(),
                    "100-times-1xx" => accepted.is_some_and(|received| received.body == b"ok"),
                    // No class that is known: the caller shows the number, as of any error.
                    "status-999" => accepted.is_some_and(|received| received.status == 999),
                    _ => false,
                };
                pinned
            }
            "reject-or-chunked-wins" | "reject-or-accept" | "reject-or-strip" => accepted.is_none(),
            other => panic!("{other}"),
        };
        tally.add(text(case, "id"), right, &[], || told(&outcome));
    }
    tally.end("http/raw-responses");
}

/// Why a label of llhttp's tests is not ours.
const LLHTTP_ARGUED: &[(&str, &str)] = &[];

#[tokio::test]
async fn raw_answers_of_llhttp() {
    let Some(file) = cases::load("http", "raw-responses-llhttp.json") else { return };
    let mut tally = Tally::default();
    for case in list(&file) {
        let outcome = get(answer(bytes(case, "raw_b64"))).await;
        let accepted = outcome.is_ok();
        let right = accepted == (text(case, "expect") == "accept");
        tally.add(text(case, "id"), right, LLHTTP_ARGUED, || format!("{} {:?}", told(&outcome), String::from_utf8_lossy(&bytes(case, "raw_b64"))));
    }
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
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {}\r\nContent-Length: {}\r\n\r\n", text(case, "content_encoding"), body.len());
        let (outcome, took) = timed(get(vec![Step::ReadRequest, Step::send([head.as_bytes(), &body].concat())])).await;
        let plain = usize::try_from(case["plain_bytes"].as_u64().unwrap()).unwrap();
        let whole = outcome.as_ref().is_ok_and(|received| received.body.len() == plain && !received.body_cut);
        let cut = outcome.as_ref().is_ok_and(|received| received.body.len() == 4 << 20 && received.body_cut);
        let refused = outcome.as_ref().is_err_and(|error| error.code() == Code::NetEncoding);
        let stacked = text(case, "content_encoding").contains(',');
        let right = match text(case, "expect") {
            "reject" => refused,
            // Choice: what follows the last member is damage.
            "reject-or-ignore" => refused,
            "accept-empty-or-reject" | "accept or cap header" => whole,
            expect if stacked => refused && expect.contains("stacked"),
            // The transport is done when the bytes are within the cap; depth and items are the reader's.
            _ if plain <= 4 << 20 => whole,
            _ => cut,
        };
        let in_time = took < PATIENCE / 4 || took < Duration::from_secs(3);
        tally.add(text(case, "id"), right && in_time, &[], || format!("{} after {took:?}", outcome.as_ref().map_or_else(|error| format!("{:?}", error.failure), |received| format!("{} bytes", received.body.len()))));
    }
    tally.end("http/compression");
}
