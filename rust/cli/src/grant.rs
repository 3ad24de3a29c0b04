//! A grant written as flags.

use connector_core::TrustLimits;
use connector_core::grant::Grant;
use connector_core::json::{Number, Object, Value};
use connector_core::manifest::{SettingType, check};

use crate::style::Trouble;

/// What the call may reach.
#[derive(clap::Args)]
pub(crate) struct GrantFlags {
    /// Binds an origin that the manifest leaves to the person
    #[arg(long, value_name = "NAME=URL")]
    origin: Vec<String>,
    /// Gives a setting of the manifest
    #[arg(long, value_name = "NAME=VALUE")]
    setting: Vec<String>,
    /// Opens one thing that is closed (--help lists them)
    #[arg(
        long,
        value_name = "WORD",
        hide_possible_values = true,
        long_help = "\
Opens one thing that is closed:
- local-network: private addresses (RFC 1918, unique local, link-local)
- overlay-network: the shared address space 100.64.0.0/10
- loopback: this machine itself
- cleartext-credentials: a secret over http"
    )]
    allow: Vec<Allow>,
}

/// What a grant opens.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Allow {
    LocalNetwork,
    OverlayNetwork,
    Loopback,
    CleartextCredentials,
}

impl GrantFlags {
    /// Whether no flag says anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.origin.is_empty() && self.setting.is_empty() && self.allow.is_empty()
    }

    /// The grant of the flags. A setting is a string, or an integer where the manifest asks for one.
    pub(crate) fn grant(&self, manifest: &[u8], limits: &TrustLimits) -> Result<Grant, Trouble> {
        let manifest = check(manifest, limits).manifest;
        let is_integer = |name: &str| {
            let setting = manifest.as_ref().and_then(|manifest| manifest.settings().get(name));
            setting.is_some_and(|setting| setting.kind == Some(SettingType::Integer))
        };

        let allows = |word| Value::Bool(self.allow.contains(&word));
        let members = [
            ("origins", Value::Object(pairs("--origin", &self.origin, |_, url| Value::from(url))?)),
            (
                "settings",
                Value::Object(pairs("--setting", &self.setting, |name, text| {
                    if is_integer(name) { integer(text) } else { text.into() }
                })?),
            ),
            ("localNetwork", allows(Allow::LocalNetwork)),
            ("overlayNetwork", allows(Allow::OverlayNetwork)),
            ("loopback", allows(Allow::Loopback)),
            ("cleartextCredentials", allows(Allow::CleartextCredentials)),
        ];
        let grant = Value::Object(members.into_iter().collect());
        Ok(Grant::read(&grant, limits)?)
    }
}

/// The digits as a number; anything else stays a string, which the manifest then refuses.
fn integer(text: &str) -> Value {
    Number::parse(text).map_or_else(|| text.into(), Value::Number)
}

fn pairs(flag: &str, list: &[String], value: impl Fn(&str, &str) -> Value) -> Result<Object, Trouble> {
    let mut object = Object::new();
    for pair in list {
        let Some((name, text)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(Trouble::usage(format!("{flag} takes a name, `=` and a value")));
        };
        if object.insert(name, value(name, text)).is_err() {
            return Err(Trouble::usage(format!("{flag} gives `{name}` twice")));
        }
    }
    Ok(object)
}
