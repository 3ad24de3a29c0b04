//! The shared cases as scenarios: whole calls through sessions, with all that the kit looks at. Which answer each case
//! has is decided where its part is tested (`connector-net`, `connector-core`); here it may not harm.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_testkit::cases;
use connector_testkit::scenario::Scenario;
use serde_json::{Value, json};

/// The scenarios of one file, by a function that makes the members of each beside its id; [`None`] passes over a case.
async fn corpus(area: &str, file: &str, make: impl Fn(&Value) -> Option<Value>) {
    let Some(cases) = cases::load(area, file) else { return };
    let scenario = |(number, case): (usize, &Value)| {
        let mut members = make(case)?;
        members["id"] = json!(format!("{file}-{number}"));
        members["says"] = json!("");
        let scenario: Scenario = serde_json::from_value(members).unwrap();
        Some((area.to_owned(), scenario))
    };
    let scenarios: Vec<_> =
        cases["cases"].as_array().unwrap().iter().enumerate().filter_map(scenario).collect();
    assert!(!scenarios.is_empty());
    crate::run(&format!("{area}/{file}"), scenarios).await;
}

fn text<'a>(case: &'a Value, member: &str) -> &'a str {
    case[member].as_str().unwrap_or_default()
}

/// A scenario whose server answers once with these bytes, in base64.
fn answering(base64: &str, code: &str, or: Option<&str>) -> Value {
    json!({
        "servers": [{ "connections": [[{ "read": "request" }, { "sendBase64": base64 }]], "saw": { "connections": 1 } }],
        "calls": [{ "code": code, "orCode": or }]
    })
}

