//! What a runtime is opened with.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use connector_core::signature::{Policies, Policy, PublicKey, TrustedKeys};
use connector_core::text::ModelTokens;
use connector_core::{Code, Refusal, TrustLimits};
use connector_runtime::store::{StoreKey, StoreOptions};
use connector_runtime::{ClientOptions, SessionOptions, Trust};
use zeroize::Zeroize;

use crate::credentials::{CredentialStore, HostError, HostStore};
use crate::error::ConnectorError;
use crate::host::{Asker, refusal};
use crate::log::{LogSink, observer};

/// A folder of the application in which what is installed is kept.
#[derive(Debug, Clone, uniffi::Record)]
pub struct StoreLocation {
    /// The folder, private to the application; it is made when it is missing. On iOS not in a container that is shared
    /// with extensions.
    pub folder: String,
    /// 32 random bytes that the application keeps in its Keychain or Keystore. Files that were not written with them are
    /// refused.
    pub key: Vec<u8>,
    /// The highest counter that the application has seen (`ConnectorRuntime.counter`). Absent, an older copy of the store
    /// put back cannot be told.
    #[uniffi(default = None)]
    pub seen_counter: Option<u64>,
}

/// A minisign public key that the application trusts.
#[derive(Debug, Clone, uniffi::Record)]
pub struct TrustedKey {
    /// The base64 line of the key.
    pub key: String,
    /// The connector ids that it may sign, and no others.
    pub ids: Vec<String>,
}

/// Whether manifests of a source must be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum SignaturePolicy {
    /// One without a signature is refused.
    Required,
    /// One may come without; a signature that is there must be valid.
    Optional,
}

impl SignaturePolicy {
    fn policy(self) -> Policy {
        match self {
            Self::Required => Policy::Required,
            Self::Optional => Policy::Optional,
        }
    }
}

/// What a runtime is opened with; everything has a default.
#[derive(Clone, uniffi::Record)]
pub struct RuntimeOptions {
    /// Where what is installed is kept; absent: in memory.
    #[uniffi(default = None)]
    pub store: Option<StoreLocation>,
    /// Limits that differ from the defaults, by their names in camel case (`manifestBytes`, `totalTimeoutMs`).
    #[uniffi(default)]
    pub limits: HashMap<String, u64>,
    /// The keys by which manifests may be signed.
    #[uniffi(default)]
    pub trusted_keys: Vec<TrustedKey>,
    /// Whether manifests of a source must be signed, by the application's label of the source.
    #[uniffi(default)]
    pub signatures: HashMap<String, SignaturePolicy>,
    /// The same for every other source; absent: optional.
    #[uniffi(default = None)]
    pub other_signatures: Option<SignaturePolicy>,
    /// Control tokens of the loaded model, beyond the known families: they are broken up in answers.
    #[uniffi(default)]
    pub special_tokens: Vec<String>,
    /// Where secrets are kept; absent: in memory, for as long as the runtime is open.
    #[uniffi(default = None)]
    pub credentials: Option<Arc<dyn CredentialStore>>,
    /// Who hears of every event as it happens.
    #[uniffi(default = None)]
    pub log: Option<Arc<dyn LogSink>>,
    /// Whether `http` is allowed to a host, beyond what the grant says; absent: the grant alone decides.
    #[uniffi(default = None)]
    pub cleartext: Option<Arc<dyn CleartextPolicy>>,
    /// How long a callback of the host may take, in milliseconds.
    #[uniffi(default = 30_000)]
    pub callback_timeout_ms: u32,
    /// The only certificates (DER) that vouch for servers; absent: those of the system. On Android hand over what
    /// `SystemRoots.read()` gives.
    #[uniffi(default = None)]
    pub roots: Option<Vec<Vec<u8>>>,
}

/// The verifier of Android would need JNI, and panics without.
#[cfg(target_os = "android")]
const NO_ROOTS: &str = "On Android the roots are handed over: give `roots` what `SystemRoots.read()` gives.";

