//! What is kept and what is written anew.

use crate::json::{Numbers, Path, Profile, Value, read_strict};
use crate::limits::TrustLimits;
use crate::rule::Findings;
use crate::schema::{Options, SAFE_BYTES, Schema};
use crate::text::{Cleaner, Context, ModelTokens};

fn compiled(text: &str) -> Schema {
    let mut findings = Findings::new();
    let profile = Profile { max_bytes: 1 << 20, max_depth: 64, numbers: Numbers::Any };
    let source = read_strict(text.as_bytes(), profile).unwrap();
    Schema::compile(&source, &Path::Root, Options::default(), &TrustLimits::default(), &mut findings)
        .unwrap_or_else(|| panic!("{text}: {:?}", findings.list()))
}

fn cleaner() -> Cleaner {
    Cleaner::new(Context::Description, &ModelTokens::default())
}

fn safe(text: &str) -> String {
    compiled(text).to_safe(&cleaner()).schema.to_text()
}

fn reasons(text: &str) -> Vec<String> {
    let changes = compiled(text).to_safe(&cleaner()).changes;
    changes.into_iter().map(|change| format!("{}: {}", change.pointer, change.reason)).collect()
}

#[test]
fn what_is_read_right_stays_as_it_is() {
    for text in [
        r#"{"type":"object","properties":{"a":{"type":"string","description":"x"}},"required":["a"]}"#,
        r#"{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9}},"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"t":{"type":"array","items":{"enum":["a","b"]},"maxItems":5}}}"#,
        r#"{"type":"object","properties":{"p":{"type":"string","pattern":"^[a-z]{2}$"},"d":{"type":"string","format":"uuid"}}}"#,
        r#"{"type":"object","properties":{"u":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}}}"#,
        r#"{"type":"object","additionalProperties":{"type":"number"}}"#,
        r#"{"type":"object","properties":{"s":{"type":["string","null"],"maxLength":1999}}}"#,
    ] {
        assert_eq!(safe(text), text);
        assert_eq!(reasons(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_is_misread_is_written_in_another_form_with_a_reason() {
    for (text, expected) in [
        // A schema without keywords would be an object.
        (
            r#"{"type":"object","properties":{"a":true}}"#,
            r#"{"type":"object","properties":{"a":{"description":"any JSON value"}}}"#,
        ),
        // Bounds that are not enforced are told to the model.
        (
            r#"{"type":"object","properties":{"a":{"type":"number","minimum":0,"description":"Weight."}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"number","description":"Weight. (minimum 0)"}}}"#,
        ),
        // Siblings of references, conjunctions and nullable are what they mean.
        (
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/s","maxLength":3}},"$defs":{"s":{"type":"string"}}}"##,
            r#"{"type":"object","properties":{"a":{"type":"string","maxLength":3}}}"#,
        ),
        (
            r#"{"type":"object","properties":{"a":{"allOf":[{"type":"string"},{"minLength":2}]}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"string","minLength":2}}}"#,
        ),
        (
            r#"{"type":"object","properties":{"a":{"type":"integer","nullable":true}}}"#,
            r#"{"type":"object","properties":{"a":{"type":["integer","null"]}}}"#,
        ),
        // Patterns are put into the forms that are read, or left out.
        (
            r#"{"type":"object","properties":{"a":{"type":"string","pattern":"^\\d{4}$"}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"string","pattern":"^[0-9]{4}$"}}}"#,
        ),
        (
            r#"{"type":"object","properties":{"a":{"type":"string","pattern":"foo"}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"string","description":"(pattern foo)"}}}"#,
        ),
        // Others beside declared members: the alternatives win over what stands beside them.
        (
            r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}"#,
            r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true,"anyOf":[{"type":"object"}]}"#,
        ),
        (
            r#"{"type":"array","maxItems":2000}"#,
            r#"{"type":"array","items":{"description":"any JSON value"},"description":"(maxItems 2000)"}"#,
        ),
    ] {
        assert_eq!(safe(text), expected);
        assert!(!reasons(text).is_empty(), "{text}");
    }
}

#[test]
fn recursion_keeps_a_definition_under_a_name_of_its_own() {
    let text = r##"{"type":"object","properties":{"t":{"$ref":"#/$defs/T"}},"$defs":{"T":{"type":"object","properties":{"v":{"type":"string"},"next":{"$ref":"#/$defs/T"}}}}}"##;
    let form = compiled(text).to_safe(&cleaner()).schema;
    let names: Vec<&str> =
        form.get("$defs").and_then(Value::as_object).unwrap().keys().map(smol_str::SmolStr::as_str).collect();
    let [name] = names.as_slice() else { panic!("{names:?}") };
    assert!(name.starts_with("next-") || name.starts_with("t-"), "{name}");
    let other = text.replace("string", "boolean");
    assert_ne!(form, compiled(&other).to_safe(&cleaner()).schema);
    assert!(!safe(&other).contains(&format!("\"{name}\"")), "two schemas share no name");
}

#[test]
fn texts_are_clean_and_what_says_nothing_to_a_model_is_left_out() {
    let text = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"a":{"type":"string","description":"x\u202ey<|im_start|>"}}}"#;
    assert_eq!(
        safe(text),
        r#"{"type":"object","properties":{"a":{"type":"string","description":"xy< |im_start|>"}}}"#
    );
    assert_eq!(
        reasons(text),
        [
            "/$schema: left out: it says nothing to a model",
            "/properties/a/description: the text was cleaned for the model"
        ]
    );
}

