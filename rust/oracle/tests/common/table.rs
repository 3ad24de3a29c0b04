//! The two converters side by side.

use std::time::Instant;

use connector_core::json::Value;
use connector_oracle::Judge;

use super::spelling::{orders, spelled};
use super::suites::{self, Case};

/// What a converter does with schemas and the values that the suite has for them.
#[derive(Debug, Default)]
pub struct Row {
    pub schemas: usize,
    /// Schemas that do not convert, or whose grammar does not load.
    pub failed: usize,
    pub exact: usize,
    pub valid: usize,
    /// Accepted values, in the spelling of a grammar, that are not taken.
    pub left_out: usize,
    /// Those of them that are taken with their members in another order.
    pub other_order: usize,
    pub invalid: usize,
    /// Values that are not accepted and taken.
    pub taken: usize,
    /// Those of them whose grammar says that it is wider.
    pub noted: usize,
    pub bytes: Vec<usize>,
    /// Microseconds from a schema to its grammar, compiling included.
    pub time: Vec<f64>,
    /// Nanoseconds that the matcher takes for a byte, in the mean over the samples of a schema.
    pub cost: Vec<f64>,
}

impl Row {
    /// The line of a table.
    pub fn line(&self, name: &str) -> String {
        let median = |list: &[f64]| {
            let mut list = list.to_vec();
            list.sort_by(f64::total_cmp);
            list.get(list.len() / 2).copied().unwrap_or(0.0)
        };
        let bytes: Vec<f64> = self.bytes.iter().map(|bytes| *bytes as f64).collect();
        format!(
            "| {name} | {} of {} | {} of {} ({} by order) | {} of {} ({} noted) | {:.1} us | {:.0} | {:.0} ns | {:.0} ns |",
            self.failed,
            self.schemas,
            self.left_out,
            self.valid,
            self.other_order,
            self.taken,
            self.invalid,
            self.noted,
            median(&self.time),
            median(&bytes),
            median(&self.cost),
            self.worst_cost(),
        )
    }

    pub fn worst_cost(&self) -> f64 {
        self.cost.iter().copied().fold(0.0, f64::max)
    }
}

pub const HEAD: &str = "| grammar | fails to convert or load | valid, rejected | invalid, accepted | conversion, median | bytes of grammar, median | accept cost per byte, median | worst |\n|---|---|---|---|---|---|---|---|";

/// Our row and llama.rn's over the same schemas and values. A value is what `accepts` says it is.
pub fn rows(judge: &mut Judge, cases: &[Case]) -> (Row, Row) {
    let (mut ours, mut theirs) = (Row::default(), Row::default());
    for case in cases {
        let grammar = case.schema.to_grammar().unwrap_or_else(|refusal| panic!("{}: {refusal}", case.name));
        let source: serde_json::Value = serde_json::from_str(&case.schema.source().to_text()).unwrap();
        ours.time.push(made_in(case));
        let converted: Vec<_> = (0..3).map_while(|_| judge.convert(&source).ok()).collect();
        let best = converted.iter().map(|(_, ns)| ns / 1e3).fold(f64::INFINITY, f64::min);
        theirs.time.extend((!converted.is_empty()).then_some(best));
        let their_grammar = converted.into_iter().next().map(|(grammar, _)| grammar).unwrap_or_default();
        let samples = judge.sample(&grammar.text, 11, 6, 120).unwrap_or_default();
        ours.exact += usize::from(grammar.is_exact());
        row(&mut ours, judge, &grammar.text, grammar.is_exact(), case, &samples);
        row(&mut theirs, judge, &their_grammar, true, case, &samples);
    }
    (ours, theirs)
}

fn row(row: &mut Row, judge: &mut Judge, grammar: &str, exact: bool, case: &Case, samples: &[String]) {
    row.schemas += 1;
    if grammar.is_empty() || judge.load(grammar).is_err() {
        row.failed += 1;
        return;
    }
    row.bytes.push(grammar.len());
    // A text that is not taken costs nothing once it is known.
    let taken = judge.accepts(grammar, samples).unwrap_or_default();
    if !samples.is_empty()
        && taken.iter().all(|taken| *taken)
        && let Ok(time) = judge.time(grammar, samples, 5)
    {
        row.cost.push(time.mean);
    }
    for (value, _) in &case.values {
        let Some(text) = spelled(value) else { continue };
        let Ok(taken) = judge.accepts(grammar, &[&text]) else { continue };
        let taken = taken == [true];
        if case.schema.accepts(value).is_err() {
            row.invalid += 1;
            row.taken += usize::from(taken);
            row.noted += usize::from(taken && !exact);
        } else {
            row.valid += 1;
            row.left_out += usize::from(!taken);
            row.other_order += usize::from(!taken && some_order_is_taken(judge, grammar, value));
        }
    }
}

fn some_order_is_taken(judge: &mut Judge, grammar: &str, value: &Value) -> bool {
    let others: Vec<String> = orders(value).iter().filter_map(spelled).collect();
    judge.accepts(grammar, &others).is_ok_and(|taken| taken.contains(&true))
}

/// Microseconds from the source to the grammar, the best of a few runs.
fn made_in(case: &Case) -> f64 {
    let options = case.schema.options();
    let run = || {
        let start = Instant::now();
        let schema = suites::compile(case.schema.source(), options).unwrap();
        drop(schema.to_grammar());
        start.elapsed().as_secs_f64() * 1e6
    };
    (0..5).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// Objects of so many optional properties, with texts that have them all, or each third.
pub fn optional_properties(count: usize) -> Case {
    let properties: Vec<String> =
        (0..count).map(|at| format!(r#""property_{at:03}":{{"type":"string"}}"#)).collect();
    let text = format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
    let schema = suites::compile(&suites::value(&text).unwrap(), suites::Options::default()).unwrap();
    Case { name: format!("{count} optional properties"), schema, values: Vec::new() }
}
