//! Hostile schemas and values: every one ends, in bounds, on the small stack of a phone's thread.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests fail as tests do, and say what they counted"
)]

mod corpus;

use std::fmt::Write as _;

use connector_core::json::{Numbers, Path, Profile, Value, read_strict};
use connector_core::schema::{Options, Schema, World};
use connector_core::{Findings, TrustLimits};

/// What a thread has on a phone.
const STACK: usize = 512 << 10;

fn on_a_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(STACK).spawn(run).unwrap().join().unwrap()
}

fn value(text: &str) -> Value {
    let profile = Profile { max_bytes: 1 << 24, max_depth: 128, numbers: Numbers::Any };
    read_strict(text.as_bytes(), profile).unwrap()
}

fn compile(text: &str, world: World) -> Result<Schema, Vec<&'static str>> {
    let mut findings = Findings::new();
    let limits = TrustLimits::default();
    let options = Options { world, ..Options::default() };
    let schema = Schema::compile(&value(text), &Path::Root, options, &limits, &mut findings);
    schema.ok_or_else(|| findings.list().iter().map(|finding| finding.rule.id).collect())
}

/// Schemas that ask for more than anybody should.
fn hostile() -> Vec<(&'static str, String)> {
    let mut schemas = Vec::new();
    let defs = |count: usize, one: &dyn Fn(usize) -> String| {
        let list: Vec<_> = (0..count).map(|n| format!("\"d{n}\":{}", one(n))).collect();
        format!("\"$defs\":{{{}}}", list.join(","))
    };
    let list =
        |count: usize, one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<Vec<_>>().join(",");

    let chain = defs(1_900, &|n| {
        if n == 1_899 { "{}".into() } else { format!("{{\"$ref\":\"#/$defs/d{}\"}}", n + 1) }
    });
    schemas.push(("a long chain of references", format!("{{\"$ref\":\"#/$defs/d0\",{chain}}}")));
    let chain = defs(1_000, &|n| {
        if n == 999 {
            "{}".into()
        } else {
            format!("{{\"allOf\":[{{\"$ref\":\"#/$defs/d{}\"}}],\"minProperties\":1}}", n + 1)
        }
    });
    schemas.push(("a long chain of conjunctions", format!("{{\"$ref\":\"#/$defs/d0\",{chain}}}")));
    let nest = defs(500, &|n| {
        if n == 499 {
            "{\"type\":\"null\"}".into()
        } else {
            format!(
                "{{\"type\":\"object\",\"properties\":{{\"a\":{{\"$ref\":\"#/$defs/d{}\"}}}},\"required\":[\"a\"]}}",
                n + 1
            )
        }
    });
    schemas.push(("a value that must nest deep", format!("{{\"$ref\":\"#/$defs/d0\",{nest}}}")));
    let twice = defs(40, &|n| {
        let next = format!("{{\"$ref\":\"#/$defs/d{}\",\"properties\":{{\"p{n}\":{{}}}}}}", n + 1);
        if n == 39 {
            "{\"anyOf\":[{\"properties\":{\"z\":{}}},true]}".into()
        } else {
            format!("{{\"allOf\":[{next},{next}],\"anyOf\":[{next},{{\"properties\":{{\"q{n}\":{{}}}}}}]}}")
        }
    });
    schemas.push((
        "references doubled at each level",
        format!("{{\"$ref\":\"#/$defs/d0\",\"properties\":{{\"a\":{{}}}},{twice}}}"),
    ));
    let doubled = defs(60, &|n| {
        if n == 59 {
            "{\"type\":\"integer\"}".into()
        } else {
            let next = format!("{{\"$ref\":\"#/$defs/d{}\"}}", n + 1);
            format!(
                "{{\"type\":\"object\",\"properties\":{{\"a\":{next},\"b\":{next}}},\"required\":[\"a\",\"b\"]}}"
            )
        }
    });
    schemas.push(("a witness that doubles at each level", format!("{{\"$ref\":\"#/$defs/d0\",{doubled}}}")));
    let clause = |n: usize| {
        let literal = |k: usize| {
            let name = (n * 7 + k * 11 + n * k) % 20;
            format!(
                "{{\"properties\":{{\"v{name}\":{{\"const\":{}}}}},\"required\":[\"v{name}\"]}}",
                (n + k) % 2
            )
        };
        format!("{{\"anyOf\":[{},{},{}]}}", literal(1), literal(2), literal(3))
    };
    schemas
        .push(("a puzzle of clauses", format!("{{\"type\":\"object\",\"allOf\":[{}]}}", list(90, &clause))));
    schemas.push((
        "many overlapping alternatives",
        format!(
            "{{\"type\":\"object\",\"oneOf\":[{}]}}",
            list(300, &|n| format!("{{\"properties\":{{\"p{n}\":{{\"type\":\"string\"}}}}}}"))
        ),
    ));
    schemas.push((
        "many patterns for keys",
        format!(
            "{{\"type\":\"object\",\"minProperties\":1,\"patternProperties\":{{{}}}}}",
            list(60, &|n| format!("\"^[a-z]{{{},{}}}[0-9]+x{n}\":{{\"minLength\":{n}}}", n + 1, n + 20))
        ),
    ));
    schemas.push((
        "patterns that multiply",
        format!(
            "{{\"type\":\"string\",\"allOf\":[{}]}}",
            list(40, &|n| format!("{{\"pattern\":\"^(a|b)*a(a|b){{{}}}$\"}}", n % 11))
        ),
    ));
    schemas.push((
        "many large patterns",
        format!(
            "{{\"properties\":{{{}}}}}",
            list(300, &|n| format!("\"p{n}\":{{\"pattern\":\"^(a|b)*a(a|b){{11}}{n}$\"}}"))
        ),
    ));
    schemas.push((
        "a long list of words",
        format!("{{\"enum\":[{}]}}", list(5_000, &|n| format!("\"value-{n}\""))),
    ));
    schemas.push((
        "negated lists of words",
        format!(
            "{{\"type\":\"string\",\"allOf\":[{}]}}",
            list(100, &|n| format!(
                "{{\"not\":{{\"enum\":[{}]}}}}",
                list(50, &|m| format!("\"w{}\"", n * 31 + m))
            ))
        ),
    ));
    schemas.push(("counts beyond reason", r#"{"type":"object","properties":{"a":{"type":"array","minItems":1000000000,"uniqueItems":true,"items":{"type":"integer"}},
        "b":{"type":"object","minProperties":1000000},"c":{"type":"string","minLength":100000000,"pattern":"^[a-z]+$"}},"required":["a","b","c"]}"#.to_owned()));
    schemas.push((
        "counted items",
        format!(
            "{{\"type\":\"array\",\"minItems\":50,\"allOf\":[{}]}}",
            list(12, &|n| format!(
                "{{\"contains\":{{\"multipleOf\":{}}},\"minContains\":{},\"maxContains\":{}}}",
                n + 2,
                n + 1,
                n + 5
            ))
        ),
    ));
    schemas.push((
        "lattices that meet rarely",
        format!(
            "{{\"type\":\"integer\",\"allOf\":[{}]}}",
            list(60, &|n| format!("{{\"not\":{{\"multipleOf\":{}}}}}", 2 * n + 101))
        ),
    ));
    schemas.push((
        "multiples of large primes",
        format!(
            "{{\"type\":\"integer\",\"exclusiveMinimum\":0,\"allOf\":[{}]}}",
            list(40, &|n| format!("{{\"multipleOf\":{}}}", 1_000_003 + 2 * n))
        ),
    ));
    let mutual = r##"{"$ref":"#/$defs/e","$defs":{"e":{"oneOf":[{"$ref":"#/$defs/n"},{"$ref":"#/$defs/b"},{"$ref":"#/$defs/c"}]},
        "n":{"type":"object","properties":{"l":{"$ref":"#/$defs/e"},"r":{"$ref":"#/$defs/e"}},"required":["l"]},
        "b":{"type":"object","properties":{"l":{"$ref":"#/$defs/e"},"o":{"$ref":"#/$defs/e"}},"required":["o"]},
        "c":{"type":"array","items":{"$ref":"#/$defs/e"},"contains":{"not":{"$ref":"#/$defs/e"}}}}}"##;
    schemas.push(("mutual recursion without an end", mutual.to_owned()));
    schemas.push((
        "a wide object",
        format!(
            "{{\"type\":\"object\",\"properties\":{{{}}}}}",
            list(3_000, &|n| format!("\"property{n}\":{{}}"))
        ),
    ));
    let mut deep = String::from("{\"type\":\"integer\"}");
    for _ in 0..7 {
        deep = format!("{{\"anyOf\":[{deep},{{\"not\":{deep}}}]}}");
        if deep.len() > 30_000 {
            break;
        }
    }
    schemas.push(("nested choices", deep));
    schemas
}

