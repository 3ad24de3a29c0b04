//! Where a grammar is wider than its schema: by keyword and place.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use crate::json::{Object, Path, Value};
use crate::schema::keyword::{Keyword, keyword};
use crate::schema::reference;

/// A keyword that a grammar does not enforce, or not wholly. The schema does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// The schema that has the keyword, as an RFC 6901 pointer into the whole.
    pub pointer: String,
    /// The keyword.
    pub keyword: &'static str,
    /// Why, one sentence.
    pub reason: &'static str,
}

/// The most notes of one grammar.
const MOST: usize = 100;
/// The most schemas that are looked at for one note.
const SCHEMAS: usize = 1_000;

/// Keywords by which a schema about a value does not hold for each of them.
const EITHER: &[&str] =
    &["anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies", "patternProperties"];

/// A place in a value, as the writer went there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::schema) struct Place(u32);

impl Place {
    pub(in crate::schema) const ROOT: Self = Self(0);
}

/// A step from a value into one of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::schema) enum Step {
    Field(SmolStr),
    /// A field that is not declared.
    Other,
    Item(usize),
    /// An item past the prefix.
    Rest,
}

/// Places, and what was noted there.
#[derive(Debug, Default)]
pub(in crate::schema) struct Notes {
    places: Vec<(Place, Step)>,
    noted: Vec<Noted>,
}

#[derive(Debug, PartialEq, Eq)]
struct Noted {
    place: Place,
    /// The keywords that may be to blame: those of the first list of which one is there.
    keywords: &'static [&'static [&'static str]],
    reason: &'static str,
}

impl Notes {
    /// A part of a value.
    pub(in crate::schema) fn step(&mut self, from: Place, step: Step) -> Place {
        self.places.push((from, step));
        Place(u32::try_from(self.places.len()).unwrap_or(u32::MAX))
    }

    /// Says that keywords of one of these lists are to blame at a place; the first of which one is there.
    pub(in crate::schema) fn add(
        &mut self,
        place: Place,
        keywords: &'static [&'static [&'static str]],
        reason: &'static str,
    ) {
        let noted = Noted { place, keywords, reason };
        if self.noted.len() < MOST && !self.noted.contains(&noted) {
            self.noted.push(noted);
        }
    }

    /// The notes, in the order of their pointers.
    pub(in crate::schema) fn list(&self, schema: &Value) -> Vec<Note> {
        let mut list = Vec::new();
        for noted in &self.noted {
            let mut places = Schemas::at_root(schema);
            for step in self.steps(noted.place) {
                places = places.step(step);
            }
            let reason = noted.reason;
            let found = noted.keywords.iter().find_map(|keywords| {
                let at = |about: &About<'_>| {
                    let there = keywords.iter().filter(|keyword| about.schema.get(keyword).is_some());
                    there
                        .map(|keyword| Note { pointer: about.pointer.clone(), keyword, reason })
                        .collect::<Vec<_>>()
                };
                let notes: Vec<Note> = places.list.iter().flat_map(at).collect();
                (!notes.is_empty()).then_some(notes)
            });
            list.extend(found.unwrap_or_else(|| {
                let pointer = places.list.first().map(|about| about.pointer.clone()).unwrap_or_default();
                let keyword =
                    noted.keywords.first().and_then(|keywords| keywords.first()).copied().unwrap_or("type");
                vec![Note { pointer, keyword, reason }]
            }));
        }
        list.sort_unstable();
        list.dedup();
        list.truncate(MOST);
        list
    }

    fn steps(&self, mut place: Place) -> Vec<&Step> {
        let mut steps = Vec::new();
        while let Some((before, step)) = (place.0 as usize).checked_sub(1).and_then(|at| self.places.get(at))
        {
            steps.push(step);
            place = *before;
        }
        steps.reverse();
        steps
    }
}

/// How far what a schema says holds for a value that the whole schema accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::schema) enum Hold {
    /// It may be the opposite that holds, or hold on a condition only: `not`, `if`, `then`.
    No,
    /// It is one of several ways: a branch of `anyOf`, a pattern that a name need not match.
    Some,
    /// Each value satisfies it.
    All,
}

/// A schema that speaks of a value.
#[derive(Debug, Clone)]
pub(in crate::schema) struct About<'s> {
    pub(in crate::schema) pointer: String,
    pub(in crate::schema) schema: &'s Value,
    pub(in crate::schema) hold: Hold,
}

/// The schemas about one value, with their pointers.
pub(in crate::schema) struct Schemas<'s> {
    root: &'s Value,
    pub(in crate::schema) list: Vec<About<'s>>,
    known: FxHashSet<*const Value>,
    /// Whether these are all that speaks of the value, and all of them hold.
    pub(in crate::schema) sure: bool,
    /// How many stand there themselves; the others are referred to, or stand in them.
    pub(in crate::schema) own: usize,
}

