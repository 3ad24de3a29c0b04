//! What a scenario plays on: its servers and the trap, its resolver, its session.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use connector_runtime::core::grant::Grant;
use connector_runtime::core::json::{Numbers, Profile, read_strict};
use connector_runtime::core::{Refusal, TrustLimits};
use connector_runtime::hooks::{Lookup, ScriptedResolver};
use connector_runtime::{ClientOptions, Session, SessionOptions, Trust};
use connector_testkit::scenario::{Answer, Call, Scenario, ServerPlan, Tls, merge};
use connector_testkit::{Authority, Identity, Server, Step};
use serde_json::Value;

use crate::canary::Canaries;
use crate::store::ScriptedStore;

/// An address that names without a script have: public, and led to the trap.
const ELSEWHERE: &str = "93.184.216.99";

/// The certificates of a kit.
pub(crate) struct Certificates {
    pub(crate) trust: Trust,
    identities: Vec<(Tls, Identity)>,
}

impl Certificates {
    pub(crate) fn new() -> Result<Self, String> {
        Self::make().map_err(|error| error.to_string())
    }

    fn make() -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let (authority, stranger) = (Authority::new()?, Authority::named("A stranger")?);
        let name = &["api.example", "other.example"];
        let identities = vec![
            (Tls::Good, authority.issue(name)?),
            (Tls::WrongName, authority.issue(&["wrong.example"])?),
            (Tls::Expired, authority.issue_expired(name)?),
            (Tls::NotYetValid, authority.issue_early(name)?),
            (Tls::SelfSigned, Identity::self_signed(name)?),
            (Tls::UnknownAuthority, stranger.issue(name)?),
        ];
        Ok(Self { trust: Trust::pem(&authority.pem())?, identities })
    }

    async fn serve(&self, plan: &ServerPlan) -> Result<Server, String> {
        let scripts = plan.connections.clone();
        match self.identities.iter().find(|(tls, _)| *tls == plan.tls) {
            Some((_, identity)) => {
                Server::tls_each(identity, scripts).await.map_err(|error| error.to_string())
            }
            None => Server::plain_each(scripts).await.map_err(|error| error.to_string()),
        }
    }
}

/// One connector of a scenario.
#[derive(Debug, Clone)]
pub struct Part {
    /// Its id.
    pub id: String,
    /// The name of its first tool.
    pub tool: String,
    /// The manifest.
    pub manifest: Value,
    /// The grant.
    pub grant: Value,
}

/// Servers, resolver and connectors of one scenario.
pub(crate) struct Stage {
    pub(crate) servers: Vec<Server>,
    pub(crate) trap: Server,
    pub(crate) resolver: Arc<ScriptedResolver>,
    pub(crate) names: Vec<String>,
    pub(crate) parts: Vec<Part>,
    /// Which no text for a model may hold.
    pub(crate) secrets: Canaries,
    /// What was said so far, in which neither a secret nor an argument may stand.
    pub(crate) said: Vec<String>,
}

impl Stage {
    /// Sets the stage, and gives the options of the session that plays on it.
    pub(crate) async fn set(
        certificates: &Certificates,
        scenario: &Scenario,
    ) -> Result<(Self, SessionOptions), String> {
        let trap = Server::plain(vec![Step::ReadSome]).await;
        let trap = trap.map_err(|error| error.to_string())?;
        let mut servers = Vec::new();
        let mut map = HashMap::new();
        for plan in &scenario.servers {
            let server = certificates.serve(plan).await?;
            for address in &plan.at {
                map.insert(socket(address)?, server.address());
            }
            servers.push(server);
        }

        let names = names(scenario)?;
        let elsewhere = Lookup::addresses([ELSEWHERE])?;
        let resolver = names.iter().try_fold(
            ScriptedResolver::new().otherwise(vec![elsewhere]),
            |resolver, (name, answers)| {
                let answers = answers.iter().map(lookup).collect::<Result<_, _>>()?;
                Ok::<_, String>(resolver.with(name, answers))
            },
        )?;
        let resolver = Arc::new(resolver);
        let store = ScriptedStore::default();
        let mut secrets = Canaries::default();
        let mut parts = Vec::new();
        for connector in &scenario.connectors {
            let (manifest, grant, given) = connector.whole()?;
            let part = Part::new(manifest, grant);
            for secret in &given {
                secrets.add(secret);
            }
            store.add(&part.id, &given);
            parts.push(part);
        }
        let mut network = ClientOptions::new(certificates.trust.clone());
        network.resolver = resolver.clone();
        network.connect_map = map;
        network.connect_elsewhere = Some(trap.address());
        network.pacing.jitter = Arc::new(|| 0.0);
        let mut options = SessionOptions::new(network);
        options.credentials = Arc::new(store);
        for (name, value) in &scenario.limits {
            options.limits.set(name, *value).map_err(|fault| format!("limit `{name}`: {fault}"))?;
        }
        let said = vec![format!("{options:?}")];
        let names = names.into_iter().map(|(name, _)| name).collect();
        Ok((Self { servers, trap, resolver, names, parts, secrets, said }, options))
    }
}

