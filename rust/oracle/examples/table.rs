//! Prints how the grammars compare with those of llama.rn's own converter, on the schemas of real tools and of the
//! standard's suite: `cargo run --release -p connector-oracle --example table`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measurement that prints"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use common::spelling::spelled;
use common::{suites, table};
use connector_core::json::Value;
use connector_core::schema::{Options, Schema};
use connector_oracle::Judge;

fn main() {
    let Some(mut judge) = common::judge() else { return };
    if let (Some((tools, _)), Some(standard)) = (suites::tools(), suites::standard()) {
        println!("{}", table::HEAD);
        for (name, cases) in [("real tools", &tools), ("standard", &standard)] {
            let (ours, theirs) = table::rows(&mut judge, cases);
            println!(
                "{}\n{}",
                ours.line(&format!("ours, {name}")),
                theirs.line(&format!("llama.rn, {name}"))
            );
        }
        speed(&mut judge, &tools);
    }
    optional_properties(&mut judge);
}

fn median(list: &mut [f64]) -> f64 {
    list.sort_by(f64::total_cmp);
    list.get(list.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The time of compiling and writing, against that of llama.rn's converter, and the cost of matching.
fn speed(judge: &mut Judge, cases: &[suites::Case]) {
    let (mut compile, mut write, mut both, mut theirs, mut ratios) = (vec![], vec![], vec![], vec![], vec![]);
    let (mut bytes, mut their_bytes, mut failed) = (vec![], vec![], 0);
    let (mut cost, mut their_cost, mut cost_ratios, mut worst, mut their_worst) =
        (vec![], vec![], vec![], 0f64, 0f64);
    for case in cases {
        let source = case.schema.source();
        let best = |run: &dyn Fn()| {
            let one = || {
                let start = Instant::now();
                run();
                start.elapsed().as_secs_f64() * 1e6
            };
            (0..15).map(|_| one()).fold(f64::INFINITY, f64::min)
        };
        let made = || suites::compile(source, Options::default()).unwrap();
        let compiled = best(&|| drop(made()));
        let schema: Schema = made();
        let written = best(&|| drop(schema.to_grammar()));
        compile.push(compiled);
        write.push(written);
        both.push(compiled + written);
        let grammar = schema.to_grammar().unwrap();
        bytes.push(grammar.text.len() as f64);
        let json: serde_json::Value = serde_json::from_str(&source.to_text()).unwrap();
        let runs: Vec<_> = (0..15).map(|_| judge.convert(&json)).collect();
        let converted = runs
            .iter()
            .filter_map(|run| run.as_ref().ok())
            .map(|(_, ns)| ns / 1e3)
            .fold(f64::INFINITY, f64::min);
        let Ok((their_grammar, _)) = &runs[0] else {
            failed += 1;
            continue;
        };
        theirs.push(converted);
        ratios.push(converted / (compiled + written));
        their_bytes.push(their_grammar.len() as f64);
        let samples = judge.sample(&grammar.text, 3, 10, 200).unwrap();
        let time = judge.time(&grammar.text, &samples, 7).unwrap();
        cost.push(time.mean);
        worst = worst.max(time.mean);
        let Ok(taken) = judge.accepts(their_grammar, &samples) else { continue };
        if taken.iter().all(|taken| *taken) {
            let their_time = judge.time(their_grammar, &samples, 7).unwrap();
            their_cost.push(their_time.mean);
            their_worst = their_worst.max(their_time.mean);
            cost_ratios.push((time.mean / their_time.mean).ln());
        }
    }
    let geometric = (cost_ratios.iter().sum::<f64>() / cost_ratios.len() as f64).exp();
    println!("real tools: {} schemas; llama.rn fails on {failed}", cases.len());
    println!(
        "  compile {:.1} us, write {:.1} us, both {:.1} us; llama.rn {:.1} us; ratio of medians {:.1}, median ratio {:.1}",
        median(&mut compile),
        median(&mut write),
        median(&mut both),
        median(&mut theirs),
        median(&mut theirs.clone()) / median(&mut both.clone()),
        median(&mut ratios)
    );
    println!("  p95 both {:.0} us", both[both.len() * 95 / 100]);
    println!("  bytes of grammar: median {}, llama.rn {}", median(&mut bytes), median(&mut their_bytes));
    println!(
        "  accept per byte: median {:.0} ns, worst {:.0}; llama.rn {:.0}, {:.0}; geometric mean of {} ratios {:.2}",
        median(&mut cost),
        worst,
        median(&mut their_cost),
        their_worst,
        cost_ratios.len(),
        geometric
    );
}

/// Objects of many optional properties.
fn optional_properties(judge: &mut Judge) {
    for count in [10, 50, 200] {
        let properties: Vec<String> =
            (0..count).map(|at| format!(r#""property_{at:03}":{{"type":"string"}}"#)).collect();
        let text = format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
        let schema = suites::compile(&suites::value(&text).unwrap(), Options::default()).unwrap();
        let start = Instant::now();
        let grammar = schema.to_grammar().unwrap();
        let written = start.elapsed();
        let value = |step: usize| {
            let members: Vec<String> = (0..count)
                .step_by(step)
                .map(|at| format!(r#""property_{at:03}":"some text {at}""#))
                .collect();
            spelled(&suites::value(&format!("{{{}}}", members.join(","))).unwrap()).unwrap()
        };
        let texts = [value(1), value(3)];
        assert_eq!(judge.accepts(&grammar.text, &texts), Ok(vec![true, true]));
        let time = judge.time(&grammar.text, &texts, 7).unwrap();
        let source: serde_json::Value = serde_json::from_str(&Value::to_text(schema.source())).unwrap();
        let theirs = judge.convert(&source).and_then(|(grammar, _)| judge.time(&grammar, &texts, 2));
        println!(
            "{count} optional properties: {} bytes, {written:?}, {time:?}; llama.rn {theirs:?}",
            grammar.text.len()
        );
    }
}
