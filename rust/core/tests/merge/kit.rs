//! Small connectors, and the steps of a merge.

use std::sync::Arc;

use connector_core::grant::Grant;
use connector_core::json::{Numbers, Profile, Sha256, canonical, read_strict};
use connector_core::manifest::check;
use connector_core::toolset::{Connector, Past, ToolSet};
use connector_core::{Code, Refusal, TrustLimits};
use serde_json::{Value, json};

pub(crate) const SOURCE: &str = "https://connectors.example";

/// A connector `files` with tools that send their arguments as they are.
pub(crate) fn manifest(tools: &[Value]) -> Value {
    json!({
        "manifestVersion": 1, "id": "files", "version": "1", "title": "Files", "description": "Files on a server.",
        "origins": { "api": "https://files.example" }, "tools": tools
    })
}

/// A tool that takes one argument `options` and sends it as the body, and one for its path.
pub(crate) fn tool(name: &str, options: &Value) -> Value {
    json!({
        "name": name, "description": "Does it.", "effect": "write",
        "parameters": { "type": "object", "properties": { "path": { "type": "string" }, "options": options }, "required": ["path"] },
        "request": { "method": "POST", "origin": "api", "path": [{ "$param": "path" }], "body": { "json": { "$param": "options", "absent": "omit" } } }
    })
}

/// The same manifest at another version, as the successor of another.
pub(crate) fn successor(of: &Value, new: &Value) -> Value {
    let mut new = new.clone();
    new["version"] = json!("2");
    new["supersedes"] = json!(hash(of).to_string());
    new
}

pub(crate) fn hash(manifest: &Value) -> Sha256 {
    connector_core::json::sha256(manifest.to_string())
}

pub(crate) fn grant(value: &Value) -> Grant {
    let profile = Profile { max_bytes: 1 << 20, max_depth: 9, numbers: Numbers::Any };
    Grant::read(&read_strict(value.to_string().as_bytes(), profile).unwrap(), &TrustLimits::default())
        .unwrap()
}

pub(crate) fn try_connector(manifest: &Value, source: &str, grant: Grant) -> Result<Connector, String> {
    let report = check(manifest.to_string().as_bytes(), &TrustLimits::default());
    let checked = report.manifest.ok_or_else(|| format!("{:?}", report.findings.list()))?;
    Connector::bind(checked, source, grant, &TrustLimits::default()).map_err(|refusal| refusal.to_string())
}

pub(crate) fn from(manifest: &Value, source: &str) -> Arc<Connector> {
    Arc::new(
        try_connector(manifest, source, Grant::default()).unwrap_or_else(|why| panic!("{manifest}: {why}")),
    )
}

pub(crate) fn connector(manifest: &Value) -> Arc<Connector> {
    from(manifest, SOURCE)
}

/// A set with one connector.
pub(crate) fn with(manifest: &Value) -> ToolSet {
    ToolSet::default().install(connector(manifest), None).unwrap()
}

/// What a store gives back of what the set remembers. Canonical JSON loses the order of members.
pub(crate) fn restored(set: &ToolSet) -> ToolSet {
    let limits = TrustLimits::default();
    ToolSet::remembering(set.past().map(|past| {
        let kept = past.tombstones().map(|(name, value)| {
            let text = canonical(&value).unwrap();
            let profile = Profile { max_bytes: text.len(), max_depth: 9, numbers: Numbers::Exact };
            (name.clone(), read_strict(text.as_bytes(), profile).unwrap())
        });
        let last = (past.manifest(), past.grant().clone());
        Past::restore(past.id(), past.source(), past.key(), last, kept, &limits).unwrap()
    }))
}

/// Replaces under the set's own hash.
pub(crate) fn replace(set: &ToolSet, manifest: &Value) -> Result<ToolSet, Refusal> {
    set.replace(connector(manifest), set.hash())
}

/// The code by which a merge is refused.
pub(crate) fn refused(result: Result<ToolSet, Refusal>) -> Code {
    match result {
        Ok(set) => panic!("the merge was let through: {:?}", set.hash()),
        Err(refusal) => refusal.code,
    }
}
