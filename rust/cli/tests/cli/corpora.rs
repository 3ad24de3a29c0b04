//! A few cases of every shared corpus through the seam: the shapes of the answers stay right, and nothing that a
//! corpus forbids comes through. The corpora themselves are decided in `rust/core/tests`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_testkit::cases;
use serde_json::{Value, json};

use crate::rpc::Rpc;
use crate::support::{file, run};

/// Every `nth` case of a file, or none where the corpora are absent.
fn some(area: &str, file: &str, nth: usize) -> Vec<Value> {
    let document = cases::load(area, file);
    let cases =
        document.as_ref().and_then(|document| document["cases"].as_array()).cloned().unwrap_or_default();
    cases.into_iter().step_by(nth).collect()
}

/// The result, or the stable code of the refusal; nothing else is an answer to a case.
fn ask(rpc: &mut Rpc, method: &str, params: &Value) -> Result<Value, String> {
    let id = rpc.send(method, params);
    let answer = rpc.answer(id);
    if let Some(result) = answer.get("result") {
        return Ok(result.clone());
    }
    let error = &answer["error"];
    assert_eq!(error["code"], 1, "{method} {params}: {answer}");
    assert_eq!(error["message"], error["data"]["reason"]);
    Err(error["data"]["code"].as_str().unwrap().to_owned())
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} of {value}"))
}

#[test]
fn json_and_canonical_json() {
    let mut rpc = Rpc::plain();
    let (mut taken, mut refused) = (0, 0);
    for case in some("json", "parsing.json", 1).iter().chain(&some("json", "transform.json", 1)) {
        let base64 = match case.get("repeat") {
            Some(repeat) => {
                let times = usize::try_from(repeat["times"].as_u64().unwrap()).unwrap();
                let then = STANDARD.decode(repeat["then_b64"].as_str().unwrap_or_default()).unwrap();
                STANDARD.encode([text(repeat, "utf8").repeat(times).into_bytes(), then].concat())
            }
            None => text(case, "b64").to_owned(),
        };
        match ask(&mut rpc, "canonical.hash", &json!({ "base64": base64 })) {
            Ok(answer) => {
                assert_ne!(case["expect"], "reject", "{case}");
                let again = ask(&mut rpc, "canonical.hash", &json!({"text": answer["canonical"]})).unwrap();
                assert_eq!(again, answer, "canonical JSON is its own canonical form");
                taken += 1;
            }
            Err(code) => {
                assert_eq!(code, "json.invalid", "{case}");
                refused += 1;
            }
        }
    }
    for case in some("jcs", "documents.json", 1) {
        let answer = ask(&mut rpc, "canonical.hash", &json!({"text": case["input_utf8"]})).unwrap();
        assert_eq!(answer["canonical"], case["output_utf8"]);
        assert_eq!(answer["sha256"], case["output_sha256"]);
    }
    for case in some("jcs", "es6-numbers.json", 50) {
        // The text of a double by RFC 8785 is canonical already.
        let answer = ask(&mut rpc, "canonical.hash", &json!({"text": case["s"]}));
        assert_eq!(answer.unwrap()["canonical"], case["s"]);
    }
    for case in some("jcs", "rfc8785-appendix-b.json", 1).iter().filter(|case| case["s"].is_string()) {
        assert_eq!(
            ask(&mut rpc, "canonical.hash", &json!({"text": case["s"]})).unwrap()["canonical"],
            case["s"]
        );
    }
    println!("json and jcs over the seam: {taken} documents taken, {refused} refused by name");
}

#[test]
fn manifests() {
    let mut rpc = Rpc::plain();
    let mut count = 0;
    // No document of these corpora is a manifest: each is a report, never an error.
    for case in some("json", "parsing.json", 7).iter().filter(|case| case["b64"].is_string()) {
        let report = ask(&mut rpc, "manifest.check", &json!({"base64": case["b64"]})).unwrap();
        assert_eq!(report["ok"], false);
        let finding = &report["findings"][0];
        assert!(
            finding["line"].as_u64() >= Some(1) && finding["column"].as_u64() >= Some(1),
            "{case}: {report}"
        );
        count += 1;
    }
    println!("json over manifest.check: {count} reports");
}

