//! Manifests checked.

use connector_core::TrustLimits;
use connector_core::json::Locator;
use connector_core::manifest::check;
use connector_core::rule;

use crate::error::ConnectorError;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum Severity {
    /// The document is refused.
    Error,
    /// The document is taken; somebody should look.
    Warning,
}

/// One breach of one rule at one place.
#[derive(Debug, Clone, uniffi::Record)]
pub struct Finding {
    /// The stable id of the rule.
    pub rule: String,
    /// How much it weighs.
    pub severity: Severity,
    /// Where, as an RFC 6901 pointer; empty for the whole document.
    pub pointer: String,
    /// The line, from 1, where the text is known.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// What is wrong, one sentence.
    pub text: String,
    /// The way out.
    pub help: String,
}

impl Finding {
    pub(crate) fn list(findings: &[rule::Finding], document: Option<&[u8]>) -> Vec<Self> {
        let locator = document.map(|document| Locator::new(document, findings));
        let place = |number: usize| u32::try_from(number).ok();
        let finding = |(index, finding): (usize, &rule::Finding)| {
            let position =
                document.zip(locator.as_ref()).map(|(text, locator)| locator.position(text, index));
            Self {
                rule: finding.rule.id.to_owned(),
                severity: if finding.is_error() { Severity::Error } else { Severity::Warning },
                pointer: finding.pointer.clone(),
                line: position.and_then(|position| place(position.line)),
                column: position.and_then(|position| place(position.column)),
                text: finding.message.clone(),
                help: finding.rule.help.to_owned(),
            }
        };
        findings.iter().enumerate().map(finding).collect()
    }
}

/// A manifest that may be installed.
#[derive(Debug, Clone, uniffi::Record)]
pub struct ManifestSummary {
    /// The connector's id.
    pub id: String,
    /// The version of the manifest.
    pub version: String,
    /// The connector's title; clean text.
    pub title: String,
    /// SHA-256 of the exact bytes, 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// The full names of the tools, in file order.
    pub tools: Vec<String>,
}

/// Everything that was found in a manifest.
#[derive(Debug, Clone, uniffi::Record)]
pub struct CheckReport {
    /// The manifest; absent when a finding refuses it.
    pub manifest: Option<ManifestSummary>,
    /// All findings, errors and warnings.
    pub findings: Vec<Finding>,
}

pub(crate) fn report(bytes: &[u8], limits: &TrustLimits) -> CheckReport {
    let report = check(bytes, limits);
    let summary = |manifest: &connector_core::manifest::Manifest| ManifestSummary {
        id: manifest.id().as_str().to_owned(),
        version: manifest.version().to_owned(),
        title: manifest.title().to_owned(),
        sha256: manifest.sha256().to_string(),
        tools: manifest.tools().iter().map(|tool| tool.full_name().to_string()).collect(),
    };
    CheckReport {
        manifest: report.manifest.as_deref().map(summary),
        findings: Finding::list(report.findings.list(), Some(bytes)),
    }
}

/// Checks the exact bytes of a manifest under the default limits. A bad manifest is a report, not an error.
///
/// Kotlin: `checkManifest(bytes).findings.forEach { println("${it.line}:${it.column} ${it.text}") }`
#[uniffi::export]
pub fn check_manifest(manifest: Vec<u8>) -> Result<CheckReport, ConnectorError> {
    Ok(report(&manifest, &TrustLimits::default()))
}
