//! Where in a new schema a comparison failed, for the author.

use super::Inner;
use crate::json::{Path, Value, resolve};
use crate::schema::accepts::Judge;
use crate::schema::arena::{Arena, Expr, Id};
use crate::schema::reference;
use crate::schema::search::{Budget, Search};
use crate::schema::set::{Clause, Set};

/// The deepest place that is named.
const DEPTH: usize = 32;
/// The parts that are asked about before the place stays unnamed.
const PARTS: usize = 64;

/// The smallest part of the new schema that takes a part of the witness which the old schema refuses there.
pub(super) fn of_witness(new: &Inner, old: &Inner, witness: &Value) -> String {
    let mut place = Place { document: &new.source, pointer: String::new() };
    let (mut at, mut part) = (old.root, witness);
    for _ in 0..DEPTH {
        let Some((step, next, value)) = refused_part(&old.arena, at, part) else { break };
        if !place.enter(&step) {
            break;
        }
        (at, part) = (next, value);
    }
    place.pointer
}

/// The first part of a value that a plain set of objects or arrays refuses, with the set it should lie in.
fn refused_part<'v>(arena: &Arena, id: Id, value: &'v Value) -> Option<(Step<'v>, Id, &'v Value)> {
    let refused = |id: Id, part: &Value| Judge::new(arena, part).has(id, part) == Ok(false);
    let set = plain(arena, id)?;
    match value {
        Value::Object(object) => {
            let own = only(&set.obj)?;
            let mut members = object.iter().map(|(name, value)| (name.as_str(), own.field(name), value));
            let (name, id, value) = members.find(|(_, id, value)| refused(*id, value))?;
            Some((Step::Name(name), id, value))
        }
        Value::Array(items) => {
            let own = only(&set.arr)?;
            let mut items = items.iter().enumerate().map(|(at, item)| (at, own.at(at), item));
            let (at, id, item) = items.find(|(_, id, item)| refused(*id, item))?;
            Some((Step::Item(at), id, item))
        }
        _ => None,
    }
}

/// The smallest part of the new schema that alone is too much to compare. `new` is its set in the arena of the
/// comparison, which holds the old one too.
pub(super) fn of_question(new: &Inner, old: &Inner, arena: Arena, root: Id) -> String {
    let mut place = Place { document: &new.source, pointer: String::new() };
    let mut search = Search::within(arena, Budget::PLACE);
    let (mut new, mut old) = (root, old.root);
    let mut left = PARTS;
    for _ in 0..DEPTH {
        let Some((step, a, b)) = undecided_part(&mut search, new, old, &mut left) else { break };
        if !place.enter(&step.as_ref()) {
            break;
        }
        (new, old) = (a, b);
    }
    place.pointer
}

/// The first field or item whose sets cannot be compared.
fn undecided_part(search: &mut Search, new: Id, old: Id, left: &mut usize) -> Option<(OwnStep, Id, Id)> {
    let sets = (plain(&search.arena, new)?.clone(), plain(&search.arena, old)?.clone());
    let objects = only(&sets.0.obj).zip(only(&sets.1.obj));
    let arrays = only(&sets.0.arr).zip(only(&sets.1.arr));
    let fields = objects.into_iter().flat_map(|(new, old)| {
        new.fields.iter().map(|(name, id)| (OwnStep::Name(name.to_string()), id, old.field(name)))
    });
    let items = arrays.into_iter().flat_map(|(new, old)| {
        let places = new.prefix.len().max(old.prefix.len());
        (0..=places).map(|at| (OwnStep::Item(at), new.at(at), old.at(at)))
    });
    let mut parts = fields.chain(items).filter(|(_, new, old)| new != old).take(*left);
    parts.find(|(_, new, old)| {
        *left -= 1;
        search.refill(Budget::PLACE);
        let outside = search.arena.diff(*new, *old);
        search.member(outside).is_err()
    })
}

