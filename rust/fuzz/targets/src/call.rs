//! What a model writes: arguments, and the values in the slots of a request.

use std::sync::{Arc, OnceLock};

use connector_core::TrustLimits;
use connector_core::call::{Plan, PlanSeed, ToolCall, check};
use connector_core::grant::Grant;
use connector_core::json::{Numbers, Profile, Value, read_strict};
use connector_core::manifest;
use connector_core::request::{Position, encode_one};
use connector_core::toolset::{Connector, ToolSet};
use url::Url;

use crate::document::STRICT;

/// One tool with a slot at every position, all of them free text.
const MANIFEST: &str = r#"{
    "manifestVersion": 1, "id": "fuzz", "version": "1", "title": "Fuzz", "description": "A fuzzed tool.",
    "origins": { "api": "https://api.example" },
    "credentials": { "token": { "title": "Token", "origin": "api" } },
    "tools": [{
        "name": "all", "description": "All positions.", "effect": "write",
        "parameters": {
            "type": "object",
            "properties": {
                "path": { "type": "string" }, "many": { "type": "string" }, "slash": { "type": "string" },
                "query": { "type": ["string", "number", "boolean", "null"] },
                "list": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                "header": { "type": "string" },
                "body": { "type": ["object", "array", "string", "number", "boolean", "null"], "additionalProperties": true }
            },
            "required": ["path", "many", "slash"]
        },
        "request": {
            "method": "POST", "origin": "api",
            "path": ["v1", { "$param": "path" }, "many", { "$param": "many", "segments": "many" }, "slash",
                { "$param": "slash", "slash": "encode" }],
            "query": { "q": { "$param": "query", "absent": "omit" }, "l": { "$param": "list", "array": "repeat", "absent": "omit" } },
            "headers": {
                "X-Header": { "$param": "header", "absent": "omit" },
                "Authorization": { "$credential": "token", "scheme": "Bearer" }
            },
            "body": { "json": { "body": { "$param": "body", "absent": "omit" }, "fixed": "yes" } }
        }
    }]
}"#;

struct Fixture {
    set: ToolSet,
    limits: TrustLimits,
}

fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let limits = TrustLimits::default();
        let report = manifest::check(MANIFEST.as_bytes(), &limits);
        let checked = report.manifest.unwrap_or_else(|| panic!("{:?}", report.findings.list()));
        let connector = Connector::bind(checked, "fuzz", Grant::default(), &limits).expect("it binds");
        let set = ToolSet::default().install(Arc::new(connector), None).expect("it is installed");
        Fixture { set, limits }
    })
}

/// The arguments of a call: whatever they are, the request stays where its template is.
pub(crate) fn arguments(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let Fixture { set, limits } = fixture();
    let call = ToolCall { name: "fuzz.all".to_owned(), arguments: text.to_owned() };
    let checked = match check(set, &set.contract(), &call, limits) {
        Ok(checked) => checked,
        Err(refusal) => {
            assert!(!refusal.reason.is_empty());
            return;
        }
    };
    let seed =
        PlanSeed { id: "plan".to_owned(), idempotency_key: None, flows: Vec::new(), without: Vec::new() };
    let Ok(plan) = Plan::new(&checked, seed, limits) else { return };
    let preview = plan.preview();
    let url = Url::parse(&preview.url).expect("a URL");
    assert_eq!(url.as_str(), preview.url, "the URL is its own serialisation");
    assert_eq!(url.origin().ascii_serialization(), "https://api.example");
    assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none());
    let segments: Vec<&str> = url.path_segments().expect("a path").collect();
    assert!(segments.len() >= 6 && segments.first() == Some(&"v1") && segments.get(2) == Some(&"many"));
    assert_eq!(segments.get(segments.len() - 2), Some(&"slash"));
    assert!(!segments.iter().any(|segment| matches!(*segment, "" | "." | "..")));
    for header in &preview.headers {
        assert!(header.value.bytes().all(|byte| byte == b'\t' || (0x20..0x7f).contains(&byte)));
    }
    let body = preview.body.as_deref().expect("a body");
    let profile = Profile { max_bytes: 2 << 20, max_depth: 64, numbers: Numbers::Exact };
    let body = read_strict(body.as_bytes(), profile).expect("the body is JSON");
    assert_eq!(body.get("fixed").and_then(Value::as_str), Some("yes"));
}

/// The options of slots that are tried at each position.
const OPTIONS: [&str; 9] = [
    "{}",
    r#"{"slash":"encode"}"#,
    r#"{"segments":"many"}"#,
    r#"{"array":"repeat"}"#,
    r#"{"array":"comma"}"#,
    r#"{"array":"pipe"}"#,
    r#"{"array":"brackets"}"#,
    r#"{"flag":true}"#,
    r#"{"null":"omit"}"#,
];

/// Two bytes that choose a position and options, then a value as JSON, or, where it is none, as a string: what comes out
/// holds nothing that means something at its position.
pub(crate) fn slots(data: &[u8]) {
    let [position, options, text @ ..] = data else { return };
    let Ok(text) = str::from_utf8(text) else { return };
    let (position, safe): (Position, fn(u8) -> bool) = match position % 5 {
        0 => (Position::Path, |byte| byte.is_ascii_alphanumeric() || b"-._~%/".contains(&byte)),
        1 => (Position::Query, |byte| byte.is_ascii_alphanumeric() || b"-._~%&=,[]".contains(&byte)),
        2 => (Position::Header, |byte| byte == b'\t' || (0x20..0x7f).contains(&byte)),
        3 => (Position::Json, |byte| byte >= 0x20),
        _ => (Position::Form, |byte| byte.is_ascii_alphanumeric() || b"-._*%+&=,[]".contains(&byte)),
    };
    let options = OPTIONS.get(usize::from(*options) % OPTIONS.len()).copied().unwrap_or("{}");
    let Ok(Value::Object(options)) = read_strict(options.as_bytes(), STRICT) else { return };
    let value = read_strict(text.as_bytes(), STRICT).unwrap_or_else(|_| Value::from(text));
    for value in [value, Value::from(text)] {
        let Ok(encoded) = encode_one(position, &value, &options, &TrustLimits::default()) else { continue };
        assert!(encoded.encoded.bytes().all(safe), "an unsafe byte");
        if position == Position::Path && !encoded.omitted {
            let url = Url::parse(&format!("https://api.example/v1/{}/end", encoded.encoded)).expect("a URL");
            assert!(url.path().starts_with("/v1/") && url.path().ends_with("/end") && url.query().is_none());
            let count = encoded.segments.as_ref().map_or(1, Vec::len);
            assert_eq!(url.path_segments().map(Iterator::count), Some(count + 2), "a segment came or went");
        }
    }
}
