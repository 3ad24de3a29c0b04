//! What changes the installed connectors: each change checked as a whole, made durable, then visible.

use std::collections::BTreeSet;
use std::sync::Arc;

use connector_core::audit::Deed;
use connector_core::grant::Grant;
use connector_core::json::Sha256;
use connector_core::manifest;
use connector_core::toolset::{Change, Connector, Contract};
use connector_core::{Code, Refusal};

use crate::journal::Journal;
use crate::secret::CredentialKey;
use crate::session::{Installed, Session};
use crate::shelf::Shelf;

/// A manifest that is to be installed, and under what.
#[derive(Clone)]
pub struct Offer<'o> {
    /// The exact bytes of the file.
    pub manifest: &'o [u8],
    /// The host's label of where they come from.
    pub source: &'o str,
    /// What the person allows it.
    pub grant: Grant,
    /// The text of its detached signature (a `.minisig` file), where there is one.
    pub signature: Option<&'o str>,
}

/// What an install or another grant would change, for a person.
#[derive(Debug, Clone)]
pub struct Reviewed {
    /// Every difference, those that need no approval included. On a first install everything is new.
    pub changes: Vec<Change>,
    /// Whether any of them keeps it from being installed without an approval.
    pub needs_approval: bool,
    /// Whoever brings this back has approved: exactly these differences, once, within ten minutes, on this tool set.
    pub approval: String,
}

impl Session {
    /// Installs an unsigned manifest; see [`install_offer`](Self::install_offer).
    ///
    /// # Errors
    /// Those of [`install_offer`](Self::install_offer).
    pub fn install(
        &self,
        manifest: &[u8],
        source: &str,
        grant: Grant,
        seen: Option<&str>,
    ) -> Result<Installed, Refusal> {
        self.install_offer(&Offer { manifest, source, grant, signature: None }, seen, None)
    }

    /// Judges the signature, checks the manifest, binds it by its grant, and merges it into the tool set: as a new
    /// connector, or in the place of the one of its id.
    ///
    /// `seen` is a contract of the current tool set, which a first install of an id may leave out. `approval` is that of a
    /// review of this very offer; it is used up by being tried. Secrets that the new connector has no place for are
    /// deleted.
    ///
    /// # Errors
    /// `signature.*`, `manifest.invalid` with all findings, `grant.invalid`, `contract.stale`, `approval.invalid`, the
    /// `merge.*`, `grant.wider`, `store.*`, and what the credential store refuses.
    pub fn install_offer(
        &self,
        offer: &Offer<'_>,
        seen: Option<&str>,
        approval: Option<&str>,
    ) -> Result<Installed, Refusal> {
        let mut subject = String::from("?");
        let merged = self.bind(offer, &mut subject).and_then(|connector| {
            self.merge(Deed::Install, &connector, Some(offer.manifest), seen, approval)
        });
        self.recorded(Deed::Install, &subject, merged)
    }

    /// Gives an installed connector another grant, which may only be narrower than the one in force at that moment. It
    /// ends the connector's plans, and cancels what runs under the old grant.
    ///
    /// # Errors
    /// `connector.unknown`, `grant.invalid`, `grant.wider`, `store.*`.
    pub fn set_grant(&self, id: &str, grant: Grant) -> Result<Installed, Refusal> {
        self.set_grant_approved(id, grant, None)
    }

    /// The same, and with the approval of a review any grant. It is used up by being tried.
    ///
    /// # Errors
    /// `connector.unknown`, `grant.invalid`, `grant.wider`, `approval.invalid`, `store.*`.
    pub fn set_grant_approved(
        &self,
        id: &str,
        grant: Grant,
        approval: Option<&str>,
    ) -> Result<Installed, Refusal> {
        let merged = self
            .bind_again(id, grant)
            .and_then(|connector| self.merge(Deed::Grant, &connector, None, None, approval));
        self.recorded(Deed::Grant, id, merged)
    }

