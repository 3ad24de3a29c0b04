//! The manifests, by the hash of their bytes.

use std::collections::BTreeSet;
use std::io;

use connector_core::json::{Sha256, sha256};
use connector_core::{Code, Refusal};

use crate::fault::writing;
use crate::files::{Files, UNFINISHED, place};
use crate::state::State;

/// The folder of the manifests.
pub(crate) const FOLDER: &str = "manifests";

fn name(hash: Sha256) -> String {
    format!("{FOLDER}/{hash}")
}

/// The bytes of an installed manifest.
///
/// # Errors
/// `store.manifest`, naming the connector, when the file is missing, cannot be read, or is not what was installed.
pub(crate) fn read(files: &dyn Files, id: &str, hash: Sha256, limit: usize) -> Result<Vec<u8>, Refusal> {
    let refused = |what: &str| {
        let reason =
            format!("the manifest of `{id}` {what}: the connector stays out until it is installed again");
        Refusal::new(Code::StoreManifest, reason)
    };
    match files.read(&name(hash), limit) {
        Ok(bytes) if sha256(&bytes) == hash => Ok(bytes),
        Ok(_) => Err(refused("is not the one that was installed")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(refused("is gone")),
        Err(error) => Err(refused(&format!("could not be read ({error})"))),
    }
}

/// Makes manifests durable under their hashes.
pub(crate) fn write<'m>(
    files: &dyn Files,
    manifests: impl Iterator<Item = (Sha256, &'m [u8])>,
) -> Result<(), Refusal> {
    let mut written = false;
    for (hash, bytes) in manifests {
        // Also when a file of the name is there: it may be another one, or not be durable.
        place(files, &name(hash), bytes).map_err(|error| writing("a manifest", &error))?;
        written = true;
    }
    if written {
        files.sync_folder(FOLDER).map_err(|error| writing("a manifest", &error))?;
    }
    Ok(())
}

/// Whether there is any manifest.
pub(crate) fn any(files: &dyn Files) -> io::Result<bool> {
    Ok(files.list(FOLDER)?.iter().any(|file| ours(file).is_some()))
}

/// Removes manifests that nothing names, and what a crash left half written. Only ever called for a state that is durable:
/// what it removes is of no use to any other. What cannot be removed waits for the next time.
pub(crate) fn collect(files: &dyn Files, state: &State) {
    let pinned: BTreeSet<Sha256> = state.pins().map(|(_, pin)| pin.manifest).collect();
    for file in files.list(FOLDER).unwrap_or_default() {
        if ours(&file).is_some_and(|(hash, whole)| !whole || !pinned.contains(&hash)) {
            let _next_time = files.remove(&format!("{FOLDER}/{file}"));
        }
    }
}

/// The hash of a name that the store gives, and whether it is that of a whole file. Other files are not ours to remove.
fn ours(file: &str) -> Option<(Sha256, bool)> {
    let hash = file.strip_suffix(UNFINISHED).unwrap_or(file);
    Sha256::parse(hash).map(|parsed| (parsed, hash.len() == file.len()))
}
