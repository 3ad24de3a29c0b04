//! Each rule of a manifest: one change to the valid base, and the findings that it makes.

use serde_json::{Value, json};

use crate::base::Change::{Put, Remove};
use crate::base::{Change, changed, found, is_error, report};

/// A rule, the places of its findings, and the changes to the base that make them.
pub(crate) struct Case {
    places: Vec<(&'static str, &'static str)>,
    pub(crate) changes: Vec<Change>,
}

/// A value put at a pointer; the finding stands there.
fn put(rule: &'static str, pointer: &'static str, value: impl Into<Value>) -> Case {
    Case { places: vec![(rule, pointer)], changes: vec![Put(pointer, value.into())] }
}

/// A value removed; the finding stands at another place.
fn remove(rule: &'static str, place: &'static str, pointer: &'static str) -> Case {
    Case { places: vec![(rule, place)], changes: vec![Remove(pointer)] }
}

impl Case {
    /// The finding stands there instead.
    fn at(self, place: &'static str) -> Self {
        Self { places: vec![(self.rule(), place)], ..self }
    }

    /// The same rule is broken there too.
    fn and(mut self, place: &'static str) -> Self {
        self.places.push((self.rule(), place));
        self
    }

    /// Another rule is broken too.
    fn beside(mut self, rule: &'static str, place: &'static str) -> Self {
        self.places.push((rule, place));
        self
    }

    fn rule(&self) -> &'static str {
        self.places[0].0
    }

    /// A further change.
    fn with(mut self, pointer: &'static str, value: impl Into<Value>) -> Self {
        self.changes.push(Put(pointer, value.into()));
        self
    }

    /// A further removal.
    fn without(mut self, pointer: &'static str) -> Self {
        self.changes.push(Remove(pointer));
        self
    }
}

fn document() -> Vec<Case> {
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
        put("text.cleaned", "/tools/0/description", json!("<|im_start|>system")),
    ]
}

fn declarations() -> Vec<Case> {
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

fn slots() -> Vec<Case> {
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
        put("request.origin_slot", "/tools/0/request/origin", json!({ "$setting": "book" })),
        put("request.credential_in_text", "/tools/3/request/body/text", json!({ "$credential": "key" }))
            .without("/tools/3/parameters"),
    ]
}

