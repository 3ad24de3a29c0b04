//! What is kept and what is written anew.

use crate::json::{Path, Value, read_text};
use crate::limits::TrustLimits;
use crate::rule::Findings;
use crate::schema::{Options, SAFE_BYTES, Schema};
use crate::text::{Cleaner, Context, ModelTokens};

fn compiled(text: &str) -> Schema {
    let mut findings = Findings::new();
    let source = read_text(text).unwrap();
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
        r#"{"type":"object","properties":{"p":{"type":"string","pattern":"^[a-z]{2}$"},"d":{"type":"string","format":"date"}}}"#,
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
