//! Slots, literals, path, query, headers and body.

use serde_json::json;

use super::{Case, put};

pub(super) fn slots() -> Vec<Case> {
    let q = "/tools/0/request/query/q";
    vec![
        put("request.slot_ambiguous", q, json!({ "$param": "words", "$setting": "book" })),
        put("request.slot_option", q, json!({ "$param": "words", "slash": "encode" }))
            .at("/tools/0/request/query/q/slash"),
        put("request.slot_option", q, json!({ "$param": "words", "null": "omit" }))
            .at("/tools/0/request/query/q/null"),
        put("request.slot_option", q, json!({ "$param": "words", "default": "x" }))
            .at("/tools/0/request/query/q/default"),
        put("request.slot_option", "/tools/0/request/path/2/absent", json!("omit")),
        put("request.slot_option", "/tools/0/request/path/1/array", json!("comma")),
        put("request.slot_option", "/tools/0/request/path/3/1/slash", json!("encode")),
        put("request.slot_option", "/tools/0/request/path/3/1/segments", json!("many")),
        put("request.slot_option", "/tools/0/request/query/page/absent", json!("omit")),
        put("request.slot_option", "/tools/0/request/headers/X-Words/array", json!("comma")),
        put("request.slot_option", "/tools/0/request/headers/Authorization/null", json!("omit")),
        put("request.slot_option", "/tools/1/request/body/json/title/flag", json!(true)),
        put("request.slot_option", "/tools/1/request/body/json/key/scheme", json!("Bearer")),
        put("request.slot_option", "/tools/2/request/body/form/secret/scheme", json!("Bearer")),
        put("request.slot_option", "/tools/3/request/body/text/null", json!("omit")),
        put(
            "request.slot_options_clash",
            "/tools/0/request/path/2",
            json!({ "$param": "words", "slash": "encode", "segments": "many" }),
        ),
        put("request.slot_options_clash", "/tools/2/request/headers/Authorization/password", json!(""))
            .at("/tools/2/request/headers/Authorization"),
        put("request.reserved_member", "/tools/0/request/query/$expand", json!(1)),
        put("request.reserved_member", "/tools/1/request/body/json/$ref", json!(1)),
        put("request.reserved_member", "/tools/2/request/body/form/$x", json!(1)),
        put("request.reserved_member", "/tools/0/request/headers/$x", json!("1")),
        put("request.scheme", "/tools/0/request/headers/Authorization/scheme", json!("Bearer ")),
        put("request.scheme", "/tools/0/request/headers/Authorization/scheme", json!("")),
        put("request.basic", "/tools/0/request/headers/Authorization/user", json!("me")),
        put("request.basic", "/tools/2/request/headers/Authorization/user", json!("a:b")),
        put(
            "request.basic",
            "/tools/2/request/headers/Authorization",
            json!({ "$credential": "key", "scheme": "Basic", "password": "secret", "absent": "omit" }),
        )
        .at("/tools/2/request/headers/Authorization/password"),
        put("request.literal", q, json!({ "words": 1 })),
        put("request.literal", "/tools/0/request/query/size", json!([1, 2])),
        put("request.literal", "/tools/0/request/headers/Accept", json!(null)),
        put("request.literal", "/tools/2/request/body/form/a[b]", json!(null)),
        put("request.literal", "/tools/0/request/path/0", json!(1)),
        put("request.literal", "/tools/3/request/body/text", json!("always this"))
            .without("/tools/3/parameters"),
        put("request.number", "/tools/0/request/query/size", json!(9_007_199_254_740_992i64)),
        put("request.number", "/tools/1/request/body/json/fixed/0", json!(-9_007_199_254_740_992i64)),
        put("request.number", "/tools/2/request/body/form/a[b]", json!(1e22)),
        put("request.credential_in_path", "/tools/0/request/path/0", json!({ "$credential": "token" })),
        put("request.credential_in_path", "/tools/0/request/path/3/0", json!({ "$credential": "token" })),
        put("request.credential_in_query", "/tools/0/request/query/size", json!({ "$credential": "token" })),
        put("request.credential_in_origin", "/tools/0/request/origin", json!({ "$credential": "token" })),
        put("shape.unknown_member", "/origins/api", json!({ "$credential": "token" }))
            .at("/origins/api/$credential")
            .beside("shape.missing_member", "/origins/api")
            .beside("request.credential_in_origin", "/origins/api"),
        put("request.origin_slot", "/tools/0/request/origin", json!({ "$setting": "book" })),
        put("request.credential_in_text", "/tools/3/request/body/text", json!({ "$credential": "key" }))
            .without("/tools/3/parameters"),
    ]
}

