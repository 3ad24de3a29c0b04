//! Hard schemas cost a note or a refusal, and neither time nor stack nor a grammar that llama.rn cannot carry.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test"
)]

mod common;

use std::time::Instant;

use common::{stress, suites};
use connector_core::schema::{GRAMMAR_BYTES, Options};

/// The stack of a thread on a phone.
const STACK: usize = 512 * 1024;

#[test]
fn hard_schemas_have_grammars_that_load() {
    let Some(mut judge) = common::judge() else { return };
    let mut written = 0;
    for (name, text) in stress::schemas() {
        let Some(schema) = suites::compile(&suites::value(&text).unwrap(), Options::default()) else {
            println!("{name}: refused when compiled");
            continue;
        };
        let start = Instant::now();
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || schema.to_grammar().map(|grammar| (grammar, schema)));
        let made = thread.unwrap().join().unwrap_or_else(|_| panic!("{name} panics"));
        let time = start.elapsed();
        match made {
            Err(refusal) => println!("{name}: {refusal} after {time:?}"),
            Ok((grammar, schema)) => {
                written += 1;
                let notes: Vec<String> = grammar
                    .notes
                    .iter()
                    .take(2)
                    .map(|note| format!("{} {}: {}", note.pointer, note.keyword, note.reason))
                    .collect();
                println!(
                    "{name}: {} bytes, {} notes {notes:?} after {time:?}",
                    grammar.text.len(),
                    grammar.notes.len()
                );
                assert!(grammar.text.len() <= GRAMMAR_BYTES);
                judge
                    .load(&grammar.text)
                    .unwrap_or_else(|failure| panic!("{name}: {failure:?}\n{}", grammar.text));
                let samples = judge
                    .sample(&grammar.text, 5, 4, 60)
                    .unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
                let short: Vec<&String> = samples.iter().filter(|sample| sample.len() < 20_000).collect();
                let taken = judge
                    .accepts(&grammar.text, &short)
                    .unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
                assert!(taken.iter().all(|taken| *taken), "{name}");
                for value in
                    short.iter().filter_map(|sample| suites::value(sample)).filter(|_| grammar.is_exact())
                {
                    assert_eq!(schema.accepts(&value), Ok(()), "{name}: {}", value.to_text());
                }
            }
        }
    }
    assert!(written > 15);
}
