//! A part of a schema written anew from its set.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::clean;
use super::parts::{Piece, bare, merged};
use super::readable::{is_annotation, readable, root_is_readable};
use super::{Change, SAFE_BYTES};
use crate::json::{Object, Path, Value};
use crate::schema::arena::Id;
use crate::schema::grammar::notes::{About, Hold, Schemas};
use crate::schema::grammar::sets::Sets;
use crate::schema::set::Set;
use crate::schema::strings::formats;
use crate::schema::{Inner, reference};
use crate::text::Cleaner;

/// How much is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// References where they are used, but those that lead back to themselves.
    Inline,
    /// Every set of arrays and objects once, under a name.
    Named,
    /// The kinds of the members at the top.
    Kinds,
}

/// The most schemas in one another; deeper ones get names.
const DEPTH: usize = 24;
/// The most descriptions of alternatives that are shown for all of them.
const WAYS: usize = 4;
/// The most that is told of one part, in bytes.
const TOLD: usize = 400;
/// The most alternatives of one kind.
pub(super) const FEW: usize = 16;
/// The keywords that combine schemas.
pub(super) const COMBINED: &[&str] = &[
    "not",
    "oneOf",
    "anyOf",
    "allOf",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
];

const COSTLY: &str = "taking this apart takes too many steps: any value passes while decoding";

/// Writes one schema.
pub(super) struct Writer<'s> {
    pub(super) inner: &'s Inner,
    pub(super) sets: Sets<'s>,
    pub(super) changes: Vec<Change>,
    cleaner: &'s Cleaner,
    /// What makes the names of definitions different from those of any other schema.
    tag: &'s str,
    mode: Mode,
    /// The bytes that may still be written.
    left: usize,
    /// The sets that are being written, and the name of each that refers to itself.
    busy: Vec<(Id, Option<SmolStr>)>,
    named: FxHashMap<Id, SmolStr>,
    definitions: Vec<(SmolStr, Value)>,
    waiting: Vec<(SmolStr, Id, Schemas<'s>)>,
    /// What the open part does not enforce, for its description: each true of every value of the part.
    pub(super) told: Vec<String>,
}

impl<'s> Writer<'s> {
    pub(super) fn new(inner: &'s Inner, cleaner: &'s Cleaner, tag: &'s str, mode: Mode) -> Self {
        Self {
            inner,
            sets: Sets::new(&inner.arena),
            changes: Vec::new(),
            cleaner,
            tag,
            mode,
            left: 2 * SAFE_BYTES,
            busy: Vec::new(),
            named: FxHashMap::default(),
            definitions: Vec::new(),
            waiting: Vec::new(),
            told: Vec::new(),
        }
    }

    /// The whole schema; nothing where it is too large in this mode.
    pub(super) fn root(&mut self, id: Id) -> Option<Value> {
        let source = &self.inner.source;
        if self.mode != Mode::Kinds && root_is_readable(source, self.inner) {
            return Some(clean::schema(source, &Path::Root, self.cleaner, &mut self.changes));
        }
        let schemas = Schemas::at_root(source);
        if self.mode == Mode::Kinds {
            return self.kinds_of_members(id);
        }
        let id = self.sets.target(id);
        self.busy.push((id, None));
        let mut schema = with_members_of_alternatives(self.body(id, &schemas)?);
        if let Some((_, Some(name))) = self.busy.pop() {
            self.definitions.push((name, schema.clone()));
        }
        while let Some((name, id, schemas)) = self.waiting.pop() {
            let body = self.body(id, &schemas)?;
            self.definitions.push((name, body));
        }
        if !self.definitions.is_empty()
            && let Value::Object(object) = &mut schema
        {
            let definitions: Object = std::mem::take(&mut self.definitions).into_iter().collect();
            let _ = object.insert("$defs", definitions.into());
        }
        if super::readable::mentions_reference(source) {
            clean::told(
                &mut self.changes,
                &Path::Root,
                "references are written where they are used, or under new names",
            );
        }
        Some(schema)
    }

