//! Laws of the sets of strings, and patterns against two judges: the `regex` crate where the syntaxes have a
//! common meaning, and a matcher that follows the definition word by word.

#![allow(clippy::expect_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeSet;

use connector_core::schema::strings::{Dfa, START, pattern};
use proptest::prelude::*;

/// A pattern by its parts, so that it can be written in two dialects and matched by definition.
#[derive(Debug, Clone)]
enum Part {
    Char(char),
    Class(&'static str),
    Then(Vec<Part>),
    Or(Vec<Part>),
    Repeat(Box<Part>, usize, Option<usize>, bool),
    Start,
    End,
    Boundary(bool),
}

/// Classes as ECMA-262 writes them, as the `regex` crate does, and what is in them.
type Class = (&'static str, &'static str, fn(char) -> bool);

const CLASSES: [Class; 11] = [
    (".", r"[^\n\r\u{2028}\u{2029}]", |c| !matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')),
    (r"\d", "[0-9]", |c| c.is_ascii_digit()),
    (r"\D", "[^0-9]", |c| !c.is_ascii_digit()),
    (r"\w", "[0-9A-Za-z_]", is_word),
    (r"\W", "[^0-9A-Za-z_]", |c| !is_word(c)),
    (r"\s", r"[\s\u{FEFF}--\u{85}]", is_space),
    (r"[^\s]", r"[^\s\u{FEFF}]|\u{85}", |c| !is_space(c)),
    ("[a-c]", "[a-c]", |c| ('a'..='c').contains(&c)),
    (r"[^\db]", "[^0-9b]", |c| !c.is_ascii_digit() && c != 'b'),
    ("[^]", "(?s:.)", |_| true),
    (r"[\w-.]", r"[\w.-]", |c| is_word(c) || c == '-' || c == '.'),
];

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_space(c: char) -> bool {
    c == '\u{FEFF}' || (c.is_whitespace() && c != '\u{85}')
}

fn class(name: &str) -> Class {
    *CLASSES.iter().find(|class| class.0 == name).expect("a class of the table")
}

const ALPHABET: [char; 16] =
    ['a', 'b', 'c', 'd', 'Z', '_', '0', '7', '-', '.', ' ', '\n', '\u{2028}', '\u{FEFF}', 'é', '😀'];

fn part(boundaries: &'static [bool]) -> impl Strategy<Value = Part> {
    let leaf = prop_oneof![
        6 => prop::sample::select(&['a', 'b', 'c', '0', '-', ' ', 'é', '😀'][..]).prop_map(Part::Char),
        4 => prop::sample::select(CLASSES.map(|class| class.0).to_vec()).prop_map(Part::Class),
        1 => Just(Part::Start),
        1 => Just(Part::End),
        1 => prop::sample::select(boundaries).prop_map(Part::Boundary),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 0..4).prop_map(Part::Then),
            2 => prop::collection::vec(inner.clone(), 1..4).prop_map(Part::Or),
            2 => (inner, 0..3usize, prop::option::of(0..3usize), any::<bool>()).prop_map(|(part, min, more, lazy)| {
                Part::Repeat(Box::new(part), min, more.map(|more| min + more), lazy)
            }),
        ]
    })
}

/// The pattern of ECMA-262.
fn ecma(part: &Part) -> String {
    match part {
        Part::Char(c) => c.to_string(),
        Part::Class(name) => (*name).to_owned(),
        Part::Then(parts) => parts.iter().map(ecma).collect(),
        Part::Or(parts) => format!("(?:{})", parts.iter().map(ecma).collect::<Vec<_>>().join("|")),
        Part::Repeat(part, min, max, lazy) => format!("({}){}", ecma(part), quantifier(*min, *max, *lazy)),
        Part::Start => "^".to_owned(),
        Part::End => "$".to_owned(),
        Part::Boundary(true) => r"\b".to_owned(),
        Part::Boundary(false) => r"\B".to_owned(),
    }
}

