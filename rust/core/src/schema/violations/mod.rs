//! Why a value is not accepted: a walk over the source, keyword by keyword.
//!
//! Whether a value is accepted is decided on the compiled set. The walk only names the reasons, and a test
//! holds the two together. Its pointers end at the last declared name: an undeclared key may be a secret.

mod alternatives;
mod value;

use std::fmt;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::compile::Reading;
use super::compile::closing::{Bond, Closings, Names, Part, Under, target};
use super::compile::keywords::{Keywords, strings};
use super::{Inner, World};
use crate::json::{Object, Path, Value};

/// The most violations of one value that are told.
const MOST: usize = 1_000;
/// The steps that a walk may take: past these the reasons found so far are told.
const STEPS: u32 = 200_000;
/// The deepest nesting of schemas and values that is walked.
const FRAMES: u32 = 300;

/// One reason why a value is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Violation {
    /// Where, as an RFC 6901 pointer into the value that ends at the last declared name.
    pub pointer: String,
    /// The keyword that is violated; empty where the value was too costly to check.
    pub keyword: &'static str,
    /// What is wrong, one sentence. Never holds a value or an undeclared name.
    pub message: String,
}

impl Violation {
    /// The value takes too many steps to decide about.
    pub(crate) fn too_costly() -> Self {
        Self {
            pointer: String::new(),
            keyword: "",
            message: "the value takes too many steps to check".to_owned(),
        }
    }
}

/// Every reason why the schema does not accept the value, up to a thousand.
pub(crate) fn violations(schema: &Inner, value: &Value) -> Vec<Violation> {
    let mut walk = Walk {
        schema,
        closings: Closings::new(&schema.source),
        found: Vec::new(),
        known: FxHashSet::default(),
        probe: None,
        steps: 0,
        frames: 0,
    };
    let reading = match schema.options.world {
        World::Closed => Reading::Closed,
        World::Open => Reading::Open,
    };
    walk.root(&schema.source, value, reading, Place { path: &Path::Root, hidden: false });
    if walk.found.is_empty() {
        walk.found.push(Violation::too_costly());
    }
    walk.found
}

/// Where in the value the walk stands.
#[derive(Clone, Copy)]
struct Place<'p> {
    path: &'p Path<'p>,
    /// Below a key that is not declared: the pointer goes no further.
    hidden: bool,
}

impl<'p> Place<'p> {
    fn name(self, name: &'p str) -> Path<'p> {
        if self.hidden { *self.path } else { self.path.name(name) }
    }

    fn index(self, index: usize) -> Path<'p> {
        if self.hidden { *self.path } else { self.path.index(index) }
    }
}

/// What stands around a schema, as when it was compiled.
#[derive(Clone)]
struct Scope<'s> {
    reading: Reading,
    outer: Option<Rc<Names<'s>>>,
    closure: Option<Rc<Names<'s>>>,
}

/// Which other keys an object takes.
#[derive(Clone)]
enum Extra<'s> {
    AsSaid,
    Closed,
    ClosedOver(Rc<Names<'s>>),
}

struct Walk<'s> {
    schema: &'s Inner,
    closings: Closings<'s>,
    found: Vec<Violation>,
    known: FxHashSet<Violation>,
    /// Set while only asking whether anything is violated, to whether it is.
    probe: Option<bool>,
    steps: u32,
    frames: u32,
}

impl<'s> Walk<'s> {
    /// A schema that alone describes the value.
    fn root(&mut self, schema: &'s Value, value: &Value, reading: Reading, at: Place<'_>) {
        let Value::Object(object) = schema else { return self.boolean(schema, at) };
        let scope = Scope { reading, outer: None, closure: None };
        self.framed(|walk| {
            let keywords = Keywords::of(object);
            match reading {
                Reading::Open => walk.assemble(&keywords, &Extra::AsSaid, &scope, value, at),
                Reading::Closed => walk.conjunction(schema, &keywords, &scope, value, at),
            }
        });
    }

