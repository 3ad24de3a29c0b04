//! The loop: lines in, lines out, calls in flight.

use std::collections::HashMap;
use std::io::{BufRead, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use connector_core::json::Value;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::message::{Failure, MAX_BYTES, Request, answer};
use super::session::Open;
use super::{pure, session};

/// Bytes of answers that may wait for a slow reader; then no further request is taken.
const WAITING_BYTES: u32 = 64 << 20;

/// A result that is there, or one that a running call will give.
pub(crate) enum Outcome {
    Now(Value),
    Later(std::pin::Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>),
}

/// What the methods share.
pub(crate) struct Server {
    pub(crate) sessions: HashMap<String, Open>,
    pub(crate) opened: u64,
    pub(crate) answers: Answers,
    /// Whether the methods and parameters for tests are offered.
    #[cfg_attr(not(feature = "test-hooks"), allow(dead_code, reason = "only a build with hooks asks"))]
    pub(crate) hooks: bool,
}

/// Serves until the end of input, or until nobody reads the answers; then running calls are cancelled and answered.
pub(crate) async fn serve(hooks: bool) -> std::io::Result<()> {
    let mut requests = read_lines();
    let (answers, waiting) = Answers::new();
    let mut writer = tokio::task::spawn_blocking(move || write_lines(waiting));
    let mut server = Server { sessions: HashMap::new(), opened: 0, answers, hooks };
    let mut running = JoinSet::new();
    let gone = loop {
        let line = tokio::select! {
            line = requests.recv() => line,
            gone = &mut writer => break Some(gone),
        };
        match line {
            None => break None,
            Some(line) => handle(&mut server, line, &mut running).await,
        }
        while running.try_join_next().is_some() {}
    };
    server.sessions.values().for_each(Open::close);
    while running.join_next().await.is_some() {}
    // With it goes the last way to the writer, which then ends.
    drop(server);
    let written = match gone {
        Some(written) => written,
        None => writer.await,
    };
    written.unwrap_or(Ok(()))
}

async fn handle(server: &mut Server, line: Line, running: &mut JoinSet<()>) {
    let answers = server.answers.clone();
    let request = line.map_err(|over| (Value::Null, over)).and_then(|line| Request::read(&line));
    let request = match request {
        Ok(request) => request,
        Err((id, failure)) => return answers.send(answer(&id, Err(failure))).await,
    };
    // A panic is a defect, but not the end of the process that a test suite talks to.
    let outcome = catch_unwind(AssertUnwindSafe(|| dispatch(server, &request)));
    let outcome = outcome.unwrap_or(Err(Failure::Internal));
    let id = request.id;
    match outcome {
        Ok(Outcome::Later(future)) => {
            running.spawn(async move {
                let result = tokio::spawn(future).await.unwrap_or(Err(Failure::Internal));
                answers.reply(id, result).await;
            });
        }
        Ok(Outcome::Now(value)) => answers.reply(id, Ok(value)).await,
        Err(failure) => answers.reply(id, Err(failure)).await,
    }
}

fn dispatch(server: &mut Server, request: &Request) -> Result<Outcome, Failure> {
    match pure::call(request) {
        Some(result) => result.map(Outcome::Now),
        None => session::call(server, request),
    }
}

/// The way out for answers, bounded by the bytes that wait.
#[derive(Clone)]
pub(crate) struct Answers {
    lines: UnboundedSender<Waiting>,
    room: Arc<Semaphore>,
}

type Waiting = (String, OwnedSemaphorePermit);

impl Answers {
    fn new() -> (Self, UnboundedReceiver<Waiting>) {
        let (lines, waiting) = unbounded_channel();
        let room = usize::try_from(WAITING_BYTES).unwrap_or(Semaphore::MAX_PERMITS);
        (Self { lines, room: Arc::new(Semaphore::new(room)) }, waiting)
    }

    /// Answers a request; a notification has no id and gets no answer.
    async fn reply(&self, id: Option<Value>, result: Result<Value, Failure>) {
        if let Some(id) = id {
            self.send(answer(&id, result)).await;
        }
    }

    /// Writes a line, as soon as there is room for it.
    pub(super) async fn send(&self, line: String) {
        let bytes = u32::try_from(line.len()).unwrap_or(WAITING_BYTES).min(WAITING_BYTES);
        if let Ok(permit) = Arc::clone(&self.room).acquire_many_owned(bytes).await {
            let _gone = self.lines.send((line, permit));
        }
    }
}

fn write_lines(mut waiting: UnboundedReceiver<Waiting>) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    while let Some((line, _permit)) = waiting.blocking_recv() {
        stdout.write_all(line.as_bytes())?;
        stdout.write_all(b"\n")?;
        stdout.flush()?;
    }
    Ok(())
}

/// One line of the input, or why it cannot be one message.
type Line = Result<Vec<u8>, Failure>;

/// Reads the input on a thread of its own, one line ahead. Empty lines are passed over.
fn read_lines() -> Receiver<Line> {
    let (lines, requests) = channel(1);
    std::thread::spawn(move || {
        // The end of input and an input that cannot be read end the loop alike.
        let _end = read_each(&mut std::io::stdin().lock(), &lines);
    });
    requests
}

fn read_each(input: &mut impl BufRead, lines: &Sender<Line>) -> std::io::Result<()> {
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(limit + 1).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        let over = line.len() > MAX_BYTES;
        if over {
            // Its rest is read and dropped.
            line.clear();
            input.skip_until(b'\n')?;
        }
        if !over && line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let line = if over { Err(Failure::Parse("json.too_large")) } else { Ok(line) };
        if lines.blocking_send(line).is_err() {
            return Ok(());
        }
    }
}
