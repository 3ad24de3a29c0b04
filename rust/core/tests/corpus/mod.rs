//! Public test suites, read where they lie: `CONNECTOR_CASES`, else the folder beside the repository.

#![allow(dead_code, unreachable_pub, reason = "each test uses the part of the loader that it needs")]
#![allow(clippy::panic, clippy::print_stdout, reason = "a test says what is missing")]

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The cases of one file (`area/file.json`), or nothing, said aloud, where the suites are absent. Under `CI` they
/// must be there.
pub fn cases(file: &str) -> Option<Vec<Value>> {
    let document = document(file)?;
    let cases =
        document.get("cases").and_then(Value::as_array).unwrap_or_else(|| panic!("{file} has no cases"));
    assert!(!cases.is_empty(), "{file} is empty");
    Some(cases.clone())
}

/// A whole file.
pub fn document(file: &str) -> Option<Value> {
    text(file).map(|text| serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}")))
}

/// The text of a whole file, for readers that keep every digit.
pub fn text(file: &str) -> Option<String> {
    let path = folder().join(file);
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(_) if std::env::var_os("CI").is_none() => {
            println!("skipped: the suite {file} is not here");
            None
        }
        Err(error) => panic!("CI needs {}: {error}", path.display()),
    }
}

fn folder() -> PathBuf {
    std::env::var_os("CONNECTOR_CASES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases"), PathBuf::from)
}
