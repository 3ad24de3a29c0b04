//! The scenarios of the hostile-origin kit, as data: what servers and resolver do, which calls are made, and what
//! must come of it. docs/selftest.md is the format, for the runners of other languages.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::Script;

/// The files of the kit, in the order in which they run.
const FILES: [&str; 13] = [
    include_str!("../scenarios/path.json"),
    include_str!("../scenarios/address.json"),
    include_str!("../scenarios/local.json"),
    include_str!("../scenarios/redirect.json"),
    include_str!("../scenarios/tls.json"),
    include_str!("../scenarios/ambient.json"),
    include_str!("../scenarios/deadline.json"),
    include_str!("../scenarios/caps.json"),
    include_str!("../scenarios/framing.json"),
    include_str!("../scenarios/repeat.json"),
    include_str!("../scenarios/write.json"),
    include_str!("../scenarios/secret.json"),
    include_str!("../scenarios/text.json"),
];

/// The shared connectors by their names.
const CONNECTORS: &str = include_str!("../scenarios/connectors.json");

/// One group of scenarios: those of one guard.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The name of the guard.
    pub group: String,
    /// What the guard does, one sentence.
    pub guard: String,
    /// The scenarios, in order.
    pub scenarios: Vec<Scenario>,
}

/// One scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scenario {
    /// Its name, unique in the kit.
    pub id: String,
    /// What it shows, one sentence.
    pub says: String,
    /// The sentences of docs/threat-model.md that it holds.
    #[serde(default)]
    pub holds: Vec<String>,
    /// Limits of the session, by their names.
    #[serde(default)]
    pub limits: BTreeMap<String, u64>,
    /// The connectors that are installed; absent: the one that reads.
    #[serde(default = "one_connector")]
    pub connectors: Vec<Connector>,
    /// The servers.
    #[serde(default)]
    pub servers: Vec<ServerPlan>,
    /// What the resolver answers, by `host:port`: in turn, the last for good. Absent: each server's name leads to its
    /// first address.
    #[serde(default)]
    pub names: BTreeMap<String, Vec<Answer>>,
    /// So many names are looked up in all; absent: not looked at.
    pub lookups: Option<usize>,
    /// The calls, one after the other.
    pub calls: Vec<Call>,
    /// Variables of the process in which it runs; `@trap` is a server that nothing may connect to.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// One installed connector.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Connector {
    /// The name of a shared connector.
    #[serde(rename = "use")]
    pub name: String,
    /// Another id than the shared one has.
    pub id: Option<String>,
    /// Merged into the manifest (RFC 7396).
    #[serde(default)]
    pub manifest: Value,
    /// Merged into the first tool of the manifest (RFC 7396).
    #[serde(default)]
    pub tool: Value,
    /// Merged into the grant (RFC 7396).
    #[serde(default)]
    pub grant: Value,
    /// What the credential store gives for `token`: in turn, the last for good. Absent: [`SECRET`].
    pub secrets: Option<Vec<String>>,
}

fn one_connector() -> Vec<Connector> {
    vec![Connector::named("read")]
}

/// One server of a scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerPlan {
    /// The addresses (`ip:port`) at which it stands, once the guard let them pass.
    #[serde(default = "public_address")]
    pub at: Vec<String>,
    /// What it shows in a TLS handshake.
    #[serde(default)]
    pub tls: Tls,
    /// A script for each connection in turn; the last serves all further ones.
    pub connections: Vec<Script>,
    /// What it saw in the end.
    #[serde(default)]
    pub saw: Saw,
}

fn public_address() -> Vec<String> {
    vec!["93.184.216.34:443".to_owned()]
}

/// How a server speaks TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tls {
    /// With a certificate for `api.example` and `other.example`, by the authority that the client trusts.
    #[default]
    Good,
    /// For another name.
    WrongName,
    /// Past its time.
    Expired,
    /// Before its time.
    NotYetValid,
    /// By itself.
    SelfSigned,
    /// By an authority that the client does not know.
    UnknownAuthority,
    /// Not at all: its bytes are the script's.
    None,
}

/// What a server saw when all calls have ended. Absent members are not looked at.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Saw {
    /// So many connections.
    pub connections: Option<usize>,
    /// So many whole requests.
    pub requests: Option<usize>,
    /// At least one byte, or none.
    pub anything: Option<bool>,
    /// These texts, somewhere in all that came.
    #[serde(default)]
    pub holds: Vec<String>,
    /// None of these texts, without regard to case.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// The same value of this header field in all requests.
    pub same_header: Option<String>,
    /// Each request's target, in order.
    pub targets: Option<Vec<String>>,
    /// Whether the client closed its side.
    #[serde(default)]
    pub closed: bool,
}

/// One scripted answer of the resolver.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Answer {
    /// These addresses.
    Addresses(Vec<String>),
    /// `nxdomain` or `hang`.
    Word(String),
}

