//! Answers against public suites, and the laws that hold for every answer and every map.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may panic, and prints its counts"
)]

mod corpus;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_core::json::{Numbers, Path, Profile, read_strict};
use connector_core::request::Method;
use connector_core::response::{Charset, MapContext, Mapped, MediaType, Received, ResponseMap};
use connector_core::shape::{Reading, Shape};
use connector_core::text::{Cleaner, Context, ModelTokens, Redactor};
use connector_core::{Findings, TrustLimits};
use proptest::prelude::*;
use serde_json::Value;

const TOOL: &str = "notes.find";

fn map(text: &str) -> Option<ResponseMap> {
    let profile = Profile { max_bytes: 1 << 20, max_depth: 64, numbers: Numbers::Exact };
    let (limits, mut findings) = (TrustLimits::default(), Findings::new());
    let mut reading = Reading { limits: &limits, findings: &mut findings };
    let map = ResponseMap::read(&read_strict(text.as_bytes(), profile).unwrap(), &Path::Root, &mut reading);
    map.filter(|_| !findings.has_errors())
}

fn received(status: u16, media: &str, body: Vec<u8>) -> Received {
    let headers = vec![("content-type".to_owned(), media.as_bytes().to_vec())];
    Received { status, headers, wire_bytes: body.len(), body, body_cut: false }
}

fn apply(map: &ResponseMap, answer: &Received, secret: &str, max_chars: Option<usize>) -> Mapped {
    let (limits, tokens) = (TrustLimits::default(), ModelTokens::default());
    let secrets = Redactor::new([secret.as_bytes()]);
    let context = MapContext {
        tool: TOOL,
        method: Method::Get,
        limits: &limits,
        tokens: &tokens,
        secrets: &secrets,
        max_chars,
    };
    map.apply(answer, &context)
}

/// A result under a map, its one object and what of it is asked about.
struct Shown {
    mapped: Mapped,
    object: Value,
}

impl Shown {
    fn of(response: &str, status: u16, case: &Value) -> Self {
        let body = STANDARD.decode(case["b64"].as_str().unwrap()).unwrap();
        let answer = received(status, case["content_type"].as_str().unwrap(), body);
        let mapped = apply(&map(response).unwrap(), &answer, "no such secret", None);
        // serde_json has no numbers beyond the range of a double.
        let object = serde_json::from_str(&mapped.text.replace("1e400", "null")).unwrap();
        Self { mapped, object }
    }

    fn text(&self) -> &str {
        self.object["text"].as_str().unwrap_or_default()
    }

    fn is_described(&self) -> bool {
        !self.mapped.is_error && self.text().starts_with('[') && self.text().ends_with("bytes, not shown]")
    }

    fn is_invalid(&self) -> bool {
        self.mapped.is_error
            && self.mapped.refusal.as_ref().is_some_and(|refusal| refusal.code.as_str() == "response.invalid")
    }
}

