//! Every difference between what a connector was and what it is to be.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::super::connector::{BoundTool, Connector};
use super::change::{Change, ChangeKind as Kind};
use super::leaves::{Leaf, leaves};
use super::past::{Past, Tombstone, required};
use crate::grant::Grant;
use crate::json::{Object, Path, Value, resolve};
use crate::manifest::{Effect, Tool};
use crate::request::Method;
use crate::schema::{Purse, Verdict};

/// All differences; those about the connector as a whole stand once. `grant` is the one in force, if the connector
/// is installed; else that of the past counts. Without a past everything is new, and the least grant stands before.
pub(super) fn changes(past: Option<&Past>, grant: Option<&Grant>, new: &Connector) -> Vec<Change> {
    let mut changes = Changes { list: Vec::new(), new, purse: Purse::MERGE };
    // A removal forgets no grant: else removing and installing again were a silent way to any other.
    let before = grant.or(past.map(Past::grant)).cloned().unwrap_or_default();
    changes.grant(&before);
    if let Some(past) = past {
        changes.provenance(past);
        for (name, tombstone) in past.tools() {
            if new.manifest().tool(name).is_none() {
                let before = tombstone.document.get("tool").cloned();
                changes.list.push(Change::new(Kind::ToolRemoved, Some(name), "/tools").from(before));
            }
        }
    }
    for (index, (tool, bound)) in new.tools().enumerate() {
        if let Some((old, gone)) = past.and_then(|past| past.tool(tool.full_name())) {
            if gone {
                changes.tool_added(index, tool);
            }
            changes.tool(index, tool, bound, old);
        } else {
            changes.tool_added(index, tool);
            changes.used_by(tool, bound, past);
        }
        if tool.request().method == Method::Post && tool.effect() == Effect::Read {
            let pointer = format!("/tools/{index}/effect");
            changes.list.push(Change::new(Kind::PostRead, Some(tool.full_name()), pointer));
        }
    }
    changes.list
}

struct Changes<'n> {
    list: Vec<Change>,
    new: &'n Connector,
    /// What is left for comparing schemas.
    purse: Purse,
}