    /// The values of a set, of which these schemas speak.
    pub(super) fn value(&mut self, id: Id, schemas: &Schemas<'s>, hint: &str) -> Option<Value> {
        let id = self.sets.target(id);
        if schemas.sure
            && let Some(schema) = self.kept(schemas)
        {
            return self.spend(schema);
        }
        if let Some(name) = self.named.get(&id) {
            return Some(reference_to(name));
        }
        let name = self.name_of(hint);
        if let Some((_, known)) = self.busy.iter_mut().find(|(busy, _)| *busy == id) {
            return Some(reference_to(known.get_or_insert(name)));
        }
        let Ok(set) = self.sets.normal(id) else {
            self.change(schemas, COMBINED, COSTLY);
            return Some(self.annotated(Object::new(), schemas));
        };
        if self.mode == Mode::Named && !(set.arr.is_empty() && set.obj.is_empty()) && set.num.is_empty() {
            self.named.insert(id, name.clone());
            self.waiting.push((name.clone(), id, Schemas::copy(schemas)));
            return Some(reference_to(&name));
        }
        if self.busy.len() > DEPTH {
            return None;
        }
        self.busy.push((id, None));
        let body = self.body(id, schemas)?;
        match self.busy.pop() {
            Some((_, Some(name))) => {
                self.named.insert(id, name.clone());
                let reference = reference_to(&name);
                self.definitions.push((name, body));
                Some(reference)
            }
            _ => Some(body),
        }
    }

    /// A schema that can stand as it is: the only one about its values, and read right.
    fn kept(&mut self, schemas: &Schemas<'s>) -> Option<Value> {
        let [About { pointer, schema, .. }] = schemas.list.get(..schemas.own)? else { return None };
        let (pointer, schema) = target(&self.inner.source, pointer.clone(), schema)?;
        if !readable(schema, self.inner) {
            return None;
        }
        let at = Path::Tail(&Path::Root, &pointer);
        let mut copy = clean::schema(schema, &at, self.cleaner, &mut self.changes);
        if let Value::Object(object) = &mut copy
            && !object.contains_key("description")
            && let Some(text) = self.annotation("description", schemas)
        {
            let _ = object.insert("description", text);
        }
        Some(copy)
    }

    /// The alternatives of a set.
    fn body(&mut self, id: Id, schemas: &Schemas<'s>) -> Option<Value> {
        let outer = std::mem::take(&mut self.told);
        let alternatives = if let Ok(set) = self.sets.normal(id) {
            self.alternatives(&set, schemas)
        } else {
            self.change(schemas, COMBINED, COSTLY);
            Some(Object::new())
        };
        let body = alternatives.map(|body| self.annotated(body, schemas));
        self.told = outer;
        self.spend(body?)
    }

    fn alternatives(&mut self, set: &Set, schemas: &Schemas<'s>) -> Option<Object> {
        if (Set { absent: false, ..set.clone() }) == Set::values() {
            return Some(Object::new());
        }
        let mut constants: Vec<Value> = Vec::new();
        let mut list: Vec<Piece> = Vec::new();
        self.strings(&set.str, schemas, &mut constants, &mut list);
        self.numbers(&set.num, schemas, &mut constants, &mut list);
        match (set.tru, set.fals) {
            (true, true) => list.push(bare("boolean").into()),
            (false, false) => {}
            (tru, _) => constants.push(tru.into()),
        }
        for clause in self.few(&set.arr, "array", schemas, &mut list) {
            let piece = self.piece(|writer| writer.array(clause, schemas))?;
            list.extend(piece);
        }
        for clause in self.few(&set.obj, "object", schemas, &mut list) {
            let piece = self.piece(|writer| writer.object(clause, schemas))?;
            list.extend(piece);
        }
        if set.null {
            if constants.is_empty() { list.push(bare("null").into()) } else { constants.push(Value::Null) }
        }
        if !constants.is_empty() {
            let constants: Object = [("enum", Value::Array(constants))].into_iter().collect();
            list.insert(0, constants.into());
        }
        let mut different: Vec<Piece> = Vec::new();
        for one in list {
            match different.iter_mut().find(|known| known.schema == one.schema) {
                Some(known) => known.or(&one),
                None => different.push(one),
            }
        }
        let Piece { schema, told } = merged(different, self.cleaner);
        self.told.extend(told);
        Some(schema)
    }

    /// Writes an alternative, with what it does not enforce; nothing inside where there is none.
    #[allow(clippy::option_option, reason = "too large, or no value, or an alternative")]
    pub(super) fn piece(
        &mut self,
        write: impl FnOnce(&mut Self) -> Option<Option<Object>>,
    ) -> Option<Option<Piece>> {
        let outer = std::mem::take(&mut self.told);
        let schema = write(self);
        let told = std::mem::replace(&mut self.told, outer);
        schema.map(|schema| schema.map(|schema| Piece { schema, told }))
    }

