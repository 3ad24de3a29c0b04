//! The two converters side by side.

use connector_core::json::Value;
use connector_oracle::Judge;

use super::spelling::{orders, spelled};
use super::suites::Case;

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
    /// Stacks at once while matching, in the mean over the characters of a schema.
    pub live: Vec<f64>,
}

impl Row {
    /// The line of a table.
    pub fn line(&self, name: &str) -> String {
        let mut bytes = self.bytes.clone();
        bytes.sort_unstable();
        let mut live = self.live.clone();
        live.sort_by(f64::total_cmp);
        let half = |len: usize| len / 2;
        format!(
            "| {name} | {} of {} | {} of {} ({} by order) | {} of {} ({} noted) | {} | {:.1} | {:.1} |",
            self.failed,
            self.schemas,
            self.left_out,
            self.valid,
            self.other_order,
            self.taken,
            self.invalid,
            self.noted,
            bytes.get(half(bytes.len())).copied().unwrap_or(0),
            live.get(half(live.len())).copied().unwrap_or(0.0),
            live.last().copied().unwrap_or(0.0),
        )
    }
}

pub const HEAD: &str = "| grammar | fails to convert or load | accepted, not taken | refused, taken | bytes, median | live stacks, median | most |\n|---|---|---|---|---|---|---|";

/// Our row and llama.rn's over the same schemas and values. A value is what `accepts` says it is.
pub fn rows(judge: &mut Judge, cases: &[Case]) -> (Row, Row) {
    let (mut ours, mut theirs) = (Row::default(), Row::default());
    for case in cases {
        let grammar = case.schema.to_grammar().unwrap_or_else(|refusal| panic!("{}: {refusal}", case.name));
        let source: serde_json::Value = serde_json::from_str(&case.schema.source().to_text()).unwrap();
        let their_grammar = judge.convert(&source).map(|(grammar, _)| grammar).unwrap_or_default();
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
    if let Ok(load) = judge.load_of(grammar, samples)
        && load.live > 0.0
    {
        row.live.push(load.live);
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
