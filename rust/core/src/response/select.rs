//! What the readers of a map find in an answer.

use std::fmt;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::dress::{Dresser, STEP};
use super::mapping::{Each, Give, Mapping, Over, Take};
use super::node::Node;
use super::reader::Reader;
use crate::json::Value;

/// Reads an answer.
pub(super) struct Selection<'a> {
    pub(super) dresser: Dresser<'a>,
    /// The most items that one `each` yields.
    pub(super) parts: usize,
}

/// What a reader found.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing: a place that is not there.
    Missing,
    /// `null`.
    Null,
    /// The empty result of a mapping that looks at nothing.
    Empty(Node),
    /// A value.
    Value(Node),
    /// A value that cannot be shown: it is only counted.
    Unshown,
}

impl Found {
    fn of(node: Option<Node>) -> Self {
        node.map_or(Self::Unshown, Self::Value)
    }
}

/// `each` over something that has no items.
#[derive(Debug)]
pub(super) struct NotEach {
    over: Over,
    found: &'static str,
}

/// For the developer and the model; says nothing of the answer but its kind.
impl fmt::Display for NotEach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = match self.over {
            Over::Items => "an array",
            Over::Values => "an object",
        };
        write!(f, "the response map expects {expected} where the answer has another type: {}", self.found)
    }
}

