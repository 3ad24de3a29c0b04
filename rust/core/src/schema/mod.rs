//! Parameter schemas as sets of JSON values: one representation, three readers.
//!
//! ```text
//! schema -> read      every keyword, value, name, pattern and reference judged where it stands
//!        -> compile   sets: a small boolean algebra (arena), closed by default once per conjunction
//!        -> Schema    accepts(value)                is it in the set, and if not, every reason
//!                     field, takes_undeclared       what the slots of a request have to know
//! ```
//!
//! A profile of JSON Schema in the spellings of 2020-12 and draft-07, either of them under either dialect.
//! `allOf` is intersection, `anyOf` union, `not` complement, `oneOf` what lies in exactly one, `enum` and `const`
//! are finite sets; no pair of keywords needs code of its own.
//!
//! | keywords | |
//! |---|---|
//! | `type`, `enum`, `const`, `nullable` | enforced; `nullable: true` adds null to all that its schema says |
//! | `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum` (numbers, or truth values beside a bound), `multipleOf` | enforced on exact decimals |
//! | `minLength`, `maxLength`, `pattern`, `format` | enforced; lengths count characters; a format is exact ([`strings::formats`]) or an annotation |
//! | `items`, `prefixItems`, `additionalItems`, `minItems`, `maxItems`, `uniqueItems`, `contains`, `minContains`, `maxContains` | enforced |
//! | `properties`, `required`, `additionalProperties`, `patternProperties`, `propertyNames`, `minProperties`, `maxProperties`, `dependentRequired`, `dependentSchemas`, `dependencies` | enforced |
//! | `allOf`, `anyOf`, `oneOf`, `not`, `if`, `then`, `else`, `$ref` (local), `$defs`, `definitions` | enforced |
//! | `title`, `description`, `default`, `examples`, `example`, `deprecated`, `readOnly`, `writeOnly`, `$comment`, `content*`, `discriminator`, `externalDocs`, `xml`, `x-*`, `$id` at the top | annotations, which change nothing |
//! | `unevaluated*`, `$dynamicRef`, `$dynamicAnchor`, `$recursive*`, `$anchor`, `$vocabulary`, `$id` below the top | refused by name |
//! | any other | refused by name |

mod accepts;
mod annotations;
mod arena;
mod array;
mod chain;
mod compile;
mod decimal;
mod disjoint;
mod field;
mod grammar;
mod identity;
mod keyword;
#[cfg(test)]
mod laws;
mod narrower;
mod number;
mod object;
mod read;
mod reference;
mod rules;
mod safe;
mod satisfiable;
mod search;
mod set;
mod size;
mod string;
pub mod strings;
#[cfg(test)]
mod testing;
mod undecided;
mod violations;
mod whole;

use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

pub use field::{ArrayField, Field, Kinds};
pub use grammar::{CallFrame, CallGrammar, GRAMMAR_BYTES, Grammar, Note, call_grammar};
pub(crate) use narrower::Purse;
pub use narrower::Verdict;
pub use rules::RULES;
pub use safe::{Change, SAFE_BYTES, Safe};
pub use undecided::Undecided;
pub use violations::Violation;

use crate::json::{Path, Value};
use crate::limits::TrustLimits;
use crate::rule::Findings;
use arena::{Arena, Id};
use compile::closing::Closings;
use compile::{Compiled, Compiler};

/// How a schema is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// The dialect where `$schema` does not say it.
    pub dialect: Dialect,
    /// Whether an object schema that lists `properties` takes others.
    pub world: World,
    /// What `format` does.
    pub formats: Formats,
}

/// A dialect of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// JSON Schema 2020-12.
    #[default]
    Draft202012,
    /// JSON Schema draft-07, where `$ref` hides its siblings.
    Draft07,
}

/// What an object schema does that lists `properties` and does not speak of `additionalProperties`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum World {
    /// It takes no others. Names and values are held to the rules of identity, since a model reads them.
    #[default]
    Closed,
    /// It takes any others, as the standard says; for the standard's test suite.
    Open,
}

/// What `format` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Formats {
    /// A format with a table of its own is asserted; any other is an annotation.
    #[default]
    Assert,
    /// Every format is an annotation.
    Annotate,
}

