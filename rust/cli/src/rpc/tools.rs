//! The methods of a session that change what is installed, or tell of it.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_core::grant::Grant;
use connector_core::json::{Object, Sha256, Value};
use connector_core::shape::{Integer, List};
use connector_core::signature::{Policies, Policy, PublicKey, TrustedKeys};
use connector_core::toolset::Connector;
use connector_core::{Code, Refusal, record};
use connector_runtime::store::{HostFile, StoreKey, StoreOptions, Write};
use connector_runtime::{Installed, ListedTool, Offer, Reviewed, Session, SessionOptions};
use smol_str::SmolStr;

use super::asking::AskingStore;
use super::message::{Failure, object};
use super::server::Server;
use super::session::{Open, find, find_open, hash};
use crate::options::open_options;

record! {
    pub(super) struct OpenParams {
        store: Option<SmolStr> = "store",
        store_key: Option<SmolStr> = "storeKey",
        seen_counter: Option<Integer<0, 9_007_199_254_740_991>> = "seenCounter",
        limits: Option<Value> = "limits",
        trusted_keys: Option<List<TrustedKey, 0, 512>> = "trustedKeys",
        policies: Option<Value> = "policies",
        ask_credentials: bool = "askCredentials",
        test_roots: Option<SmolStr> = "testRoots",
        test_resolve: Option<Value> = "testResolve",
        test_connect: Option<Value> = "testConnect",
    }
}

record! {
    struct TrustedKey {
        key: SmolStr = "key",
        ids: List<SmolStr, 0, 512> = "ids",
    }
}

record! {
    pub(super) struct Install {
        session: SmolStr = "session",
        text: SmolStr = "text",
        source: SmolStr = "source",
        grant: Option<Grant> = "grant",
        signature: Option<SmolStr> = "signature",
        contract: Option<SmolStr> = "contract",
        approval: Option<SmolStr> = "approval",
    }
}

record! {
    pub(super) struct SetGrant {
        session: SmolStr = "session",
        id: SmolStr = "id",
        grant: Grant = "grant",
        approval: Option<SmolStr> = "approval",
    }
}

record! {
    pub(super) struct Remove {
        session: SmolStr = "session",
        id: SmolStr = "id",
        contract: Option<SmolStr> = "contract",
    }
}

record! {
    pub(super) struct Review {
        session: SmolStr = "session",
        text: Option<SmolStr> = "text",
        source: Option<SmolStr> = "source",
        id: Option<SmolStr> = "id",
        grant: Option<Grant> = "grant",
        signature: Option<SmolStr> = "signature",
    }
}

record! {
    pub(super) struct VerifyAudit {
        session: SmolStr = "session",
        head: Option<SmolStr> = "head",
    }
}

/// What this side keeps of a store whose host keeps nothing itself.
pub(super) struct Host(Mutex<Followed>);

struct Followed {
    file: HostFile,
    /// Whether the audit trail led to the kept head when the store was opened. A head of a trail that did not is not kept:
    /// the damage is told again, until a person has looked at it.
    whole: bool,
}

impl Host {
    /// Keeps what the session sees now. What cannot be kept is kept with the next change.
    pub(super) fn keep(&self, session: &Session) {
        if let (Ok(Some(counter)), Ok(head)) = (session.counter(), session.audit_head()) {
            let Followed { file, whole } = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let head = if *whole { head } else { file.audit_head() };
            let _with_the_next_change = file.keep(counter, head);
        }
    }

    /// The head that was kept last.
    pub(super) fn audit_head(&self) -> Sha256 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).file.audit_head()
    }

    /// Somebody named a head that the trail leads to: from here on it is followed from there.
    fn follow(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).whole = true;
    }
}

/// `session.open`
pub(super) fn open(server: &mut Server, params: &OpenParams) -> Result<Value, Failure> {
    let asks_for_hooks =
        params.test_roots.is_some() || params.test_resolve.is_some() || params.test_connect.is_some();
    if asks_for_hooks && !(cfg!(feature = "test-hooks") && server.hooks) {
        return Err(Failure::Params(
            "test members are offered by `connector rpc --test-hooks` of a test build only".into(),
        ));
    }
    let options = open_options(
        params.limits.as_ref(),
        params.test_roots.as_deref(),
        params.test_resolve.as_ref(),
        params.test_connect.as_ref(),
    );
    let mut options = options.map_err(Failure::Params)?;
    options.trusted = trusted(params)?;
    options.policies = policies(params.policies.as_ref())?;
    let name = format!("s{}", server.opened + 1);
    if params.ask_credentials {
        options.credentials = Arc::new(AskingStore::new(name.clone(), server.answers.clone()));
    }
    let mut members = vec![("session", Value::from(name.as_str()))];
    let (session, host) = match &params.store {
        None if params.store_key.is_some() || params.seen_counter.is_some() => {
            return Err(Failure::Params("`storeKey` and `seenCounter` go with `store`".into()));
        }
        None => (Session::open(options), None),
        Some(folder) => {
            let (session, host) = open_store(options, Path::new(folder.as_str()), params)?;
            let unkept = host.as_ref().and_then(|host| session.verify_audit(Some(host.audit_head())).err());
            if let (Some(host), None) = (&host, &unkept) {
                host.follow();
            }
            members.extend(state_of(&session, unkept.as_ref())?);
            (session, host)
        }
    };
    server.opened += 1;
    server.sessions.insert(name, Open::new(Arc::new(session), host));
    Ok(object(members))
}

