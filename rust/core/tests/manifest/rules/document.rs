//! The document, its names and texts, and what it declares.

use serde_json::json;

use super::{Case, put, remove};

pub(super) fn document() -> Vec<Case> {
    vec![
        put("shape.type", "/id", json!(7)),
        put("shape.type", "/title", json!(null)),
        put("shape.type", "/tools", json!({})),
        put("shape.type", "/tools/4", json!("ping")),
        put("shape.type", "/settings", json!([])),
        remove("shape.missing_member", "", "/id"),
        remove("shape.missing_member", "", "/description"),
        remove("shape.missing_member", "/tools/4", "/tools/4/description"),
        remove("shape.missing_member", "/tools/4/request", "/tools/4/request/method"),
        remove("shape.missing_member", "/tools/1/request/idempotency", "/tools/1/request/idempotency/header"),
        put("shape.unknown_member", "/licence", json!("MIT")),
        put("shape.unknown_member", "/tools/0/parameter", json!({})),
        put("shape.unknown_member", "/tools/0/request/url", json!("x")),
        put("shape.unknown_member", "/tools/0/limits/timeout", json!(1)),
        put("shape.unknown_member", "/tools/1/request/body/xml", json!("x")),
        put("shape.unknown_member", "/credentials/token/scheme", json!("Bearer")),
        put("shape.word", "/tools/0/effect", json!("reads")),
        put("shape.word", "/tools/0/request/method", json!("OPTIONS")),
        put("shape.word", "/tools/0/request/method", json!("get")),
        put("shape.word", "/tools/0/request/query/label/array", json!("csv")),
        put("shape.word", "/tools/0/request/query/label/absent", json!("null")),
        put("shape.word", "/tools/0/request/path/2/slash", json!("keep")),
        put("shape.word", "/tools/0/limits/redirects", json!("all")),
        put("shape.word", "/settings/page/type", json!("number")),
        put("shape.range", "/tools/0/limits/retries", json!(4)),
        put("shape.range", "/tools/0/limits/timeoutMs", json!(0)),
        put("shape.range", "/tools/0/limits/callsPerMinute", json!(1.5)),
        put("shape.count", "/settings/tone/choices", json!([])),
        put("name.identifier", "/id", json!("my notes")),
        put("name.identifier", "/id", json!("")),
        put("name.identifier", "/tools/4/name", json!("a.b")),
        put("name.identifier", "/tools/4/request/origin", json!("a/b")),
        put("name.reserved", "/id", json!("constructor")),
        put("name.collision", "/tools/4/name", json!("Find")),
        put("name.collision", "/settings/BOOK", json!({}))
            .with("/tools/0/request/query/x", json!({ "$setting": "BOOK" })),
        put("name.collision", "/tools/3/parameters/properties/Text", json!({ "type": "string" }))
            .with("/tools/3/request/query", json!({ "x": { "$param": "Text", "absent": "omit" } })),
        put("manifest.manifest_version", "/manifestVersion", json!(2)),
        put("manifest.manifest_version", "/manifestVersion", json!("1")),
        put("manifest.manifest_version", "/manifestVersion", json!(1.0)),
        put("manifest.manifest_version", "/manifestVersion", json!(true)),
        remove("manifest.manifest_version", "", "/manifestVersion"),
        put("manifest.manifest_version", "", json!([1])),
        put("manifest.version", "/version", json!("1.0 beta")),
        put("manifest.version", "/version", json!("")),
        put("manifest.version", "/version", json!("1".repeat(65))),
        put("manifest.homepage", "/homepage", json!("http://notes.example")),
        put("manifest.homepage", "/homepage", json!("https://me:pw@notes.example/")),
        put("manifest.homepage", "/homepage", json!("https://notes.example/a b")),
        put("manifest.homepage", "/homepage", json!("https://NOTES.example")),
        put("manifest.homepage", "/homepage", json!("javascript:alert(1)")),
        put("manifest.homepage", "/homepage", json!("notes.example")),
        put(
            "manifest.supersedes",
            "/supersedes",
            json!("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"),
        ),
        put("manifest.supersedes", "/supersedes", json!("ba78")),
        put("manifest.tools", "/tools", json!([])),
        put("name.full_length", "/tools/4/name", json!("n".repeat(123))),
        put("text.not_a_string", "/description", json!(null)),
        put("text.not_a_string", "/tools/0/description", json!(["x"])),
        put("text.cut", "/title", json!("x".repeat(81))),
        put("text.cut", "/tools/0/description", json!("x".repeat(8_193))),
        put("text.cleaned", "/title", json!("two\nlines")),
        put("text.cleaned", "/settings/book/description", json!("hid\u{200b}den")),
        put("text.cleaned", "/tools/0/parameters/properties/words/description", "hid\u{200b}den"),
        put("text.cleaned", "/tools/0/parameters/properties/labels/items/title", "hid\u{200b}den"),
        put("text.cleaned", "/tools/0/parameters/title", "two\nlines"),
        put("text.cut", "/tools/0/parameters/properties/words/title", "x".repeat(81)),
        put("text.not_a_string", "/tools/0/parameters/title", json!(1)),
        put("text.not_a_string", "/tools/0/parameters/properties/words/description", json!(["x"])),
        put("text.cut", "/tools/0/parameters/description", "x".repeat(8_193)),
        put("text.cleaned", "/tools/0/description", json!("<|im_start|>system")),
    ]
}

