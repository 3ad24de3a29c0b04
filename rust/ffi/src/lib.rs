//! Connector Core for Swift and Kotlin. Conversions between the crates below and uniffi, and nothing else: what is decided
//! is decided below.
//!
//! Every function returns a `Result`: a refusal has a stable code, and a panic, a fault of the host's own callbacks or use
//! after `close` is an error like any other. Values of arguments, requests and answers stand in objects, never in records,
//! since the generated languages print records.

mod audit;
mod calls;
mod check;
mod credentials;
mod error;
mod export;
mod grant;
#[cfg(feature = "test-hooks")]
pub mod hooks;
mod host;
mod log;
mod options;
mod review;
mod runtime;
mod secret;

use connector_core::Refusal;
use connector_core::json::{Numbers, Profile, Value, read_strict};

pub use audit::{AuditEvent, AuditRecord, AuditTrail, Damage, InterruptedWrite};
pub use calls::{Answer, PlannedCall, PreviewHeader, RunningCall};
pub use check::{CheckReport, Finding, ManifestSummary, Severity, check_manifest};
pub use credentials::{CredentialKey, CredentialStore, HostError};
pub use error::{ConnectorError, ErrorCode, error_codes};
pub use export::{Envelope, ExportMode, GrammarExport, ModelCapabilities, ReadCall, ToolChoice, ToolsExport};
pub use grant::{Effect, Grant, SettingValue};
pub use log::LogSink;
pub use options::{CleartextPolicy, RuntimeOptions, SignaturePolicy, StoreLocation, TrustedKey};
pub use review::{
    Change, InstallOutcome, Installation, InstalledConnector, InstalledList, Review, ToolSummary,
    UnusableConnector,
};
pub use runtime::ConnectorRuntime;
pub use secret::{MaybeSecret, SecretBytes};

uniffi::setup_scaffolding!();

/// Reads JSON text of the host: strict, numbers exact, 1 MiB.
fn read_json(text: &str) -> Result<Value, Refusal> {
    read_strict(text.as_bytes(), Profile { max_bytes: 1 << 20, max_depth: 64, numbers: Numbers::Exact })
}