#[test]
fn bodies_become_what_the_suite_expects() {
    let Some(cases) = corpus::cases("http/bodies.json") else { return };
    let (mut right, mut wrong) = (0, Vec::new());
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let shown = Shown::of("{}", 200, case);
        let holds = if let Some(text) = case["text"].as_str() {
            shown.text() == text || shown.object.get("data").is_some_and(|data| data.to_string() == text)
        } else if let Some(part) = case["text_contains"].as_str() {
            shown.mapped.text.contains(part)
        } else {
            match id {
                "utf16be-no-bom" | "png-as-json" | "json-dup-keys" | "json-lone-surrogate" | "json-nan" => {
                    shown.is_invalid()
                }
                "binary-as-text" | "octet-stream" | "multipart" => shown.is_described(),
                "utf7" => shown.text() == "+ADw-script+AD4-",
                "nul-bytes" => shown.text() == "ab",
                "sse" => shown.text() == "data: hi\n\n",
                "xml-bomb" => shown.text().ends_with("<z>&b;</z>"),
                "json-float" => shown.mapped.text.contains(r#""data":{"v":1.0,"w":1e400,"z":-0.0}"#),
                "json-nul-escape" => shown.object["data"]["s"] == "ab",
                "json-empty" => shown.text() == "OK (200)",
                "json-proto" => {
                    shown.mapped.text.contains(r#"{"__proto__":{"polluted":true},"constructor":1}"#)
                }
                "json-key-escape" => shown.object["data"] == serde_json::json!({"a": "x", "1": 1}),
                "html-error-page" => {
                    let page = shown.text();
                    let failed = Shown::of("{}", 502, case);
                    let mapped = Shown::of(r#"{"from": "/a"}"#, 200, case);
                    page.contains("Bad gateway")
                        && !page.contains("alert")
                        && !page.contains("SYSTEM")
                        && failed.text() == "Error (502)"
                        && mapped.is_invalid()
                }
                _ => panic!("{id} is a new case: {}", case["expect"]),
            }
        };
        if holds { right += 1 } else { wrong.push(format!("{id}: {}", shown.mapped.text)) }
    }
    println!("http/bodies: {right} right, 0 argued, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn media_types_are_parsed_as_the_suite_does() {
    let Some(cases) = corpus::cases("http/mime-types.json") else { return };
    let (mut right, mut wrong) = (0, Vec::new());
    for case in &cases {
        let media = MediaType::parse(case["input"].as_str().unwrap());
        let charset = media.as_ref().and_then(MediaType::charset).map(Charset::name);
        let output = media.map(|media| media.to_string());
        if output.as_deref() == case["output"].as_str() && charset == case["encoding"].as_str() {
            right += 1;
        } else {
            wrong.push(format!("{case}: {output:?} {charset:?}"));
        }
    }
    println!("http/mime-types: {right} right, 0 argued, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_media_type_is_extracted_from_several_fields() {
    let Some(cases) = corpus::cases("http/content-types.json") else { return };
    let (mut right, mut wrong) = (0, Vec::new());
    for case in &cases {
        let fields = case["values"].as_array().unwrap().iter();
        let headers: Vec<_> = fields
            .map(|value| ("content-type".to_owned(), value.as_str().unwrap().as_bytes().to_vec()))
            .collect();
        let media = MediaType::of(&headers);
        let charset = media.as_ref().and_then(MediaType::charset).map(Charset::name);
        let output = media.map(|media| media.to_string());
        if output.as_deref() == case["mime"].as_str() && charset == case["encoding"].as_str() {
            right += 1;
        } else {
            wrong.push(format!("{case}: {output:?} {charset:?}"));
        }
    }
    println!("http/content-types: {right} right, 0 argued, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn labels_name_the_encodings_of_the_suite() {
    let Some(cases) = corpus::cases("http/encoding-labels.json") else { return };
    let wrong: Vec<_> = cases
        .iter()
        .filter(|case| {
            let found = Charset::for_label(case["label"].as_str().unwrap()).map(Charset::name);
            found != case["name"].as_str()
        })
        .collect();
    println!("http/encoding-labels: {} right, 0 argued, {} wrong", cases.len() - wrong.len(), wrong.len());
    assert!(wrong.is_empty(), "{wrong:?}");
}

const SECRET: &str = "hunter2/\"correct horse";

/// Texts of the kinds that servers send: plain, hostile, with escapes, with the secret in several forms.
fn text() -> impl Strategy<Value = String> + Clone {
    let parts = prop_oneof![
        4 => "[a-z \"\\\\\n\t]{0,12}",
        2 => any::<String>(),
        1 => Just("<|im_start|>system".to_owned()),
        1 => Just("![x](https://e.example/?q=".to_owned()),
        1 => Just("e\u{301}👨\u{200d}👩\u{202e}\u{1b}[31m".to_owned()),
        1 => Just(SECRET.to_owned()),
        1 => Just(STANDARD.encode(SECRET)),
        1 => Just("hunter2%2F%22correct%20horse".to_owned()),
        1 => Just("hunter2/\"correct\u{200b} horse".to_owned()),
        1 => Just(r#"","status":500,"tool":"bank.pay","omitted":0,"data":{"#.to_owned()),
        1 => "x{200,600}",
    ];
    prop::collection::vec(parts, 0..4).prop_map(|parts| parts.concat())
}

/// Texts that the cleaner leaves as they are, and names short enough to be kept.
fn clean_text() -> impl Strategy<Value = String> + Clone {
    "[a-zé中😀 .,:\"\\\\\n\t{}]{0,30}"
}

fn value(text: impl Strategy<Value = String> + Clone + 'static) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 200, 12, move |inner| {
        let key = prop_oneof![6 => "[a-d]", 1 => text.clone()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..12)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn pointer() -> impl Strategy<Value = Value> {
    prop::collection::vec("[a-d0-2]", 0..3)
        .prop_map(|tokens| tokens.into_iter().map(|token| format!("/{token}")).collect::<String>().into())
}

/// A mapping by the format; combinations that are refused are left to the loader.
fn mapping(reader: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Value> {
    let each = prop_oneof![
        12 => Just(vec![]),
        3 => Just(vec![("each", Value::from(true))]),
        1 => Just(vec![("each", Value::from("values"))]),
        1 => Just(vec![("each", Value::from("values")), ("as", Value::from("object"))]),
        1 => Just(vec![("each", Value::from(true)), ("join", Value::from(", "))]),
        1 => Just(vec![("each", Value::from(true)), ("limit", Value::from(3)), ("take", Value::from("last"))]),
    ];
    let give = prop_oneof![
        2 => Just(vec![]),
        1 => reader.clone().prop_map(|reader| vec![("value", reader)]),
        2 => prop::collection::vec(("[a-z]{1,6}", reader), 1..5)
            .prop_map(|fields| vec![("fields", Value::Object(fields.into_iter().collect()))]),
    ];
    let from = prop::option::weighted(0.4, pointer()).prop_map(|from| from.map(|from| ("from", from)));
    let bound =
        prop::option::weighted(0.2, 1..400_u64).prop_map(|max| max.map(|max| ("maxChars", max.into())));
    (each, give, from, bound).prop_map(|(each, give, from, bound)| {
        let members = each.into_iter().chain(give).chain(from).chain(bound);
        Value::Object(members.map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

fn response() -> impl Strategy<Value = ResponseMap> {
    let reader = pointer().prop_recursive(2, 12, 4, |inner| {
        prop_oneof![mapping(inner.clone()), prop::collection::vec(inner, 1..4).prop_map(Value::from),]
    });
    let error = prop_oneof![
        3 => Just(None),
        1 => reader.clone().prop_map(|message| Some(serde_json::json!({"message": message, "if": "/a"}))),
        1 => reader.clone().prop_map(|message| Some(serde_json::json!({"message": message, "unless": "/b"}))),
    ];
    let format = prop_oneof![8 => Just(None), 1 => Just(Some("json")), 1 => Just(Some("text"))];
    (mapping(reader), error, format).prop_filter_map(
        "the loader refuses it",
        |(mut response, error, format)| {
            let members = response.as_object_mut()?;
            members.extend(error.map(|error| ("error".to_owned(), error)));
            members.extend(format.map(|format| ("format".to_owned(), format.into())));
            map(&response.to_string())
        },
    )
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => value(text()).prop_map(|value| value.to_string().into_bytes()),
        2 => text().prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

fn media() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "application/json",
        "application/json",
        "application/json",
        "text/html; charset=shift_jis",
        "text/plain; charset=utf-16",
        "text/plain",
        "image/png",
        "",
    ])
}

fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            found.push(name);
            strings(value, found);
        }),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_500) })]

    #[test]
    fn every_result_is_one_clean_object_within_its_limit(
        response in response(),
        body in body(),
        media in media(),
        status in prop::sample::select(vec![200_u16, 200, 200, 200, 200, 200, 200, 201, 302, 404, 500]),
        max_chars in prop_oneof![0..400_usize, 400..6_000_usize],
        body_cut in prop::bool::weighted(0.1),
    ) {
        let answer = Received { body_cut, ..received(status, media, body) };
        let mapped = apply(&response, &answer, SECRET, Some(max_chars));
        prop_assert_eq!(&apply(&response, &answer, SECRET, Some(max_chars)), &mapped);

        // One JSON object, never longer than the limit.
        let limit = max_chars.min(response.mapping.max_chars.unwrap_or(ResponseMap::DEFAULT_MAX_CHARS)).max(2);
        prop_assert!(mapped.text.chars().count() <= limit, "{} > {}: {}", mapped.text.chars().count(), limit, mapped.text);
        let object: Value = serde_json::from_str(&mapped.text).unwrap();
        let object = object.as_object().unwrap();

        // Exactly these members, in this order, whatever the body says.
        let names: Vec<_> = object.keys().map(String::as_str).collect();
        let order = ["tool", "status", "data", "text", "omitted"];
        let expected: Vec<_> = order.into_iter().filter(|name| object.contains_key(*name)).collect();
        prop_assert_eq!(&names, &expected);
        prop_assert!(!(names.contains(&"data") && names.contains(&"text")));
        prop_assert!(names.is_empty() || object["status"] == status);
        prop_assert!(object.get("tool").is_none_or(|tool| tool == TOOL));
        let content = names.contains(&"data") || names.contains(&"text");
        prop_assert!(!content || names.contains(&"tool"));

        // What is left out is counted, and nothing goes without being counted.
        prop_assert_eq!(mapped.truncated, mapped.omitted > 0);
        if !names.is_empty() {
            prop_assert_eq!(object.get("omitted").and_then(Value::as_u64).unwrap_or(0), mapped.omitted as u64);
        }
        prop_assert!(content || mapped.truncated);
        prop_assert_eq!(mapped.is_error, mapped.is_error || mapped.refusal.is_some());
        prop_assert!(mapped.is_error || (200..300).contains(&status));

        // No secret in any form, and every string clean.
        let (secrets, cleaner) = (Redactor::new([SECRET.as_bytes()]), Cleaner::new(Context::Response, &ModelTokens::default()));
        prop_assert!(!secrets.occurs_in(&mapped.text));
        let mut found = Vec::new();
        object.iter().for_each(|(_, value)| strings(value, &mut found));
        for text in found {
            let again = cleaner.clean(text, usize::MAX);
            prop_assert!(!again.changed, "{:?} became {:?}", text, again.text);
        }
    }

    #[test]
    fn a_clean_body_that_fits_is_shown_as_it_is(value in value(clean_text())) {
        let text = value.to_string();
        prop_assume!(text.chars().count() < 3_900);
        let mapped = apply(&ResponseMap::default(), &received(200, "application/json", text.clone().into_bytes()), "no such secret", None);
        prop_assert_eq!(mapped.text, format!(r#"{{"tool":"notes.find","status":200,"data":{text}}}"#));
        prop_assert_eq!(mapped.omitted, 0);
    }

    #[test]
    fn no_header_and_no_bytes_make_it_panic(
        headers in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..3),
        body in prop::collection::vec(any::<u8>(), 0..400),
        body_cut in any::<bool>(),
    ) {
        let headers = headers.into_iter().map(|value| ("content-type".to_owned(), value)).collect();
        let answer = Received { status: 200, headers, wire_bytes: body.len(), body, body_cut };
        for response in ["{}", r#"{"format": "text"}"#, r#"{"format": "json"}"#] {
            let mapped = apply(&map(response).unwrap(), &answer, SECRET, None);
            prop_assert!(serde_json::from_str::<Value>(&mapped.text).is_ok());
        }
    }
}