#[test]
fn reports_for_people() {
    let mut count = 0;
    let path = file("case.json", "");
    for case in some("json", "parsing.json", 3).iter().filter(|case| case["b64"].is_string()) {
        std::fs::write(&path, STANDARD.decode(text(case, "b64")).unwrap()).unwrap();
        let said = run(&["check", &path]);
        assert_eq!((said.status, said.err.as_str()), (1, ""), "{case}");
        assert!(said.out.contains(" -->") && said.out.contains("refused: "), "{case}: {}", said.out);
        assert!(!said.out.contains(|c: char| c.is_control() && c != '\n'), "{case}: {:?}", said.out);
        count += 1;
    }
    println!("json over `connector check`: {count} reports");
}

#[test]
fn schemas() {
    let mut rpc = Rpc::plain();
    let (mut right, mut refused) = (0, 0);
    for (file, dialect) in [
        ("draft2020-12.json", "2020-12"),
        ("draft2020-12-optional.json", "2020-12"),
        ("draft2020-12-optional-format.json", "2020-12"),
        ("draft7.json", "draft-07"),
        ("draft7-optional.json", "draft-07"),
        ("draft7-optional-format.json", "draft-07"),
    ] {
        let formats = if file.contains("format") { "assert" } else { "annotate" };
        for group in some("jsonschema", file, 9) {
            let schema =
                json!({"schema": group["schema"], "world": "open", "dialect": dialect, "formats": formats});
            let report = ask(&mut rpc, "schema.compile", &schema).unwrap();
            if report["ok"] == false {
                assert!(report["findings"][0]["rule"].as_str().unwrap().contains('.'), "{report}");
                let mut params = schema.clone();
                params["value"] = json!(1);
                assert_eq!(ask(&mut rpc, "schema.accepts", &params).unwrap_err(), "schema.invalid");
                refused += 1;
                continue;
            }
            for test in group["tests"].as_array().unwrap() {
                let mut params = schema.clone();
                params["value"] = test["data"].clone();
                let answer = ask(&mut rpc, "schema.accepts", &params).unwrap();
                let violations = answer["violations"].as_array().unwrap();
                assert_eq!(answer["accepted"], violations.is_empty(), "{answer}");
                // Digits beyond a double are lost before the seam; the optional files argue about formats.
                if !file.contains("optional") {
                    assert_eq!(answer["accepted"], test["valid"], "{group} {test}");
                    right += 1;
                }
            }
        }
    }
    println!("jsonschema over the seam: {right} tests right, 0 wrong, {refused} groups refused by name");
}

#[test]
fn schemas_of_real_tools_and_hostile_ones() {
    let mut rpc = Rpc::plain();
    let (mut loads, mut refused) = (0, 0);
    let mut compile = |schema: &Value| {
        let report = ask(&mut rpc, "schema.compile", &json!({ "schema": schema })).unwrap();
        let is_ok = report["ok"].as_bool().unwrap();
        let errors =
            report["findings"].as_array().unwrap().iter().filter(|finding| finding["severity"] == "error");
        assert_eq!(is_ok, errors.count() == 0, "{report}");
        if is_ok { loads += 1 } else { refused += 1 }
    };
    for file in [
        "chrome-devtools-mcp.json",
        "github-mcp-server.json",
        "notionhq-notion-mcp-server.json",
        "mcp-server-slack.json",
    ] {
        for tool in some("mcp-tools", file, 5) {
            compile(&tool["inputSchema"]);
        }
    }
    for file in
        ["real-tool-evolution.json", "openapi-diff-pairs.json", "tool-merge.json", "ibm-jsonsubschema.json"]
    {
        for case in some("subtyping", file, 25) {
            compile(&case["prior"]);
            compile(&case["new"]);
        }
    }
    for case in some("grammar", "hostile-schemas.json", 1) {
        compile(&case["schema"]);
    }
    println!("schemas of tools over the seam: {loads} load, {refused} are refused by name");
    let mut decided = 0;
    for case in some("subtyping", "sentry-json-schema-diff.json", 4)
        .iter()
        .filter(|case| case.get("witness").is_some())
    {
        let mut accepts = |schema: &Value| {
            let params =
                json!({"schema": schema, "value": case["witness"], "world": "open", "dialect": "draft-07"});
            ask(&mut rpc, "schema.accepts", &params).map(|answer| answer["accepted"].as_bool().unwrap())
        };
        if let (Ok(prior), Ok(new)) = (accepts(&case["prior"]), accepts(&case["new"])) {
            assert_eq!((prior, new), (false, true), "{case}");
            decided += 1;
        }
    }
    println!("subtyping witnesses over the seam: {decided} right, 0 wrong");
}

