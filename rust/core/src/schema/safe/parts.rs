//! The kinds of values, each in the forms that llama.rn's converter reads right.

use super::readable::{CHARS, ITEMS, OPTIONAL, has_rule, takes_a_rule};
use super::spoken;
use super::write::{COMBINED, FEW, Writer, holding, spoken as in_parentheses};
use crate::json::{Object, Value};
use crate::schema::arena::Id;
use crate::schema::array::Arr;
use crate::schema::grammar::notes::{Schemas, Step};
use crate::schema::object::Obj;
use crate::schema::set::{Clause, Set};
use crate::schema::string::{Str, Words};
use crate::schema::strings::{ANY_LENGTH, Length, formats, pattern};
use crate::text::Cleaner;

/// `full-date` and `full-time` of RFC 3339, as wide as they are: the converter's own rules refuse small letters, leap
/// seconds and fractions of other than three digits.
const DATE: &str = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
const TIME: &str =
    "([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)([.][0-9]+)?([Zz]|[+\\x2D]([01][0-9]|2[0-3]):[0-5][0-9])";

pub(super) const UNREAD: &str = "llama.rn does not enforce it while decoding; the core does";

pub(super) fn bare(kind: &'static str) -> Object {
    [("type", kind.into())].into_iter().collect()
}

/// An alternative, and what of it is not enforced, in words.
pub(super) struct Piece {
    pub(super) schema: Object,
    pub(super) told: Vec<String>,
}

impl From<Object> for Piece {
    fn from(schema: Object) -> Self {
        Self { schema, told: Vec::new() }
    }
}

impl Piece {
    /// Takes in another one that is written the same.
    pub(super) fn or(&mut self, other: &Self) {
        self.told = match (self.told.as_slice(), other.told.as_slice()) {
            // One of them is all that is written.
            ([], _) | (_, []) => Vec::new(),
            (a, b) if a == b => return,
            (a, b) => vec![format!("{} or {}", a.join(" and "), b.join(" and "))],
        };
    }
}

/// Alternatives as one schema. What is told of one of them stands there, where others of its kind are beside it.
pub(super) fn merged(mut list: Vec<Piece>, cleaner: &Cleaner) -> Piece {
    if list.len() < 2 {
        return list.pop().unwrap_or(Piece { schema: Object::new(), told: Vec::new() });
    }
    let mut different: Vec<&Value> = Vec::new();
    for kind in list.iter().filter_map(|one| one.schema.get("type").filter(|kind| kind.as_str().is_some())) {
        if !different.contains(&kind) {
            different.push(kind);
        }
    }
    let numbers =
        ["integer", "number"].iter().all(|kind| different.iter().any(|known| known.as_str() == Some(*kind)));
    let simple =
        list.iter().all(|Piece { schema, .. }| !schema.contains_key("anyOf") && !schema.contains_key("enum"));
    if simple && !numbers && different.len() == list.len() {
        let kinds = Value::Array(different.into_iter().cloned().collect());
        let members = list.iter().flat_map(|one| one.schema.iter()).filter(|(name, _)| *name != "type");
        let members = members.map(|(name, value)| (name.clone(), value.clone()));
        let schema = [("type".into(), kinds)].into_iter().chain(members).collect();
        return Piece { schema, told: list.into_iter().flat_map(|one| one.told).collect() };
    }
    let list = list.into_iter().map(|Piece { mut schema, told }| {
        if let Some(told) = in_parentheses(&told, cleaner) {
            let _ = schema.insert("description", told.into());
        }
        Value::Object(schema)
    });
    let list = Value::Array(list.collect());
    Piece::from([("anyOf", list)].into_iter().collect::<Object>())
}

/// The kinds of a set and nothing else.
pub(super) fn kinds(set: &Set) -> Value {
    let kinds = [
        ("null", set.null),
        ("boolean", set.tru || set.fals),
        ("number", !set.num.is_empty()),
        ("string", !set.str.is_empty()),
        ("array", !set.arr.is_empty()),
        ("object", !set.obj.is_empty()),
    ];
    let mut list: Vec<Value> =
        kinds.iter().filter(|(_, there)| *there).map(|(kind, _)| (*kind).into()).collect();
    let (name, kinds) = match list.len() {
        0 => ("description", "any JSON value".into()),
        1 => ("type", list.pop().unwrap_or(Value::Null)),
        _ => ("type", list.into()),
    };
    Value::Object([(name, kinds)].into_iter().collect())
}

