//! Whom a connection trusts, and the TLS of every client.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use connector_core::{Code, Refusal};
use rustls::client::{Resumption, WebPkiServerVerifier, danger::ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use crate::error::TlsFailure;

/// TLS sessions that one client may resume. They are kept per client, so that a server cannot link two
/// connectors by a ticket.
const SESSIONS: usize = 32;

/// The authorities that vouch for servers. Cheap to clone; clones share the roots, so a host makes one.
#[derive(Clone)]
pub struct Trust(Source);

#[derive(Clone)]
enum Source {
    #[cfg(not(target_os = "android"))]
    Platform(Arc<OnceLock<Arc<dyn ServerCertVerifier>>>),
    Given(Arc<dyn ServerCertVerifier>),
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            #[cfg(not(target_os = "android"))]
            Source::Platform(_) => "Trust(platform)",
            Source::Given(_) => "Trust(given)",
        })
    }
}

impl Trust {
    /// What the operating system trusts, checked by its own verifier where it has one. The roots are read
    /// at the first `https` connection. Not on Android, where the host hands the roots in.
    #[cfg(not(target_os = "android"))]
    pub fn platform() -> Self {
        Self(Source::Platform(Arc::default()))
    }

    /// These certificates (DER) as the only roots. Ones that cannot be parsed are left out, since system
    /// stores hold such; none left is refused with `net.tls`.
    pub fn roots<T: AsRef<[u8]>>(certificates: impl IntoIterator<Item = T>) -> Result<Self, Refusal> {
        let refuse = || Refusal::new(Code::NetTls, "None of the given roots is a usable certificate.");
        let mut roots = RootCertStore::empty();
        for certificate in certificates {
            // A certificate that does not parse counts as absent.
            drop(roots.add(CertificateDer::from_slice(certificate.as_ref()).into_owned()));
        }
        if roots.is_empty() {
            return Err(refuse());
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
            .build()
            .map_err(|_| refuse())?;
        Ok(Self(Source::Given(verifier)))
    }

    /// The certificates of a PEM text as the only roots.
    #[cfg(feature = "test-hooks")]
    pub fn pem(text: &str) -> Result<Self, Refusal> {
        use rustls::pki_types::pem::PemObject;
        Self::roots(CertificateDer::pem_slice_iter(text.as_bytes()).flatten())
    }

    fn verifier(&self) -> Result<Arc<dyn ServerCertVerifier>, TlsFailure> {
        match &self.0 {
            Source::Given(verifier) => Ok(Arc::clone(verifier)),
            #[cfg(not(target_os = "android"))]
            Source::Platform(cell) => {
                if let Some(verifier) = cell.get() {
                    return Ok(Arc::clone(verifier));
                }
                let verifier =
                    rustls_platform_verifier::Verifier::new(provider()).map_err(|_| TlsFailure::NoRoots)?;
                Ok(Arc::clone(cell.get_or_init(|| Arc::new(verifier))))
            }
        }
    }

    /// The TLS side of one client: TLS 1.2 and 1.3, `http/1.1` by ALPN, no client certificate, no early
    /// data, no key log.
    pub(crate) fn connector(&self) -> Result<TlsConnector, TlsFailure> {
        let mut config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|_| TlsFailure::Protocol)?
            .dangerous() // the name of the only door to a verifier of one's choice; ours checks everything
            .with_custom_certificate_verifier(self.verifier()?)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.resumption = Resumption::in_memory_sessions(SESSIONS);
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

/// One provider for all, given explicitly: no process-wide default is set or read.
fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    Arc::clone(PROVIDER.get_or_init(|| Arc::new(ring::default_provider())))
}

/// The kind of a failed handshake.
pub(crate) fn failure(error: &io::Error) -> TlsFailure {
    let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) else {
        return TlsFailure::Broken;
    };
    let rustls::Error::InvalidCertificate(fault) = error else { return TlsFailure::Protocol };
    match fault {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            TlsFailure::WrongName
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsFailure::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            TlsFailure::NotYetValid
        }
        CertificateError::UnknownIssuer => TlsFailure::UnknownIssuer,
        CertificateError::Revoked => TlsFailure::Revoked,
        _ => TlsFailure::BadCertificate,
    }
}
