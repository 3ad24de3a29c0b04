//! Servers, sessions and calls as the tests need them: real loopback servers behind public names.

#![allow(dead_code, reason = "each test program uses its part of this")]

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use connector_runtime::core::audit::Record;
use connector_runtime::core::call::{Preview, ToolCall};
use connector_runtime::core::grant::Grant;
use connector_runtime::core::json::{Numbers, Profile, Value as Json, read_strict};
use connector_runtime::core::{Refusal, TrustLimits};
use connector_runtime::hooks::{Lookup, ScriptedResolver};
use connector_runtime::{Answer, ClientOptions, Installed, PlanView, Secret, Session, SessionOptions, Trust};
use connector_testkit::{Authority, Event, Request, Script, Server, Step};
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

    /// A plain server with a script for each connection in turn; the last serves all further ones.
    pub(crate) async fn serve_each(&mut self, origin: &str, scripts: Vec<Script>) -> Server {
        let server = Server::plain_each(scripts).await.unwrap();
        self.place(origin.strip_prefix("http://").unwrap(), 80, true, server.address());
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

    /// An origin whose name is looked up for ever.
    pub(crate) fn hang(&mut self, origin: &str) {
        let (_, host) = origin.split_once("://").unwrap();
        self.names.push((format!("{host}:80"), Lookup::Hang));
    }

    /// An origin whose name leads to an address that no grant opens.
    pub(crate) fn forbidden(&mut self, origin: &str) {
        let (_, host) = origin.split_once("://").unwrap();
        let metadata = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)), 0);
        self.names.push((format!("{host}:80"), Lookup::Addresses(vec![metadata])));
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

/// A session in which nothing can be sent.
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
    promised_in(preview, secrets, secrets)
}