/// The same in the dialect of the `regex` crate.
fn rust(part: &Part) -> String {
    match part {
        Part::Char(c) => regex::escape(&c.to_string()),
        Part::Class(name) => format!("(?:{})", class(name).1.replace(r"\w", "0-9A-Za-z_")),
        Part::Then(parts) => parts.iter().map(rust).collect(),
        Part::Or(parts) => format!("(?:{})", parts.iter().map(rust).collect::<Vec<_>>().join("|")),
        Part::Repeat(part, min, max, lazy) => format!("(?:{}){}", rust(part), quantifier(*min, *max, *lazy)),
        Part::Start => r"\A".to_owned(),
        Part::End => r"\z".to_owned(),
        Part::Boundary(true) => r"(?-u:\b)".to_owned(),
        Part::Boundary(false) => unreachable!("the crate has no ASCII `\\B` on text"),
    }
}

fn quantifier(min: usize, max: Option<usize>, lazy: bool) -> String {
    let counts = match (min, max) {
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (0, Some(1)) => "?".to_owned(),
        (min, None) => format!("{{{min},}}"),
        (min, Some(max)) if min == max => format!("{{{min}}}"),
        (min, Some(max)) => format!("{{{min},{max}}}"),
    };
    if lazy { counts + "?" } else { counts }
}

/// Where a match of the part that begins at `at` can end, by definition.
fn ends(part: &Part, text: &[char], at: usize) -> BTreeSet<usize> {
    let word = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|c| is_word(*c));
    let holds = |yes: bool| if yes { BTreeSet::from([at]) } else { BTreeSet::new() };
    let from_all = |part: &Part, from: &BTreeSet<usize>| -> BTreeSet<usize> {
        from.iter().flat_map(|at| ends(part, text, *at)).collect()
    };
    match part {
        Part::Char(c) => text.get(at).filter(|t| *t == c).map(|_| at + 1).into_iter().collect(),
        Part::Class(name) => {
            text.get(at).filter(|t| class(name).2(**t)).map(|_| at + 1).into_iter().collect()
        }
        Part::Then(parts) => parts.iter().fold(BTreeSet::from([at]), |from, part| from_all(part, &from)),
        Part::Or(parts) => parts.iter().flat_map(|part| ends(part, text, at)).collect(),
        Part::Repeat(part, min, max, _) => {
            let mut from = BTreeSet::from([at]);
            for _ in 0..*min {
                from = from_all(part, &from);
            }
            let mut all = from.clone();
            for _ in 0..max.map_or(text.len() + 1, |max| max - min) {
                from = from_all(part, &from);
                all.extend(&from);
            }
            all
        }
        Part::Start => holds(at == 0),
        Part::End => holds(at == text.len()),
        Part::Boundary(wanted) => holds((word(at.checked_sub(1)) != word(Some(at))) == *wanted),
    }
}

fn found(part: &Part, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    (0..=text.len()).any(|at| !ends(part, &text, at).is_empty())
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&ALPHABET[..]), 0..8)
        .prop_map(|chars| chars.into_iter().collect())
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 20)
}