impl Default for RuntimeOptions {
    fn default() -> Self {
        Self {
            store: None,
            limits: HashMap::new(),
            trusted_keys: Vec::new(),
            signatures: HashMap::new(),
            other_signatures: None,
            special_tokens: Vec::new(),
            credentials: None,
            log: None,
            cleartext: None,
            callback_timeout_ms: 30_000,
            roots: None,
        }
    }
}

/// What the platform says about `http`, as Android's `NetworkSecurityPolicy` does. It is asked when a call is planned.
#[uniffi::export(foreign)]
pub trait CleartextPolicy: Send + Sync {
    /// Whether a request to this host, an ASCII name or address, may go unencrypted.
    fn permits(&self, host: String) -> Result<bool, HostError>;
}

/// The host's policy, and how it is asked.
pub(crate) struct Cleartext {
    policy: Arc<dyn CleartextPolicy>,
    asker: Asker,
}

impl Cleartext {
    /// Refuses an origin (`http://host:port`) that the policy does not let through.
    pub(crate) fn check(&self, origin: &str) -> Result<(), Refusal> {
        let Some(authority) = origin.strip_prefix("http://") else { return Ok(()) };
        let host = match authority.rsplit_once(':') {
            // The colon of a port, and not one within an IPv6 address.
            Some((host, port)) if !port.ends_with(']') => host,
            _ => authority,
        };
        let (policy, host) = (Arc::clone(&self.policy), host.to_owned());
        let permitted = self
            .asker
            .ask(move || policy.permits(host).map_err(|_| refusal("the cleartext policy gave no answer")))?;
        if permitted {
            return Ok(());
        }
        Err(Refusal::new(
            Code::GrantDenied,
            "the platform's network security policy forbids http to this host",
        ))
    }
}

impl RuntimeOptions {
    fn asker(&self) -> Asker {
        Asker::new(Duration::from_millis(self.callback_timeout_ms.into()))
    }

    pub(crate) fn cleartext(&self) -> Option<Cleartext> {
        let policy = Arc::clone(self.cleartext.as_ref()?);
        Some(Cleartext { policy, asker: self.asker() })
    }

    pub(crate) fn session(&self) -> Result<SessionOptions, ConnectorError> {
        let trust = match &self.roots {
            Some(roots) => Trust::roots(roots)?,
            #[cfg(not(target_os = "android"))]
            None => Trust::platform(),
            #[cfg(target_os = "android")]
            None => return Err(Refusal::new(Code::NetTls, NO_ROOTS).into()),
        };
        let mut options = SessionOptions::new(ClientOptions::new(trust));
        options.limits = limits(&self.limits)?;
        options.tokens = ModelTokens::new(&self.special_tokens);
        let mut trusted = TrustedKeys::new();
        for TrustedKey { key, ids } in &self.trusted_keys {
            trusted = trusted.trust(PublicKey::parse(key)?, ids);
        }
        options.trusted = trusted;
        options.policies = Policies {
            otherwise: self.other_signatures.map_or(Policy::Optional, SignaturePolicy::policy),
            sources: self.signatures.iter().map(|(name, policy)| (name.into(), policy.policy())).collect(),
        };
        if let Some(store) = &self.credentials {
            options.credentials = Arc::new(HostStore::new(Arc::clone(store), self.asker()));
        }
        if let Some(sink) = &self.log {
            options.observer = Some(observer(Arc::clone(sink))?);
        }
        Ok(options)
    }
}

impl StoreLocation {
    pub(crate) fn options(mut self) -> Result<StoreOptions, ConnectorError> {
        let key = <[u8; 32]>::try_from(self.key.as_slice());
        self.key.zeroize();
        let key = key.map_err(|_| ConnectorError::host("the key of a store has 32 bytes"))?;
        Ok(StoreOptions { seen: self.seen_counter, ..StoreOptions::new(self.folder, StoreKey::new(key)) })
    }
}

fn limits(changed: &HashMap<String, u64>) -> Result<TrustLimits, ConnectorError> {
    let mut limits = TrustLimits::default();
    for (name, value) in changed {
        limits
            .set(name, *value)
            .map_err(|fault| ConnectorError::host(format!("the limit `{name}`: {fault}")))?;
    }
    Ok(limits)
}
