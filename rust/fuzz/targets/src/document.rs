//! Documents: JSON, manifests, grants, origins.

use std::sync::Arc;

use connector_core::grant::Grant;
use connector_core::json::{Numbers, Path, Profile, canonical, read, read_strict};
use connector_core::manifest;
use connector_core::origin::{OriginEntry, Reach, classify, is_local};
use connector_core::shape::{Reading, Shape};
use connector_core::toolset::{Connector, ToolSet};
use connector_core::{Findings, TrustLimits};

const LOOSE: Profile = Profile { max_bytes: 1 << 20, max_depth: 64, numbers: Numbers::Any };
pub(crate) const STRICT: Profile = Profile { numbers: Numbers::Exact, ..LOOSE };

/// What is read is written and read again as the same; its canonical form is its own canonical form.
pub(crate) fn json(data: &[u8]) {
    let (_, findings) = read(data, LOOSE);
    let Ok(value) = read_strict(data, LOOSE) else {
        assert!(findings.has_errors(), "refused without a finding");
        return;
    };
    let again = read_strict(value.to_text().as_bytes(), LOOSE).expect("what was written is strict JSON");
    assert!(again == value, "written and read again it is another");
    if let Ok(exact) = read_strict(data, STRICT) {
        let form = canonical(&exact).expect("what keeps its value has a canonical form");
        let again = read_strict(form.as_bytes(), STRICT).expect("a canonical form is strict JSON");
        assert_eq!(canonical(&again).as_deref(), Some(form.as_str()));
    }
}

/// A manifest is there exactly when no finding is an error; one that binds can be installed, and hashes the same again.
pub(crate) fn manifest(data: &[u8]) {
    let limits = TrustLimits::default();
    let report = manifest::check(data, &limits);
    assert_eq!(report.manifest.is_some(), !report.findings.has_errors());
    for finding in report.findings.list() {
        assert!(!finding.message.is_empty() && finding.message.len() < 4_096);
        assert!(finding.pointer.is_empty() || finding.pointer.starts_with('/'));
    }
    let Some(checked) = report.manifest else { return };
    assert!(!checked.tools().is_empty());
    let Ok(connector) = Connector::bind(checked, "fuzz", Grant::default(), &limits) else { return };
    let connector = Arc::new(connector);
    let hash = || ToolSet::default().install(Arc::clone(&connector), None).map(|set| set.hash());
    assert_eq!(hash().expect("a bound connector can be installed"), hash().unwrap());
}

/// A grant is no wider than itself.
pub(crate) fn grant(data: &[u8]) {
    let Ok(value) = read_strict(data, STRICT) else { return };
    if let Ok(grant) = Grant::read(&value, &TrustLimits::default()) {
        assert!(grant.wider_members(&grant).is_empty());
    }
}

/// What is taken for an origin equals its own serialisation by the URL standard, and is https and no literal address.
pub(crate) fn origin(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let classified = classify(text, Reach::default());
    assert!(!classified.allowed || text.parse::<std::net::IpAddr>().is_ok());
    let bound = OriginEntry::fixed(text).and_then(|entry| entry.bind(None, Reach::default()));
    if let Ok(bound) = bound {
        let url = url::Url::parse(text).expect("an origin is a URL");
        assert_eq!(url.origin().ascii_serialization(), bound.as_str());
        assert_eq!(bound.as_str(), text);
        assert!(url.scheme() == "https" && matches!(url.host(), Some(url::Host::Domain(_))));
    }
    let entry = br#"{"userProvided":{"title":"x","localNetwork":true}}"#;
    let entry = read_strict(entry, STRICT).expect("an entry is JSON");
    let limits = TrustLimits::default();
    let mut findings = Findings::new();
    let mut reading = Reading { limits: &limits, findings: &mut findings };
    let entry = OriginEntry::read(&entry, &Path::Root, &mut reading);
    let reach = Reach { local_network: true, overlay_network: true, loopback: true };
    if let Ok(bound) = entry.expect("an entry").bind(Some(text), reach) {
        let url = url::Url::parse(text).expect("a bound value is a URL");
        assert_eq!(url.origin().ascii_serialization(), bound.as_str());
        if url.scheme() == "http"
            && let Some(address) = bound.origin().address()
        {
            assert!(is_local(address), "http to a public address");
        }
    }
}
