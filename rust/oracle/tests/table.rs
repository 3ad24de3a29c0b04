//! The grammars beside those of llama.rn's own converter, on the same schemas.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test"
)]

mod common;

use common::suites::{self, Options};
use common::{spelling::spelled, table};

#[test]
fn the_grammars_are_right_where_the_converter_of_llama_rn_is_not() {
    let Some(mut judge) = common::judge() else { return };
    let (Some((mut cases, _)), Some(standard)) = (suites::tools(), suites::standard()) else { return };
    println!("{}", table::HEAD);
    let both = |judge: &mut _, what: &str, cases: &[suites::Case]| {
        let (ours, theirs) = table::rows(judge, cases);
        println!("{}\n{}", ours.line(&format!("ours, {what}")), theirs.line(&format!("llama.rn, {what}")));
        assert_eq!(ours.failed, 0, "all of them convert and load");
        assert_eq!(ours.left_out, ours.other_order, "nothing is left out but other orders");
        assert_eq!(ours.taken, ours.noted, "nothing is taken that no note speaks of");
        // Some hundred nanoseconds; the bound leaves room for a machine that is shared.
        assert!(ours.worst_cost() < 5_000.0, "{} ns a byte", ours.worst_cost());
        (ours, theirs)
    };
    let tools = cases.len();
    let (exact, _) = both(&mut judge, &format!("{tools} real tools"), &cases);
    assert!(exact.exact * 100 >= tools * 99, "{} of {tools} real tools are exact", exact.exact);
    both(&mut judge, "200 optional properties", &[table::optional_properties(200)]);
    cases.extend(standard);
    let (_, theirs) = both(&mut judge, "real tools and the standard's suite", &cases);
    // The judge is the real one: it shows what is known of llama.rn.
    assert!(theirs.failed > 0 && theirs.left_out > 100 && theirs.taken > 0);
}

/// What a byte costs follows the stacks at once.
#[test]
fn two_hundred_optional_properties_cost_no_more_than_thrice_what_ten_do() {
    let Some(mut judge) = common::judge() else { return };
    for name in [
        |at: usize| format!("property_{at:03}"),
        |at: usize| format!("{}{at}", ["name", "path", "id", "limit", "query"][at % 5]),
    ] {
        let mut load = |count: usize| {
            let properties: Vec<String> =
                (0..count).map(|at| format!(r#"{:?}:{{"type":"string"}}"#, name(at))).collect();
            let text = format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
            let schema = suites::compile(&suites::value(&text).unwrap(), Options::default()).unwrap();
            let grammar = schema.to_grammar().unwrap();
            assert!(grammar.is_exact());
            let members: Vec<String> =
                (0..count).step_by(3).map(|at| format!(r#"{:?}:"some text""#, name(at))).collect();
            let value = spelled(&suites::value(&format!("{{{}}}", members.join(","))).unwrap()).unwrap();
            assert_eq!(judge.accepts(&grammar.text, &[&value]), Ok(vec![true]));
            judge.load_of(&grammar.text, &[value]).unwrap()
        };
        let (few, many) = (load(10), load(200));
        println!("{few:?} {many:?}");
        assert!(many.live <= 3.0 * few.live && many.depth <= few.depth + 1.0 && many.most <= 40.0);
    }
}

#[test]
fn stacks_do_not_deepen_with_the_length_of_a_text() {
    let Some(mut judge) = common::judge() else { return };
    let text = r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}},"m":{"type":"object","additionalProperties":{"type":"integer"}},"s":{"type":"string","maxLength":5000}}}"#;
    let grammar = suites::compile(&suites::value(text).unwrap(), Options::default())
        .unwrap()
        .to_grammar()
        .unwrap()
        .text;
    let value = |count: usize| {
        let items = vec!["\"some text\""; count].join(",");
        let members: Vec<String> = (0..count).map(|at| format!("\"k{at}\":{at}")).collect();
        format!(r#"{{"a":[{items}],"m":{{{}}},"s":"{}"}}"#, members.join(","), "x".repeat(count))
    };
    let (short, long) = (value(2), value(300));
    assert_eq!(judge.accepts(&grammar, &[&short, &long]), Ok(vec![true, true]));
    let (short, long) =
        (judge.load_of(&grammar, &[short]).unwrap(), judge.load_of(&grammar, &[long]).unwrap());
    println!("{short:?} {long:?}");
    assert!(long.depth <= short.depth + 1.0 && long.most <= short.most + 3.0);
}

#[test]
fn characters_may_come_in_parts() {
    let Some(mut judge) = common::judge() else { return };
    // A pattern with `.` leaves out U+2028, whose first two bytes are those of the right quotation mark.
    let text = r#"{"type":"string","pattern":"^.+$"}"#;
    let grammar = suites::compile(&suites::value(text).unwrap(), Options::default())
        .unwrap()
        .to_grammar()
        .unwrap()
        .text;
    let inside = grammar.replace("root ::= \"\\\"\" ", "root ::= ");
    assert_ne!(grammar, inside);
    let pieces: [&[u8]; 5] = [b"\xE2\x80", b"\xE2\x80\x99", b"\xED", b"\xED\xA0", b"\xF0\x9F"];
    assert_eq!(judge.takes_pieces(&inside, &pieces), Ok(vec![true, true, true, false, true]));
}