#[test]
fn origins() {
    let mut rpc = Rpc::plain();
    let (mut taken, mut refused) = (0, 0);
    let mut parse = |origin: &str| match ask(&mut rpc, "origin.parse", &json!({ "origin": origin })) {
        Ok(answer) => {
            assert_eq!(answer, json!({ "origin": origin }), "an origin is its own serialisation");
            taken += 1;
            true
        }
        Err(code) => {
            assert_eq!(code, "origin.invalid");
            refused += 1;
            false
        }
    };
    for case in some("ssrf", "url-payloads.json", 1).iter().filter(|case| case["expect"] == "refuse") {
        assert!(!parse(text(case, "url")), "{case}");
    }
    for case in some("url", "url-parse.json", 3) {
        let taken = parse(text(&case, "input"));
        assert!(!taken || case["origin"] == case["input"], "{case}");
    }
    for case in some("url", "toascii.json", 1).iter().chain(&some("url", "idna-v2.json", 50)) {
        let taken = parse(&format!("https://{}", text(case, "input")));
        assert!(!taken || case["output"] == case["input"], "{case}");
    }
    for case in some("url", "url-setters.json", 5) {
        parse(text(&case, "href"));
    }
    println!("origins over the seam: {taken} taken, {refused} refused");
}

#[test]
fn addresses() {
    let mut rpc = Rpc::plain();
    let (mut right, mut argued) = (0, 0);
    let cases =
        [some("ssrf", "ip-classification.json", 1), some("ssrf", "ip-upstream-tests.json", 1)].concat();
    for case in &cases {
        let answer = ask(&mut rpc, "address.classify", &json!({"address": case["ip"]})).unwrap();
        assert!(!answer["reason"].as_str().unwrap().is_empty(), "{case}");
        let deny = case.get("iana_rule_deny").unwrap_or(&case["deny"]);
        let agrees = answer["allowed"].as_bool().map(|allowed| !allowed) == deny.as_bool();
        if agrees { right += 1 } else { argued += 1 }
    }
    for case in some("ssrf", "iana-special-purpose.json", 1) {
        let address = text(&case, "prefix").split('/').next().unwrap();
        let answer = ask(&mut rpc, "address.classify", &json!({ "address": address })).unwrap();
        assert!(answer["allowed"].is_boolean() && answer["reason"].is_string());
    }
    println!("addresses over the seam: {right} right, {argued} argued in the tests of the core");
    assert!(argued * 20 <= right, "{argued} of {right}");
}

#[test]
fn values_in_requests() {
    let mut rpc = Rpc::plain();
    let (mut sent, mut refused) = (0, 0);
    let mut encode = |position: &str, value: &str| {
        let answer = ask(&mut rpc, "request.encode", &json!({"position": position, "value": value}));
        match &answer {
            Ok(answer) => {
                assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
                sent += 1;
            }
            Err(code) => {
                assert!(["request.value", "request.too_large"].contains(&code.as_str()), "{code}");
                refused += 1;
            }
        }
        answer.ok().map(|answer| text(&answer, "encoded").to_owned())
    };
    for case in some("slots", "encoding.json", 1) {
        let value = text(&case, "value");
        let path = encode("path", value);
        assert!(path.is_none() || path.as_deref() == case["path"]["encoded"].as_str(), "{case}: {path:?}");
        assert_eq!(encode("query", value).as_deref(), case["query"]["encoded"].as_str(), "{case}");
        let json: Value = serde_json::from_str(&encode("json", value).unwrap()).unwrap();
        assert_eq!(json, value);
        let header = encode("header", value);
        match case["header"]["expect"].as_str() {
            Some("reject") => assert_eq!(header, None, "{case}"),
            Some("accept") => assert_eq!(header.as_deref(), Some(value), "{case}"),
            _ => {}
        }
        assert!(encode("form", value).is_some(), "{case}");
    }
    for case in some("http", "header-values.json", 10) {
        let header = encode("header", text(&case, "value"));
        assert!(case["expect"] != "reject" || header.is_none(), "{case}");
    }
    for case in some("ssrf", "open-redirect-values.json", 5) {
        let path = encode("path", text(&case, "value"));
        assert!(path.is_none() || path.as_deref() == case["segment_encoded"].as_str(), "{case}");
    }
    for case in some("url", "percent-encoding.json", 1) {
        // Here everything outside unreserved is encoded, also what a browser leaves in a query.
        let expected = text(&case, "utf8_query").replace('\\', "%5C").replace('|', "%7C");
        assert_eq!(encode("query", text(&case, "input")), Some(expected), "{case}");
    }
    for case in some("text", "blns.json", 10) {
        for position in ["path", "query", "header", "json", "form"] {
            encode(position, text(&case, "s"));
        }
    }
    println!("values over the seam: {sent} encoded, {refused} refused by name");
}

