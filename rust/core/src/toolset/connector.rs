//! A manifest bound by a person's grant.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

use super::bounds::Bounds;
use super::effect::{self, Scope};
use super::tree::Leaf;
use crate::grant::{Grant, is_tool};
use crate::json::{Path, Sha256, Value, canonical, sha256};
use crate::manifest::{Manifest, Tool};
use crate::origin::BoundOrigin;
use crate::request::{AnySlot, CredentialUse, Settings, Source};
use crate::rule::Findings;
use crate::rules;
use crate::shape::Members;
use crate::{Code, Refusal, TrustLimits};

rules! {
    GRANT_ORIGIN_UNKNOWN: Error "grant.origin_unknown", "A grant binds only origins that the manifest leaves to the person.",
        "Remove the origin, or use the name that the manifest gives it.";
    GRANT_TOO_LONG: Error "grant.too_long", "With its origin and settings in place, every request is within its bounds.",
        "Give shorter values: as it is, a tool could never be called.";
    GRANT_TOOL_UNKNOWN: Error "grant.tool_unknown", "`only` of a grant names tools of the manifest.",
        "Use the names of tools as the manifest writes them.";
}

/// A checked manifest with its source and its grant: every origin bound, every setting held against its slots.
///
/// Immutable. Only [`bind`](Self::bind) makes one.
pub struct Connector {
    manifest: Arc<Manifest>,
    source: SmolStr,
    grant: Grant,
    grant_hash: Sha256,
    origins: BTreeMap<SmolStr, BoundOrigin>,
    settings: Settings,
    key: Option<SmolStr>,
    tools: Vec<BoundTool>,
    digest: Sha256,
}

/// What a tool is, bound: everything that its effect hash covers.
#[derive(Debug)]
pub(super) struct BoundTool {
    pub(super) document: Arc<Value>,
    pub(super) effect: Sha256,
    pub(super) bounds: Bounds,
}

impl Connector {
    /// Binds a manifest. `source` is the host's label of where it came from.
    ///
    /// # Errors
    /// `grant.invalid`, with a finding for each origin, setting and tool name that does not fit; pointers lead into
    /// the grant.
    pub fn bind(
        manifest: Arc<Manifest>,
        source: &str,
        grant: Grant,
        limits: &TrustLimits,
    ) -> Result<Self, Refusal> {
        let mut findings = Findings::new();
        let origins = bind_origins(&manifest, &grant, &mut findings);
        let given = grant.settings.iter().flat_map(Members::iter);
        let given = given.map(|(name, value)| (name.clone(), value.clone())).collect();
        let settings = manifest.bind_settings(&given, limits);
        let settings =
            settings.map_err(|refusal| findings.extend(&Path::Root, refusal.findings)).unwrap_or_default();
        for (index, word) in grant.only.iter().flat_map(|only| only.0.iter()).enumerate() {
            let known = |tool: &Tool| is_tool(word, manifest.id().as_str(), tool.name().as_str());
            if !manifest.tools().iter().any(known) {
                let message = format_args!("the manifest has no such tool");
                findings.add(&GRANT_TOOL_UNKNOWN, &Path::Root.name("only").index(index), message);
            }
        }
        check_bounds(&manifest, &origins, &settings, limits, &mut findings);
        if findings.has_errors() {
            let first = findings.list().first().map(|finding| finding.message.clone()).unwrap_or_default();
            let reason = format!("the grant does not fit the manifest: {first}");
            return Err(Refusal::new(Code::GrantInvalid, reason).with_findings(findings.into_list()));
        }
        let grant = grant.of_connector(manifest.id().as_str());
        let tools = (0..).zip(manifest.tools()).map(|(index, tool)| {
            let document = document(&manifest, index, tool, &origins, &settings);
            let (effect, bounds) = (effect::hash(&document), Bounds::new(tool, limits));
            BoundTool { document: Arc::new(document), effect, bounds }
        });
        let tools: Vec<BoundTool> = tools.collect();
        let names = manifest.tools().iter().map(|tool| tool.full_name().as_str());
        let digest = digest(names.zip(tools.iter().map(|tool| tool.effect)));
        let (key, grant_hash) = (None, grant.hash(manifest.sha256()));
        let source = source.into();
        Ok(Self { manifest, source, grant, grant_hash, origins, settings, key, tools, digest })
    }

    /// The same, with the host's name of the key by which the manifest's signature was verified.
    pub fn signed_by(mut self, key: &str) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The connector's id.
    pub fn id(&self) -> &str {
        self.manifest.id().as_str()
    }

