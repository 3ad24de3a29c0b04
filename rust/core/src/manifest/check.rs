//! The one way to a manifest: all rules, all findings, in one run.

use std::sync::Arc;

use super::document::{ManifestDraft, ManifestVersion};
use super::model::Manifest;
use super::rules::{Uses, check_annotations, check_names, check_slots};
use crate::json::{Numbers, Path, Profile, Value, read, sha256};
use crate::limits::TrustLimits;
use crate::rule::Findings;
use crate::shape::{Reading, Shape};

/// What is known about a manifest after its check.
#[derive(Debug)]
pub struct Report {
    /// The manifest, when no finding refuses it.
    pub manifest: Option<Arc<Manifest>>,
    /// All findings; warnings may stand beside a manifest.
    pub findings: Findings,
}

/// Checks the exact bytes of a manifest against every rule under the limits of the host.
///
/// All problems are found in one run, unless the file is no JSON, is over a limit of reading, or is of
/// another `manifestVersion`: then nothing else is judged.
pub fn check(bytes: &[u8], limits: &TrustLimits) -> Report {
    let profile =
        Profile { max_bytes: limits.manifest_bytes, max_depth: limits.json_depth, numbers: Numbers::Exact };
    let (source, mut findings) = read(bytes, profile);
    let Some(source) = source else { return refused(findings) };
    let mut of_version = Findings::new();
    if ManifestVersion::check(&source, &mut Reading { limits, findings: &mut of_version }).is_none() {
        return refused(of_version);
    }
    let draft = judge(&source, &mut Reading { limits, findings: &mut findings });
    if findings.has_errors() {
        return refused(findings);
    }
    let manifest = draft.and_then(|draft| Manifest::new(draft, source, sha256(bytes)));
    Report { manifest: manifest.map(Arc::new), findings }
}

fn refused(findings: Findings) -> Report {
    Report { manifest: None, findings }
}

/// Reads the members and holds them against the rules that span them.
fn judge(source: &Value, reading: &mut Reading<'_>) -> Option<ManifestDraft> {
    let at = Path::Root;
    let draft = ManifestDraft::read(source, &at, reading)?;
    check_names(&draft, source, &at, reading);
    let mut uses = Uses::new(&draft, source);
    uses.check_declarations(&draft, &at, reading);
    let sources = source.get("tools").and_then(Value::as_array).unwrap_or_default();
    if let Some(tools) = &draft.tools {
        let tools_at = at.name("tools");
        for (index, (tool, source)) in tools.0.iter().zip(sources).enumerate() {
            let at = tools_at.index(index);
            if let (Some(_), Some(schema)) = (&tool.parameters, source.get("parameters")) {
                check_annotations(schema, &at.name("parameters"), reading);
            }
            check_slots(tool, source, &at, reading);
            uses.check_tool(tool, source, &at, reading);
        }
        uses.finish(&at, reading);
    }
    Some(draft)
}
