//! Chains of schemas about one value: none may come back to itself, and none may be too long.

use rustc_hash::FxHashMap;

use super::compile::closing::{address, parts};
use super::compile::keywords::Keywords;
use super::rules as r;
use crate::json::{Path, Value};
use crate::rule::Findings;

/// The longest chain of schemas about one value: a bound for every recursion over sets.
const LENGTH: u32 = 48;

/// A `$ref`, by the schema object that it stands in.
pub(super) struct Reference<'s> {
    pub(super) holder: &'s Value,
    pub(super) pointer: String,
}

/// Refuses references that lead back to themselves without going into a value, and chains that are too long.
pub(super) fn check(document: &Value, at: &Path<'_>, references: &[Reference<'_>], findings: &mut Findings) {
    let pointers = references.iter().map(|reference| (address(reference.holder), reference.pointer.as_str()));
    let pointers: FxHashMap<usize, &str> = pointers.collect();
    let mut heights: FxHashMap<usize, Option<u32>> = FxHashMap::default();
    let mut too_long = false;
    for reference in references {
        // The walk keeps its own stack: a chain may be as long as the document.
        let mut stack = vec![(reference.holder, false)];
        while let Some((schema, done)) = stack.pop() {
            let id = address(schema);
            if done {
                let heights_below =
                    below(document, schema).into_iter().filter_map(|schema| heights.get(&address(schema)));
                let height = heights_below.flatten().max().map_or(0, |height| height + 1);
                too_long |= height > LENGTH;
                heights.insert(id, Some(height));
                continue;
            }
            match heights.get(&id) {
                Some(Some(_)) => {}
                Some(None) => {
                    // On the cycle stands at least one reference: the last one that was followed.
                    let open =
                        stack.iter().rev().filter(|(_, done)| *done).map(|(schema, _)| address(schema));
                    let mut cycle = open.take_while(|open| *open != id).chain([id]);
                    let place = cycle.find_map(|schema| pointers.get(&schema)).copied().unwrap_or_default();
                    let message =
                        format_args!("the reference leads back to itself without going into a value");
                    findings.add(&r::REFERENCE_VACUOUS, &Path::Tail(&Path::Root, place), message);
                }
                None => {
                    heights.insert(id, None);
                    stack.push((schema, true));
                    stack.extend(below(document, schema).into_iter().map(|schema| (schema, false)));
                }
            }
        }
    }
    if too_long {
        let message = format_args!("more than {LENGTH} schemas speak about one value, each through the next");
        findings.add(&r::TOO_COSTLY, at, message);
    }
}

/// The schemas through which a schema speaks about the same value.
fn below<'s>(document: &'s Value, schema: &'s Value) -> Vec<&'s Value> {
    let Value::Object(object) = schema else { return Vec::new() };
    let keywords = Keywords::of(object);
    parts(document, &keywords).into_iter().map(|part| part.schema).chain(keywords.not).collect()
}
