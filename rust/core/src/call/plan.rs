//! A call that could leave now: its preview, its digest, and what it still needs.

use std::sync::Arc;
use std::time::Duration;

use smol_str::SmolStr;

use super::CheckedCall;
use super::preview::{Preview, PreviewHeader, write_member};
use crate::json::{Sha256, sha256, write_string};
use crate::manifest::{Effect, Tool};
use crate::origin::Scheme;
use crate::request::{Budget, Built, CredentialUse, Given, Method, Redirects, RenderedHeader};
use crate::toolset::Connector;
use crate::{Code, Refusal, TrustLimits};

/// Why a person must confirm a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The tool's effect, by the grant.
    Effect,
    /// Text of another connector came into the conversation before.
    Flow,
}

impl Reason {
    /// The word of the RPC page.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Effect => "effect",
            Self::Flow => "flow.cross_connector",
        }
    }
}

/// What a plan takes from outside the core: randomness, what the conversation has seen, and which credentials are
/// not set.
#[derive(Debug, Clone)]
pub struct PlanSeed {
    /// The plan's own name, random.
    pub id: String,
    /// A random UUID (RFC 9562), where [`Tool`] has `idempotency`; the same on a repeat of the request.
    pub idempotency_key: Option<String>,
    /// The connectors whose text would flow into this call unconfirmed.
    pub flows: Vec<SmolStr>,
    /// Credentials that are not set, of those that the call may go without
    /// ([`Tool::optional_credentials`]). The preview shows the request without them, and so it goes out.
    pub without: Vec<SmolStr>,
}

/// A checked call with its finished request, credentials still placeholders. It dies with its tool set, its
/// grant and its time, and is used once.
pub struct Plan {
    connector: Arc<Connector>,
    name: SmolStr,
    built: Built,
    preview: Arc<Preview>,
    digest: Sha256,
    seed: PlanSeed,
    reasons: Vec<Reason>,
    tool_set: Sha256,
    budget: Budget,
}

impl Plan {
    /// Builds the request of a checked call.
    ///
    /// # Errors
    /// `request.value`, `request.too_large`; `grant.denied` when a credential would go over `http` unallowed.
    pub fn new(call: &CheckedCall, seed: PlanSeed, limits: &TrustLimits) -> Result<Self, Refusal> {
        let connector = Arc::clone(call.connector());
        let Some((tool, origin)) = call.tool().and_then(|tool| Some((tool, connector.origin_of(tool)?)))
        else {
            return Err(Refusal::new(Code::CallNotExported, "the tool is gone"));
        };
        let key = seed.idempotency_key.as_deref();
        let built = tool.request().build(origin, connector.settings(), call.arguments(), key, limits)?;
        let guarded = origin.origin().scheme() == Scheme::Http && !connector.grant().cleartext_credentials;
        if guarded && built.credentials().iter().any(|credential| !seed.leaves_out(credential)) {
            let reason = "the grant does not let a credential go over http";
            return Err(Refusal::new(Code::GrantDenied, reason));
        }
        let mut reasons = Vec::new();
        if connector.grant().confirms(tool.effect()) {
            reasons.push(Reason::Effect);
        }
        if !seed.flows.is_empty() {
            reasons.push(Reason::Flow);
        }
        let preview = Arc::new(preview(&connector, tool, &built, &seed)?);
        let budget = budget(tool, limits);
        let digest = digest(&preview, &seed, &reasons, connector.grant_hash(), call.tool_set());
        let (name, tool_set) = (call.name().clone(), call.tool_set());
        Ok(Self { connector, name, built, preview, digest, seed, reasons, tool_set, budget })
    }

    /// The plan's own name.
    pub fn id(&self) -> &str {
        &self.seed.id
    }

    /// What a person is shown.
    pub fn preview(&self) -> &Arc<Preview> {
        &self.preview
    }

    /// SHA-256 over the preview, the reasons, the grant and the tool set: what a confirmation repeats.
    pub fn digest(&self) -> Sha256 {
        self.digest
    }

    /// Why a person must confirm; empty when none must.
    pub fn needs_confirmation(&self) -> &[Reason] {
        &self.reasons
    }

    /// The connectors whose text flows in with this call.
    pub fn flows(&self) -> &[SmolStr] {
        &self.seed.flows
    }

    /// The connector.
    pub fn connector(&self) -> &Arc<Connector> {
        &self.connector
    }

    /// The tool.
    pub fn tool(&self) -> Option<&Tool> {
        self.connector.manifest().tool(&self.name)
    }

    /// The tool set under which the plan was made.
    pub fn tool_set(&self) -> Sha256 {
        self.tool_set
    }

