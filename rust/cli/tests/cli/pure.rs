//! The pure functions over the seam: the shapes of their answers, and of their refusals.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::rpc::Rpc;
use crate::support::NOTES;

fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn manifest_check() {
    let mut rpc = Rpc::plain();
    let report = rpc.call("manifest.check", &json!({ "text": NOTES }));
    assert_eq!(names(&report), ["ok", "findings", "manifest"]);
    assert_eq!(names(&report["manifest"]), ["id", "version", "sha256", "tools"]);
    assert_eq!(rpc.call("manifest.check", &json!({"base64": STANDARD.encode(NOTES)})), report);
    let report = rpc.call("manifest.check", &json!({"text": "{\n \"manifestVersion\": 2}"}));
    assert_eq!((&report["ok"], &report["findings"][0]["line"]), (&json!(false), &json!(2)));
    let report = rpc.call("manifest.check", &json!({"base64": "/w=="}));
    assert_eq!(report["findings"][0]["rule"], "json.encoding");
    let many: Vec<String> = (0..5_000).map(|member| format!("\"m{member}\":1")).collect();
    let report =
        rpc.call("manifest.check", &json!({"text": format!("{{\"manifestVersion\":1,{}}}", many.join(","))}));
    let kept = report["findings"].as_array().unwrap().len();
    assert!(kept <= 1_000 && report["omitted"].as_u64().unwrap() >= 4_000, "{kept}");
}

#[test]
fn schema_compile() {
    let mut rpc = Rpc::plain();
    assert_eq!(
        rpc.call("schema.compile", &json!({"schema": {"type": "string"}})),
        json!({"ok": true, "findings": []})
    );
    let bad = json!({"schemaText": "{\n  \"$ref\": \"https://x.example/schema\"\n}"});
    let report = rpc.call("schema.compile", &bad);
    assert_eq!(report["ok"], false);
    let finding = &report["findings"][0];
    assert_eq!(names(finding), ["rule", "severity", "pointer", "line", "column", "message", "help"]);
    assert_eq!((&finding["pointer"], &finding["line"]), (&json!("/$ref"), &json!(2)));
    let report = rpc.call("schema.compile", &json!({"schema": {"$ref": "https://x.example/schema"}}));
    assert_eq!(
        names(&report["findings"][0]),
        ["rule", "severity", "pointer", "message", "help"],
        "no text, no line"
    );
    let error = rpc.error("schema.compile", &json!({"schemaText": "{\n  \"a\": tru }"}));
    assert_eq!((&error["code"], &error["data"]["code"]), (&json!(1), &json!("json.invalid")));
    assert_eq!(error["data"]["findings"][0]["line"], 2);
}

#[test]
fn schema_accepts() {
    let mut rpc = Rpc::plain();
    let schema = json!({"properties": {"n": {"type": "integer", "maximum": 3}, "s": {"type": "string"}}});
    let answer = rpc.call("schema.accepts", &json!({"schema": schema, "value": {"n": 2}}));
    assert_eq!(answer, json!({"accepted": true, "violations": []}));
    let answer =
        rpc.call("schema.accepts", &json!({"schema": schema, "value": {"n": 4, "s": 1, "hunter2": 1}}));
    assert_eq!(answer["accepted"], false);
    let violations = answer["violations"].as_array().unwrap();
    assert!(violations.iter().all(|violation| names(violation) == ["pointer", "keyword", "message"]));
    let places: Vec<_> =
        violations.iter().map(|v| (v["pointer"].as_str().unwrap(), v["keyword"].as_str().unwrap())).collect();
    assert!(places.contains(&("/n", "maximum")) && places.contains(&("/s", "type")), "{places:?}");
    assert!(places.iter().any(|(pointer, _)| pointer.is_empty()), "the undeclared member, without its name");
    assert!(!answer.to_string().contains("hunter2"));
    let open = json!({"schema": schema, "value": {"other": 1}, "world": "open"});
    assert_eq!(rpc.call("schema.accepts", &open)["accepted"], true);
    // Digits that a JavaScript number would lose go as text.
    let exact = json!({"schemaText": "{\"const\": 9007199254740993}", "valueText": "9007199254740992"});
    assert_eq!(rpc.call("schema.accepts", &exact)["accepted"], false);
    let formats = json!({"schema": {"format": "date"}, "value": "x", "formats": "annotate"});
    assert_eq!(rpc.call("schema.accepts", &formats)["accepted"], true);
    let draft = json!({"schema": {"items": [{"type": "string"}]}, "value": [1], "dialect": "draft-07"});
    assert_eq!(rpc.call("schema.accepts", &draft)["accepted"], false);
    let error = rpc.error("schema.accepts", &json!({"schemaText": "{\"type\":\n\"strin\"}", "value": 1}));
    assert_eq!((&error["code"], &error["data"]["code"]), (&json!(1), &json!("schema.invalid")));
    assert_eq!(error["data"]["findings"][0]["line"], 2);
    assert_eq!(rpc.refusal("schema.accepts", &json!({"schema": {}, "valueText": "{"})), "json.invalid");
}