fn set() -> impl Strategy<Value = Dfa> {
    part(&[true, false]).prop_map(|part| {
        pattern::compile(&ecma(&part))
            .expect("small patterns fit")
            .to_dfa()
            .expect("small counts fit")
            .as_ref()
            .clone()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn patterns_match_what_the_regex_crate_matches(part in part(&[true]), texts in texts()) {
        let ours = pattern::compile(&ecma(&part)).expect("small patterns fit");
        let theirs = regex::Regex::new(&rust(&part)).expect("a translated pattern");
        for text in texts {
            prop_assert_eq!(ours.matches(&text), theirs.is_match(&text), "{} on {:?}", ecma(&part), text);
        }
    }

    #[test]
    fn patterns_match_by_definition(part in part(&[true, false]), texts in texts()) {
        let ours = pattern::compile(&ecma(&part)).expect("small patterns fit");
        let counted = ours.to_dfa().expect("small counts fit");
        for text in texts {
            prop_assert_eq!(ours.matches(&text), found(&part, &text), "{} on {:?}", ecma(&part), text);
            prop_assert_eq!(ours.matches(&text), counted.matches(&text), "{} on {:?}", ecma(&part), text);
        }
    }

    #[test]
    fn look_ahead_at_the_start_is_intersection_and_difference(
        seen in part(&[true, false]), unseen in part(&[true, false]), rest in part(&[true, false]), texts in texts()
    ) {
        let whole = format!("^(?={})(?!{})(?:{})", ecma(&seen), ecma(&unseen), ecma(&rest));
        let ours = pattern::compile(&whole).expect("small patterns fit");
        for text in texts {
            let chars: Vec<char> = text.chars().collect();
            let at_start = |part: &Part| !ends(part, &chars, 0).is_empty();
            let expected = at_start(&seen) && !at_start(&unseen) && at_start(&rest);
            prop_assert_eq!(ours.matches(&text), expected, "{} on {:?}", whole, text);
        }
    }

    #[test]
    fn the_algebra_is_boolean(a in set(), b in set(), c in set()) {
        let (and, or, minus) = (a.and(&b).unwrap(), a.or(&b).unwrap(), a.minus(&b).unwrap());
        prop_assert_eq!(&and, &b.and(&a).unwrap());
        prop_assert_eq!(&or, &b.or(&a).unwrap());
        prop_assert_eq!(&a.complement().complement(), &a);
        prop_assert_eq!(&and.complement(), &a.complement().or(&b.complement()).unwrap());
        prop_assert_eq!(&or.complement(), &a.complement().and(&b.complement()).unwrap());
        prop_assert_eq!(&minus, &a.and(&b.complement()).unwrap());
        prop_assert_eq!(&minus.or(&and).unwrap(), &a);
        prop_assert!(minus.and(&b).unwrap().is_none());
        prop_assert!(a.or(&a.complement()).unwrap().is_all());
        let distributed = a.and(&b).unwrap().or(&a.and(&c).unwrap()).unwrap();
        prop_assert_eq!(a.and(&b.or(&c).unwrap()).unwrap(), distributed);
    }

    #[test]
    fn operations_decide_each_string(a in set(), b in set(), texts in texts()) {
        let (and, or, minus, not) = (a.and(&b).unwrap(), a.or(&b).unwrap(), a.minus(&b).unwrap(), a.complement());
        for text in texts {
            let (x, y) = (a.matches(&text), b.matches(&text));
            prop_assert_eq!(and.matches(&text), x && y);
            prop_assert_eq!(or.matches(&text), x || y);
            prop_assert_eq!(minus.matches(&text), x && !y);
            prop_assert_eq!(not.matches(&text), !x);
        }
    }

    #[test]
    fn automata_are_minimal_total_and_in_order(dfa in set()) {
        let states = dfa.states() as usize;
        let step = |state: usize, c: char| {
            let state = u32::try_from(state).unwrap();
            dfa.edges(state).find(|(range, _)| range.contains(&c)).expect("total").1 as usize
        };
        // Every range of every state begins somewhere in here, so these characters tell all there is to tell.
        let all = || (0..dfa.states()).flat_map(|state| dfa.edges(state));
        let letters: BTreeSet<char> = all().map(|(range, _)| *range.start()).collect();
        let accepting = |state: usize| dfa.is_accepting(u32::try_from(state).unwrap());
        let pairs = || (0..states).flat_map(|p| (0..states).map(move |q| (p, q)));
        let mut differ = vec![vec![false; states]; states];
        let mut changed = true;
        while changed {
            changed = false;
            for (p, q) in pairs() {
                let now = accepting(p) != accepting(q) || letters.iter().any(|c| differ[step(p, *c)][step(q, *c)]);
                changed |= now && !differ[p][q];
                differ[p][q] |= now;
            }
        }
        for (p, q) in pairs() {
            prop_assert_eq!(differ[p][q], p != q);
        }
        let mut seen = START;
        for (_, to) in all() {
            prop_assert!(to <= seen + 1);
            seen = seen.max(to);
        }
        prop_assert_eq!(seen + 1, dfa.states());
        for state in 0..dfa.states() {
            let edges: Vec<_> = dfa.edges(state).collect();
            prop_assert_eq!(*edges[0].0.start(), '\0');
            prop_assert_eq!(*edges.last().unwrap().0.end(), char::MAX);
            for pair in edges.windows(2) {
                prop_assert_eq!((*pair[0].0.end()..=char::MAX).nth(1), Some(*pair[1].0.start()));
                prop_assert_ne!(pair[0].1, pair[1].1);
            }
        }
    }

    #[test]
    fn a_word_is_a_shortest_member_within_the_lengths(dfa in set(), lo in 0..12u64, more in prop::option::of(0..6u64)) {
        let hi = more.map(|more| lo + more);
        // The lengths that there are, from the states reached in so many steps.
        let mut reached = BTreeSet::from([START]);
        let mut lengths = Vec::new();
        for length in 0..12 + u64::from(dfa.states()) {
            if reached.iter().any(|state| dfa.is_accepting(*state)) {
                lengths.push(length);
            }
            reached = reached.iter().flat_map(|state| dfa.edges(*state).map(|(_, to)| to)).collect();
        }
        let expected = lengths.iter().copied().find(|length| *length >= lo && hi.is_none_or(|hi| *length <= hi));
        let word = dfa.word(lo, hi).expect("short words can be said");
        prop_assert_eq!(word.as_ref().map(|word| word.chars().count() as u64), expected);
        prop_assert!(word.is_none_or(|word| dfa.matches(&word)));
        prop_assert_eq!(dfa.lengths().map(|lengths| lengths.0), lengths.first().copied());
        if let Some((_, Some(most))) = dfa.lengths() {
            prop_assert_eq!(Some(&most), lengths.last());
        }
        prop_assert_eq!(dfa.is_finite(), dfa.lengths().is_none_or(|lengths| lengths.1.is_some()));
        prop_assert_eq!(dfa.is_finite(), dfa.word(u64::from(dfa.states()), None).unwrap().is_none());
    }

    #[test]
    fn a_length_in_the_states_is_the_length_beside(dfa in set(), lo in 0..6u64, more in prop::option::of(0..6u64), texts in texts()) {
        let hi = more.map(|more| lo + more);
        let bounded = dfa.with_length(lo, hi, 4_096).expect("short lengths fit");
        for text in texts {
            let length = text.chars().count() as u64;
            let fits = length >= lo && hi.is_none_or(|hi| length <= hi);
            prop_assert_eq!(bounded.matches(&text), fits && dfa.matches(&text));
        }
        prop_assert_eq!(bounded.is_none(), dfa.word(lo, hi).unwrap().is_none());
    }

    #[test]
    fn a_list_of_words_is_the_alternation_of_them(words in prop::collection::vec("[abé😀]{0,4}", 0..12), texts in texts()) {
        let list: Vec<&str> = words.iter().map(String::as_str).collect();
        let dfa = Dfa::words(&list);
        let one_by_one = list.iter().fold(Dfa::none(), |set, word| set.or(&Dfa::words(&[word])).unwrap());
        prop_assert_eq!(&dfa, &one_by_one);
        if !words.is_empty() {
            let alternation = pattern::compile(&format!("^(?:{})$", words.join("|"))).expect("small patterns fit");
            prop_assert_eq!(&dfa, &*alternation.dfa);
        }
        for text in texts.iter().chain(&words) {
            prop_assert_eq!(dfa.matches(text), words.contains(text));
        }
    }

    #[test]
    fn any_text_at_all_compiles_or_is_refused(soup in "[\\\\()\\[\\]{}*+?|^$.,:=!<>0-9a-z😀-]{0,24}", texts in texts()) {
        if let Ok(pattern) = pattern::compile(&soup) {
            for text in texts {
                pattern.matches(&text);
            }
            prop_assert!(pattern.dfa.word(pattern.length.0, pattern.length.1).is_ok());
        }
    }
}