impl<'s> Writer<'s> {
    pub(super) fn strings(
        &mut self,
        parts: &[Str],
        schemas: &Schemas<'s>,
        constants: &mut Vec<Value>,
        list: &mut Vec<Piece>,
    ) {
        let mut words: Vec<&smol_str::SmolStr> = Vec::new();
        let mut strings: Vec<Piece> = Vec::new();
        for part in parts {
            match &part.words {
                Words::List(some) => words.extend(some.iter()),
                Words::Dfa(_) => {
                    let piece = self.piece(|writer| Some(Some(writer.string(part, schemas))));
                    strings.extend(piece.flatten());
                }
            }
        }
        // In the order of the source.
        let source: Vec<&str> = schemas
            .list
            .iter()
            .filter_map(|about| about.schema.get("enum")?.as_array())
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut places = rustc_hash::FxHashMap::default();
        for (place, word) in source.into_iter().enumerate() {
            places.entry(word).or_insert(place);
        }
        words.sort_by_key(|word| places.get(word.as_str()).copied().unwrap_or(usize::MAX));
        constants.extend(words.into_iter().map(|word| Value::String(word.clone())));
        let any = bare("string");
        if strings.len() > FEW {
            strings = vec![any.into()];
        } else if strings.iter().any(|piece| piece.schema == any) {
            // Any string is written, whatever the others are: all of them are told, or none.
            let mut pieces = strings.into_iter();
            let first = pieces.next().into_iter();
            strings = first
                .map(|mut first| {
                    pieces.by_ref().for_each(|piece| first.or(&piece));
                    Piece { schema: bare("string"), ..first }
                })
                .collect();
        }
        list.append(&mut strings);
    }

    fn string(&mut self, part: &Str, schemas: &Schemas<'s>) -> Object {
        let Words::Dfa(dfa) = &part.words else { return bare("string") };
        if dfa.is_all() {
            return self.lengths(bare("string"), part.length, schemas);
        }
        if let Some((_, name)) = formats::of_dfa(dfa) {
            let mut string = bare("string");
            let _ = string.insert("format", name.into());
            let wider = match name {
                "time" => Some(format!("^{TIME}$")),
                "date-time" => Some(format!("^{DATE}[Tt]{TIME}$")),
                _ => None,
            };
            if let Some(pattern) = wider {
                self.change(schemas, &["format"], "llama.rn reads it too narrowly; a pattern stands for it");
                let _ = string.insert("pattern", pattern.into());
            } else if !has_rule(name) {
                self.change(schemas, &["format"], UNREAD);
                return self.lengths(string, part.length, schemas);
            }
            if name == "date" {
                self.change(schemas, &["format"], super::clean::DATE.trim_start_matches("`format`: "));
            }
            if part.length != ANY_LENGTH {
                self.change(schemas, &["minLength", "maxLength"], "llama.rn passes it over beside a format");
                self.tell_length(part.length, &["minLength", "maxLength"]);
            }
            return string;
        }
        let of_source = schemas.list.iter().find_map(|about| {
            let text = about.schema.get("pattern")?.as_str()?;
            let known = self.inner.patterns.get(text)?;
            (known.dfa == *dfa).then_some((text, known.length))
        });
        if let Some((text, length)) = of_source
            && let Some(plain) = pattern::plain(text)
        {
            if plain != text {
                self.change(
                    schemas,
                    &["pattern"],
                    "written in another form, since llama.rn would misread this one",
                );
            }
            if part.length != length {
                self.change(schemas, &["minLength", "maxLength"], "llama.rn passes it over beside a pattern");
                self.tell_length(part.length, &["minLength", "maxLength"]);
            }
            let mut string = bare("string");
            let _ = string.insert("pattern", plain.into());
            return string;
        }
        self.change(
            schemas,
            &["pattern", "format"],
            "left out, since llama.rn would misread it; the core enforces it",
        );
        match of_source {
            Some((text, _)) => {
                self.tell_all(spoken::short(text).map(|text| format!("pattern {text}")));
            }
            None => self.tell_all(spoken::of_strings(holding(schemas))),
        }
        self.lengths(bare("string"), part.length, schemas)
    }

