//! What goes wrong, as the other languages see it.

use connector_core::{Code, Refusal};

use crate::check::Finding;
use crate::host;

/// Why something was refused or did not come about.
///
/// Every case has the same members. `code` is stable (`area.what`, see the list of codes); `reason` is one sentence for the
/// developer; `advice`, where it is there, is one sentence for the model; `findings` name single breaches of a document.
/// None of them holds a secret, an argument value or a URL with values.
#[derive(Debug, Clone, thiserror::Error, uniffi::Error)]
#[allow(missing_docs, reason = "each case has the same members, which are documented above")]
pub enum ConnectorError {
    /// A document is not what the format asks: a manifest, a schema, an origin, JSON.
    #[error("{reason}")]
    Manifest { code: String, reason: String, advice: Option<String>, findings: Vec<Finding> },
    /// An install, a replacement, an approval or a signature was refused.
    #[error("{reason}")]
    Install { code: String, reason: String, advice: Option<String>, findings: Vec<Finding> },
    /// The grant does not fit, is wider than the one in force, or does not allow the call.
    #[error("{reason}")]
    Grant { code: String, reason: String, advice: Option<String>, findings: Vec<Finding> },
    /// The tool set changed, or an export cannot be made: export again.
    #[error("{reason}")]
    Export { code: String, reason: String, advice: Option<String>, findings: Vec<Finding> },
    /// The model's call, or the request that it asks for, cannot be made: hand `advice` to the model.
    #[error("{reason}")]
    Call { code: String, reason: String, advice: Option<String>, findings: Vec<Finding> },
    /// The plan is unknown, too old, not confirmed, or has to wait.
    #[error("{reason}")]
    Plan { code: String, reason: String, advice: Option<String>, findings: Vec<Finding> },
    /// A secret is missing, unusable or was refused by the server.
    #[error("{reason}")]
    Credential { code: String, reason: String, advice: Option<String>, findings: Vec<Finding> },
    /// The network, or a server. `outcome_unknown`: a write may have happened.
    #[error("{reason}")]
    Network { code: String, reason: String, advice: Option<String>, findings: Vec<Finding> },
    /// The folder of the store, its files, the ledger or the audit trail.
    #[error("{reason}")]
    Store { code: String, reason: String, advice: Option<String>, findings: Vec<Finding> },
    /// The runtime was closed.
    #[error("{reason}")]
    Closed { code: String, reason: String, advice: Option<String>, findings: Vec<Finding> },
    /// A callback of the host failed, or a value that the host gave cannot be used.
    #[error("{reason}")]
    Host { code: String, reason: String, advice: Option<String>, findings: Vec<Finding> },
    /// A defect of the core.
    #[error("{reason}")]
    Internal { code: String, reason: String, advice: Option<String>, findings: Vec<Finding> },
}

/// The case of a code, by its area.
macro_rules! of_area {
    ($refusal:expr, $findings:expr, $($case:ident $($area:literal)|+;)*) => {{
        let Refusal { code, reason, advice, .. } = $refusal;
        let (code, findings) = (code.as_str(), $findings);
        let area = code.split('.').next().unwrap_or(code);
        let owned = code.to_owned();
        match area {
            $($($area)|+ => ConnectorError::$case { code: owned, reason, advice, findings },)*
            _ => ConnectorError::Internal { code: owned, reason, advice, findings },
        }
    }};
}

impl ConnectorError {
    /// A refusal whose findings are places of a document.
    pub(crate) fn about(refusal: Refusal, document: Option<&[u8]>) -> Self {
        let findings = Finding::list(&refusal.findings, document);
        of_area!(refusal, findings,
            Manifest "json" | "manifest" | "schema" | "origin";
            Install "install" | "merge" | "approval" | "signature" | "connector";
            Grant "grant";
            Export "contract" | "export";
            Call "call" | "request";
            Plan "plan" | "rate" | "write";
            Credential "credential";
            Network "net" | "outcome_unknown" | "response";
            Store "store" | "ledger" | "audit" | "file" | "random";
            Closed "session";
            Host "host";
            Internal "internal";
        )
    }

    /// The stable code.
    pub fn code(&self) -> &str {
        match self {
            Self::Manifest { code, .. }
            | Self::Install { code, .. }
            | Self::Grant { code, .. }
            | Self::Export { code, .. }
            | Self::Call { code, .. }
            | Self::Plan { code, .. }
            | Self::Credential { code, .. }
            | Self::Network { code, .. }
            | Self::Store { code, .. }
            | Self::Closed { code, .. }
            | Self::Host { code, .. }
            | Self::Internal { code, .. } => code,
        }
    }

    /// A value of the host that cannot be used.
    pub(crate) fn host(reason: impl Into<String>) -> Self {
        Refusal::new(Code::HostValue, reason).into()
    }

    pub(crate) fn internal(reason: impl Into<String>) -> Self {
        Refusal::new(Code::Internal, reason).into()
    }
}

impl From<Refusal> for ConnectorError {
    fn from(refusal: Refusal) -> Self {
        Self::about(refusal, None)
    }
}

impl From<uniffi::UnexpectedUniFFICallbackError> for ConnectorError {
    fn from(_: uniffi::UnexpectedUniFFICallbackError) -> Self {
        host::refusal("a callback of the host failed").into()
    }
}

/// A code with what it says, for lists of codes.
#[derive(Debug, Clone, uniffi::Record)]
pub struct ErrorCode {
    /// The stable code.
    pub code: String,
    /// When it is given, one sentence.
    pub says: String,
}

/// Every code that an error may carry.
#[uniffi::export]
pub fn error_codes() -> Result<Vec<ErrorCode>, ConnectorError> {
    let record = |code: &Code| ErrorCode { code: code.as_str().to_owned(), says: code.says().to_owned() };
    Ok(Code::ALL.iter().map(record).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_case() {
        for code in Code::ALL {
            let error = ConnectorError::from(Refusal::new(*code, "why"));
            let is_internal = matches!(error, ConnectorError::Internal { .. });
            assert_eq!(is_internal, *code == Code::Internal, "{code}");
            assert_eq!(error.to_string(), "why");
        }
    }
}
