//! The rules of sets of numbers, against the sets.

use super::super::gbnf::Gbnf;
use super::super::rules::Rules;
use super::*;
use crate::json::Number;
use crate::schema::decimal::Dec;
use crate::schema::number::Bound;

fn dec(text: &str) -> Dec {
    Dec::from_number(&Number::parse(text).unwrap()).unwrap()
}

/// `lo..hi`, exclusive with parentheses, on a lattice and off others.
fn num(lo: &str, hi: &str, step: &str, off: &[&str]) -> Num {
    let bound = |text: &str, open: char| {
        let at = text.trim_matches(['(', ')', '[', ']']);
        (!at.is_empty()).then(|| Bound { at: dec(at), inclusive: !text.contains(open) })
    };
    let step = (!step.is_empty()).then(|| dec(step));
    Num { lo: bound(lo, '('), hi: bound(hi, ')'), step, off: off.iter().map(|off| dec(off)).collect() }
}

fn rules_of(parts: &[Num]) -> (String, bool) {
    let mut rules = Rules::new();
    let name = rules.names.like("n");
    let mut digits = digits(parts, &name).unwrap();
    rules.begin(&name);
    digits.automaton.alternatives(&mut rules);
    rules.end();
    digits.automaton.finish(&mut rules);
    (rules.into_parts().0, digits.wider)
}

const SAMPLES: [&str; 60] = [
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "9",
    "10",
    "11",
    "12",
    "14",
    "19",
    "20",
    "21",
    "35",
    "49",
    "50",
    "51",
    "99",
    "100",
    "101",
    "110",
    "128",
    "199",
    "200",
    "255",
    "256",
    "999",
    "1000",
    "1001",
    "65535",
    "65536",
    "9007199254740991",
    "9007199254740992",
    "9999999999999999",
    "-1",
    "-2",
    "-5",
    "-7",
    "-9",
    "-10",
    "-11",
    "-99",
    "-100",
    "-9999999999999999",
    "0.5",
    "0.1",
    "0.01",
    "0.25",
    "0.999999999999999",
    "1.5",
    "2.5",
    "9.99",
    "-0.5",
    "-0.25",
    "99.5",
    "100.5",
    "0.000000000000001",
    "-1.5",
    "0.3",
];

#[test]
fn the_rules_take_the_spelled_numbers_of_the_set_and_no_others() {
    let sets = [
        vec![num("[0", "100]", "1", &[])],
        vec![num("[1", "", "1", &[])],
        vec![num("(0", "", "1", &[])],
        vec![num("", "-1]", "1", &[])],
        vec![num("[-9007199254740991", "9007199254740991]", "1", &[])],
        vec![num("[-10", "10]", "", &[])],
        vec![num("(0", "1)", "", &[])],
        vec![num("[0", "1]", "", &[])],
        vec![num("", "0)", "", &[])],
        vec![num("[0.25", "100.5)", "", &[])],
        vec![num("[-1.5", "2.5]", "", &[])],
        vec![num("[0", "1000]", "7", &[])],
        vec![num("", "", "7", &[])],
        vec![num("[0", "", "0.01", &[])],
        vec![num("[-100", "100]", "0.5", &["1"])],
        vec![num("", "", "", &["1"])],
        vec![num("", "", "", &["0.5", "0.3"])],
        vec![num("[1", "1]", "", &[]), num("[2.5", "2.5]", "", &[]), num("[65535", "65535]", "", &[])],
        vec![num("[1", "10)", "1", &[]), num("(50", "", "", &[])],
        vec![num("[-1e300", "1.7976931348623157e308]", "", &[])],
        vec![num("[0", "", "1000", &[])],
        vec![num("[99.999", "101]", "", &["1"])],
    ];
    for parts in &sets {
        let (text, wider) = rules_of(parts);
        assert!(!wider);
        let grammar = Gbnf::read(&text);
        let mut taken = 0;
        for sample in SAMPLES {
            let number = Number::parse(sample).unwrap();
            let has = parts.iter().any(|part| part.has(&number));
            assert_eq!(grammar.takes("n", sample), has, "{parts:?} {sample}\n{text}");
            taken += usize::from(has);
        }
        assert!(
            taken > 0 && taken < SAMPLES.len()
                || parts[0].lo.is_some_and(|lo| !lo.at.is_integer() || lo.at < dec("-1e299")),
            "{parts:?}"
        );
        for odd in ["-0", "-0.0", "00", "01", "1.", ".5", "1e2", "+1", "", "-"] {
            assert!(!grammar.takes("n", odd), "{parts:?} {odd}\n{text}");
        }
    }
}

#[test]
fn an_integer_has_no_fraction() {
    for parts in [num("[0", "", "1", &[]), num("[5", "5]", "", &[]), num("[0", "100]", "5", &[])] {
        assert!(!Gbnf::read(&rules_of(&[parts]).0).takes("n", "5.0"));
    }
    assert!(Gbnf::read(&rules_of(&[num("[0", "10]", "", &[])]).0).takes("n", "5.0"));
}

#[test]
fn caps_rise_where_a_bound_needs_it() {
    for (parts, sample) in [
        (num("[1e20", "", "1", &[]), "100000000000000000001"),
        (num("", "-1e20]", "", &[]), "-100000000000000000000.5"),
        (num("(1e-20", "2e-20)", "", &[]), "0.000000000000000000015"),
        (num("[1e-20", "1e-20]", "", &[]), "0.00000000000000000001"),
        (num("[1e40", "1e40]", "", &[]), "10000000000000000000000000000000000000000"),
        (num("(0.9999999999999999", "1)", "", &[]), "0.99999999999999995"),
    ] {
        let (text, _) = rules_of(std::slice::from_ref(&parts));
        assert!(Gbnf::read(&text).takes("n", sample), "{parts:?}\n{text}");
    }
}

#[test]
fn common_ranges_are_short() {
    assert_eq!(rules_of(&[num("[1", "", "1", &[])]).0, "n ::= [1-9] [0-9]{0,15}\n");
    assert_eq!(rules_of(&[num("[0", "", "1", &[])]).0, "n ::= \"0\" | [1-9] [0-9]{0,15}\n");
    assert_eq!(
        rules_of(&[num("[0", "100]", "1", &[])]).0,
        "n ::= \"0\" | \"1\" n-2 | [2-9] [0-9]?\nn-2 ::= | \"0\" \"0\"? | [1-9]\n"
    );
    assert_eq!(
        rules_of(&[num("[0", "", "", &[])]).0,
        "n ::= \"0\" n-2 | [1-9] [0-9]{0,15} n-2\nn-2 ::= | \".\" [0-9]{1,15}\n"
    );
}

#[test]
fn a_step_that_is_too_long_is_left_out_and_said() {
    for step in ["1.0000001", "1001", "12345678901234567890"] {
        let (text, wider) = rules_of(&[num("[0", "", step, &[])]);
        assert!(wider && Gbnf::read(&text).takes("n", "0"), "{text}");
    }
    let (text, wider) = rules_of(&[num("", "", "", &["1.0000001"])]);
    assert!(wider && Gbnf::read(&text).takes("n", "1.5"));
    // 997 remainders at each of 16 digits.
    let (text, wider) = rules_of(&[num("", "", "997", &[])]);
    assert!(wider && Gbnf::read(&text).takes("n", "1994"));
}