pub(super) fn request() -> Vec<Case> {
    let header = |rule, name: &'static str| {
        let pointer: &'static str = format!("/tools/0/request/headers/{name}").leak();
        put(rule, pointer, json!("x"))
    };
    let query = |name: &'static str| {
        let pointer: &'static str = format!("/tools/0/request/query/{name}").leak();
        put("request.query_secret", pointer, json!({ "$param": "words" }))
    };
    let content_type = "/tools/1/request/headers/Content-Type";
    let mut cases = vec![
        put("request.path_item", "/tools/0/request/path/0", json!({ "literal": "v1" })),
        put("request.path_item", "/tools/0/request/path/0", json!([])),
        put("request.path_item", "/tools/0/request/path/3/0", json!(["n"])),
        put("request.path_literal", "/tools/0/request/path/0", json!("v1/x")),
        put("request.path_literal", "/tools/0/request/path/0", json!("a%20b")),
        put("request.path_literal", "/tools/0/request/path/0", json!("a b")),
        put("request.path_literal", "/tools/0/request/path/0", json!("a\\b")),
        put("request.path_literal", "/tools/0/request/path/0", json!("a?b")),
        put("request.path_literal", "/tools/0/request/path/0", json!("ä")),
        put("request.path_literal", "/tools/0/request/path/3/2", json!("{id}")),
        put("request.path_dots", "/tools/0/request/path/0", json!(".")),
        put("request.path_dots", "/tools/0/request/path/0", json!("..")),
        put("request.path_dots", "/tools/0/request/path/3/2", json!("..")),
        put("request.path_empty", "/tools/0/request/path/0", json!("")),
        put("request.path_empty", "/tools/0/request/path/3/0", json!("")),
        put("request.query_name", "/tools/0/request/query/", json!(1)),
        query("api_key"),
        query("X-API-Key"),
        query("accessToken"),
        query("auth_token"),
        query("Authorization"),
        query("client_secret"),
        query("PASSWORD"),
        header("request.header_name", "X Y"),
        header("request.header_name", "X:"),
        header("request.header_name", "Ä"),
        header("request.header_name", ""),
        put("request.header_doubled", "/tools/0/request/headers/accept", json!("x")),
        put("request.header_doubled", "/tools/1/request/idempotency/header", "x-key").with("/tools/1/request/headers/X-Key", "1"),
        put("request.header_doubled", "/tools/4/request", json!({ "method": "HEAD", "origin": "api", "path": [], "idempotency": { "header": "x-key" },
            "headers": { "X-Key": "1" } })).at("/tools/4/request/headers/X-Key"),
        put("request.header_literal_only", "/tools/0/request/headers/User-Agent", json!({ "$param": "words" })),
        put("request.header_literal_only", "/tools/0/request/headers/Accept", json!({ "$setting": "book" })),
        put("request.header_literal_only", "/tools/1/request/headers/Content-Type", json!({ "$setting": "book" })),
        put("request.header_literal_only", "/tools/1/request/idempotency/header", json!("User-Agent")),
        header("request.header_secret", "X-Auth-Token"),
        header("request.header_secret", "api-key"),
        header("request.header_secret", "X-API-KEY"),
        put("request.header_secret", "/tools/0/request/headers/Authorization", json!({ "$param": "words" }))
            .beside("manifest.unused_credential", "/credentials/token"),
        put("request.header_secret", "/tools/1/request/idempotency/header", json!("X-Request-Token")),
        put("request.header_value", "/tools/0/request/headers/Accept", json!("a\r\nb: c")),
        put("request.header_value", "/tools/0/request/headers/Accept", json!(" a")),
        put("request.header_value", "/tools/0/request/headers/Accept", json!("ä")),
        put("request.over_bound", "/tools/0/request/path/0", "x".repeat(8_200)).at("/tools/0/request/path"),
        put("request.over_bound", "/tools/0/request/query/size", "x".repeat(8_200)).at("/tools/0/request/query"),
        put("request.over_bound", "/tools/0/request/query/size", "\u{e9}".repeat(1_400)).at("/tools/0/request/query"),
        put("request.over_bound", "/tools/0/request/headers/Authorization/scheme", "B".repeat(8_191))
            .at("/tools/0/request/headers"),
        put("request.over_bound", "/tools/0/request/headers/X-1", "x".repeat(8_000))
            .with("/tools/0/request/headers/X-2", "x".repeat(8_000))
            .with("/tools/0/request/headers/X-3", "x".repeat(8_000))
            .with("/tools/0/request/headers/X-4", "x".repeat(8_000))
            .with("/tools/0/request/headers/X-5", "x".repeat(8_000))
            .with("/tools/0/request/headers/X-6", "x".repeat(8_000))
            .with("/tools/0/request/headers/X-7", "x".repeat(8_000))
            .with("/tools/0/request/headers/X-8", "x".repeat(8_000))
            .with("/tools/0/request/headers/X-9", "x".repeat(8_000))
            .at("/tools/0/request/headers"),
        put("request.over_bound", "/tools/1/request/body", json!({ "form": { "a": "\u{e9}".repeat(200_000) } }))
            .at("/tools/1/request/body")
            .with("/tools/1/request/headers", json!({}))
            .with("/tools/1/parameters", json!({ "type": "object", "properties": {} })),
        put("request.header_value", "/tools/0/request/headers/Accept", json!("a".repeat(8_193))),
        put("request.content_type", content_type, json!("text/plain")),
        put("request.content_type", content_type, json!("application/json; charset=latin1")),
        put("request.content_type", content_type, json!("application/x-www-form-urlencoded")),
        put("request.content_type", "/tools/2/request/headers/content-type", json!("application/json")),
        put("request.content_type", "/tools/3/request/headers/Content-Type", json!("application/json")),
        put("request.content_type", "/tools/0/request/headers/Content-Type", json!("application/json")),
        put("request.body_kind", "/tools/2/request/body", json!({ "json": { "$param": "id" }, "form": { "reason": { "$param": "reason", "absent": "omit" } } }))
            .without("/tools/2/parameters/properties/reason"),
        put("request.body_method", "/tools/4/request/body", json!({ "json": {} })),
        put("request.form_name", "/tools/2/request/body/form/", json!(1)),
    ];
    let refused = [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "Connection",
        "Upgrade",
        "Expect",
        "TE",
        "Trailer",
        "Keep-Alive",
        "Accept-Encoding",
        "Range",
        "Cookie",
        "Origin",
        "Referer",
        "Forwarded",
        "Via",
        "Proxy-Authorization",
        "Sec-Fetch-Site",
        "X-Forwarded-For",
        "X-Real-IP",
        "X-HTTP-Method",
        "X-HTTP-Method-Override",
        "Metadata",
        "Metadata-Flavor",
        "X-aws-ec2-metadata-token",
    ];
    cases.extend(refused.map(|name| header("request.header_refused", name)));
    cases.push(put("request.header_refused", "/tools/1/request/idempotency/header", json!("Cookie")));
    cases
}
