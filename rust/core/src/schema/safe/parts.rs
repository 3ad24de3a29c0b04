//! The kinds of values, each in the forms that llama.rn's converter reads right.

use super::readable::{BOUND, CHARS, ITEMS, OPTIONAL, has_rule, is_plain, takes_a_rule};
use super::write::{COMBINED, FEW, Writer};
use crate::json::{Object, Value};
use crate::schema::arena::Id;
use crate::schema::array::Arr;
use crate::schema::decimal::Dec;
use crate::schema::grammar::notes::{Schemas, Step};
use crate::schema::number::{Bound, Num};
use crate::schema::object::Obj;
use crate::schema::set::{Clause, Set};
use crate::schema::string::{Str, Words};
use crate::schema::strings::{ANY_LENGTH, Length, formats, pattern};

/// `full-date` and `full-time` of RFC 3339, as wide as they are: the converter's own rules refuse small letters, leap
/// seconds and fractions of other than three digits.
const DATE: &str = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
const TIME: &str =
    "([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)([.][0-9]+)?([Zz]|[+\\x2D]([01][0-9]|2[0-3]):[0-5][0-9])";

const UNREAD: &str = "llama.rn does not enforce it while decoding; the core does";

pub(super) fn bare(kind: &'static str) -> Object {
    [("type", kind.into())].into_iter().collect()
}

/// Alternatives as one schema.
pub(super) fn merged(mut list: Vec<Object>) -> Object {
    if list.len() < 2 {
        return list.pop().unwrap_or_default();
    }
    let kinds: Vec<&Value> =
        list.iter().filter_map(|one| one.get("type").filter(|kind| kind.as_str().is_some())).collect();
    let mut different: Vec<&Value> = Vec::new();
    for kind in kinds {
        if !different.contains(&kind) {
            different.push(kind);
        }
    }
    let numbers =
        ["integer", "number"].iter().all(|kind| different.iter().any(|known| known.as_str() == Some(*kind)));
    let simple = list.iter().all(|one| !one.contains_key("anyOf") && !one.contains_key("enum"));
    if simple && !numbers && different.len() == list.len() {
        let kinds = Value::Array(different.into_iter().cloned().collect());
        let members = list.iter().flat_map(Object::iter).filter(|(name, _)| *name != "type");
        let members = members.map(|(name, value)| (name.clone(), value.clone()));
        return [("type".into(), kinds)].into_iter().chain(members).collect();
    }
    let list = list.into_iter().map(Value::Object).collect();
    [("anyOf", Value::Array(list))].into_iter().collect()
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
    let kinds = if list.len() == 1 { list.pop().unwrap_or(Value::Null) } else { list.into() };
    Value::Object([("type", kinds)].into_iter().collect())
}

