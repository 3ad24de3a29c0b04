//! What of a manifest decides what one tool does and how it is shown: the parts of its effect hash, as written.

use std::time::Duration;

use super::document::Effect;
use super::model::{Manifest, Tool};
use crate::json::{Path, Value};
use crate::limits::TrustLimits;
use crate::request::{AnySlot, Budget, Method, Redirects, Source};
use crate::shape::Identifier;

/// The parts of a manifest that one tool stands on, each as it is written.
///
/// Together with the bound origin and the values of the settings this is everything that can change what the
/// tool does, or what a person or a model reads about it. `version`, `supersedes` and `$schema` are not here.
#[derive(Debug, Clone)]
pub struct EffectSource<'m> {
    /// `title`, `description` and `homepage` of the connector; nothing where a member is absent.
    pub connector: [(&'static str, Option<&'m Value>); 3],
    /// The whole tool. Members of its request are in wire order, which a canonical form would lose.
    pub tool: &'m Value,
    /// The origin of the request, by name.
    pub origin: (&'m Identifier, &'m Value),
    /// The settings that the request uses, in declared order.
    pub settings: Vec<(&'m Identifier, &'m Value)>,
    /// The credentials that the request uses, in declared order.
    pub credentials: Vec<(&'m Identifier, &'m Value)>,
}

impl Manifest {
    /// What one of its tools stands on; nothing for a tool of another manifest.
    pub fn effect_source(&self, tool: &Tool) -> Option<EffectSource<'_>> {
        let source = self.source();
        let tool = self.tool(tool.full_name())?;
        let written = |member: &str, name: &Identifier| source.get(member)?.get(name.as_str());
        let (mut settings, mut credentials) = (Vec::new(), Vec::new());
        tool.request().each_slot(&Path::Root, &mut |_, _, slot| match slot {
            AnySlot::Slot(slot) if slot.source == Source::Setting => settings.push(slot.name.clone()),
            AnySlot::Slot(_) => {}
            AnySlot::Credential(slot) => credentials.push(slot.name.clone()),
        });
        let settings = self.settings().iter().filter(|(name, _)| settings.contains(name));
        let credentials = self.credentials().iter().filter(|(name, _)| credentials.contains(name));
        let origin = &tool.request().origin.0;
        Some(EffectSource {
            connector: ["title", "description", "homepage"].map(|member| (member, source.get(member))),
            tool: source.get("tools")?.as_array()?.get(tool.index())?,
            origin: (origin, written("origins", origin)?),
            settings: settings.filter_map(|(name, _)| Some((name, written("settings", name)?))).collect(),
            credentials: credentials
                .filter_map(|(name, _)| Some((name, written("credentials", name)?)))
                .collect(),
        })
    }
}

/// Further tries of a request that only reads, unless the manifest says otherwise.
const READ_RETRIES: u32 = 2;

impl Tool {
    /// Whether the same request may be sent again after it may have reached the server.
    pub fn is_repeatable(&self) -> bool {
        self.request().is_repeatable(self.effect() == Effect::Read)
    }

    /// Whether the tool says `read` of a POST, which every review points out.
    pub fn claims_that_post_reads(&self) -> bool {
        self.effect() == Effect::Read && self.request().method == Method::Post
    }

    /// The bounds of one call: those of the host, lowered by the manifest.
    pub fn budget(&self, host: &TrustLimits) -> Budget {
        let limits = self.limits();
        let asked = limits.timeout_ms.map(|asked| Duration::from_millis(asked.get()));
        let total = asked.unwrap_or(host.total_timeout).min(host.total_timeout_ceiling);
        let asked = limits.max_response_bytes.map(|asked| usize::try_from(asked.get()).unwrap_or(usize::MAX));
        let decoded_bytes = asked.unwrap_or(usize::MAX).min(host.response_decoded_bytes);
        let reads =
            self.effect() == Effect::Read && matches!(self.request().method, Method::Get | Method::Head);
        let asked = limits.retries.map(|asked| u32::try_from(asked.get()).unwrap_or(0));
        Budget {
            total,
            connect: host.connect_timeout.min(total),
            header_bytes: host.response_header_bytes,
            wire_bytes: decoded_bytes.min(host.response_wire_bytes),
            decoded_bytes,
            retries: asked.unwrap_or(if reads { READ_RETRIES } else { 0 }),
            redirects: limits.redirects.unwrap_or(Redirects::None),
        }
    }

    /// Calls a minute that this tool may make.
    pub fn calls_per_minute(&self, host: &TrustLimits) -> u32 {
        let asked =
            self.limits().calls_per_minute.map(|asked| u32::try_from(asked.get()).unwrap_or(u32::MAX));
        asked.unwrap_or(u32::MAX).min(host.calls_per_minute)
    }
}
