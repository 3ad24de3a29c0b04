//! The second pass: from a well-formed schema to sets. One leaf for the keywords that a schema object has
//! about single kinds of values, met with what its combining keywords say.

mod array;
pub(crate) mod closing;
mod combine;
mod finish;
pub(crate) mod keywords;
mod object;
pub(crate) mod scalar;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::arena::{Arena, Id, RefId};
use super::read::Patterns;
use super::rules as r;
use super::string::Products;
use super::undecided::Undecided;
use super::{Options, World};
use crate::json::{Path, Value};
use crate::rule::{Findings, Rule};
use closing::{Closings, Names};
use keywords::Keywords;
use object::Extra;
use scalar::Kinds;

/// The schema objects that may be compiled, those behind references once for each way in which they are used.
const SCHEMAS: usize = 20_000;

/// How an object schema that lists `properties` is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reading {
    /// It takes no others.
    Closed,
    /// As the standard says: it takes any others.
    Open,
}

/// Where a schema stands among the schemas about the same value.
#[derive(Clone, Copy)]
struct Scope<'n, 's> {
    reading: Reading,
    /// What is declared around it; needed only where it has alternatives or is one.
    outer: Option<&'n Names<'s>>,
    /// The names over which a schema around it is closed.
    closure: Option<&'n Names<'s>>,
}

/// How the target of a reference is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Use {
    /// It alone describes a value.
    Whole,
    /// The same, read as it stands.
    Open,
    /// Together with others, which close.
    Part(usize),
    /// Together with others, as an alternative that closes for itself.
    Branch(usize),
}

/// What stands around the target of a reference.
struct Context<'s> {
    outer: Option<Names<'s>>,
    closure: Option<Names<'s>>,
}

/// The target of a reference that is still to be compiled.
struct Job<'s> {
    reference: RefId,
    schema: &'s Value,
    pointer: String,
    used: Use,
}

/// A `propertyNames` whose strings are known only when all references are.
struct PendingNames {
    /// Stands for the objects with such keys.
    reference: RefId,
    names: Id,
    pointer: String,
}

/// What compiling gives.
pub(super) struct Compiled {
    pub(super) arena: Arena,
    pub(super) root: Id,
}

pub(super) struct Compiler<'s, 'f> {
    document: &'s Value,
    at: &'f Path<'f>,
    options: Options,
    patterns: &'f Patterns,
    findings: &'f mut Findings,
    arena: Arena,
    products: Products,
    closings: Closings<'s>,
    references: FxHashMap<(usize, Use), Id>,
    jobs: Vec<Job<'s>>,
    contexts: Vec<Rc<Context<'s>>>,
    context_ids: FxHashMap<ContextKey<'s>, usize>,
    pending_names: Vec<PendingNames>,
    schemas: usize,
    reported: FxHashSet<(usize, String)>,
    failed: bool,
}

type NamesKey<'s> = (Vec<&'s str>, Vec<&'s str>, bool, bool);
type ContextKey<'s> = (Option<NamesKey<'s>>, Option<NamesKey<'s>>);

impl<'s, 'f> Compiler<'s, 'f> {
    /// Compiles a schema that the first pass took: the one at `path` in `document`, which stands at `at`.
    /// Nothing when a finding was added.
    pub(super) fn compile(
        document: &'s Value,
        schema: &'s Value,
        at: &'f Path<'f>,
        path: &Path<'_>,
        options: Options,
        patterns: &'f Patterns,
        findings: &'f mut Findings,
    ) -> Option<Compiled> {
        let mut compiler = Self {
            document,
            at,
            options,
            patterns,
            findings,
            arena: Arena::new(),
            products: Products::default(),
            closings: Closings::new(document),
            references: FxHashMap::default(),
            jobs: Vec::new(),
            contexts: Vec::new(),
            context_ids: FxHashMap::default(),
            pending_names: Vec::new(),
            schemas: 0,
            reported: FxHashSet::default(),
            failed: false,
        };
        let reading = match options.world {
            World::Closed => Reading::Closed,
            World::Open => Reading::Open,
        };
        let root = compiler.root(schema, path, reading);
        compiler.finish(root)
    }

    /// A schema that alone describes a value.
    fn root(&mut self, schema: &'s Value, path: &Path<'_>, reading: Reading) -> Id {
        let keywords = match schema {
            Value::Bool(false) => return Id::NEVER,
            Value::Object(object) => Keywords::of(object),
            _ => return Id::PRESENT,
        };
        let scope = Scope { reading, outer: None, closure: None };
        match reading {
            Reading::Open if keywords.is_reference() => {
                self.reference(&keywords, Use::Open).unwrap_or(Id::PRESENT)
            }
            Reading::Open => self.assemble(&keywords, Extra::AsSaid, scope, path),
            Reading::Closed => self.conjunction(schema, &keywords, scope, path),
        }
    }

