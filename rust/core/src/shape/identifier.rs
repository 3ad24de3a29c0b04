//! Identifiers, and maps whose names are identifiers.

use std::fmt;

use rustc_hash::FxHashMap;
use smol_str::{SmolStr, StrExt};

use super::{
    Definitions, NAME_COLLISION, NAME_IDENTIFIER, NAME_RESERVED, Reading, SHAPE_TYPE, Shape, fragment, object,
};
use crate::json::{Path, Quoted, Value};

/// A name that routes or hashes: 1 to 128 of `[A-Za-z0-9_-]`, none of the three reserved words of JavaScript.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identifier(SmolStr);

const RESERVED: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// Whether a name is one that JavaScript gives a meaning of its own.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

impl Identifier {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes a name that is an identifier of at most `max_chars` characters.
    pub fn parse(text: &str, max_chars: usize) -> Option<Self> {
        (is_identifier(text, max_chars) && !is_reserved(text)).then(|| Self(text.into()))
    }

    /// Reads a name that stands at `at`, as a value or as a member's name.
    pub fn check(text: &str, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let limit = reading.limits.identifier_chars;
        if !is_identifier(text, limit) {
            let message = format_args!("{} is not 1 to {limit} of `[A-Za-z0-9_-]`", Quoted(text));
            return reading.refuse(&NAME_IDENTIFIER, at, message);
        }
        if is_reserved(text) {
            return reading.refuse(&NAME_RESERVED, at, format_args!("the name {} is reserved", Quoted(text)));
        }
        Some(Self(text.into()))
    }

    /// The form under which two names of one kind collide: ASCII lower case, `-` for `_`.
    pub fn folded(&self) -> SmolStr {
        folded(&self.0)
    }
}

/// [`Identifier::folded`] of a text that was an identifier.
pub(crate) fn folded(name: &str) -> SmolStr {
    name.to_ascii_lowercase_smolstr().replace_smolstr("_", "-")
}

fn is_identifier(text: &str, max_chars: usize) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=max_chars).contains(&text.len()) && text.bytes().all(plain)
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for Identifier {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Shape for Identifier {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        if let Some(text) = value.as_str() {
            return Self::check(text, at, reading);
        }
        let kind = value.kind();
        reading.refuse(&SHAPE_TYPE, at, format_args!("expected a name, found {kind}"))
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("type", "string".into()), ("pattern", "^[A-Za-z0-9_-]{1,128}$".into())])
    }
}

/// A map from identifiers to entries, in file order; names that collide are findings at the later one.
#[derive(Debug, Clone)]
pub struct Named<T>(pub Vec<(Identifier, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Named<T> {
    /// The entry of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known.as_str() == name).map(|(_, entry)| entry)
    }

    /// The entries in file order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Identifier, &T)> {
        self.0.iter().map(|(name, entry)| (name, entry))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reports every name of `names` that collides with an earlier one of its kind.
pub fn collisions<'n, 'p>(
    names: impl Iterator<Item = (&'n Identifier, Path<'p>)>,
    kind: &str,
    reading: &mut Reading<'_>,
) {
    let mut seen: FxHashMap<SmolStr, &Identifier> = FxHashMap::default();
    for (name, at) in names {
        if let Some(earlier) = seen.insert(name.folded(), name) {
            let message = format_args!("the {kind} `{name}` collides with `{earlier}`");
            reading.findings.add_name(&NAME_COLLISION, &at, message);
        }
    }
}

impl<T: Shape> Shape for Named<T> {
    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let object = object(value, at, reading)?;
        let mut entries = Vec::with_capacity(object.len());
        for (name, value) in object.iter() {
            let at = at.name(name);
            let name = Identifier::check(name, &at, reading);
            let entry = T::read(value, &at, reading);
            entries.push(name.zip(entry));
        }
        let entries = entries.into_iter().collect::<Option<Vec<_>>>()?;
        collisions(entries.iter().map(|(name, _)| (name, at.name(name.as_str()))), "name", reading);
        Some(Self(entries))
    }

    fn describe(definitions: &mut Definitions) -> Value {
        let names = Identifier::describe(definitions);
        let entries = T::describe(definitions);
        fragment([("type", "object".into()), ("propertyNames", names), ("additionalProperties", entries)])
    }
}
