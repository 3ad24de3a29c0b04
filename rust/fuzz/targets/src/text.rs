//! What comes back: answers and texts.

use connector_core::json::{Numbers, Path, Profile, read_strict};
use connector_core::request::Method;
use connector_core::response::{MapContext, Received, ResponseMap};
use connector_core::shape::{Reading, Shape};
use connector_core::text::{Cleaner, Context, ModelTokens, Redactor};
use connector_core::{Findings, TrustLimits};

use crate::document::STRICT;

const SECRET: &str = "fuzz-secret~7a";

/// Maps that answers are read by.
const MAPS: [&str; 6] = [
    "{}",
    r#"{"format":"text","maxChars":200}"#,
    r#"{"fields":{"a":"/a","b":{"from":"/b","each":true,"limit":3,"value":"/c"}},"error":{"message":"/m","if":"/e"}}"#,
    r#"{"each":true,"limit":5,"take":"last"}"#,
    r#"{"each":"values","as":"object","limit":5}"#,
    r#"{"from":"/a","each":true,"join":", ","maxChars":80,"error":{"unless":"/ok"}}"#,
];

const TYPES: [&str; 8] = [
    "application/json",
    "text/plain",
    "text/html",
    "text/plain; charset=utf-16",
    "text/html; charset=shift_jis",
    "application/problem+json",
    "image/png",
    "",
];

/// Three bytes that choose map, type and status, then a body: the result is one JSON object within its limit, and holds
/// no secret.
pub(crate) fn response(data: &[u8]) {
    let [map, media, status, body @ ..] = data else { return };
    let map = MAPS.get(usize::from(*map) % MAPS.len()).copied().unwrap_or("{}");
    let media = TYPES.get(usize::from(*media) % TYPES.len()).copied().unwrap_or_default();
    let (limits, mut findings) = (TrustLimits::default(), Findings::new());
    let map = read_strict(map.as_bytes(), STRICT).expect("a map is JSON");
    let mut reading = Reading { limits: &limits, findings: &mut findings };
    let map = ResponseMap::read(&map, &Path::Root, &mut reading).expect("a map");
    let received = Received {
        status: [200, 200, 204, 302, 404, 500].get(usize::from(*status) % 6).copied().unwrap_or(200),
        headers: vec![("content-type".to_owned(), media.as_bytes().to_vec())],
        body: body.to_vec(),
        body_cut: *status > 200,
        wire_bytes: body.len(),
    };
    let secrets = Redactor::new([SECRET.as_bytes()]);
    for max_chars in [None, Some(90), Some(0)] {
        let context = MapContext {
            tool: "fuzz.all",
            method: Method::Get,
            limits: &limits,
            tokens: &ModelTokens::default(),
            secrets: &secrets,
            max_chars,
        };
        let mapped = map.apply(&received, &context);
        assert!(mapped.text.chars().count() <= max_chars.unwrap_or(4_000).max(2));
        let profile = Profile { max_bytes: 1 << 20, max_depth: 64, numbers: Numbers::Any };
        let object = read_strict(mapped.text.as_bytes(), profile).expect("a result is strict JSON");
        assert!(object.as_object().is_some());
        assert!(!mapped.text.contains(SECRET), "a secret comes back");
        assert_eq!(mapped.truncated, mapped.omitted > 0);
    }
}

/// One byte that chooses the length, then a text: what is clean stays as it is, within its limit, without controls,
/// tokens and secrets.
pub(crate) fn text(data: &[u8]) {
    let [length, text @ ..] = data else { return };
    let text = String::from_utf8_lossy(text);
    let max = if *length == 0xff { usize::MAX } else { usize::from(*length) };
    let secrets = Redactor::new([SECRET.as_bytes()]);
    for context in [Context::Title, Context::Description, Context::Response] {
        let cleaner = Cleaner::new(context, &ModelTokens::default());
        let cleaned = cleaner.clean_redacted(&text, max, &secrets);
        assert!(cleaned.text.chars().count() <= max);
        let again = cleaner.clean_redacted(&cleaned.text, max, &secrets);
        assert!(again.text == cleaned.text && !again.truncated, "what is clean does not stay");
        assert!(!cleaned.text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
        assert!(!cleaned.text.contains(SECRET) && !cleaned.text.contains("<|im_start|>"));
    }
}
