//! The judge itself: what llama.rn does, as the grammars have to know it.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test"
)]

mod common;

use connector_oracle::Failure;
use serde_json::json;

#[test]
fn the_judge_converts_loads_matches_and_draws() {
    let Some(mut judge) = common::judge() else { return };
    let (grammar, _) =
        judge.convert(&json!({"type": "object", "properties": {"a": {"type": "integer"}}})).unwrap();
    judge.load(&grammar).unwrap();
    assert_eq!(
        judge.accepts(&grammar, &["{\"a\": 1}", "{\"a\": x}", "{\"a\": 1"]),
        Ok(vec![true, false, false])
    );
    let texts = judge.sample(&grammar, 1, 20, 40).unwrap();
    assert_eq!(texts.len(), 20);
    assert!(judge.accepts(&grammar, &texts).unwrap().iter().all(|accepted| *accepted));
    let time = judge.time(&grammar, &texts, 3).unwrap();
    assert!(time.median > 0.0 && time.worst >= time.median);
}

#[test]
fn a_judge_that_crashes_hangs_or_refuses_says_so_and_lives_on() {
    let Some(mut judge) = common::judge() else { return };
    let crash = json!({"type": "string", "pattern": "^*a$"});
    assert_eq!(judge.convert(&crash).map(drop), Err(Failure::Crashed));
    // A group of optional repetitions, repeated: every character can be counted in many ways.
    let hang = "root ::= x{0,100}\nx ::= \"a\"{0,50}\n";
    let text = "a".repeat(2_000);
    assert_eq!(judge.accepts(hang, &[text]), Err(Failure::TimedOut));
    assert!(matches!(judge.load("root ::= x"), Err(Failure::Refused(_))));
    judge.load("root ::= \"a\"").unwrap();
}

#[test]
fn the_parser_has_the_pitfalls_that_the_writer_avoids() {
    let Some(mut judge) = common::judge() else { return };
    // An empty alternative at the end takes the next rule's name for an element; at the beginning it does not.
    assert!(judge.load("root ::= \"a\" |\nx ::= \"b\"\n").is_err());
    assert_eq!(judge.accepts("root ::= | \"a\"\nx ::= \"b\"\n", &["", "a"]), Ok(vec![true, true]));
    assert!(judge.load("root ::= x\nx ::=\ny ::= \"b\"\n").is_err());
    // Repetition stops below 2,000, the rules of a group counted each time.
    assert!(judge.load("root ::= \"a\"{1999}").is_ok() && judge.load("root ::= \"a\"{2000}").is_err());
    assert!(judge.load("root ::= (\"a\" (\"b\"))? (\"a\" (\"b\")){1000}").is_err());
    assert!(judge.load("a_b ::= \"x\"\nroot ::= a_b").is_err());
    assert!(judge.load("root ::= root \"a\" | \"b\"").is_err());
}

#[test]
fn a_negated_class_refuses_characters_in_parts_that_begin_like_an_excluded_one() {
    let Some(mut judge) = common::judge() else { return };
    // U+2028 and the right quotation mark begin with the same two bytes.
    let (negated, listed) = (r"root ::= [^\u2028]", r"root ::= [\x00-\u2027\u2029-\U0010FFFF]");
    assert_eq!(judge.takes_pieces(negated, &[b"\xE2\x80"]), Ok(vec![false]));
    assert_eq!(judge.takes_pieces(listed, &[b"\xE2\x80", b"a", b"\xE2\x80\x99"]), Ok(vec![true, true, true]));
    // A surrogate in three bytes is no character, and the parser would count it.
    assert_eq!(judge.takes_pieces("root ::= [^a]", &[b"\xED\xA0\x80"]), Ok(vec![true]));
    assert_eq!(
        judge.takes_pieces(r"root ::= [\x00-\uD7FF\uE000-\uFFFF]", &[b"\xED\xA0\x80", b"\xED\xA0"]),
        Ok(vec![false, false])
    );
}