impl<'s> Writer<'s> {
    pub(super) fn strings(
        &mut self,
        parts: &[Str],
        schemas: &Schemas<'s>,
        constants: &mut Vec<Value>,
        list: &mut Vec<Object>,
    ) {
        let mut words: Vec<&smol_str::SmolStr> = Vec::new();
        let mut strings: Vec<Object> = Vec::new();
        for part in parts {
            match &part.words {
                Words::List(some) => words.extend(some.iter()),
                Words::Dfa(_) => strings.push(self.string(part, schemas)),
            }
        }
        // In the order of the source.
        let source: Vec<&str> = schemas
            .list
            .iter()
            .filter_map(|(_, schema)| schema.get("enum")?.as_array())
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut places = rustc_hash::FxHashMap::default();
        for (place, word) in source.into_iter().enumerate() {
            places.entry(word).or_insert(place);
        }
        words.sort_by_key(|word| places.get(word.as_str()).copied().unwrap_or(usize::MAX));
        constants.extend(words.into_iter().map(|word| Value::String(word.clone())));
        if strings.len() > FEW || strings.contains(&bare("string")) {
            strings = vec![bare("string")];
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
                self.rewritten(
                    schemas,
                    &["format"],
                    "llama.rn reads it too narrowly; a pattern stands for it",
                );
                let _ = string.insert("pattern", pattern.into());
            } else if !has_rule(name) {
                self.change(schemas, &["format"], UNREAD);
                return self.lengths(string, part.length, schemas);
            }
            if part.length != ANY_LENGTH {
                self.change(schemas, &["minLength", "maxLength"], "llama.rn passes it over beside a format");
            }
            return string;
        }
        let of_source = schemas.list.iter().find_map(|(_, schema)| {
            let text = schema.get("pattern")?.as_str()?;
            let known = self.inner.patterns.get(text)?;
            (known.dfa == *dfa).then_some((text, known.length))
        });
        if let Some((text, length)) = of_source
            && let Some(plain) = pattern::plain(text)
        {
            if plain != text {
                self.rewritten(
                    schemas,
                    &["pattern"],
                    "written in another form, since llama.rn would misread this one",
                );
            }
            if part.length != length {
                self.change(schemas, &["minLength", "maxLength"], "llama.rn passes it over beside a pattern");
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
        self.lengths(bare("string"), part.length, schemas)
    }

    fn lengths(&mut self, mut string: Object, (least, most): Length, schemas: &Schemas<'s>) -> Object {
        if least > CHARS || most.is_some_and(|most| most > CHARS) {
            self.change(schemas, &["minLength", "maxLength"], "llama.rn cannot count so far");
        }
        if least > 0 {
            let _ = string.insert("minLength", least.min(CHARS).into());
        }
        if let Some(most) = most.filter(|most| *most <= CHARS) {
            let _ = string.insert("maxLength", most.into());
        }
        string
    }

    pub(super) fn numbers(
        &mut self,
        parts: &[Num],
        schemas: &Schemas<'s>,
        constants: &mut Vec<Value>,
        list: &mut Vec<Object>,
    ) {
        const BOUNDS: &[&str] = &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
        let point = |num: &Num| match (num.lo, num.hi) {
            (Some(lo), Some(hi)) if lo == hi && lo.inclusive => Some(Value::Number(lo.at.to_number())),
            _ => None,
        };
        let points: Vec<Value> = parts.iter().map_while(point).collect();
        let plain = |value: &Value| value.as_number().is_some_and(is_plain);
        if points.len() == parts.len() && points.iter().all(plain) {
            return constants.extend(points);
        }
        let integral = parts.iter().all(Num::is_integral);
        let mut number = bare(if integral { "integer" } else { "number" });
        let lo = parts.iter().map(|part| part.lo).min_by(|a, b| order(*a, *b, false)).flatten();
        let hi = parts.iter().map(|part| part.hi).max_by(|a, b| order(*a, *b, true)).flatten();
        if integral {
            let bounds =
                [("minimum", lo.map(|lo| whole(lo, true))), ("maximum", hi.map(|hi| whole(hi, false)))];
            for (name, bound) in bounds {
                match bound {
                    None => {}
                    Some(Some(bound)) => _ = number.insert(name, bound.into()),
                    Some(None) => {
                        self.change(schemas, BOUNDS, "llama.rn cannot write bounds of so many digits");
                    }
                }
            }
            if parts.len() > 1 || parts.iter().any(|part| part.step != Some(Dec::ONE) || !part.off.is_empty())
            {
                self.change(schemas, &["multipleOf"], UNREAD);
            }
        } else if *parts != [Num::ANY] {
            self.change(
                schemas,
                &["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
                UNREAD,
            );
        }
        list.push(number);
    }

    pub(super) fn array(&mut self, clause: &Clause<Arr>, schemas: &Schemas<'s>) -> Option<Object> {
        let Arr { prefix, rest, length, unique, counts } = &clause.pos;
        if *unique || !counts.is_empty() || !clause.neg.is_empty() {
            let keywords = ["uniqueItems", "contains", "minContains", "maxContains"];
            self.change(schemas, &[&keywords, COMBINED].concat(), UNREAD);
        }
        let mut array = bare("array");
        let places = prefix.len() as u64;
        if places > 0 && *length == (places, Some(places)) && places <= ITEMS {
            let mut items = Vec::new();
            for (place, id) in prefix.iter().enumerate() {
                let schemas = schemas.step(&Step::Item(place));
                items.push(self.value(*id, &schemas, "item")?);
            }
            let _ = array.insert("prefixItems", items.into());
            return Some(array);
        }
        let (least, most) = *length;
        let any = prefix.is_empty() && matches!(*rest, Id::PRESENT | Id::ANY);
        if any && *length == ANY_LENGTH {
            return Some(array);
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
            let mut ids = prefix.clone();
            ids.push(*rest);
            ids.retain(|id| !self.sets.is_empty(*id));
            let id = self.sets.search().arena.or_all(&ids);
            let mut schemas = schemas.step(&Step::Rest);
            schemas.sure = false;
            self.value(id, &schemas, "item")?
        };
        let _ = array.insert("items", items);
        if least > ITEMS || most.is_some_and(|most| most > ITEMS) {
            self.change(schemas, &["minItems", "maxItems"], "llama.rn cannot count so far");
        }
        if least > 0 {
            let _ = array.insert("minItems", least.min(ITEMS).into());
        }
        if let Some(most) = most.filter(|most| *most <= ITEMS) {
            let _ = array.insert("maxItems", most.into());
        }
        Some(array)
    }

    pub(super) fn object(&mut self, clause: &Clause<Obj>, schemas: &Schemas<'s>) -> Option<Object> {
        let pos = &clause.pos;
        if !clause.neg.is_empty() {
            self.change(schemas, COMBINED, UNREAD);
        }
        if pos.count != (0, None) {
            self.change(schemas, &["minProperties", "maxProperties"], UNREAD);
        }
        let (mut properties, mut required) = (Object::new(), Vec::new());
        for (name, id) in pos.fields.iter() {
            let (id, absent) = self.sets.field(id);
            if self.sets.is_empty(id) {
                continue;
            }
            if name == "$ref" {
                self.change(
                    schemas,
                    &["properties"],
                    "llama.rn takes a member `$ref` for a reference: any object passes while decoding",
                );
                return Some(bare("object"));
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
            self.rewritten(
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
        Some(object)
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

/// The order of two bounds, nothing being the end of all numbers on their side.
fn order(a: Option<Bound>, b: Option<Bound>, upper: bool) -> std::cmp::Ordering {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let (below, above) = if upper { (Less, Greater) } else { (Greater, Less) };
    match (a, b) {
        (None, None) => Equal,
        (None, Some(_)) => above,
        (Some(_), None) => below,
        (Some(a), Some(b)) => a.at.cmp(&b.at),
    }
}

/// The integer at or inside a bound; nothing where it has too many digits.
fn whole(bound: Bound, lower: bool) -> Option<i64> {
    let (mantissa, power) = bound.at.parts();
    let (floor, exact) = if power >= 0 {
        let scale = 10i128.checked_pow(u32::try_from(power).ok()?)?;
        (mantissa.checked_mul(scale)?, true)
    } else {
        let scale = 10i128.checked_pow(u32::try_from(-power).ok()?)?;
        (mantissa.div_euclid(scale), false)
    };
    let inside = match (exact, lower) {
        (true, true) => floor + i128::from(!bound.inclusive),
        (true, false) => floor - i128::from(!bound.inclusive),
        (false, true) => floor + 1,
        (false, false) => floor,
    };
    (inside.abs() < BOUND).then_some(inside).and_then(|bound| i64::try_from(bound).ok())
}