    /// The bounds of the call.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// About the bytes of memory that the plan takes while it waits: its request and its preview.
    pub fn size(&self) -> usize {
        let Preview { url, headers, body, .. } = &*self.preview;
        let headers: usize = headers.iter().map(|header| size_of_val(header) + header.value.len()).sum();
        size_of::<Self>() + self.built.size() + url.len() + headers + body.as_ref().map_or(0, String::len)
    }

    /// Whether the call changes something at the server.
    pub fn is_write(&self) -> bool {
        self.preview.effect != Effect::Read
    }

    pub(super) fn built(&self) -> &Built {
        &self.built
    }

    pub(super) fn seed(&self) -> &PlanSeed {
        &self.seed
    }
}

impl PlanSeed {
    /// Whether the place of a credential is left out of the request.
    pub(super) fn leaves_out(&self, credential: &CredentialUse) -> bool {
        credential.optional && self.without.iter().any(|name| name == credential.name.as_str())
    }
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan")
            .field("tool", &self.preview.tool)
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

fn preview(connector: &Connector, tool: &Tool, built: &Built, seed: &PlanSeed) -> Result<Preview, Refusal> {
    let shown = built
        .render(|credential| if seed.leaves_out(credential) { Given::Nothing } else { Given::Placeholder })?;
    let header = |header: RenderedHeader| PreviewHeader {
        name: header.name,
        value: header.value,
        fixed: header.fixed,
        credential: header.secret && !header.fixed,
    };
    let origin = connector.origin_of(tool).map(|origin| origin.origin().text().clone());
    Ok(Preview {
        tool: tool.full_name().clone(),
        effect: tool.effect(),
        connector: connector.id().into(),
        source: connector.source().into(),
        origin: origin.unwrap_or_default(),
        method: shown.method,
        url: shown.url.into(),
        headers: shown.headers.into_iter().map(header).collect(),
        body: shown.body.map(text),
        body_credential: shown.secret_body,
        title: connector.manifest().title().into(),
    })
}

/// Bodies are text; what would not be is shown as far as it can be.
fn text(body: Vec<u8>) -> String {
    String::from_utf8(body).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// SHA-256 over the RFC 8785 form of `{"flows", "grant", "needsConfirmation", "plan", "preview", "toolSet"}`.
fn digest(preview: &Preview, seed: &PlanSeed, reasons: &[Reason], grant: Sha256, tool_set: Sha256) -> Sha256 {
    let mut text = String::with_capacity(2_048);
    let list = |items: &mut dyn Iterator<Item = &str>, text: &mut String| {
        for (index, item) in items.enumerate() {
            text.push_str(if index > 0 { "," } else { "" });
            write_string(item, text);
        }
        text.push(']');
    };
    text.push_str("{\"flows\":[");
    list(&mut seed.flows.iter().map(SmolStr::as_str), &mut text);
    text.push_str(",\"grant\":\"");
    grant.write(&mut text);
    text.push_str("\",\"needsConfirmation\":[");
    list(&mut reasons.iter().map(|reason| reason.as_str()), &mut text);
    write_member("plan", &seed.id, &mut text);
    text.push_str(",\"preview\":");
    preview.write_canonical(&mut text);
    text.push_str(",\"toolSet\":\"");
    tool_set.write(&mut text);
    text.push_str("\"}");
    sha256(text)
}

/// The bounds of a call: those of the host, lowered by the manifest.
fn budget(tool: &Tool, limits: &TrustLimits) -> Budget {
    let read = tool.effect() == Effect::Read;
    let repeatable = tool.request().is_repeatable(read);
    let fetches = read && matches!(tool.request().method, Method::Get | Method::Head);
    let asked = tool.limits();
    let decoded = asked.max_response_bytes.and_then(|bytes| usize::try_from(bytes.get()).ok());
    let decoded =
        decoded.map_or(limits.response_decoded_bytes, |bytes| bytes.min(limits.response_decoded_bytes));
    let total = asked.timeout_ms.map_or(limits.total_timeout, |ms| Duration::from_millis(ms.get()));
    let retries =
        asked.retries.map_or(if read { 2 } else { 0 }, |retries| u32::try_from(retries.get()).unwrap_or(3));
    Budget {
        total: total.min(limits.total_timeout_ceiling),
        connect: limits.connect_timeout,
        url_bytes: limits.url_bytes,
        header_bytes: limits.response_header_bytes,
        wire_bytes: decoded.min(limits.response_wire_bytes),
        decoded_bytes: decoded,
        retries: if repeatable { retries } else { 0 },
        redirects: asked.redirects.filter(|_| fetches).unwrap_or(Redirects::None),
    }
}