    /// The clauses of one kind; where they are too many, any value of the kind stands for all.
    fn few<'c, T>(
        &mut self,
        clauses: &'c [T],
        kind: &'static str,
        schemas: &Schemas<'s>,
        list: &mut Vec<Piece>,
    ) -> &'c [T] {
        if clauses.len() <= FEW {
            return clauses;
        }
        self.change(
            schemas,
            COMBINED,
            "so many alternatives are too much for llama.rn: any of their kind passes while decoding",
        );
        list.push(bare(kind).into());
        &[]
    }

    /// The body with what the source says to a model, and what of it was left out.
    fn annotated(&mut self, mut body: Object, schemas: &Schemas<'s>) -> Value {
        let format = holding(schemas).find_map(|schema| schema.get("format")?.as_str());
        if let Some(format) = format
            && formats::lookup(format).is_some()
            && !body.contains_key("format")
        {
            self.tell(format!("format {format}"));
        }
        for name in ["title", "default", "examples"] {
            if let Some(value) = self.annotation(name, schemas) {
                let _ = body.insert(name, value);
            }
        }
        let mut description = match self.annotation("description", schemas) {
            Some(Value::String(text)) => text.to_string(),
            _ => String::new(),
        };
        let told = std::mem::take(&mut self.told);
        if let Some(told) = spoken(&told, self.cleaner) {
            let between = if description.is_empty() { "" } else { " " };
            description.push_str(&format!("{between}{told}"));
        }
        if description.is_empty() && body.keys().all(|name| is_annotation(name)) {
            // Without any keyword the converter would read an object.
            description.push_str("any JSON value");
        }
        if !description.is_empty() {
            let _ = body.insert("description", description.into());
        }
        body.into()
    }

    /// An annotation of this name, cleaned: the first that holds for each value, else those of alternatives. What a
    /// schema says that must not or need not hold is never shown.
    fn annotation(&mut self, name: &str, schemas: &Schemas<'s>) -> Option<Value> {
        let of = |wanted: Hold| {
            let list = schemas.list.iter().filter(move |about| about.hold == wanted);
            list.filter_map(|about| Some((&about.pointer, about.schema.get(name)?)))
        };
        let mut clean = |(pointer, value): (&String, &Value)| {
            let at = Path::Tail(&Path::Root, pointer);
            clean::annotation(name, value, &at.name(name), self.cleaner, &mut self.changes)
        };
        if let Some(first) = of(Hold::All).next() {
            return clean(first);
        }
        let mut some: Vec<Value> = Vec::new();
        for value in of(Hold::Some).filter_map(&mut clean) {
            if !some.contains(&value) {
                some.push(value);
            }
        }
        match (name, some.as_slice()) {
            (_, []) => None,
            (_, [one]) => Some(one.clone()),
            ("description", several) => {
                let texts: Vec<&str> = several.iter().filter_map(Value::as_str).take(WAYS).collect();
                Some(texts.join(" / ").into())
            }
            _ => None,
        }
    }

    /// Tells that keywords are not enforced, or taken for less: at each place that has one of them, else at what lists
    /// or combines values there.
    pub(super) fn change(&mut self, schemas: &Schemas<'s>, keywords: &[&str], reason: &str) {
        for keywords in [keywords, &["enum", "const"], COMBINED] {
            let mut found = false;
            for About { pointer, schema, .. } in &schemas.list {
                let at = Path::Tail(&Path::Root, pointer);
                for name in keywords.iter().filter(|name| schema.get(name).is_some()) {
                    found = true;
                    clean::told(&mut self.changes, &at.name(name), format!("`{name}`: {reason}"));
                }
            }
            if found {
                return;
            }
        }
        let pointer = schemas.list.first().map(|about| about.pointer.clone()).unwrap_or_default();
        let reason = format!("what another part of the schema makes of it: {reason}");
        self.changes.push(Change { pointer, reason });
    }

    /// Adds to the description of the open part what it does not enforce. It must be true of each value of the part.
    pub(super) fn tell(&mut self, text: String) {
        if !self.told.contains(&text) && self.told.len() < 8 {
            self.told.push(text);
        }
    }

    pub(super) fn tell_all(&mut self, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            self.tell(text);
        }
    }

    /// Takes a schema from what may still be written.
    fn spend(&mut self, schema: Value) -> Option<Value> {
        self.left = self.left.checked_sub(schema.to_text().len().min(400) + 8)?;
        Some(schema)
    }

    /// Whether the part that is being written is the whole.
    pub(super) fn is_at_root(&self) -> bool {
        self.busy.len() == 1
    }

    fn name_of(&self, hint: &str) -> SmolStr {
        let hint: String = hint.chars().filter(char::is_ascii_alphanumeric).take(24).collect();
        smol_str::format_smolstr!("{hint}-{}-{}", self.tag, self.named.len() + self.busy.len())
    }

    /// An object whose members have kinds and nothing else.
    fn kinds_of_members(&mut self, id: Id) -> Option<Value> {
        let set = self.sets.normal(id).ok()?;
        let [clause] = set.obj.as_slice() else { return None };
        if !clause.pos.is_closed() || clause.pos.fields.len() == 0 {
            return None;
        }
        let (mut properties, mut required) = (Object::new(), Vec::new());
        for (name, id) in clause.pos.fields.iter() {
            if name == "$ref" || clause.pos.fields.len() > super::readable::OPTIONAL {
                return None;
            }
            let (id, absent) = self.sets.field(id);
            if self.sets.is_empty(id) {
                continue;
            }
            let kinds = self.sets.normal(id).map_or_else(|_| Set::values(), |set| (*set).clone());
            let _ = properties.insert(name.clone(), super::parts::kinds(&kinds));
            if !absent {
                required.push(Value::String(name.clone()));
            }
        }
        clean::told(
            &mut self.changes,
            &Path::Root,
            format!("kinds of members only: every other form is over {SAFE_BYTES} bytes"),
        );
        let mut object: Object =
            [("type", "object".into()), ("properties", properties.into())].into_iter().collect();
        if !required.is_empty() {
            let _ = object.insert("required", required.into());
        }
        Some(object.into())
    }
}

