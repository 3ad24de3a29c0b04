//! Files of the command line, read within their limit.

use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::path::Path;

use connector_core::Code;

use crate::style::Trouble;

/// The name of a file for a person; `-` is stdin.
pub(crate) fn name_of(path: &Path) -> String {
    if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() }
}

/// Reads a file of at most `limit` bytes; of a larger one no more than that is read.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Vec<u8>, Trouble> {
    let bytes = read_start(path, limit.saturating_add(1))?;
    within(bytes, limit, &name_of(path))
}

/// Reads stdin within the same limit.
pub(crate) fn read_stdin(limit: usize) -> Result<Vec<u8>, Trouble> {
    let bytes = start_of(std::io::stdin().lock(), limit.saturating_add(1));
    within(bytes.map_err(|error| unreadable("stdin", &error))?, limit, "stdin")
}

/// Reads at most so many bytes from the start of a file; `-` is stdin.
pub(crate) fn read_start(path: &Path, most: usize) -> Result<Vec<u8>, Trouble> {
    let read = if path == Path::new("-") {
        start_of(std::io::stdin().lock(), most)
    } else {
        File::open(path).and_then(|file| start_of(file, most))
    };
    read.map_err(|error| unreadable(&name_of(path), &error))
}

fn start_of(source: impl Read, most: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(u64::try_from(most).unwrap_or(u64::MAX)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn within(bytes: Vec<u8>, limit: usize, shown: &str) -> Result<Vec<u8>, Trouble> {
    if bytes.len() > limit {
        return Err(Trouble::new("json.too_large", format!("{shown} is over the limit of {limit} bytes")));
    }
    Ok(bytes)
}

fn unreadable(shown: &str, error: &Error) -> Trouble {
    let what = match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        ErrorKind::IsADirectory => "it is a directory, not a file".to_owned(),
        _ => error.to_string(),
    };
    Trouble::new(Code::FileUnreadable.as_str(), format!("cannot read {shown}: {what}"))
}