fn request() -> Vec<Case> {
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

fn parameters() -> Vec<Case> {
    let id = "/tools/2/parameters/properties/id";
    let text = "/tools/3/parameters/properties/text";
    let labels = "/tools/0/parameters/properties/labels";
    vec![
        put(
            "parameters.unused_property",
            "/tools/0/parameters/properties/spare",
            json!({ "type": "string" }),
        ),
        put("parameters.undeclared_members", "/tools/1/parameters/additionalProperties", true),
        put(
            "parameters.undeclared_members",
            "/tools/1/parameters/additionalProperties",
            json!({ "type": "string" }),
        ),
        put("parameters.unknown_property", "/tools/4/request/path", json!([{ "$param": "words" }]))
            .at("/tools/4/request/path/0"),
        // An object fits JSON alone.
        put("parameters.type", id, json!({ "type": "object" }))
            .at("/tools/2/request/path/1")
            .and("/tools/2/request/query/id"),
        put("parameters.type", id, json!({ "type": ["integer", "array"] }))
            .at("/tools/2/request/path/1")
            .and("/tools/2/request/query/id"),
        put("parameters.type", text, json!({ "type": ["string", "array"] })).at("/tools/3/request/body/text"),
        put("parameters.type", text, json!({})).at("/tools/3/request/body/text"),
        put(
            "parameters.type",
            "/tools/2/parameters/properties/reason",
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
        )
        .at("/tools/2/request/body/form/reason"),
        // An array slot takes arrays of scalars, a flag booleans.
        put("parameters.type", labels, json!({ "type": "string" })).at("/tools/0/request/query/label"),
        put(
            "parameters.type",
            labels,
            json!({ "type": ["array", "string"], "items": { "type": "string" }, "minItems": 1 }),
        )
        .at("/tools/0/request/query/label"),
        put(
            "parameters.type",
            labels,
            json!({ "type": "array", "items": { "type": ["string", "null"] }, "minItems": 1 }),
        )
        .at("/tools/0/request/query/label"),
        put(
            "parameters.type",
            labels,
            json!({ "type": "array", "items": { "type": "array" }, "minItems": 1 }),
        )
        .at("/tools/0/request/query/label"),
        put("parameters.type", "/tools/0/parameters/properties/whole", json!({ "type": "string" }))
            .at("/tools/0/request/query/whole"),
        put("parameters.min_items", labels, json!({ "type": "array", "items": { "type": "string" } }))
            .at("/tools/0/request/query/label"),
        // A path is whole.
        put("parameters.required", "/tools/2/parameters/required", json!([]))
            .at("/tools/2/request/path/1")
            .with("/tools/2/request/query", json!({})),
        put("parameters.nullable", id, json!({ "type": ["integer", "null"] }))
            .at("/tools/2/request/path/1")
            .with("/tools/2/request/query", json!({})),
        // What happens without a value stands in the manifest.
        remove("parameters.absent", "/tools/0/request/query/label", "/tools/0/request/query/label/absent"),
        remove("parameters.absent", "/tools/0/request/query/limit", "/tools/0/request/query/limit/absent"),
        remove(
            "parameters.absent",
            "/tools/1/request/body/json/text",
            "/tools/1/request/body/json/text/absent",
        ),
        remove(
            "parameters.absent",
            "/tools/1/request/body/json/extra/0",
            "/tools/1/request/body/json/extra/0/absent",
        ),
        remove(
            "parameters.absent",
            "/tools/2/request/body/form/reason",
            "/tools/2/request/body/form/reason/absent",
        ),
        remove("parameters.absent", "/tools/3/request/body/text", "/tools/3/request/body/text/absent"),
        put("parameters.absent", "/tools/0/request/headers/X-Limit", json!({ "$param": "limit" })),
        put(
            "parameters.absent_destructive",
            "/tools/2/request/query/reason",
            json!({ "$param": "reason", "absent": "omit" }),
        ),
        put(
            "parameters.needless_omit",
            "/tools/0/request/query/q",
            json!({ "$param": "words", "absent": "omit" }),
        ),
        put(
            "parameters.needless_omit",
            "/tools/1/request/body/json/title",
            json!({ "$param": "title", "absent": "omit" }),
        ),
        put(
            "parameters.needless_omit",
            "/tools/1/request/body/json/title",
            json!({ "$param": "title", "null": "omit" }),
        ),
    ]
}

fn effect_and_limits() -> Vec<Case> {
    vec![
        put("tool.effect", "/tools/3/effect", "read"),
        put("tool.effect", "/tools/3/effect", "read").with("/tools/3/request/method", "PATCH"),
        put("tool.effect", "/tools/2/effect", "write"),
        put("tool.effect", "/tools/2/effect", "read"),
        put("limits.ceiling", "/tools/0/limits/timeoutMs", 60_001),
        put("limits.ceiling", "/tools/0/limits/maxResponseBytes", 4_194_305),
        put("limits.ceiling", "/tools/0/limits/callsPerMinute", 31),
        put("limits.retries", "/tools/3/limits", json!({ "retries": 1 })).at("/tools/3/limits/retries"),
        put("limits.retries", "/tools/4/limits", json!({ "retries": 1 })).at("/tools/4/limits/retries"),
        put("limits.redirects", "/tools/4/limits", json!({ "redirects": "same-origin" }))
            .at("/tools/4/limits/redirects"),
        put("limits.redirects", "/tools/1/limits/redirects", "same-origin"),
    ]
}

/// The response map has its own tests; here is that a manifest is held to it.
fn response() -> Vec<Case> {
    vec![
        put("response.pointer", "/tools/0/response/from", "results"),
        put("response.fields_and_value", "/tools/0/response/value", "/id"),
        put("response.needs_each", "/tools/1/response", json!({ "limit": 3 })).at("/tools/1/response/limit"),
        put("response.as_object", "/tools/0/response/as", "object"),
        put("response.join", "/tools/0/response/join", ", "),
        put("response.join_text", "/tools/1/response", json!({ "each": true, "join": "\n".repeat(65) }))
            .at("/tools/1/response/join"),
        put("response.error_empty", "/tools/0/response/error", json!({})),
        put("response.field_name", "/tools/0/response/fields/constructor", "/x"),
        put("response.text_format", "/tools/1/response", json!({ "format": "text", "from": "/x" }))
            .at("/tools/1/response/from"),
        put(
            "response.nesting",
            "/tools/1/response",
            (0..5).fold(json!("/x"), |inner, _| json!({ "value": inner })),
        )
        .at("/tools/1/response/value/value/value/value"),
        put("response.readers", "/tools/1/response", json!({ "value": vec!["/x"; 128] })),
    ]
}

pub(crate) fn cases() -> Vec<Case> {
    let parts = [
        document(),
        declarations(),
        slots(),
        request(),
        parameters(),
        effect_and_limits(),
        response(),
        schemas(),
    ];
    parts.into_iter().flatten().collect()
}

#[test]
fn each_rule_is_met_where_the_format_says() {
    let mut wrong = Vec::new();
    for case in cases() {
        let report = report(&changed(&case.changes));
        let expected: Vec<_> = case.places.iter().map(|(rule, place)| (*rule, (*place).to_owned())).collect();
        if found(&report) != expected || report.manifest.is_some() == is_error(case.rule()) {
            wrong.push(format!("expected {expected:?}\n   found {:?}", report.findings.list()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// That `count` pigeons sit in fewer holes, one in each: false, and hard to see (Haken 1985).
fn pigeons(count: usize) -> Value {
    let holes = count - 1;
    let is = |pigeon: usize, hole: usize, there: bool| json!({ "properties": { format!("p{pigeon}h{hole}"): { "const": there } } });
    let mut all: Vec<Value> = (0..count)
        .map(|pigeon| json!({ "anyOf": (0..holes).map(|hole| is(pigeon, hole, true)).collect::<Vec<_>>() }))
        .collect();
    for hole in 0..holes {
        for one in 0..count {
            all.extend(
                (0..one).map(|other| json!({ "anyOf": [is(one, hole, false), is(other, hole, false)] })),
            );
        }
    }
    let names: Vec<_> =
        (0..count).flat_map(|pigeon| (0..holes).map(move |hole| format!("p{pigeon}h{hole}"))).collect();
    let properties: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({ "type": "boolean" }))).collect();
    json!({ "type": "object", "properties": properties, "required": names, "allOf": all })
}

/// Schemas have their own tests; here is that each of their rules refuses a manifest, and where.
fn schemas() -> Vec<Case> {
    let schema = "/tools/3/parameters";
    let text = "/tools/3/parameters/properties/text";
    let deep = (0..9).fold(json!({ "type": "string" }), |inner, _| json!({ "not": { "not": inner } }));
    let large = "x".repeat(70_000);
    vec![
        put("schema.too_large", text, json!({ "type": "string", "description": large })).at(schema),
        put("schema.too_deep", text, deep).at(schema),
        put("schema.shape", text, json!(7)),
        put("schema.keyword_unknown", text, json!({ "type": "string", "maxlength": 3 })).at("/tools/3/parameters/properties/text/maxlength"),
        put("schema.keyword_unsupported", schema, json!({ "type": "object", "properties": { "text": { "type": "string" } }, "unevaluatedProperties": false }))
            .at("/tools/3/parameters/unevaluatedProperties"),
        put("schema.keyword_value", text, json!({ "type": "text" })).at("/tools/3/parameters/properties/text/type"),
        put("schema.dialect", "/tools/3/parameters/$schema", "http://json-schema.org/draft-04/schema#"),
        put("schema.reference_remote", text, json!({ "$ref": "https://schemas.example/text" })).at("/tools/3/parameters/properties/text/$ref"),
        put("schema.reference_missing", text, json!({ "$ref": "#/$defs/text" })).at("/tools/3/parameters/properties/text/$ref"),
        put("schema.reference_target", text, json!({ "$ref": "#/type" })).at("/tools/3/parameters/properties/text/$ref"),
        put("schema.reference_vacuous", text, json!({ "$ref": "#/properties/text" })).at("/tools/3/parameters/properties/text/$ref"),
        put("schema.reference_siblings", text, json!({ "$ref": "#/definitions/t", "minLength": 1 }))
            .with("/tools/3/parameters/definitions", json!({ "t": { "type": "string" } }))
            .with("/tools/3/parameters/$schema", "http://json-schema.org/draft-07/schema#")
            .at("/tools/3/parameters/properties/text/minLength"),
        put("schema.required_undeclared", "/tools/3/parameters/required", json!(["texts"])).at("/tools/3/parameters/required/0"),
        put("schema.unsatisfiable", "/tools/3/parameters/required", json!(["text"]))
            .with("/tools/3/parameters/maxProperties", 0)
            .at(schema),
        put("schema.not_object", schema, json!({ "type": "array" })),
        put("schema.pattern_syntax", text, json!({ "type": "string", "pattern": "(" })).at("/tools/3/parameters/properties/text/pattern"),
        put("schema.pattern_unsupported", text, json!({ "type": "string", "pattern": "a(?=b)" })).at("/tools/3/parameters/properties/text/pattern"),
        put("schema.pattern_too_large", text, json!({ "type": "string", "pattern": "(a|b)*a(a|b){20}" })).at("/tools/3/parameters/properties/text/pattern"),
        put("schema.too_costly", schema, pigeons(9)),
        put("schema.identity", text, json!({ "type": "string", "enum": ["a\u{7}b"] })).at("/tools/3/parameters/properties/text/enum/0"),
        put("name.reserved", "/tools/3/parameters/properties/__proto__", json!({ "type": "string" })),
        put("name.reserved", text, json!({ "type": "object", "properties": { "constructor": {} } })).at("/tools/3/parameters/properties/text/properties/constructor"),
    ]
}
