//! The command, its files, and the servers that it meets.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, io::Write};

use connector_testkit::{Authority, Request, Script, Server};
use serde_json::Value;
use tokio::runtime::Runtime;

/// The command, with an environment that says nothing about colour.
pub(crate) fn connector() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_connector"));
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CLICOLOR");
    command
}

/// What the command said.
pub(crate) struct Said {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("the command writes UTF-8");
        let status = output.status.code().expect("the command ends by itself");
        let said = Self { status, out: text(&output.stdout), err: text(&output.stderr) };
        assert!(!said.err.contains("panicked"), "{}", said.err);
        said
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).expect("stdout is one JSON text")
    }
}

/// Runs the command to its end.
pub(crate) fn run(args: &[&str]) -> Said {
    said(connector().args(args))
}

/// Runs a prepared command to its end; stdin is empty.
pub(crate) fn said(command: &mut Command) -> Said {
    Said::of(&command.stdin(Stdio::null()).output().expect("the command starts"))
}

/// Runs a prepared command with this text on stdin.
pub(crate) fn said_with_input(command: &mut Command, input: &[u8]) -> Said {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The command may end without reading all of it.
    let writing = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    Said::of(&output)
}

/// A folder of its own for one test.
pub(crate) fn folder() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("cli-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A file of its own with these bytes.
pub(crate) fn file(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder().join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A file of this project.
pub(crate) fn of_project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A manifest for a server of the person's own, with a read, a write and a destructive tool.
pub(crate) const NOTES: &str = r#"{
  "manifestVersion": 1,
  "id": "notes",
  "version": "1.0.0",
  "title": "Notes",
  "description": "Find and add notes.",
  "origins": { "server": { "userProvided": { "title": "Your server", "localNetwork": true } } },
  "settings": { "notebook": { "title": "Notebook" }, "shelf": { "title": "Shelf", "type": "integer" } },
  "credentials": { "token": { "title": "API token", "origin": "server" } },
  "tools": [
    {
      "name": "find",
      "description": "Find notes by words.",
      "effect": "read",
      "parameters": {
        "type": "object",
        "properties": { "words": { "type": "string", "minLength": 1 } },
        "required": ["words"]
      },
      "request": {
        "method": "GET",
        "origin": "server",
        "path": [{ "$setting": "notebook" }, "notes"],
        "query": { "q": { "$param": "words" } },
        "headers": { "Authorization": { "$credential": "token", "scheme": "Bearer" } }
      },
      "response": { "from": "/results", "each": true, "error": { "message": "/detail" } }
    },
    {
      "name": "add",
      "description": "Add a note.",
      "effect": "write",
      "parameters": {
        "type": "object",
        "properties": { "text": { "type": "string" } },
        "required": ["text"]
      },
      "request": {
        "method": "POST",
        "origin": "server",
        "path": [{ "$setting": "notebook" }, "notes"],
        "query": { "shelf": { "$setting": "shelf" } },
        "headers": { "Authorization": { "$credential": "token", "scheme": "Bearer" } },
        "body": { "json": { "text": { "$param": "text" } } }
      }
    },
    {
      "name": "clear",
      "description": "Remove all notes.",
      "effect": "destructive",
      "request": {
        "method": "DELETE",
        "origin": "server",
        "path": [{ "$setting": "notebook" }, "notes"],
        "headers": { "Authorization": { "$credential": "token", "scheme": "Bearer" } }
      }
    }
  ]
}
"#;

/// A server, and the runtime that it lives in.
pub(crate) struct Api {
    server: Server,
    _runtime: Runtime,
}

impl Api {
    /// A plain server on loopback that answers by this function.
    pub(crate) fn new(answer: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let runtime = runtime();
        let server = runtime.block_on(Server::answering(answer)).unwrap();
        Self { server, _runtime: runtime }
    }

    /// A plain server that does what a script says on each connection.
    pub(crate) fn plain(script: Script) -> Self {
        let runtime = runtime();
        let server = runtime.block_on(Server::plain(script)).unwrap();
        Self { server, _runtime: runtime }
    }

    /// A TLS server for these names that answers by this function.
    pub(crate) fn tls(
        authority: &Authority,
        names: &[&str],
        answer: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let (runtime, identity) = (runtime(), authority.issue(names).unwrap());
        let server = runtime.block_on(Server::answering_tls(&identity, answer)).unwrap();
        Self { server, _runtime: runtime }
    }

    /// A TLS server that does what a script says on each connection.
    pub(crate) fn scripted(authority: &Authority, names: &[&str], script: Script) -> Self {
        let (runtime, identity) = (runtime(), authority.issue(names).unwrap());
        let server = runtime.block_on(Server::tls(&identity, script)).unwrap();
        Self { server, _runtime: runtime }
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.server.address())
    }

    pub(crate) fn address(&self) -> String {
        self.server.address().to_string()
    }

    /// The requests that came, as their first lines.
    pub(crate) fn seen(&self) -> Vec<String> {
        let line = |request: &Request| format!("{} {}", request.method(), request.target());
        self.requests().iter().map(line).collect()
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.server.log().requests()
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// An answer in JSON.
pub(crate) fn json(status: &str, body: &str) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    (head + body).into_bytes()
}

/// The token that [`notes_api`] asks for.
pub(crate) const TOKEN: &str = "tk-4711-secret";

/// The server that [`NOTES`] speaks to.
pub(crate) fn notes_api() -> Api {
    Api::new(|request| {
        if request.header("authorization").as_deref() != Some(&format!("Bearer {TOKEN}")) {
            return json("401 Unauthorized", r#"{"detail": "who are you?"}"#);
        }
        match request.method().as_str() {
            "GET" => json("200 OK", &format!(r#"{{"results": [{{"title": "Tea"}}, "{TOKEN}"]}}"#)),
            "POST" => json("201 Created", r#"{"id": 7}"#),
            _ => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
        }
    })
}