    /// A schema that closes for itself, over what it and the schemas around it declare.
    fn conjunction(
        &mut self,
        schema: &'s Value,
        keywords: &Keywords<'s>,
        scope: &Scope<'s>,
        value: &Value,
        at: Place<'_>,
    ) {
        if scope.outer.is_none() {
            if !keywords.combines() {
                let closes = keywords.properties.is_some() && keywords.additional_properties.is_none();
                let extra = if closes { Extra::Closed } else { Extra::AsSaid };
                return self.assemble(keywords, &extra, scope, value, at);
            }
            if keywords.is_reference() {
                if let Some(target) = target(&self.schema.source, keywords.reference) {
                    self.root(target, value, Reading::Closed, at);
                }
                return;
            }
        }
        let own = self.closings.names(schema);
        let mut total = scope.outer.as_deref().cloned().unwrap_or_default();
        total.add(&own, Bond::Always);
        let closes = total.closes() && !own.open_alternative;
        let total = Rc::new(total);
        let (extra, closure) = if closes {
            (Extra::ClosedOver(Rc::clone(&total)), Some(total))
        } else {
            (Extra::AsSaid, scope.closure.clone())
        };
        self.assemble(keywords, &extra, &Scope { closure, ..scope.clone() }, value, at);
    }

    /// A schema whose conjunction closes around it.
    fn part(&mut self, schema: &'s Value, scope: &Scope<'s>, value: &Value, at: Place<'_>) {
        let Value::Object(object) = schema else { return self.boolean(schema, at) };
        self.framed(|walk| walk.assemble(&Keywords::of(object), &Extra::AsSaid, scope, value, at));
    }

    fn boolean(&mut self, schema: &Value, at: Place<'_>) {
        if *schema == Value::Bool(false) {
            self.report(at, "false", format_args!("nothing is valid here"));
        }
    }

    fn assemble(
        &mut self,
        keywords: &Keywords<'s>,
        extra: &Extra<'s>,
        scope: &Scope<'s>,
        value: &Value,
        at: Place<'_>,
    ) {
        if value.is_null() && keywords.nullable == Some(&Value::Bool(true)) {
            return;
        }
        self.own(keywords, extra, scope.reading, value, at);
        if let Value::Object(object) = value {
            for (keyword, key, names) in keywords.conditional_names() {
                if object.contains_key(key) {
                    self.required(names.iter().filter_map(Value::as_str), keyword, object, at);
                }
            }
        }
        if let Some(schema) = keywords.not
            && !self.fails(|walk| walk.root(schema, value, Reading::Open, at))
        {
            self.report(at, "not", format_args!("the value is one that is excluded"));
        }
        if !keywords.combines() {
            return;
        }
        if let Some(target) = target(&self.schema.source, keywords.reference) {
            self.member(keywords, scope, target, |part| part.keyword == "$ref", value, at);
        }
        for (place, schema) in
            keywords.all_of.and_then(Value::as_array).unwrap_or_default().iter().enumerate()
        {
            let under = Under::Index(place);
            let skip = |part: &Part<'s>| part.keyword == "allOf" && part.under == under;
            self.member(keywords, scope, schema, skip, value, at);
        }
        for (keyword, key, schema) in keywords.conditional_schemas() {
            if value.get(key).is_some() {
                let skip = |part: &Part<'s>| part.keyword == keyword && part.under == Under::Name(key);
                self.member(keywords, scope, schema, skip, value, at);
            }
        }
        if let Some(condition) = keywords.condition {
            let fails = self.fails(|walk| walk.root(condition, value, Reading::Open, at));
            let (keyword, schema) =
                if fails { ("else", keywords.otherwise) } else { ("then", keywords.then) };
            if let Some(schema) = schema {
                self.member(keywords, scope, schema, |part| part.keyword == keyword, value, at);
            }
        }
        self.alternatives(keywords, scope, value, at);
    }

