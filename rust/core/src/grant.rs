//! What a person allows one connector.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use crate::json::{Path, Sha256, Value, canonical, sha256};
use crate::manifest::{Effect, Manifest};
use crate::origin::{OriginEntry, Reach};
use crate::record;
use crate::rule::Findings;
use crate::shape::{Identifier, List, Members, Reading, Shape};
use crate::{Code, Refusal, TrustLimits};

record! {
    /// What a person allows one connector. Every member is optional; absent means the least. It holds for one manifest.
    #[derive(Default)]
    pub struct Grant {
        /// Origins for the `userProvided` entries of the manifest.
        pub origins: Option<Members<SmolStr>> = "origins",
        /// Values for the settings of the manifest.
        pub settings: Option<Members<Value>> = "settings",
        /// Private addresses (RFC 1918, unique local, link-local) may be connected to.
        pub local_network: bool = "localNetwork",
        /// The shared address space of overlay networks (`100.64.0.0/10`) may be connected to.
        pub overlay_network: bool = "overlayNetwork",
        /// The device itself may be connected to.
        pub loopback: bool = "loopback",
        /// Credentials may be sent over `http`.
        pub cleartext_credentials: bool = "cleartextCredentials",
        /// Effects that need a person's confirmation; absent: `write` and `destructive`. `destructive` always does.
        pub confirm: Option<List<Effect, 0, 3>> = "confirm",
        /// Connectors whose text may flow into calls of this one without a question.
        pub flows: Option<List<Identifier, 0, 512>> = "flows",
        /// The tools that may be called, by name or full name; absent: all.
        pub only: Option<List<SmolStr, 0, 512>> = "only",
    }
}

impl Grant {
    /// Reads a grant; every breach is a finding (`grant.invalid`).
    pub fn read(value: &Value, limits: &TrustLimits) -> Result<Self, Refusal> {
        let mut findings = Findings::new();
        let grant =
            <Self as Shape>::read(value, &Path::Root, &mut Reading { limits, findings: &mut findings });
        match grant.filter(|_| !findings.has_errors()) {
            Some(grant) => Ok(grant),
            None => Err(Refusal::new(Code::GrantInvalid, "the grant is not of the expected shape")
                .with_findings(findings.into_list())),
        }
    }

    /// The addresses that connections may go to.
    pub fn reach(&self) -> Reach {
        let Self { local_network, overlay_network, loopback, .. } = *self;
        Reach { local_network, overlay_network, loopback }
    }

    /// Whether a call of this effect needs a person's confirmation.
    pub fn confirms(&self, effect: Effect) -> bool {
        match effect {
            Effect::Destructive => true,
            Effect::Write => self.confirm.as_ref().is_none_or(|effects| effects.0.contains(&effect)),
            Effect::Read => self.confirm.as_ref().is_some_and(|effects| effects.0.contains(&effect)),
        }
    }

    /// Whether text of another connector may flow into calls without a question.
    pub fn lets_in(&self, connector: &str) -> bool {
        self.flows.as_ref().is_some_and(|flows| flows.0.iter().any(|id| id.as_str() == connector))
    }

