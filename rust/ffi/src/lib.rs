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
mod options;
mod review;
mod runtime;

use connector_core::Refusal;
use connector_core::json::{Numbers, Profile, Value, read_strict};

pub use audit::{AuditRecord, AuditTrail, InterruptedWrite};
pub use calls::{Answer, PlannedCall, PreviewHeader};
pub use check::{check_manifest, CheckReport, Finding, ManifestSummary, Severity};
pub use credentials::{CredentialKey, CredentialStore, CredentialStoreError};
pub use error::{ConnectorError, ErrorCode, error_codes};
pub use export::{Envelope, ExportMode, GrammarExport, ModelCapabilities, ReadCall, ToolChoice, ToolsExport};
pub use grant::{Effect, Grant, SettingValue};
pub use options::{RuntimeOptions, SignaturePolicy, StoreLocation, TrustedKey};
pub use review::{Change, InstallOutcome, Installation, InstalledConnector, InstalledList, Review, ToolSummary, UnusableConnector};
pub use runtime::ConnectorRuntime;

uniffi::setup_scaffolding!();

/// Reads JSON text of the host: strict, numbers exact, 1 MiB.
fn read_json(text: &str) -> Result<Value, Refusal> {
    read_strict(text.as_bytes(), Profile { max_bytes: 1 << 20, max_depth: 64, numbers: Numbers::Exact })
}
