//! Schemas near the limits of what a tool may declare, each hard for one part of the writer.

/// Names and texts of schemas.
pub fn schemas() -> Vec<(&'static str, String)> {
    let properties = |count: usize, name: &dyn Fn(usize) -> String, schema: &str| -> String {
        let list: Vec<String> = (0..count).map(|at| format!("{:?}:{schema}", name(at))).collect();
        list.join(",")
    };
    let object = |properties: String| format!(r#"{{"type":"object","properties":{{{properties}}}}}"#);
    let required = |count: usize| (0..count).map(|at| format!("\"f{at}\"")).collect::<Vec<_>>().join(",");
    let list =
        |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(",");
    let numbered = |at: usize| format!("f{at}");
    let letters = |at: usize| char::from_u32(0x4E00 + u32::try_from(at).unwrap()).unwrap().to_string();
    let wrap = |value: String| format!(r#"{{"type":"object","properties":{{"v":{value}}}}}"#);
    vec![
        ("1,000 optional properties", object(properties(1_000, &numbered, "{}"))),
        ("4,000 optional properties", object(properties(4_000, &numbered, "{}"))),
        ("1,000 optional properties that begin differently", object(properties(1_000, &letters, "{}"))),
        (
            "2,500 required properties",
            format!(r#"{{"type":"object","properties":{{{}}},"required":[{}]}}"#, properties(2_500, &numbered, "{}"), required(2_500)),
        ),
        ("300 properties that begin each other", object(properties(300, &|at| "a".repeat(at), "{}"))),
        (
            "200 optional properties and others",
            format!(r#"{{"type":"object","properties":{{{}}},"additionalProperties":{{"type":"string"}}}}"#, properties(200, &|at| format!("property_{at}"), "{}")),
        ),
        (
            "100 of 300 properties",
            format!(r#"{{"type":"object","properties":{{{}}},"minProperties":100,"maxProperties":150}}"#, properties(300, &numbered, "{}")),
        ),
        ("an enum of 3,000 words", wrap(format!(r#"{{"enum":[{}]}}"#, list(3_000, &|at| format!("\"value-{at}\""))))),
        (
            "an enum of 1,500 random words",
            wrap(format!(r#"{{"enum":[{}]}}"#, list(1_500, &|at| format!("\"{:x}\"", at.wrapping_mul(0x9E37_79B9_7F4A)))))
        ),
        ("an enum of 500 numbers", wrap(format!(r#"{{"enum":[{}]}}"#, list(500, &|at| format!("{}.{}", at * 7919, at))))),
        (
            "a union of 200 objects",
            wrap(format!(
                r#"{{"oneOf":[{}]}}"#,
                list(200, &|at| format!(r#"{{"type":"object","properties":{{"kind":{{"const":"k{at}"}},"f{at}":{{"type":"string"}},"same":{{}}}},"required":["kind"]}}"#))
            )),
        ),
        (
            "a union of 100 objects without a discriminator",
            wrap(format!(
                r#"{{"anyOf":[{}]}}"#,
                list(100, &|at| format!(r#"{{"type":"object","properties":{{"f{at}":{{"type":"string"}},"g{at}":{{}},"same":{{}}}},"required":["same"]}}"#))
            )),
        ),
        (
            "twelve pairs of alternatives",
            format!(
                r#"{{"type":"object","properties":{{{}}},"allOf":[{}]}}"#,
                properties(24, &numbered, r#"{"type":"integer"}"#),
                list(12, &|at| format!(r#"{{"anyOf":[{{"required":["f{}"]}},{{"required":["f{}"]}}]}}"#, 2 * at, 2 * at + 1))
            ),
        ),
        (
            "a dozen negations",
            format!(
                r#"{{"type":"object","properties":{{{}}},"allOf":[{}]}}"#,
                properties(24, &numbered, r#"{"type":"integer"}"#),
                list(12, &|at| format!(r#"{{"not":{{"properties":{{"f{}":{{"const":1}},"f{}":{{"const":2}},"f{}":{{"const":3}}}},"required":["f{at}"]}}}}"#, at, at + 3, at + 7))
            ),
        ),
        (
            "three out of many, in disguise",
            format!(
                r#"{{"type":"object","properties":{{{}}},"allOf":[{}]}}"#,
                properties(20, &numbered, r#"{"type":"boolean"}"#),
                list(60, &|at| {
                    let part = |n: usize| format!(r#"{{"properties":{{"f{}":{{"const":{}}}}},"required":["f{}"]}}"#, (at * n + n) % 20, (at + n).is_multiple_of(2), (at * n + n) % 20);
                    format!(r#"{{"anyOf":[{},{},{}]}}"#, part(3), part(7), part(11))
                })
            ),
        ),
        ("a long string", wrap(r#"{"type":"string","minLength":500000,"maxLength":1000000000}"#.into())),
        ("a pattern and a length", wrap(r#"{"type":"string","pattern":"^(?:[a-z]+-)*[0-9]{3}$","minLength":3,"maxLength":4000}"#.into())),
        ("many patterns", object(properties(60, &numbered, r#"{"type":"string","pattern":"^([a-f]{1,20}x){1,12}$"}"#))),
        ("numbers far out", object([
            r#""a":{"type":"number","minimum":1e300}"#, r#""b":{"type":"number","exclusiveMinimum":0,"maximum":1e-300}"#,
            r#""c":{"type":"integer","maximum":-1e300}"#, r#""d":{"const":1e300}"#, r#""e":{"type":"number","minimum":-1e308,"maximum":1e308}"#,
            r#""f":{"type":"integer","multipleOf":123456789}"#, r#""g":{"type":"number","multipleOf":1e-20}"#,
        ].join(","))),
        ("many steps", object(properties(40, &numbered, r#"{"type":"integer","multipleOf":91,"minimum":-12345678901,"maximum":98765432109}"#))),
        ("long arrays of long strings", wrap(r#"{"type":"array","maxItems":1000,"items":{"type":"array","maxItems":5000,"items":{"type":"string","maxLength":5000}}}"#.into())),
        (
            "a long tuple",
            wrap(format!(r#"{{"type":"array","prefixItems":[{}],"items":false}}"#, list(3_000, &|at| format!(r#"{{"const":{at}}}"#)))),
        ),
        (
            "mutual recursion",
            format!(
                r##"{{"type":"object","properties":{{"v":{{"$ref":"#/$defs/d0"}}}},"$defs":{{{}}}}}"##,
                list(100, &|at| format!(
                    r##""d{at}":{{"type":"object","properties":{{"a":{{"$ref":"#/$defs/d{}"}},"b":{{"$ref":"#/$defs/d{}"}},"c":{{"type":"array","items":{{"$ref":"#/$defs/d{at}"}}}}}}}}"##,
                    (at + 1) % 100, (at * 7) % 100
                ))
            ),
        ),
        ("many key patterns", format!(
            r#"{{"type":"object","patternProperties":{{{}}},"additionalProperties":{{"type":"boolean"}}}}"#,
            list(5, &|at| format!(r#""^{}.*{}":{{"type":["integer","string"]}}"#, (b'a' + u8::try_from(at).unwrap()) as char, at))
        )),
    ]
}
