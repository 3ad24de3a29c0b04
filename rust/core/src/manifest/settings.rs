//! What the person gives at install time, held against the manifest.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::document::{Setting, SettingType};
use super::model::Manifest;
use super::rules::{SETTING_MISSING, SETTING_UNDECLARED, SETTING_VALUE};
use crate::error::{Code, Refusal};
use crate::json::{Number, Object, Path, Quoted, Value};
use crate::limits::TrustLimits;
use crate::request::{AnySlot, Options, Position, Settings, Source, can_stand};
use crate::rule::Findings;

impl Manifest {
    /// Takes the settings of a grant: each declared one given, of its type, not empty, and able to stand in
    /// every slot that it fills; no other. Refuses with `grant.invalid` and a finding for each breach, with
    /// pointers into `{"settings": ...}`; no value is told.
    pub fn bind_settings(&self, given: &Object, limits: &TrustLimits) -> Result<Settings, Refusal> {
        let mut findings = Findings::new();
        let at = Path::Root.name("settings");
        let declared = self.source().get("settings");
        for name in given.keys().filter(|name| declared.is_none_or(|all| all.get(name).is_none())) {
            let message = format_args!("the manifest has no setting {}", Quoted(name));
            findings.add_name(&SETTING_UNDECLARED, &at.name(name), message);
        }
        let slots = self.setting_slots();
        let mut values = Object::new();
        for (name, setting) in self.settings().iter() {
            let Some(value) = given.get(name.as_str()) else {
                findings.add(&SETTING_MISSING, &at, format_args!("the setting `{name}` is not given"));
                continue;
            };
            let slots = slots.get(name.as_str()).map_or(&[][..], Vec::as_slice);
            if let Err(why) = check_setting(setting, slots, value, limits) {
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

    /// How the slots of each setting place it, each way once.
    fn setting_slots(&self) -> FxHashMap<SmolStr, Vec<(Position, Options)>> {
        let mut slots: FxHashMap<SmolStr, Vec<(Position, Options)>> = FxHashMap::default();
        for tool in self.tools() {
            tool.request().each_slot(&Path::Root, &mut |_, position, slot| {
                if let AnySlot::Slot(slot) = slot
                    && slot.source == Source::Setting
                {
                    let places = slots.entry(slot.name.as_str().into()).or_default();
                    if !places.contains(&(position, slot.options)) {
                        places.push((position, slot.options));
                    }
                }
            });
        }
        slots
    }
}

fn check_setting(
    setting: &Setting,
    slots: &[(Position, Options)],
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
    slots.iter().try_for_each(|(position, options)| {
        let place = position.as_str();
        let stands = can_stand(*position, *options, value, limits);
        stands.map_err(|fault| format!("the value cannot stand in the {place}: {fault}"))
    })
}

/// Whether the number is one that every position sends.
fn is_integer(number: &Number) -> bool {
    number.as_integer().is_some_and(|integer| integer.unsigned_abs() < 1 << 53) && number.keeps_its_value()
}
