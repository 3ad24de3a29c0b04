//! The laws of the finished request, over requests and arguments made at random.

use connector_core::json::Object;
use connector_core::request::{Given, Rendered};
use proptest::prelude::*;
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

use crate::kit::{KEY, build, manifest, object, preview};

/// Texts that try to leave their place.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b c",
        "/",
        "\\",
        "..",
        ".",
        "%2e",
        "%2F",
        "%25",
        "?",
        "#",
        "&",
        "=",
        "+",
        ";",
        ",",
        "|",
        ":",
        "@",
        "//",
        "\u{ff0f}",
        "\u{2024}",
        "é",
        "\u{1f600}",
        "\"",
        "'",
        "<",
        ">",
        "{",
        "}",
        "\r\n",
        "\t",
        "\0",
        " ",
        "[]",
        "$param",
    ]);
    prop_oneof![2 => prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat()), 1 => ".{0,12}", 2 => "[a-z0-9]{1,8}"]
}

/// The values that the arguments p0 to p3 take.
fn values() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(hostile(), 4)
}

fn param(index: usize) -> Value {
    json!({ "$param": format!("p{index}") })
}

fn path_item() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a-z0-9_~!$&'()*+,;=:@-]{1,6}".prop_map(Value::from),
        (0..4usize).prop_map(param),
        (0..4usize).prop_map(|at| json!({ "$param": format!("p{at}"), "slash": "encode" })),
        (0..4usize).prop_map(|at| json!({ "$param": format!("p{at}"), "segments": "many" })),
        (0..4usize, "[a-z.@-]{0,1}[a-z]", 0..4usize).prop_map(|(a, text, b)| json!([
            param(a),
            text,
            param(b)
        ])),
    ]
}

fn query_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}",
        hostile().prop_filter("a name", |name| !name.is_empty() && !name.starts_with('$'))
    ]
}

/// A manifest of one POST tool whose request has these parts; every argument is used and required.
fn tool(path: &[Value], query: &[(String, Value)], headers: &Value, body: &Value) -> Value {
    let query: serde_json::Map<String, Value> = query.iter().cloned().collect();
    let mut fields = json!({ "all": [param(0), param(1), param(2), param(3)] });
    fields["more"] = body.clone();
    let text = json!({ "type": "string" });
    json!({
        "manifestVersion": 1, "id": "t", "version": "1", "title": "T", "description": "D",
        "origins": { "api": "https://api.example.com" },
        "credentials": { "one": { "origin": "api", "optional": true }, "two": { "origin": "api", "optional": true } },
        "tools": [{
            "name": "call", "description": "D", "effect": "write",
            "parameters": { "type": "object", "properties": { "p0": text, "p1": text, "p2": text, "p3": text }, "required": ["p0", "p1", "p2", "p3"] },
            "request": {
                "method": "POST", "origin": "api", "path": path, "query": query, "headers": headers, "body": { "json": fields },
                "idempotency": { "header": "Idempotency-Key" }
            }
        }]
    })
}

/// Both credentials are used, whatever else is.
fn headers() -> Value {
    json!({ "Authorization": { "$credential": "one", "scheme": "Bearer", "absent": "omit" }, "X-Api-Key": { "$credential": "two", "absent": "omit" } })
}

fn arguments(values: &[String]) -> Object {
    let members: serde_json::Map<String, Value> =
        values.iter().enumerate().map(|(at, value)| (format!("p{at}"), json!(value))).collect();
    object(&Value::Object(members))
}