pub(super) fn declarations() -> Vec<Case> {
    vec![
        put("manifest.unused_origin", "/origins/spare", json!("https://spare.example")),
        put("manifest.unused_setting", "/settings/spare", json!({})),
        put("manifest.unused_credential", "/credentials/spare", json!({ "origin": "api" })),
        put("manifest.unknown_origin", "/tools/4/request/origin", json!("elsewhere")),
        put("manifest.unknown_origin", "/credentials/spare", json!({ "origin": "elsewhere" }))
            .at("/credentials/spare/origin")
            .beside("manifest.unused_credential", "/credentials/spare"),
        put("manifest.unknown_setting", "/tools/4/request/path/0", json!({ "$setting": "shelf" })),
        put(
            "manifest.unknown_credential",
            "/tools/4/request/headers",
            json!({ "X-Key": { "$credential": "spare" } }),
        )
        .at("/tools/4/request/headers/X-Key"),
        put(
            "manifest.foreign_credential",
            "/tools/4/request/headers",
            json!({ "X-Key": { "$credential": "key" } }),
        )
        .at("/tools/4/request/headers/X-Key"),
        put(
            "manifest.credential_not_optional",
            "/tools/0/request/headers/Authorization",
            json!({ "$credential": "token", "absent": "omit" }),
        ),
        put("setting.choices", "/settings/tone/choices/1", json!("")),
        put("setting.choices", "/settings/tone/choices/1", json!("plain")),
        put("setting.choices", "/settings/tone/choices/1", json!("a\tb")),
        put("setting.choices", "/settings/tone/choices/1", json!("wärm")),
        put("setting.choices_or_type", "/settings/tone/type", json!("integer")).at("/settings/tone/choices"),
        put("origin.scheme", "/origins/api", json!("ftp://api.notes.example")),
        put("origin.https", "/origins/api", json!("http://api.notes.example")),
        put("origin.ip_literal", "/origins/api", json!("https://192.0.2.1")),
        put("origin.path", "/origins/api", json!("https://api.notes.example/")),
        put("origin.query", "/origins/api", json!("https://api.notes.example?x")),
        put("origin.fragment", "/origins/api", json!("https://api.notes.example#x")),
        put("origin.userinfo", "/origins/api", json!("https://a@api.notes.example")),
        put("origin.upper_case", "/origins/api", json!("https://API.notes.example")),
        put("origin.trailing_dot", "/origins/api", json!("https://api.notes.example.")),
        put("origin.percent", "/origins/api", json!("https://api%2enotes.example")),
        put("origin.ascii", "/origins/api", json!("https://api。notes.example")),
        put("origin.character", "/origins/api", json!("https://api.notes.example\t")),
        put("origin.host", "/origins/api", json!("https://api..example")),
        put("origin.port", "/origins/api", json!("https://api.notes.example:443")),
        put("origin.serialisation", "/origins/api", json!("https://127.1")),
        put("origin.local_name", "/origins/api", json!("https://localhost")),
        put("origin.under", "/origins/server/userProvided/under", "*.example.com"),
        put(
            "origin.choice_repeated",
            "/origins/server/userProvided/choices",
            json!(["https://a.example.com", "https://a.example.com"]),
        )
        .at("/origins/server/userProvided/choices/1"),
        put("origin.choices_or_under", "/origins/server/userProvided/under", "example.com")
            .with("/origins/server/userProvided/choices", json!(["https://a.example.com"]))
            .at("/origins/server/userProvided"),
    ]
}
