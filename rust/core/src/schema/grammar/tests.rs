//! Whole schemas: what their grammars take, against what they accept.

use super::gbnf::Gbnf;
use crate::schema::testing::{closed, open, value};
use crate::schema::{Grammar, Schema};

fn grammar(schema: &Schema) -> (Grammar, Gbnf) {
    let grammar = schema.to_grammar().unwrap();
    let gbnf = Gbnf::read(&grammar.text);
    assert!(grammar.text.starts_with("root ::= "), "{}", grammar.text);
    (grammar, gbnf)
}

/// Asserts that an exact grammar takes of these texts what the schema accepts.
fn exact(text: &str, samples: &[&str]) -> Grammar {
    let schema = closed(text);
    let (grammar, gbnf) = grammar(&schema);
    assert_eq!(grammar.notes, [], "{text}");
    let mut taken = 0;
    for sample in samples {
        let accepted = schema.accepts(&value(sample)).is_ok();
        assert_eq!(gbnf.takes("root", sample), accepted, "{text} {sample}\n{}", grammar.text);
        taken += usize::from(accepted);
    }
    assert!(taken > 0, "{text} takes none of the samples\n{}", grammar.text);
    grammar
}

#[test]
fn required_and_optional_members_come_in_declared_order() {
    let grammar = exact(
        r#"{"type":"object","properties":{"path":{"type":"string"},"head":{"type":"integer"},"tail":{"type":"boolean"},
            "mode":{"enum":["r","w"]}},"required":["path","mode"]}"#,
        &[
            r#"{"path":"","mode":"r"}"#,
            r#"{"path":"a","head":1,"mode":"w"}"#,
            r#"{"path":"a","tail":true,"mode":"w"}"#,
            r#"{"path":"a", "head": -12,"tail":false,"mode": "w"}"#,
            r#"{"path":"a"}"#,
            r#"{"mode":"r"}"#,
            "{}",
            r#"{"path":"a","mode":"x"}"#,
            r#"{"path":"a","mode":"r","more":1}"#,
            "[]",
            "null",
        ],
    );
    assert_eq!(
        grammar.text.lines().take(4).collect::<Vec<_>>(),
        [
            r#"root ::= "{\"path\":" ws string "," ws "\"" ("head\":" ws integer "," ws "\"" ("tail\"" root-tail | "mode\"" root-mode) | "tail\"" root-tail | "mode\"" root-mode)"#,
            r#"root-tail ::= ":" ws boolean "," ws "\"mode\"" root-mode"#,
            r#"root-mode ::= ":" ws mode "}""#,
            r#"mode ::= "\"" ("r\"" | "w\"")"#,
        ]
    );
}

