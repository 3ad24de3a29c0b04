//! Prints how long the comparison of two compiled schemas takes: on the pairs of a file of cases
//! (`{"cases": [{"prior": ..., "new": ...}]}`), and on hostile pairs made here.
//!
//! `cargo run --release -p connector-core --example narrowing_speed -- PAIRS.json`

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints and may stop")]

use std::time::{Duration, Instant};

use connector_core::json::{Numbers, Path, Profile, Value, read_strict};
use connector_core::schema::{Options, Schema, Verdict};
use connector_core::{Findings, TrustLimits};

fn json(text: &str) -> Value {
    let profile = Profile { max_bytes: 1 << 26, max_depth: 64, numbers: Numbers::Any };
    read_strict(text.as_bytes(), profile).unwrap()
}

fn compile(source: &Value) -> Option<Schema> {
    let mut findings = Findings::new();
    Schema::compile(source, &Path::Root, Options::default(), &TrustLimits::default(), &mut findings)
}

/// The least of many runs, and the verdict.
fn time(new: &Schema, old: &Schema, runs: u32) -> (Duration, Verdict) {
    let mut least = Duration::MAX;
    for _ in 0..runs {
        let start = Instant::now();
        std::hint::black_box(new.is_narrower_than(old));
        least = least.min(start.elapsed());
    }
    (least, new.is_narrower_than(old))
}

fn main() {
    if let Some(file) = std::env::args().nth(1) {
        let document = json(&std::fs::read_to_string(file).unwrap());
        let mut times = Vec::new();
        for case in document.get("cases").and_then(Value::as_array).unwrap() {
            let (Some(new), Some(old)) = (case.get("new"), case.get("prior")) else { continue };
            let (Some(new), Some(old)) = (compile(new), compile(old)) else { continue };
            times.push((time(&new, &old, 200).0, case.get("id").unwrap().to_text()));
        }
        times.sort();
        let at = |part: usize| times.get((times.len() - 1) * part / 100).unwrap();
        println!("{} pairs", times.len());
        for part in [50, 90, 99, 100] {
            let (time, id) = at(part);
            println!("  p{part}: {:.1} us  {id}", time.as_secs_f64() * 1e6);
        }
    }
    for (name, new, old) in hostile() {
        let (Some(new), Some(old)) = (compile(&json(&new)), compile(&json(&old))) else {
            println!("{name}: refused at load");
            continue;
        };
        let (time, verdict) = time(&new, &old, 3);
        let verdict = match verdict {
            Verdict::Narrower => "narrower".to_owned(),
            Verdict::Wider { pointer, .. } => format!("wider at {pointer:?}"),
            Verdict::Undecided { pointer, reason } => format!("undecided at {pointer:?}: {reason}"),
        };
        println!("{name}: {:.2} ms, {verdict}", time.as_secs_f64() * 1e3);
    }
}