/// The schemas that each value of a part satisfies.
pub(super) fn holding<'a, 's>(schemas: &'a Schemas<'s>) -> impl Iterator<Item = &'s Value> + 'a {
    schemas.list.iter().filter(|about| about.hold == Hold::All).map(|about| about.schema)
}

/// What is told in parentheses: all that is clean as it is and fits, since another text might be untrue.
pub(super) fn spoken(told: &[String], cleaner: &Cleaner) -> Option<String> {
    let mut kept = String::new();
    for text in told {
        if kept.len() + text.len() <= TOLD && !cleaner.clean(text, usize::MAX).changed {
            kept.push_str(if kept.is_empty() { "" } else { ", " });
            kept.push_str(text);
        }
    }
    (!kept.is_empty()).then(|| format!("({kept})"))
}

/// What a schema that does nothing but refer leads to.
fn target<'s>(root: &'s Value, mut pointer: String, mut schema: &'s Value) -> Option<(String, &'s Value)> {
    // References that lead round in a circle were refused; the bound is for their length.
    for _ in 0..100 {
        let object = schema.as_object()?;
        let Some(text) = object.get("$ref").and_then(Value::as_str) else { return Some((pointer, schema)) };
        if !object.keys().all(|name| name == "$ref" || is_annotation(name)) {
            return None;
        }
        let next = reference::pointer(text).ok()?;
        schema = reference::schema_at(root, &next).ok()?;
        pointer = next.into_owned();
    }
    None
}

fn reference_to(name: &str) -> Value {
    let target = format!("#/$defs/{name}");
    debug_assert!(reference::pointer(&target).is_ok());
    Value::Object([("$ref", target.into())].into_iter().collect())
}

/// Alternatives of objects with all their members beside them: a template that writes arguments member by member
/// reads `properties` at the top, and the converter passes them over beside `anyOf`.
fn with_members_of_alternatives(schema: Value) -> Value {
    let Some(list) = schema.get("anyOf").and_then(Value::as_array) else { return schema };
    if schema.get("properties").is_some() || !list.iter().all(|one| one.get("properties").is_some()) {
        return schema;
    }
    let mut members: Vec<(SmolStr, Vec<Value>)> = Vec::new();
    for (name, value) in
        list.iter().filter_map(|one| one.get("properties")?.as_object()).flat_map(Object::iter)
    {
        match members.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) if values.contains(value) => {}
            Some((_, values)) => values.push(value.clone()),
            None => members.push((name.clone(), vec![value.clone()])),
        }
    }
    let requires = |one: &Value, name: &str| {
        let list = one.get("required").and_then(Value::as_array).unwrap_or_default();
        list.iter().any(|required| required.as_str() == Some(name))
    };
    let required = members.iter().filter(|(name, _)| list.iter().all(|one| requires(one, name)));
    let required: Vec<Value> = required.map(|(name, _)| Value::String(name.clone())).collect();
    let either = |mut values: Vec<Value>| {
        if values.len() > 1 {
            Value::Object([("anyOf", Value::Array(values))].into_iter().collect())
        } else {
            values.pop().unwrap_or(Value::Null)
        }
    };
    let properties: Object = members.into_iter().map(|(name, values)| (name, either(values))).collect();
    let Value::Object(rest) = schema else { return schema };
    let mut front: Vec<(&str, Value)> = vec![("type", "object".into()), ("properties", properties.into())];
    if !required.is_empty() {
        front.push(("required", required.into()));
    }
    let front = front.into_iter().map(|(name, value)| (SmolStr::new_static(name), value));
    Value::Object(front.chain(rest.iter().map(|(name, value)| (name.clone(), value.clone()))).collect())
}
