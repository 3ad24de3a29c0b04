//! A real model writes by our grammars. It has random weights and runs hot, so that it helps no grammar: what it writes,
//! the grammar let it write.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test"
)]

mod common;

use std::collections::BTreeSet;

use common::suites;
use common::tools::{self, Judgement, judged};
use connector_core::TrustLimits;
use connector_core::export::{
    Capabilities, ExportedTool, GrammarOptions, Mode, ReadCall, ToolChoice, export_grammar, export_tools,
    read_result, read_text,
};
use connector_core::json::Value;
use connector_core::toolset::Envelope;
use connector_oracle::{Failure, Inference};
use serde_json::{Value as Json, json};
use smol_str::SmolStr;

const TOOLS: usize = 40;
const GENERATIONS: usize = 200;
const LAZY: usize = 320;
/// More than most calls take; what is longer is unfinished.
const TOKENS: u64 = 6_000;

/// How the model draws: hot, and by nothing but `min_p`. Without any filter the last draw of llama.cpp may round up to a
/// token that the grammar has ruled out.
fn sampling(seed: usize) -> Json {
    json!({"temperature": 3.0, "top_k": 0, "top_p": 1.0, "min_p": 1e-3, "seed": seed, "n_predict": TOKENS})
}

fn inference(begins_calls: bool) -> Option<Inference> {
    let started = Inference::start(1, begins_calls).unwrap_or_else(|error| panic!("no model runs: {error}"));
    if started.is_none() {
        assert!(std::env::var_os("CI").is_none(), "CI needs npm and Node for the model");
        println!("skipped: npm or Node is missing, so that no model runs");
    }
    started
}

fn value(json: &Json) -> Value {
    suites::value(&json.to_string()).unwrap()
}

fn shown(tools: &[ExportedTool]) -> Json {
    tools.iter().map(|tool| serde_json::from_str::<Json>(&tool.value.to_text()).unwrap()).collect()
}

fn is_cut(result: &Json) -> bool {
    result["stopped_limited"] != false || result["context_full"] != false
}

#[test]
fn whatever_a_random_model_finishes_is_a_valid_call() {
    let Some((cases, _)) = suites::tools() else { return };
    let Some(mut model) = inference(false) else { return };
    let limits = TrustLimits::default();
    let (set, names) = tools::drawn(&cases, 40, TOOLS);
    assert_eq!(names.len(), TOOLS);
    let reported = model.capabilities().unwrap();
    let can = |name: &str| reported[name] == true;
    let capabilities = Capabilities {
        tools: can("tools"),
        tool_calls: can("toolCalls"),
        system_role: can("systemRole"),
        parallel_tool_calls: can("parallelToolCalls"),
        special_tokens: Vec::new(),
    };
    let (mut unfinished, mut calls, mut tokens, mut numbers, mut repeated) = (0, 0, 0, 0, 0);
    let mut called = BTreeSet::new();
    for generation in 0..GENERATIONS {
        // Every tool is named four times, twice in each envelope; then the model chooses among a few.
        let (round, at) = (generation / TOOLS, generation % TOOLS);
        let only: Vec<SmolStr> = (at..at + 4).map(|at| SmolStr::new(&names[at % TOOLS])).collect();
        let envelope = if round % 2 == 0 { Envelope::Hermes } else { Envelope::Json };
        let choice = if round == 4 { ToolChoice::Required } else { ToolChoice::Named(only[0].clone()) };
        let options = GrammarOptions { envelope, choice, parallel: false };
        let tools = export_tools(&set, &capabilities, Some(&only[..1]), None, &limits).unwrap();
        assert_eq!(tools.mode, Mode::Tools);
        let export = export_grammar(&set, &options, Some(&only)).unwrap();
        let mut more = sampling(generation);
        more["grammar"] = json!(export.gbnf);
        more["grammar_lazy"] = json!(export.lazy);
        more["preserved_tokens"] = json!(export.preserved);
        let mut result = model
            .complete(&shown(&tools.tools), &more)
            .unwrap_or_else(|failure| panic!("{failure:?} {only:?}"));
        tokens += result["tokens_predicted"].as_u64().unwrap();
        let read_result = |result: &Json| read_result(&set, &export.contract, &value(result), &limits);
        if is_cut(&result) {
            unfinished += 1;
            assert!(read_result(&result).is_err(), "half a call is none");
            continue;
        }
        let text = result["text"].as_str().unwrap().to_owned();
        let read = match read_text(&set, &export.contract, &text, &limits) {
            Ok(read) => read,
            // A grammar cannot count: an undeclared key stood twice, which the reader refuses.
            Err(refusal) if refusal.reason.contains("json.duplicate") => {
                repeated += 1;
                continue;
            }
            Err(refusal) => panic!("{refusal}: {text}"),
        };
        for call in &read {
            called.insert(call.name.clone());
            match judged(&set, &export.contract, call) {
                Judgement::Accepted => calls += 1,
                Judgement::NumberOfNoDouble => numbers += 1,
                Judgement::Refused(why) => panic!("{why}: {text}"),
            }
        }
        // What llama.rn's own parser made of the text is the same; without it the text is read.
        assert_eq!(read_result(&result).as_ref(), Ok(&read), "{text}");
        result.as_object_mut().unwrap().remove("tool_calls");
        assert_eq!(read_result(&result).as_ref(), Ok(&read), "{text}");
    }
    println!(
        "{GENERATIONS} generations, {tokens} tokens: {calls} calls of {} tools accepted, {numbers} more with a number of \
         no double, {repeated} repeat a key, {unfinished} unfinished",
        called.len()
    );
    assert!(unfinished * 20 < GENERATIONS, "{unfinished} unfinished");
    assert_eq!(called.len(), TOOLS);
}

