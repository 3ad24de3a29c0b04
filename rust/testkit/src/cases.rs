//! The shared case files, which are never part of the repository.

use std::path::PathBuf;
use std::{env, fs};

use serde_json::Value;

/// The folder of the case files: the environment variable `CONNECTOR_CASES`, or `../shared/cases` beside
/// the repository.
pub fn folder() -> PathBuf {
    env::var_os("CONNECTOR_CASES").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases")),
        PathBuf::from,
    )
}

/// The case file `area/file`, as JSON.
///
/// Without the folder, or without the file in it, the answer is [`None`] and a printed line, so that a test
/// can be passed over on a machine that has no cases.
///
/// # Panics
///
/// Where the environment variable `CI` is set, an absent file fails the test; so does, everywhere, one that
/// is no JSON.
#[allow(
    clippy::panic,
    clippy::print_stdout,
    reason = "only tests load cases, and this is how a test fails or tells"
)]
pub fn load(area: &str, file: &str) -> Option<Value> {
    let path = folder().join(area).join(file);
    match fs::read(&path) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(value) => Some(value),
            Err(error) => panic!("{area}/{file} is not JSON: {error}"),
        },
        Err(error) if env::var_os("CI").is_some() => panic!("{area}/{file} is needed under CI: {error}"),
        Err(_) => {
            println!("skipped: {area}/{file} is not here (set CONNECTOR_CASES)");
            None
        }
    }
}