    /// Whether the tool `name` of connector `id` may be called at all.
    pub fn allows_tool(&self, id: &str, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.0.iter().any(|word| is_tool(word, id, name)))
    }

    /// The same grant with the tools of `only` by their names alone, as connector `id` has them.
    pub(crate) fn of_connector(mut self, id: &str) -> Self {
        for word in self.only.iter_mut().flat_map(|only| &mut only.0) {
            let name = word.strip_prefix(id).and_then(|rest| rest.strip_prefix('.')).map(SmolStr::from);
            *word = name.unwrap_or_else(|| word.clone());
        }
        self
    }

    /// The same grant without the origins, settings and tools that a manifest does not have.
    pub fn fitting(mut self, manifest: &Manifest) -> Self {
        let id = manifest.id().as_str();
        if let Some(origins) = &mut self.origins {
            origins.0.retain(|(name, _)| {
                matches!(manifest.origins().get(name), Some(OriginEntry::UserProvided(_)))
            });
        }
        if let Some(settings) = &mut self.settings {
            settings.0.retain(|(name, _)| manifest.settings().get(name).is_some());
        }
        if let Some(only) = &mut self.only {
            let known =
                |word: &SmolStr| manifest.tools().iter().any(|tool| is_tool(word, id, tool.name().as_str()));
            only.0.retain(known);
        }
        self
    }

    /// The members in which this grant allows what `before` did not; both are of the same connector. Another binding
    /// of an origin or a setting is wider: the person chose the old one.
    pub fn wider_members(&self, before: &Self) -> Vec<&'static str> {
        // Every member stands here, so that a new one cannot be forgotten.
        let Self {
            origins,
            settings,
            local_network,
            overlay_network,
            loopback,
            cleartext_credentials,
            confirm: _,
            flows,
            only,
        } = self;
        let flag = |now: bool, then: bool| now && !then;
        let loses = |effect: Effect| before.confirms(effect) && !self.confirms(effect);
        let new_flow = |id: &Identifier| !before.lets_in(id.as_str());
        let only = match (only, &before.only) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(now), Some(then)) => now.0.iter().any(|name| !then.0.contains(name)),
        };
        let checks = [
            ("origins", origin_texts(origins.as_ref()) != origin_texts(before.origins.as_ref())),
            ("settings", setting_texts(settings.as_ref()) != setting_texts(before.settings.as_ref())),
            ("localNetwork", flag(*local_network, before.local_network)),
            ("overlayNetwork", flag(*overlay_network, before.overlay_network)),
            ("loopback", flag(*loopback, before.loopback)),
            ("cleartextCredentials", flag(*cleartext_credentials, before.cleartext_credentials)),
            ("confirm", [Effect::Read, Effect::Write].into_iter().any(loses)),
            ("flows", flows.iter().flat_map(|flows| &flows.0).any(new_flow)),
            ("only", only),
        ];
        checks.into_iter().filter(|(_, wider)| *wider).map(|(member, _)| member).collect()
    }

    /// All of it as JSON that [`read`](Self::read) takes back, for a store. It holds what the person gave.
    pub fn to_value(&self) -> Value {
        // Every member stands here, so that a new one cannot be forgotten.
        let Self {
            origins,
            settings,
            local_network,
            overlay_network,
            loopback,
            cleartext_credentials,
            confirm,
            flows,
            only,
        } = self;
        let origins = origins.as_ref().map(|origins| {
            let each = origins.iter().map(|(name, url)| (name.clone(), Value::String(url.clone())));
            Value::Object(each.collect())
        });
        let settings = settings.as_ref().map(|settings| {
            Value::Object(settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
        });
        let confirm = confirm
            .as_ref()
            .map(|effects| Value::Array(effects.0.iter().map(|effect| effect.as_str().into()).collect()));
        let flows =
            flows.as_ref().map(|flows| Value::Array(flows.0.iter().map(|id| id.as_str().into()).collect()));
        let only =
            only.as_ref().map(|only| Value::Array(only.0.iter().cloned().map(Value::String).collect()));
        let flag = |set: bool| set.then_some(Value::Bool(true));
        let members = [
            ("origins", origins),
            ("settings", settings),
            ("localNetwork", flag(*local_network)),
            ("overlayNetwork", flag(*overlay_network)),
            ("loopback", flag(*loopback)),
            ("cleartextCredentials", flag(*cleartext_credentials)),
            ("confirm", confirm),
            ("flows", flows),
            ("only", only),
        ];
        Value::Object(members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
    }

    /// What a member says, spelled out where it is left out; nothing where it names nothing. For a review.
    pub fn member(&self, name: &str) -> Option<Value> {
        let flag = |set: bool| Some(Value::Bool(set));
        match name {
            "localNetwork" => flag(self.local_network),
            "overlayNetwork" => flag(self.overlay_network),
            "loopback" => flag(self.loopback),
            "cleartextCredentials" => flag(self.cleartext_credentials),
            "confirm" => {
                let effects = [Effect::Read, Effect::Write, Effect::Destructive].into_iter();
                let asked = effects.filter(|effect| self.confirms(*effect));
                Some(Value::Array(asked.map(|effect| effect.as_str().into()).collect()))
            }
            _ => self.to_value().get(name).cloned(),
        }
    }

    /// The SHA-256 of the RFC 8785 form of every member and of the manifest that the grant is given for. How lists
    /// and maps are ordered does not count.
    pub fn hash(&self, manifest: Sha256) -> Sha256 {
        // Every member stands here, so that a new one cannot be forgotten.
        let Self {
            origins,
            settings,
            local_network,
            overlay_network,
            loopback,
            cleartext_credentials,
            confirm: _,
            flows,
            only,
        } = self;
        let texts = |texts: BTreeMap<&str, String>| {
            Value::Object(texts.into_iter().map(|(name, text)| (name, text.into())).collect())
        };
        let names = |names: BTreeSet<&str>| Value::Array(names.into_iter().map(Value::from).collect());
        let effects = [Effect::Read, Effect::Write, Effect::Destructive].into_iter();
        let only = only.as_ref().map(|only| names(only.0.iter().map(SmolStr::as_str).collect()));
        let members = [
            ("manifest", manifest.to_string().into()),
            ("origins", texts(origin_texts(origins.as_ref()))),
            ("settings", texts(setting_texts(settings.as_ref()))),
            ("localNetwork", (*local_network).into()),
            ("overlayNetwork", (*overlay_network).into()),
            ("loopback", (*loopback).into()),
            ("cleartextCredentials", (*cleartext_credentials).into()),
            ("confirm", names(effects.filter(|effect| self.confirms(*effect)).map(Effect::as_str).collect())),
            ("flows", names(flows.iter().flat_map(|flows| &flows.0).map(Identifier::as_str).collect())),
            ("only", only.unwrap_or(Value::Null)),
        ];
        sha256(canonical(&Value::Object(members.into_iter().collect())).unwrap_or_default())
    }
}

/// Origins by name; names are unique, so the order in which they were written does not count.
fn origin_texts(origins: Option<&Members<SmolStr>>) -> BTreeMap<&str, String> {
    let each = origins.into_iter().flat_map(Members::iter);
    each.map(|(name, url)| (name.as_str(), url.to_string())).collect()
}

/// Settings by name, each as its RFC 8785 text: `1` and `1.0` are one value, `1` and `"1"` are two.
fn setting_texts(settings: Option<&Members<Value>>) -> BTreeMap<&str, String> {
    let each = settings.into_iter().flat_map(Members::iter);
    each.map(|(name, value)| (name.as_str(), canonical(value).unwrap_or_else(|| value.to_text()))).collect()
}

/// Whether `word` of a grant's `only` names this tool, by its name or its full name.
pub(crate) fn is_tool(word: &str, id: &str, name: &str) -> bool {
    word == name || word.strip_prefix(id).and_then(|rest| rest.strip_prefix('.')) == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Numbers, Profile, read_strict};

    fn grant(text: &str) -> Grant {
        let profile = Profile { max_bytes: 4_096, max_depth: 8, numbers: Numbers::Exact };
        Grant::read(&read_strict(text.as_bytes(), profile).unwrap(), &TrustLimits::default()).unwrap()
    }

    #[test]
    fn an_empty_grant_is_the_least() {
        let least = grant("{}");
        assert_eq!(least.reach(), Reach::PUBLIC);
        assert_eq!(
            [Effect::Read, Effect::Write, Effect::Destructive].map(|effect| least.confirms(effect)),
            [false, true, true]
        );
        assert!(!least.cleartext_credentials && !least.lets_in("a"));
        assert!(least.allows_tool("notes", "find"), "what may be called is what was installed");
        assert!(least.wider_members(&least).is_empty());
    }

    #[test]
    fn only_names_tools_by_name_or_full_name() {
        let some = grant(r#"{"only": ["find", "notes.add", "tasks.drop"]}"#);
        for (tool, allowed) in
            [("find", true), ("add", true), ("drop", false), ("notes.add", true), ("other", false)]
        {
            assert_eq!(some.allows_tool("notes", tool), allowed, "{tool}");
        }
        let short = some.of_connector("notes");
        let words: Vec<_> = short.only.unwrap().0.iter().map(ToString::to_string).collect();
        assert_eq!(words, ["find", "add", "tasks.drop"]);
    }

    #[test]
    fn every_member_and_the_manifest_are_in_the_hash() {
        let manifest = sha256("manifest");
        let members = [
            r#""origins": {"a": "https://a.example"}"#,
            r#""settings": {"a": "1"}"#,
            r#""localNetwork": true"#,
            r#""overlayNetwork": true"#,
            r#""loopback": true"#,
            r#""cleartextCredentials": true"#,
            r#""confirm": ["destructive"]"#,
            r#""flows": ["a"]"#,
            r#""only": []"#,
        ];
        let mut hashes: BTreeSet<String> =
            members.iter().map(|member| grant(&format!("{{{member}}}")).hash(manifest).to_string()).collect();
        hashes.insert(grant("{}").hash(manifest).to_string());
        hashes.insert(grant("{}").hash(sha256("another")).to_string());
        hashes.insert(grant(r#"{"settings": {"a": 1}}"#).hash(manifest).to_string());
        assert_eq!(hashes.len(), members.len() + 3);
    }

    #[test]
    fn the_hash_does_not_hang_on_how_a_grant_is_written() {
        let manifest = sha256("manifest");
        for (one, two) in [
            (r#"{"flows": ["a", "b", "a"]}"#, r#"{"flows": ["b", "a"]}"#),
            (r#"{"confirm": ["write"]}"#, "{}"),
            (r#"{"settings": {"a": 1, "b": "x"}}"#, r#"{"settings": {"b": "x", "a": 1.0}}"#),
            (r#"{"loopback": false}"#, "{}"),
        ] {
            let (one, two) = (grant(one), grant(two));
            assert_eq!(one.hash(manifest), two.hash(manifest));
            assert!(one.wider_members(&two).is_empty() && two.wider_members(&one).is_empty());
        }
    }

    #[test]
    fn a_grant_is_read_back_as_it_was() {
        let manifest = sha256("manifest");
        for text in [
            "{}",
            r#"{"origins": {"a": "https://a.example"}, "settings": {"b": "x", "n": 1}, "localNetwork": true,
                "overlayNetwork": true, "loopback": true, "cleartextCredentials": true,
                "confirm": ["read", "destructive"], "flows": ["c"], "only": ["find"]}"#,
            r#"{"confirm": [], "flows": [], "only": []}"#,
        ] {
            let given = grant(text);
            let back = Grant::read(&given.to_value(), &TrustLimits::default()).unwrap();
            assert_eq!(back.hash(manifest), given.hash(manifest));
            assert_eq!(back.to_value(), given.to_value());
            assert!(back.wider_members(&given).is_empty() && given.wider_members(&back).is_empty());
        }
    }

    #[test]
    fn debug_output_holds_no_values() {
        let given =
            grant(r#"{"settings": {"book": "secret diary"}, "origins": {"server": "http://home.local"}}"#);
        let text = format!("{given:?}");
        assert!(text.contains("book") && !text.contains("diary") && !text.contains("home.local"), "{text}");
    }

    #[test]
    fn a_grant_of_another_shape_is_refused_with_findings() {
        for text in [
            r#"{"origin": {}}"#,
            r#"{"loopback": "yes"}"#,
            r#"{"confirm": ["all"]}"#,
            "[]",
            r#"{"flows": ["a b"]}"#,
        ] {
            let profile = Profile { max_bytes: 4_096, max_depth: 8, numbers: Numbers::Exact };
            let value = read_strict(text.as_bytes(), profile).unwrap();
            let refusal = Grant::read(&value, &TrustLimits::default()).unwrap_err();
            assert_eq!(refusal.code, Code::GrantInvalid, "{text}");
            assert!(!refusal.findings.is_empty(), "{text}");
        }
    }
}