/// One call.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Call {
    /// The connector, counted from 0.
    #[serde(default)]
    pub connector: usize,
    /// The name of the tool; absent: the first of the connector.
    pub tool: Option<String>,
    /// Before it, the connector is removed and installed again.
    #[serde(default)]
    pub reinstalled: bool,
    /// Before it, the connector has this merged into its grant (RFC 7396), which may only become narrower.
    pub regranted: Option<Value>,
    /// It begins so long after the one before has ended.
    #[serde(default)]
    pub after_ms: u64,
    /// The arguments; absent: `{"words": ARGUMENT}` with [`ARGUMENT`].
    pub arguments: Option<Value>,
    /// `ok`, `status.NNN` for an error result, or a stable code; `net.*` is any of these, and `answered` stands for
    /// `ok`, any status, and `response.invalid`.
    pub code: String,
    /// Another code that is as good, where the order of things is not the kit's to choose.
    pub or_code: Option<String>,
    /// These texts stand in what the model reads.
    #[serde(default)]
    pub text: Vec<String>,
    /// None of these do.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// `retryAfter` of the answer.
    pub retry_after: Option<u64>,
    /// It takes at least so long.
    #[serde(default)]
    pub at_least_ms: u64,
    /// It takes at most so long, beside what a control run takes; absent: its deadline.
    pub at_most_ms: Option<u64>,
    /// How it is given up.
    pub give_up: Option<GiveUp>,
    /// It runs on while the next ones are made, which begin when the first server has seen its request.
    #[serde(default)]
    pub meanwhile: bool,
    /// The clocks are moved on before it.
    #[serde(default)]
    pub advance_ms: u64,
    /// It is made without the confirmation that it needs.
    #[serde(default)]
    pub unconfirmed: bool,
}

/// How a call is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GiveUp {
    /// By `cancel`, when the first server has read a whole request.
    CancelAfterRequest,
    /// By `cancel`, a moment after that.
    CancelInAnswer,
    /// By `cancel`, a moment after it began.
    Cancel,
    /// Its future is dropped when the first server has read a whole request.
    DropAfterRequest,
}

/// The secret that the credential store gives unless a scenario says otherwise. Its base64 and percent-encoded forms
/// all differ.
pub const SECRET: &str = "canary-secret~8f3a+/=";

/// The argument of a call that names none.
pub const ARGUMENT: &str = "canary argument 51c7";

/// What a client may be led to in no scenario has this name in `environment`.
pub const TRAP: &str = "@trap";

impl Connector {
    /// A shared connector as it is.
    pub fn named(name: &str) -> Self {
        let (manifest, tool, grant) = (Value::Null, Value::Null, Value::Null);
        Self { name: name.to_owned(), id: None, manifest, tool, grant, secrets: None }
    }

    /// The manifest, the grant, and what the store gives for `token`.
    ///
    /// # Errors
    /// When there is no shared connector of this name.
    pub fn whole(&self) -> Result<(Value, Value, Vec<String>), String> {
        let shared: BTreeMap<String, Value> = from_json(CONNECTORS)?;
        let shared = shared.get(&self.name).ok_or_else(|| format!("no connector `{}`", self.name))?;
        let part = |name: &str| shared.get(name).cloned().unwrap_or_default();
        let (mut manifest, mut grant) = (part("manifest"), part("grant"));
        merge(&mut manifest, &self.manifest);
        if let Some(tool) = manifest.pointer_mut("/tools/0") {
            merge(tool, &self.tool);
        }
        if let (Some(id), Some(object)) = (&self.id, manifest.as_object_mut()) {
            object.insert("id".to_owned(), Value::from(id.as_str()));
        }
        merge(&mut grant, &self.grant);
        let secrets = self.secrets.clone().unwrap_or_else(|| vec![SECRET.to_owned()]);
        Ok((manifest, grant, secrets))
    }
}

/// RFC 7396, but that an absent patch changes nothing.
pub fn merge(target: &mut Value, patch: &Value) {
    match (target, patch) {
        (_, Value::Null) => {}
        (Value::Object(target), Value::Object(patch)) => {
            for (name, value) in patch {
                if value.is_null() {
                    target.shift_remove(name);
                } else {
                    merge(target.entry(name.clone()).or_insert(Value::Null), value);
                }
            }
        }
        (target, patch) => *target = patch.clone(),
    }
}

fn from_json<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// All scenarios of the kit.
///
/// # Errors
/// When one of the files is not of the format, which a test of this crate finds first.
pub fn all() -> Result<Vec<Group>, String> {
    FILES.iter().map(|text| from_json(text)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_files_are_of_the_format_and_ids_are_unique() {
        let groups = all().unwrap();
        let scenarios: Vec<&Scenario> = groups.iter().flat_map(|group| &group.scenarios).collect();
        let ids: BTreeSet<&str> = scenarios.iter().map(|scenario| scenario.id.as_str()).collect();
        assert_eq!(ids.len(), scenarios.len(), "an id stands twice");
        assert!(scenarios.len() >= 150, "{}", scenarios.len());
        for scenario in scenarios {
            assert!(!scenario.calls.is_empty() && scenario.says.ends_with('.'), "{}", scenario.id);
            for connector in &scenario.connectors {
                connector.whole().unwrap_or_else(|error| panic!("{}: {error}", scenario.id));
            }
        }
        println!("{} scenarios in {} groups", ids.len(), groups.len());
    }

    #[test]
    fn a_patch_changes_what_it_names() {
        let mut value = serde_json::json!({ "a": 1, "b": { "c": 2, "d": 3 } });
        merge(&mut value, &serde_json::json!({ "b": { "c": null, "e": 4 } }));
        assert_eq!(value, serde_json::json!({ "a": 1, "b": { "d": 3, "e": 4 } }));
    }
}