impl Part {
    fn new(manifest: Value, grant: Value) -> Self {
        let word =
            |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { id: word("/id"), tool: word("/tools/0/name"), manifest, grant }
    }

    /// The full name of the tool of a call.
    pub fn tool_of(&self, call: &Call) -> String {
        format!("{}.{}", self.id, call.tool.as_ref().unwrap_or(&self.tool))
    }

    /// The grant that a call has put into force before it, if it has.
    pub fn regranted(&self, call: &Call) -> Option<Value> {
        let mut grant = self.grant.clone();
        merge(&mut grant, call.regranted.as_ref()?);
        Some(grant)
    }

    pub(crate) fn install(&self, session: &Session) -> Result<(), Refusal> {
        let manifest = self.manifest.to_string();
        session
            .install(manifest.as_bytes(), "kit", read_grant(&self.grant, session.limits())?, None)
            .map(drop)
    }

    /// What happens to the connector before a call.
    pub(crate) fn before(&self, session: &Session, call: &Call) -> Result<(), String> {
        let changed = || {
            if call.reinstalled {
                let contract = session.list()?.contract.to_string();
                session.remove(&self.id, Some(&contract))?;
                self.install(session)?;
            }
            if let Some(grant) = self.regranted(call) {
                session.set_grant(&self.id, read_grant(&grant, session.limits())?)?;
            }
            Ok(())
        };
        changed().map_err(|refusal: Refusal| format!("before a call: {}", refusal.reason))
    }
}

/// Reads a grant of a scenario.
///
/// # Errors
/// `grant.invalid`.
pub fn read_grant(grant: &Value, limits: &TrustLimits) -> Result<Grant, Refusal> {
    let profile = Profile { max_bytes: 1 << 20, max_depth: 32, numbers: Numbers::Exact };
    Grant::read(&read_strict(grant.to_string().as_bytes(), profile)?, limits)
}

/// The script of the resolver; absent, each server's name leads to its first address.
fn names(scenario: &Scenario) -> Result<Vec<(String, Vec<Answer>)>, String> {
    if !scenario.names.is_empty() {
        return Ok(scenario.names.clone().into_iter().collect());
    }
    let mut names = Vec::new();
    for plan in &scenario.servers {
        let address = socket(plan.at.first().ok_or("a server has no address")?)?;
        let host = if address.port() == 443 { "api.example" } else { "box.local" };
        let answer = Answer::Addresses(vec![address.ip().to_string()]);
        names.push((format!("{host}:{}", address.port()), vec![answer]));
    }
    Ok(names)
}

fn lookup(answer: &Answer) -> Result<Lookup, String> {
    match answer {
        Answer::Addresses(addresses) => Lookup::addresses(addresses),
        Answer::Word(word) if word == "nxdomain" => Ok(Lookup::NotFound),
        Answer::Word(word) if word == "hang" => Ok(Lookup::Hang),
        Answer::Word(word) => Err(format!("`{word}` is no answer of a resolver")),
    }
}

fn socket(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("`{text}` is no `ip:port`"))
}
