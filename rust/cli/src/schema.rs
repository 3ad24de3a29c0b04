//! `connector schema`: the JSON Schema of manifests.

use std::process::ExitCode;

use crate::style::{Trouble, out};

/// Prints the schema that `docs/manifest.schema.json` holds.
pub(crate) fn schema() -> Result<ExitCode, Trouble> {
    let text = serde_json::to_string_pretty(&connector_core::manifest::json_schema());
    out(&text.map_err(|error| Trouble::new("schema", error.to_string()))?);
    Ok(ExitCode::SUCCESS)
}
