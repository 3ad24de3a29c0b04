//! The first-party connectors, held to their wire cases: each call goes through a session to a real server, and
//! the preview, the bytes on the wire and the text for the model are what the case says.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use connector_runtime::core::audit;
use connector_testkit::{Request, Script, Step};
use serde::Deserialize;
use serde_json::{Value, json};

use support::{Network, call, confirmation, execute, grant, http, promised, secret};

/// A case as example/connectors/README.md describes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Case {
    connector: String,
    tool: String,
    why: String,
    grant: Value,
    arguments: Value,
    credentials: Option<BTreeSet<String>>,
    expect: Option<Expect>,
    answer: Option<Reply>,
    #[serde(default)]
    then: Vec<Hop>,
    text: Option<Value>,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    omitted: u64,
    #[serde(default)]
    refused: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Expect {
    method: String,
    target: String,
    headers: BTreeMap<String, String>,
    #[serde(default)]
    absent_headers: Vec<String>,
    body: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reply {
    status: u16,
    #[serde(default)]
    content_type: String,
    #[serde(default)]
    body: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hop {
    expect: Expect,
    answer: Reply,
}

fn connectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../example/connectors"))
}

/// The manifests by id, as bytes and as JSON.
fn manifests() -> BTreeMap<String, (Vec<u8>, Value)> {
    let files = fs::read_dir(connectors()).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let bytes = fs::read(&path).unwrap();
            let json: Value = serde_json::from_slice(&bytes).unwrap();
            let id = json["id"].as_str().unwrap().to_owned();
            assert_eq!(path.file_stem().unwrap().to_str(), Some(&*id), "a file is named like its connector");
            (id, (bytes, json))
        })
        .collect()
}

