//! The one way by which a tool set changes: all invariants, then the new set, and nothing in between.

mod change;
mod compare;
mod leaves;
mod past;
mod review;

use std::sync::Arc;

pub use change::{Change, ChangeKind};
pub use past::{Past, TOMBSTONES};
pub use review::{APPROVAL_MS, Approval, Approvals, Review};

use super::{Connector, ToolSet};
use crate::json::Sha256;
use crate::text::escape_display;
use crate::{Code, Refusal};

/// The longest witness in a reason, in characters.
const WITNESS_CHARS: usize = 300;

impl ToolSet {
    /// The set with a connector more, or with its successor in the place of an installed one.
    ///
    /// `seen` is the tool set that the caller saw last (compare and swap); only the first install of an id may leave
    /// it out. Installing what is installed already gives the same set. Everything else is a merge: a known id, also
    /// one since removed, keeps its source and key; the manifest supersedes the last one (or is that very one); no
    /// tool takes more than it last took or needs other arguments; tools may go and limits may fall; every other leaf
    /// of the effect hashes is equal; the grant is not wider.
    ///
    /// # Errors
    /// `contract.stale`, `merge.source`, `merge.supersedes`, `merge.tombstones_full`, `merge.widening`,
    /// `merge.undecided`, `merge.required`, `merge.changed`, `grant.wider`. [`review`](Self::review) tells all of
    /// the differences.
    pub fn install(&self, connector: Arc<Connector>, seen: Option<Sha256>) -> Result<Self, Refusal> {
        self.expect(seen)?;
        let id = connector.id();
        match self.connector(id) {
            Some(installed) if installed.is_same(&connector) => Ok(self.clone()),
            // What else is wrong tells more.
            Some(_) if seen.is_none() => self.admit(connector, &[]).and(Err(stale())),
            _ => self.admit(connector, &[]),
        }
    }

    /// The set with the successor of an installed connector in its place; see [`install`](Self::install).
    ///
    /// # Errors
    /// `connector.unknown`, and those of [`install`](Self::install).
    pub fn replace(&self, connector: Arc<Connector>, seen: Sha256) -> Result<Self, Refusal> {
        self.installed(connector.id())?;
        self.install(connector, Some(seen))
    }

    /// The set in which a connector has another grant; `connector` is the installed one, bound anew.
    ///
    /// # Errors
    /// `connector.unknown`, `grant.invalid` when it is of another manifest, `grant.wider` when the new grant allows
    /// anything that the old one does not.
    pub fn regrant(&self, connector: Arc<Connector>) -> Result<Self, Refusal> {
        let installed = self.installed(connector.id())?;
        if installed.manifest().sha256() != connector.manifest().sha256() {
            let reason = "a grant holds for the manifest that it was given for";
            return Err(Refusal::new(Code::GrantInvalid, reason));
        }
        if installed.is_same(&connector) {
            return Ok(self.clone());
        }
        if let Some(member) = connector.grant().wider_members(installed.grant()).first() {
            return Err(wider(member));
        }
        self.admit(connector, &[])
    }

    /// The set without a connector. What its tools last were is remembered.
    ///
    /// # Errors
    /// `contract.stale`, `connector.unknown`.
    pub fn remove(&self, id: &str, seen: Option<Sha256>) -> Result<Self, Refusal> {
        self.expect(seen)?;
        self.installed(id)?;
        Ok(self.without(id))
    }

    /// Everything that installing a connector would change, for a person.
    pub fn review(&self, connector: &Connector) -> Review {
        Review::new(self, connector)
    }

    /// Installs, and lets through what was approved: exactly the differences of that review, on this very set.
    ///
    /// # Errors
    /// `contract.stale`, `approval.invalid`, and what a merge refuses beyond the approved differences.
    pub fn install_approved(
        &self,
        connector: Arc<Connector>,
        seen: Option<Sha256>,
        approval: Approval,
        now_ms: u64,
    ) -> Result<Self, Refusal> {
        self.expect(seen)?;
        let approved = approval.lets_through(self, &connector, now_ms)?;
        self.admit(connector, &approved)
    }