#[test]
fn every_hostile_schema_ends_on_a_small_stack() {
    for (name, text) in hostile() {
        for world in [World::Closed, World::Open] {
            let text = text.clone();
            let outcome = on_a_small_stack(move || {
                let compiled = compile(&text, world);
                let mut line = String::new();
                match &compiled {
                    Ok(schema) => {
                        let names: Vec<_> = schema.properties().iter().take(5).cloned().collect();
                        assert!(names.iter().all(|name| schema.field(name).is_some()));
                        let _ = write!(line, "taken, undeclared {}", schema.takes_undeclared());
                        for value in values() {
                            let _ = schema.accepts(&value);
                        }
                    }
                    Err(rules) => {
                        let _ = write!(line, "refused by {rules:?}");
                        assert!(!rules.is_empty());
                    }
                }
                line
            });
            println!("{name} ({world:?}): {outcome}");
        }
    }
}

/// Values that go deep or wide.
fn values() -> Vec<Value> {
    let nested = |open: &str, end: &str, depth: usize| {
        value(&format!("{}null{}", open.repeat(depth), end.repeat(depth)))
    };
    let wide: Vec<_> = (0..20_000).map(|n| format!("\"property{n}\":0")).collect();
    vec![
        nested("{\"a\":", "}", 120),
        nested("{\"l\":", "}", 120),
        nested("{\"o\":{\"l\":", "}}", 60),
        nested("[", "]", 120),
        value(&format!("{{{}}}", wide.join(","))),
        value(&format!("[{}0]", "0,".repeat(50_000))),
    ]
}

