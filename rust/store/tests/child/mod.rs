//! The tests here start themselves again as processes of their own, which can be killed.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use connector_core::json::{Sha256, Value, sha256};
use connector_store::{GrantRecord, Provenance, StoreKey, StoreOptions};

/// The folder of the store, for the child.
const FOLDER: &str = "CONNECTOR_STORE_CHILD_FOLDER";
/// A number for the child.
const NUMBER: &str = "CONNECTOR_STORE_CHILD_NUMBER";
/// What the child says begins so; the rest is the test harness's.
const MARK: &str = "> ";

pub(crate) fn options(folder: &Path) -> StoreOptions {
    StoreOptions { wait: Duration::from_secs(10), ..StoreOptions::new(folder, StoreKey::new([7; 32])) }
}

/// In a child: its folder and its number. Nothing when somebody runs the ignored tests by hand.
pub(crate) fn role() -> Option<(PathBuf, u64)> {
    Some((env::var_os(FOLDER)?.into(), env::var(NUMBER).ok()?.parse().ok()?))
}

/// In a child: tells the parent. What was told is in the pipe, whatever happens to the process.
pub(crate) fn say(words: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{MARK}{words}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// The command that runs an ignored test of this binary in a process of its own.
pub(crate) fn command(test: &str, folder: &Path, number: u64) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(FOLDER, folder).env(NUMBER, number.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::inherit()).stdin(Stdio::null());
    command
}

pub(crate) fn start(test: &str, folder: &Path, number: u64) -> (Child, Lines) {
    let mut child = command(test, folder, number).spawn().unwrap();
    let lines = Lines(BufReader::new(child.stdout.take().unwrap()));
    (child, lines)
}

/// What a child says.
pub(crate) struct Lines(BufReader<ChildStdout>);

impl Iterator for Lines {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            // A killed child may leave half a line: it was not told.
            if self.0.read_line(&mut line).unwrap() == 0 || !line.ends_with('\n') {
                return None;
            }
            if let Some(words) = line.trim_end().strip_prefix(MARK) {
                return Some(words.to_owned());
            }
        }
    }
}

/// Numbers that look random (xorshift64*); the seed is printed, so that a run can be repeated up to the scheduler.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let seed = now.as_secs() | 1;
        println!("seed {seed}");
        Self(seed)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }
}

pub(crate) fn files() -> Provenance {
    Provenance { source: "files".into(), key: None }
}

pub(crate) fn grant(number: u64) -> GrantRecord {
    GrantRecord { grant: Value::from(number), hash: sha256(number.to_string()) }
}

pub(crate) fn plan(number: u64) -> Sha256 {
    sha256(format!("plan {number}"))
}
