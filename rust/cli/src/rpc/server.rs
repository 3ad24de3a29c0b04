//! The loop: lines in, lines out, calls in flight.

use std::collections::HashMap;
use std::io::{BufRead, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use connector_core::json::Value;
use connector_runtime::Session;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::message::{Failure, MAX_BYTES, Request, answer};
use super::{pure, session};

/// A result that is there, or one that a running call will give.
pub(crate) enum Outcome {
    Now(Value),
    Later(std::pin::Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>),
}

/// What the methods share.
pub(crate) struct Server {
    pub(crate) sessions: HashMap<String, Arc<Session>>,
    pub(crate) opened: u64,
    /// Whether the methods and parameters for tests are offered.
    #[cfg_attr(not(feature = "test-hooks"), allow(dead_code, reason = "only a build with hooks asks"))]
    pub(crate) hooks: bool,
}

/// Serves until the end of input; then running calls are cancelled and answered.
pub(crate) async fn serve(hooks: bool) -> std::io::Result<()> {
    let (lines, mut requests) = unbounded_channel::<Option<Vec<u8>>>();
    std::thread::spawn(move || read_lines(&lines));
    let (answers, mut out) = unbounded_channel::<String>();
    let writer = tokio::task::spawn_blocking(move || {
        let mut stdout = std::io::stdout().lock();
        while let Some(line) = out.blocking_recv() {
            stdout.write_all(line.as_bytes())?;
            stdout.write_all(b"\n")?;
            stdout.flush()?;
        }
        Ok(())
    });
    let mut server = Server { sessions: HashMap::new(), opened: 0, hooks };
    let mut running = JoinSet::new();
    while let Some(line) = requests.recv().await {
        let Some(line) = line else {
            let _closed = answers.send(answer(&Value::Null, Err(Failure::Parse)));
            continue;
        };
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        handle(&mut server, &line, &answers, &mut running);
        while running.try_join_next().is_some() {}
    }
    for session in server.sessions.values() {
        session.close();
    }
    while running.join_next().await.is_some() {}
    drop(answers);
    writer.await.unwrap_or(Ok(()))
}

fn handle(server: &mut Server, line: &[u8], answers: &UnboundedSender<String>, running: &mut JoinSet<()>) {
    let request = match Request::read(line) {
        Ok(request) => request,
        Err((id, failure)) => {
            let _closed = answers.send(answer(&id, Err(failure)));
            return;
        }
    };
    let id = request.id.clone();
    let reply = {
        let answers = answers.clone();
        move |result| {
            if let Some(id) = id {
                let _closed = answers.send(answer(&id, result));
            }
        }
    };
    // A panic is a defect, but not the end of the process that a test suite talks to.
    match catch_unwind(AssertUnwindSafe(|| dispatch(server, &request))).unwrap_or(Err(Failure::Internal)) {
        Ok(Outcome::Now(value)) => reply(Ok(value)),
        Ok(Outcome::Later(future)) => {
            running.spawn(async move {
                let result = tokio::spawn(future).await;
                reply(result.unwrap_or(Err(Failure::Internal)));
            });
        }
        Err(failure) => reply(Err(failure)),
    }
}

fn dispatch(server: &mut Server, request: &Request) -> Result<Outcome, Failure> {
    match pure::call(request) {
        Some(result) => result.map(Outcome::Now),
        None => session::call(server, request),
    }
}

/// Sends each line of the input; nothing for one that is over the limit, whose rest is read and dropped.
fn read_lines(lines: &UnboundedSender<Option<Vec<u8>>>) {
    let mut input = std::io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
        let Ok(read) = input.by_ref().take(limit + 1).read_until(b'\n', &mut line) else { return };
        if read == 0 {
            return;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        let over = line.len() > MAX_BYTES;
        if over && skip_line(&mut input).is_err() {
            return;
        }
        if lines.send((!over).then_some(line)).is_err() {
            return;
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |at| at + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}
