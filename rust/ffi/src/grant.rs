//! What a person allows one connector.

use std::collections::HashMap;

use connector_core::grant;
use connector_core::json::{Object, Value};
use connector_core::shape::Members;
use connector_core::{TrustLimits, manifest};
use smol_str::SmolStr;

use crate::error::ConnectorError;
use crate::read_json;

/// What a call does to the server's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum Effect {
    /// Nothing.
    Read,
    /// It adds or changes.
    Write,
    /// It deletes, or cannot be undone.
    Destructive,
}

impl Effect {
    pub(crate) fn of(effect: manifest::Effect) -> Self {
        match effect {
            manifest::Effect::Read => Self::Read,
            manifest::Effect::Write => Self::Write,
            manifest::Effect::Destructive => Self::Destructive,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, uniffi::Enum)]
pub enum SettingValue {
    /// A text.
    Text {
        /// The value.
        value: String,
    },
    /// A whole number, within 2^53.
    Integer {
        /// The value.
        value: i64,
    },
    /// A number.
    Decimal {
        /// The value.
        value: f64,
    },
    /// Yes or no.
    Flag {
        /// The value.
        value: bool,
    },
}

/// What a person allows one connector. An empty one allows the least.
#[derive(Debug, Clone, Default, uniffi::Record)]
pub struct Grant {
    /// Origins for the `userProvided` entries of the manifest, by name.
    #[uniffi(default)]
    pub origins: HashMap<String, String>,
    /// Values for the settings of the manifest, by name.
    #[uniffi(default)]
    pub settings: HashMap<String, SettingValue>,
    /// Private addresses (RFC 1918, unique local, link-local) may be connected to.
    #[uniffi(default = false)]
    pub local_network: bool,
    /// The shared address space of overlay networks (`100.64.0.0/10`) may be connected to.
    #[uniffi(default = false)]
    pub overlay_network: bool,
    /// The device itself may be connected to.
    #[uniffi(default = false)]
    pub loopback: bool,
    /// Credentials may be sent over `http`.
    #[uniffi(default = false)]
    pub cleartext_credentials: bool,
    /// Effects that need a confirmation; absent: write and destructive. Destructive always does.
    #[uniffi(default = None)]
    pub confirm: Option<Vec<Effect>>,
    /// Connectors whose text may flow into calls of this one without a question.
    #[uniffi(default)]
    pub flows: Vec<String>,
    /// The tools that may be called; absent: all.
    #[uniffi(default = None)]
    pub only: Option<Vec<String>>,
}

impl Grant {
    pub(crate) fn of(grant: &grant::Grant) -> Self {
        let names = |list: &[SmolStr]| list.iter().map(ToString::to_string).collect();
        let origins = grant.origins.as_ref().into_iter().flat_map(Members::iter);
        let settings = grant.settings.as_ref().into_iter().flat_map(Members::iter);
        Self {
            origins: origins.map(|(name, url)| (name.to_string(), url.to_string())).collect(),
            settings: settings
                .filter_map(|(name, value)| Some((name.to_string(), setting_of(value)?)))
                .collect(),
            local_network: grant.local_network,
            overlay_network: grant.overlay_network,
            loopback: grant.loopback,
            cleartext_credentials: grant.cleartext_credentials,
            confirm: grant
                .confirm
                .as_ref()
                .map(|effects| effects.0.iter().copied().map(Effect::of).collect()),
            flows: grant
                .flows
                .as_ref()
                .map(|flows| flows.0.iter().map(|id| id.as_str().to_owned()).collect())
                .unwrap_or_default(),
            only: grant.only.as_ref().map(|only| names(&only.0)),
        }
    }

    pub(crate) fn read(self, limits: &TrustLimits) -> Result<grant::Grant, ConnectorError> {
        let list = |items: Vec<String>| Value::Array(items.iter().map(|item| item.as_str().into()).collect());
        let mut members = Object::new();
        let origins: Object =
            sorted(self.origins).into_iter().map(|(name, url)| (name, url.as_str().into())).collect();
        let mut settings = Object::new();
        for (name, value) in sorted(self.settings) {
            put(&mut settings, &name, setting(value)?);
        }
        put(&mut members, "origins", origins.into());
        put(&mut members, "settings", settings.into());
        for (name, flag) in [
            ("localNetwork", self.local_network),
            ("overlayNetwork", self.overlay_network),
            ("loopback", self.loopback),
            ("cleartextCredentials", self.cleartext_credentials),
        ] {
            put(&mut members, name, flag.into());
        }
        if let Some(confirm) = self.confirm {
            let words = confirm.into_iter().map(|effect| effect.word().into());
            put(&mut members, "confirm", Value::Array(words.collect()));
        }
        put(&mut members, "flows", list(self.flows));
        if let Some(only) = self.only {
            put(&mut members, "only", list(only));
        }
        Ok(grant::Grant::read(&Value::Object(members), limits)?)
    }
}

/// The names of a map are different, so that none is there before.
fn put(object: &mut Object, name: &str, value: Value) {
    let _there_before = object.insert(name, value);
}

/// Findings come in the order of the names, whatever the host's map does.
fn sorted<T>(map: HashMap<String, T>) -> Vec<(String, T)> {
    let mut list: Vec<_> = map.into_iter().collect();
    list.sort_by(|(a, _), (b, _)| a.cmp(b));
    list
}

fn setting(value: SettingValue) -> Result<Value, ConnectorError> {
    Ok(match value {
        SettingValue::Text { value } => value.as_str().into(),
        SettingValue::Integer { value } => value.into(),
        SettingValue::Decimal { value } => {
            let finite = value.is_finite().then(|| read_json(&value.to_string()).ok()).flatten();
            finite.ok_or_else(|| ConnectorError::host("a setting is no finite number"))?
        }
        SettingValue::Flag { value } => value.into(),
    })
}

/// A setting has one of four types, as its schema says.
fn setting_of(value: &Value) -> Option<SettingValue> {
    Some(match value {
        Value::String(text) => SettingValue::Text { value: text.to_string() },
        Value::Bool(flag) => SettingValue::Flag { value: *flag },
        Value::Number(number) => match number.as_integer().and_then(|value| i64::try_from(value).ok()) {
            Some(value) => SettingValue::Integer { value },
            None => SettingValue::Decimal { value: number.to_f64() },
        },
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    })
}
