//! What llama.rn's parser and matcher do not forgive, as laws of all grammars.

use super::gbnf::Gbnf;
use crate::schema::testing::{closed, open, value};

/// Schemas of every kind, and some that would tempt a writer.
const SCHEMAS: [&str; 16] = [
    r#"{"type":"object"}"#,
    r#"{"type":"object","properties":{}}"#,
    r#"{"type":"object","properties":{"a":{},"b":{"type":["string","null"]},"c":{"type":"number","minimum":0.5}},"required":["b"]}"#,
    r#"{"type":"object","properties":{"a_b":{},"a.b":{},"a-b":{},"a b":{},"a\"b":{},"":{},"名":{},"ws":{},"root":{},"a-b-2":{},"root-key":{}}}"#,
    r#"{"type":"object","properties":{"s":{"type":"string","minLength":3,"maxLength":70000},"t":{"type":"string","maxLength":2000},"u":{"type":"string","maxLength":2001}}}"#,
    r#"{"type":"object","properties":{"l":{"type":"array","maxItems":3000,"items":{"type":"array","maxItems":100,"items":{"type":"string","maxLength":50}}}}}"#,
    r#"{"type":"object","properties":{"l":{"type":"array","maxItems":0},"m":{"type":"array","minItems":2500}}}"#,
    r##"{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/m"}]},"m":{"anyOf":[{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}}},{"type":"array","items":{"$ref":"#/$defs/n"}}]}}}"##,
    r#"{"type":"object","properties":{"x":{"anyOf":[{"anyOf":[{"anyOf":[{"anyOf":[{"anyOf":[{"type":"string"},{"type":"integer"}]},{"type":"null"}]},{"enum":["a",1]}]},{"type":"array"}]},{"type":"object"}]}}}"#,
    r#"{"type":"object","properties":{"p":{"type":"string","pattern":"^(a|ab)(c|bcd)(d*)$"},"q":{"type":"string","pattern":"\"\\\\"},"r":{"type":"string","pattern":"^$"}}}"#,
    r#"{"type":"object","properties":{"e":{"enum":["","a","aa","\\","\"","]","^","-"]},"f":{"const":""}}}"#,
    r#"{"type":"object","properties":{"d":{"type":"string","format":"date-time"},"date":{"type":"string","format":"date"},"fmt-date":{"type":"string","format":"date"}}}"#,
    r#"{"type":"object","additionalProperties":{"type":"integer"},"minProperties":2,"maxProperties":5000}"#,
    r#"{"type":"object","patternProperties":{"^x_":{"type":"string"},"_y$":{"type":"string"}},"additionalProperties":false}"#,
    r#"{"oneOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"integer"}},"required":["b"]}]}"#,
    r#"{"type":"object","properties":{"a":{"type":"integer","multipleOf":7},"b":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}}}"#,
];

fn texts() -> impl Iterator<Item = String> {
    SCHEMAS.into_iter().map(|schema| closed(schema).to_grammar().unwrap().text)
}

#[test]
fn every_rule_has_a_body_a_name_and_no_empty_alternative_at_its_end() {
    for text in texts() {
        // The reader of these tests refuses all of that, counts of 2,000 or that fall, and rules that are not there.
        Gbnf::read(&text);
        assert!(text.starts_with("root ::= ") && text.ends_with('\n'), "{text}");
        for line in text.lines() {
            let (name, body) = line.split_once(" ::= ").unwrap();
            assert!(!body.trim().is_empty() && !body.contains("| |") && !body.contains("()"), "{line}");
            assert!(!name.contains('_') && !name.is_empty());
        }
    }
}

#[test]
fn no_rule_is_left_recursive_and_few_begin_with_another() {
    for text in texts() {
        let depth = Gbnf::read(&text).leftmost_depth();
        assert!(depth <= 4, "{depth}\n{text}");
    }
}

#[test]
fn what_is_repeated_is_one_element() {
    // The rules of a group would count once more for each repetition.
    for text in texts() {
        assert!(!text.contains("){"), "{text}");
    }
}

#[test]
fn no_class_is_negated_and_none_holds_surrogates() {
    for text in texts() {
        assert!(!text.contains("[^"), "{text}");
        assert!(!text.contains("\\uD8") && !text.contains("\\uDF"), "{text}");
    }
}

#[test]
fn the_same_schema_has_the_same_text_always() {
    for schema in SCHEMAS {
        let first = closed(schema).to_grammar().unwrap();
        for _ in 0..3 {
            assert_eq!(closed(schema).to_grammar().unwrap(), first);
        }
    }
}

#[test]
fn all_of_keeps_the_declared_order_and_closes_once() {
    let schema = closed(
        r#"{"allOf":[{"type":"object","properties":{"z":{"type":"integer"},"b":{}}},{"type":"object","properties":{"a":{},"z":{"minimum":3}}}]}"#,
    );
    let gbnf = Gbnf::read(&schema.to_grammar().unwrap().text);
    assert!(gbnf.takes("root", r#"{"z":5,"b":1,"a":2}"#));
    for other in [r#"{"a":2,"z":5}"#, r#"{"z":2}"#, r#"{"c":1}"#] {
        assert!(!gbnf.takes("root", other), "{other}");
    }
    let referred = closed(
        r##"{"$ref":"#/$defs/base","type":"object","properties":{"own":{}},"$defs":{"base":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}}"##,
    );
    let gbnf = Gbnf::read(&referred.to_grammar().unwrap().text);
    let taken = [r#"{"own":1,"id":2}"#, r#"{"id":2,"own":1}"#].map(|text| gbnf.takes("root", text));
    assert_eq!(taken.iter().filter(|taken| **taken).count(), 1, "one order, and both members");
}

#[test]
fn another_order_another_spelling_and_more_blanks_are_left_out() {
    let schema = closed(
        r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"string"},"i":{"type":"integer"}}}"#,
    );
    let gbnf = Gbnf::read(&schema.to_grammar().unwrap().text);
    for text in [
        r#"{"a":1,"b":"x"}"#,
        r#"{"a": 1.50, "b": "/é"}"#,
        r#"{"a":1e2}"#,
        r#"{"a":-0.5E-7,"i":-12}"#,
        r#"{"a":1.0}"#,
    ] {
        assert!(gbnf.takes("root", text), "{text}");
        assert!(schema.accepts(&value(text)).is_ok());
    }
    for text in [
        r#"{"b":"x","a":1}"#,
        r#"{"a":1 ,"b":"x"}"#,
        r#"{"a":1,  "b":"x"}"#,
        r#"{ "a":1}"#,
        r#"{"b":"\/"}"#,
        r#"{"b":"\u00e9"}"#,
        r#"{"i":1.0}"#,
        r#"{"i":-0}"#,
        r#"{"a":-0}"#,
        r#"{"a":12345678901234567}"#,
        r#"{"a":1e02}"#,
        r#"{"i":1e2}"#,
    ] {
        assert!(!gbnf.takes("root", text), "{text}");
        assert!(schema.accepts(&value(text)).is_ok(), "{text}");
    }
}

#[test]
fn nothing_but_a_string_is_taken_for_a_string() {
    let gbnf = Gbnf::read(&open(r#"{"type":"string"}"#).to_grammar().unwrap().text);
    for text in ["\"", "\"a", "a", "\"\"\"", "\"\\\"", "\"\\x\"", "\"\u{1}\"", ""] {
        assert!(!gbnf.takes("root", text), "{text:?}");
    }
}