    /// A schema that closes together with those around it.
    fn member(
        &mut self,
        keywords: &Keywords<'s>,
        scope: &Scope<'s>,
        schema: &'s Value,
        skip: impl Fn(&Part<'s>) -> bool,
        value: &Value,
        at: Place<'_>,
    ) {
        if scope.reading == Reading::Open {
            return self.root(schema, value, Reading::Open, at);
        }
        let alternatives = self.closings.names(schema).alternatives;
        let outer =
            alternatives.then(|| Rc::new(self.closings.around(scope.outer.as_deref(), keywords, skip)));
        self.part(schema, &Scope { outer, ..scope.clone() }, value, at);
    }

    fn required<'n>(
        &mut self,
        names: impl Iterator<Item = &'n str>,
        keyword: &'static str,
        object: &Object,
        at: Place<'_>,
    ) {
        for name in names.filter(|name| !object.contains_key(name)) {
            self.report(at, keyword, format_args!("the member {} is missing", crate::json::Quoted(name)));
        }
    }

    /// Whether anything is violated.
    fn fails(&mut self, check: impl FnOnce(&mut Self)) -> bool {
        let outer = self.probe.replace(false);
        check(self);
        let failed = self.probe == Some(true);
        self.probe = outer;
        failed
    }

    /// Whether going on is of no use.
    fn is_done(&self) -> bool {
        self.probe == Some(true) || self.found.len() >= MOST || self.steps > STEPS
    }

    fn framed(&mut self, check: impl FnOnce(&mut Self)) {
        self.steps += 1;
        if self.is_done() || self.frames >= FRAMES {
            return;
        }
        self.frames += 1;
        check(self);
        self.frames -= 1;
    }

    fn report(&mut self, at: Place<'_>, keyword: &'static str, message: fmt::Arguments<'_>) {
        if self.probe.is_some() {
            self.probe = Some(true);
        } else if self.found.len() < MOST {
            let violation = Violation { pointer: at.path.to_string(), keyword, message: message.to_string() };
            if self.known.insert(violation.clone()) {
                self.found.push(violation);
            }
        }
    }
}

/// The names of `required`.
fn required_names<'s>(keywords: &Keywords<'s>) -> impl Iterator<Item = &'s str> {
    strings(keywords.required)
}

#[cfg(test)]
mod tests {
    use crate::schema::testing::{closed, open, reasons, value};

    fn told(schema: &str, value: &str) -> Vec<(String, &'static str)> {
        reasons(&closed(schema), value)
    }

    fn at(list: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
        list.iter().map(|(pointer, keyword)| ((*pointer).to_owned(), *keyword)).collect()
    }