impl<'s> Schemas<'s> {
    pub(in crate::schema) fn at_root(root: &'s Value) -> Self {
        let mut schemas = Self::empty(root);
        schemas.add(&Path::Root, root, Hold::All);
        schemas.close();
        schemas
    }

    /// The same schemas.
    pub(in crate::schema) fn copy(other: &Self) -> Self {
        Self {
            root: other.root,
            list: other.list.clone(),
            known: other.known.clone(),
            sure: other.sure,
            own: other.own,
        }
    }

    fn empty(root: &'s Value) -> Self {
        Self { root, list: Vec::new(), known: FxHashSet::default(), sure: true, own: 0 }
    }

    /// Of one that is known under a weaker hold the stronger one counts, for itself alone.
    fn add(&mut self, path: &Path<'_>, schema: &'s Value, hold: Hold) {
        if !matches!(schema, Value::Object(_)) {
            return;
        }
        if !self.known.insert(std::ptr::from_ref(schema)) {
            if let Some(known) = self.list.iter_mut().find(|about| std::ptr::eq(about.schema, schema)) {
                known.hold = known.hold.max(hold);
            }
        } else if self.list.len() < SCHEMAS {
            self.list.push(About { pointer: path.to_string(), schema, hold });
        }
    }

    /// The same schemas where none of them is sure to hold.
    pub(in crate::schema) fn at_most_some(mut self) -> Self {
        self.sure = false;
        self.list.iter_mut().for_each(|about| about.hold = about.hold.min(Hold::Some));
        self
    }

    /// Adds the schemas about the same value.
    fn close(&mut self) {
        self.own = self.list.len();
        let mut next = 0;
        while let Some(About { pointer, schema, hold }) = self.list.get(next).cloned() {
            next += 1;
            let Value::Object(object) = schema else { continue };
            let at = Path::Tail(&Path::Root, &pointer);
            for (name, value) in object.iter() {
                let at = at.name(name);
                match (keyword(name), value) {
                    (Keyword::Reference, Value::String(text)) => {
                        if let Ok(pointer) = reference::pointer(text)
                            && let Ok(target) = reference::schema_at(self.root, &pointer)
                        {
                            self.add(&Path::Tail(&Path::Root, &pointer), target, hold);
                        }
                    }
                    (Keyword::Schema, schema) if matches!(name.as_str(), "not" | "if" | "then" | "else") => {
                        self.add(&at, schema, Hold::No);
                    }
                    (Keyword::Schemas, Value::Array(schemas)) if name != "prefixItems" => {
                        let all = name == "allOf" || schemas.len() == 1;
                        let hold = if all { hold } else { hold.min(Hold::Some) };
                        for (place, schema) in schemas.iter().enumerate() {
                            self.add(&at.index(place), schema, hold);
                        }
                    }
                    (Keyword::SchemasByName | Keyword::Dependencies, Value::Object(schemas))
                        if matches!(name.as_str(), "dependentSchemas" | "dependencies") =>
                    {
                        for (name, schema) in schemas.iter() {
                            self.add(&at.name(name), schema, Hold::No);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// The schemas about a part of the value.
    pub(in crate::schema) fn step(&self, step: &Step) -> Self {
        let mut schemas = Self::empty(self.root);
        let either = |schema: &Value| EITHER.iter().any(|keyword| schema.get(keyword).is_some());
        schemas.sure = self.sure && !self.list.iter().any(|about| either(about.schema));
        for About { pointer, schema, hold } in &self.list {
            let (hold, at) = (*hold, Path::Tail(&Path::Root, pointer));
            let get = |name: &str| schema.get(name);
            match step {
                Step::Field(name) => {
                    let declared = get("properties").and_then(|properties| properties.get(name));
                    match declared {
                        Some(schema) => schemas.add(&at.name("properties").name(name), schema, hold),
                        None => schemas.others(&at, schema, hold),
                    }
                }
                Step::Other => schemas.others(&at, schema, hold),
                Step::Item(place) => {
                    for prefix in ["prefixItems", "items"] {
                        if let Some(schema) =
                            get(prefix).and_then(Value::as_array).and_then(|list| list.get(*place))
                        {
                            schemas.add(&at.name(prefix).index(*place), schema, hold);
                        }
                    }
                }
                Step::Rest => {
                    for rest in ["items", "additionalItems"] {
                        if let Some(schema) = get(rest) {
                            schemas.add(&at.name(rest), schema, hold);
                        }
                    }
                }
            }
        }
        schemas.close();
        schemas
    }

    /// The schemas about fields that are not declared.
    fn others(&mut self, at: &Path<'_>, schema: &'s Value, hold: Hold) {
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let hold = if patterns.is_some() { hold.min(Hold::Some) } else { hold };
        if let Some(schema) = schema.get("additionalProperties") {
            self.add(&at.name("additionalProperties"), schema, hold);
        }
        for (pattern, schema) in patterns.into_iter().flat_map(Object::iter) {
            self.add(&at.name("patternProperties").name(pattern), schema, hold);
        }
    }
}