#[test]
fn canonical_hash() {
    let mut rpc = Rpc::plain();
    let answer = rpc.call("canonical.hash", &json!({"text": "{\"b\": 1.0, \"a\": [\"\\u00e9\"]}"}));
    assert_eq!(answer["canonical"], "{\"a\":[\"é\"],\"b\":1}");
    assert_eq!(answer["sha256"], "cde3c54c1d323a37b399fbf0246d2a68a66d3f4c8b57844aaab17ee6cddfdc07");
    for (text, number) in [("333333333.33333329", "333333333.3333333"), ("-0", "0"), ("1E30", "1e+30")] {
        assert_eq!(
            rpc.call("canonical.hash", &json!({ "text": text }))["canonical"],
            number,
            "RFC 8785 appendix B"
        );
    }
    for (text, rule) in [
        ("{\"a\":1,\"a\":1}", "json.duplicate_member"),
        ("[1e400]", "json.number_inexact"),
        ("", "json.syntax"),
    ] {
        let error = rpc.error("canonical.hash", &json!({ "text": text }));
        assert_eq!(error["data"]["code"], "json.invalid");
        let finding = &error["data"]["findings"][0];
        assert_eq!((&finding["rule"], &finding["line"]), (&json!(rule), &json!(1)));
    }
}

#[test]
fn origin_parse() {
    let mut rpc = Rpc::plain();
    let mut parse = |origin: &str, entry: Option<Value>| {
        let mut params = json!({ "origin": origin });
        if let Some(entry) = entry {
            params["userProvided"] = entry;
        }
        let id = rpc.send("origin.parse", &params);
        let answer = rpc.answer(id);
        let code = answer["error"]["data"]["code"].as_str();
        answer["result"]["origin"].as_str().or(code).unwrap().to_owned()
    };
    assert_eq!(parse("https://api.example", None), "https://api.example");
    let local = || Some(json!({"title": "Server", "localNetwork": true, "basePath": true}));
    for (origin, entry, expected) in [
        ("http://api.example", None, "origin.invalid"),
        ("https://API.example", None, "origin.invalid"),
        ("https://api.example/", None, "origin.invalid"),
        ("https://127.0.0.1", None, "origin.invalid"),
        ("http://192.168.1.7:8080/api", local(), "http://192.168.1.7:8080/api"),
        ("http://8.8.8.8", local(), "origin.invalid"),
        (
            "https://a.zendesk.com",
            Some(json!({"title": "x", "under": "zendesk.com"})),
            "https://a.zendesk.com",
        ),
        ("https://a.b.zendesk.com", Some(json!({"title": "x", "under": "zendesk.com"})), "origin.invalid"),
        ("https://a.example", Some(json!({"title": "x", "what": 1})), "origin.invalid"),
    ] {
        assert_eq!(parse(origin, entry), expected, "{origin}");
    }
}

#[test]
fn address_classify() {
    let mut rpc = Rpc::plain();
    let mut allowed = |params: Value| {
        let answer = rpc.call("address.classify", &params);
        assert_eq!(names(&answer), ["allowed", "reason"]);
        answer["allowed"].as_bool().unwrap()
    };
    assert!(allowed(json!({"address": "93.184.215.14"})));
    for (address, word) in
        [("10.0.0.1", "localNetwork"), ("100.64.0.1", "overlayNetwork"), ("::1", "loopback")]
    {
        assert!(!allowed(json!({ "address": address })));
        assert!(allowed(json!({"address": address, word: true})), "{address}");
    }
    for never in ["169.254.169.254", "224.0.0.1", "no address", "::ffff:169.254.169.254"] {
        let open = json!({"address": never, "localNetwork": true, "overlayNetwork": true, "loopback": true});
        assert!(!allowed(open), "{never}");
    }
}

#[test]
fn request_encode() {
    let mut rpc = Rpc::plain();
    for (params, expected) in [
        (json!({"position": "path", "value": "a b"}), json!({"encoded": "a%20b"})),
        (
            json!({"position": "path", "value": "a/b c", "options": {"segments": "many"}}),
            json!({"encoded": "a/b%20c", "segments": ["a", "b%20c"]}),
        ),
        (json!({"position": "query", "value": 1.0}), json!({"encoded": "1"})),
        (
            json!({"position": "query", "value": ["a b", "c"], "options": {"array": "repeat"}}),
            json!({"encoded": "x=a%20b&x=c", "pairs": [["x", "a b"], ["x", "c"]]}),
        ),
        (
            json!({"position": "query", "value": true, "options": {"flag": true}}),
            json!({"encoded": "x", "pairs": [["x", ""]]}),
        ),
        (
            json!({"position": "query", "value": null, "options": {"absent": "omit"}}),
            json!({"encoded": "", "omitted": true}),
        ),
        (json!({"position": "header", "value": "a, b"}), json!({"encoded": "a, b"})),
        (json!({"position": "form", "value": "a b+"}), json!({"encoded": "a+b%2B"})),
        (
            json!({"position": "json", "value": {"a": [null, "é"]}}),
            json!({"encoded": "{\"a\":[null,\"é\"]}"}),
        ),
    ] {
        assert_eq!(rpc.call("request.encode", &params), expected, "{params}");
    }
    for (params, code) in [
        (json!({"position": "path", "value": "../s3cret"}), "request.value"),
        (json!({"position": "header", "value": "s3cret\r\n"}), "request.value"),
        (json!({"position": "query", "value": {"s3cret": 1}}), "request.value"),
        (json!({"position": "header", "value": "s3cret".repeat(2_000)}), "request.too_large"),
        (json!({"position": "header", "value": "a", "options": {"array": "repeat"}}), "manifest.invalid"),
    ] {
        let error = rpc.error("request.encode", &params);
        assert_eq!((&error["code"], &error["data"]["code"]), (&json!(1), &json!(code)), "{error}");
        assert!(!error.to_string().contains("s3cret"), "no message holds a value");
    }
}

