//! Laws of the comparison, over random schemas.

use proptest::prelude::*;

use super::Verdict;
use crate::json::{Object, Value};
use crate::schema::laws::{Dice, compile, object, random_document, random_schema, samples};
use crate::schema::testing::OPEN;
use crate::schema::{Options, Schema, World};

fn options(closed: bool) -> Options {
    if closed { Options::default() } else { OPEN }
}

/// The document with some of its members gone, or other values in their place.
fn changed(dice: &mut Dice, value: &Value, depth: usize) -> Value {
    match value {
        Value::Object(members) => {
            let mut kept = Object::new();
            for (name, value) in members.iter() {
                if name == "$defs" || dice.roll(8) > 0 {
                    let _taken = kept.insert(name.clone(), changed(dice, value, depth + 1));
                }
            }
            kept.into()
        }
        Value::Array(items) => {
            items.iter().map(|item| changed(dice, item, depth + 1)).collect::<Vec<_>>().into()
        }
        Value::Number(_) if dice.roll(3) == 0 => Value::from(dice.roll(4) as u64),
        Value::Bool(value) if depth > 0 && dice.roll(4) == 0 => Value::Bool(!value),
        other => other.clone(),
    }
}

/// A schema, and another that is often close to it.
fn pair(dice: &mut Dice, options: Options) -> Option<(Schema, Schema)> {
    let old = random_document(dice);
    let new = match dice.roll(4) {
        0 => random_document(dice),
        _ => changed(dice, &old, 0),
    };
    Some((compile(&new, options).ok()?, compile(&old, options).ok()?))
}

/// Every verdict is true of every value that is at hand.
fn hold(dice: &mut Dice, new: &Schema, old: &Schema) -> Verdict {
    let verdict = new.is_narrower_than(old);
    match &verdict {
        Verdict::Narrower => {
            for value in samples(dice, Some(new)) {
                let grown = new.accepts(&value).is_ok() && old.accepts(&value).is_err();
                assert!(!grown, "{value} was not narrower\nnew {}\nold {}", new.source(), old.source());
            }
        }
        Verdict::Wider { witness, pointer } => {
            assert!(new.accepts(witness).is_ok() && old.accepts(witness).is_err(), "{witness}");
            assert!(crate::json::resolve(new.source(), pointer).is_some(), "{pointer} {}", new.source());
        }
        Verdict::Undecided { pointer, .. } => {
            assert!(crate::json::resolve(new.source(), pointer).is_some(), "{pointer} {}", new.source());
        }
    }
    verdict
}

#[test]
fn verdicts_are_true_and_seldom_open() {
    for closed in [true, false] {
        let (mut narrower, mut wider, mut undecided) = (0, 0, 0);
        let mut reasons = std::collections::BTreeSet::new();
        for seed in 0..4_000 {
            let mut dice = Dice(seed);
            let Some((new, old)) = pair(&mut dice, options(closed)) else { continue };
            match hold(&mut dice, &new, &old) {
                Verdict::Narrower => narrower += 1,
                Verdict::Wider { .. } => wider += 1,
                Verdict::Undecided { reason, .. } => {
                    undecided += 1;
                    reasons.insert(reason.to_string());
                }
            }
        }
        println!("closed {closed}: {narrower} narrower, {wider} wider, {undecided} undecided: {reasons:?}");
        assert!(narrower > 200 && wider > 200, "the pairs are too far apart to show anything");
        assert!(undecided * 200 < narrower + wider, "more than one of 200 is left open");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn verdicts_are_true(seed: u64, closed: bool) {
        let mut dice = Dice(seed);
        if let Some((new, old)) = pair(&mut dice, options(closed)) {
            hold(&mut dice, &new, &old);
        }
    }

    #[test]
    fn a_schema_is_narrower_than_itself(seed: u64, closed: bool) {
        let document = random_document(&mut Dice(seed));
        let again = || compile(&document, options(closed));
        if let (Ok(one), Ok(other)) = (again(), again()) {
            prop_assert_eq!(one.is_narrower_than(&other), Verdict::Narrower, "{}", document);
        }
    }

    /// What is said in another order is the same set; only the search can tell.
    #[test]
    fn the_order_of_members_does_not_matter(seed: u64, closed: bool) {
        let document = random_document(&mut Dice(seed));
        let (Ok(one), Ok(other)) = (compile(&document, options(closed)), compile(&reversed(&document), options(closed)))
        else {
            return Ok(());
        };
        for verdict in [one.is_narrower_than(&other), other.is_narrower_than(&one)] {
            let wider = matches!(verdict, Verdict::Wider { .. });
            prop_assert!(!wider, "{:?} {}", verdict, document);
        }
    }

    #[test]
    fn a_conjunction_is_narrower_than_its_parts(seed: u64) {
        let mut dice = Dice(seed);
        let defs = definitions(&mut dice, 3);
        let of = |ids: &[&str]| {
            let parts: Vec<_> = ids.iter().map(|id| reference(id)).collect();
            compile(&object([("allOf".to_owned(), parts.into()), ("$defs".to_owned(), defs.clone())]), OPEN)
        };
        let (Ok(one), Ok(two), Ok(three)) = (of(&["a"]), of(&["b", "a"]), of(&["a", "b", "c"])) else { return Ok(()) };
        for (new, old) in [(&two, &one), (&three, &two), (&three, &one)] {
            let verdict = hold(&mut dice, new, old);
            prop_assert!(!matches!(verdict, Verdict::Wider { .. }), "{:?} {}", verdict, defs);
        }
    }

    #[test]
    fn narrower_is_transitive(seed: u64, closed: bool) {
        let mut dice = Dice(seed);
        let first = random_document(&mut dice);
        let mut schemas: Vec<Schema> = Vec::new();
        let mut document = first;
        for _ in 0..4 {
            schemas.extend(compile(&document, options(closed)));
            document = changed(&mut dice, &document, 0);
        }
        for a in &schemas {
            for b in schemas.iter().filter(|b| a.is_narrower_than(b).is_narrower()) {
                for c in schemas.iter().filter(|c| b.is_narrower_than(c).is_narrower()) {
                    let verdict = a.is_narrower_than(c);
                    prop_assert!(!matches!(verdict, Verdict::Wider { .. }), "{:?}", verdict);
                }
            }
        }
    }
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let members: Vec<_> =
                object.iter().map(|(name, value)| (name.clone(), reversed(value))).collect();
            Value::Object(members.into_iter().rev().collect())
        }
        // The order of items may mean something.
        Value::Array(items) => items.iter().map(reversed).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

fn reference(name: &str) -> Value {
    object([("$ref".to_owned(), Value::from(format!("#/$defs/{name}")))])
}

/// Definitions `a`, `b`, ... beside those that the random schemas lead to. What leads to the whole leads to `a`.
fn definitions(dice: &mut Dice, count: usize) -> Value {
    let names = ["a", "b", "c"].into_iter().take(count).chain(["r", "s"]);
    object(names.map(|name| (name.to_owned(), rooted(&random_schema(dice, 2)))).collect::<Vec<_>>())
}

fn rooted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let member = |(name, value): (&smol_str::SmolStr, &Value)| {
                let whole = name == "$ref" && value.as_str() == Some("#");
                (name.clone(), if whole { Value::from("#/$defs/a") } else { rooted(value) })
            };
            Value::Object(object.iter().map(member).collect())
        }
        Value::Array(items) => items.iter().map(rooted).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

