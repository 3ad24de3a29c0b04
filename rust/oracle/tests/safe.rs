//! The safe form of every schema converts in llama.rn, loads, and takes all that our grammar takes.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test"
)]

mod common;

use common::order::ordered;
use common::random::Random;
use common::spelling::{dumped, spelled};
use common::stress;
use common::suites::{self, Case, Options, compile};
use connector_core::schema::{SAFE_BYTES, Safe, Schema};
use connector_core::text::{Cleaner, Context, ModelTokens};
use connector_oracle::Judge;
use serde_json::{Value, json};

fn cleaner() -> Cleaner {
    Cleaner::new(Context::Description, &ModelTokens::default())
}

fn json_of(value: &connector_core::json::Value) -> Value {
    serde_json::from_str(&value.to_text()).unwrap()
}

/// Counts numbers of more than 17 digits, and those that may be written with an exponent or without.
fn spellings(value: &connector_core::json::Value, long: &mut usize, several: &mut usize) {
    use connector_core::json::Value as V;
    match value {
        V::Number(number) => {
            *long += usize::from(number.decimal().digits.len() > 17);
            let size = number.to_f64().abs();
            *several += usize::from(size != 0.0 && !(1e-4..1e15).contains(&size));
        }
        V::Array(items) => items.iter().for_each(|item| spellings(item, long, several)),
        V::Object(object) => object.values().for_each(|value| spellings(value, long, several)),
        _ => {}
    }
}

#[derive(Debug, Default)]
struct Tally {
    schemas: usize,
    /// Handed on as they were.
    kept: usize,
    samples: usize,
    /// What the forms wrote.
    written: usize,
    bytes: usize,
}

impl Tally {
    fn check(&mut self, judge: &mut Judge, name: &str, schema: &Schema) {
        self.schemas += 1;
        let safe = schema.to_safe(&cleaner());
        let source = json_of(schema.source());
        let safe_json = json_of(&safe.schema);
        self.kept += usize::from(safe_json == source);
        // As text: the order of members counts here.
        let texts = (safe.schema.to_text(), schema.source().to_text());
        assert!(
            texts.0 == texts.1 || !safe.changes.is_empty(),
            "{name}: a change is told\n{source}\n{safe_json}"
        );
        let bytes = safe.schema.to_text().len();
        self.bytes = self.bytes.max(bytes);
        assert!(bytes <= SAFE_BYTES, "{name}");
        let show = || format!("{name}\n{source}\n{safe_json}");
        let (grammar, _) =
            judge.convert(&safe_json).unwrap_or_else(|failure| panic!("{failure:?} {}", show()));
        judge.load(&grammar).unwrap_or_else(|failure| panic!("{failure:?} {}\n{grammar}", show()));
        self.writes(judge, schema, &safe, &grammar, &show);
        let Ok(ours) = schema.to_grammar() else { return };
        let samples = judge.sample(&ours.text, self.schemas as u64, 10, 60).unwrap();
        for sample in samples.iter().filter(|sample| sample.len() < 4_000) {
            // Keys that repeat are refused before any schema is asked; a wider grammar than ours is no measure.
            let Some(value) = suites::value(sample) else { continue };
            if schema.accepts(&value).is_err() {
                continue;
            }
            // No double holds a number of more than 17 digits, and no request takes it.
            // Of two that have several spellings each may need another one.
            let (mut long, mut several) = (0, 0);
            spellings(&value, &mut long, &mut several);
            if long > 0 || several > 1 {
                continue;
            }
            let text = spelled(&value).unwrap_or_else(|| value.to_text());
            self.samples += 1;
            let texts: Vec<String> = ordered(&serde_json::from_str(&text).unwrap(), &safe_json, &safe_json)
                .iter()
                .flat_map(|value| {
                    [
                        spelled(&suites::value(&value.to_string()).unwrap()),
                        Some(value.to_string()),
                        Some(dumped(value, false)),
                        Some(dumped(value, true)),
                    ]
                })
                .flatten()
                .flat_map(|text| [text.replace('\u{7f}', "\\u007f"), text])
                .collect();
            let taken =
                judge.accepts(&grammar, &texts).unwrap_or_else(|failure| panic!("{failure:?} {}", show()));
            assert!(taken.contains(&true), "{sample} is left out: {}\n{grammar}", show());
        }
    }