    fn tell_length(&mut self, length: Length, names: &[&str; 2]) {
        self.tell_all(spoken::counts(length, names));
    }

    fn lengths(&mut self, mut string: Object, (least, most): Length, schemas: &Schemas<'s>) -> Object {
        let least_too = if least > CHARS { least } else { 0 };
        let most_too = most.filter(|most| *most > CHARS);
        for (name, lost) in [("minLength", least_too > 0), ("maxLength", most_too.is_some())] {
            if lost {
                self.change(schemas, &[name], "llama.rn cannot count so far");
            }
        }
        self.tell_length((least_too, most_too), &["minLength", "maxLength"]);
        if least > 0 {
            let _ = string.insert("minLength", least.min(CHARS).into());
        }
        if let Some(most) = most.filter(|most| *most <= CHARS) {
            let _ = string.insert("maxLength", most.into());
        }
        string
    }

    /// Nothing inside where the clause has no array.
    #[allow(clippy::option_option, reason = "too large, or no value, or an alternative")]
    pub(super) fn array(&mut self, clause: &Clause<Arr>, schemas: &Schemas<'s>) -> Option<Option<Object>> {
        let Arr { prefix, rest, length: (least, most), unique, counts } = &clause.pos;
        if (*least > 0 || !counts.is_empty() || !clause.neg.is_empty())
            && self.sets.has_no_array(&clause.pos, &clause.neg)
        {
            return Some(None);
        }
        // Where nothing can stand the array ends.
        let end = prefix.iter().position(|id| self.sets.is_empty(*id));
        let end = end.or_else(|| self.sets.is_empty(*rest).then_some(prefix.len())).map(|end| end as u64);
        let most = most.iter().copied().chain(end).min();
        let prefix: Vec<Id> = prefix
            .iter()
            .copied()
            .take(most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX)))
            .collect();
        if most == Some(0) {
            let empty = Value::Array(vec![Value::Array(Vec::new())]);
            return Some(Some([("enum", empty)].into_iter().collect()));
        }
        if *unique || !counts.is_empty() || !clause.neg.is_empty() {
            let keywords = ["uniqueItems", "contains", "minContains", "maxContains"];
            self.change(schemas, &[&keywords, COMBINED].concat(), UNREAD);
            if *unique {
                self.tell("uniqueItems".to_owned());
            }
            if !clause.neg.is_empty() {
                self.tell_all(spoken::negations(holding(schemas)));
            }
        }
        let mut array = bare("array");
        let places = prefix.len() as u64;
        if places > 0 && (*least, most) == (places, Some(places)) && places <= ITEMS {
            let mut items = Vec::new();
            for (place, id) in prefix.iter().enumerate() {
                let schemas = schemas.step(&Step::Item(place));
                items.push(self.value(*id, &schemas, "item")?);
            }
            let _ = array.insert("prefixItems", items.into());
            return Some(Some(array));
        }
        let any = prefix.is_empty() && matches!(*rest, Id::PRESENT | Id::ANY);
        if any && (*least, most) == ANY_LENGTH {
            return Some(Some(array));
        }
        let items = if prefix.is_empty() {
            let schemas = schemas.step(&Step::Rest);
            self.value(*rest, &schemas, "item")?
        } else {
            self.change(
                schemas,
                &["prefixItems", "items"],
                "llama.rn takes a fixed number of such items only: each may stand anywhere while decoding",
            );
            let mut ids = prefix;
            if most.is_none_or(|most| most > places) {
                ids.push(*rest);
            }
            let id = self.sets.search().arena.or_all(&ids);
            self.value(id, &schemas.step(&Step::Rest).at_most_some(), "item")?
        };
        let _ = array.insert("items", items);
        let least_too = if *least > ITEMS { *least } else { 0 };
        let most_too = most.filter(|most| *most > ITEMS);
        for (name, lost) in [("minItems", least_too > 0), ("maxItems", most_too.is_some())] {
            if lost {
                self.change(schemas, &[name], "llama.rn cannot count so far");
            }
        }
        self.tell_length((least_too, most_too), &["minItems", "maxItems"]);
        if *least > 0 {
            let _ = array.insert("minItems", (*least).min(ITEMS).into());
        }
        if let Some(most) = most.filter(|most| *most <= ITEMS) {
            let _ = array.insert("maxItems", most.into());
        }
        Some(Some(array))
    }

    /// Nothing inside where the clause has no object.
    #[allow(clippy::option_option, reason = "too large, or no value, or an alternative")]
    pub(super) fn object(&mut self, clause: &Clause<Obj>, schemas: &Schemas<'s>) -> Option<Option<Object>> {
        let pos = &clause.pos;
        if (!clause.neg.is_empty() || pos.count != (0, None)) && self.sets.has_no_object(pos, &clause.neg) {
            return Some(None);
        }
        if !clause.neg.is_empty() {
            self.change(schemas, COMBINED, UNREAD);
            self.tell_all(spoken::negations(holding(schemas)));
        }
        if pos.count != (0, None) {
            self.change(schemas, &["minProperties", "maxProperties"], UNREAD);
            self.tell_length(pos.count, &["minProperties", "maxProperties"]);
        }
        let (mut properties, mut required) = (Object::new(), Vec::new());
        for (name, id) in pos.fields.iter() {
            let (id, absent) = self.sets.field(id);
            if self.sets.is_empty(id) {
                if absent {
                    continue;
                }
                return Some(None);
            }
            if name == "$ref" {
                self.change(
                    schemas,
                    &["properties"],
                    "llama.rn takes a member `$ref` for a reference: any object passes while decoding",
                );
                return Some(Some(bare("object")));
            }
            let schemas = schemas.step(&Step::Field(name.clone()));
            let value = self.value(id, &schemas, name)?;
            let _ = properties.insert(name.clone(), value);
            if !absent {
                required.push(Value::String(name.clone()));
            }
        }
        let mut object = bare("object");
        let others = self.others(pos, schemas)?;
        let closed = others == Value::Bool(false);
        let mut any_object = false;
        if !properties.is_empty() && !closed {
            self.change(
                schemas,
                &["additionalProperties", "patternProperties"],
                "llama.rn misreads it beside `properties`: any object passes while decoding",
            );
            any_object = true;
        }
        if self.is_at_root() && properties.keys().any(|name| takes_a_rule(name)) {
            self.change(
                schemas,
                &["properties"],
                "llama.rn takes the name of a member for one of its rules: any object passes while decoding",
            );
            any_object = true;
        }
        if properties.len() - required.len() > OPTIONAL {
            self.change(
                schemas,
                &["properties"],
                "so many optional members are too much for llama.rn: any object passes while decoding",
            );
            any_object = true;
        }
        if !properties.is_empty() || closed {
            let _ = object.insert("properties", properties.into());
            if !required.is_empty() {
                let _ = object.insert("required", required.into());
            }
        }
        if !closed && (any_object || others != Value::Bool(true)) {
            let _ = object.insert("additionalProperties", others);
        }
        if any_object {
            // The converter takes these alternatives and passes over what stands beside them.
            let _ = object.insert("anyOf", Value::Array(vec![bare("object").into()]));
        }
        Some(Some(object))
    }

    /// What members that are not declared may be; `true` for anything, `false` for none of them.
    fn others(&mut self, pos: &Obj, schemas: &Schemas<'s>) -> Option<Value> {
        let mut ids = Vec::new();
        for (_, id) in &pos.rest {
            let (id, _) = self.sets.field(*id);
            if !self.sets.is_empty(id) && !ids.contains(&id) {
                ids.push(id);
            }
        }
        if ids.is_empty() {
            return Some(false.into());
        }
        if pos.rest.len() > 1 {
            self.change(schemas, &["patternProperties", "propertyNames"], UNREAD);
        }
        if ids.iter().any(|id| matches!(*id, Id::PRESENT | Id::ANY)) {
            return Some(true.into());
        }
        let mut below = schemas.step(&Step::Other);
        below.sure &= ids.len() == 1;
        let id = match ids.as_slice() {
            [one] => *one,
            several => self.sets.search().arena.or_all(several),
        };
        self.value(id, &below, "other")
    }
}