fn open_store(
    options: SessionOptions,
    folder: &Path,
    params: &OpenParams,
) -> Result<(Session, Option<Host>), Failure> {
    let seen = params.seen_counter.as_ref().map(|seen| seen.get());
    let (key, seen, host) = if let Some(text) = &params.store_key {
        let bytes = STANDARD.decode(text.as_str()).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let Some(bytes) = bytes else {
            return Err(Failure::Params("/storeKey: expected 32 bytes in base64".into()));
        };
        (StoreKey::new(bytes), seen, None)
    } else {
        let file = HostFile::of(folder)?;
        (file.key(), Some(seen.unwrap_or(0).max(file.counter())), Some(file))
    };
    let session = Session::open_store(options, StoreOptions { seen, ..StoreOptions::new(folder, key) })?;
    Ok((session, host.map(|file| Host(Mutex::new(Followed { file, whole: false })))))
}

/// What a host should know about a store that was opened; `more` damage than the session tells by itself.
fn state_of(session: &Session, more: Option<&Refusal>) -> Result<Vec<(&'static str, Value)>, Failure> {
    let interrupted = session.writes()?.into_iter().filter(Write::is_interrupted);
    Ok(vec![
        ("counter", session.counter()?.map_or(Value::Null, Value::from)),
        ("broken", broken(session)?),
        ("interrupted", Value::Array(interrupted.map(|write| write_value(&write)).collect())),
        ("damage", Value::Array(session.damage()?.iter().chain(more).map(refusal_value).collect())),
    ])
}

fn trusted(params: &OpenParams) -> Result<TrustedKeys, Failure> {
    let mut trusted = TrustedKeys::new();
    for entry in params.trusted_keys.iter().flat_map(|keys| &keys.0) {
        trusted = trusted.trust(PublicKey::parse(&entry.key)?, entry.ids.0.iter().cloned());
    }
    Ok(trusted)
}

/// `{source: {"signature": "required" or "optional"}}`; what is not named is optional.
fn policies(value: Option<&Value>) -> Result<Policies, Failure> {
    let mut policies = Policies::default();
    let Some(value) = value else { return Ok(policies) };
    let usage = |at: &str| {
        Failure::Params(format!("/policies{at}: expected `{{\"signature\": \"required\" or \"optional\"}}`"))
    };
    for (source, policy) in value.as_object().ok_or_else(|| usage(""))?.iter() {
        let at = format!("/{source}");
        let only = policy.as_object().filter(|members| members.len() == 1);
        let word = only.and_then(|members| members.get("signature")).and_then(Value::as_str);
        let policy = match word {
            Some("required") => Policy::Required,
            Some("optional") => Policy::Optional,
            _ => return Err(usage(&at)),
        };
        policies.sources.insert(source.clone(), policy);
    }
    Ok(policies)
}

/// `session.install`
pub(super) fn install(server: &Server, params: &Install) -> Result<Value, Failure> {
    let open = find_open(server, &params.session)?;
    let (grant, signature) = (params.grant.clone().unwrap_or_default(), params.signature.as_deref());
    let offer = Offer { manifest: params.text.as_bytes(), source: &params.source, grant, signature };
    let installed =
        open.session.install_offer(&offer, params.contract.as_deref(), params.approval.as_deref());
    open.keep();
    let Installed { contract, tools } = installed.map_err(|refusal| about(refusal, &params.text))?;
    let tool =
        |(name, effect): (String, Sha256)| object([("name", name.into()), ("effectHash", hash(effect))]);
    Ok(object([("contract", hash(contract)), ("tools", Value::Array(tools.into_iter().map(tool).collect()))]))
}

/// The findings of other codes speak of the grant, which is no text of its own.
fn about(refusal: Refusal, text: &str) -> Failure {
    match refusal.code {
        Code::ManifestInvalid => Failure::about(refusal, text.as_bytes()),
        _ => refusal.into(),
    }
}

/// `session.grant`
pub(super) fn set_grant(server: &Server, params: SetGrant) -> Result<Value, Failure> {
    let SetGrant { session, id, grant, approval } = params;
    let open = find_open(server, &session)?;
    let installed = open.session.set_grant_approved(&id, grant, approval.as_deref());
    open.keep();
    Ok(object([("contract", hash(installed?.contract))]))
}

