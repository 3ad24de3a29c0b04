//! Servers, sessions and calls as the tests need them: real loopback servers behind public names.

#![allow(dead_code, reason = "each test program uses its part of this")]

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use connector_runtime::core::call::{Preview, ToolCall};
use connector_runtime::core::grant::Grant;
use connector_runtime::core::json::{Numbers, Profile, Sha256, Value as Json, read_strict};
use connector_runtime::core::{Refusal, TrustLimits};
use connector_runtime::hooks::{Lookup, ScriptedResolver};
use connector_runtime::{Answer, ClientOptions, PlanView, Secret, Session, SessionOptions, Trust};
use connector_testkit::{Authority, Script, Server};
use serde_json::{Value, json};

/// Long enough for any machine, short enough for a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A network of loopback servers that stand behind public names and private addresses. The address guard judges
/// the address that a name has here; only then is the connection led to the loopback port.
pub(crate) struct Network {
    authority: Authority,
    names: Vec<(String, Lookup)>,
    map: HashMap<SocketAddr, SocketAddr>,
}

impl Network {
    pub(crate) fn new() -> Self {
        Self { authority: Authority::new().unwrap(), names: Vec::new(), map: HashMap::new() }
    }

    /// A server for an origin: under TLS for `https`, plain for `http`.
    pub(crate) async fn serve(&mut self, origin: &str, script: Script) -> Server {
        let (scheme, rest) = origin.split_once("://").unwrap();
        let host_and_port = rest.split('/').next().unwrap();
        let (host, port) = host_and_port.split_once(':').unwrap_or((host_and_port, ""));
        let port = port.parse().unwrap_or(if scheme == "https" { 443 } else { 80 });
        let server = if scheme == "https" {
            let identity = self.authority.issue(&[host]).unwrap();
            Server::tls(&identity, script).await.unwrap()
        } else {
            Server::plain(script).await.unwrap()
        };
        self.place(host, port, scheme == "http", server.address());
        server
    }

    /// Leads an origin's host to a loopback address: by its own address where it is one, else by one that is
    /// private where `local`, and public otherwise.
    fn place(&mut self, host: &str, port: u16, local: bool, to: SocketAddr) {
        let last = u8::try_from(self.names.len() + 10).unwrap();
        let address = match host.parse::<IpAddr>() {
            Ok(address) => address,
            Err(_) => IpAddr::V4(if local {
                Ipv4Addr::new(192, 168, 1, last)
            } else {
                Ipv4Addr::new(93, 184, 216, last)
            }),
        };
        self.names.push((format!("{host}:{port}"), Lookup::Addresses(vec![SocketAddr::new(address, 0)])));
        self.map.insert(SocketAddr::new(address, port), to);
    }

    pub(crate) fn options(&self) -> SessionOptions {
        let resolver = self.names.iter().fold(ScriptedResolver::new(), |resolver, (name, answer)| {
            resolver.with(name, vec![answer.clone()])
        });
        let mut network = ClientOptions::new(Trust::pem(&self.authority.pem()).unwrap());
        network.resolver = Arc::new(resolver);
        network.connect_map.clone_from(&self.map);
        network.pacing.jitter = Arc::new(|| 0.0);
        let mut options = SessionOptions::new(network);
        // What a busy machine needs is not what the tests are about.
        options.limits.connect_timeout = PATIENCE;
        options.limits.total_timeout = PATIENCE;
        options
    }

    pub(crate) fn session(&self) -> Session {
        Session::open(self.options())
    }
}

/// A session in which nothing is ever sent.
pub(crate) fn offline() -> Session {
    Network::new().session()
}

pub(crate) fn grant(value: &Value) -> Grant {
    read_grant(value).unwrap()
}

pub(crate) fn read_grant(value: &Value) -> Result<Grant, Refusal> {
    let profile = Profile { max_bytes: 1 << 20, max_depth: 32, numbers: Numbers::Exact };
    let value: Json = read_strict(value.to_string().as_bytes(), profile).unwrap();
    Grant::read(&value, &TrustLimits::default())
}

pub(crate) fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned())
}

pub(crate) fn call(name: &str, arguments: &Value) -> ToolCall {
    ToolCall { name: name.to_owned(), arguments: arguments.to_string() }
}

/// Plans a call under the contract of a full export.
pub(crate) fn plan(session: &Session, name: &str, arguments: &Value) -> Result<PlanView, Refusal> {
    let contract = session.list().unwrap().contract.to_string();
    session.plan(&call(name, arguments), Some(&contract), None)
}

/// The confirmation that a plan needs; nothing where it needs none.
pub(crate) fn confirmation(view: &PlanView) -> Option<String> {
    (!view.needs_confirmation.is_empty()).then(|| view.digest.to_string())
}

/// Carries a plan out, confirmed where it must be.
pub(crate) async fn execute(session: &Session, view: &PlanView) -> Result<Answer, Refusal> {
    let confirmation = confirmation(view);
    let running = session.execute(&view.plan, confirmation.as_deref(), None, None);
    tokio::time::timeout(PATIENCE, running).await.expect("an end")
}

/// Plans and carries out.
pub(crate) async fn run(session: &Session, name: &str, arguments: &Value) -> Result<Answer, Refusal> {
    let view = plan(session, name, arguments)?;
    execute(session, &view).await
}

/// The bytes that a preview promises, with these secrets in the places of their names.
pub(crate) fn promised(preview: &Preview, secrets: &[(&str, &str)]) -> String {
    let filled = |text: &str| {
        secrets.iter().fold(text.to_owned(), |text, (name, secret)| {
            text.replace(&format!("<credential {name}>"), secret)
        })
    };
    let target = preview.url.strip_prefix(&preview.origin).unwrap();
    let mut wire = format!("{} {target} HTTP/1.1\r\n", preview.method.as_str());
    for header in &preview.headers {
        wire.push_str(&format!("{}: {}\r\n", header.name, filled(&header.value)));
    }
    wire.push_str("\r\n");
    wire.push_str(&preview.body.as_deref().map(filled).unwrap_or_default());
    wire
}

/// The bytes of an answer.
pub(crate) fn http(status: u16, content_type: &str, headers: &[(String, String)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} Status\r\n");
    if !content_type.is_empty() {
        head.push_str(&format!("Content-Type: {content_type}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if status != 204 {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    [format!("{head}\r\n").as_bytes(), body].concat()
}

/// A JSON answer.
pub(crate) fn ok(body: &Value) -> Vec<u8> {
    http(200, "application/json", &[], body.to_string().as_bytes())
}

/// The hash of a text.
pub(crate) fn hash(text: &str) -> Sha256 {
    connector_runtime::core::json::sha256(text)
}

/// The result object of an answer.
pub(crate) fn result(answer: &Answer) -> Value {
    serde_json::from_str(&answer.text).unwrap_or(json!(null))
}