fn cases(id: &str) -> Vec<Case> {
    let text = fs::read(connectors().join("wire").join(format!("{id}.json"))).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn secret_of(name: &str) -> String {
    format!("the-{name}-of-a-person/42+==")
}

impl Case {
    /// The origin that the tool calls, as the person or the manifest gives it.
    fn origin(&self, manifest: &Value) -> String {
        let tools = manifest["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == self.tool).expect("a tool of the manifest");
        let name = tool["request"]["origin"].as_str().unwrap();
        let given = self.grant["origins"][name].as_str().or(manifest["origins"][name].as_str());
        given.expect("an origin that is fixed or bound").to_owned()
    }

    /// The credentials that are stored, with their secrets.
    fn secrets(&self, manifest: &Value) -> Vec<(String, String)> {
        let named = manifest["credentials"].as_object().into_iter().flatten();
        named
            .filter(|(name, _)| self.credentials.as_ref().is_none_or(|stored| stored.contains(*name)))
            .map(|(name, _)| (name.clone(), secret_of(name)))
            .collect()
    }

    fn replies(&self) -> Vec<&Reply> {
        self.answer.iter().chain(self.then.iter().map(|hop| &hop.answer)).collect()
    }

    fn script(&self) -> Script {
        let mut script = Script::new();
        for Reply { status, content_type, body, headers } in self.replies() {
            let headers: Vec<_> = headers.iter().map(|(n, v)| (n.clone(), v.clone())).collect();
            script.push(Step::ReadRequest);
            script.push(Step::send(http(*status, content_type, &headers, body.as_bytes())));
        }
        // A request too many is seen.
        script.push(Step::ReadRequest);
        script
    }

    async fn hold(&self, bytes: &[u8], manifest: &Value) {
        let mut network = Network::new();
        let server = network.serve(&self.origin(manifest), self.script()).await;
        let session = network.session();
        session.install(bytes, "app", grant(&self.grant), None).unwrap();
        let secrets = self.secrets(manifest);
        for (name, text) in &secrets {
            session.set_credential(&self.connector, name, secret(text)).unwrap();
        }
        let full_name = format!("{}.{}", self.connector, self.tool);
        let contract = session.list().unwrap().contract.to_string();
        let planned = session.plan(&call(&full_name, &self.arguments), Some(&contract), None);
        if self.refused {
            assert!(self.expect.is_none() && self.answer.is_none(), "nothing is sent");
            let refusal = planned.expect_err("a refusal");
            assert!(matches!(refusal.code.as_str(), "call.arguments" | "request.value"), "{refusal}");
            assert!(refusal.advice.is_some(), "the model is told how to mend it");
            assert!(server.log().entries().is_empty());
            return;
        }
        let view = planned.unwrap();
        let confirmed = confirmation(&view);
        if confirmed.is_some() {
            let refusal = session.execute(&view.plan, None, None, None).await.expect_err("a refusal");
            assert_eq!(refusal.code.as_str(), "plan.confirmation_required");
        }
        let answer = execute(&session, &view).await.unwrap();

        let requests = server.log().requests();
        let expected: Vec<_> = self.expect.iter().chain(self.then.iter().map(|hop| &hop.expect)).collect();
        assert_eq!(requests.len(), expected.len(), "requests");
        assert_eq!(server.log().connections(), 1);
        for (request, expect) in requests.iter().zip(expected) {
            expect.hold(request, &secrets);
        }
        let named: Vec<_> = secrets.iter().map(|(name, text)| (&**name, &**text)).collect();
        let wire = String::from_utf8(requests[0].raw.clone()).unwrap();
        assert_eq!(promised(&view.preview, &named), wire, "what the preview shows is what goes on the wire");
        self.hold_answer(&answer);

        let (records, head) = session.audit().unwrap();
        assert!(audit::verify(&records, head));
        let seen = format!(
            "{view:?}{:?}{:?}{answer:?}{records:?}{}",
            view.preview,
            view.preview.to_value(),
            answer.text
        );
        for (_, text) in &secrets {
            assert!(!seen.contains(text.as_str()), "a secret stays out of previews, texts and records");
        }
    }

    fn hold_answer(&self, answer: &connector_runtime::Answer) {
        let status = self.replies().last().unwrap().status;
        let result: Value = serde_json::from_str(&answer.text).unwrap();
        let mut rest = result.as_object().unwrap().clone();
        let full_name = format!("{}.{}", self.connector, self.tool);
        assert_eq!(rest.shift_remove("tool"), Some(json!(full_name)));
        assert_eq!(rest.shift_remove("status"), Some(json!(status)));
        assert_eq!(rest.shift_remove("omitted").unwrap_or(json!(0)), json!(self.omitted));
        assert_eq!(rest.len(), 1, "`data` or `text`: {result}");
        let shown = rest.shift_remove("data").or(rest.shift_remove("text")).unwrap();
        let text = self.text.clone().expect("a text");
        let text = match text {
            Value::String(message) if self.is_error => json!(format!("Error ({status}): {message}")),
            text => text,
        };
        // As text: the order of members counts, and the digits of numbers.
        assert_eq!(shown.to_string(), text.to_string());
        assert_eq!((answer.status, answer.is_error, answer.code), (status, self.is_error, None));
        assert_eq!(answer.truncated, self.omitted > 0);
    }
}

impl Expect {
    fn hold(&self, request: &Request, secrets: &[(String, String)]) {
        assert_eq!((request.method(), request.target()), (self.method.clone(), self.target.clone()));
        for (name, value) in &self.headers {
            let value = secrets.iter().fold(value.clone(), |value, (name, secret)| {
                value.replace(&format!("<credential {name}>"), secret)
            });
            assert_eq!(request.header(name), Some(value), "{name}");
        }
        for name in &self.absent_headers {
            assert_eq!(request.header(name), None, "{name}");
        }
        assert_eq!(String::from_utf8_lossy(request.body()), self.body.as_deref().unwrap_or_default());
        let has_body = self.body.is_some() || !matches!(&*self.method, "GET" | "HEAD" | "DELETE");
        assert_eq!(
            request.header("content-length").is_some(),
            has_body,
            "a length where there may be a body"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_wire_case_holds() {
    let (mut held, mut refused, mut failed) = (0, 0, Vec::new());
    for (id, (bytes, manifest)) in manifests() {
        let mut built = BTreeSet::new();
        for case in cases(&id) {
            let label = format!("{}.{}: {}", case.connector, case.tool, case.why);
            assert_eq!(case.connector, id, "{label}");
            if case.refused {
                refused += 1;
            } else {
                built.insert(case.tool.clone());
            }
            held += 1;
            let (bytes, manifest) = (bytes.clone(), manifest.clone());
            if tokio::spawn(async move { case.hold(&bytes, &manifest).await }).await.is_err() {
                failed.push(label);
            }
        }
        let tools: BTreeSet<_> = manifest["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(built, tools, "{id}: each tool is built by a case");
    }
    println!("wire cases: {} of {held} hold, {refused} of them refusals", held - failed.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(held, 178);
}
