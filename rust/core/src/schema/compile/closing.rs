//! Which names the schemas about one value declare together.
//!
//! An object schema that lists `properties` and does not speak of `additionalProperties` takes no others. The
//! unit that closes is the *conjunction*: a schema object with its `allOf`, `$ref`, `dependentSchemas`, `if`,
//! `then` and `else`, over the union of their names. Each branch of an `anyOf` or `oneOf` is a conjunction
//! with all that stands around it, but not with its sibling branches. Where a schema speaks of
//! `additionalProperties` (itself, or through `allOf` or `$ref`), its conjunction is as open as it says;
//! a branch that speaks opens only itself; what speaks only under a condition opens nothing. Schemas under
//! `not`, and the condition `if`, are read as they stand: closing them would make the whole wider.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::keywords::{Keywords, members};
use crate::json::Value;
use crate::schema::reference;

/// The names and key patterns that schemas about one value declare.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names<'s> {
    list: Vec<&'s str>,
    known: FxHashSet<&'s str>,
    patterns: Vec<&'s str>,
    /// Something lists `properties`.
    pub(crate) lists: bool,
    /// Something that always applies speaks of `additionalProperties`.
    pub(crate) speaks: bool,
    /// There is an `anyOf` or `oneOf`.
    pub(crate) alternatives: bool,
    /// A branch of one speaks of `additionalProperties`, so that closing is left to the branches.
    pub(crate) open_alternative: bool,
}

/// How a schema belongs to the one that it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bond {
    /// Applies to the same value (`allOf`, `$ref`).
    Always,
    /// Applies under a condition.
    Conditional,
    /// One of several that may apply.
    Alternative,
}

impl<'s> Names<'s> {
    /// The names, each once, in the order in which they were met.
    pub(crate) fn list(&self) -> &[&'s str] {
        &self.list
    }

    /// The key patterns.
    pub(crate) fn patterns(&self) -> &[&'s str] {
        &self.patterns
    }

    /// Whether a name is listed; patterns are not asked.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.known.contains(name)
    }

    /// Whether an object schema with these names takes no others.
    pub(crate) fn closes(&self) -> bool {
        self.lists && !self.speaks
    }

    /// Whether both take the same keys, one being known to take all of the other.
    pub(crate) fn as_wide_as(&self, part: &Self) -> bool {
        self.list.len() == part.list.len() && self.patterns.len() == part.patterns.len()
    }

    /// What tells one set of names from another.
    pub(crate) fn key(&self) -> (Vec<&'s str>, Vec<&'s str>, bool, bool) {
        let sorted = |list: &[&'s str]| {
            let mut list = list.to_vec();
            list.sort_unstable();
            list
        };
        (sorted(&self.list), sorted(&self.patterns), self.lists, self.speaks)
    }

    /// Adds what another schema about the same value declares.
    pub(crate) fn add(&mut self, other: &Names<'s>, bond: Bond) {
        for name in &other.list {
            self.add_name(name);
        }
        for pattern in &other.patterns {
            self.add_pattern(pattern);
        }
        match bond {
            Bond::Always => {
                self.lists |= other.lists;
                self.speaks |= other.speaks;
                self.alternatives |= other.alternatives;
                self.open_alternative |= other.open_alternative;
            }
            Bond::Conditional => {
                self.lists |= other.lists;
                self.alternatives |= other.alternatives;
            }
            Bond::Alternative => {
                self.alternatives = true;
                self.open_alternative |= other.speaks || other.open_alternative;
            }
        }
    }

    /// Adds what a schema object declares itself.
    pub(crate) fn add_own(&mut self, keywords: &Keywords<'s>) {
        members(keywords.properties).for_each(|(name, _)| self.add_name(name));
        members(keywords.pattern_properties).for_each(|(pattern, _)| self.add_pattern(pattern));
        self.lists |= keywords.properties.is_some();
        self.speaks |= keywords.additional_properties.is_some();
    }

    fn add_name(&mut self, name: &'s str) {
        if self.known.insert(name) {
            self.list.push(name);
        }
    }

    fn add_pattern(&mut self, pattern: &'s str) {
        if !self.patterns.contains(&pattern) {
            self.patterns.push(pattern);
        }
    }
}

/// A schema that is about the same value as the one that it stands in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'s> {
    pub(crate) schema: &'s Value,
    pub(crate) bond: Bond,
    /// The keyword, and the name or index below it.
    pub(crate) keyword: &'static str,
    pub(crate) under: Under<'s>,
}

