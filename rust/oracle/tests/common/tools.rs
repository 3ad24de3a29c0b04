//! Tool sets of real tools.

use std::sync::Arc;

use connector_core::TrustLimits;
use connector_core::call::{ToolCall, check};
use connector_core::export::ReadCall;
use connector_core::grant::Grant;
use connector_core::json::Value as Json;
use connector_core::manifest;
use connector_core::toolset::{Connector, Contract, ToolSet};
use serde_json::{Map, Value, json};

use super::suites::Case;

/// A connector with one tool that takes what the case takes; nothing where a manifest may not have such a schema.
pub fn connector(id: &str, case: &Case) -> Option<Arc<Connector>> {
    let parameters: Value = serde_json::from_str(&case.schema.source().to_text()).unwrap();
    let required = parameters.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut body = Map::new();
    for name in case.schema.properties() {
        let name = name.as_str();
        let mut slot = json!({ "$param": name });
        if !required.iter().any(|known| known == name) {
            slot["absent"] = json!("omit");
        }
        body.insert(name.to_owned(), slot);
    }
    let manifest = json!({
        "manifestVersion": 1, "id": id, "version": "1", "title": "T", "description": "D",
        "origins": {"api": "https://api.example"},
        "tools": [{
            "name": "act", "description": "Acts.", "effect": "write", "parameters": parameters,
            "request": {"method": "POST", "origin": "api", "path": ["act"], "body": {"json": body}}
        }]
    });
    let limits = TrustLimits::default();
    let checked = manifest::check(manifest.to_string().as_bytes(), &limits).manifest?;
    Connector::bind(checked, "test", Grant::default(), &limits).ok().map(Arc::new)
}

/// A set of so many tools drawn from these cases by a seed, those with exact grammars; their full names.
pub fn drawn(cases: &[Case], seed: u64, count: usize) -> (ToolSet, Vec<String>) {
    let mut random = super::random::Random::new(seed);
    let mut places: Vec<usize> = (0..cases.len()).collect();
    let (mut set, mut names) = (ToolSet::default(), Vec::new());
    while names.len() < count && !places.is_empty() {
        let case = &cases[places.swap_remove(random.below(places.len()))];
        if !case.schema.to_grammar().is_ok_and(|grammar| grammar.is_exact()) {
            continue;
        }
        let id = format!("c{}", names.len());
        let Some(connector) = connector(&id, case) else { continue };
        set = set.install(connector, None).unwrap();
        names.push(format!("{id}.act"));
    }
    (set, names)
}

/// What a planner says of a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Judgement {
    Accepted,
    /// The schema accepts the arguments; a number in them is none that a double holds, which no request may have.
    NumberOfNoDouble,
    Refused(String),
}

pub fn judged(set: &ToolSet, contract: &Contract, call: &ReadCall) -> Judgement {
    let arguments = Json::Object(call.arguments.clone());
    let tool_call = ToolCall { name: call.name.to_string(), arguments: arguments.to_text() };
    match check(set, contract, &tool_call, &TrustLimits::default()) {
        Ok(_) => Judgement::Accepted,
        Err(refusal) if refusal.reason.contains("json.number_inexact") => {
            let tool = set.tool(&call.name).unwrap().tool;
            match tool.parameters().schema().accepts(&arguments) {
                Ok(()) => Judgement::NumberOfNoDouble,
                Err(violations) => Judgement::Refused(format!("{violations:?}")),
            }
        }
        Err(refusal) => Judgement::Refused(format!("{refusal}: {:?}", refusal.advice)),
    }
}
