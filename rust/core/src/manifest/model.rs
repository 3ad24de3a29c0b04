//! A manifest that passed every check.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};

use super::document::{self, Credential, Effect, Limits, ManifestDraft, ManifestVersion, Setting};
use super::parameters::Parameters;
use crate::json::{Path, Sha256, Value};
use crate::origin::OriginEntry;
use crate::request::{AnySlot, Request};
use crate::response::ResponseMap;
use crate::shape::{Identifier, Named};
use crate::text::{Description, Title};

/// A manifest that passed every check. Immutable; made by [`check`](super::check) alone.
#[derive(Debug)]
pub struct Manifest {
    id: Identifier,
    version: SmolStr,
    title: Title,
    description: Description,
    homepage: Option<SmolStr>,
    supersedes: Option<Sha256>,
    origins: Named<OriginEntry>,
    settings: Named<Setting>,
    credentials: Named<Credential>,
    tools: Vec<Tool>,
    by_name: FxHashMap<SmolStr, usize>,
    source: Value,
    sha256: Sha256,
}

/// One tool of a checked manifest.
#[derive(Debug)]
pub struct Tool {
    name: Identifier,
    full_name: SmolStr,
    title: Option<Title>,
    description: Description,
    effect: Effect,
    parameters: Parameters,
    request: Request,
    response: ResponseMap,
    limits: Limits,
    optional_credentials: Vec<SmolStr>,
    index: usize,
}

impl Manifest {
    /// Takes a document without findings.
    pub(super) fn new(draft: ManifestDraft, source: Value, sha256: Sha256) -> Option<Self> {
        let document::Manifest {
            schema: _for_editors,
            format_version: ManifestVersion,
            id,
            version,
            title,
            description,
            homepage,
            supersedes,
            origins,
            settings,
            credentials,
            tools,
        } = draft.complete()?;
        let tools = tools.0.into_iter().enumerate();
        let tools = tools.map(|(index, tool)| Tool::new(tool.complete()?, &id, index));
        let tools = tools.collect::<Option<Vec<_>>>()?;
        let by_name = tools.iter().map(|tool| (tool.full_name.clone(), tool.index)).collect();
        Some(Self {
            id,
            version: version.0,
            title,
            description,
            homepage: homepage.map(|homepage| homepage.0),
            supersedes: supersedes.map(|hash| hash.0),
            origins,
            settings: settings.unwrap_or_default(),
            credentials: credentials.unwrap_or_default(),
            tools,
            by_name,
            source,
            sha256,
        })
    }

    /// The connector's name, for good.
    pub fn id(&self) -> &Identifier {
        &self.id
    }

    /// The version, compared for equality only.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What a person calls the connector; clean.
    pub fn title(&self) -> &str {
        self.title.as_str()
    }

    /// What the connector is for; clean.
    pub fn description(&self) -> &str {
        self.description.as_str()
    }

    /// An https URL to show, never fetched.
    pub fn homepage(&self) -> Option<&str> {
        self.homepage.as_deref()
    }

    /// The hash of the manifest that this one replaces.
    pub fn supersedes(&self) -> Option<Sha256> {
        self.supersedes
    }

    /// The origins, in file order.
    pub fn origins(&self) -> &Named<OriginEntry> {
        &self.origins
    }

    /// The settings, in file order.
    pub fn settings(&self) -> &Named<Setting> {
        &self.settings
    }

    /// The credentials, in file order.
    pub fn credentials(&self) -> &Named<Credential> {
        &self.credentials
    }

    /// The tools, in file order.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tool of a full name `id.name`.
    pub fn tool(&self, full_name: &str) -> Option<&Tool> {
        self.by_name.get(full_name).and_then(|index| self.tools.get(*index))
    }

    /// The document as it is written.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// The SHA-256 of the exact bytes.
    pub fn sha256(&self) -> Sha256 {
        self.sha256
    }
}

impl Tool {
    fn new(document: document::Tool, id: &Identifier, index: usize) -> Option<Self> {
        let request = document.request.complete()?;
        Some(Self {
            full_name: format_smolstr!("{id}.{}", document.name),
            name: document.name,
            title: document.title,
            description: document.description,
            effect: document.effect,
            parameters: document.parameters,
            optional_credentials: optional_credentials(&request),
            request,
            response: document.response,
            limits: document.limits.unwrap_or_default(),
            index,
        })
    }

    /// The name within the connector.
    pub fn name(&self) -> &Identifier {
        &self.name
    }

    /// The name that the model calls, `id.name`.
    pub fn full_name(&self) -> &SmolStr {
        &self.full_name
    }

    /// What a person calls the tool; clean.
    pub fn title(&self) -> Option<&str> {
        self.title.as_ref().map(Title::as_str)
    }

    /// What the tool does, for the model; clean.
    pub fn description(&self) -> &str {
        self.description.as_str()
    }

    /// What a call does to the server's data.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// The arguments.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The request of a call.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// What of the answer reaches the model.
    pub fn response(&self) -> &ResponseMap {
        &self.response
    }

    /// The limits as they are written.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The credentials that the request may go without, by name, each once.
    pub fn optional_credentials(&self) -> &[SmolStr] {
        &self.optional_credentials
    }
}

fn optional_credentials(request: &Request) -> Vec<SmolStr> {
    let mut names = BTreeSet::new();
    request.each_slot(&Path::Root, &mut |_, _, slot| match slot {
        AnySlot::Credential(slot) if slot.omit_absent => _ = names.insert(slot.name.as_str().into()),
        AnySlot::Credential(_) | AnySlot::Slot(_) => {}
    });
    names.into_iter().collect()
}