    fn installed(&self, id: &str) -> Result<&Arc<Connector>, Refusal> {
        let unknown = || Refusal::new(Code::ConnectorUnknown, format!("no connector `{id}` is installed"));
        self.connector(id).ok_or_else(unknown)
    }

    /// Compare and swap: the caller names the tool set that it saw.
    fn expect(&self, seen: Option<Sha256>) -> Result<(), Refusal> {
        if seen.is_none_or(|seen| seen == self.hash()) { Ok(()) } else { Err(stale()) }
    }

    /// Whether the id of a connector can be told from every other one that is installed or remembered. No approval
    /// lets one through that cannot: a person and a model would take the two for one.
    ///
    /// # Errors
    /// `merge.source`.
    pub fn check_id(&self, id: &str) -> Result<(), Refusal> {
        match self.owner_of(id).map(Past::id).filter(|owner| *owner != id) {
            None => Ok(()),
            Some(owner) => {
                let reason = format!(
                    "the connector id `{id}` differs from `{owner}`, which is taken for good, only in case or in `_` and `-`"
                );
                Err(Refusal::new(Code::MergeSource, reason))
            }
        }
    }

    /// All checks of a merge, then the new set.
    fn admit(&self, connector: Arc<Connector>, approved: &[Change]) -> Result<Self, Refusal> {
        self.check_id(connector.id())?;
        let past = self.past_of(connector.id());
        if let Some(past) = past {
            let grant = self.connector(connector.id()).map(|installed| installed.grant());
            let changes = compare::changes(Some(past), grant, &connector);
            let refused = changes.iter().filter(|change| !approved.contains(change));
            let first = refused.filter_map(|change| Some((change.kind, change, change.kind.refused_as()?)));
            if let Some((_, change, code)) = first.min_by_key(|(kind, ..)| *kind) {
                return Err(refusal(code, change, connector.id()));
            }
        }
        let next = Past::new(&connector, past);
        let more = next.names() - past.map_or(0, Past::names);
        if self.tombstones() + more > TOMBSTONES {
            let reason = format!(
                "{TOMBSTONES} tool names are remembered and none is ever forgotten: nothing new can be installed"
            );
            return Err(Refusal::new(Code::MergeTombstonesFull, reason));
        }
        Ok(self.with(connector, next))
    }
}

fn stale() -> Refusal {
    let reason = "the tool set is not the one that the contract was made for: list it again";
    Refusal::new(Code::ContractStale, reason)
}

fn wider(member: &str) -> Refusal {
    Refusal::new(Code::GrantWider, format!("the new grant is wider in `{member}`, which takes an approval"))
}

/// Why a merge is refused, and where.
fn refusal(code: Code, change: &Change, id: &str) -> Refusal {
    let Change { kind, tool, pointer, witness, .. } = change;
    let tool = tool.as_deref().unwrap_or(id);
    let reason = match kind {
        ChangeKind::Source => format!("the connector id `{id}` belongs to another source, for good"),
        ChangeKind::Key => format!("the manifests of `{id}` are signed by one key, or by none, for good"),
        ChangeKind::Supersedes => {
            format!("`supersedes` of `{id}` is not the hash of the manifest that was installed last")
        }
        ChangeKind::Widened => {
            let witness = witness.as_ref().map(crate::json::Value::to_text).unwrap_or_default();
            let short: String = escape_display(&witness).chars().take(WITNESS_CHARS).collect();
            format!("`{tool}` takes what it refused before, such as {short} (`{pointer}`)")
        }
        ChangeKind::Undecided => {
            format!("whether `{tool}` takes more than before could not be decided (`{pointer}`)")
        }
        ChangeKind::Required => format!("the required arguments of `{tool}` changed"),
        ChangeKind::ToolAdded => format!("`{tool}` is a new tool (`{pointer}`)"),
        ChangeKind::Grant => return wider(pointer.trim_start_matches("/grant/")),
        _ => format!("`{pointer}` of `{tool}` changed ({})", kind.as_str()),
    };
    Refusal::new(code, format!("{reason}; a person can let it through after a review"))
}
