//! The cases of bindings/cases through the public API, as every other language runs them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use connector_ffi::{
    CheckReport, ConnectorError, ConnectorRuntime, Effect, Envelope, Grant, InstallOutcome, Installation,
    ModelCapabilities, Review, RuntimeOptions, SecretBytes, SettingValue, Severity, ToolChoice,
};
use serde_json::{Value, json};

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings/cases")
}

/// A runtime and what the steps before left.
struct Player {
    runtime: Arc<ConnectorRuntime>,
    contract: String,
    approval: String,
}

fn text(step: &Value, name: &str) -> Option<String> {
    step.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn need(step: &Value, name: &str) -> String {
    text(step, name).unwrap_or_else(|| panic!("{step} lacks {name}"))
}

fn flag(step: &Value, name: &str) -> bool {
    step.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn strings(value: Option<&Value>) -> Option<Vec<String>> {
    Some(value?.as_array()?.iter().map(|item| item.as_str().unwrap().to_owned()).collect())
}

fn manifest(step: &Value) -> Vec<u8> {
    match text(step, "text") {
        Some(text) => text.into_bytes(),
        None => std::fs::read(folder().join(format!("manifests/{}.json", need(step, "manifest")))).unwrap(),
    }
}

fn grant(step: &Value) -> Grant {
    let none = json!({});
    let grant = step.get("grant").unwrap_or(&none);
    let members = |name: &str| grant.get(name).and_then(Value::as_object).into_iter().flatten();
    let setting = |value: &Value| match value {
        Value::Bool(value) => SettingValue::Flag { value: *value },
        Value::Number(number) => match number.as_i64() {
            Some(value) => SettingValue::Integer { value },
            None => SettingValue::Decimal { value: number.as_f64().unwrap() },
        },
        other => SettingValue::Text { value: other.as_str().unwrap().to_owned() },
    };
    let effect = |word: String| match word.as_str() {
        "read" => Effect::Read,
        "write" => Effect::Write,
        "destructive" => Effect::Destructive,
        other => panic!("no effect {other}"),
    };
    Grant {
        origins: members("origins")
            .map(|(name, url)| (name.clone(), url.as_str().unwrap().to_owned()))
            .collect(),
        settings: members("settings").map(|(name, value)| (name.clone(), setting(value))).collect(),
        local_network: flag(grant, "localNetwork"),
        overlay_network: flag(grant, "overlayNetwork"),
        loopback: flag(grant, "loopback"),
        cleartext_credentials: flag(grant, "cleartextCredentials"),
        confirm: strings(grant.get("confirm")).map(|words| words.into_iter().map(effect).collect()),
        flows: strings(grant.get("flows")).unwrap_or_default(),
        only: strings(grant.get("only")),
    }
}

fn checked(report: CheckReport) -> Value {
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            let severity = if finding.severity == Severity::Error { "error" } else { "warning" };
            json!({ "rule": finding.rule, "severity": severity, "pointer": finding.pointer, "line": finding.line,
                    "column": finding.column })
        })
        .collect();
    let manifest = report.manifest;
    let (id, sha256) = manifest.map(|manifest| (manifest.id, manifest.sha256)).unzip();
    json!({ "id": id, "sha256": sha256, "findings": findings })
}

fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "read",
        Effect::Write => "write",
        Effect::Destructive => "destructive",
    }
}

impl Player {
    fn installed(&mut self, outcome: InstallOutcome) -> Value {
        self.contract = outcome.contract;
        let tools: HashMap<String, String> =
            outcome.tools.into_iter().map(|tool| (tool.name, tool.effect_hash)).collect();
        json!({ "tools": tools })
    }

    fn reviewed(&mut self, review: Review) -> Value {
        self.approval = review.approval;
        let changes: Vec<Value> = review
            .changes
            .iter()
            .map(|change| json!({ "kind": change.kind, "tool": change.tool, "pointer": change.pointer }))
            .collect();
        json!({ "changes": changes, "needsApproval": review.needs_approval })
    }

