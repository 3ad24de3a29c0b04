//! The few stable codes by which the core refuses, and the value that carries one.

use std::fmt;

use crate::rule::Finding;

macro_rules! codes {
    ($($variant:ident $text:literal $doc:literal;)*) => {
        /// Every stable code of the core and of the crates around it. Codes are added, never renamed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $doc] $variant,)*
        }

        impl Code {
            /// All codes, in the order of the documentation.
            pub const ALL: &[Code] = &[$(Code::$variant),*];

            /// The code as it stands in messages, `area.what`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// When the code is given, one sentence.
            pub fn says(self) -> &'static str {
                match self {
                    $(Self::$variant => $doc,)*
                }
            }
        }
    };
}

codes! {
    JsonInvalid "json.invalid" "A document is not strict JSON, or is over a limit; the findings say where.";
    ManifestInvalid "manifest.invalid" "A manifest breaks at least one rule; the findings list all of them.";
    SchemaInvalid "schema.invalid" "A schema breaks at least one rule; the findings list all of them.";
    SchemaTooCostly "schema.too_costly" "Deciding about a schema took more steps than the core allows.";
    SchemaGrammarTooLarge "schema.grammar_too_large" "The grammar of a schema is too large, even in its widest form.";
    OriginInvalid "origin.invalid" "A text is not an origin that the core accepts.";
    GrantInvalid "grant.invalid" "A grant does not fit its manifest: a missing, unknown or unusable binding or setting.";
    GrantWider "grant.wider" "A later grant allows more than the one in force, which takes an approval.";
    GrantDenied "grant.denied" "A call needs something that the grant of its connector does not give.";
    InstallSource "install.source" "A store keeps this connector id for another source.";
    MergeSource "merge.source" "A connector id belongs to another source or signing key, for good.";
    MergeSupersedes "merge.supersedes" "A manifest does not carry the hash of the one that it replaces.";
    MergeWidening "merge.widening" "A tool would take arguments that it refused before.";
    MergeUndecided "merge.undecided" "Whether a tool would take more than before was not decided.";
    MergeRequired "merge.required" "The required arguments of a tool would change.";
    MergeChanged "merge.changed" "Something else than a schema or a limit of a tool would change, or a tool be added.";
    MergeTombstonesFull "merge.tombstones_full" "No more tool names can be remembered, and none is ever forgotten.";
    ApprovalInvalid "approval.invalid" "The approval was used, is too old, or is for something else.";
    ConnectorUnknown "connector.unknown" "No connector with this id is installed.";
    ContractStale "contract.stale" "The contract is missing, or of another tool set: export the tools again.";
    ExportUnknown "export.unknown" "An export names a tool that is not installed, or that its grant does not let be called.";
    ExportTooLarge "export.too_large" "The tools of an export take more room than was given; the findings list their sizes.";
    CallInvalid "call.invalid" "A tool call is not of the expected shape.";
    CallNotExported "call.not_exported" "A call names a tool that the export did not show.";
    CallArguments "call.arguments" "The arguments of a call are not what the tool's schema accepts.";
    RequestValue "request.value" "An argument or setting cannot stand where its slot puts it.";
    RequestTooLarge "request.too_large" "The finished request is over a limit.";
    PlanUnknown "plan.unknown" "No such plan: it was used, has expired with its session, or never was.";
    PlanExpired "plan.expired" "The plan waited longer than plans live.";
    PlanStale "plan.stale" "The tool set or the grant changed after the plan was made.";
    PlanConfirmationRequired "plan.confirmation_required" "The plan needs the digest that was shown to the person.";
    CredentialUnknown "credential.unknown" "The manifest of the connector has no credential with this name.";
    CredentialMissing "credential.missing" "A credential that the request needs is not set.";
    CredentialInvalid "credential.invalid" "A secret cannot stand in its place: empty, too long, or with forbidden characters.";
    CredentialRejected "credential.rejected" "The server refused the credential.";
    RateLimited "rate.limited" "The connector made its calls of this minute.";
    WriteInFlight "write.in_flight" "Another write of this connector is under way.";
    NetAddress "net.address" "The name resolves to no address that the grant allows.";
    NetResolve "net.resolve" "The name does not resolve.";
    NetConnect "net.connect" "No connection could be made.";
    NetTls "net.tls" "The TLS handshake failed, or the certificate is not valid for the origin.";
    NetTimeout "net.timeout" "The call took longer than its whole time.";
    NetCancelled "net.cancelled" "The call was cancelled.";
    NetProtocol "net.protocol" "The answer is not HTTP as RFC 9112 defines it, or was cut short.";
    NetHeadersTooLarge "net.headers_too_large" "The header fields of the answer are over the limit.";
    NetTooLarge "net.too_large" "The body of the answer is over the limit.";
    NetEncoding "net.encoding" "The content coding of the answer is not one that was asked for, or is broken.";
    NetRedirect "net.redirect" "The answer is a redirect that the manifest does not let through.";
    OutcomeUnknown "outcome_unknown" "A write was cut after it may have begun: whether it took effect is not known.";
    ResponseInvalid "response.invalid" "The answer cannot be read as its response map says.";
    SessionClosed "session.closed" "The session was closed.";
    FileUnreadable "file.unreadable" "A file that the command line names cannot be opened or read.";
    RandomUnavailable "random.unavailable" "The device gives no random numbers, without which no call is planned.";
    SignatureMissing "signature.missing" "A source needs a signature, and the manifest came without one.";
    SignatureInvalid "signature.invalid" "A signature is malformed, or is not one over these bytes by its key.";
    SignatureKey "signature.key" "A signature is by a key that the host does not trust, or not for this connector id.";
    LedgerOrder "ledger.order" "A write was started twice under one plan, or ended without having been started.";
    AuditBroken "audit.broken" "A line of the audit trail was removed or changed.";
    StoreFolder "store.folder" "The folder of the store is missing, is not a folder, or cannot be made.";
    StoreLocked "store.locked" "Another process has the store open.";
    StoreTampered "store.tampered" "A file of the store was edited, or is under another key.";
    StoreRolledBack "store.rolled_back" "The lock file is older than one that the host has seen.";
    StoreVersion "store.version" "The lock file is of a newer format than this version reads.";
    StoreManifest "store.manifest" "The file of an installed manifest is missing, or is not the one that was installed.";
    StoreStale "store.stale" "The store has changed since the transaction was made.";
    StoreLimit "store.limit" "A change would take the store over one of its limits; nothing is forgotten to make room.";
    StoreReadOnly "store.read_only" "The folder of the store cannot be written to.";
    StoreFull "store.full" "There is no space left for the store.";
    StoreIo "store.io" "A file could not be read or written.";
    HostValue "host.value" "A value that the host gave cannot be used.";
    HostCallback "host.callback" "A callback of the host failed, took too long, or called back into the core.";
    Internal "internal" "A defect of the core.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why the core refuses: a stable code, a sentence for the developer, and, where the model can mend it, a
/// sentence for the model. No field ever holds a secret, an argument value or a URL with values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {reason}")]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// For the developer, one sentence.
    pub reason: String,
    /// For the model, when it can do something about it.
    pub advice: Option<String>,
    /// The single breaches, for documents.
    pub findings: Vec<Finding>,
}

impl Refusal {
    /// A refusal without advice and findings.
    pub fn new(code: Code, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), advice: None, findings: Vec::new() }
    }

    /// Adds the sentence for the model.
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// Adds the single breaches.
    pub fn with_findings(mut self, findings: Vec<Finding>) -> Self {
        self.findings = findings;
        self
    }
}