/// Percent-decodes, by another road than the encoder's.
fn decode(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

/// The segments that an item of the path stands for.
fn expected(item: &Value, values: &[String]) -> Vec<String> {
    let value = |slot: &Value| {
        let at: usize = slot["$param"].as_str().unwrap()[1..].parse().unwrap();
        values[at].clone()
    };
    match item {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => {
            vec![parts.iter().map(|part| part.as_str().map_or_else(|| value(part), str::to_owned)).collect()]
        }
        slot if slot["segments"] == "many" => value(slot).split('/').map(str::to_owned).collect(),
        slot => vec![value(slot)],
    }
}

fn shown(rendered: &Rendered) -> String {
    let mut out = format!("{} {}\n", rendered.method.as_str(), rendered.url);
    for header in &rendered.headers {
        // The length of a body with a secret in it is as secret as that.
        let length = header.name == "Content-Length" && header.secret;
        let value = if length { "<length with credential>" } else { &header.value };
        out += &format!("{}: {value} {} {}\n", header.name, header.fixed, header.secret);
    }
    out + rendered.body.as_deref().map_or("", |body| std::str::from_utf8(body).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Whatever the arguments hold, the URL that a server reads has the origin, the segments and the pairs of the
    /// manifest, and each value is where its slot is.
    #[test]
    fn no_argument_leaves_its_slot(
        path in prop::collection::vec(path_item(), 0..5),
        slash: bool,
        query in prop::collection::vec((query_name(), prop_oneof![(0..4usize).prop_map(param), Just(json!(null)), hostile().prop_map(Value::from)]), 0..5),
        values in values(),
    ) {
        let mut path = path;
        if slash {
            path.push(json!(""));
        }
        let mut query = query;
        query.sort_by(|a, b| a.0.cmp(&b.0));
        query.dedup_by(|a, b| a.0 == b.0);
        let manifest = manifest(&tool(&path, &query, &headers(), &json!(1)));
        let Ok(built) = build(&manifest, &Object::new(), &arguments(&values)) else { return Ok(()) };
        let url = Url::parse(built.url().as_str()).unwrap();
        prop_assert_eq!(url.origin().ascii_serialization(), "https://api.example.com");
        prop_assert_eq!(url.fragment(), None);
        let sent: Vec<_> = url.path_segments().unwrap().map(decode).collect();
        let mut meant: Vec<_> = path.iter().flat_map(|item| expected(item, &values)).collect();
        if meant.is_empty() {
            meant.push(String::new());
        }
        prop_assert_eq!(sent, meant);
        let sent: Vec<_> = form_urlencoded::parse(url.query().unwrap_or_default().as_bytes()).into_owned().collect();
        let meant: Vec<_> = query.iter().map(|(name, value)| {
            let value = if value.is_object() { expected(value, &values).remove(0) } else { value.as_str().unwrap_or_default().to_owned() };
            (name.clone(), value)
        }).collect();
        prop_assert_eq!(sent, meant);
        prop_assert!(url.path().starts_with(built.literal_prefix()));
        let body: Value = serde_json::from_slice(&preview(&built).body.unwrap()).unwrap();
        prop_assert_eq!(&body["all"], &json!(values));
    }

    /// What is shown is what is sent, apart from the secrets.
    #[test]
    fn the_preview_is_the_wire_apart_from_secrets(
        values in prop::collection::vec("[a-z ]{0,8}", 4),
        places in prop::collection::vec(0..6usize, 0..4),
        set in prop::collection::vec(any::<bool>(), 2),
    ) {
        let slot = |at: usize| json!({ "$credential": if at.is_multiple_of(2) { "one" } else { "two" }, "absent": "omit" });
        let mut more = json!({ "a": 1 });
        for at in places {
            more = match at / 2 {
                0 => json!({ "in": more, "s": slot(at), "t": param(at % 4) }),
                1 => json!([slot(at), more, slot(at)]),
                _ => json!([[slot(at)], { "only": slot(at) }, more]),
            };
        }
        let manifest = manifest(&tool(&[json!("x")], &[], &headers(), &more));
        let built = build(&manifest, &Object::new(), &arguments(&values)).unwrap();
        let secret = |name: &str| if name == "one" { "S1e2C3r4E5t" } else { "K9k8K7k6" };
        let there = |name: &str| set[usize::from(name == "two")];
        let wire = built.render(|used| {
            if there(used.name.as_str()) { Given::Secret(secret(used.name.as_str())) } else { Given::Nothing }
        }).unwrap();
        let preview = built.render(|used| if there(used.name.as_str()) { Given::Placeholder } else { Given::Nothing }).unwrap();
        let mut masked = shown(&wire);
        for name in ["one", "two"] {
            let placeholder = format!("<credential {name}>");
            // In a JSON body the placeholder stands without quotes, as no value does.
            masked = masked.replace(&format!("\"{}\"", secret(name)), &placeholder).replace(secret(name), &placeholder);
        }
        prop_assert_eq!(masked, shown(&preview));
        prop_assert!(!shown(&preview).contains("S1e2") && shown(&preview).contains(KEY));
    }

    /// A value that a header cannot hold never reaches one.
    #[test]
    fn no_argument_leaves_its_header(values in values()) {
        let headers = json!({ "X-A": param(0), "X-B": param(1), "Authorization": { "$credential": "one", "absent": "omit" },
            "X-Api-Key": { "$credential": "two", "absent": "omit" } });
        let manifest = manifest(&tool(&[json!("x")], &[], &headers, &json!(1)));
        let good = |text: &str| text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) && text.trim_matches([' ', '\t']) == text;
        match build(&manifest, &Object::new(), &arguments(&values)) {
            Ok(built) => {
                let sent = preview(&built);
                let value = |name: &str| sent.headers.iter().find(|header| header.name == name).unwrap().value.to_string();
                prop_assert_eq!((value("X-A"), value("X-B")), (values[0].clone(), values[1].clone()));
                prop_assert!(good(&values[0]) && good(&values[1]));
            }
            Err(refusal) => prop_assert!(!good(&values[0]) || !good(&values[1]), "{}", refusal),
        }
    }
}