impl Selection<'_> {
    /// What a reader finds in a value.
    pub(super) fn reader(&mut self, reader: &Reader, value: &Value) -> Result<Found, NotEach> {
        match reader {
            Reader::Pointer(pointer) => {
                if self.dresser.spend(STEP + pointer.as_str().len()).is_none() {
                    return Ok(Found::Unshown);
                }
                Ok(match pointer.resolve(value) {
                    None => Found::Missing,
                    Some(value) => self.item(value),
                })
            }
            Reader::Mapping(mapping) => {
                let found = self.mapping(mapping, value)?;
                let Some(max_chars) = mapping.max_chars else { return Ok(found) };
                Ok(match found {
                    Found::Value(node) => Found::of(node.bounded(max_chars, self.dresser.wash)),
                    other => other,
                })
            }
            Reader::First(readers) => {
                for reader in readers {
                    let found = self.reader(reader, value)?;
                    if matches!(found, Found::Value(_) | Found::Unshown) {
                        return Ok(found);
                    }
                }
                Ok(Found::Missing)
            }
        }
    }

    /// What a mapping finds in a value, its `maxChars` aside.
    pub(super) fn mapping(&mut self, mapping: &Mapping, value: &Value) -> Result<Found, NotEach> {
        if self.dresser.spend(STEP + mapping.from.as_str().len()).is_none() {
            return Ok(Found::Unshown);
        }
        let place = mapping.from.resolve(value).filter(|place| !place.is_null());
        match (place, &mapping.each) {
            (Some(place), Some(each)) => self.each(each, &mapping.give, place),
            (Some(place), None) => self.give(&mapping.give, place),
            (None, _) => Ok(empty(mapping)),
        }
    }

    fn give(&mut self, give: &Give, value: &Value) -> Result<Found, NotEach> {
        match give {
            Give::Item => Ok(self.item(value)),
            Give::Value(reader) => self.reader(reader, value),
            Give::Fields(fields) => {
                let (mut members, mut left) = (Vec::new(), 0);
                for (name, reader) in fields {
                    match self.reader(reader, value)? {
                        Found::Missing => {}
                        Found::Null => members.push((name, Node::literal("null"))),
                        Found::Empty(node) | Found::Value(node) => members.push((name, node)),
                        Found::Unshown => left += 1,
                    }
                }
                let (members, twins) = self.keyed(members);
                Ok(Found::Value(Node::object(members, None, left + twins)))
            }
        }
    }

    fn item(&mut self, value: &Value) -> Found {
        if value.is_null() { Found::Null } else { Found::of(self.dresser.value(value)) }
    }

    /// Goes over the values, from the end that stays when room is short, until no more can be shown.
    fn each(&mut self, each: &Each, give: &Give, place: &Value) -> Result<Found, NotEach> {
        let limit = each.limit.unwrap_or(Each::DEFAULT_LIMIT).min(self.parts);
        let (count, mut values) = match (each.over, place) {
            (Over::Items, Value::Array(items)) => {
                let skipped = each.take.skipped(items.len(), limit);
                (items.len(), items.iter().skip(skipped).take(limit).map(|item| ("", item)).collect())
            }
            (Over::Values, Value::Object(object)) => {
                // Members can only be reached by walking over those before them.
                if self.dresser.spend(object.len() / STEP).is_none() {
                    return Ok(Found::Unshown);
                }
                let members = object.iter().skip(each.take.skipped(object.len(), limit)).take(limit);
                (object.len(), members.map(|(key, value)| (key.as_str(), value)).collect::<Vec<_>>())
            }
            (over, other) => return Err(NotEach { over, found: other.kind() }),
        };
        if each.take == Take::Last {
            values.reverse();
        }
        let (mut items, mut seen, mut unshown, mut size) = (Vec::new(), 0, 0, 0);
        for (key, value) in values {
            if size > self.dresser.cap() {
                break;
            }
            seen += 1;
            let node = match self.give(give, value)? {
                Found::Missing => continue,
                Found::Null => Node::literal("null"),
                Found::Empty(node) | Found::Value(node) => node,
                Found::Unshown => {
                    unshown += 1;
                    continue;
                }
            };
            size += node.size() + 1;
            items.push((key, node));
        }
        if each.take == Take::Last {
            items.reverse();
        }
        let left = count - seen + unshown;
        if let Some(separator) = &each.join {
            return Ok(self.join(separator, &items, left));
        }
        if each.keep_keys {
            let (members, twins) = self.keyed(items);
            return Ok(Found::Value(Node::object(members, Some(each.take), left + twins)));
        }
        let items = items.into_iter().map(|(_, node)| node).collect();
        Ok(Found::Value(Node::list(items, each.take, left)))
    }

    /// The single values as one text. Null is nothing to join; a list or an object is left out and counted.
    fn join(&mut self, separator: &str, items: &[(&str, Node)], mut left: usize) -> Found {
        let mut joined = String::new();
        let mut first = true;
        for (_, node) in items {
            let Some(text) = node.as_text() else {
                left += 1;
                continue;
            };
            if node.is_null() {
                continue;
            }
            joined.push_str(if first { "" } else { separator });
            joined.push_str(text);
            first = false;
            left += node.omitted();
        }
        let Some(node) = self.dresser.text(&joined) else { return Found::Unshown };
        Found::Value(node.missing(left))
    }

    /// Members under clean names; of two that are one when they are clean the first stays. Gives how many are gone, or
    /// stand under a name that was cut short.
    fn keyed<K: AsRef<str>>(&mut self, members: Vec<(K, Node)>) -> (Vec<(SmolStr, Node)>, usize) {
        let (count, mut names, mut cut) = (members.len(), FxHashSet::default(), 0);
        let mut keyed = Vec::with_capacity(count);
        for (name, node) in members {
            let Some((name, shortened)) = self.dresser.key(name.as_ref()) else { break };
            if names.insert(name.clone()) {
                keyed.push((name, node));
                cut += usize::from(shortened);
            }
        }
        let gone = count - keyed.len() + cut;
        (keyed, gone)
    }
}

/// What a mapping gives that looks at nothing: an empty value of its kind, or nothing where it gives a single one.
fn empty(mapping: &Mapping) -> Found {
    match (&mapping.each, &mapping.give) {
        (Some(Each { join: Some(_), .. }), _) => Found::Empty(Node::text("", 0)),
        (Some(Each { keep_keys: true, .. }), _) | (None, Give::Fields(_)) => {
            Found::Empty(Node::object(Vec::new(), None, 0))
        }
        (Some(_), _) => Found::Empty(Node::list(Vec::new(), Take::First, 0)),
        (None, Give::Item | Give::Value(_)) => Found::Missing,
    }
}
