//! What is declared and what is used: origins, settings, credentials.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::{
    CREDENTIAL_FOREIGN, CREDENTIAL_OPTIONAL, CREDENTIAL_UNKNOWN, CREDENTIAL_UNUSED, ORIGIN_UNKNOWN,
    ORIGIN_UNUSED, SETTING_CHOICES, SETTING_CHOICES_OR_TYPE, SETTING_UNKNOWN, SETTING_UNUSED,
};
use crate::json::{Object, Path, Value};
use crate::manifest::document::{Credential, ManifestDraft, SettingType, ToolDraft};
use crate::request::{AnySlot, CREDENTIAL_IN_ORIGIN, CredentialSlot, Options, Position, Source, can_stand};
use crate::rule::Rule;
use crate::shape::{Identifier, Named, Reading};

/// The declared names of a manifest, and which of them its tools use.
pub(in crate::manifest) struct Uses<'m> {
    origins: Declared<'m>,
    settings: Declared<'m>,
    credentials: Declared<'m>,
    typed: FxHashMap<&'m str, &'m Credential>,
    chosen: FxHashMap<&'m str, Chosen<'m>>,
}

/// A setting with choices, and how its slots place it.
struct Chosen<'m> {
    choices: &'m [SmolStr],
    slots: Vec<(Position, Options)>,
}

/// The names of one member of the document, as it is written.
struct Declared<'m> {
    member: &'static str,
    /// Each name, and whether it was seen in use. Nothing when the member is no object: then nothing is judged.
    names: Option<FxHashMap<&'m str, bool>>,
    order: Option<&'m Object>,
}

impl<'m> Declared<'m> {
    fn new(source: &'m Value, member: &'static str) -> Self {
        let nothing: FxHashMap<&str, bool> = FxHashMap::default();
        let (names, order) = match source.get(member) {
            None => (Some(nothing), None),
            Some(Value::Object(object)) => {
                (Some(object.keys().map(|name| (name.as_str(), false)).collect()), Some(object))
            }
            Some(_) => (None, None),
        };
        Self { member, names, order }
    }

    /// Marks a name as used; reports one that is not declared.
    fn mark(&mut self, name: &str, rule: &'static Rule, at: &Path<'_>, reading: &mut Reading<'_>) {
        let Some(names) = &mut self.names else { return };
        if let Some(used) = names.get_mut(name) {
            *used = true;
        } else {
            let member = self.member;
            reading.findings.add(rule, at, format_args!("`{member}` declares no `{name}`"));
        }
    }

    /// Marks a name that may be used, if it is declared.
    fn mark_silently(&mut self, name: &str) {
        if let Some(used) = self.names.as_mut().and_then(|names| names.get_mut(name)) {
            *used = true;
        }
    }

    fn mark_all(&mut self) {
        self.names = None;
    }

    fn report_unused(&self, rule: &'static Rule, at: &Path<'_>, reading: &mut Reading<'_>) {
        let (Some(names), Some(order)) = (&self.names, self.order) else { return };
        let at = at.name(self.member);
        for name in order.keys().filter(|name| names.get(name.as_str()) == Some(&false)) {
            // A name that is no identifier cannot be used, and was reported.
            if Identifier::parse(name, reading.limits.identifier_chars).is_some() {
                reading.findings.add_name(rule, &at.name(name), format_args!("no tool uses `{name}`"));
            }
        }
    }
}

impl<'m> Uses<'m> {
    /// The declarations of a manifest; `source` is the document as it is written.
    pub(in crate::manifest) fn new(manifest: &'m ManifestDraft, source: &'m Value) -> Self {
        let typed = manifest.credentials.iter().flatten().flat_map(Named::iter);
        Self {
            origins: Declared::new(source, "origins"),
            settings: Declared::new(source, "settings"),
            credentials: Declared::new(source, "credentials"),
            typed: typed.map(|(name, credential)| (name.as_str(), credential)).collect(),
            chosen: manifest
                .settings
                .iter()
                .flatten()
                .flat_map(Named::iter)
                .filter_map(|(name, setting)| {
                    let choices = &setting.choices.as_ref()?.0;
                    Some((name.as_str(), Chosen { choices, slots: Vec::new() }))
                })
                .collect(),
        }
    }

