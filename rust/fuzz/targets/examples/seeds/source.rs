//! Seeds from the shared cases, and a few of our own for a machine that has none.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_testkit::cases;
use serde_json::Value;

/// Seeds of one target at most: a fuzzer makes its own.
const SEEDS: usize = 400;

/// The largest seed.
const SEED_BYTES: usize = 8 << 10;

/// The seeds of a target.
pub(crate) fn seeds(name: &str) -> Vec<Vec<u8>> {
    let mut seeds = own(name);
    let text = |value: &Value| value.as_str().map(|text| text.as_bytes().to_vec());
    let json = |value: &Value| Some(value.to_string().into_bytes());
    let after = |start: &'static [u8], bytes: Vec<u8>| [start, bytes.as_slice()].concat();
    match name {
        "json" => from("json", "parsing.json", &mut seeds, bytes),
        "origin" => {
            from("ssrf", "url-payloads.json", &mut seeds, |case| text(&case["url"]));
            from("url", "toascii.json", &mut seeds, |case| text(&case["input"]));
            from("ssrf", "ip-classification.json", &mut seeds, |case| text(&case["ip"]));
        }
        "schema" | "grammar" | "narrower" => {
            from("subtyping", "tool-merge.json", &mut seeds, |case| pair(name, case));
            from("grammar", "hostile-schemas.json", &mut seeds, |case| Some(alone(name, &case["schema"])));
            from("mcp-tools", "github-mcp-server.json", &mut seeds, |case| {
                Some(alone(name, &case["inputSchema"]))
            });
        }
        "arguments" => from("slots", "encoding.json", &mut seeds, |case| {
            let value = case.get("value")?;
            json(
                &serde_json::json!({ "path": value, "many": value, "slash": value, "query": value, "body": value }),
            )
        }),
        "slots" => {
            for position in [b"\0\0".as_slice(), b"\0\x01", b"\x01\0", b"\x02\0", b"\x04\0"] {
                from("ssrf", "open-redirect-values.json", &mut seeds, |case| {
                    Some(after(position, text(&case["value"])?))
                });
            }
            from("slots", "encoding.json", &mut seeds, |case| {
                Some(after(b"\0\0", json(case.get("value")?)?))
            });
        }
        "response" => {
            from("http", "bodies.json", &mut seeds, |case| {
                Some(after(b"\0\x01\0", STANDARD.decode(case["b64"].as_str()?).ok()?))
            });
            from("text", "smuggling.json", &mut seeds, |case| Some(after(b"\0\x02\0", text(&case["text"])?)));
        }
        "text" => {
            for (file, member) in
                [("smuggling.json", "text"), ("trojan-source.json", "text"), ("blns.json", "s")]
            {
                from("text", file, &mut seeds, |case| Some(after(b"\xff", text(&case[member])?)));
            }
        }
        _ => {}
    }
    seeds.retain(|seed| seed.len() <= SEED_BYTES);
    let step = seeds.len().div_ceil(SEEDS).max(1);
    seeds.into_iter().step_by(step).collect()
}

/// A case in base64 or as text.
fn bytes(case: &Value) -> Option<Vec<u8>> {
    let decoded = ["b64", "bytes_b64", "raw_b64"].iter().find_map(|name| case[*name].as_str());
    match decoded {
        Some(text) => STANDARD.decode(text).ok(),
        None => ["text", "input", "json"]
            .iter()
            .find_map(|name| case[*name].as_str())
            .map(|text| text.as_bytes().to_vec()),
    }
}

/// One schema as the targets take it: with a value, or as both.
fn alone(name: &str, schema: &Value) -> Vec<u8> {
    let text = schema.to_string();
    match name {
        "grammar" => text.into_bytes(),
        "schema" => [text.as_bytes(), b"\xff{}"].concat(),
        _ => [text.as_bytes(), b"\xff", text.as_bytes()].concat(),
    }
}

