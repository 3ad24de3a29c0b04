//! Files of the command line, read within their limit.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::style::Trouble;

/// Reads a file of at most `limit` bytes; of a larger one no more than that is read.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Vec<u8>, Trouble> {
    let shown = path.display();
    let fail = |error: &std::io::Error| {
        let what = match error.kind() {
            ErrorKind::NotFound => "there is no such file".to_owned(),
            ErrorKind::PermissionDenied => "it may not be read".to_owned(),
            ErrorKind::IsADirectory => "it is a directory, not a file".to_owned(),
            _ => error.to_string(),
        };
        Trouble::new("file.unreadable", format!("cannot read {shown}: {what}"))
    };
    let file = File::open(path).map_err(|error| fail(&error))?;
    read_from(file, limit, &shown.to_string(), |error| fail(&error))
}

/// Reads stdin within the same limit.
pub(crate) fn read_stdin(limit: usize) -> Result<Vec<u8>, Trouble> {
    let fail = |error: std::io::Error| Trouble::new("file.unreadable", format!("cannot read stdin: {error}"));
    read_from(std::io::stdin().lock(), limit, "stdin", fail)
}

fn read_from(
    source: impl Read,
    limit: usize,
    shown: &str,
    fail: impl Fn(std::io::Error) -> Trouble,
) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::new();
    let over = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    source.take(over).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() > limit {
        return Err(Trouble::new("json.too_large", format!("{shown} is over the limit of {limit} bytes")));
    }
    Ok(bytes)
}