#[test]
fn every_hostile_value_ends_on_a_small_stack() {
    let recursive = [
        r##"{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["z"]},{"properties":{"a":{"$ref":"#"}},"required":["y"]},{"type":"integer"}]}"##,
        r##"{"type":["object","array"],"additionalProperties":{"$ref":"#"},"items":{"$ref":"#"}}"##,
        r##"{"oneOf":[{"type":"object","additionalProperties":{"$ref":"#"}},{"type":"array","items":{"$ref":"#"}},{"type":"integer"}]}"##,
        r##"{"not":{"not":{"items":{"not":{"not":{"$ref":"#"}}},"uniqueItems":true}}}"##,
    ];
    for text in recursive {
        let lines = on_a_small_stack(move || {
            let schema = compile(text, World::Open).unwrap();
            values()
                .iter()
                .map(|value| schema.accepts(value).map_err(|reasons| reasons.len()))
                .collect::<Vec<_>>()
        });
        println!("{lines:?}");
    }
}

/// Schemas that were reported to break another converter: each is taken or refused by a named rule.
#[test]
fn every_reported_schema_ends_on_a_small_stack() {
    let Some(text) = corpus::text("grammar/hostile-schemas.json") else { return };
    let document = value(&text);
    let (mut taken, mut refused) = (0, std::collections::BTreeMap::<_, usize>::new());
    for case in document.get("cases").and_then(Value::as_array).unwrap() {
        let Some(schema) = case.get("schema").cloned() else { continue };
        let rules = on_a_small_stack(move || {
            let mut findings = Findings::new();
            let limits = TrustLimits::default();
            let compiled = Schema::compile(&schema, &Path::Root, Options::default(), &limits, &mut findings);
            assert_eq!(compiled.is_some(), !findings.has_errors());
            findings.list().iter().map(|finding| finding.rule.id).collect::<Vec<_>>()
        });
        match rules.first() {
            None => taken += 1,
            Some(rule) => *refused.entry(*rule).or_default() += 1,
        }
    }
    println!("hostile-schemas: {taken} taken, refused {refused:?}");
    assert!(taken > 0);
}
