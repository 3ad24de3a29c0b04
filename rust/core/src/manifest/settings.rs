//! What the person gives at install time, held against the manifest.

use super::document::{Setting, SettingType};
use super::model::Manifest;
use super::rules::{SETTING_MISSING, SETTING_UNDECLARED, SETTING_VALUE};
use crate::error::{Code, Refusal};
use crate::json::{Number, Object, Path, Quoted, Value};
use crate::limits::TrustLimits;
use crate::request::{AnySlot, Options, Position, Settings, Source, ValueFault, can_stand};
use crate::rule::Findings;

impl Manifest {
    /// Takes the settings of a grant: each declared one given, of its type, not empty, and able to stand in
    /// every slot that it fills; no other. Refuses with `grant.invalid` and a finding for each breach, with
    /// pointers into `{"settings": ...}`; no value is told.
    pub fn bind_settings(&self, given: &Object, limits: &TrustLimits) -> Result<Settings, Refusal> {
        let mut findings = Findings::new();
        let at = Path::Root.name("settings");
        for name in given.keys().filter(|name| self.settings().get(name).is_none()) {
            let message = format_args!("the manifest has no setting {}", Quoted(name));
            findings.add_name(&SETTING_UNDECLARED, &at.name(name), message);
        }
        let mut values = Object::new();
        for (name, setting) in self.settings().iter() {
            let Some(value) = given.get(name.as_str()) else {
                findings.add(&SETTING_MISSING, &at, format_args!("the setting `{name}` is not given"));
                continue;
            };
            if let Err(why) = self.check_setting(name.as_str(), setting, value, limits) {
                findings.add(&SETTING_VALUE, &at.name(name.as_str()), format_args!("{why}"));
            }
            let _first = values.insert(name.as_str(), value.clone());
        }
        if findings.has_errors() {
            let count = findings.errors();
            let reason = format!("{count} of the settings are missing, unknown or cannot be used");
            return Err(Refusal::new(Code::GrantInvalid, reason).with_findings(findings.into_list()));
        }
        Ok(Settings::new(values))
    }

    fn check_setting(
        &self,
        name: &str,
        setting: &Setting,
        value: &Value,
        limits: &TrustLimits,
    ) -> Result<(), String> {
        match (setting.kind.unwrap_or(SettingType::String), value) {
            (SettingType::String, Value::String(text)) if text.is_empty() => {
                return Err("the value is empty".into());
            }
            (SettingType::String, Value::String(text)) => {
                if setting.choices.as_ref().is_some_and(|choices| !choices.0.contains(text)) {
                    return Err("the value is none of the choices".into());
                }
            }
            (SettingType::Integer, Value::Number(number)) if is_integer(number) => {}
            (kind, _) => return Err(format!("the value is no {}", kind.as_str())),
        }
        let mut fault: Option<(ValueFault, Position)> = None;
        self.each_setting_slot(&mut |filled, position, options| {
            if filled == name && fault.is_none() {
                fault = can_stand(position, options, value, limits).err().map(|fault| (fault, position));
            }
        });
        match fault {
            Some((fault, position)) => {
                Err(format!("the value cannot stand in the {}: {fault}", position.as_str()))
            }
            None => Ok(()),
        }
    }

    fn each_setting_slot(&self, visit: &mut dyn FnMut(&str, Position, Options)) {
        for tool in self.tools() {
            tool.request().each_slot(&Path::Root, &mut |_, position, slot| {
                if let AnySlot::Slot(slot) = slot
                    && slot.source == Source::Setting
                {
                    visit(slot.name.as_str(), position, slot.options);
                }
            });
        }
    }
}

/// Whether the number is one that every position sends.
fn is_integer(number: &Number) -> bool {
    number.as_integer().is_some_and(|integer| integer.unsigned_abs() < 1 << 53) && number.keeps_its_value()
}
