//! The judge as a child process.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// A running judge. One that crashed or hung is replaced at the next question.
#[derive(Debug)]
pub struct Judge {
    program: PathBuf,
    timeout: Duration,
    running: Option<Running>,
}

/// A child process that answers lines with lines.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// llama.rn refuses, in its own words.
    Refused(String),
    /// The process ended.
    Crashed,
    /// The process did not answer in time and was ended.
    TimedOut,
}

impl Judge {
    /// The judge of this program, which gives each question so much time.
    pub fn new(program: impl Into<PathBuf>, timeout: Duration) -> Self {
        Self { program: program.into(), timeout, running: None }
    }

    /// llama.rn's grammar of a schema, and the nanoseconds that its making took.
    pub fn convert(&mut self, schema: &Value) -> Result<(String, f64), Failure> {
        self.convert_times(schema, 1)
    }

    /// The same with the median of so many runs, one right after the other.
    pub fn convert_times(&mut self, schema: &Value, times: u32) -> Result<(String, f64), Failure> {
        let answer = self.ask(&json!({"do": "convert", "schema": schema, "times": times}))?;
        let ns = answer.get("ns").and_then(Value::as_f64).unwrap_or(f64::NAN);
        Ok((answer.get("grammar").and_then(Value::as_str).unwrap_or_default().to_owned(), ns))
    }

    /// llama.rn's grammar of the arguments of several tools, as it makes it of `tools`: the name of a tool, a blank, its
    /// arguments.
    pub fn convert_tools(&mut self, tools: &[(&str, &Value)]) -> Result<String, Failure> {
        let tools: Vec<Value> =
            tools.iter().map(|(name, schema)| json!({"name": name, "schema": schema})).collect();
        let answer = self.ask(&json!({"do": "convert", "tools": tools}))?;
        Ok(answer.get("grammar").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    /// Loads a grammar: the nanoseconds that this takes.
    pub fn load(&mut self, grammar: &str) -> Result<f64, Failure> {
        let answer = self.ask(&json!({"do": "load", "grammar": grammar}))?;
        Ok(answer.get("ns").and_then(Value::as_f64).unwrap_or(f64::NAN))
    }

    /// Whether the matcher takes each text.
    pub fn accepts<T: AsRef<str>>(&mut self, grammar: &str, texts: &[T]) -> Result<Vec<bool>, Failure> {
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let answer = self.ask(&json!({"do": "accepts", "grammar": grammar, "texts": texts}))?;
        Ok(booleans(&answer))
    }

    /// What the matcher carries while it takes these texts.
    pub fn load_of<T: AsRef<str>>(&mut self, grammar: &str, texts: &[T]) -> Result<Load, Failure> {
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let answer = self.ask(&json!({"do": "accepts", "grammar": grammar, "texts": texts}))?;
        let number = |name: &str| answer.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
        Ok(Load { most: number("most"), live: number("live"), depth: number("depth") })
    }

    /// Draws texts from a grammar; past `soft` bytes each ends as soon as it can.
    pub fn sample(
        &mut self,
        grammar: &str,
        seed: u64,
        count: usize,
        soft: usize,
    ) -> Result<Vec<String>, Failure> {
        let answer = self
            .ask(&json!({"do": "sample", "grammar": grammar, "seed": seed, "count": count, "soft": soft}))?;
        let texts = answer.get("texts").and_then(Value::as_array);
        Ok(texts.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// The nanoseconds that the matcher takes for a byte of these texts.
    pub fn time<T: AsRef<str>>(&mut self, grammar: &str, texts: &[T], times: u32) -> Result<Time, Failure> {
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let answer = self.ask(&json!({"do": "time", "grammar": grammar, "texts": texts, "times": times}))?;
        let number = |name: &str| answer.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
        Ok(Time { mean: number("mean"), median: number("median"), worst: number("worst") })
    }

    /// Whether a token of these bytes may come first, as the sampler checks it.
    pub fn takes_pieces(&mut self, grammar: &str, pieces: &[&[u8]]) -> Result<Vec<bool>, Failure> {
        let hex = |bytes: &&[u8]| {
            bytes.iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            })
        };
        let pieces: Vec<String> = pieces.iter().map(hex).collect();
        let answer = self.ask(&json!({"do": "pieces", "grammar": grammar, "pieces": pieces}))?;
        Ok(booleans(&answer))
    }

    /// Asks one question.
    fn ask(&mut self, question: &Value) -> Result<Value, Failure> {
        if self.running.is_none() {
            self.running =
                Some(Running::start(&mut Command::new(&self.program)).map_err(|_| Failure::Crashed)?);
        }
        let Some(running) = &mut self.running else { return Err(Failure::Crashed) };
        let answer = running.ask(question, self.timeout);
        let text = match answer {
            Ok(text) => text,
            Err(error) => {
                self.running = None;
                return Err(error);
            }
        };
        let answer: Value =
            serde_json::from_str(&text).map_err(|error| Failure::Refused(error.to_string()))?;
        match answer.get("error").and_then(Value::as_str) {
            Some(error) => Err(Failure::Refused(error.to_owned())),
            None => Ok(answer),
        }
    }
}

/// The stacks of the matcher: what a byte costs follows their number and depth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// The most at once.
    pub most: f64,
    /// In the mean, after each character.
    pub live: f64,
    /// The depth of the deepest.
    pub depth: f64,
}

/// Nanoseconds for a byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Time {
    /// Of all characters together, by their bytes.
    pub mean: f64,
    /// Of the character in the middle.
    pub median: f64,
    /// Of the slowest character.
    pub worst: f64,
}

fn booleans(answer: &Value) -> Vec<bool> {
    let list = answer.get("accepts").and_then(Value::as_array);
    list.into_iter().flatten().map(|value| value == &Value::Bool(true)).collect()
}

impl Running {
    /// Writes one question, a JSON text, and gives the line that answers it. After a failure the process is of no use.
    pub(crate) fn ask(&mut self, question: &Value, timeout: Duration) -> Result<String, Failure> {
        let asked = writeln!(self.input, "{question}").and_then(|()| self.input.flush());
        let answer = match asked {
            Ok(()) => self.answers.recv_timeout(timeout),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        answer.map_err(|error| match error {
            RecvTimeoutError::Timeout => Failure::TimedOut,
            RecvTimeoutError::Disconnected => Failure::Crashed,
        })
    }

    /// Starts a process whose lines of JSON are answers; other lines are logs.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let (sender, answers) = channel();
        // Ends with the child, whose output then ends.
        std::thread::spawn(move || {
            for line in
                BufReader::new(output).lines().map_while(Result::ok).filter(|line| line.starts_with('{'))
            {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, input, answers })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