/// Phones give a thread 512 KiB.
#[test]
fn no_pair_overflows_a_small_stack() {
    let run = || {
        for seed in 0..300 {
            let mut dice = Dice(seed);
            for closed in [true, false] {
                if let Some((new, old)) = pair(&mut dice, options(closed)) {
                    new.is_narrower_than(&old);
                }
            }
        }
        for (number, integer) in towers() {
            let taken = (compile(&number, options(true)), compile(&integer, options(true)));
            let (Ok(number), Ok(integer)) = taken else { continue };
            assert!(!matches!(integer.is_narrower_than(&number), Verdict::Wider { .. }));
            assert_ne!(number.is_narrower_than(&integer), Verdict::Narrower);
        }
    };
    let small = std::thread::Builder::new().stack_size(512 << 10).spawn(run).unwrap();
    assert!(small.join().is_ok());
}

/// Schemas that are as deep as they may be: chains of references through every kind of nesting.
fn towers() -> Vec<(Value, Value)> {
    let chain = |links: usize, last: &str, link: &dyn Fn(String) -> String| {
        let mut defs = Vec::new();
        for n in 0..links {
            let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, n + 1);
            defs.push(format!(r#""d{n}":{}"#, link(next)));
        }
        defs.push(format!(r#""d{links}":{last}"#));
        let text = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{}}}}}"##, defs.join(","));
        crate::schema::testing::value(&text)
    };
    let links: [&dyn Fn(String) -> String; 5] = [
        &|next| format!(r#"{{"type":"object","properties":{{"n":{next}}},"required":["n"]}}"#),
        &|next| format!(r#"{{"type":"array","minItems":1,"items":{next}}}"#),
        &|next| format!(r#"{{"type":"array","contains":{next},"uniqueItems":true}}"#),
        &|next| {
            format!(
                r#"{{"type":"object","oneOf":[{{"type":"object","properties":{{"n":{next}}}}},{{"type":"object","properties":{{"m":{next}}}}}]}}"#
            )
        },
        &|next| {
            format!(
                r#"{{"not":{{"not":{{"anyOf":[{{"type":"null"}},{{"type":"array","prefixItems":[{next}],"minItems":1}}]}}}}}}"#
            )
        },
    ];
    let mut towers = Vec::new();
    for link in links {
        for length in [10, 40, 90, 300] {
            towers.push((
                chain(length, r#"{"type":"number"}"#, link),
                chain(length, r#"{"type":"integer"}"#, link),
            ));
        }
    }
    towers
}

#[test]
fn readings_may_differ() {
    let document = crate::schema::testing::value(r#"{"type":"object","properties":{"a":{}}}"#);
    let (closed, open) =
        (compile(&document, options(true)).unwrap(), compile(&document, options(false)).unwrap());
    assert_eq!(open.options().world, World::Open);
    assert_eq!(closed.is_narrower_than(&open), Verdict::Narrower);
    assert!(matches!(open.is_narrower_than(&closed), Verdict::Wider { .. }));
}