#[test]
fn texts() {
    let mut rpc = Rpc::plain();
    let mut count = 0;
    let mut clean = |params: Value| {
        let answer = ask(&mut rpc, "text.clean", &params).unwrap();
        assert!(answer["truncated"].is_boolean());
        count += 1;
        text(&answer, "text").to_owned()
    };
    for case in some("text", "codepoints.json", 5).iter().filter(|case| case["expect"] == "strip") {
        let dirty = format!("a{}b", text(case, "char"));
        assert!(!clean(json!({"text": dirty, "context": "response"})).contains(text(case, "char")), "{case}");
    }
    let bidi = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    for case in some("text", "trojan-source.json", 5) {
        assert!(!clean(json!({"text": case["text"]})).contains(bidi), "{case}");
    }
    for case in some("text", "smuggling.json", 1).iter().chain(&some("text", "blns.json", 10)) {
        let dirty = case["text"].as_str().or(case["s"].as_str()).unwrap();
        let once = clean(json!({"text": dirty, "context": "response"}));
        assert_eq!(
            clean(json!({"text": once, "context": "response"})),
            once,
            "cleaning twice is cleaning once"
        );
    }
    for case in some("text", "truncation.json", 1) {
        let times = usize::try_from(case["times"].as_u64().unwrap()).unwrap();
        let cut = clean(json!({"text": text(&case, "unit").repeat(times), "maxChars": case["cap"]}));
        assert!(u64::try_from(cut.chars().count()).unwrap() <= case["cap"].as_u64().unwrap(), "{case}");
    }
    println!("texts over the seam: {count} cleaned");
}

#[test]
fn answers_of_servers() {
    let mut rpc = Rpc::plain();
    let mut count = 0;
    let mut map = |headers: Value, base64: &str| {
        let params = json!({"response": {}, "status": 200, "headers": headers, "bodyBase64": base64});
        let answer = ask(&mut rpc, "response.map", &params).unwrap();
        // Digits that came stay as they are, also those that no double holds.
        let shown = text(&answer, "text").replace("1e400", "1e100");
        let result: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!((&result["tool"], &result["status"]), (&json!("x.x"), &json!(200)));
        assert_ne!(result.get("data").is_some(), result.get("text").is_some(), "{answer}");
        assert_eq!(answer["truncated"], answer["omitted"].as_u64() > Some(0));
        count += 1;
        (answer, result)
    };
    for case in some("http", "bodies.json", 1) {
        let (answer, result) = map(json!([["Content-Type", case["content_type"]]]), text(&case, "b64"));
        if let (Some(expected), true) = (case["text"].as_str(), result.get("text").is_some()) {
            assert_eq!(result["text"], expected, "{case}");
        }
        if let Some(expected) = case["text_contains"].as_str() {
            assert!(text(&answer, "text").contains(expected), "{case}: {answer}");
        }
        if case["expect"] == "reject" {
            assert_eq!(
                (&answer["isError"], &answer["code"]),
                (&json!(true), &json!("response.invalid")),
                "{case}"
            );
        }
    }
    let hello = STANDARD.encode("hello");
    for case in some("http", "mime-types.json", 25) {
        map(json!([["content-type", case["input"]]]), &hello);
    }
    for case in some("http", "encoding-labels.json", 10) {
        map(json!([["content-type", format!("text/plain; charset={}", text(&case, "label"))]]), &hello);
    }
    for case in some("http", "content-types.json", 1) {
        let fields: Vec<Value> =
            case["values"].as_array().unwrap().iter().map(|value| json!(["content-type", value])).collect();
        map(json!(fields), &hello);
    }
    println!("answers over the seam: {count} mapped");
}
