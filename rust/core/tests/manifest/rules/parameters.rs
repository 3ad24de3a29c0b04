//! Parameters against slots, effect and limits, responses and schemas.

use serde_json::{Value, json};

use super::{Case, put, remove};

pub(super) fn parameters() -> Vec<Case> {
    let id = "/tools/2/parameters/properties/id";
    let text = "/tools/3/parameters/properties/text";
    let labels = "/tools/0/parameters/properties/labels";
    vec![
        put(
            "parameters.unused_property",
            "/tools/0/parameters/properties/spare",
            json!({ "type": "string" }),
        ),
        put(
            "parameters.unused_property",
            "/tools/3/parameters",
            json!({ "$ref": "#/$defs/call", "$defs": { "call": { "type": "object",
                "properties": { "text": { "type": "string" }, "spare": { "type": "string" } } } } }),
        )
        .at("/tools/3/parameters/$defs/call/properties/spare"),
        put("name.identifier", "/tools/3/parameters/properties/a b", json!({ "type": "string" }))
            .beside("parameters.unused_property", "/tools/3/parameters/properties/a b"),
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

pub(super) fn effect_and_limits() -> Vec<Case> {
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
pub(super) fn response() -> Vec<Case> {
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

/// Schemas have their own tests; here is that each of their rules refuses a manifest, and where.
pub(super) fn schemas() -> Vec<Case> {
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