/// Pairs that are made to be slow.
fn hostile() -> Vec<(String, String, String)> {
    let list = |items: Vec<String>| items.join(",");
    let mut pairs = Vec::new();
    // Satisfiability: each assignment of the booleans falls into a clause of the old schema, or it does not.
    for (variables, clauses) in [(12, 50), (20, 86), (30, 130), (40, 160)] {
        let mut state = 12345u64;
        let mut next = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let names: Vec<String> = (0..variables).map(|n| format!(r#""v{n}":{{"type":"boolean"}}"#)).collect();
        let required: Vec<String> = (0..variables).map(|n| format!(r#""v{n}""#)).collect();
        let head =
            format!(r#"{{"type":"object","properties":{{{}}},"required":[{}]"#, list(names), list(required));
        let clause = |literals: Vec<(u64, bool)>| {
            let literals = literals.into_iter().map(|(n, sign)| format!(r#""v{n}":{{"const":{sign}}}"#));
            format!(r#"{{"properties":{{{}}},"additionalProperties":true}}"#, list(literals.collect()))
        };
        let clauses: Vec<String> = (0..clauses)
            .map(|_| {
                clause(
                    (0..3)
                        .map(|_| (next(variables), next(2) == 1))
                        .collect::<std::collections::BTreeMap<_, _>>()
                        .into_iter()
                        .collect(),
                )
            })
            .collect();
        pairs.push((
            format!("3-SAT of {variables} variables"),
            format!("{head}}}"),
            format!(r#"{head},"anyOf":[{}]}}"#, list(clauses)),
        ));
    }
    let object = |inner: String| format!(r#"{{"type":"object","properties":{{{inner}}}}}"#);
    let pattern = |text: &str| object(format!(r#""p":{{"type":"string","pattern":"{text}"}}"#));
    pairs.push((
        "patterns whose product is large".into(),
        pattern("^(a|b)*a(a|b){9}$"),
        pattern("^(a|b)*b(a|b){8}(a|b|c)$"),
    ));
    pairs.push((
        "lengths that meet late".into(),
        object(r#""p":{"type":"string","pattern":"^(?:.{127})*$","minLength":1}"#.into()),
        object(r#""p":{"type":"string","not":{"pattern":"^(?:.{129})*$"}}"#.into()),
    ));
    pairs.push((
        "a long string behind a pattern".into(),
        object(r#""p":{"type":"string","pattern":"foo","maxLength":20000}"#.into()),
        object(r#""p":{"type":"string","pattern":"foo","maxLength":19999}"#.into()),
    ));
    let words = |from: u32, to: u32| {
        let words = (from..to).map(|n| format!(r#""value-{n}""#)).collect();
        object(format!(r#""e":{{"enum":[{}]}}"#, list(words)))
    };
    pairs.push(("an enum of 4,000 words".into(), words(1, 4000), words(0, 4000)));
    let numbers = |from: u32, to: u32| {
        let numbers = (from..to).map(|n| (n * 3).to_string()).collect();
        object(format!(r#""e":{{"enum":[{}]}}"#, list(numbers)))
    };
    pairs.push(("an enum of 1,000 numbers".into(), numbers(1, 1000), numbers(0, 1000)));
    let wide = |count: u32, kind: &str| {
        object(list(
            (0..count).map(|n| format!(r#""field_{n}":{{"type":"{kind}","maxLength":{n}}}"#)).collect(),
        ))
    };
    pairs.push((
        "1,000 properties".into(),
        wide(1000, "string"),
        wide(1000, "string").replace("\"field_999\"", "\"other\""),
    ));
    let branches = |count: u32, most: u32| {
        let branch = |n: u32| {
            format!(
                r#"{{"type":"object","properties":{{"kind":{{"const":"k{n}"}},"value":{{"type":"string","maxLength":{}}}}},"required":["kind"]}}"#,
                most + n
            )
        };
        object(format!(r#""u":{{"oneOf":[{}]}}"#, list((0..count).map(branch).collect())))
    };
    pairs.push(("a union of 300 kinds".into(), branches(300, 10), branches(300, 11)));
    let tree = |leaf: &str| {
        format!(
            r##"{{"type":"object","properties":{{"t":{{"$ref":"#/$defs/t"}}}},"$defs":{{"t":{{"oneOf":[{{"type":"object","properties":{{"l":{{"$ref":"#/$defs/t"}},"r":{{"$ref":"#/$defs/t"}}}},"required":["l","r"]}},{leaf}]}}}}}}"##
        )
    };
    pairs.push(("a tree".into(), tree(r#"{"type":"integer"}"#), tree(r#"{"type":"number"}"#)));
    let items = |n: u32| {
        object(format!(
            r#""a":{{"type":"array","uniqueItems":true,"minItems":{n},"items":{{"type":"integer"}}}}"#
        ))
    };
    pairs.push(("2,000 items that differ".into(), items(2000), items(2001)));
    let steps = |from: u32| {
        let primes = [2u32, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71];
        let nots = primes.iter().skip(from as usize).map(|p| format!(r#"{{"not":{{"multipleOf":{p}}}}}"#));
        object(format!(r#""n":{{"type":"integer","minimum":1000000007,"allOf":[{}]}}"#, list(nots.collect())))
    };
    pairs.push(("numbers off twenty lattices".into(), steps(1), steps(0)));
    let optional = |count: u32| {
        let fields = (0..count).map(|n| format!(r#""f{n}":{{"anyOf":[{{"type":"string","maxLength":{n}}},{{"type":"integer","minimum":{n}}}]}}"#));
        let any = (0..count).map(|n| format!(r#"{{"required":["f{n}"]}}"#));
        format!(
            r#"{{"type":"object","properties":{{{}}},"anyOf":[{}]}}"#,
            list(fields.collect()),
            list(any.collect())
        )
    };
    pairs.push(("one of 60 is there".into(), optional(61), optional(60)));
    let keys = |n: u32| {
        let patterns = (0..n).map(|n| format!(r#""^[a-z]{{{n}}}x":{{"type":"string","maxLength":{n}}}"#));
        format!(r#"{{"type":"object","patternProperties":{{{}}}}}"#, list(patterns.collect()))
    };
    pairs.push(("five patterns of keys".into(), keys(5), keys(4)));
    pairs
}