    /// Removes a connector, its secrets, its plans and its client; what runs is cancelled. Its source and what its tools
    /// were stay remembered. Gives the contract of a full export.
    ///
    /// # Errors
    /// `contract.stale`, `connector.unknown`, `store.*`, and what the credential store refuses; then it is still there.
    pub fn remove(&self, id: &str, seen: Option<&str>) -> Result<Sha256, Refusal> {
        let removed = self.seen(seen).and_then(|seen| {
            self.change(
                id,
                |shelf| match shelf.set.remove(id, seen) {
                    Err(refusal)
                        if refusal.code == Code::ConnectorUnknown && shelf.broken.contains_key(id) =>
                    {
                        Ok(shelf.with((*shelf.set).clone(), id))
                    }
                    removed => Ok(shelf.with(removed?, id)),
                },
                |journal, next| journal.remove(&next.set, id),
            )
        });
        let outcome = removed.as_ref().map_or_else(|refusal| refusal.code.as_str(), |_| "ok");
        self.inner.record(Deed::Remove, id, None, outcome);
        removed
    }

    /// Tells a person what an install would change, and makes the approval by which it may be let through.
    ///
    /// # Errors
    /// `signature.*`, `manifest.invalid`, `grant.invalid`, `random.unavailable`; `merge.source` when the id differs from
    /// another one only in case or in `_` and `-`, which no approval lets through.
    pub fn review(&self, offer: &Offer<'_>) -> Result<Reviewed, Refusal> {
        let mut subject = String::from("?");
        let reviewed = self.bind(offer, &mut subject).and_then(|connector| self.reviewed(&connector));
        self.recorded(Deed::Review, &subject, reviewed)
    }

    /// The same for another grant of an installed connector.
    ///
    /// # Errors
    /// `connector.unknown`, `grant.invalid`, `random.unavailable`.
    pub fn review_grant(&self, id: &str, grant: Grant) -> Result<Reviewed, Refusal> {
        let reviewed = self.bind_again(id, grant).and_then(|connector| self.reviewed(&connector));
        self.recorded(Deed::Review, id, reviewed)
    }

    /// From bytes to a connector: the signature first, then the rules, then the grant. `subject` becomes the id.
    fn bind(&self, offer: &Offer<'_>, subject: &mut String) -> Result<Arc<Connector>, Refusal> {
        let inner = &self.inner;
        inner.state().open()?;
        let policy = inner.policies.of(offer.source);
        let signer = inner.trusted.verify(offer.manifest, offer.signature, policy, &inner.limits)?;
        let report = manifest::check(offer.manifest, &inner.limits);
        let Some(checked) = report.manifest else {
            return Err(Refusal::new(Code::ManifestInvalid, "the manifest breaks rules of the format")
                .with_findings(report.findings.into_list()));
        };
        subject.clone_from(&checked.id().to_string());
        signer.may_sign(subject)?;
        let connector = Connector::bind(checked, offer.source, offer.grant.clone(), &inner.limits)?;
        Ok(Arc::new(match signer.key() {
            Some(key) => connector.signed_by(key.as_str()),
            None => connector,
        }))
    }

    /// An installed connector under another grant.
    fn bind_again(&self, id: &str, grant: Grant) -> Result<Arc<Connector>, Refusal> {
        let installed = self.connector(id)?;
        let manifest = Arc::clone(installed.manifest());
        let bound = Connector::bind(manifest, installed.source(), grant, &self.inner.limits)?;
        Ok(Arc::new(match installed.key() {
            Some(key) => bound.signed_by(key),
            None => bound,
        }))
    }

    /// The tool set of a contract that the caller brings.
    fn seen(&self, token: Option<&str>) -> Result<Option<Sha256>, Refusal> {
        let state = self.inner.state();
        state.open()?;
        token.map(|token| state.contract(token).map(Contract::tool_set)).transpose()
    }

    fn merge(
        &self,
        deed: Deed,
        connector: &Arc<Connector>,
        manifest: Option<&[u8]>,
        seen: Option<&str>,
        approval: Option<&str>,
    ) -> Result<(Installed, Sha256), Refusal> {
        let seen = self.seen(seen)?;
        let now = self.now_ms();
        let approval = approval.map(|token| self.inner.state().approvals.take(token)).transpose()?;
        let contract = self.change(
            connector.id(),
            |shelf| {
                let (set, connector) = (&shelf.set, Arc::clone(connector));
                let id = connector.id().to_owned();
                let next = match (approval, deed) {
                    (Some(approval), _) => set.install_approved(connector, seen, approval, now)?,
                    (None, Deed::Grant) => set.regrant(connector)?,
                    (None, _) => set.install(connector, seen)?,
                };
                Ok(shelf.with(next, &id))
            },
            |journal, next| journal.install(&next.set, connector, manifest),
        )?;
        let tools = connector.effects().map(|(name, hash)| (name.to_owned(), hash)).collect();
        Ok((Installed { contract, tools }, connector.manifest().sha256()))
    }

