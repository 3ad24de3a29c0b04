//! A schema that nothing satisfies is refused, at the smallest part that is empty.

use super::compile::keywords::{Keywords, count, strings};
use super::compile::scalar::Kinds;
use super::compile::{Compiler, closing};
use super::read::Patterns;
use super::search::Search;
use super::{Compiled, Options, Undecided, reference, rules as r};
use crate::json::{Path, Value};
use crate::rule::Findings;

/// The parts of an empty schema that are tried for the blame; each may cost a search.
const PARTS: u32 = 64;

/// Whether anything is valid; if not, or if that takes too many steps, there is a finding.
pub(super) fn satisfiable(
    compiled: &Compiled,
    document: &Value,
    at: &Path<'_>,
    options: Options,
    patterns: &Patterns,
    findings: &mut Findings,
) -> bool {
    match is_empty(compiled) {
        // What is only hard to say hurts nobody: at worst no call is ever valid.
        Ok(false) | Err(Undecided::Arrays | Undecided::Numbers | Undecided::Strings) => true,
        Ok(true) => {
            let mut blame = Blame { document, at, options, patterns, tried: 0 };
            let place = blame.smallest(document, at);
            let message = format_args!("the constraints here contradict each other: nothing is valid");
            findings.add(&r::UNSATISFIABLE, &Path::Tail(&Path::Root, &place), message);
            false
        }
        Err(undecided) => {
            let message = format_args!("the schema is too costly to decide about: {undecided}");
            findings.add(&r::TOO_COSTLY, at, message);
            false
        }
    }
}

fn is_empty(compiled: &Compiled) -> Result<bool, Undecided> {
    if compiled.arena.facts(compiled.root).inhabited {
        return Ok(false);
    }
    Search::new(compiled.arena.clone()).is_empty(compiled.root)
}

struct Blame<'s> {
    document: &'s Value,
    at: &'s Path<'s>,
    options: Options,
    patterns: &'s Patterns,
    tried: u32,
}

impl<'s> Blame<'s> {
    /// The pointer of the smallest part of an empty schema that is empty by itself.
    fn smallest(&mut self, schema: &'s Value, path: &Path<'_>) -> String {
        let Value::Object(object) = schema else { return path.to_string() };
        let keywords = Keywords::of(object);
        let kinds = Kinds::of(keywords.kinds);
        if kinds.object {
            let properties = path.name("properties");
            for name in strings(keywords.required) {
                if let Some(schema) = keywords.properties.and_then(|properties| properties.get(name))
                    && let Some(place) = self.within(schema, &properties.name(name))
                {
                    return place;
                }
            }
        }
        if kinds.array
            && let Some(place) = self.within_items(&keywords, path)
        {
            return place;
        }
        if let Some(target) = closing::target(self.document, keywords.reference)
            && let Some(pointer) =
                keywords.reference.and_then(Value::as_str).and_then(|text| reference::pointer(text).ok())
            && let Some(place) = self.within(target, &Path::Tail(self.at, &pointer))
        {
            return place;
        }
        for (at, schema) in list(keywords.all_of).iter().enumerate() {
            if let Some(place) = self.within(schema, &path.name("allOf").index(at)) {
                return place;
            }
        }
        for (keyword, branches) in [("anyOf", keywords.any_of), ("oneOf", keywords.one_of)] {
            let path = path.name(keyword);
            let branches = list(branches);
            let empty = branches.iter().enumerate().map(|(at, schema)| self.within(schema, &path.index(at)));
            let empty: Vec<_> = empty.take_while(Option::is_some).flatten().collect();
            match empty.as_slice() {
                [] => {}
                [one] if branches.len() == 1 => return one.clone(),
                all if all.len() == branches.len() => return path.to_string(),
                _ => {}
            }
        }
        path.to_string()
    }

    /// The items that an array has to have.
    fn within_items(&mut self, keywords: &Keywords<'s>, path: &Path<'_>) -> Option<String> {
        let least = count(keywords.min_items).unwrap_or(0);
        let (places, rest) = keywords.item_schemas();
        let older = keywords.prefix_items.is_none() && !places.is_empty();
        let (prefix, others) = if older { ("items", "additionalItems") } else { ("prefixItems", "items") };
        for (at, schema) in places.iter().enumerate().take_while(|(at, _)| (*at as u64) < least) {
            if let Some(place) = self.within(schema, &path.name(prefix).index(at)) {
                return Some(place);
            }
        }
        if let Some(schema) = rest.filter(|_| least > places.len() as u64)
            && let Some(place) = self.within(schema, &path.name(others))
        {
            return Some(place);
        }
        let contains = keywords.contains.filter(|_| count(keywords.min_contains).unwrap_or(1) > 0);
        contains.and_then(|schema| self.within(schema, &path.name("contains")))
    }

    /// The smallest empty part within a part that has to be satisfied, where that is empty by itself.
    fn within(&mut self, schema: &'s Value, path: &Path<'_>) -> Option<String> {
        self.tried += 1;
        if self.tried > PARTS {
            return None;
        }
        let mut findings = Findings::new();
        let compiled = Compiler::compile(
            self.document,
            schema,
            self.at,
            path,
            self.options,
            self.patterns,
            &mut findings,
        )?;
        (is_empty(&compiled) == Ok(true)).then(|| self.smallest(schema, path))
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).unwrap_or_default()
}
