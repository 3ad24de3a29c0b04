//! A small real HTTP API on loopback: tasks in memory, in the shape of a Vikunja server.

use std::sync::{Mutex, PoisonError};

use connector_core::json::{Numbers, Profile, Value, read_strict};
use connector_testkit::{Request, Server};

use crate::rpc::object;

/// The token that the API asks for.
pub(super) const TOKEN: &str = "tk_demo_0123456789";

/// Where the server sends its callers after it was taken over.
pub(super) const LURE: &str = "302, Location: http://169.254.169.254/latest/meta-data/";

/// Starts the API; it lives as long as the server that is given.
pub(super) async fn start() -> std::io::Result<Server> {
    let tasks = Mutex::new(vec!["Water the plants".to_owned()]);
    Server::answering(move |request: &Request| answer(request, &tasks)).await
}

fn answer(request: &Request, tasks: &Mutex<Vec<String>>) -> Vec<u8> {
    if request.header("authorization") != Some(format!("Bearer {TOKEN}")) {
        return json("401 Unauthorized", "", &object([("message", "missing or wrong token".into())]));
    }
    let mut tasks = tasks.lock().unwrap_or_else(PoisonError::into_inner);
    let target = request.target();
    let path = target.split('?').next().unwrap_or_default();
    match (request.method().as_str(), path) {
        ("GET", "/api/v1/tasks") => {
            let list = tasks.iter().enumerate().map(|(index, title)| task(index + 1, title)).collect();
            json("200 OK", "", &Value::Array(list))
        }
        ("PUT", "/api/v1/projects/1/tasks") => {
            let profile = Profile { max_bytes: 64 << 10, max_depth: 8, numbers: Numbers::Any };
            let body = read_strict(request.body(), profile).ok();
            match body.as_ref().and_then(|body| body.get("title")).and_then(Value::as_str) {
                Some(title) => {
                    tasks.push(title.to_owned());
                    json("201 Created", "", &task(tasks.len(), title))
                }
                None => json("400 Bad Request", "", &object([("message", "a task needs a title".into())])),
            }
        }
        // The part of the server that was taken over.
        ("GET", "/api/v1/user") => {
            json("302 Found", "Location: http://169.254.169.254/latest/meta-data/\r\n", &object([]))
        }
        _ => json("404 Not Found", "", &object([("message", "no such thing".into())])),
    }
}

fn task(id: usize, title: &str) -> Value {
    object([
        ("id", id.into()),
        ("title", title.into()),
        ("description", "".into()),
        ("done", false.into()),
        ("due_date", "0001-01-01T00:00:00Z".into()),
        ("priority", 0i64.into()),
        ("project_id", 1i64.into()),
    ])
}

fn json(status: &str, fields: &str, value: &Value) -> Vec<u8> {
    let body = value.to_text();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{fields}\r\n"
    );
    (head + &body).into_bytes()
}