    /// The one way by which the tool set of a session changes: judged on the set in force, with no other writer; then the
    /// secrets that have no place any more are deleted; then it is durable; then readers see it. Gives the contract of a
    /// full export.
    fn change(
        &self,
        id: &str,
        judge: impl FnOnce(&Shelf) -> Result<Shelf, Refusal>,
        commit: impl FnOnce(&Journal, &Shelf) -> Result<(), Refusal>,
    ) -> Result<Sha256, Refusal> {
        let inner = &self.inner;
        let writer = inner.shelf.writer();
        let (journal, secrets) = (inner.journal()?, inner.state().open()?);
        let before = writer.current();
        let next = judge(&before)?;
        if !next.has_the_same(&before, id) {
            let placeless = placeless(&before, &next, id);
            for key in &placeless {
                secrets.delete(key)?;
            }
            writer.publish(next, |next| commit(&journal, next))?;
            let set = inner.set();
            let mut state = inner.state();
            state.changed(&set);
            for key in &placeless {
                state.standings.forget(key);
            }
            drop(state);
            // Whoever set one meanwhile did so for the connector that was.
            for key in &placeless {
                let _deleted_before = secrets.delete(key);
            }
        }
        let contract = inner.set().contract();
        Ok(inner.state().issue(contract))
    }

    fn reviewed(&self, connector: &Connector) -> Result<(Reviewed, Sha256), Refusal> {
        let set = self.inner.set();
        // What no approval lets through is told before a person reads.
        set.check_id(connector.id())?;
        let review = set.review(connector);
        let approval = self.inner.random.uuid()?;
        let reviewed = Reviewed {
            changes: review.changes().to_vec(),
            needs_approval: review.needs_approval(),
            approval: approval.clone(),
        };
        let hash = review.manifest();
        let approved = review.approve(&approval, self.now_ms());
        self.inner.state().approvals.add(approved);
        Ok((reviewed, hash))
    }

    /// Records what became of a change.
    fn recorded<T>(
        &self,
        deed: Deed,
        subject: &str,
        result: Result<(T, Sha256), Refusal>,
    ) -> Result<T, Refusal> {
        let (object, outcome) = match &result {
            Ok((_, manifest)) => (Some(*manifest), "ok"),
            Err(refusal) => (None, refusal.code.as_str()),
        };
        self.inner.record(deed, subject, object, outcome);
        result.map(|(value, _)| value)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.inner.clock.monotonic().as_millis()).unwrap_or(u64::MAX)
    }
}

/// The keys of secrets for which a connector had places and has none any more: it is gone, or of another source, or the
/// credential is, or its server is another.
fn placeless(before: &Shelf, after: &Shelf, id: &str) -> Vec<CredentialKey> {
    let keys = |source: &str, credentials: BTreeSet<(smol_str::SmolStr, smol_str::SmolStr)>| {
        let key = |(name, origin): (smol_str::SmolStr, smol_str::SmolStr)| CredentialKey {
            source: source.to_owned(),
            connector: id.to_owned(),
            name: name.to_string(),
            origin: origin.to_string(),
        };
        credentials.into_iter().map(key).collect::<Vec<_>>()
    };
    let Some(past) = before.set.past_of(id) else { return Vec::new() };
    let mut keys = keys(past.source(), past.credentials());
    if let Some(connector) = after.set.connector(id) {
        let names = connector.manifest().credentials().iter();
        let kept: Vec<CredentialKey> =
            names.filter_map(|(name, _)| CredentialKey::new(connector, name.as_str()).ok()).collect();
        keys.retain(|key| !kept.contains(key));
    }
    keys
}
