//! A certificate authority made at run time, and the identities that it vouches for, or does not.

use std::error::Error;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, SupportedProtocolVersion};
use tokio_rustls::TlsAcceptor;

type Made<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A certificate authority for tests. Two of them do not know each other.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: rcgen::Certificate,
}

impl Authority {
    /// A new authority with a key of its own, by the name that they all have.
    pub fn new() -> Made<Self> {
        Self::named("Test authority")
    }

    /// A new authority with a key of its own and this name.
    pub fn named(name: &str) -> Made<Self> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key)?;
        Ok(Self { issuer: Issuer::new(params, key), certificate })
    }

    /// Its certificate, as PEM.
    pub fn pem(&self) -> String {
        self.certificate.pem()
    }

    /// Its certificate, as DER.
    pub fn der(&self) -> Vec<u8> {
        self.certificate.der().to_vec()
    }

    /// An identity for these names or addresses, valid now.
    pub fn issue(&self, names: &[&str]) -> Made<Identity> {
        self.sign(&params(names)?)
    }

    /// One whose time ended in 2001.
    pub fn issue_expired(&self, names: &[&str]) -> Made<Identity> {
        let mut params = params(names)?;
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
        self.sign(&params)
    }

    /// One whose time begins in 2100.
    pub fn issue_early(&self, names: &[&str]) -> Made<Identity> {
        let mut params = params(names)?;
        params.not_before = date_time_ymd(2100, 1, 1);
        params.not_after = date_time_ymd(2101, 1, 1);
        self.sign(&params)
    }

    fn sign(&self, params: &CertificateParams) -> Made<Identity> {
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Identity::new(&certificate, &key))
    }
}

fn params(names: &[&str]) -> Made<CertificateParams> {
    Ok(CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())?)
}

/// What a TLS server shows: a certificate and its key.
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    fn new(certificate: &rcgen::Certificate, key: &KeyPair) -> Self {
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        Self { chain: vec![certificate.der().clone()], key: key.into() }
    }

    /// One that vouches for itself.
    pub fn self_signed(names: &[&str]) -> Made<Self> {
        let key = KeyPair::generate()?;
        let certificate = params(names)?.self_signed(&key)?;
        Ok(Self::new(&certificate, &key))
    }

    pub(crate) fn acceptor(&self, versions: &[&'static SupportedProtocolVersion]) -> Made<TlsAcceptor> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)?
            .with_no_client_auth()
            .with_single_cert(self.chain.clone(), self.key.clone_key())?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