/// The same for a head and a body.
fn with_body(head: &str, body: &[u8]) -> Value {
    let head = format!("HTTP/1.1 200 OK\r\n{head}\r\nContent-Length: {}\r\n\r\n", body.len());
    answering(&STANDARD.encode([head.as_bytes(), body].concat()), "answered", Some("net.*"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn raw_answers() {
    corpus("http", "raw-responses.json", |case| {
        let raw = text(case, "raw_b64");
        Some(match text(case, "expect") {
            "accept" => answering(raw, "answered", None),
            "reject" | "reject-or-chunked-wins" | "reject-or-accept" | "reject-or-strip" => {
                answering(raw, "net.*", None)
            }
            _ => answering(raw, "answered", Some("net.*")),
        })
    })
    .await;
    corpus("http", "raw-responses-llhttp.json", |case| {
        Some(answering(text(case, "raw_b64"), "answered", Some("net.*")))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lengths_codings_and_bodies() {
    corpus("http", "content-lengths.json", |case| {
        let raw = format!("HTTP/1.1 200 OK\r\n{}\r\n\r\n{}", text(case, "header"), "x".repeat(42));
        let code = if text(case, "strict") == "accept" { "answered" } else { "net.protocol" };
        Some(answering(&STANDARD.encode(raw), code, None))
    })
    .await;
    corpus("http", "compression.json", |case| {
        let head = format!("Content-Encoding: {}", text(case, "content_encoding"));
        Some(with_body(&head, &STANDARD.decode(text(case, "b64")).unwrap()))
    })
    .await;
    corpus("http", "bodies.json", |case| {
        let head = format!("Content-Type: {}", text(case, "content_type"));
        Some(with_body(&head, &STANDARD.decode(text(case, "b64")).unwrap()))
    })
    .await;
    corpus("http", "content-types.json", |case| {
        let values = case["values"].as_array().unwrap().iter().map(|value| value.as_str().unwrap());
        let fields: Vec<String> = values.map(|value| format!("Content-Type: {value}")).collect();
        Some(with_body(&fields.join("\r\n"), b"caf\xe9"))
    })
    .await;
    corpus("http", "mime-types.json", |case| {
        Some(with_body(&format!("Content-Type: {}", case["input"].as_str()?), b"caf\xe9"))
    })
    .await;
    corpus("http", "encoding-labels.json", |case| {
        let head = format!("Content-Type: text/plain;charset=\"{}\"", text(case, "label"));
        Some(with_body(&head, b"\x1b$B\x81\xff\0caf\xe9"))
    })
    .await;
}

/// A scenario whose server redirects once, from `/start`, of which no part is fixed.
fn redirecting(status: u64, location: Option<&str>, code: &str, or: Option<&str>) -> Value {
    let location = location.map(|location| format!("Location: {location}\r\n")).unwrap_or_default();
    let hop = format!("HTTP/1.1 {status} X\r\n{location}Content-Length: 0\r\n\r\n");
    let there = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    let script =
        |bytes: &str| json!([{ "read": "request" }, { "sendBase64": STANDARD.encode(bytes) }, "awaitClose"]);
    json!({
        "connectors": [{
            "use": "read",
            "tool": { "request": { "path": [{ "$param": "words" }], "query": null }, "limits": { "redirects": "same-origin" } }
        }],
        "servers": [{ "connections": [[
            { "read": "request" }, { "sendBase64": STANDARD.encode(&hop) },
            { "read": "request" }, { "sendBase64": STANDARD.encode(there) }, "awaitClose"
        ], script(there)] }],
        "calls": [{ "code": code, "orCode": or }]
    })
}

/// Locations as the cases have them, for the origin of the kit.
fn at_home(location: &str) -> String {
    location.replace("api.example.com", "api.example").replace("API.EXAMPLE.COM", "API.EXAMPLE")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redirects() {
    corpus("ssrf", "redirects.json", |case| {
        let status = case["status"].as_u64().unwrap();
        let location = case["location"].as_str().map(at_home);
        let code = match text(case, "expect") {
            "same-origin" => "ok",
            "error: no Location" => "answered",
            _ => "net.redirect",
        };
        Some(redirecting(status, location.as_deref(), code, None))
    })
    .await;
    corpus("ssrf", "url-payloads.json", |case| {
        // What breaks the head of the answer is refused with it.
        let (code, or) = if case["resolves_same_origin"] == true {
            ("ok", "net.*")
        } else {
            ("net.redirect", "net.protocol")
        };
        Some(redirecting(302, Some(&at_home(text(case, "url"))), code, Some(or)))
    })
    .await;
    corpus("ssrf", "open-redirect-values.json", |case| {
        let at_home_already = text(case, "location_origin") == "https://api.example.com";
        let (code, or) = if at_home_already { ("ok", "net.*") } else { ("net.redirect", "net.protocol") };
        Some(redirecting(302, Some(&at_home(text(case, "value"))), code, Some(or)))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_of_resolvers() {
    for file in ["ip-classification.json", "ip-upstream-tests.json"] {
        corpus("ssrf", file, |case| {
            let address: std::net::IpAddr = text(case, "ip").parse().ok()?;
            // Where the sources differ, the registry decides.
            let denied = case.get("iana_rule_deny").unwrap_or(&case["deny"]) == true;
            let at = std::net::SocketAddr::new(address, 443).to_string();
            let ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
            Some(json!({
                "servers": [{ "at": [at], "connections": [[{ "read": "request" }, { "send": ok }, "awaitClose"]] }],
                "names": { "api.example:443": [[text(case, "ip")]] },
                "calls": [{ "code": if denied { "net.address" } else { "ok" } }]
            }))
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts() {
    for (file, member) in [("smuggling.json", "text"), ("trojan-source.json", "text"), ("blns.json", "s")] {
        corpus("text", file, |case| {
            let body = json!({ "note": case[member] }).to_string();
            let mut scenario = with_body("Content-Type: application/json", body.as_bytes());
            scenario["calls"][0]["lacks"] = json!(["\u{1b}", "\u{202e}", "\u{e0001}", "<|im_start|>"]);
            Some(scenario)
        })
        .await;
    }
}