/// A compiled schema: a set of JSON values, and the source that stays the authority.
///
/// Cheap to clone and safe to share. Its `Debug` form shows nothing of its content.
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    source: Value,
    options: Options,
    patterns: read::Patterns,
    arena: Arena,
    root: Id,
    properties: Vec<SmolStr>,
}

impl Schema {
    /// Compiles a schema that stands at `at` in its document. Every breach of a rule is a finding with its
    /// pointer, all of them where they are independent; nothing is given when there is one.
    ///
    /// Bounded by `limits.schema_bytes` and `limits.schema_depth`, and in work by steps (`schema.too_costly`).
    /// No reference is ever fetched.
    pub fn compile(
        source: &Value,
        at: &Path<'_>,
        options: Options,
        limits: &TrustLimits,
        findings: &mut Findings,
    ) -> Option<Self> {
        let errors = findings.errors();
        let profile = read::read(source, at, options, limits, findings)?;
        if findings.errors() == errors && !profile.references.is_empty() {
            chain::check(source, at, &profile.references, findings);
        }
        if findings.errors() > errors {
            return None;
        }
        let options = Options { dialect: profile.dialect, ..options };
        let patterns = profile.patterns;
        let compiled = Compiler::compile(source, source, at, at, options, &patterns, findings)?;
        if !satisfiable::satisfiable(&compiled, source, at, options, &patterns, findings) {
            return None;
        }
        let Compiled { arena, root } = compiled;
        let properties = match source {
            Value::Object(object) if !compile::keywords::Keywords::of(object).combines() => {
                let names = object.get("properties").and_then(Value::as_object);
                names.into_iter().flat_map(|names| names.keys().cloned()).collect()
            }
            _ => Closings::new(source).names(source).list().iter().map(SmolStr::new).collect(),
        };
        let source = source.clone();
        Some(Self(Arc::new(Inner { source, options, patterns, arena, root, properties })))
    }

    /// Compiles the `parameters` of a tool: closed by default, formats asserted, and an object schema.
    pub fn parameters(
        source: &Value,
        at: &Path<'_>,
        limits: &TrustLimits,
        findings: &mut Findings,
    ) -> Option<Self> {
        let schema = Self::compile(source, at, Options::default(), limits, findings)?;
        if schema.takes_only_objects() {
            return Some(schema);
        }
        findings.add(
            &rules::NOT_OBJECT,
            at,
            format_args!("the parameters may be something else than an object"),
        );
        None
    }

    /// Whether the schema accepts the value; if not, every reason.
    pub fn accepts(&self, value: &Value) -> Result<(), Vec<Violation>> {
        let inner = &self.0;
        match accepts::Judge::new(&inner.arena, value).has(inner.root, value) {
            Ok(true) => Ok(()),
            Ok(false) => Err(violations::violations(inner, value)),
            Err(accepts::Exhausted) => Err(vec![Violation::too_costly()]),
        }
    }

    /// The schema as it was written.
    pub fn source(&self) -> &Value {
        &self.0.source
    }

    /// How the schema was read; the dialect is that of its `$schema`, where it has one.
    pub fn options(&self) -> Options {
        self.0.options
    }

    /// The names of properties that the schema declares at the top: its own, and those of all the schemas about
    /// the same value, branches and local references included. In the order of the source.
    pub fn properties(&self) -> &[SmolStr] {
        &self.0.properties
    }

    /// What a top-level property can be, judged on the compiled set; nothing when it is not declared.
    pub fn field(&self, name: &str) -> Option<Field> {
        let inner = &self.0;
        let declared = inner.properties.iter().any(|known| known == name);
        declared.then(|| field::field(&inner.arena, inner.root, name))
    }

    /// Whether an accepted object may hold a member that [`properties`](Self::properties) does not name. Where
    /// that could not be decided it counts as possible.
    pub fn takes_undeclared(&self) -> bool {
        let inner = &self.0;
        whole::takes_others(&inner.arena, inner.root, inner.properties.iter().map(SmolStr::as_str))
    }

    /// Whether every accepted value is an object. Where that could not be decided others count as possible.
    pub fn takes_only_objects(&self) -> bool {
        whole::only_objects(&self.0.arena, self.0.root)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}
