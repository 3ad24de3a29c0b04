//! Names that routes are made of: full names, collisions, top-level properties.

use super::FULL_NAME;
use crate::json::Path;
use crate::manifest::document::ManifestDraft;
use crate::shape::{Identifier, Reading, collisions};

/// Judges the names of tools, and of the properties of each.
pub(in crate::manifest) fn check_names(manifest: &ManifestDraft, at: &Path<'_>, reading: &mut Reading<'_>) {
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
    for (tool, at) in tools.0.iter().zip(&places) {
        let Some(parameters) = &tool.parameters else { continue };
        let at = at.name("parameters");
        let at = at.name("properties");
        let names: Vec<_> = parameters
            .schema()
            .properties()
            .iter()
            .filter_map(|name| Some((Identifier::check(name, &at.name(name), reading)?, at.name(name))))
            .collect();
        collisions(names.iter().map(|(name, at)| (name, *at)), "parameter", reading);
    }
}
