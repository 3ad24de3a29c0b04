//! Where values go, kind by kind.

use connector_core::json::Object;
use connector_core::request::{ACCEPT, CredentialUse, Given, USER_AGENT};
use connector_core::{Code, TrustLimits};
use serde_json::{Value, json};

use crate::kit::{KEY, bind, body, build, header, manifest, object, preview, target};

/// A manifest of one tool with this request; its properties are taken for what they are.
fn tool(effect: &str, properties: &Value, request: &Value) -> Value {
    json!({
        "manifestVersion": 1, "id": "t", "version": "1", "title": "T", "description": "D",
        "origins": { "api": "https://api.example.com" },
        "tools": [{ "name": "call", "description": "D", "effect": effect, "request": request,
            "parameters": { "type": "object", "properties": properties } }]
    })
}

fn get(properties: &Value, query: &Value) -> Value {
    tool("read", properties, &json!({ "method": "GET", "origin": "api", "path": ["v1"], "query": query }))
}

fn post(properties: &Value, body: &Value) -> Value {
    tool("write", properties, &json!({ "method": "POST", "origin": "api", "path": ["v1"], "body": body }))
}

fn call(of: &Value, arguments: &Value) -> connector_core::request::Rendered {
    preview(&build(&manifest(of), &Object::new(), &object(arguments)).unwrap())
}

#[test]
fn queries_keep_their_order_and_omit_what_is_absent() {
    let of = get(
        &json!({ "a": { "type": ["string", "null"] }, "list": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                 "flag": { "type": "boolean" }, "n": { "type": "number" } }),
        &json!({ "z z": 1, "a": { "$param": "a", "absent": "omit" }, "bare": null,
                 "l": { "$param": "list", "array": "brackets", "absent": "omit" },
                 "f": { "$param": "flag", "flag": true, "absent": "omit" },
                 "n": { "$param": "n", "absent": "omit" }, "$$top": true }),
    );
    let sent = |arguments| target(&call(&of, &arguments)).to_owned();
    assert_eq!(sent(json!({})), "/v1?z%20z=1&bare&%24top=true");
    assert_eq!(
        sent(json!({ "n": 1e2, "flag": true, "list": ["x", "y&z"], "a": "" })),
        "/v1?z%20z=1&a=&bare&l%5B%5D=x&l%5B%5D=y%26z&f&n=100&%24top=true"
    );
    assert_eq!(sent(json!({ "a": null, "flag": false, "n": 0 })), "/v1?z%20z=1&bare&n=0&%24top=true");
}

