//! Grammars of whole calls: llama.rn loads them, and what is written by them is read back as calls that are accepted.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test"
)]

mod common;

use common::suites;
use common::tools::{self, Judgement, judged};
use connector_core::TrustLimits;
use connector_core::export::{
    Capabilities, GrammarOptions, ToolChoice, export_grammar, export_tools, read_text,
};
use connector_core::toolset::Envelope;
use smol_str::SmolStr;

#[test]
fn what_the_grammars_of_calls_write_is_read_and_accepted() {
    let Some(mut judge) = common::judge() else { return };
    let Some((cases, _)) = suites::tools() else { return };
    let (set, names) = tools::drawn(&cases, 3, 120);
    println!("{} tools", names.len());
    assert!(names.len() > 100);
    let limits = TrustLimits::default();
    let (mut texts, mut calls, mut repeated, mut numbers) = (0, 0, 0, 0);
    for (at, only) in names.chunks(6).enumerate() {
        let only: Vec<SmolStr> = only.iter().map(SmolStr::new).collect();
        for envelope in [Envelope::Hermes, Envelope::Json] {
            for (choice, parallel) in [
                (ToolChoice::Required, false),
                (ToolChoice::Required, true),
                (ToolChoice::Auto, true),
                (ToolChoice::Named(only[0].clone()), false),
            ] {
                let options = GrammarOptions { envelope, choice, parallel };
                let export = export_grammar(&set, &options, Some(&only)).unwrap();
                assert!(export.is_exact());
                judge.load(&export.gbnf).unwrap_or_else(|failure| panic!("{failure:?}\n{}", export.gbnf));
                for text in judge.sample(&export.gbnf, at as u64, 8, 150).unwrap() {
                    texts += 1;
                    let read = match read_text(&set, &export.contract, &text, &limits) {
                        Ok(read) => read,
                        // An object may repeat a key that is not declared; the reader refuses it.
                        Err(refusal) if refusal.reason.contains("json.duplicate") => {
                            repeated += 1;
                            continue;
                        }
                        Err(refusal) => panic!("{refusal}: {text}"),
                    };
                    assert!(!read.is_empty() && (parallel || read.len() == 1));
                    for call in read {
                        calls += 1;
                        match judged(&set, &export.contract, &call) {
                            Judgement::Accepted => {}
                            Judgement::NumberOfNoDouble => numbers += 1,
                            Judgement::Refused(why) => panic!("{why}: {text}"),
                        }
                    }
                }
            }
        }
    }
    println!(
        "{texts} texts, {calls} calls read and accepted, {numbers} of them with a number of no double; {repeated} texts repeat a key"
    );
    assert!(texts > 1_000 && repeated * 50 < texts);
}

#[test]
fn the_tools_of_an_export_convert_together() {
    let Some(mut judge) = common::judge() else { return };
    let Some((cases, _)) = suites::tools() else { return };
    let (set, names) = tools::drawn(&cases, 4, 120);
    let capabilities = Capabilities { tools: true, tool_calls: true, ..Capabilities::default() };
    let export = export_tools(&set, &capabilities, None, None, &TrustLimits::default()).unwrap();
    assert_eq!(export.tools.len(), names.len());
    let values: Vec<serde_json::Value> =
        export.tools.iter().map(|tool| serde_json::from_str(&tool.value.to_text()).unwrap()).collect();
    for chunk in values.chunks(30) {
        let functions: Vec<(&str, &serde_json::Value)> = chunk
            .iter()
            .map(|tool| (tool["function"]["name"].as_str().unwrap(), &tool["function"]["parameters"]))
            .collect();
        let grammar = judge.convert_tools(&functions).unwrap();
        judge.load(&grammar).unwrap();
        // Each tool keeps the rules of its own arguments.
        for (name, parameters) in functions {
            let (alone, _) = judge.convert(parameters).unwrap();
            let texts = judge.sample(&alone, 5, 5, 60).unwrap();
            let texts: Vec<String> = texts.iter().map(|text| format!("{name} {text}")).collect();
            assert_eq!(judge.accepts(&grammar, &texts), Ok(vec![true; texts.len()]), "{name}\n{texts:?}");
        }
    }
}