/// The set of a leaf, also behind a reference.
fn plain(arena: &Arena, id: Id) -> Option<&Set> {
    match arena.expr(id) {
        Expr::Leaf(set) => Some(set),
        Expr::Ref(reference) => arena.leaf_of(arena.target(*reference)?).map(AsRef::as_ref),
        // An optional field.
        Expr::Or(ids) => match ids.as_slice() {
            [id, Id::ABSENT] | [Id::ABSENT, id] => plain(arena, *id),
            _ => None,
        },
        _ => None,
    }
}

fn only<T>(clauses: &[Clause<T>]) -> Option<&T> {
    match clauses {
        [Clause { pos, neg }] if neg.is_empty() => Some(pos),
        _ => None,
    }
}

/// A step into a value.
enum Step<'v> {
    Name(&'v str),
    Item(usize),
}

enum OwnStep {
    Name(String),
    Item(usize),
}

impl OwnStep {
    fn as_ref(&self) -> Step<'_> {
        match self {
            Self::Name(name) => Step::Name(name),
            Self::Item(at) => Step::Item(*at),
        }
    }
}

/// A place in a schema document.
struct Place<'d> {
    document: &'d Value,
    pointer: String,
}

impl Place<'_> {
    /// Goes to the schema of a part of the value, references followed; `false` when no single one says it.
    fn enter(&mut self, step: &Step<'_>) -> bool {
        for _ in 0..DEPTH {
            let Some(schema) = resolve(self.document, &self.pointer) else { return false };
            let target = schema.get("$ref").and_then(Value::as_str);
            let Some(target) = target.and_then(|target| reference::pointer(target).ok()) else { break };
            self.pointer = target.into_owned();
        }
        let Some(schema) = resolve(self.document, &self.pointer) else { return false };
        let has = |keyword: &str| schema.get(keyword).is_some_and(|value| value.as_object().is_some());
        let listed = |keyword: &str, at: usize| {
            schema.get(keyword).and_then(Value::as_array).is_some_and(|items| items.len() > at)
        };
        let own = Path::Tail(&Path::Root, &self.pointer);
        let pointer = match step {
            Step::Name(name) if schema.get("properties").is_some_and(|names| names.get(name).is_some()) => {
                own.name("properties").name(name).to_string()
            }
            Step::Name(_) if has("additionalProperties") => own.name("additionalProperties").to_string(),
            Step::Item(at) if listed("prefixItems", *at) => own.name("prefixItems").index(*at).to_string(),
            Step::Item(at) if listed("items", *at) => own.name("items").index(*at).to_string(),
            Step::Item(_) if has("items") => own.name("items").to_string(),
            Step::Item(_) if has("additionalItems") => own.name("additionalItems").to_string(),
            _ => return false,
        };
        self.pointer = pointer;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use crate::json::{Path, read_text};
    use crate::limits::TrustLimits;
    use crate::rule::Findings;
    use crate::schema::Schema;

    fn schema(text: &str) -> Schema {
        let mut findings = Findings::new();
        let source = read_text(text).unwrap();
        let schema = Schema::parameters(&source, &Path::Root, &TrustLimits::default(), &mut findings);
        schema.unwrap_or_else(|| panic!("{text}: {findings:?}"))
    }

    #[test]
    fn a_witness_leads_to_the_part_that_widened() {
        let old = r##"{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/$defs/x"}},"b":{}},
            "$defs":{"x":{"type":"object","properties":{"y":{"type":"integer"}},"required":["y"]}}}"##;
        for (from, to, pointer) in [
            (r#""integer""#, r#""number""#, "/$defs/x/properties/y"),
            (r#"["y"]"#, "[]", "/properties/a/items"),
            (r#""b":{}"#, r#""b":{},"c/d":{}"#, "/properties/c~1d"),
            (r#""$defs""#, r#""additionalProperties":{"type":"null"},"$defs""#, "/additionalProperties"),
            (r#""type":"array","#, "", "/properties/a"),
        ] {
            match schema(&old.replace(from, to)).is_narrower_than(&schema(old)) {
                Verdict::Wider { pointer: found, .. } => assert_eq!(found, pointer, "{to}"),
                other => panic!("{to}: {other:?}"),
            }
        }
    }
}