/// `auto` as it runs: the model writes what it likes, until it writes the trigger, which is one of its tokens and so
/// comes by chance as often as others. Whatever it writes then, the lazy grammar let it write.
#[test]
fn a_lazy_grammar_begins_at_its_trigger_in_the_middle_of_a_text() {
    let Some((cases, _)) = suites::tools() else { return };
    let Some(mut model) = inference(true) else { return };
    let limits = TrustLimits::default();
    let (set, names) = tools::drawn(&cases, 42, TOOLS);
    let (mut late, mut calls, mut several, mut code, mut none, mut unfinished) = (0, 0, 0, 0, 0, 0);
    for (generation, only) in names.chunks(2).cycle().take(LAZY).enumerate() {
        let only: Vec<SmolStr> = only.iter().map(SmolStr::new).collect();
        let envelope = if generation % 2 == 0 { Envelope::Hermes } else { Envelope::Json };
        let parallel = generation % 4 < 2;
        let options = GrammarOptions { envelope, choice: ToolChoice::Auto, parallel };
        let export = export_grammar(&set, &options, Some(&only)).unwrap();
        let [trigger] = export.triggers.as_slice() else { panic!("one trigger: {:?}", export.triggers) };
        let mut more = sampling(generation);
        more["grammar"] = json!(export.gbnf);
        more["grammar_lazy"] = json!(export.lazy);
        more["grammar_triggers"] = json!([{"type": 1, "value": trigger}]);
        more["preserved_tokens"] = json!(export.preserved);
        let mut result = match model.complete(&json!([]), &more) {
            // After an answer of a few tokens llama.node may take no other question.
            Err(Failure::Refused(why)) if why.contains("in progress") => {
                let Some(fresh) = inference(true) else { return };
                model = fresh;
                model.complete(&json!([]), &more)
            }
            answer => answer,
        }
        .unwrap_or_else(|failure| panic!("{failure:?} {only:?}"));
        let text = result["text"].as_str().unwrap().to_owned();
        result.as_object_mut().unwrap().remove("tool_calls");
        if is_cut(&result) {
            unfinished += 1;
            continue;
        }
        let Some(at) = text.find(trigger) else {
            none += 1;
            assert_eq!(read_text(&set, &export.contract, &text, &limits), Ok(Vec::new()), "{text}");
            continue;
        };
        if *trigger == "{\"name\":" && text[..at].ends_with('[') {
            // The token of the other trigger, which holds this one and is none.
            none += 1;
            continue;
        }
        late += usize::from(at > 0);
        let read = match read_text(&set, &export.contract, &text, &limits) {
            Ok(read) => read,
            // A stray backtick came before; an undeclared key stood twice.
            Err(refusal) if refusal.reason.contains("stands in code") && text[..at].contains(['`', '~']) => {
                code += 1;
                continue;
            }
            Err(refusal) if refusal.reason.contains("json.duplicate") => continue,
            Err(refusal) => panic!("{refusal}: {text}"),
        };
        assert!(!read.is_empty() && (parallel || read.len() == 1), "{text}");
        several += usize::from(read.len() > 1);
        for call in &read {
            match judged(&set, &export.contract, call) {
                Judgement::Accepted | Judgement::NumberOfNoDouble => calls += 1,
                Judgement::Refused(why) => panic!("{why}: {text}"),
            }
        }
        assert_eq!(
            read_result(&set, &export.contract, &value(&result), &limits).as_ref(),
            Ok(&read),
            "{text}"
        );
    }
    println!(
        "{LAZY} lazy generations: {calls} calls, in {late} after other text, in {several} several at once; {code} in \
         open code, {none} without a call, {unfinished} unfinished"
    );
    assert!(late > LAZY / 8 && calls > LAZY / 8 && several > 1);
}

/// How often a model may begin anew whose answer found no end.
const ATTEMPTS: usize = 6;

#[test]
fn llama_rn_makes_calls_of_its_own_of_the_tools_that_it_is_given() {
    let Some((cases, _)) = suites::tools() else { return };
    let Some(mut model) = inference(false) else { return };
    let limits = TrustLimits::default();
    let (set, names) = tools::drawn(&cases, 41, TOOLS);
    let capabilities = Capabilities { tools: true, tool_calls: true, ..Capabilities::default() };
    let (mut read, mut unfinished, mut valid) = (0, 0, 0);
    for (at, only) in names.chunks(4).enumerate() {
        let only: Vec<SmolStr> = only.iter().map(SmolStr::new).collect();
        let export = export_tools(&set, &capabilities, Some(&only), None, &limits).unwrap();
        // A random model often goes on without end: it may begin anew.
        let mut finished = None;
        for attempt in 0..ATTEMPTS {
            let mut more = sampling(at + attempt * GENERATIONS);
            more["n_predict"] = json!(1_000);
            let result = model
                .complete_alone(&shown(&export.tools), &more)
                .unwrap_or_else(|failure| panic!("{failure:?} {only:?}"));
            if !is_cut(&result) {
                finished = Some(result);
                break;
            }
            unfinished += 1;
        }
        let Some(result) = finished else { continue };
        let calls = read_result(&set, &export.contract, &value(&result), &limits);
        let calls = calls.unwrap_or_else(|refusal| panic!("{refusal}: {result}"));
        read += calls.len();
        let accepted = |call: &&ReadCall| judged(&set, &export.contract, call) == Judgement::Accepted;
        valid += calls.iter().filter(accepted).count();
    }
    println!(
        "{read} calls by llama.rn's own grammars, {valid} of them accepted, {unfinished} answers unfinished"
    );
    assert!(read >= 3);
}
