//! The strict reader and the canonical form against JSONTestSuite and the vectors of RFC 8785.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may panic, and prints its counts"
)]

mod corpus;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_core::json::{Number, Numbers, Profile, Value, canonical, read, sha256};

const LOOSE: Profile = Profile { max_bytes: 1 << 20, max_depth: 32, numbers: Numbers::Any };
const EXACT: Profile = Profile { numbers: Numbers::Exact, ..LOOSE };

fn bytes(case: &serde_json::Value) -> Vec<u8> {
    if let Some(text) = case["b64"].as_str() {
        return STANDARD.decode(text).unwrap();
    }
    let repeat = &case["repeat"];
    let times = usize::try_from(repeat["times"].as_u64().unwrap()).unwrap();
    let mut bytes = repeat["utf8"].as_str().unwrap().repeat(times).into_bytes();
    bytes.extend(repeat["then_b64"].as_str().map(|rest| STANDARD.decode(rest).unwrap()).unwrap_or_default());
    bytes
}

/// What the suite leaves open, and what this reader does: half a surrogate pair, bytes that are no UTF-8, a byte
/// order mark and too deep a nesting are refused; numbers of any size are kept with their digits.
#[test]
fn the_parsing_suite_is_decided_right() {
    let Some(cases) = corpus::cases("json/parsing.json") else { return };
    let (mut right, mut open, mut wrong) = (0, Vec::new(), Vec::new());
    for case in &cases {
        let (value, findings) = read(&bytes(case), LOOSE);
        let duplicate = findings.list().iter().any(|finding| finding.rule.id == "json.duplicate_member");
        let accepted = value.is_some() && !findings.has_errors();
        match (case["expect"].as_str().unwrap(), accepted) {
            ("accept", true) | ("reject", false) => right += 1,
            ("accept", false) if duplicate => right += 1, // RFC 8259 says SHOULD; here it is a rule
            ("either", _) => open.push((case["id"].as_str().unwrap().to_owned(), accepted)),
            _ => wrong.push(case["id"].as_str().unwrap().to_owned()),
        }
    }
    println!("json/parsing: {right} right, {} left open by the suite, {} wrong", open.len(), wrong.len());
    assert!(wrong.is_empty(), "{wrong:?}");
    for (id, accepted) in open {
        assert_eq!(accepted, id.starts_with("i_number"), "{id}: this choice is pinned");
    }
}

#[test]
fn documents_with_several_readings_are_refused_under_the_exact_profile() {
    let Some(cases) = corpus::cases("json/transform.json") else { return };
    let (mut taken, mut refused) = (0, 0);
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let (value, findings) = read(&bytes(case), EXACT);
        if value.is_some() && !findings.has_errors() {
            taken += 1;
            let text = value.unwrap().to_text();
            let again = read(text.as_bytes(), EXACT).0.unwrap();
            assert_eq!(again.to_text(), text, "{id}");
            assert!(!id.contains("duplicated") && !id.contains("surrogate"), "{id} has two readings");
        } else {
            refused += 1;
        }
    }
    println!("json/transform: {taken} taken, {refused} refused");
    assert_eq!(taken + refused, cases.len());
}

#[test]
fn the_canonical_form_is_that_of_rfc_8785() {
    let Some(cases) = corpus::cases("jcs/documents.json") else { return };
    for case in &cases {
        let value = read(case["input_utf8"].as_str().unwrap().as_bytes(), LOOSE).0.unwrap();
        let text = canonical(&value).unwrap();
        assert_eq!(text, case["output_utf8"].as_str().unwrap(), "{}", case["id"]);
        assert_eq!(sha256(&text).to_string(), case["output_sha256"].as_str().unwrap());
    }
    println!("jcs/documents: {} right", cases.len());
}

/// Each vector is a double by its bits; any decimal text that means this double has this canonical text.
#[test]
fn the_numbers_are_those_of_ecmascript() {
    let (mut right, mut infinite) = (0, 0);
    for file in ["jcs/es6-numbers.json", "jcs/rfc8785-appendix-b.json"] {
        let Some(cases) = corpus::cases(file) else { return };
        for case in &cases {
            let double = f64::from_bits(u64::from_str_radix(case["h"].as_str().unwrap(), 16).unwrap());
            let Some(number) = Number::parse(&format!("{double:e}")) else {
                assert!(case["s"].is_null() && !double.is_finite(), "{case}");
                infinite += 1;
                continue;
            };
            assert_eq!(number.canonical().as_deref(), case["s"].as_str(), "{case}");
            assert!(canonical(&Value::Number(number)).is_some());
            right += 1;
        }
    }
    println!("jcs/numbers: {right} right, {infinite} not finite and no JSON");
}