    fn play(&mut self, step: &Value) -> Result<Value, ConnectorError> {
        let runtime = Arc::clone(&self.runtime);
        let kept = |name: &str, kept: &str| match step.get(name) {
            Some(Value::String(word)) if word == "kept" => Some(kept.to_owned()),
            Some(Value::Bool(true)) => Some(kept.to_owned()),
            _ => None,
        };
        let (contract, approval) = (kept("contract", &self.contract), kept("approved", &self.approval));
        let installation = || Installation {
            manifest: manifest(step),
            source: text(step, "source").unwrap_or_else(|| "test".to_owned()),
            grant: grant(step),
            signature: None,
        };
        Ok(match need(step, "do").as_str() {
            "check" => checked(runtime.check(manifest(step))?),
            "install" => {
                let outcome = runtime.install(installation(), contract, approval)?;
                self.installed(outcome)
            }
            "review" => {
                let review = runtime.review(installation())?;
                self.reviewed(review)
            }
            "setGrant" => {
                let outcome = runtime.set_grant(need(step, "id"), grant(step), approval)?;
                self.installed(outcome)
            }
            "reviewGrant" => {
                let review = runtime.review_grant(need(step, "id"), grant(step))?;
                self.reviewed(review)
            }
            "remove" => {
                self.contract = runtime.remove(need(step, "id"), contract)?;
                json!({})
            }
            "list" => {
                let list = runtime.list()?;
                self.contract = list.contract;
                let connectors: Vec<Value> = list
                    .connectors
                    .into_iter()
                    .map(|one| {
                        let effects: Vec<&str> = one.effects.into_iter().map(word).collect();
                        let tools: Vec<String> = one.tools.into_iter().map(|tool| tool.name).collect();
                        json!({ "id": one.id, "version": one.version, "title": one.title, "source": one.source,
                                "origins": one.origins, "credentials": one.credentials, "effects": effects,
                                "tools": tools })
                    })
                    .collect();
                json!({ "connectors": connectors })
            }
            "credential" => {
                let (id, name) = (need(step, "id"), need(step, "name"));
                let value = SecretBytes::from(need(step, "value").into_bytes());
                runtime.set_credential(id.clone(), name.clone(), value)?;
                json!({ "set": runtime.has_credential(id, name)? })
            }
            "export" => {
                let model = ModelCapabilities {
                    tools: flag(step, "tools"),
                    tool_calls: flag(step, "toolCalls"),
                    ..ModelCapabilities::default()
                };
                let export = runtime.export_tools(model, strings(step.get("only")), None)?;
                self.contract = export.contract;
                let tools: Value = serde_json::from_str(&export.tools).unwrap();
                let names: Vec<&Value> = tools
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|tool| tool.pointer("/function/name").unwrap())
                    .collect();
                json!({ "mode": format!("{:?}", export.mode).to_lowercase(), "tools": names })
            }
            "grammar" => {
                let envelope =
                    if need(step, "envelope") == "hermes" { Envelope::Hermes } else { Envelope::Json };
                let choice = match need(step, "choice").as_str() {
                    "auto" => ToolChoice::Auto,
                    "none" => ToolChoice::None,
                    "required" => ToolChoice::Required,
                    name => ToolChoice::Named { name: name.to_owned() },
                };
                let export = runtime.export_grammar(envelope, choice, flag(step, "parallel"), None)?;
                self.contract = export.contract;
                json!({ "lazy": export.lazy, "triggers": export.triggers, "exact": export.exact })
            }
            "read" => {
                let contract = self.contract.clone();
                let calls = match step.get("result") {
                    Some(result) => runtime.read_calls(contract, result.to_string())?,
                    None => runtime.read_calls_in_text(contract, need(step, "text"))?,
                };
                let calls: Vec<Value> = calls
                    .iter()
                    .map(|call| {
                        let arguments: Value = serde_json::from_str(&call.arguments().unwrap()).unwrap();
                        json!({ "name": call.name().unwrap(), "arguments": arguments })
                    })
                    .collect();
                json!({ "calls": calls })
            }
            "plan" => {
                let arguments = match step.get("arguments").unwrap() {
                    Value::String(text) => text.clone(),
                    value => value.to_string(),
                };
                let plan = runtime.plan(self.contract.clone(), need(step, "tool"), arguments, None)?;
                let headers: Vec<[String; 2]> = plan
                    .headers()?
                    .iter()
                    .map(|header| [header.name().unwrap(), header.value().unwrap()])
                    .collect();
                json!({ "method": plan.method()?, "url": plan.url()?, "headers": headers, "body": plan.body()?,
                        "needsConfirmation": plan.needs_confirmation()?, "effect": word(plan.effect()?) })
            }
            "shutdown" => {
                runtime.shutdown()?;
                json!({})
            }
            other => panic!("no step {other}"),
        })
    }
}

/// Whether what was expected is contained.
fn holds(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            expected.iter().all(|(name, value)| holds(found.get(name).unwrap_or(&Value::Null), value))
        }
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(found, expected)| holds(found, expected))
        }
        _ => found == expected,
    }
}

#[test]
fn every_case_comes_out_as_it_says() {
    let (mut cases, mut wrong) = (0, Vec::new());
    for file in ["manifests", "plans", "merges", "models", "hashes"] {
        let bytes = std::fs::read(folder().join(format!("{file}.json"))).unwrap();
        let file: Value = serde_json::from_slice(&bytes).unwrap();
        for case in file.get("cases").unwrap().as_array().unwrap() {
            cases += 1;
            let runtime = ConnectorRuntime::open(RuntimeOptions::default()).unwrap();
            let mut player = Player { runtime, contract: String::new(), approval: String::new() };
            for (number, step) in case.get("steps").unwrap().as_array().unwrap().iter().enumerate() {
                let at = format!("{}, step {}", need(case, "name"), number + 1);
                match (player.play(step), text(step, "code")) {
                    (Ok(found), None) => {
                        if step.get("gives").is_some_and(|expected| !holds(&found, expected)) {
                            wrong.push(format!("{at}: {found}"));
                        }
                    }
                    (Ok(found), Some(code)) => wrong.push(format!("{at}: {found} where {code} is right")),
                    (Err(error), code) if code.as_deref() != Some(error.code()) => {
                        wrong.push(format!("{at}: {} ({error})", error.code()));
                    }
                    (Err(_), _) => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{cases} cases right");
}
