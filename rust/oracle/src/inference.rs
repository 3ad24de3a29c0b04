//! A model that runs: llama.node, which has the C++ of llama.rn, as a child process.

use std::io;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::{Failure, Running};
use crate::setup::{inference_script, product};
use crate::tiny::tiny_model;

/// The time for one answer of the model.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running model.
#[derive(Debug)]
pub struct Inference {
    running: Running,
}

impl Inference {
    /// Starts the tiny random model of a seed, one that begins calls by chance where that is asked for. `Ok(None)` where
    /// Node or npm is missing.
    pub fn start(seed: u64, begins_calls: bool) -> io::Result<Option<Self>> {
        let Some(script) = inference_script()? else { return Ok(None) };
        let name = format!("llama.node/tiny-{seed}-{begins_calls}-{}.gguf", std::process::id());
        let model = product(&name, &tiny_model(seed, begins_calls))?;
        let mut command = Command::new("node");
        command.arg(script).arg(model);
        Ok(Some(Self { running: Running::start(&mut command)? }))
    }

    /// What llama.rn reports of the model's template.
    pub fn capabilities(&mut self) -> Result<Value, Failure> {
        let answer = self.ask(&json!({"capabilities": true}))?;
        Ok(answer.get("capabilities").cloned().unwrap_or_default())
    }

    /// Formats a chat with tools and completes it with a grammar of ours, which stands in `more` with all other
    /// parameters of `completion()`.
    pub fn complete(&mut self, tools: &Value, more: &Value) -> Result<Value, Failure> {
        self.result(&json!({"tools": tools, "more": more}))
    }

    /// The same with the grammar that llama.rn makes of the tools, by which a call has to be made.
    pub fn complete_alone(&mut self, tools: &Value, more: &Value) -> Result<Value, Failure> {
        self.result(&json!({"tools": tools, "more": more, "own": true}))
    }

    fn result(&mut self, question: &Value) -> Result<Value, Failure> {
        let mut question = question.clone();
        if let Some(members) = question.as_object_mut() {
            members.insert("messages".to_owned(), json!([{"role": "user", "content": "Call a tool."}]));
        }
        Ok(self.ask(&question)?.get("result").cloned().unwrap_or_default())
    }

    fn ask(&mut self, question: &Value) -> Result<Value, Failure> {
        let text = self.running.ask(question, PATIENCE)?;
        let answer: Value =
            serde_json::from_str(&text).map_err(|error| Failure::Refused(error.to_string()))?;
        match answer.get("error").and_then(Value::as_str) {
            Some(error) => Err(Failure::Refused(error.to_owned())),
            None => Ok(answer),
        }
    }
}