    /// What the converted form writes it also takes, to the end: no rule leads where nothing can follow. And where no
    /// change is told but of the form, the schema accepts it.
    fn writes(
        &mut self,
        judge: &mut Judge,
        schema: &Schema,
        safe: &Safe,
        grammar: &str,
        show: &dyn Fn() -> String,
    ) {
        let texts = judge.sample(grammar, self.schemas as u64, 4, 40);
        let texts = texts.unwrap_or_else(|failure| panic!("{failure:?} {}\n{grammar}", show()));
        let taken = judge.accepts(grammar, &texts).unwrap_or_else(|failure| panic!("{failure:?} {}", show()));
        for (text, taken) in texts.iter().zip(taken) {
            self.written += 1;
            assert!(taken, "{text} is written and not taken: {}\n{grammar}", show());
            let same = safe.changes.iter().all(|change| change.reason.ends_with("with the same meaning"));
            if let Some(value) = suites::value(text).filter(|_| same) {
                assert!(schema.accepts(&value).is_ok(), "{text} is written and no change told: {}", show());
            }
        }
    }

    fn print(&self, what: &str) {
        println!(
            "{what}: {} schemas, {} as they were; {} samples taken, {} written; at most {} bytes",
            self.schemas, self.kept, self.samples, self.written, self.bytes
        );
    }
}

fn check_all(what: &str, cases: &[Case]) {
    let Some(mut judge) = common::judge() else { return };
    let mut tally = Tally::default();
    for case in cases {
        tally.check(&mut judge, &case.name, &case.schema);
    }
    tally.print(what);
}

#[test]
fn safe_forms_of_real_tools_convert_and_hold_ours() {
    if let Some((cases, _)) = suites::tools() {
        check_all("real tools", &cases);
    }
}

#[test]
fn safe_forms_of_the_standards_suite_convert_and_hold_ours() {
    if let Some(cases) = suites::standard() {
        check_all("standard", &cases);
    }
}

#[test]
fn safe_forms_of_schemas_that_break_llama_cpp_convert_and_hold_ours() {
    if let Some((cases, _)) = suites::hostile() {
        check_all("hostile", &cases);
    }
}

#[test]
fn safe_forms_of_random_schemas_convert_and_hold_ours() {
    random_schemas(21, 5_000);
}

#[test]
fn safe_forms_of_more_random_schemas_convert_and_hold_ours() {
    random_schemas(22, 5_000);
}

fn random_schemas(seed: u64, count: usize) {
    let Some(mut judge) = common::judge() else { return };
    let (mut tally, mut random) = (Tally::default(), Random::new(seed));
    while tally.schemas < count {
        let source = common::random::parameters(&mut random);
        let Some(schema) = compile(&suites::value(&source.to_string()).unwrap(), Options::default()) else {
            continue;
        };
        tally.check(&mut judge, &format!("random {}", tally.schemas), &schema);
    }
    tally.print("random");
}

#[test]
fn safe_forms_of_hard_schemas_are_made_on_a_small_stack_and_convert() {
    let Some(mut judge) = common::judge() else { return };
    for (name, text) in stress::schemas() {
        let Some(schema) = compile(&suites::value(&text).unwrap(), Options::default()) else { continue };
        let thread = std::thread::Builder::new().stack_size(512 * 1024);
        let safe = thread.spawn(move || schema.to_safe(&cleaner())).unwrap().join();
        let safe = safe.unwrap_or_else(|_| panic!("{name} panics"));
        println!("{name}: {} bytes, {} changes", safe.schema.to_text().len(), safe.changes.len());
        let (grammar, _) = judge
            .convert(&json_of(&safe.schema))
            .unwrap_or_else(|failure| panic!("{name}: {failure:?} {}", safe.schema));
        judge.load(&grammar).unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
    }
}

#[test]
fn two_tools_with_definitions_of_one_name_do_not_share_a_rule() {
    let Some(mut judge) = common::judge() else { return };
    let schema = |kind: &str| {
        let text = json!({
            "type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/Node"}},
            "$defs": {"Node": {"type": "object", "required": ["v"],
                "properties": {"v": {"type": kind}, "next": {"$ref": "#/$defs/Node"}}}}
        });
        compile(&suites::value(&text.to_string()).unwrap(), Options::default()).unwrap()
    };
    let (one, two) = (schema("string"), schema("boolean"));
    let texts =
        [r#"a_b {"a":{"v":"x"}}"#, r#"a_b {"a":{"v":true}}"#, r#"a.b {"a":{"v":true,"next":{"v":false}}}"#];
    let originals = [json_of(one.source()), json_of(two.source())];
    let shared = judge.convert_tools(&[("a_b", &originals[0]), ("a.b", &originals[1])]).unwrap();
    assert_ne!(judge.accepts(&shared, &texts), Ok(vec![true, false, true]), "the trap is still there");
    let safe = [one, two].map(|schema| json_of(&schema.to_safe(&cleaner()).schema));
    let grammar = judge.convert_tools(&[("a_b", &safe[0]), ("a.b", &safe[1])]).unwrap();
    assert_eq!(judge.accepts(&grammar, &texts), Ok(vec![true, false, true]));
}