#[test]
fn a_json_body_keeps_its_order_and_drops_what_is_left_out() {
    let of = post(
        &json!({ "a": { "type": ["string", "null"] }, "b": { "type": ["string", "null"] }, "c": {} }),
        &json!({ "json": { "z": 1.0, "a": { "$param": "a", "absent": "omit" }, "b": { "$param": "b", "absent": "omit", "null": "omit" },
            "list": [{ "$param": "c", "absent": "omit" }, 2, { "$param": "c", "absent": "omit" }],
            "inner": { "c": { "$param": "c", "absent": "omit" } }, "$$ref": "x" } }),
    );
    let sent = |arguments| body(&call(&of, &arguments)).map(str::to_owned);
    assert_eq!(sent(json!({})).as_deref(), Some(r#"{"z":1,"list":[2],"inner":{},"$ref":"x"}"#));
    assert_eq!(
        sent(json!({ "c": { "k": [0, false, ""] }, "b": null, "a": null })).as_deref(),
        Some(
            r#"{"z":1,"a":null,"list":[{"k":[0,false,""]},2,{"k":[0,false,""]}],"inner":{"c":{"k":[0,false,""]}},"$ref":"x"}"#
        )
    );
}

#[test]
fn an_omitted_whole_body_sends_neither_body_nor_content_type() {
    let properties = json!({ "doc": { "type": "string" } });
    for body_of in [
        json!({ "json": { "$param": "doc", "absent": "omit" } }),
        json!({ "text": { "$param": "doc", "absent": "omit" } }),
    ] {
        let mut of = post(&properties, &body_of);
        let rendered = call(&of, &json!({}));
        assert_eq!((body(&rendered), header(&rendered, "Content-Type")), (None, None));
        assert_eq!(header(&rendered, "Content-Length"), Some("0"));
        assert!(body(&call(&of, &json!({ "doc": "" }))).is_some());
        let literal = if body_of.get("json").is_some() { "application/ld+json" } else { "text/markdown" };
        of["tools"][0]["request"]["headers"] = json!({ "content-type": literal });
        assert_eq!(header(&call(&of, &json!({})), "Content-Type"), None);
        assert_eq!(header(&call(&of, &json!({ "doc": "x" })), "Content-Type"), Some(literal));
    }
}

#[test]
fn forms_are_written_as_browsers_write_them() {
    let of = post(
        &json!({ "a": { "type": "string" }, "l": { "type": "array", "items": { "type": "integer" }, "minItems": 1 } }),
        &json!({ "form": { "a[b]": { "$param": "a", "absent": "omit" }, "l": { "$param": "l", "array": "comma", "absent": "omit" }, "n": 1.50 } }),
    );
    let rendered = call(&of, &json!({ "a": "ä b*~", "l": [1, 2] }));
    assert_eq!(body(&rendered), Some("a%5Bb%5D=%C3%A4+b*%7E&l=1%2C2&n=1.5"));
    assert_eq!(header(&rendered, "Content-Type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(body(&call(&of, &json!({}))), Some("n=1.5"));
}

#[test]
fn core_defaults_fill_absent_headers_and_the_transport_s_are_marked() {
    let mut of = post(&json!({ "a": {} }), &json!({ "json": { "$param": "a", "absent": "omit" } }));
    let shown = |of: &Value| -> Vec<(String, String, bool)> {
        let headers = call(of, &json!({ "a": 1 })).headers.into_iter();
        headers.map(|header| (header.name.to_string(), header.value.into_owned(), header.fixed)).collect()
    };
    let row = |name: &str, value: &str, fixed| (name.to_owned(), value.to_owned(), fixed);
    let head = row("Host", "api.example.com", true);
    let tail = [row("Accept-Encoding", "gzip, deflate", true), row("Content-Length", "1", true)];
    let defaults = [
        row("User-Agent", USER_AGENT, false),
        row("Accept", ACCEPT, false),
        row("Content-Type", "application/json", false),
    ];
    let all: Vec<_> = [head.clone()].into_iter().chain(defaults).chain(tail.clone()).collect();
    assert_eq!(shown(&of), all);
    of["tools"][0]["request"]["headers"] =
        json!({ "ACCEPT": "text/plain", "x-a": "b", "content-type": "application/vnd.a+json" });
    of["tools"][0]["request"]["idempotency"] = json!({ "header": "Idempotency-Key" });
    let own = [
        row("Accept", "text/plain", false),
        row("X-A", "b", false),
        row("Content-Type", "application/vnd.a+json", false),
        row("Idempotency-Key", KEY, false),
        row("User-Agent", USER_AGENT, false),
    ];
    assert_eq!(shown(&of), [head].into_iter().chain(own).chain(tail).collect::<Vec<_>>());
}

#[test]
fn the_literal_prefix_ends_at_the_first_slot() {
    let id = json!({ "$param": "id" });
    for (path, prefix) in [
        (json!(["api", "v1", id, "x"]), "/api/v1/"),
        (json!(["api", ["n-", id, ".json"]]), "/api/n-"),
        (json!(["api", [id, ".json"], "x"]), "/api/"),
        (json!([id]), "/"),
    ] {
        let of = tool(
            "read",
            &json!({ "id": { "type": "string" } }),
            &json!({ "method": "GET", "origin": "api", "path": path }),
        );
        let mut of = of;
        of["tools"][0]["parameters"]["required"] = json!(["id"]);
        let built = build(&manifest(&of), &Object::new(), &object(&json!({ "id": "7" }))).unwrap();
        assert_eq!(built.literal_prefix(), prefix);
        assert!(built.url().path().starts_with(prefix));
    }
    for (path, prefix, sent) in
        [(json!([]), "/", "/"), (json!([""]), "/", "/"), (json!(["a", ""]), "/a/", "/a/")]
    {
        let of = tool("read", &json!({}), &json!({ "method": "GET", "origin": "api", "path": path }));
        let built = build(&manifest(&of), &Object::new(), &Object::new()).unwrap();
        assert_eq!((built.literal_prefix(), built.url().path()), (prefix, sent));
    }
}

#[test]
fn a_base_path_stands_before_every_path() {
    let mut of = tool("read", &json!({}), &json!({ "method": "GET", "origin": "api", "path": ["x"] }));
    of["origins"]["api"] = json!({ "userProvided": { "title": "T", "basePath": true } });
    for (path, sent) in [(json!(["x"]), "/a/b/x"), (json!([]), "/a/b"), (json!([""]), "/a/b/")] {
        of["tools"][0]["request"]["path"] = path;
        let manifest = manifest(&of);
        let origin =
            bind(&manifest, "api", Some("https://me.example/a/b"), connector_core::origin::Reach::PUBLIC);
        let limits = TrustLimits::default();
        let settings = manifest.bind_settings(&Object::new(), &limits).unwrap();
        let built =
            manifest.tools()[0].request().build(&origin, &settings, &Object::new(), None, &limits).unwrap();
        assert_eq!(
            (built.url().as_str(), built.literal_prefix()),
            (format!("https://me.example{sent}").as_str(), sent)
        );
    }
}

#[test]
fn refusals_name_the_argument_and_never_its_value() {
    let mut of = tool(
        "read",
        &json!({ "id": { "type": "string" } }),
        &json!({ "method": "GET", "origin": "api", "path": ["v1", { "$param": "id" }], "query": { "q": { "$param": "id" } },
                 "headers": { "X-Id": { "$param": "id" } } }),
    );
    of["tools"][0]["parameters"]["required"] = json!(["id"]);
    let manifest = manifest(&of);
    for (value, code) in [
        ("s3cret/..".to_owned(), Code::RequestValue),
        ("s3cret é".to_owned(), Code::RequestValue),
        ("s3cret".repeat(2_000), Code::RequestTooLarge),
        ("s3cret".repeat(900), Code::RequestTooLarge),
    ] {
        let refusal = build(&manifest, &Object::new(), &object(&json!({ "id": value }))).unwrap_err();
        assert_eq!(refusal.code, code, "{refusal}");
        assert!(refusal.advice.as_ref().unwrap().contains("`id`"), "{refusal:?}");
        assert!(!format!("{refusal:?}").contains("s3cret"));
    }
}

#[test]
fn a_value_in_many_slots_costs_no_more_than_the_limit() {
    let long = "x".repeat(200_000);
    let members: serde_json::Map<String, Value> =
        (0..5_000).map(|at| (format!("m{at}"), json!({ "$param": "t", "absent": "omit" }))).collect();
    for body in [json!({ "json": members }), json!({ "form": members })] {
        let of = manifest(&post(&json!({ "t": { "type": "string" } }), &body));
        let refusal = build(&of, &Object::new(), &object(&json!({ "t": long }))).unwrap_err();
        assert_eq!((refusal.code, refusal.reason.contains("body")), (Code::RequestTooLarge, true));
    }
    let of = manifest(&get(&json!({ "t": { "type": "string" } }), &json!(members)));
    assert_eq!(
        build(&of, &Object::new(), &object(&json!({ "t": long }))).unwrap_err().code,
        Code::RequestTooLarge
    );
}

/// A tool with one credential slot in a header, one in JSON or a form.
fn with_credential(header: &Value, body: &Value, optional: bool) -> Value {
    let mut of = post(&json!({}), body);
    of["credentials"] = json!({ "k": { "title": "K", "origin": "api", "optional": optional } });
    of["tools"][0]["request"]["headers"] = json!({ "Authorization": header });
    of
}

#[test]
fn secrets_go_where_their_slot_says() {
    let json_body = json!({ "json": { "a": { "$credential": "k" }, "b": [{ "$credential": "k" }, 1] } });
    let form_body = json!({ "form": { "a": { "$credential": "k" }, "b": 1 } });
    for (header_slot, secret, sent) in [
        (json!({ "$credential": "k" }), "t:o+k/1=", "t:o+k/1="),
        (json!({ "$credential": "k", "scheme": "Bearer" }), "t:o+k/1=", "Bearer t:o+k/1="),
        (json!({ "$credential": "k", "scheme": "Basic" }), "me:pä\"ss", "Basic bWU6cMOkInNz"),
        (json!({ "$credential": "k", "scheme": "basic", "user": "api" }), "p4$$w", "basic YXBpOnA0JCR3"),
        (json!({ "$credential": "k", "scheme": "Basic", "password": "" }), "k-3-y", "Basic ay0zLXk6"),
    ] {
        for (body_of, is_json) in [(&json_body, true), (&form_body, false)] {
            let built = build(
                &manifest(&with_credential(&header_slot, body_of, false)),
                &Object::new(),
                &Object::new(),
            )
            .unwrap();
            let wire = built.render(|_| Given::Secret(secret)).unwrap();
            assert_eq!(header(&wire, "Authorization"), Some(sent));
            let secrets: Vec<_> = wire.headers.iter().filter(|header| header.secret).collect();
            let secrets: Vec<_> = secrets.iter().map(|header| header.name.as_str()).collect();
            assert_eq!((secrets, wire.secret_body), (vec!["Authorization", "Content-Length"], true));
            assert_eq!(
                header(&wire, "Content-Length"),
                Some(body(&wire).unwrap().len().to_string().as_str())
            );
            if is_json {
                let read: Value = serde_json::from_str(body(&wire).unwrap()).unwrap();
                assert_eq!(read, json!({ "a": secret, "b": [secret, 1] }));
            } else {
                let read: Vec<_> =
                    url::form_urlencoded::parse(wire.body.as_deref().unwrap()).into_owned().collect();
                assert_eq!(read, [("a".to_owned(), secret.to_owned()), ("b".into(), "1".into())]);
            }
            let shown = preview(&built);
            let scheme = sent.split_once(' ').map_or(String::new(), |(scheme, _)| format!("{scheme} "));
            assert_eq!(header(&shown, "Authorization"), Some(format!("{scheme}<credential k>").as_str()));
            assert!(body(&shown).unwrap().contains("<credential k>"));
            assert_eq!(header(&shown, "Content-Length"), Some("<length with credential>"));
            assert!(!format!("{wire:?}{:?}", wire.headers).contains(secret));
        }
    }
}

#[test]
fn secrets_that_cannot_stand_in_their_place_are_refused_unseen() {
    let bearer = json!({ "$credential": "k", "scheme": "Bearer" });
    let basic = json!({ "$credential": "k", "scheme": "Basic" });
    let user = json!({ "$credential": "k", "scheme": "Basic", "password": "" });
    for (slot, secret) in [
        (&bearer, String::new()),
        (&bearer, "s3cret\n".into()),
        (&bearer, "s3cret\u{85}".into()),
        (&bearer, " s3cret".into()),
        (&bearer, "s3crét".into()),
        (&bearer, "s3cret".repeat(2_000)),
        (&bearer, "s".repeat(8_190)),
        (&basic, "s3cret".into()),
        (&basic, "a:s3cret\0".into()),
        (&basic, "a:".to_owned() + &"s3cret".repeat(1_100)),
        (&user, "s3cret:x".into()),
    ] {
        let built = build(
            &manifest(&with_credential(slot, &json!({ "json": {} }), false)),
            &Object::new(),
            &Object::new(),
        )
        .unwrap();
        let refusal = built.render(|_| Given::Secret(&secret)).unwrap_err();
        assert_eq!(refusal.code, Code::CredentialInvalid);
        assert!(!format!("{refusal:?}").contains("s3cr"));
    }
    let slot = json!({ "json": { "$credential": "k" } });
    let of = with_credential(&json!({ "$credential": "k" }), &slot, false);
    let built = build(&manifest(&of), &Object::new(), &Object::new()).unwrap();
    assert_eq!(built.render(|_| Given::Secret("a\tb")).unwrap_err().code, Code::CredentialInvalid);
    assert_eq!(built.render(|_| Given::Nothing).unwrap_err().code, Code::CredentialMissing);
    assert_eq!(built.credentials().len(), 2);
}

#[test]
fn an_optional_credential_leaves_its_place_out() {
    let slot = json!({ "$credential": "k", "absent": "omit" });
    for (body_of, without) in [
        (json!({ "json": { "a": slot, "b": 1 } }), Some(r#"{"b":1}"#)),
        (json!({ "json": [slot] }), Some("[]")),
        (json!({ "json": { "a": slot } }), Some("{}")),
        (json!({ "json": slot }), None),
        (json!({ "form": { "a": slot, "b": 1 } }), Some("b=1")),
    ] {
        let of = with_credential(
            &json!({ "$credential": "k", "scheme": "Bearer", "absent": "omit" }),
            &body_of,
            true,
        );
        let built = build(&manifest(&of), &Object::new(), &Object::new()).unwrap();
        let anonymous = built.render(|_: &CredentialUse| Given::Nothing).unwrap();
        assert_eq!(body(&anonymous), without);
        assert_eq!(header(&anonymous, "Authorization"), None);
        assert_eq!(header(&anonymous, "Content-Type").is_some(), without.is_some());
    }
}