/// Where below its keyword a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Under<'s> {
    /// It is the keyword's value.
    Nothing,
    /// A member of it.
    Name(&'s str),
    /// An item of it.
    Index(usize),
}

/// The parts of a schema object, references followed.
pub(crate) fn parts<'s>(root: &'s Value, keywords: &Keywords<'s>) -> Vec<Part<'s>> {
    let mut parts = Vec::new();
    let lists = [
        ("allOf", keywords.all_of, Bond::Always),
        ("anyOf", keywords.any_of, Bond::Alternative),
        ("oneOf", keywords.one_of, Bond::Alternative),
    ];
    if let Some(schema) = target(root, keywords.reference) {
        parts.push(Part { schema, bond: Bond::Always, keyword: "$ref", under: Under::Nothing });
    }
    for (keyword, list, bond) in lists {
        for (at, schema) in list.and_then(Value::as_array).unwrap_or_default().iter().enumerate() {
            parts.push(Part { schema, bond, keyword, under: Under::Index(at) });
        }
    }
    for (keyword, name, schema) in keywords.conditional_schemas() {
        parts.push(Part { schema, bond: Bond::Conditional, keyword, under: Under::Name(name) });
    }
    if keywords.condition.is_some() {
        let branches = [("if", keywords.condition), ("then", keywords.then), ("else", keywords.otherwise)];
        for (keyword, schema) in branches {
            let part = |schema| Part { schema, bond: Bond::Conditional, keyword, under: Under::Nothing };
            parts.extend(schema.map(part));
        }
    }
    parts
}

/// The schema that a `$ref` leads to.
pub(crate) fn target<'s>(root: &'s Value, reference: Option<&Value>) -> Option<&'s Value> {
    let pointer = reference::pointer(reference?.as_str()?).ok()?;
    reference::schema_at(root, &pointer).ok()
}

/// The names of every schema of a document, found once.
pub(crate) struct Closings<'s> {
    root: &'s Value,
    known: FxHashMap<usize, Rc<Names<'s>>>,
    busy: Vec<usize>,
    /// What merging names may still cost.
    budget: usize,
}

/// The names that may be merged for one schema.
const BUDGET: usize = 1_000_000;
/// The longest chain of schemas about one value.
const CHAIN: usize = 64;

/// The identity of a schema within its document.
pub(crate) fn address(schema: &Value) -> usize {
    std::ptr::from_ref(schema) as usize
}

impl<'s> Closings<'s> {
    pub(crate) fn new(root: &'s Value) -> Self {
        Self { root, known: FxHashMap::default(), busy: Vec::new(), budget: BUDGET }
    }

    /// Whether the names were too many to merge, or a chain of schemas about one value too long: what was
    /// found is not complete.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.budget == 0
    }

    /// What a schema and its parts declare.
    pub(crate) fn names(&mut self, schema: &'s Value) -> Rc<Names<'s>> {
        let key = address(schema);
        if let Some(known) = self.known.get(&key) {
            return Rc::clone(known);
        }
        let Value::Object(object) = schema else { return Rc::default() };
        // A schema that leads back to itself without going into a value is refused elsewhere.
        if self.busy.contains(&key) {
            return Rc::default();
        }
        if self.busy.len() > CHAIN {
            self.budget = 0;
        }
        if self.is_exhausted() {
            return Rc::default();
        }
        self.busy.push(key);
        let keywords = Keywords::of(object);
        let mut names = Names::default();
        names.add_own(&keywords);
        for part in parts(self.root, &keywords) {
            let found = self.names(part.schema);
            self.pay(&found);
            names.add(&found, part.bond);
        }
        self.busy.pop();
        let names = Rc::new(names);
        self.known.insert(key, Rc::clone(&names));
        names
    }

    /// What is declared around a part (or a group of branches): by the outer schemas, by the schema object
    /// itself and by its other parts.
    pub(crate) fn around(
        &mut self,
        outer: Option<&Names<'s>>,
        keywords: &Keywords<'s>,
        skip: impl Fn(&Part<'s>) -> bool,
    ) -> Names<'s> {
        let mut names = outer.cloned().unwrap_or_default();
        names.add_own(keywords);
        for part in parts(self.root, keywords).into_iter().filter(|part| !skip(part)) {
            let found = self.names(part.schema);
            self.pay(&found);
            names.add(&found, part.bond);
        }
        (names.alternatives, names.open_alternative) = (false, false);
        names
    }

    fn pay(&mut self, names: &Names<'_>) {
        self.budget = self.budget.saturating_sub(names.list.len() + names.patterns.len() + 1);
    }
}