#[test]
fn objects_with_few_words_are_told_in_full() {
    exact(
        r#"{"type":"object","properties":{"a":{},"ab":{},"abc":{},"":{},"b\"\\\u00e9":{}}}"#,
        &[
            "{}",
            r#"{"a":1}"#,
            r#"{"ab":[1, {"x":null}]}"#,
            r#"{"a":"x","abc":{}}"#,
            r#"{"":0.5}"#,
            r#"{"a":1,"ab":2,"abc":3,"":4,"b\"\\é":5}"#,
            r#"{"abcd":1}"#,
        ],
    );
    exact(
        r#"{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"string"}}"#,
        &[
            "{}",
            r#"{"a":1}"#,
            r#"{"a":"x"}"#,
            r#"{"b":"x"}"#,
            r#"{"a":1,"b":"x","c":"y"}"#,
            r#"{"b":1}"#,
            r#"{"aa":"x"}"#,
            r#"{"":"x"}"#,
        ],
    );
    exact(
        r#"{"type":"object","additionalProperties":{"type":"integer"},"minProperties":1,"maxProperties":3}"#,
        &["{}", r#"{"a":1}"#, r#"{"a":1,"b":2,"c":3}"#, r#"{"a":1,"b":2,"c":3,"d":4}"#],
    );
    exact(
        r#"{"type":"object","properties":{"a":{},"b":{},"c":{},"d":{}},"required":["c"],"minProperties":2,"maxProperties":3}"#,
        &[
            "{}",
            r#"{"c":1}"#,
            r#"{"a":1,"c":2}"#,
            r#"{"c":1,"d":2}"#,
            r#"{"a":1,"b":2,"c":3}"#,
            r#"{"a":1,"b":2,"c":3,"d":4}"#,
            r#"{"a":1,"b":2}"#,
        ],
    );
    exact(
        r#"{"type":"object","patternProperties":{"^x":{"type":"integer"}},"additionalProperties":false,"properties":{"xa":{"maximum":5}}}"#,
        &["{}", r#"{"xa":1}"#, r#"{"xa":9}"#, r#"{"xb":9}"#, r#"{"xa":1,"xb":"no"}"#, r#"{"y":1}"#],
    );
}

#[test]
fn arrays_have_prefix_and_rest() {
    for schema in [
        r#"{"type":"array","items":{"type":"integer"}}"#,
        r#"{"type":"array","items":{"type":"integer"},"minItems":1}"#,
        r#"{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3}"#,
        r#"{"type":"array","items":{"type":"integer"},"maxItems":0}"#,
        r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":false}"#,
        r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":false,"minItems":2}"#,
        r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"integer"}],"items":{"type":"boolean"},"minItems":1}"#,
        r#"{"type":"array","prefixItems":[{},false],"items":{}}"#,
        r#"{"type":"array"}"#,
        r#"{"type":"array","minItems":2}"#,
    ] {
        exact(
            &format!(r#"{{"type":"object","properties":{{"a":{schema}}}}}"#),
            &[
                "{}",
                r#"{"a":[]}"#,
                r#"{"a":[1]}"#,
                r#"{"a":[1,2]}"#,
                r#"{"a":[1, 2,3]}"#,
                r#"{"a":[1,2,3,4]}"#,
                r#"{"a":[1,"x"]}"#,
                r#"{"a":[1,"x",true]}"#,
                r#"{"a":[1,2,true]}"#,
                r#"{"a":[null]}"#,
                r#"{"a":1}"#,
            ],
        );
    }
}

#[test]
fn unions_are_written_jointly() {
    let text = r#"{"oneOf":[
        {"type":"object","properties":{"kind":{"const":"circle"},"name":{"type":"string"},"radius":{"type":"number"}},"required":["kind","radius"]},
        {"type":"object","properties":{"kind":{"const":"square"},"name":{"type":"string"},"side":{"type":"number"}},"required":["kind","side"]},
        {"type":"object","properties":{"kind":{"enum":["dot","point"]},"name":{"type":"string"}},"required":["kind"]}]}"#;
    let grammar = exact(
        text,
        &[
            r#"{"kind":"circle","radius":1}"#,
            r#"{"kind":"circle","name":"a","radius":1}"#,
            r#"{"kind":"square","radius":1}"#,
            r#"{"kind":"square","side":1}"#,
            r#"{"kind":"dot"}"#,
            r#"{"kind":"point","name":"x"}"#,
            r#"{"kind":"point","side":1}"#,
            "{}",
        ],
    );
    assert_eq!(grammar.text.matches(r#""{\"kind\":""#).count(), 1, "{}", grammar.text);
    exact(
        r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}"#,
        &["{}", r#"{"a":"x"}"#, r#"{"b":"x"}"#, r#"{"a":"x","b":"y","c":1}"#, r#"{"c":1}"#],
    );
    exact(
        r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{}},"dependentRequired":{"a":["b"]}}"#,
        &["{}", r#"{"a":"x"}"#, r#"{"b":"x"}"#, r#"{"a":"x","b":"y","c":1}"#, r#"{"c":1}"#],
    );
    exact(
        r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"not":{"properties":{"a":{"const":1},"b":{"const":2}},"required":["a","b"]}}"#,
        &["{}", r#"{"a":1}"#, r#"{"b":2}"#, r#"{"a":1,"b":2}"#, r#"{"a":1,"b":3}"#, r#"{"a":2,"b":2}"#],
    );
    exact(
        r#"{"type":"object","properties":{"v":{"anyOf":[{"type":"string","maxLength":3},{"type":"integer","minimum":0},{"type":"null"},{"enum":["auto"]},{"type":"array","items":{"type":"string"}}]}}}"#,
        &[
            "{}",
            r#"{"v":"abc"}"#,
            r#"{"v":"abcd"}"#,
            r#"{"v":"auto"}"#,
            r#"{"v":12}"#,
            r#"{"v":-1}"#,
            r#"{"v":null}"#,
            r#"{"v":["x"]}"#,
            r#"{"v":[1]}"#,
        ],
    );
}

