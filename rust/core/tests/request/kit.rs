//! A tool by its request alone, called.

use std::sync::Arc;

use connector_core::json::{Numbers, Object, Profile, Value, read_strict};
use connector_core::manifest::{Manifest, check};
use connector_core::origin::{BoundOrigin, Reach};
use connector_core::request::{Built, CredentialUse, Given, Rendered};
use connector_core::{Refusal, TrustLimits};

pub(crate) const KEY: &str = "0b1c2d3e-4f50-4162-8374-859607a8b9c0";

pub(crate) fn read(text: &str) -> Value {
    let profile = Profile { max_bytes: 4 << 20, max_depth: 64, numbers: Numbers::Any };
    read_strict(text.as_bytes(), profile).unwrap()
}

pub(crate) fn object(value: &serde_json::Value) -> Object {
    read(&value.to_string()).as_object().unwrap().clone()
}

/// The manifest, without any finding.
pub(crate) fn manifest(value: &serde_json::Value) -> Arc<Manifest> {
    let report = check(value.to_string().as_bytes(), &TrustLimits::default());
    assert!(report.findings.list().is_empty(), "{:?}\n{value:#}", report.findings.list());
    report.manifest.unwrap()
}

/// The fixed origin of a tool, or the given value of a userProvided one.
pub(crate) fn bind(manifest: &Manifest, name: &str, value: Option<&str>, reach: Reach) -> BoundOrigin {
    manifest.origins().get(name).unwrap().bind(value, reach).unwrap()
}

/// Builds the request of the only tool of a manifest with one fixed origin.
pub(crate) fn build(manifest: &Manifest, settings: &Object, arguments: &Object) -> Result<Built, Refusal> {
    let limits = TrustLimits::default();
    let request = manifest.tools()[0].request();
    let origin = bind(manifest, request.origin.0.as_str(), None, Reach::PUBLIC);
    let settings = manifest.bind_settings(settings, &limits)?;
    request.build(&origin, &settings, arguments, request.idempotency.as_ref().map(|_| KEY), &limits)
}

pub(crate) fn preview(built: &Built) -> Rendered {
    built.render(|_: &CredentialUse| Given::Placeholder).unwrap()
}

pub(crate) fn body(rendered: &Rendered) -> Option<&str> {
    rendered.body.as_deref().map(|body| std::str::from_utf8(body).unwrap())
}

pub(crate) fn target(rendered: &Rendered) -> &str {
    &rendered.url[url::Position::BeforePath..]
}

pub(crate) fn header<'r>(rendered: &'r Rendered, name: &str) -> Option<&'r str> {
    let mut found = rendered.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
    let value = found.next().map(|header| &*header.value);
    assert!(found.next().is_none(), "{name} stands twice");
    value
}
