//! JSON, strictly and within limits (RFC 8259, RFC 6901, RFC 8785).
//!
//! ```text
//! bytes -> read -> Value            one strict reader for manifests, arguments and responses
//!                  Value -> write, canonical (RFC 8785), hash
//! bytes + pointers -> locate        line and column, asked for only when something is wrong
//! ```

mod canonical;
mod hash;
mod locate;
mod number;
mod pointer;
mod read;
mod string;
mod value;

pub use canonical::{canonical, canonical_size};
pub use hash::{Sha256, sha256};
pub use locate::{Locator, Position};
pub use number::{Decimal, Number};
pub use pointer::{Path, resolve};
#[allow(unused_imports, reason = "names in messages of the modules that follow")]
pub(crate) use read::Quoted;
pub use read::{Numbers, Profile, RULES, read, read_strict};
pub(crate) use string::write_string;
pub use value::{Object, Value};

/// Reads a text of the core's own making or of a test: strict, exact numbers, 1 MiB.
#[cfg(test)]
pub(crate) fn read_text(text: &str) -> Result<Value, crate::Refusal> {
    read_strict(text.as_bytes(), Profile { max_bytes: 1 << 20, max_depth: 64, numbers: Numbers::Exact })
}
