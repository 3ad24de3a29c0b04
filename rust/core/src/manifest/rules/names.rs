//! Names that routes are made of: full names, collisions, top-level properties.

use super::FULL_NAME;
use super::slots::place_of_property;
use crate::json::{Path, Value};
use crate::manifest::document::ManifestDraft;
use crate::shape::{Identifier, Reading, collisions};

/// Judges the names of tools, and of the properties of each; `source` is the document as it is written.
pub(in crate::manifest) fn check_names(
    manifest: &ManifestDraft,
    source: &Value,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) {
    let Some(tools) = &manifest.tools else { return };
    let tools_at = at.name("tools");
    let places: Vec<_> = (0..tools.0.len()).map(|index| tools_at.index(index)).collect();
    let names = tools.0.iter().zip(&places);
    let names = names.filter_map(|(tool, at)| tool.name.as_ref().map(|name| (name, at.name("name"))));
    collisions(names.clone(), "tool", reading);
    if let Some(id) = &manifest.id {
        let most = reading.limits.identifier_chars;
        for (name, at) in names {
            let length = id.as_str().len() + 1 + name.as_str().len();
            if length > most {
                let message = format_args!("the full name has {length} characters, over the limit of {most}");
                reading.findings.add(&FULL_NAME, &at, message);
            }
        }
    }
    let sources = source.get("tools").and_then(Value::as_array).unwrap_or_default();
    for ((tool, source), at) in tools.0.iter().zip(sources).zip(&places) {
        let (Some(parameters), Some(written)) = (&tool.parameters, source.get("parameters")) else {
            continue;
        };
        let (at, most) = (at.name("parameters"), reading.limits.identifier_chars);
        let names = parameters.schema().properties().iter().filter_map(|name| {
            Identifier::parse(name, most).or_else(|| {
                let place = place_of_property(written, name);
                Identifier::check(name, &Path::Tail(&at, &place), reading)
            })
        });
        let names: Vec<_> = names.collect();
        let at = at.name("properties");
        collisions(names.iter().map(|name| (name, at.name(name.as_str()))), "parameter", reading);
    }
}
