//! A client of `connector rpc`.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::connector;

/// Longer than any machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `connector rpc`.
pub(crate) struct Rpc {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Messages that came and were not asked for yet.
    waiting: VecDeque<Value>,
    next: u64,
}

impl Drop for Rpc {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Rpc {
    /// Without the hooks for tests.
    pub(crate) fn plain() -> Self {
        Self::start(&["rpc"])
    }

    /// With the hooks for tests.
    pub(crate) fn hooked() -> Self {
        Self::start(&["rpc", "--test-hooks"])
    }

    fn start(args: &[&str]) -> Self {
        let mut command = connector();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, lines, waiting: VecDeque::new(), next: 1 }
    }

    /// Sends bytes as they are.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Sends a request and gives its id.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n";
        self.send_raw(line.as_bytes());
        id
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        let line = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string() + "\n";
        self.send_raw(line.as_bytes());
    }

    /// The next message, whatever it is.
    pub(crate) fn message(&mut self) -> Value {
        self.waiting.pop_front().unwrap_or_else(|| self.receive())
    }

    fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("an answer comes");
        let message: Value = serde_json::from_str(&line).expect("stdout holds messages and nothing else");
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    /// Waits for the message that fits; others are kept.
    pub(crate) fn wait(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&fits) {
            return self.waiting.remove(at).unwrap();
        }
        loop {
            let message = self.receive();
            if fits(&message) {
                return message;
            }
            self.waiting.push_back(message);
        }
    }

    /// Waits for the answer to a request; others are kept.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.wait(|message| message["id"] == id)
    }

    /// The result of a request that is granted.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The error of a request that is not.
    pub(crate) fn error(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let answer = self.answer(id);
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].clone()
    }

    /// The stable code of a refusal.
    pub(crate) fn refusal(&mut self, method: &str, params: &Value) -> String {
        let error = self.error(method, params);
        assert_eq!(error["code"], 1, "{method}: {error}");
        assert_eq!(error["message"], error["data"]["reason"]);
        error["data"]["code"].as_str().unwrap().to_owned()
    }

    /// The number of an error that is no refusal.
    pub(crate) fn number(&mut self, method: &str, params: &Value) -> i64 {
        let error = self.error(method, params);
        assert!(error.get("data").is_none(), "{method}: {error}");
        error["code"].as_i64().unwrap()
    }

    /// Ends the input; the messages that still come, and the status of the process.
    pub(crate) fn end(mut self) -> (Vec<Value>, Option<i32>) {
        drop(self.stdin.take());
        let mut rest: Vec<Value> = self.waiting.drain(..).collect();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => rest.push(serde_json::from_str(&line).unwrap()),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                    panic!("the process goes on after its input")
                }
            }
        }
        let status = self.child.wait().unwrap();
        (rest, status.code())
    }
}