impl Changes<'_> {
    /// Whose the id is, and which manifest is replaced.
    fn provenance(&mut self, past: &Past) {
        let text = |text: &str| Some(Value::from(text));
        let new = self.new;
        if past.source() != new.source() {
            let change = Change::new(Kind::Source, None, "");
            self.list.push(change.from(text(past.source())).to(text(new.source())));
        }
        if past.key() != new.key() {
            let change = Change::new(Kind::Key, None, "");
            self.list.push(change.from(past.key().and_then(text)).to(new.key().and_then(text)));
        }
        let manifest = new.manifest();
        if manifest.sha256() != past.manifest() && manifest.supersedes() != Some(past.manifest()) {
            let change = Change::new(Kind::Supersedes, None, "/supersedes");
            let named = manifest.supersedes().map(|hash| hash.to_string().into());
            self.list.push(change.from(Some(past.manifest().to_string().into())).to(named));
        }
    }

    /// Bindings of origins and settings are in the documents of the tools that use them.
    fn grant(&mut self, before: &Grant) {
        let members = self.new.grant().wider_members(before);
        for member in members.into_iter().filter(|member| !matches!(*member, "origins" | "settings")) {
            let change = Change::new(Kind::Grant, None, format!("/grant/{member}"));
            self.list.push(change.from(before.member(member)).to(self.new.grant().member(member)));
        }
    }

    fn tool_added(&mut self, index: usize, tool: &Tool) {
        let pointer = format!("/tools/{index}");
        let after = resolve(self.new.manifest().source(), &pointer).cloned();
        self.list.push(Change::new(Kind::ToolAdded, Some(tool.full_name()), pointer).to(after));
    }

    /// The origins, settings and credentials of a new tool that no tool used before.
    fn used_by(&mut self, tool: &Tool, bound: &BoundTool, past: Option<&Past>) {
        let kinds =
            [("origins", Kind::Origin), ("settings", Kind::Setting), ("credentials", Kind::Credential)];
        for (member, kind) in kinds {
            let used = bound.document.get(member).and_then(Value::as_object);
            for (name, entry) in used.into_iter().flat_map(Object::iter) {
                let before = past
                    .into_iter()
                    .flat_map(Past::tools)
                    .find_map(|(_, old)| old.document.get(member).and_then(|used| used.get(name)));
                if before != Some(entry) {
                    let pointer = Path::Root.name(member).name(name).to_string();
                    let change = Change::new(kind, Some(tool.full_name()), pointer);
                    self.add_once(change.from(before.cloned()).to(Some(entry.clone())));
                }
            }
        }
    }

    /// A tool that was known before.
    fn tool(&mut self, index: usize, tool: &Tool, bound: &BoundTool, old: &Tombstone) {
        // The limits of the host are none of the manifest's: what it did not change, did not change.
        if bound.effect == old.effect {
            return;
        }
        let at = format!("/tools/{index}");
        for (name, before, after) in bound.bounds.changes(old.bounds) {
            let kind = if after > before { Kind::LimitRaised } else { Kind::LimitLowered };
            let change = Change::new(kind, Some(tool.full_name()), format!("{at}/limits/{name}"));
            self.list.push(change.from(Some(before.into())).to(Some(after.into())));
        }
        self.parameters(&at, tool, old);
        for leaf in leaves(&old.document, &bound.document) {
            if let Some((kind, pointer, shared)) = place(&leaf, &at) {
                let tool = (!shared).then(|| tool.full_name());
                self.add_once(Change::new(kind, tool, pointer).from(leaf.before).to(leaf.after));
            }
        }
    }

    fn add_once(&mut self, change: Change) {
        let known = |known: &Change| known.kind == change.kind && known.pointer == change.pointer;
        if change.kind == Kind::ToolAdded || !self.list.iter().any(known) {
            self.list.push(change);
        }
    }

    fn parameters(&mut self, at: &str, tool: &Tool, old: &Tombstone) {
        let at = format!("{at}/parameters");
        let name = Some(tool.full_name());
        let new = tool.parameters().schema();
        let before = old.document.get("tool").and_then(|tool| tool.get("parameters")).cloned();
        let after = tool.parameters().is_declared().then(|| new.source().clone());
        let text = |value: &Option<Value>| value.as_ref().map(Value::to_text);
        if text(&before) == text(&after) {
            return;
        }
        let change = match old.schema.as_ref().map(|old| new.is_narrower_within(old, &mut self.purse)) {
            Some(Verdict::Narrower) => Change::new(Kind::Narrowed, name, &*at),
            Some(Verdict::Wider { witness, pointer }) => {
                let change = Change::new(Kind::Widened, name, format!("{at}{pointer}"));
                Change { witness: Some(witness), ..change }
            }
            Some(Verdict::Undecided { pointer, .. }) => {
                Change::new(Kind::Undecided, name, format!("{at}{pointer}"))
            }
            None => Change::new(Kind::Undecided, name, &*at),
        };
        self.list.push(change.from(before).to(after));
        let required = required(new);
        if required != old.required {
            let list = |names: &[SmolStr]| Value::Array(names.iter().cloned().map(Value::String).collect());
            let change = Change::new(Kind::Required, name, format!("{at}/required"));
            self.list.push(change.from(Some(list(&old.required))).to(Some(list(&required))));
        } else if let Some(old) = &old.schema
            && !new.needs_no_more_than(old, &mut self.purse)
        {
            // Further down, by a number of members, or only in some cases.
            self.list.push(Change::new(Kind::Required, name, &*at));
        }
        self.annotations(&at, tool, old);
    }

    /// Text in the schema: none may be new or another, and none may go but with its schema.
    fn annotations(&mut self, at: &str, tool: &Tool, old: &Tombstone) {
        let Some(old) = &old.schema else { return };
        let new = tool.parameters().schema();
        let (before, after) = (old.annotations(), new.annotations());
        let pointers: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for pointer in pointers {
            let (then, now) = (before.get(pointer), after.get(pointer));
            let stands = || {
                let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
                resolve(new.source(), parent).is_some()
            };
            if then == now || (now.is_none() && !stands()) {
                continue;
            }
            let change = Change::new(Kind::Text, Some(tool.full_name()), format!("{at}{pointer}"));
            let value = |text: Option<&&Value>| text.map(|text| (*text).clone());
            self.list.push(change.from(value(then)).to(value(now)));
        }
    }
}

/// What a leaf of a tool's document is, where it stands in the manifest or grant, and whether tools share it.
/// Nothing for what is compared otherwise.
fn place(leaf: &Leaf, tool: &str) -> Option<(Kind, String, bool)> {
    let mut tokens = leaf.pointer.split('/').skip(1);
    let (area, name) = (tokens.next()?, tokens.next().unwrap_or_default());
    let rest = leaf.pointer.strip_prefix(&format!("/{area}")).unwrap_or_default();
    let is_text = || {
        let last = leaf.pointer.rsplit('/').next();
        last.is_some_and(|last| matches!(last, "title" | "description"))
    };
    let kind = match (area, name) {
        ("connector", _) => return Some((Kind::Text, rest.to_owned(), true)),
        ("tool", "parameters" | "limits") => return None,
        ("tool", "effect") => Kind::Effect,
        ("tool", "request") => Kind::Request,
        ("tool", "response") => Kind::Response,
        ("tool", _) => Kind::Text,
        ("origins", _) => Kind::Origin,
        ("settings", _) => Kind::Setting,
        _ => Kind::Credential,
    };
    if area == "tool" {
        return Some((kind, format!("{tool}{rest}"), false));
    }
    let kind = if is_text() { Kind::Text } else { kind };
    // `/{name}/entry...` is of the manifest, `/{name}/bound` of the grant.
    let below = rest.strip_prefix(&format!("/{name}")).unwrap_or_default();
    if below == "/bound" {
        return Some((kind, format!("/grant/{area}/{name}"), true));
    }
    let below = below.strip_prefix("/entry").unwrap_or(below);
    Some((kind, format!("/{area}/{name}{below}"), true))
}
