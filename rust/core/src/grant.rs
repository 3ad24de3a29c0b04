//! What a person allows one connector.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use crate::json::{Path, Sha256, Value, canonical, sha256};
use crate::manifest::Effect;
use crate::origin::Reach;
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

    /// The members in which this grant allows what `before` did not. Another binding of an origin or a setting is
    /// wider: the person chose the old one.
    pub fn wider_members(&self, before: &Self) -> Vec<&'static str> {
        let flag = |now: bool, then: bool| now && !then;
        // Names are unique, so the order in which they were written does not count.
        let origins = |grant: &Self| -> BTreeMap<SmolStr, SmolStr> {
            grant.origins.iter().flat_map(|origins| origins.0.iter().cloned()).collect()
        };
        let settings = |grant: &Self| -> BTreeMap<SmolStr, String> {
            let given = grant.settings.iter().flat_map(|settings| settings.0.iter());
            given.map(|(name, value)| (name.clone(), value.to_text())).collect()
        };
        let flows = |grant: &Self| grant.flows.iter().flat_map(|flows| flows.0.clone()).collect::<Vec<_>>();
        let before_flows = flows(before);
        let checks = [
            ("origins", origins(self) != origins(before)),
            ("settings", settings(self) != settings(before)),
            ("localNetwork", flag(self.local_network, before.local_network)),
            ("overlayNetwork", flag(self.overlay_network, before.overlay_network)),
            ("loopback", flag(self.loopback, before.loopback)),
            ("cleartextCredentials", flag(self.cleartext_credentials, before.cleartext_credentials)),
            (
                "confirm",
                [Effect::Read, Effect::Write].into_iter().any(|e| before.confirms(e) && !self.confirms(e)),
            ),
            ("flows", flows(self).iter().any(|id| !before_flows.contains(id))),
        ];
        let only = match (&self.only, &before.only) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(now), Some(then)) => now.0.iter().any(|name| !then.0.contains(name)),
        };
        let checks = checks.into_iter().chain([("only", only)]);
        checks.filter(|(_, wider)| *wider).map(|(member, _)| member).collect()
    }

    /// The SHA-256 of the RFC 8785 form of every member and of the manifest that the grant is given for.
    pub fn hash(&self, manifest: Sha256) -> Sha256 {
        let names = |list: &mut dyn Iterator<Item = &str>| {
            let mut names: Vec<&str> = list.collect();
            names.sort_unstable();
            names.dedup();
            Value::Array(names.into_iter().map(Value::from).collect())
        };
        let origins = self.origins.iter().flat_map(Members::iter);
        let origins = origins.map(|(name, url)| (name.clone(), Value::String(url.clone()))).collect();
        let settings = self.settings.iter().flat_map(Members::iter);
        let settings = settings.map(|(name, value)| (name.clone(), value.clone())).collect();
        let confirmed = [Effect::Read, Effect::Write, Effect::Destructive].into_iter();
        let confirmed = &mut confirmed.filter(|effect| self.confirms(*effect)).map(Effect::as_str);
        let only = self.only.as_ref().map(|only| names(&mut only.0.iter().map(SmolStr::as_str)));
        let flows = names(&mut self.flows.iter().flat_map(|flows| flows.0.iter()).map(Identifier::as_str));
        let members = [
            ("manifest", manifest.to_string().into()),
            ("origins", Value::Object(origins)),
            ("settings", Value::Object(settings)),
            ("localNetwork", self.local_network.into()),
            ("overlayNetwork", self.overlay_network.into()),
            ("loopback", self.loopback.into()),
            ("cleartextCredentials", self.cleartext_credentials.into()),
            ("confirm", names(confirmed)),
            ("flows", flows),
            ("only", only.unwrap_or(Value::Null)),
        ];
        sha256(canonical(&Value::Object(members.into_iter().collect())).unwrap_or_default())
    }
}

/// Whether `word` of a grant's `only` names this tool, by its name or its full name.
pub(crate) fn is_tool(word: &str, id: &str, name: &str) -> bool {
    word == name || word.strip_prefix(id).and_then(|rest| rest.strip_prefix('.')) == Some(name)
}