/// Two schemas as the targets take them.
fn pair(name: &str, case: &Value) -> Option<Vec<u8>> {
    let (prior, new) = (case.get("prior")?.to_string(), case.get("new")?.to_string());
    Some(match name {
        "grammar" => new.into_bytes(),
        _ => [new.as_bytes(), b"\xff", prior.as_bytes()].concat(),
    })
}

fn from(area: &str, file: &str, seeds: &mut Vec<Vec<u8>>, seed: impl Fn(&Value) -> Option<Vec<u8>>) {
    let Some(file) = cases::load(area, file) else { return };
    let cases = file["cases"].as_array().map(Vec::as_slice).unwrap_or_default();
    seeds.extend(cases.iter().filter_map(seed));
}

/// A few of our own.
fn own(name: &str) -> Vec<Vec<u8>> {
    let list: &[&[u8]] = match name {
        "json" => &[br#"{"a":[1,-0.5e3,"\u00e9\n",true,null,{}]}"#, b"[1E400]"],
        "manifest" => &[include_bytes!("../../../../testkit/scenarios/connectors.json")],
        "grant" => &[
            br#"{"origins":{"server":"http://192.168.1.5"},"settings":{"n":1},"localNetwork":true,"overlayNetwork":false,
                "loopback":true,"cleartextCredentials":true,"confirm":["write"],"flows":["a"],"only":["find"]}"#,
        ],
        "origin" => &[b"https://api.example", b"http://192.168.1.5:8080"],
        "schema" => &[
            b"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^a+$\",\"maxLength\":9}}}\xff{\"a\":\"aa\"}",
            b"{\"$defs\":{\"n\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/n\"}}},\"$ref\":\"#/$defs/n\"}\xff[[],[[]]]",
            b"{\"anyOf\":[{\"type\":\"integer\",\"multipleOf\":3},{\"not\":{\"type\":\"number\"}}]}\xff9",
        ],
        "grammar" => &[
            br#"{"type":"object","properties":{"a":{"enum":["x","y"]},"b":{"type":"array","items":{"type":"integer"},"maxItems":3}},"required":["a"]}"#,
            br#"{"type":"string","format":"date-time"}"#,
        ],
        "narrower" => &[
            b"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":3}}}\xff{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"}}}",
            b"{\"type\":\"string\",\"pattern\":\"^[a-f]{2,4}$\"}\xff{\"type\":\"string\",\"maxLength\":4}",
        ],
        "arguments" => &[
            br#"{"path":"a b","many":"a/b","slash":"c/d","query":7,"list":["x","y"],"header":"h","body":{"z":[1]}}"#,
            br#"{"path":"..","many":"a//b","slash":"%2e%2e"}"#,
        ],
        "slots" => &[b"\0\0\"a/b\"", b"\x01\x03[\"a\",\"b\"]", b"\x02\0tab\tin", b"\x03\0{\"a\":1.5}", b"\x04\x07true"],
        "response" => &[
            b"\0\0\0{\"a\":[1,2,{\"b\":\"![x](https://evil.example)\"}]}",
            b"\x02\0\0{\"a\":\"x\",\"b\":[{\"c\":1}],\"e\":null}",
            b"\x01\x02\0<p>hi</p><script>x</script> fuzz-secret~7a <|im_start|>",
            b"\x03\0\0[1,2,3,4,5,6]",
        ],
        "text" => &[b"\x20fuzz-secret~7a <|im_start|>\x1b[31m", b"\xff[INST] \xe2\x80\xae \xf3\xa0\x81\xa9"],
        _ => &[],
    };
    let mut seeds: Vec<Vec<u8>> = list.iter().map(|seed| seed.to_vec()).collect();
    if name == "manifest" {
        // The connectors of the kit, each a manifest of its own.
        let file: Value = serde_json::from_slice(&seeds.remove(0)).unwrap_or_default();
        let connectors = file.as_object().into_iter().flatten();
        seeds.extend(connectors.map(|(_, connector)| connector["manifest"].to_string().into_bytes()));
    }
    seeds
}