    /// A schema that closes for itself, over what it and the schemas around it declare.
    fn conjunction(
        &mut self,
        schema: &'s Value,
        keywords: &Keywords<'s>,
        scope: Scope<'_, 's>,
        path: &Path<'_>,
    ) -> Id {
        if scope.outer.is_none() {
            if !keywords.combines() {
                let closes = keywords.properties.is_some() && keywords.additional_properties.is_none();
                let extra = if closes { Extra::Closed } else { Extra::AsSaid };
                return self.assemble(keywords, extra, scope, path);
            }
            if keywords.is_reference() {
                return self.reference(keywords, Use::Whole).unwrap_or(Id::PRESENT);
            }
        }
        let own = self.closings.names(schema);
        let mut total = scope.outer.cloned().unwrap_or_default();
        total.add(&own, closing::Bond::Always);
        let closed_already = scope.closure.is_some_and(|closure| closure.as_wide_as(&total));
        let closes = total.closes() && !own.open_alternative;
        let extra = if closes && !closed_already { Extra::ClosedOver(&total) } else { Extra::AsSaid };
        let closure = if closes { Some(&total) } else { scope.closure };
        self.assemble(keywords, extra, Scope { closure, ..scope }, path)
    }

    /// A schema whose conjunction closes around it.
    fn part(&mut self, schema: &'s Value, scope: Scope<'_, 's>, path: &Path<'_>) -> Id {
        let keywords = match schema {
            Value::Bool(false) => return Id::NEVER,
            Value::Object(object) => Keywords::of(object),
            _ => return Id::PRESENT,
        };
        self.assemble(&keywords, Extra::AsSaid, scope, path)
    }

    /// The keywords about single kinds, and what combines.
    fn assemble(
        &mut self,
        keywords: &Keywords<'s>,
        extra: Extra<'_, 's>,
        scope: Scope<'_, 's>,
        path: &Path<'_>,
    ) -> Id {
        self.schemas += 1;
        if self.schemas > SCHEMAS || self.closings.is_exhausted() {
            self.too_costly(&Path::Tail(self.at, ""), Undecided::Steps);
            return Id::PRESENT;
        }
        if let (Extra::AsSaid, Some(closure)) = (extra, scope.closure) {
            self.undeclared_in(keywords, closure, path);
        }
        let own = self.own(keywords, extra, scope.reading, path);
        let combined = self.combine(own, keywords, scope, path);
        if keywords.nullable == Some(&Value::Bool(true)) {
            self.arena.or(combined, Id::NULL)
        } else {
            combined
        }
    }

    /// `required` names what the conjunction around cannot have.
    fn undeclared_in(&mut self, keywords: &Keywords<'s>, closure: &Names<'s>, path: &Path<'_>) {
        for (at, name) in keywords::strings(keywords.required).enumerate() {
            let patterns = self.patterns;
            let matches = |text: &&&str| patterns.get(**text).is_some_and(|pattern| pattern.matches(name));
            if !closure.contains(name) && closure.patterns().iter().find(matches).is_none() {
                self.undeclared(name, at, path);
            }
        }
    }

    /// One leaf for the keywords about single kinds of values, `enum` and `const`.
    fn own(
        &mut self,
        keywords: &Keywords<'s>,
        extra: Extra<'_, 's>,
        reading: Reading,
        path: &Path<'_>,
    ) -> Id {
        let listed = keywords.values.is_some() || keywords.constant.is_some();
        let closes = !matches!(extra, Extra::AsSaid);
        if !listed && !closes && !keywords.constrains_more() {
            match keywords.kinds {
                None => return Id::PRESENT,
                Some(one) => {
                    if let Some(id) = scalar::plain_kind(one) {
                        return id;
                    }
                }
            }
        }
        let kinds = Kinds::of(keywords.kinds);
        let set = super::set::Set {
            absent: false,
            null: kinds.null,
            fals: kinds.boolean,
            tru: kinds.boolean,
            num: self.numbers(keywords, kinds, path),
            str: self.strings(keywords, kinds, path),
            // Read even where the kind is out, so that what stands there is judged.
            arr: if kinds.array || keywords.constrains_arrays() {
                self.arrays(keywords, reading, path)
            } else {
                Vec::new()
            },
            obj: if kinds.object || keywords.constrains_objects() {
                self.objects(keywords, extra, reading, path)
            } else {
                Vec::new()
            },
        };
        let set = super::set::Set {
            arr: if kinds.array { set.arr } else { Vec::new() },
            obj: if kinds.object { set.obj } else { Vec::new() },
            ..set
        };
        match self.listed(keywords, &set) {
            None if set.has_no_value() => Id::NEVER,
            None => self.arena.leaf(set),
            Some(listed) if listed.composite == Id::NEVER => listed.scalars,
            Some(listed) => {
                let own = self.arena.leaf(set);
                let composite = self.arena.and(own, listed.composite);
                self.arena.or(listed.scalars, composite)
            }
        }
    }

    /// A finding, once for a place, however often a reference leads there.
    fn report(&mut self, rule: &'static Rule, path: &Path<'_>, message: std::fmt::Arguments<'_>) {
        self.failed = true;
        let key = (std::ptr::from_ref(rule) as usize, path.to_string());
        if self.reported.insert(key) {
            self.findings.add(rule, path, message);
        }
    }

    fn too_costly(&mut self, path: &Path<'_>, why: Undecided) {
        self.report(&r::TOO_COSTLY, path, format_args!("the schema is too costly to decide about: {why}"));
    }
}