    /// The manifest.
    pub fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// The host's label of where the manifest came from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The key by which the manifest is signed, if it is.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Whether it is the very same manifest from the same hands, with the same grant.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.manifest.sha256() == other.manifest.sha256()
            && self.grant_hash == other.grant_hash
            && self.source == other.source
            && self.key == other.key
            && self.digest == other.digest
    }

    /// The grant.
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// The hash of the grant, which covers the manifest that it was given for.
    pub fn grant_hash(&self) -> Sha256 {
        self.grant_hash
    }

    /// The settings that the person gave.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A bound origin by the name that the manifest gives it.
    pub fn origin(&self, name: &str) -> Option<&BoundOrigin> {
        self.origins.get(name)
    }

    /// Whether a secret can stand in every place that the manifest has for a credential.
    ///
    /// # Errors
    /// `credential.unknown`, `credential.invalid`.
    pub fn check_secret(&self, name: &str, secret: &str, limits: &TrustLimits) -> Result<(), Refusal> {
        self.credential_origin(name)?;
        let mut result = Ok(());
        for tool in self.manifest.tools() {
            tool.request().each_slot(&Path::Root, &mut |_, position, slot| match slot {
                AnySlot::Credential(slot) if slot.name.as_str() == name && result.is_ok() => {
                    result = CredentialUse::new(slot).check_at(position, secret, limits);
                }
                AnySlot::Credential(_) | AnySlot::Slot(_) => {}
            });
        }
        result
    }

    /// The origin to which a credential goes, and to no other.
    ///
    /// # Errors
    /// `credential.unknown` when the manifest has no such credential.
    pub fn credential_origin(&self, name: &str) -> Result<&BoundOrigin, Refusal> {
        let credential = self.manifest.credentials().get(name);
        credential.and_then(|credential| self.origin(credential.origin.as_str())).ok_or_else(|| {
            let reason = format!("the connector `{}` has no credential of this name", self.id());
            Refusal::new(Code::CredentialUnknown, reason)
        })
    }

    /// The origin that a tool of the manifest calls.
    pub fn origin_of(&self, tool: &Tool) -> Option<&BoundOrigin> {
        self.origins.get(tool.request().origin.0.as_str())
    }

    /// Full names and effect hashes of the tools, in file order.
    pub fn effects(&self) -> impl Iterator<Item = (&str, Sha256)> {
        let names = self.manifest.tools().iter().map(|tool| tool.full_name().as_str());
        names.zip(self.tools.iter().map(|tool| tool.effect))
    }

    /// The tools of the manifest, bound, in file order.
    pub(super) fn tools(&self) -> impl ExactSizeIterator<Item = (&Tool, &BoundTool)> {
        self.manifest.tools().iter().zip(&self.tools)
    }

    /// The full names of the tools that the grant lets be called, in file order.
    pub fn callable(&self) -> impl Iterator<Item = &str> {
        let granted = |tool: &&Tool| self.grant.allows_tool(self.id(), tool.name().as_str());
        self.manifest.tools().iter().filter(granted).map(|tool| tool.full_name().as_str())
    }
}

/// What names it, not what is in it.
impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector")
            .field("id", &self.id())
            .field("source", &self.source)
            .field("manifest", &self.manifest.sha256())
            .field("grant", &self.grant_hash)
            .finish_non_exhaustive()
    }
}

impl Leaf for Arc<Connector> {
    fn digest(&self) -> Sha256 {
        self.digest
    }
}

/// SHA-256 over the RFC 8785 form of the list of `[full name, effect hash]`, sorted by name.
fn digest<'n>(tools: impl Iterator<Item = (&'n str, Sha256)>) -> Sha256 {
    let mut tools: Vec<(&str, Sha256)> = tools.collect();
    tools.sort_unstable();
    let pair = |(name, hash): (&str, Sha256)| Value::Array(vec![name.into(), hash.to_string().into()]);
    sha256(canonical(&Value::Array(tools.into_iter().map(pair).collect())).unwrap_or_default())
}

/// What the person gives must leave room for a call.
fn check_bounds(
    manifest: &Manifest,
    origins: &BTreeMap<SmolStr, BoundOrigin>,
    settings: &Settings,
    limits: &TrustLimits,
    findings: &mut Findings,
) {
    let at = if settings.values().is_empty() { Path::Root } else { Path::Root.name("settings") };
    for tool in manifest.tools() {
        let origin = origins.get(tool.request().origin.0.as_str()).map_or(0, |origin| origin.as_str().len());
        for overrun in tool.request().overruns(origin, settings, limits) {
            let (name, what, limit) = (tool.name(), overrun.what, overrun.limit);
            let message =
                format_args!("the {what} of `{name}` is over the limit of {limit} bytes before any argument");
            findings.add(&GRANT_TOO_LONG, &at, message);
        }
    }
}

fn bind_origins(
    manifest: &Manifest,
    grant: &Grant,
    findings: &mut Findings,
) -> BTreeMap<SmolStr, BoundOrigin> {
    let at = Path::Root.name("origins");
    let given = |name: &str| grant.origins.as_ref().and_then(|origins| origins.get(name));
    for (name, _) in grant.origins.iter().flat_map(Members::iter) {
        if manifest.origins().get(name).is_none() {
            let message = format_args!("the manifest has no such origin");
            findings.add_name(&GRANT_ORIGIN_UNKNOWN, &at.name(name), message);
        }
    }
    let mut bound = BTreeMap::new();
    for (name, entry) in manifest.origins().iter() {
        match entry.bind(given(name.as_str()).map(SmolStr::as_str), grant.reach()) {
            Ok(origin) => {
                bound.insert(name.as_str().into(), origin);
            }
            Err(fault) => {
                findings.add(
                    fault.rule(),
                    &at.name(name.as_str()),
                    format_args!("the origin `{name}` is refused. {fault}"),
                );
            }
        }
    }
    bound
}

fn document(
    manifest: &Manifest,
    index: usize,
    tool: &Tool,
    origins: &BTreeMap<SmolStr, BoundOrigin>,
    settings: &Settings,
) -> Value {
    let origin = tool.request().origin.0.as_str();
    let mut used_settings = Vec::new();
    let mut used_credentials = Vec::new();
    tool.request().each_slot(&Path::Root, &mut |_, _, slot| match slot {
        AnySlot::Slot(slot) if slot.source == Source::Setting => used_settings.push(slot.name.to_string()),
        AnySlot::Credential(slot) => used_credentials.push(slot.name.to_string()),
        AnySlot::Slot(_) => {}
    });
    Scope {
        manifest: manifest.source(),
        tool: index,
        origin: (origin, origins.get(origin).map_or("", BoundOrigin::as_str)),
        settings: used_settings
            .iter()
            .filter_map(|name| Some((name.as_str(), settings.get(name)?)))
            .collect(),
        credentials: used_credentials.iter().map(String::as_str).collect(),
    }
    .document()
}