    /// Judges what is declared in itself.
    pub(in crate::manifest) fn check_declarations(
        &mut self,
        manifest: &ManifestDraft,
        at: &Path<'_>,
        reading: &mut Reading<'_>,
    ) {
        let origins_at = at.name("origins");
        for (name, entry) in self.origins.order.into_iter().flat_map(Object::iter) {
            if entry.get("$credential").is_some() {
                let message = format_args!("a credential cannot stand in an origin");
                reading.findings.add(&CREDENTIAL_IN_ORIGIN, &origins_at.name(name), message);
            }
        }
        let credentials_at = at.name("credentials");
        for (name, credential) in manifest.credentials.iter().flatten().flat_map(Named::iter) {
            let origin = credential.origin.as_str();
            if self.origins.names.as_ref().is_some_and(|names| !names.contains_key(origin)) {
                let at = credentials_at.name(name.as_str());
                let message = format_args!("`origins` declares no `{origin}`");
                reading.findings.add(&ORIGIN_UNKNOWN, &at.name("origin"), message);
            }
        }
        let settings_at = at.name("settings");
        for (name, setting) in manifest.settings.iter().flatten().flat_map(Named::iter) {
            if setting.choices.is_some() && setting.kind == Some(SettingType::Integer) {
                let at = settings_at.name(name.as_str());
                let message = format_args!("`choices` are strings, and the setting is an integer");
                reading.findings.add_name(&SETTING_CHOICES_OR_TYPE, &at.name("choices"), message);
            }
        }
    }

    /// Judges the names that a tool uses; `source` is the tool as it is written.
    pub(in crate::manifest) fn check_tool(
        &mut self,
        tool: &ToolDraft,
        source: &Value,
        at: &Path<'_>,
        reading: &mut Reading<'_>,
    ) {
        let at = at.name("request");
        let Some(request) = &tool.request else {
            // A tool without a request is a finding; what it might have used is not.
            self.origins.mark_all();
            self.settings.mark_all();
            self.credentials.mark_all();
            return;
        };
        let origin = request.origin.as_ref().map(|origin| origin.0.as_str());
        match origin {
            Some(name) => self.origins.mark(name, &ORIGIN_UNKNOWN, &at.name("origin"), reading),
            None => self.origins.mark_all(),
        }
        request.each_slot(&at, &mut |at, position, slot| match slot {
            AnySlot::Slot(slot) if slot.source == Source::Setting => {
                self.settings.mark(slot.name.as_str(), &SETTING_UNKNOWN, at, reading);
                if let Some(chosen) = self.chosen.get_mut(slot.name.as_str()) {
                    let place = (position, slot.options);
                    if !chosen.slots.contains(&place) {
                        chosen.slots.push(place);
                    }
                }
            }
            AnySlot::Slot(_) => {}
            AnySlot::Credential(slot) => {
                self.credentials.mark(slot.name.as_str(), &CREDENTIAL_UNKNOWN, at, reading);
                if let Some(credential) = self.typed.get(slot.name.as_str()) {
                    check_credential(slot, credential, origin, at, reading);
                }
            }
        });
        if !request.is_complete() {
            let written = source.get("request").unwrap_or(&Value::Null);
            each_name(written, &mut |kind, name| match kind {
                "$setting" => self.settings.mark_silently(name),
                "$credential" => self.credentials.mark_silently(name),
                _ => {}
            });
        }
    }

    /// Reports choices that cannot stand in a slot, and what no tool used, once all tools were judged.
    pub(in crate::manifest) fn finish(&self, at: &Path<'_>, reading: &mut Reading<'_>) {
        let settings_at = at.name("settings");
        for name in self.settings.order.into_iter().flat_map(Object::keys) {
            let Some(Chosen { choices, slots }) = self.chosen.get(name.as_str()) else { continue };
            let at = settings_at.name(name);
            let at = at.name("choices");
            for (index, choice) in choices.iter().enumerate().filter(|(_, choice)| !choice.is_empty()) {
                let value = Value::String(choice.clone());
                let fault = slots.iter().find_map(|(position, options)| {
                    let fault = can_stand(*position, *options, &value, reading.limits).err()?;
                    Some((fault, position.as_str()))
                });
                if let Some((fault, place)) = fault {
                    let message = format_args!("the choice cannot stand in the {place}: {fault}");
                    reading.findings.add(&SETTING_CHOICES, &at.index(index), message);
                }
            }
        }
        self.origins.report_unused(&ORIGIN_UNUSED, at, reading);
        self.settings.report_unused(&SETTING_UNUSED, at, reading);
        self.credentials.report_unused(&CREDENTIAL_UNUSED, at, reading);
    }
}

fn check_credential(
    slot: &CredentialSlot,
    credential: &Credential,
    origin: Option<&str>,
    at: &Path<'_>,
    reading: &mut Reading<'_>,
) {
    let (name, own) = (&slot.name, credential.origin.as_str());
    if origin.is_some_and(|origin| origin != own) {
        let message = format_args!("the credential `{name}` is for the origin `{own}`");
        reading.findings.add(&CREDENTIAL_FOREIGN, at, message);
    }
    if slot.omit_absent && !credential.optional {
        let message = format_args!("the credential `{name}` is not optional");
        reading.findings.add(&CREDENTIAL_OPTIONAL, at, message);
    }
}

/// Shows the names in everything that looks like a slot, for a request that could not be read whole.
pub(super) fn each_name(value: &Value, visit: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| each_name(item, visit)),
        Value::Object(object) => {
            for (member, value) in object.iter() {
                match value {
                    Value::String(name) if member.starts_with('$') => visit(member, name),
                    _ => each_name(value, visit),
                }
            }
        }
        _ => {}
    }
}