    #[test]
    fn every_violation_is_told_with_its_place() {
        let schema = r#"{"type": "object", "required": ["a", "b", "z"], "minProperties": 4, "properties": {
            "a": {"type": "string", "minLength": 3, "pattern": "^x", "enum": ["xxx"]}, "b": {"type": "integer", "maximum": 3, "multipleOf": 2},
            "c": {"type": "array", "items": {"type": "boolean"}, "uniqueItems": true, "maxItems": 2}, "z": {}}}"#;
        assert_eq!(
            told(schema, r#"{"a": "y", "b": 7.5, "c": [true, 1, 1]}"#),
            at(&[
                ("", "minProperties"),
                ("", "required"),
                ("/a", "enum"),
                ("/a", "minLength"),
                ("/a", "pattern"),
                ("/b", "type"),
                ("/b", "maximum"),
                ("/b", "multipleOf"),
                ("/c", "maxItems"),
                ("/c", "uniqueItems"),
                ("/c/1", "type"),
                ("/c/2", "type"),
            ])
        );
    }

    #[test]
    fn an_undeclared_key_is_never_told() {
        let secret = r#"{"a": {"sk-secret": {"b": 1}}, "sk-secret": "sk-secret"}"#;
        for schema in [
            r#"{"properties": {"a": {"properties": {}}}}"#,
            r#"{"properties": {"a": {"additionalProperties": {"properties": {"b": {"type": "string"}}}}}, "additionalProperties": {"maxLength": 3}}"#,
            r#"{"patternProperties": {"^s": {"type": "integer"}}, "properties": {"a": {"propertyNames": {"maxLength": 2}}}, "additionalProperties": false}"#,
            r#"{"not": {"required": ["a"]}}"#,
            r#"{"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}}]}"#,
        ] {
            let violations = closed(schema).accepts(&value(secret)).unwrap_err();
            assert!(!violations.is_empty(), "{schema}");
            for violation in violations {
                assert!(!format!("{violation:?}").contains("secret"), "{violation:?}");
                assert!(violation.pointer.is_empty() || violation.pointer == "/a", "{violation:?}");
            }
        }
    }

    #[test]
    fn messages_hold_no_values() {
        let schema =
            closed(r#"{"properties": {"a": {"type": "integer", "enum": [1], "not": {"const": "hush"}}}}"#);
        let violations = schema.accepts(&value(r#"{"a": "hush"}"#)).unwrap_err();
        assert!(violations.iter().all(|violation| !violation.message.contains("hush")), "{violations:?}");
    }

    #[test]
    fn the_branch_that_can_be_meant_tells_its_own_reasons() {
        let optional =
            r#"{"properties": {"n": {"anyOf": [{"type": "integer", "maximum": 5}, {"type": "null"}]}}}"#;
        assert_eq!(told(optional, r#"{"n": 7}"#), at(&[("/n", "maximum")]));
        assert_eq!(told(optional, r#"{"n": "x"}"#), at(&[("/n", "anyOf")]));
        let union = r##"{"oneOf": [{"$ref": "#/$defs/a"}, {"type": "object", "properties": {"kind": {"const": "b"}, "v": {"type": "string"}}, "required": ["kind"]}],
            "$defs": {"a": {"type": "object", "properties": {"kind": {"enum": ["a"]}, "v": {"type": "integer"}}, "required": ["kind", "v"]}}}"##;
        assert_eq!(told(union, r#"{"kind": "a", "v": "x"}"#), at(&[("/v", "type")]));
        assert_eq!(
            told(union, r#"{"kind": "b", "v": 1, "w": 2}"#),
            at(&[("/v", "type"), ("", "additionalProperties")])
        );
        assert_eq!(told(union, r#"{"kind": "c"}"#), at(&[("", "oneOf")]));
        let two = open(r#"{"oneOf": [{"minimum": 1}, {"maximum": 3}]}"#);
        assert_eq!(reasons(&two, "2"), at(&[("", "oneOf")]));
    }

    #[test]
    fn combined_schemas_tell_theirs() {
        let schema = r##"{"properties": {"a": {"$ref": "#/$defs/s", "maxLength": 2}, "b": {}}, "allOf": [{"properties": {"b": {"type": "null"}}}],
            "dependentRequired": {"a": ["b"]}, "if": {"required": ["a"]}, "then": {"maxProperties": 0}, "$defs": {"s": {"pattern": "^x"}}}"##;
        assert_eq!(
            told(schema, r#"{"a": "yyy"}"#),
            at(&[("/a", "maxLength"), ("/a", "pattern"), ("", "dependentRequired"), ("", "maxProperties")])
        );
        assert_eq!(told(schema, r#"{"b": 1}"#), at(&[("/b", "type")]));
        assert_eq!(told("{\"not\": {}, \"type\": \"string\", \"nullable\": true}", "null"), []);
    }

    #[test]
    fn a_value_with_endless_faults_is_told_in_bounds() {
        let schema = closed(r#"{"items": {"type": "string"}}"#);
        let many = format!("[{}0]", "0,".repeat(100_000));
        assert_eq!(schema.accepts(&value(&many)).unwrap_err().len(), 1_000);
    }
}