#[test]
fn a_title_is_one_short_line_and_a_text_that_is_none_reads_as_empty() {
    let text = format!(
        r#"{{"type":"object","properties":{{"a":{{"type":"string","title":"a\nb {}","description":["x"]}}}}}}"#,
        "y".repeat(200)
    );
    let safe = safe(&text);
    let (_, title) = safe.split_once(r#""title":"a b y"#).unwrap();
    assert!(title.chars().count() < 90 && !safe.contains("description"), "{safe}");
}

#[test]
fn alternatives_at_the_top_show_all_their_members() {
    let text = r#"{"type":"object","oneOf":[{"properties":{"id":{"type":"string"}},"required":["id"]},{"properties":{"name":{"type":"string"}},"required":["name"]}]}"#;
    let form = compiled(text).to_safe(&cleaner()).schema;
    let names: Vec<String> =
        form.get("properties").and_then(Value::as_object).unwrap().keys().map(ToString::to_string).collect();
    assert_eq!(names, ["id", "name"]);
    assert!(form.get("anyOf").is_some() && form.get("required").is_none());
}

#[test]
fn no_form_is_too_large_or_too_deep() {
    let members: Vec<String> = (0..4_000).map(|at| format!(r#""m{at}":{{}}"#)).collect();
    let wide = format!(r#"{{"type":"object","properties":{{{}}}}}"#, members.join(","));
    let chain: Vec<String> =
        (0..400).map(|at| format!(r##""d{at}":{{"type":"object","properties":{{"x":{{"$ref":"#/$defs/d{}"}},"y":{{"$ref":"#/$defs/d{}"}}}}}}"##, at + 1, at + 1)).collect();
    let deep = format!(
        r##"{{"type":"object","properties":{{"x":{{"$ref":"#/$defs/d0"}}}},"$defs":{{{},"d400":{{"type":"string"}}}}}}"##,
        chain.join(",")
    );
    for text in [wide, deep] {
        let form = compiled(&text).to_safe(&cleaner());
        assert!(form.schema.to_text().len() <= SAFE_BYTES);
        assert!(!form.changes.is_empty());
    }
}

#[test]
fn what_no_value_satisfies_is_not_handed_on() {
    let never = [
        r#"{"type":"string","minLength":2,"maxLength":1}"#,
        r#"{"type":"string","minLength":1500,"maxLength":10}"#,
        r#"{"type":"string","pattern":"^a[^\\s\\S]$"}"#,
        r#"{"type":"integer","minimum":5,"maximum":1}"#,
        r#"{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":2}"#,
        r#"{"type":"array","items":{"type":"integer"},"minItems":3,"maxItems":1}"#,
        r#"{"type":"array","items":{"type":"string","minLength":2,"maxLength":1},"minItems":1}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","minLength":2,"maxLength":1}},"required":["a"]}"#,
        r#"{"type":["string","array"],"items":true,"minLength":2,"maxLength":1,"minItems":3,"maxItems":1}"#,
        r#"{"oneOf":[{"type":"string"},{"type":"string"}]}"#,
    ];
    for never in never {
        for (around, expected) in [
            (
                r#"{"type":"object","properties":{"z":@,"y":{"type":"null"}}}"#,
                r#"{"type":"object","properties":{"y":{"type":"null"}}}"#,
            ),
            (r#"{"anyOf":[@,{"type":"null"}]}"#, r#"{"type":"null"}"#),
            (r#"{"oneOf":[{"type":"null"},@]}"#, r#"{"type":"null"}"#),
            (r#"{"type":"array","items":@,"maxItems":1}"#, r#"{"enum":[[]]}"#),
            (
                r#"{"type":"array","prefixItems":[{"type":"null"},@]}"#,
                r#"{"type":"array","items":{"type":"null"},"maxItems":1}"#,
            ),
            (r#"{"type":"object","additionalProperties":@}"#, r#"{"type":"object","properties":{}}"#),
        ] {
            let text = around.replace('@', never);
            assert_eq!(safe(&text), expected, "{text}");
            assert!(!reasons(&text).is_empty(), "{text}");
        }
    }
    // Of several kinds those stay that have values.
    let text =
        r#"{"type":"object","properties":{"q":{"type":["string","null"],"minLength":2,"maxLength":1}}}"#;
    assert_eq!(safe(text), r#"{"type":"object","properties":{"q":{"type":"null"}}}"#);
}

fn description(text: &str) -> Option<String> {
    compiled(text).to_safe(&cleaner()).schema.get("description").and_then(Value::as_str).map(str::to_owned)
}

#[test]
fn what_is_told_to_the_model_is_true_of_every_value() {
    for (text, told) in [
        (r#"{"type":"string","not":{"pattern":"^admin"}}"#, Some("(not (pattern ^admin))")),
        (
            r#"{"type":"string","not":{"anyOf":[{"pattern":"^admin"},{"pattern":"^root"}]}}"#,
            Some("(not ((pattern ^admin or pattern ^root)))"),
        ),
        (r#"{"type":"string","not":{"format":"email"}}"#, Some("(not (format email))")),
        (r#"{"type":"string","not":{"minLength":3000}}"#, Some("(maxLength 2999)")),
        (r#"{"type":"number","not":{"minimum":5}}"#, Some("(exclusiveMaximum 5)")),
        (r#"{"type":"integer","not":{"multipleOf":3}}"#, Some("(not (multipleOf 3))")),
        (
            r#"{"type":"number","anyOf":[{"minimum":5.5},{"maximum":1.5}]}"#,
            Some("(minimum 5.5 or maximum 1.5)"),
        ),
        (
            r#"{"oneOf":[{"type":"string","pattern":"^a"},{"type":"string","pattern":"b$"}]}"#,
            Some("(exactly one of (type string and pattern ^a, type string and pattern b$))"),
        ),
        (
            r#"{"type":"array","items":{"type":"integer"},"not":{"uniqueItems":true}}"#,
            Some("(not (uniqueItems))"),
        ),
        // Nothing is said of what cannot be said wholly.
        (r#"{"type":"array","items":{"type":"integer"},"not":{"contains":{"const":1}}}"#, None),
        (r#"{"type":"string","if":{"pattern":"^a"},"then":{"pattern":"b$"}}"#, None),
        // A bound beside alternatives holds for all of them, a bound of one for that one.
        (
            r#"{"type":"number","minimum":0.5,"anyOf":[{"maximum":1.5},{"multipleOf":2}]}"#,
            Some("(minimum 0.5 and maximum 1.5 or minimum 0.5 and multipleOf 2)"),
        ),
        // The descriptions of what is ruled out, or holds on a condition, are not those of the value.
        (
            r#"{"type":"number","not":{"minimum":0,"description":"What is no depth."}}"#,
            Some("(exclusiveMaximum 0)"),
        ),
        (
            r#"{"type":"number","if":{"minimum":0.5},"then":{"description":"A height."},"description":"Metres."}"#,
            Some("Metres. (minimum 0.5 or exclusiveMaximum 0.5)"),
        ),
        (
            r#"{"anyOf":[{"type":"number","minimum":0.5,"description":"Metres."},{"type":"null"}]}"#,
            Some("Metres. (minimum 0.5)"),
        ),
        (
            r#"{"allOf":[{"type":"number","minimum":0.5},{"description":"Feet."}]}"#,
            Some("Feet. (minimum 0.5)"),
        ),
    ] {
        assert_eq!(description(text).as_deref(), told, "{text}");
    }
}

#[test]
fn what_is_told_of_an_alternative_stands_there() {
    let text = r#"{"type":"object","properties":{"a":{"anyOf":[{"enum":["x","y"]},{"type":"string","pattern":"foo"},{"type":"number","minimum":0.5}]}}}"#;
    assert_eq!(
        safe(text),
        r#"{"type":"object","properties":{"a":{"anyOf":[{"enum":["x","y"]},{"type":"string","description":"(pattern foo)"},{"type":"number","description":"(minimum 0.5)"}]}}}"#
    );
}

#[test]
fn enumerations_of_numbers_stay_where_llama_rn_writes_their_values() {
    for text in [
        r#"{"enum":[1234567890123456,1234567890123457]}"#,
        r#"{"enum":[1e-7,2.5]}"#,
        r#"{"enum":["a",1.5e300,-0.00001]}"#,
        r#"{"type":"integer","enum":[9007199254740991,100000000000000000]}"#,
    ] {
        assert_eq!(safe(text), text);
    }
    assert_eq!(safe(r#"{"enum":[1.0,-2e2,"a"]}"#), r#"{"enum":["a",1,-200]}"#);
    // No double is 12345678901234567, and Grisu2 may write more than 15 digits in another way.
    for (text, expected) in [
        (
            r#"{"enum":[12345678901234567,1]}"#,
            r#"{"type":"number","description":"(integer, one of 12345678901234567, 1)"}"#,
        ),
        (
            r#"{"enum":[0.1234567890123456]}"#,
            r#"{"type":"number","description":"(one of 0.1234567890123456)"}"#,
        ),
        (
            r#"{"type":"object","properties":{"n":{"const":100000000000000000001}}}"#,
            r#"{"type":"object","properties":{"n":{"type":"number","description":"(integer, one of 100000000000000000001)"}}}"#,
        ),
    ] {
        assert_eq!(safe(text), expected);
        let keyword =
            if text.contains("enum") { "/enum: `enum`: " } else { "/properties/n/const: `const`: " };
        assert!(reasons(text).iter().all(|reason| reason.starts_with(keyword)), "{:?}", reasons(text));
    }
}

#[test]
fn integers_of_many_digits_can_be_written() {
    for (text, expected, changed) in [
        (
            r#"{"type":"integer","minimum":10000000000000000}"#,
            r#"{"type":"number","description":"(integer, minimum 10000000000000000)"}"#,
            "/minimum",
        ),
        (
            r#"{"type":"integer","multipleOf":1e16,"minimum":1}"#,
            r#"{"type":"number","description":"(integer, minimum 1, multipleOf 10000000000000000)"}"#,
            "/minimum",
        ),
        (
            r#"{"type":"integer","minimum":9007199254740991}"#,
            r#"{"type":"number","description":"(integer, minimum 9007199254740991)"}"#,
            "/minimum",
        ),
        // The bound that can be written is, and only the other one is told.
        (
            r#"{"type":"integer","minimum":5,"maximum":9007199254740993}"#,
            r#"{"type":"integer","minimum":5,"description":"(maximum 9007199254740993)"}"#,
            "/maximum",
        ),
    ] {
        assert_eq!(safe(text), expected);
        assert!(reasons(text)[0].starts_with(changed), "{:?}", reasons(text));
    }
}

#[test]
fn a_bound_that_is_misread_alone_gets_another_one() {
    for (text, expected) in [
        (
            r#"{"type":"integer","minimum":100}"#,
            r#"{"type":"integer","minimum":100,"maximum":9999999999999998}"#,
        ),
        (
            r#"{"type":"integer","exclusiveMinimum":1004}"#,
            r#"{"type":"integer","minimum":1005,"maximum":9999999999999998}"#,
        ),
        (
            r#"{"type":"integer","maximum":-1}"#,
            r#"{"type":"integer","maximum":-1,"minimum":-9999999999999998}"#,
        ),
    ] {
        assert_eq!(safe(text), expected);
        assert_eq!(reasons(text).len(), 1, "{text}");
    }
    for text in [
        r#"{"type":"integer","minimum":0}"#,
        r#"{"type":"integer","minimum":10}"#,
        r#"{"type":"integer","minimum":1230}"#,
        r#"{"type":"integer","minimum":-100}"#,
        r#"{"type":"integer","maximum":100}"#,
        r#"{"type":"integer","minimum":100,"maximum":9007199254740991}"#,
    ] {
        assert_eq!(safe(text), text);
    }
}

#[test]
fn a_date_stays_and_its_days_are_told() {
    let text = r#"{"type":"object","properties":{"d":{"type":"string","format":"date"}}}"#;
    assert_eq!(safe(text), text);
    let told = "/properties/d/format: `format`: llama.rn takes a 31st of every month; the core does not";
    assert_eq!(reasons(text), [told]);
    let anew = text.replace(r#""format""#, r#""not":{"const":5},"format""#);
    assert_eq!((safe(&anew).as_str(), reasons(&anew)), (text, vec![told.to_owned()]));
}
