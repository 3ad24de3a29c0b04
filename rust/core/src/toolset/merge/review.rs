//! What a person is asked about a manifest that a merge refuses, and the answer.

use smol_str::SmolStr;

use super::super::{Connector, ToolSet};
use super::change::Change;
use super::compare::changes;
use crate::json::{Sha256, sha256};
use crate::{Code, Refusal};

/// How long an approval can be used.
pub const APPROVAL_MS: u64 = 10 * 60 * 1_000;
/// The approvals that are kept at once; the oldest make room.
const PENDING: usize = 64;

/// The difference that a manifest with its grant would make to a tool set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    changes: Vec<Change>,
    subject: Subject,
}

/// What an approval is for, and for nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Subject {
    tool_set: Sha256,
    /// The manifest that was installed last under the id.
    replaces: Option<Sha256>,
    manifest: Sha256,
    /// Covers the manifest too.
    grant: Sha256,
    source: SmolStr,
    key: Option<SmolStr>,
}

impl Review {
    pub(super) fn new(set: &ToolSet, connector: &Connector) -> Self {
        let past = set.past_of(connector.id());
        let grant = set.connector(connector.id()).map(|installed| installed.grant());
        Self { changes: changes(past, grant, connector), subject: Subject::new(set, connector) }
    }

    /// Every difference, those that a merge lets through included. On a first install everything is new.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether anything here keeps the manifest from being merged without an approval. A first install needs none.
    pub fn needs_approval(&self) -> bool {
        self.subject.replaces.is_some() && self.changes.iter().any(Change::needs_approval)
    }

    /// The hash of the manifest that was installed last under the id, if any was.
    pub fn replaces(&self) -> Option<Sha256> {
        self.subject.replaces
    }

    /// The hash of the manifest that is reviewed.
    pub fn manifest(&self) -> Sha256 {
        self.subject.manifest
    }

    /// Lets exactly these differences through, once, for ten minutes from `now_ms` of the caller's clock. `token`
    /// is random, of the caller's making; whoever brings it back has approved.
    pub fn approve(self, token: &str, now_ms: u64) -> Approval {
        Approval { token: sha256(token), review: self, made_ms: now_ms }
    }
}

impl Subject {
    fn new(set: &ToolSet, connector: &Connector) -> Self {
        Self {
            tool_set: set.hash(),
            replaces: set.past_of(connector.id()).map(super::Past::manifest),
            manifest: connector.manifest().sha256(),
            grant: connector.grant_hash(),
            source: connector.source().into(),
            key: connector.key().map(SmolStr::new),
        }
    }
}

/// A person's yes to a review. It is used up by being tried: there is no second copy.
#[derive(Debug)]
pub struct Approval {
    token: Sha256,
    review: Review,
    made_ms: u64,
}

impl Approval {
    /// The changes that it lets through, when it is for this connector on this set and not too old.
    pub(super) fn lets_through(
        self,
        set: &ToolSet,
        connector: &Connector,
        now_ms: u64,
    ) -> Result<Vec<Change>, Refusal> {
        let age = now_ms.checked_sub(self.made_ms);
        if age.is_none_or(|age| age >= APPROVAL_MS) {
            return Err(refusal("the approval is older than ten minutes: review again"));
        }
        if self.review.subject != Subject::new(set, connector) {
            return Err(refusal(
                "the approval is for another manifest, grant, source or tool set: review again",
            ));
        }
        Ok(self.review.changes)
    }
}

/// The approvals that were given and not used yet.
#[derive(Debug, Default)]
pub struct Approvals {
    pending: Vec<Approval>,
}

impl Approvals {
    /// Keeps an approval until it is taken.
    pub fn add(&mut self, approval: Approval) {
        self.pending.retain(|known| known.token != approval.token);
        if self.pending.len() >= PENDING {
            self.pending.remove(0);
        }
        self.pending.push(approval);
    }

    /// Takes the approval of a token, for good.
    ///
    /// # Errors
    /// `approval.invalid` when there is none: it was used, was pushed out by newer ones, or never was.
    pub fn take(&mut self, token: &str) -> Result<Approval, Refusal> {
        let token = sha256(token);
        let place = self.pending.iter().position(|known| known.token == token);
        let place = place.ok_or_else(|| refusal("there is no such approval, or it was used"))?;
        Ok(self.pending.remove(place))
    }
}

fn refusal(reason: &str) -> Refusal {
    Refusal::new(Code::ApprovalInvalid, reason)
}