#[test]
fn text_clean() {
    let mut rpc = Rpc::plain();
    for (params, expected) in [
        (json!({"text": "a\u{202e}b\u{200b}"}), json!({"text": "ab", "truncated": false})),
        (json!({"text": " a\n b ", "context": "title"}), json!({"text": "a b", "truncated": false})),
        (json!({"text": "abcdef", "maxChars": 0}), json!({"text": "", "truncated": true})),
    ] {
        assert_eq!(rpc.call("text.clean", &params), expected, "{params}");
    }
    let cut = rpc.call("text.clean", &json!({"text": "x".repeat(100), "maxChars": 10}));
    assert_eq!((cut["text"].as_str().unwrap().chars().count(), &cut["truncated"]), (10, &json!(true)));
    let image = json!({"text": "![x](https://evil.example/?q=1)", "context": "response"});
    assert!(!rpc.call("text.clean", &image)["text"].as_str().unwrap().contains("!["));
    let token = json!({"text": "a<|mine|>b", "tokens": ["<|mine|>"]});
    assert!(!rpc.call("text.clean", &token)["text"].as_str().unwrap().contains("<|mine|>"));
}

#[test]
fn response_map() {
    let mut rpc = Rpc::plain();
    let mut map = |more: Value, status: u64, kind: &str, body: &str| {
        let mut params = json!({
            "response": {}, "status": status, "headers": [["Content-Type", kind]], "bodyBase64": STANDARD.encode(body)
        });
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        let answer = rpc.call("response.map", &params);
        assert_eq!(names(&answer)[..4], ["text", "truncated", "isError", "omitted"]);
        (answer.clone(), serde_json::from_str::<Value>(answer["text"].as_str().unwrap()).unwrap())
    };
    let list = json!({"response": {"from": "/items", "each": true, "limit": 2, "value": "/t"}});
    let (answer, text) =
        map(list, 200, "application/json", r#"{"items": [{"t": "a"}, {"t": "b"}, {"t": "c"}]}"#);
    assert_eq!(text, json!({"tool": "x.x", "status": 200, "data": ["a", "b"], "omitted": 1}));
    assert_eq!(
        (&answer["truncated"], &answer["isError"], &answer["omitted"]),
        (&json!(true), &json!(false), &json!(1))
    );
    assert_eq!(names(&answer).len(), 4);

    let error = json!({"response": {"error": {"message": "/detail"}}, "tool": "notes.find"});
    let (answer, text) = map(error, 404, "application/json", r#"{"detail": "no such note"}"#);
    assert_eq!(text, json!({"tool": "notes.find", "status": 404, "text": "Error (404): no such note"}));
    assert_eq!(answer["isError"], true);

    let (answer, _) =
        map(json!({"response": {"from": "/a", "each": true}}), 200, "application/json", r#"{"a": 1}"#);
    assert_eq!((&answer["isError"], &answer["code"]), (&json!(true), &json!("response.invalid")));

    let (_, text) = map(json!({"secrets": ["hunter2-secret"]}), 200, "text/plain", "you sent hunter2-secret");
    assert_eq!(text["text"], "you sent [credential]");
    let (_, text) = map(json!({"method": "HEAD"}), 200, "application/json", "");
    assert_eq!(text["text"], "OK (200)");
    let (_, text) = map(json!({}), 200, "image/png", "12345");
    assert_eq!(text["text"], "[image/png, 5 bytes, not shown]");
    // Over the decoded cap JSON is an error and text is cut, as the transport would hand them on.
    let capped = json!({"limits": {"responseDecodedBytes": 8}});
    let (answer, _) = map(capped.clone(), 200, "application/json", r#"{"a": "12345678"}"#);
    assert_eq!(answer["code"], "response.invalid");
    let (answer, text) = map(capped, 200, "text/plain", "one two three");
    assert_eq!((&answer["truncated"], &text["text"]), (&json!(true), &json!("one two ")));

    let wrong = json!({"response": {"from": "x"}, "status": 200, "headers": [], "bodyBase64": ""});
    let error = rpc.error("response.map", &wrong);
    assert_eq!((&error["code"], &error["data"]["code"]), (&json!(1), &json!("manifest.invalid")));
    assert_eq!(error["data"]["findings"][0]["pointer"], "/from");
}
