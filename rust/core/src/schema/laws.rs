//! Laws over random schemas: the standard's own reading agrees with another implementation, the closed reading
//! with the walk that names violations, and every witness is what it claims to be.

use proptest::prelude::*;

use super::arena::Id;
use super::search::Search;
use super::testing::OPEN;
use super::{Options, Schema, accepts, violations};
use crate::json::{Object, Path, Value};
use crate::limits::TrustLimits;
use crate::rule::Findings;

/// A small generator whose whole course hangs on its seed.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.roll(list.len())]
    }
}

const NAMES: [&str; 4] = ["a", "b", "ab", "x1"];
const STRINGS: [&str; 7] = ["", "a", "ab", "b1", "xyz", "x1", "1"];
const NUMBERS: [&str; 9] = ["-2", "-1", "0", "1", "2", "3", "6", "0.5", "2.5"];
const PATTERNS: [&str; 5] = ["^a", "[0-9]", "b$", "^[a-z]*$", "^x?1$"];
const KINDS: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

fn number(text: &str) -> Value {
    super::testing::value(text)
}

pub(super) fn object(members: impl IntoIterator<Item = (String, Value)>) -> Value {
    Value::Object(members.into_iter().collect::<Object>())
}

pub(super) fn random_value(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => Value::Bool(dice.roll(2) == 0),
        2 => number(dice.pick(&NUMBERS)),
        3 | 4 => Value::from(dice.pick(&STRINGS)),
        5 => (0..dice.roll(4)).map(|_| random_value(dice, depth - 1)).collect::<Vec<_>>().into(),
        _ => {
            let names = [NAMES[0], NAMES[1], NAMES[2], NAMES[3], "zz"];
            object((0..dice.roll(4)).map(|_| (dice.pick(&names).to_owned(), random_value(dice, depth - 1))))
        }
    }
}

fn random_list(dice: &mut Dice, depth: usize) -> Value {
    (0..=dice.roll(3)).map(|_| random_schema(dice, depth)).collect::<Vec<_>>().into()
}

fn random_map(dice: &mut Dice, keys: &[&str], depth: usize) -> Value {
    object((0..=dice.roll(3)).map(|_| (dice.pick(keys).to_owned(), random_schema(dice, depth))))
}