/// The same where secrets stand otherwise in headers than in the body.
pub(crate) fn promised_in(preview: &Preview, in_head: &[(&str, &str)], in_body: &[(&str, &str)]) -> String {
    let filled = |text: &str, secrets: &[(&str, &str)]| {
        secrets.iter().fold(text.to_owned(), |text, (name, secret)| {
            text.replace(&format!("<credential {name}>"), secret)
        })
    };
    let target = preview.url.strip_prefix(&*preview.origin).unwrap();
    let body = preview.body.as_deref().map(|body| filled(body, in_body)).unwrap_or_default();
    let mut wire = format!("{} {target} HTTP/1.1\r\n", preview.method.as_str());
    for header in &preview.headers {
        // The one value that a preview cannot know: the length of a body in which a secret will stand.
        let value = header.value.replace("<length with credential>", &body.len().to_string());
        wire.push_str(&format!("{}: {}\r\n", header.name, filled(&value, in_head)));
    }
    wire + "\r\n" + &body
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

/// The result object of an answer.
pub(crate) fn result(answer: &Answer) -> Value {
    serde_json::from_str(&answer.text).unwrap()
}

/// A script that answers every request of a connection by a function.
pub(crate) fn answering(answer: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> Script {
    vec![Step::ReadRequest, Step::Answer(Arc::new(answer)), Step::Restart]
}

/// A script that answers every request with an empty object.
pub(crate) fn fine() -> Script {
    answering(|_| ok(&json!({})))
}

/// A script that reads a request and never answers.
pub(crate) fn silent() -> Script {
    vec![Step::ReadRequest, Step::AwaitClose]
}

/// A connector with a read, a write and a destructive tool on the person's own server.
pub(crate) fn manifest(id: &str) -> Value {
    let tool = |name: &str, effect: &str, method: &str, request: Value| {
        let mut tool = json!({
            "name": name, "description": format!("{name} a note."), "effect": effect,
            "parameters": { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] },
            "request": { "method": method, "origin": "server", "path": [name] }
        });
        for (member, value) in request.as_object().unwrap() {
            tool["request"][member] = value.clone();
        }
        tool
    };
    json!({
        "manifestVersion": 1, "id": id, "version": "1", "title": "Notes", "description": "Notes.",
        "origins": { "server": { "userProvided": { "title": "Your server", "localNetwork": true } } },
        "tools": [
            tool("find", "read", "GET", json!({ "query": { "text": { "$param": "text" } } })),
            tool("add", "write", "POST", json!({ "body": { "json": { "text": { "$param": "text" } } } })),
            tool("drop", "destructive", "DELETE", json!({ "path": ["drop", { "$param": "text" }] }))
        ]
    })
}

/// The manifest with a bearer token on every tool.
pub(crate) fn with_token(id: &str, slot: &Value) -> Value {
    let mut manifest = manifest(id);
    manifest["credentials"] = json!({ "token": { "title": "Token", "origin": "server" } });
    if slot["absent"] == "omit" {
        manifest["credentials"]["token"]["optional"] = json!(true);
    }
    for tool in manifest["tools"].as_array_mut().unwrap() {
        tool["request"]["headers"] = json!({ "Authorization": slot });
    }
    manifest
}

/// A bearer token that every call needs.
pub(crate) fn bearer() -> Value {
    json!({ "$credential": "token", "scheme": "Bearer" })
}

/// The origin that tests bind to the server of a connector.
pub(crate) fn origin(id: &str) -> String {
    format!("http://{id}.local")
}

/// The least grant that works: the origin is bound, on the local network.
pub(crate) fn least(id: &str) -> Value {
    json!({ "origins": { "server": origin(id) }, "localNetwork": true })
}

/// The least grant with more members.
pub(crate) fn least_and(id: &str, more: &Value) -> Value {
    let mut grant = least(id);
    for (member, value) in more.as_object().unwrap() {
        grant[member] = value.clone();
    }
    grant
}

pub(crate) fn install(session: &Session, manifest: &Value, granted: &Value) -> Result<Installed, Refusal> {
    session.install(manifest.to_string().as_bytes(), "app", grant(granted), None)
}

/// A session with one connector, `notes`, and its server.
pub(crate) struct Stage {
    pub(crate) session: Session,
    pub(crate) server: Server,
}

impl Stage {
    pub(crate) async fn new(script: Script) -> Self {
        Self::of(&manifest("notes"), &least("notes"), script).await
    }

    /// One whose every call needs a token, which is set.
    pub(crate) async fn with_token(secret: &str, script: Script) -> Self {
        let granted = least_and("notes", &json!({ "cleartextCredentials": true }));
        let stage = Self::of(&with_token("notes", &bearer()), &granted, script).await;
        stage.session.set_credential("notes", "token", self::secret(secret)).unwrap();
        stage
    }

    pub(crate) async fn of(manifest: &Value, granted: &Value, script: Script) -> Self {
        let mut network = Network::new();
        let server = network.serve(&origin("notes"), script).await;
        let session = network.session();
        install(&session, manifest, granted).unwrap();
        Self { session, server }
    }

    /// Waits until the server has read a whole request.
    pub(crate) async fn request(&self) -> Request {
        let entry = self.server.log().wait(PATIENCE, |entry| matches!(entry.event, Event::Request(_))).await;
        let Event::Request(request) = entry.expect("a request").event else { unreachable!() };
        request
    }

    /// Waits until the client has closed a connection.
    pub(crate) async fn closed(&self) {
        let closed = self.server.log().wait(PATIENCE, |entry| entry.event == Event::PeerClosed).await;
        assert!(closed.is_some(), "the socket is closed");
    }
}

/// The code of a refusal.
pub(crate) fn code<T>(outcome: Result<T, Refusal>) -> &'static str {
    outcome.err().expect("a refusal").code.as_str()
}

/// Subjects and outcomes of the audit records.
pub(crate) fn outcomes(session: &Session) -> Vec<(String, String)> {
    let (records, _) = session.audit().unwrap();
    let pair = |record: &Record| {
        let event = &record.event;
        (format!("{} {}", event.deed.as_str(), event.subject), event.outcome.to_string())
    };
    records.iter().map(pair).collect()
}
