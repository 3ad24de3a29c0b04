//! Every grammar that is written loads in llama.rn, takes nothing that its schema refuses unless it says so, and
//! leaves out nothing but other spellings.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test"
)]

mod common;

use common::random::Random;
use common::spelling::{orders, spelled};
use common::suites::{self, Case, compile};
use connector_core::json::Value;
use connector_core::schema::{Options, Schema};
use connector_oracle::Judge;

/// What was found of some schemas.
#[derive(Debug, Default)]
struct Tally {
    schemas: usize,
    exact: usize,
    samples: usize,
    /// Samples that repeat a key, which the reader refuses before any schema is asked.
    repeated: usize,
    /// Samples that a wider grammar takes and the schema refuses.
    wider: usize,
    values: usize,
    /// Accepted values that are taken with their members in another order only.
    reordered: usize,
    /// Accepted values with more digits than a grammar takes.
    long: usize,
    bytes: Vec<usize>,
    inexact: Vec<String>,
}

impl Tally {
    fn check(&mut self, judge: &mut Judge, name: &str, schema: &Schema, values: &[Value]) {
        let grammar =
            schema.to_grammar().unwrap_or_else(|refusal| panic!("{name}: {refusal} {}", schema.source()));
        let show = || {
            format!("{name}\n{}\n{}", schema.source(), grammar.text.chars().take(3_000).collect::<String>())
        };
        self.schemas += 1;
        self.bytes.push(grammar.text.len());
        if grammar.is_exact() {
            self.exact += 1;
        } else {
            let notes: Vec<_> =
                grammar.notes.iter().map(|note| format!("{} {}", note.pointer, note.keyword)).collect();
            self.inexact.push(format!("{name}: {}", notes.join(", ")));
        }
        if let Err(failure) = judge.load(&grammar.text) {
            panic!("does not load: {failure:?}: {}", show());
        }
        // Soundness.
        let seed = self.schemas as u64;
        let samples = judge
            .sample(&grammar.text, seed, 12, 60)
            .unwrap_or_else(|failure| panic!("{failure:?} {}", show()));
        let taken =
            judge.accepts(&grammar.text, &samples).unwrap_or_else(|failure| panic!("{failure:?} {}", show()));
        assert!(taken.iter().all(|taken| *taken), "the matcher takes what is drawn: {}", show());
        for sample in &samples {
            self.samples += 1;
            match suites::value(sample) {
                None if repeats_a_key(sample) => self.repeated += 1,
                None => panic!("{sample:?} is no JSON: {}", show()),
                Some(value) if schema.accepts(&value).is_ok() => {}
                Some(_) if !grammar.is_exact() => self.wider += 1,
                Some(_) => panic!("{sample} is refused: {}", show()),
            }
        }
        // Completeness.
        let accepted: Vec<&Value> = values.iter().filter(|value| schema.accepts(value).is_ok()).collect();
        let texts: Vec<Option<String>> = accepted.iter().map(|value| spelled(value)).collect();
        self.long += texts.iter().filter(|text| text.is_none()).count();
        let spelled_ones: Vec<(&Value, &String)> =
            accepted.iter().zip(&texts).filter_map(|(value, text)| Some((*value, text.as_ref()?))).collect();
        self.values += spelled_ones.len();
        let texts: Vec<&str> = spelled_ones.iter().map(|(_, text)| text.as_str()).collect();
        let taken =
            judge.accepts(&grammar.text, &texts).unwrap_or_else(|failure| panic!("{failure:?} {}", show()));
        for ((value, text), taken) in spelled_ones.iter().zip(taken) {
            if !taken {
                let others: Vec<String> = orders(value).iter().filter_map(spelled).collect();
                let any = judge.accepts(&grammar.text, &others).unwrap().iter().any(|taken| *taken);
                assert!(any, "{text} is left out: {}", show());
                self.reordered += 1;
            }
        }
    }

    fn print(&mut self, what: &str) {
        self.bytes.sort_unstable();
        let at = |part: usize| {
            self.bytes.get(self.bytes.len() * part / 100).or(self.bytes.last()).copied().unwrap_or(0)
        };
        println!(
            "{what}: {} schemas, {} exact; {} samples, {} repeat a key, {} wider; {} values taken, {} in another order, {} with too many digits; bytes median {}, most {}",
            self.schemas,
            self.exact,
            self.samples,
            self.repeated,
            self.wider,
            self.values - self.reordered,
            self.reordered,
            self.long,
            at(50),
            at(100),
        );
        self.inexact.iter().take(12).for_each(|line| println!("    {}", &line[..line.len().min(300)]));
    }
}

/// Whether a text is JSON but for a key that stands twice in an object.
fn repeats_a_key(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

fn check_all(what: &str, cases: &[Case]) -> Option<Tally> {
    let mut judge = common::judge()?;
    let mut tally = Tally::default();
    let mut random = Random::new(7);
    for case in cases {
        let source: serde_json::Value = serde_json::from_str(&case.schema.source().to_text()).unwrap();
        let mut values: Vec<Value> = case.values.iter().map(|(value, _)| value.clone()).collect();
        values.extend(drawn(&mut random, &source, 12));
        tally.check(&mut judge, &case.name, &case.schema, &values);
    }
    tally.print(what);
    Some(tally)
}

fn drawn(random: &mut Random, source: &serde_json::Value, count: usize) -> Vec<Value> {
    (0..count)
        .filter_map(|_| suites::value(&common::random::value(random, source, source, 8).to_string()))
        .collect()
}

#[test]
fn grammars_of_real_tools_are_exact_and_load() {
    let Some((cases, refused)) = suites::tools() else { return };
    println!("{refused} tools are refused");
    let Some(tally) = check_all("real tools", &cases) else { return };
    assert!(tally.exact * 100 >= tally.schemas * 99, "{:#?}", tally.inexact);
    assert_eq!(tally.reordered, 0);
}

#[test]
fn grammars_of_the_standards_suite_load_and_take_its_valid_values() {
    let Some(cases) = suites::standard() else { return };
    check_all("standard", &cases);
}

#[test]
fn grammars_of_schemas_that_break_llama_cpp_load() {
    let Some((cases, refused)) = suites::hostile() else { return };
    println!("{refused} are refused");
    check_all("hostile", &cases);
}

#[test]
fn grammars_of_random_schemas_load_and_hold() {
    random_schemas(4, 5_000);
}

#[test]
fn grammars_of_more_random_schemas_load_and_hold() {
    random_schemas(5, 5_000);
}

fn random_schemas(seed: u64, count: usize) {
    let Some(mut judge) = common::judge() else { return };
    let mut tally = Tally::default();
    let (mut random, mut refused) = (Random::new(seed), 0);
    while tally.schemas < count {
        let source = common::random::parameters(&mut random);
        let Some(schema) = compile(&suites::value(&source.to_string()).unwrap(), Options::default()) else {
            refused += 1;
            continue;
        };
        let values = drawn(&mut random, &source, 6);
        tally.check(&mut judge, &format!("random {}", tally.schemas), &schema, &values);
    }
    tally.print("random");
    println!("{refused} were refused");
}