fn random_names(dice: &mut Dice) -> Value {
    let mut names: Vec<Value> = Vec::new();
    for _ in 0..dice.roll(3) {
        let name = Value::from(dice.pick(&NAMES));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into()
}

/// A schema of the profile. References lead to two definitions and to the whole.
pub(super) fn random_schema(dice: &mut Dice, depth: usize) -> Value {
    if depth == 0 || dice.roll(12) == 0 {
        return match dice.roll(4) {
            0 => Value::Bool(dice.roll(6) > 0),
            1 => object([("const".to_owned(), random_value(dice, 1))]),
            2 => object([("$ref".to_owned(), Value::from(dice.pick(&["#/$defs/r", "#/$defs/s", "#"])))]),
            _ => object([("type".to_owned(), Value::from(dice.pick(&KINDS)))]),
        };
    }
    let below = depth - 1;
    let mut schema = Object::new();
    for _ in 0..=dice.roll(4) {
        let (name, value) = match dice.roll(33) {
            0 | 1 => ("type", Value::from(dice.pick(&KINDS))),
            2 => (
                "type",
                vec![Value::from("object"), Value::from("array"), Value::from(dice.pick(&KINDS[..5]))].into(),
            ),
            3 => ("enum", (0..=dice.roll(4)).map(|_| random_value(dice, 1)).collect::<Vec<_>>().into()),
            4 => ("minimum", number(dice.pick(&NUMBERS))),
            5 => ("exclusiveMaximum", number(dice.pick(&NUMBERS))),
            6 => ("multipleOf", number(dice.pick(&["0.5", "1", "2", "3"]))),
            7 => ("minLength", Value::from(dice.roll(3) as u64)),
            8 => ("maxLength", Value::from(dice.roll(4) as u64)),
            9 => ("pattern", Value::from(dice.pick(&PATTERNS))),
            10 => ("items", random_schema(dice, below)),
            11 => ("prefixItems", random_list(dice, below)),
            12 => ("minItems", Value::from(dice.roll(3) as u64)),
            13 => ("maxItems", Value::from(dice.roll(4) as u64)),
            14 => ("uniqueItems", Value::Bool(true)),
            15 => ("contains", random_schema(dice, below)),
            16 => ("minContains", Value::from(dice.roll(3) as u64)),
            17 => ("maxContains", Value::from(dice.roll(3) as u64)),
            18..=20 => ("properties", random_map(dice, &NAMES, below)),
            21 => ("required", random_names(dice)),
            22 => ("additionalProperties", random_schema(dice, below)),
            23 => ("patternProperties", random_map(dice, &PATTERNS, below)),
            24 => ("propertyNames", random_schema(dice, below)),
            25 => ("maxProperties", Value::from(dice.roll(4) as u64)),
            26 => ("dependentRequired", object([(dice.pick(&NAMES).to_owned(), random_names(dice))])),
            27 => ("dependentSchemas", random_map(dice, &NAMES, below)),
            28 => ("allOf", random_list(dice, below)),
            29 => ("anyOf", random_list(dice, below)),
            30 => ("oneOf", random_list(dice, below)),
            31 => ("not", random_schema(dice, below)),
            _ => {
                let _taken = schema.insert("then", random_schema(dice, below));
                let _taken = schema.insert("else", random_schema(dice, below));
                ("if", random_schema(dice, below))
            }
        };
        let _taken = schema.insert(name, value);
    }
    schema.into()
}

pub(super) fn random_document(dice: &mut Dice) -> Value {
    let mut document = match random_schema(dice, 3) {
        Value::Object(object) => object,
        other => [("not", object([("not".to_owned(), other)]))].into_iter().collect(),
    };
    let defs = object([("r".to_owned(), random_schema(dice, 2)), ("s".to_owned(), random_schema(dice, 1))]);
    let _taken = document.insert("$defs", defs);
    document.into()
}

pub(super) fn compile(document: &Value, options: Options) -> Result<Schema, Vec<&'static str>> {
    let mut findings = Findings::new();
    let schema = Schema::compile(document, &Path::Root, options, &TrustLimits::default(), &mut findings);
    schema.ok_or_else(|| findings.list().iter().map(|finding| finding.rule.id).collect())
}

fn serde(value: &Value) -> serde_json::Value {
    serde_json::from_str(&value.to_text()).unwrap()
}

