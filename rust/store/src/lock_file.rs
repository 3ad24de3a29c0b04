//! The lock file as bytes: `{"content":{...},"mac":"..."}`, RFC 8785 throughout.
//!
//! Both ends of the file have a fixed length, so that the content is authenticated before any of it is read.

use connector_core::json::{Numbers, Profile, Sha256, read_strict};
use connector_core::{Code, Refusal};

use crate::key::StoreKey;
use crate::state::{FORMAT, State, integer};

/// The name of the file.
pub(crate) const NAME: &str = "lock.json";
/// What its code is made over.
const KIND: &str = "lock";
const BEFORE: &str = "{\"content\":";
const BETWEEN: &str = ",\"mac\":\"";
const AFTER: &str = "\"}\n";
/// Grants and tombstones nest at most this deep; [`DEPTH`] is that and where they stand in the file.
pub(crate) const VALUE_DEPTH: usize = 64;
const DEPTH: usize = VALUE_DEPTH + 8;

/// The bytes of a state.
///
/// # Errors
/// `store.limit` when something in it has no RFC 8785 form.
pub(crate) fn encode(state: &State, key: &StoreKey) -> Result<String, Refusal> {
    let Some(content) = state.to_text() else {
        return Err(Refusal::new(Code::StoreLimit, "the state has no canonical form"));
    };
    let code = Sha256(key.code(KIND, content.as_bytes()));
    Ok(format!("{BEFORE}{content}{BETWEEN}{code}{AFTER}"))
}

/// The state of some bytes; `seen` is the highest counter that the host has seen.
///
/// # Errors
/// `store.tampered`, `store.version`, `store.rolled_back`.
pub(crate) fn decode(bytes: &[u8], key: &StoreKey, seen: Option<u64>) -> Result<State, Refusal> {
    let tampered = || {
        Refusal::new(
            Code::StoreTampered,
            "the lock file was edited, or the store belongs to another key: it is not used",
        )
    };
    let content = authenticated(bytes, key).ok_or_else(tampered)?;
    let profile = Profile { max_bytes: content.len(), max_depth: DEPTH, numbers: Numbers::Exact };
    let value = read_strict(content, profile).map_err(|_| tampered())?;
    if integer(&value, "format") != Some(FORMAT) {
        let reason = "the lock file is of a format that this version does not read: update the application";
        return Err(Refusal::new(Code::StoreVersion, reason));
    }
    let state = State::from_value(&value).ok_or_else(tampered)?;
    if let Some(seen) = seen.filter(|seen| *seen > state.counter) {
        let reason = format!(
            "the lock file has counter {}, and {seen} was seen: an older copy was put back",
            state.counter
        );
        return Err(Refusal::new(Code::StoreRolledBack, reason));
    }
    Ok(state)
}

fn authenticated<'b>(bytes: &'b [u8], key: &StoreKey) -> Option<&'b [u8]> {
    const CODE: usize = 64;
    let rest = bytes.strip_prefix(BEFORE.as_bytes())?.strip_suffix(AFTER.as_bytes())?;
    let (rest, code) = rest.split_at_checked(rest.len().checked_sub(CODE)?)?;
    let content = rest.strip_suffix(BETWEEN.as_bytes())?;
    let code = Sha256::parse(std::str::from_utf8(code).ok()?)?;
    key.fits(KIND, content, &code.0).then_some(content)
}