/// `session.remove`
pub(super) fn remove(server: &Server, params: &Remove) -> Result<Value, Failure> {
    let open = find_open(server, &params.session)?;
    let contract = open.session.remove(&params.id, params.contract.as_deref());
    open.keep();
    Ok(object([("contract", hash(contract?))]))
}

/// `session.review`: of a manifest, or of another grant for an installed connector.
pub(super) fn review(server: &Server, params: Review) -> Result<Value, Failure> {
    let Review { session, text, source, id, grant, signature } = params;
    let session = find(server, &session)?;
    let grant = grant.unwrap_or_default();
    let reviewed = match (&text, &source, &id) {
        (Some(text), Some(source), None) => {
            let offer = Offer { manifest: text.as_bytes(), source, grant, signature: signature.as_deref() };
            session.review(&offer).map_err(|refusal| about(refusal, text))?
        }
        (None, None, Some(id)) if signature.is_none() => session.review_grant(id, grant)?,
        _ => return Err(Failure::Params("give `text` and `source`, or `id` and `grant`".into())),
    };
    Ok(review_value(&reviewed))
}

/// A review in the shape of an answer.
pub(crate) fn review_value(reviewed: &Reviewed) -> Value {
    let changes = reviewed.changes.iter().map(connector_core::toolset::Change::to_value).collect();
    object([
        ("changes", Value::Array(changes)),
        ("needsApproval", reviewed.needs_approval.into()),
        ("approval", reviewed.approval.as_str().into()),
    ])
}

/// `session.list`, also for the command line.
pub(crate) fn list(session: &Session) -> Result<Value, Refusal> {
    let listed = session.list()?;
    let connector = |connector: &Arc<Connector>| {
        let manifest = connector.manifest();
        let members = [
            ("id", Some(connector.id().into())),
            ("version", Some(manifest.version().into())),
            ("title", Some(manifest.title().into())),
            ("source", Some(connector.source().into())),
            ("key", connector.key().map(Value::from)),
            ("sha256", Some(hash(manifest.sha256()))),
        ];
        object(members.into_iter().filter_map(|(name, value)| Some((name, value?))))
    };
    let tool = |tool: &ListedTool| {
        object([("name", tool.name.as_str().into()), ("effectHash", hash(tool.effect_hash))])
    };
    let mut members = vec![
        ("contract", hash(listed.contract)),
        ("connectors", Value::Array(listed.connectors.iter().map(connector).collect())),
        ("tools", Value::Array(listed.tools.iter().map(tool).collect())),
    ];
    if !listed.broken.is_empty() {
        members.push(("broken", broken(session)?));
    }
    Ok(object(members))
}

fn broken(session: &Session) -> Result<Value, Refusal> {
    let broken = session.list()?.broken;
    let each = broken.iter().map(|(id, refusal)| {
        let why = [("code", refusal.code.as_str().into()), ("reason", refusal.reason.as_str().into())];
        object([("id", Value::String(id.clone()))].into_iter().chain(why))
    });
    Ok(Value::Array(each.collect()))
}

fn refusal_value(refusal: &Refusal) -> Value {
    object([("code", refusal.code.as_str().into()), ("reason", refusal.reason.as_str().into())])
}

/// `audit.read`, also for the command line.
pub(crate) fn audit(session: &Session) -> Result<Value, Refusal> {
    let (records, head) = session.audit()?;
    let records = records.iter().map(connector_core::audit::Record::to_value).collect();
    Ok(object([("records", Value::Array(records)), ("head", hash(head))]))
}

/// `audit.verify`
pub(super) fn verify_audit(server: &Server, params: &VerifyAudit) -> Result<Value, Failure> {
    let head = params.head.as_deref().map(|head| {
        Sha256::parse(head).ok_or_else(|| Failure::Params("/head: expected a hash in hexadecimal".into()))
    });
    let (head, open) = (head.transpose()?, find_open(server, &params.session)?);
    let verified = open.session.verify_audit(head.or_else(|| open.host().map(Host::audit_head)))?;
    if let (Some(host), Some(_)) = (open.host(), head) {
        host.follow();
        open.keep();
    }
    Ok(object([
        ("dropped", verified.dropped.into()),
        ("kept", verified.kept.into()),
        ("head", hash(verified.head)),
    ]))
}

/// `ledger.read`: the writes that the store remembers.
pub(super) fn ledger(session: &Session) -> Result<Value, Failure> {
    let writes = session.writes()?.iter().map(write_value).collect();
    Ok(object([("writes", Value::Array(writes))]))
}

fn write_value(write: &Write) -> Value {
    let members: Object = [
        ("plan", hash(write.plan)),
        ("tool", Value::String(write.tool.clone())),
        ("time", write.time_ms.into()),
        ("outcome", write.outcome.as_str().into()),
        ("ended", write.ended.into()),
    ]
    .into_iter()
    .collect();
    Value::Object(members)
}