/// Random values, and a witness of the schema with some of its parts replaced.
pub(super) fn samples(dice: &mut Dice, schema: Option<&Schema>) -> Vec<Value> {
    let mut samples: Vec<_> = (0..12).map(|_| random_value(dice, 2)).collect();
    let witness = schema.and_then(|schema| {
        Search::new(schema.0.arena.clone())
            .member(schema.0.root)
            .ok()
            .flatten()
            .and_then(|found| found.value())
    });
    if let Some(witness) = witness {
        if let Value::Object(object) = &witness {
            for _ in 0..4 {
                let changed = object.iter().filter(|_| dice.roll(3) > 0).map(|(n, v)| (n.clone(), v.clone()));
                let mut changed: Object = changed.collect();
                let _taken = changed.insert(dice.pick(&NAMES), random_value(dice, 1));
                samples.push(changed.into());
            }
        }
        samples.push(witness);
    }
    samples
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_open_reading_agrees_with_another_implementation(seed: u64) {
        let mut dice = Dice(seed);
        let document = random_document(&mut dice);
        let schema = compile(&document, OPEN);
        let empty = schema.as_ref().is_err_and(|rules| rules == &["schema.unsatisfiable"]);
        if let Err(rules) = &schema {
            let known = ["schema.unsatisfiable", "schema.reference_vacuous", "schema.too_costly"];
            prop_assert!(rules.iter().all(|rule| known.contains(rule)), "{rules:?} {document}");
        }
        if schema.is_ok() || empty {
            let judge = jsonschema::draft202012::new(&serde(&document)).unwrap();
            for value in samples(&mut dice, schema.as_ref().ok()) {
                let expected = judge.is_valid(&serde(&value));
                let accepted = schema.as_ref().is_ok_and(|schema| schema.accepts(&value).is_ok());
                prop_assert_eq!(accepted, expected, "{} {}", document, value);
            }
        }
    }

    #[test]
    fn a_violation_is_named_exactly_when_a_value_is_not_accepted(seed: u64, closed: bool) {
        let mut dice = Dice(seed);
        let document = random_document(&mut dice);
        let Ok(schema) = compile(&document, if closed { Options::default() } else { OPEN }) else { return Ok(()) };
        for value in samples(&mut dice, Some(&schema)) {
            let accepted = accepts::Judge::new(&schema.0.arena, &value).has(schema.0.root, &value) == Ok(true);
            let named = violations::violations(&schema.0, &value);
            let real = named.iter().any(|violation| !violation.keyword.is_empty());
            prop_assert_eq!(real, !accepted, "{} {} {:?}", document, value, named);
        }
    }

    #[test]
    fn a_witness_is_a_member_and_no_witness_means_no_member(seed: u64) {
        let mut dice = Dice(seed);
        let (Ok(a), Ok(b)) = (compile(&random_document(&mut dice), OPEN), compile(&random_document(&mut dice), OPEN))
        else {
            return Ok(());
        };
        let values = samples(&mut dice, Some(&b));
        let (mut search, root) = (Search::new(a.0.arena.clone()), a.0.root);
        // The set, its complement, and both met with another set.
        let other = search.arena.constant(&values[0]).unwrap();
        let not = search.arena.not(root);
        let outside = search.arena.and(not, Id::PRESENT);
        let (without, both) = (search.arena.diff(root, other), search.arena.and(outside, root));
        for id in [root, outside, without, both] {
            let Ok(member) = search.member(id) else { continue };
            let has = |search: &Search, value: &Value| accepts::Judge::new(&search.arena, value).has(id, value);
            match member {
                Some(witness) => {
                    if let Some(value) = witness.value() {
                        prop_assert_eq!(has(&search, &value), Ok(true), "{}", value);
                    }
                }
                None => {
                    for value in &values {
                        prop_assert_eq!(has(&search, value), Ok(false), "{}", value);
                    }
                }
            }
        }
    }

    #[test]
    fn closing_takes_away_and_adds_nothing(seed: u64) {
        let mut dice = Dice(seed);
        let document = random_document(&mut dice);
        // Of two branches that are closed one may be left where both were, so `oneOf` stands apart.
        if document.to_text().contains("oneOf") {
            return Ok(());
        }
        let Ok(schema) = compile(&document, Options::default()) else { return Ok(()) };
        let open = compile(&document, OPEN);
        for value in samples(&mut dice, Some(&schema)) {
            if schema.accepts(&value).is_ok() {
                prop_assert!(open.as_ref().is_ok_and(|open| open.accepts(&value).is_ok()), "{} {}", document, value);
            }
        }
    }

    #[test]
    fn what_is_said_of_the_arguments_holds_for_every_accepted_value(seed: u64) {
        let mut dice = Dice(seed);
        let document = random_document(&mut dice);
        let Ok(schema) = compile(&document, Options::default()) else { return Ok(()) };
        let (closed, objects) = (!schema.takes_undeclared(), schema.takes_only_objects());
        let fields: Vec<_> = schema.properties().iter().map(|name| (name, schema.field(name).unwrap())).collect();
        for value in samples(&mut dice, Some(&schema)) {
            if schema.accepts(&value).is_err() {
                continue;
            }
            let Value::Object(object) = &value else {
                prop_assert!(!objects, "{} {}", document, value);
                continue;
            };
            prop_assert!(!closed || object.keys().all(|key| schema.properties().contains(key)), "{} {}", document, value);
            for (name, field) in &fields {
                let Some(member) = object.get(name) else {
                    prop_assert!(field.absent, "{} {} {}", document, value, name);
                    continue;
                };
                let array = field.array;
                let fits = match member {
                    Value::Null => field.kinds.null,
                    Value::Bool(_) => field.kinds.boolean,
                    Value::Number(number) => {
                        field.kinds.number && (!field.kinds.integer_only || number.as_integer().is_some())
                    }
                    Value::String(_) => field.kinds.string,
                    Value::Array(items) => {
                        field.kinds.array && array.is_some_and(|array| array.min_items <= items.len() as u64)
                    }
                    Value::Object(_) => field.kinds.object,
                };
                prop_assert!(fits, "{} {} {} {:?}", document, value, name, field);
            }
        }
    }

    #[test]
    fn a_difference_is_decided_rightly(seed: u64, closed: bool) {
        let mut dice = Dice(seed);
        let options = if closed { Options::default() } else { OPEN };
        // Both in one document, so that they share an arena.
        let defs = random_document(&mut dice);
        let pair = object([
            ("prefixItems".to_owned(), vec![random_schema(&mut dice, 2), random_schema(&mut dice, 2)].into()),
            ("$defs".to_owned(), defs.get("$defs").unwrap().clone()),
        ]);
        let Ok(schema) = compile(&pair, options) else { return Ok(()) };
        let Some(set) = schema.0.arena.leaf_of(schema.0.root) else { return Ok(()) };
        let [array] = set.arr.as_slice() else { return Ok(()) };
        let (new, old) = (array.pos.at(0), array.pos.at(1));
        let mut search = Search::new(schema.0.arena.clone());
        let wider = search.arena.diff(new, old);
        let has = |search: &Search, value: &Value| accepts::Judge::new(&search.arena, value).has(wider, value);
        match search.member(wider) {
            Ok(Some(witness)) => {
                let Some(value) = witness.value() else { return Ok(()) };
                prop_assert_eq!(has(&search, &value), Ok(true), "{} {}", pair, value);
            }
            Ok(None) => {
                for value in (0..30).map(|_| random_value(&mut dice, 2)) {
                    prop_assert_eq!(has(&search, &value), Ok(false), "{} {}", pair, value);
                }
            }
            Err(_) => {}
        }
    }
}

/// A search that gives up too often is of no use; one that never does would not be bounded.
#[test]
fn nearly_every_question_is_decided() {
    let (mut questions, mut undecided, mut most) = (0, 0, 0);
    for seed in 0..2_000 {
        let mut dice = Dice(seed * 7_919);
        let pair = object([
            ("prefixItems".to_owned(), vec![random_schema(&mut dice, 2), random_schema(&mut dice, 2)].into()),
            ("$defs".to_owned(), random_document(&mut dice).get("$defs").unwrap().clone()),
        ]);
        let Ok(schema) = compile(&pair, Options::default()) else { continue };
        let Some(set) = schema.0.arena.leaf_of(schema.0.root) else { continue };
        let [array] = set.arr.as_slice() else { continue };
        let mut search = Search::new(schema.0.arena.clone());
        let wider = search.arena.diff(array.pos.at(0), array.pos.at(1));
        questions += 1;
        undecided += usize::from(search.member(wider).is_err());
        most = most.max(search.steps());
    }
    println!("{questions} differences, {undecided} undecided, at most {most} steps");
    assert!(undecided * 200 <= questions, "{undecided} of {questions}");
}
