//! Which names the schemas about one value declare together.
//!
//! An object schema that lists `properties` and does not speak of `additionalProperties` takes no others. The
//! unit that closes is the *conjunction*: a schema object with its `allOf`, `$ref`, `dependentSchemas`, `if`,
//! `then` and `else`, over the union of their names. Each branch of an `anyOf` or `oneOf` is a conjunction
//! with all that stands around it, but not with its sibling branches. Where a schema speaks of
//! `additionalProperties` (itself, or through `allOf` or `$ref`), its conjunction is as open as it says;
//! a branch that speaks opens only itself; what speaks only under a condition opens nothing. What is only asked
//! (`not`, `if`, `contains`) is read as it stands: closing it would make the whole wider.
//!
//! A branch closes over the names of all branches of *other* groups, whichever of them apply. Two schemas that
//! describe one property from two places close separately below it.

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

#[cfg(test)]
mod tests {
    use crate::schema::testing::{broken, check, closed};

    #[test]
    fn a_conjunction_closes_over_the_names_of_all_its_members() {
        for schema in [
            r#"{"properties": {"a": {}}, "allOf": [{"properties": {"b": {"type": "string"}}}]}"#,
            r#"{"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {"type": "string"}}}]}"#,
            r##"{"properties": {"a": {}}, "$ref": "#/$defs/b", "$defs": {"b": {"properties": {"b": {"type": "string"}}}}}"##,
            r##"{"allOf": [{"$ref": "#/$defs/a"}, {"allOf": [{"$ref": "#/$defs/b"}]}],
                "$defs": {"a": {"properties": {"a": {}}}, "b": {"properties": {"b": {"type": "string"}}}}}"##,
        ] {
            check(&closed(schema), &["{}", "{\"a\":1,\"b\":\"x\"}"], &["{\"b\":1}", "{\"c\":1}"]);
        }
    }

    #[test]
    fn conditional_members_declare_their_names_for_all() {
        let schema = closed(
            r#"{"properties": {"kind": {"type": "string"}}, "if": {"properties": {"kind": {"const": "n"}}, "required": ["kind"]},
                "then": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}, "else": {"properties": {"s": {"type": "string"}}}}"#,
        );
        check(
            &schema,
            &["{\"kind\":\"n\",\"n\":1}", "{\"kind\":\"s\",\"s\":\"x\"}", "{}"],
            &["{\"kind\":\"n\"}", "{\"kind\":\"n\",\"n\":\"x\"}", "{\"other\":1}"],
        );
        let dependent = closed(
            r#"{"properties": {"a": {}}, "dependentSchemas": {"a": {"properties": {"b": {"type": "string"}}}}}"#,
        );
        check(&dependent, &["{\"a\":1,\"b\":\"x\"}", "{\"b\":1}"], &["{\"a\":1,\"b\":1}", "{\"c\":1}"]);
    }

    #[test]
    fn each_branch_closes_with_what_stands_around_it() {
        let schema = closed(
            r#"{"properties": {"kind": {"type": "string"}}, "required": ["kind"],
                "anyOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"b": {}}}]}"#,
        );
        check(
            &schema,
            &["{\"kind\":\"x\",\"a\":1}", "{\"kind\":\"x\",\"b\":1}", "{\"kind\":\"x\"}"],
            &[
                "{\"kind\":\"x\",\"a\":1,\"b\":1}",
                "{\"kind\":\"x\",\"a\":\"x\"}",
                "{\"kind\":\"x\",\"c\":1}",
                "{\"a\":1}",
            ],
        );
        // Optional names alone tell the branches of a oneOf apart.
        let one = closed(
            r#"{"oneOf": [{"type": "object", "properties": {"x": {}}}, {"type": "object", "properties": {"y": {}}}]}"#,
        );
        check(&one, &["{\"x\":1}", "{\"y\":1}"], &["{}", "{\"x\":1,\"y\":1}", "{\"z\":1}"]);
        // Two groups: each branch closes over the other group's names.
        let two = closed(
            r#"{"properties": {"k": {}}, "allOf": [{"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
                {"anyOf": [{"properties": {"c": {}}}, {"properties": {"d": {}}}]}]}"#,
        );
        check(
            &two,
            &["{\"k\":1,\"a\":1,\"c\":1}", "{\"b\":1,\"d\":1}"],
            &["{\"a\":1,\"b\":1}", "{\"c\":1,\"d\":1}", "{\"e\":1}"],
        );
    }

    #[test]
    fn a_branch_without_names_of_its_own_closes_over_what_is_around() {
        let schema = closed(
            r#"{"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}"#,
        );
        check(&schema, &["{\"a\":1}", "{\"a\":1,\"b\":1}"], &["{}", "{\"a\":1,\"c\":1}"]);
        let mixed = closed(
            r#"{"properties": {"a": {}}, "anyOf": [true, {"properties": {"b": {"type": "string"}}, "required": ["b"]}]}"#,
        );
        check(&mixed, &["{\"a\":1}", "{\"b\":\"x\"}"], &["{\"b\":1}", "{\"c\":1}"]);
    }

    #[test]
    fn a_reference_closes_in_each_place_with_what_is_around_there() {
        let schema = closed(
            r##"{"properties": {"alone": {"$ref": "#/$defs/u"}, "more": {"$ref": "#/$defs/u", "properties": {"m": {}}}},
                "$defs": {"u": {"oneOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}]}}}"##,
        );
        check(
            &schema,
            &["{\"alone\":{\"a\":1}}", "{\"more\":{\"a\":1,\"m\":1}}", "{\"more\":{\"b\":1}}"],
            &[
                "{\"alone\":{\"a\":1,\"m\":1}}",
                "{\"more\":{\"a\":1,\"b\":1}}",
                "{\"more\":{\"a\":1,\"x\":1}}",
                "{\"more\":{\"m\":1}}",
            ],
        );
        let recursive = closed(
            r##"{"$ref": "#/$defs/n", "properties": {"top": {}},
                "$defs": {"n": {"anyOf": [{"properties": {"next": {"$ref": "#/$defs/n", "properties": {"deep": {}}}}}, {"type": "null"}]}}}"##,
        );
        check(
            &recursive,
            &["{\"top\":1,\"next\":{\"deep\":1,\"next\":{\"deep\":1}}}"],
            &["{\"next\":{\"top\":1}}", "{\"deep\":1}"],
        );
    }

    #[test]
    fn who_speaks_of_other_properties_is_heard() {
        let base = closed(
            r#"{"properties": {"a": {}}, "additionalProperties": true, "anyOf": [{"properties": {"b": {"type": "string"}}}]}"#,
        );
        check(&base, &["{\"c\":1}", "{\"b\":\"x\"}"], &["{\"b\":1}"]);
        let member =
            closed(r#"{"properties": {"a": {}}, "allOf": [{"additionalProperties": {"type": "string"}}]}"#);
        check(&member, &["{\"c\":\"x\"}"], &["{\"c\":1}", "{\"a\":1}"]);
        // A branch that speaks opens only itself.
        let branch = closed(
            r#"{"properties": {"a": {"type": "string"}}, "required": ["a"], "anyOf": [{"properties": {"a": {"const": "open"}}, "additionalProperties": true},
                {"properties": {"b": {}}}]}"#,
        );
        check(&branch, &["{\"a\":\"open\",\"c\":1}", "{\"a\":\"x\",\"b\":1}"], &["{\"a\":\"x\",\"c\":1}"]);
        // What speaks only under a condition opens nothing.
        let condition = closed(
            r#"{"properties": {"a": {}}, "if": {"required": ["a"]}, "then": {"additionalProperties": true}}"#,
        );
        check(&condition, &["{\"a\":1}"], &["{\"a\":1,\"c\":1}", "{\"c\":1}"]);
    }

    #[test]
    fn what_is_only_asked_is_read_as_it_stands() {
        let contains = closed(
            r#"{"contains": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "maxContains": 1}"#,
        );
        check(&contains, &[r#"[{"a":1,"b":2}]"#], &[r#"[{"a":1},{"a":1,"b":2}]"#, "[]"]);
        let schema = closed(
            r#"{"properties": {"a": {}, "b": {}}, "not": {"properties": {"a": {"const": 1}}, "required": ["a"]}}"#,
        );
        check(&schema, &["{\"a\":2,\"b\":1}"], &["{\"a\":1}", "{\"a\":1,\"b\":1}"]);
        let nested = closed(
            r#"{"properties": {"f": {"properties": {"x": {}, "y": {}}}, "g": {}},
                "if": {"properties": {"f": {"properties": {"x": {"const": 1}}, "required": ["x"]}}, "required": ["f"]}, "then": {"required": ["g"]}}"#,
        );
        check(
            &nested,
            &["{\"f\":{\"x\":1,\"y\":2},\"g\":1}", "{\"f\":{\"y\":2}}"],
            &["{\"f\":{\"x\":1,\"y\":2}}"],
        );
    }

    #[test]
    fn what_is_required_is_declared_somewhere_in_the_conjunction() {
        check(
            &closed(r#"{"allOf": [{"properties": {"a": {}}}, {"required": ["a"]}]}"#),
            &["{\"a\":1}"],
            &["{}"],
        );
        let member = r#"{"properties": {"a": {}}, "allOf": [{"required": ["b"]}]}"#;
        assert_eq!(broken(member), [("schema.required_undeclared", "/allOf/0/required/0".to_owned())]);
        let branch =
            r#"{"properties": {"a": {}}, "anyOf": [{"properties": {"b": {}}}, {"required": ["a", "b"]}]}"#;
        assert_eq!(broken(branch), [("schema.required_undeclared", "/anyOf/1/required/1".to_owned())]);
    }
}
