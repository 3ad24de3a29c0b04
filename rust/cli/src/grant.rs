//! A grant written as flags.

use connector_core::TrustLimits;
use connector_core::grant::Grant;
use connector_core::json::{Number, Object, Value};
use connector_core::manifest::{SettingType, check};

use crate::style::Trouble;

/// What the call may reach.
#[derive(clap::Args)]
pub(crate) struct GrantFlags {
    /// Binds an origin that the manifest leaves to the person.
    #[arg(long, value_name = "NAME=URL")]
    origin: Vec<String>,
    /// Gives a setting of the manifest.
    #[arg(long, value_name = "NAME=VALUE")]
    setting: Vec<String>,
    /// Opens what is closed: `local-network`, `overlay-network`, `loopback`, `cleartext-credentials`.
    #[arg(long, value_name = "WORD", value_parser = ["local-network", "overlay-network", "loopback", "cleartext-credentials"])]
    allow: Vec<String>,
}

impl GrantFlags {
    /// The grant of the flags. A setting is a string, or an integer where the manifest asks for one.
    pub(crate) fn grant(&self, manifest: &[u8], limits: &TrustLimits) -> Result<Grant, Trouble> {
        let manifest = check(manifest, limits).manifest;
        let is_integer = |name: &str| {
            let setting = manifest.as_ref().and_then(|manifest| manifest.settings().get(name));
            setting.is_some_and(|setting| setting.kind == Some(SettingType::Integer))
        };

        let allows = |word: &str| Value::Bool(self.allow.iter().any(|allowed| allowed == word));
        let members = [
            ("origins", Value::Object(pairs("--origin", &self.origin, |_, url| Value::from(url))?)),
            (
                "settings",
                Value::Object(pairs("--setting", &self.setting, |name, text| {
                    if is_integer(name) { integer(text) } else { text.into() }
                })?),
            ),
            ("localNetwork", allows("local-network")),
            ("overlayNetwork", allows("overlay-network")),
            ("loopback", allows("loopback")),
            ("cleartextCredentials", allows("cleartext-credentials")),
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
            return Err(Trouble::usage(format!("{flag} takes NAME=VALUE")));
        };
        if object.insert(name, value(name, text)).is_err() {
            return Err(Trouble::usage(format!("{flag} gives `{name}` twice")));
        }
    }
    Ok(object)
}
