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
