//! The JSON Schema of the manifest, made of the same declarations as its reader.

use super::document::Manifest;
use crate::json::Value;
use crate::shape::{Definitions, Shape, fragment, merged};

/// The JSON Schema (2020-12) of a manifest of version 1, as `docs/manifest.schema.json` has it.
///
/// It accepts every manifest that [`check`](super::check) takes without a warning. What it accepts and the
/// check refuses breaks a rule that spans members, and is a finding with that rule's id.
pub fn json_schema() -> Value {
    let mut definitions = Definitions::default();
    let root = Manifest::describe(&mut definitions);
    let head = fragment([
        ("$schema", "https://json-schema.org/draft/2020-12/schema".into()),
        ("title", "Connector manifest, version 1".into()),
    ]);
    merged(merged(head, root), fragment([("$defs", definitions.into_object().into())]))
}