#[test]
fn recursion_is_named_rules() {
    exact(
        r##"{"type":"object","properties":{"tree":{"$ref":"#/$defs/node"}},"required":["tree"],
            "$defs":{"node":{"type":"object","properties":{"value":{"type":"integer"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}},"next":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/node"}]}},"required":["value"]}}}"##,
        &[
            "{}",
            r#"{"tree":{"value":1}}"#,
            r#"{"tree":{"value":1,"children":[{"value":2},{"value":3,"children":[]}],"next":{"value":4,"next":null}}}"#,
            r#"{"tree":{"value":1,"children":[{}]}}"#,
        ],
    );
}

#[test]
fn what_cannot_be_exact_is_wider_and_says_where() {
    let notes = |text: &str| -> Vec<(String, &'static str)> {
        let (grammar, _) = grammar(&closed(text));
        grammar.notes.into_iter().map(|note| (note.pointer, note.keyword)).collect()
    };
    assert_eq!(
        notes(
            r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"},"uniqueItems":true}}}"#
        ),
        [("/properties/a".to_owned(), "uniqueItems")]
    );
    assert_eq!(
        notes(
            r##"{"type":"object","properties":{"a":{"items":{"$ref":"#/$defs/b"},"type":"array"}},"$defs":{"b":{"type":"array","contains":{"const":1}}}}"##
        ),
        [("/$defs/b".to_owned(), "contains")]
    );
    assert_eq!(
        notes(r#"{"type":"object","properties":{"a":{"type":"array","uniqueItems":true,"maxItems":1}}}"#),
        []
    );
    assert_eq!(
        notes(r#"{"type":"object","properties":{"a":{"type":"integer","multipleOf":997}}}"#),
        [("/properties/a".to_owned(), "multipleOf")]
    );
}

#[test]
fn open_worlds_have_grammars_too() {
    let schema = open(r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#);
    let (_, gbnf) = grammar(&schema);
    assert!(gbnf.takes("root", r#"{"a":1,"b":[{}]}"#) && !gbnf.takes("root", r#"{"a":"x"}"#));
    let (_, gbnf) = grammar(&open("true"));
    assert!(gbnf.takes("root", "[1,{}]"));
    let (_, gbnf) = grammar(&open(r#"{"not":{"type":"object"}}"#));
    assert!(gbnf.takes("root", "[1,{}]") && !gbnf.takes("root", "{}"));
}

#[test]
fn multiples_of_a_long_step_end_with_its_zeros() {
    let multiples = [
        "10000000000000000",
        "-20000000000000000",
        "1230000000000000000",
        "0",
        "15000000000000000",
        "1",
        "10",
    ];
    exact(r#"{"type":"integer","multipleOf":1e16}"#, &multiples);
    exact(r#"{"type":"integer","multipleOf":1e16,"minimum":1}"#, &multiples);
    exact(
        r#"{"type":"integer","multipleOf":3e16,"maximum":-1,"not":{"multipleOf":6e16}}"#,
        &["-30000000000000000", "-60000000000000000", "-90000000000000000", "30000000000000000", "0"],
    );
    exact(
        r#"{"type":"integer","multipleOf":1e5,"minimum":250000,"exclusiveMaximum":500000}"#,
        &["200000", "300000", "400000", "500000", "30000"],
    );
    exact(
        r#"{"anyOf":[{"type":"integer","multipleOf":1e20,"minimum":1},{"const":7}]}"#,
        &["7", "100000000000000000000", "100", "0"],
    );
}

#[test]
fn a_wider_grammar_of_numbers_reaches_a_valid_one() {
    for (text, valid) in [
        (r#"{"type":"integer","multipleOf":12345678901234567,"minimum":1}"#, "12345678901234567"),
        (
            r#"{"type":"integer","multipleOf":12345678901234567,"maximum":-12345678901234568}"#,
            "-24691357802469134",
        ),
        (r#"{"type":"number","not":{"multipleOf":1e-15}}"#, "0.0000000000000005"),
        (
            r#"{"type":"number","multipleOf":1e-16,"exclusiveMinimum":0,"maximum":1e-15}"#,
            "0.0000000000000001",
        ),
    ] {
        let schema = closed(text);
        let (grammar, gbnf) = grammar(&schema);
        assert!(!grammar.is_exact() && schema.accepts(&value(valid)).is_ok(), "{text}");
        assert!(gbnf.takes("root", valid), "{text}\n{}", grammar.text);
    }
}
