//! Schemas of real tools as GBNF, against llama.rn's own converter; and what a byte costs in llama.rn's matcher under
//! either grammar. llama.rn is its C++, built from the npm package by `connector-oracle`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use connector_core::json::{Numbers, Path as Pointer, Profile, Value, read_strict};
use connector_core::schema::{Options, Schema};
use connector_core::{Findings, TrustLimits};
use connector_oracle::{Judge, judge_program};

use crate::table::{Pair, Table, median};

const ROUNDS: u32 = 9;

pub(crate) fn rows(table: &mut Table) {
    let program = judge_program().expect("the judge is built");
    let (Some(program), Some(sources)) = (program, schemas()) else {
        return println!("grammars: skipped, for want of npm, g++ or the suite of real tools");
    };
    let mut judge = Judge::new(program, Duration::from_secs(10));
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut count = 0_u32;
    for source in &sources {
        let Some(schema) = compile(source) else { continue };
        let Ok(grammar) = schema.to_grammar() else { continue };
        let json: serde_json::Value = serde_json::from_str(&source.to_text()).unwrap();
        // Both several times in a row, each in its own process: neither is slowed by waiting for the other.
        let Ok((their_grammar, ns)) = judge.convert_times(&json, ROUNDS) else { continue };
        count += 1;
        let mut own = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            drop(compile(source).map(|schema| schema.to_grammar()));
            own.push(start.elapsed());
        }
        ours.push(median(own));
        theirs.push(Duration::from_secs_f64(ns / 1e9));
        ratios.extend(accept_ratio(&mut judge, &grammar.text, &their_grammar));
    }
    let pair = Pair { ours: median(ours), reference: median(theirs) };
    table.times(&format!("{count} schemas of real tools to GBNF / llama.rn"), &pair, 0.2);
    let geometric = |list: &[f64]| {
        let logarithms: f64 = list.iter().map(|value| value.ln()).sum();
        (logarithms / f64::from(u32::try_from(list.len()).unwrap_or(u32::MAX))).exp()
    };
    let (own, other): (Vec<f64>, Vec<f64>) = ratios.iter().map(|[own, other]| (*own, *other)).unzip();
    let (own, other) = (geometric(&own), geometric(&other));
    let what = format!("accept a byte, geometric mean of {} / llama.rn", ratios.len());
    table.row(&what, &format!("{own:.0} ns"), &format!("{other:.0} ns"), own / other, 0.7);
}

/// Nanoseconds a byte under our grammar and theirs, for texts that both take.
fn accept_ratio(judge: &mut Judge, ours: &str, theirs: &str) -> Option<[f64; 2]> {
    let samples = judge.sample(ours, 3, 10, 200).ok()?;
    let taken = judge.accepts(theirs, &samples).ok()?;
    if !taken.iter().all(|taken| *taken) {
        return None;
    }
    Some([judge.time(ours, &samples, 7).ok()?.mean, judge.time(theirs, &samples, 7).ok()?.mean])
}

fn compile(source: &Value) -> Option<Schema> {
    let (limits, mut findings) = (TrustLimits::default(), Findings::new());
    Schema::compile(source, &Pointer::Root, Options::default(), &limits, &mut findings)
}

/// The input schemas of the suite of real tools, read from `CONNECTOR_CASES` or the folder beside the repository.
fn schemas() -> Option<Vec<Value>> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    let folder = std::env::var_os("CONNECTOR_CASES").map_or_else(beside, PathBuf::from).join("mcp-tools");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).ok()?.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.sort();
    let mut schemas = Vec::new();
    for file in files {
        let bytes = std::fs::read(file).ok()?;
        let profile = Profile { max_bytes: 1 << 24, max_depth: 128, numbers: Numbers::Any };
        let document = read_strict(&bytes, profile).ok()?;
        let cases = document.get("cases").and_then(Value::as_array).unwrap_or_default();
        schemas.extend(cases.iter().filter_map(|case| case.get("inputSchema").cloned()));
    }
    Some(schemas)
}
