//! What servers said about secrets: which ones they refused, and when the store was asked once more.

use std::collections::HashMap;
use std::time::Duration;

use crate::secret::{CredentialKey, Secret};

/// A store is asked once more at most once in this time, for each credential.
const BETWEEN_REFRESHES: Duration = Duration::from_secs(60);

/// One entry for each credential that a server refused, at most one for each that is stored.
#[derive(Default)]
pub(crate) struct Standings(HashMap<CredentialKey, Standing>);

#[derive(Default)]
struct Standing {
    rejected: Option<Secret>,
    refreshed: Option<(Duration, Option<Secret>)>,
}

/// How a call whose secret was refused comes by another one.
pub(crate) enum Renewal {
    /// The store may be asked, and this call is the one that asks it.
    Ask,
    /// It was asked within the last minute, and this is what it gave.
    Known(Option<Secret>),
}

impl Standings {
    /// Whether the server refused this very secret, and the person set none anew.
    pub(crate) fn is_rejected(&self, key: &CredentialKey, secret: &Secret) -> bool {
        let rejected = self.0.get(key).and_then(|standing| standing.rejected.as_ref());
        rejected.is_some_and(|rejected| rejected.is(secret))
    }

    /// The server refused a secret for good.
    pub(crate) fn reject(&mut self, key: &CredentialKey, secret: Secret) {
        self.0.entry(key.clone()).or_default().rejected = Some(secret);
    }

    /// Asks for the one refresh of this minute.
    pub(crate) fn renewal(&mut self, key: &CredentialKey, now: Duration) -> Renewal {
        let standing = self.0.entry(key.clone()).or_default();
        match &standing.refreshed {
            Some((at, secret)) if now.saturating_sub(*at) < BETWEEN_REFRESHES => {
                Renewal::Known(secret.clone())
            }
            _ => {
                standing.refreshed = Some((now, None));
                Renewal::Ask
            }
        }
    }

    /// What the store gave when it was asked.
    pub(crate) fn renewed(&mut self, key: &CredentialKey, now: Duration, secret: Option<Secret>) {
        self.0.entry(key.clone()).or_default().refreshed = Some((now, secret));
    }

    /// The person set the secret anew, or deleted it.
    pub(crate) fn forget(&mut self, key: &CredentialKey) {
        self.0.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> CredentialKey {
        let text = String::new;
        CredentialKey { source: text(), connector: text(), name: text(), origin: text() }
    }

    fn secret(text: &str) -> Secret {
        Secret::new(text.to_owned())
    }

    #[test]
    fn a_store_is_asked_once_more_once_a_minute() {
        let mut standings = Standings::default();
        let at = Duration::from_secs;
        assert!(matches!(standings.renewal(&key(), at(0)), Renewal::Ask));
        assert!(matches!(standings.renewal(&key(), at(1)), Renewal::Known(None)), "the first still asks");
        standings.renewed(&key(), at(0), Some(secret("b")));
        for now in [1, 59] {
            let Renewal::Known(Some(known)) = standings.renewal(&key(), at(now)) else { panic!("{now}") };
            assert!(known.is(&secret("b")), "what one call was given serves the others");
        }
        assert!(matches!(standings.renewal(&key(), at(60)), Renewal::Ask));
    }

    #[test]
    fn a_rejected_secret_is_rejected_until_another_is_set() {
        let mut standings = Standings::default();
        standings.reject(&key(), secret("a"));
        assert!(standings.is_rejected(&key(), &secret("a")));
        assert!(!standings.is_rejected(&key(), &secret("b")), "another secret is another");
        standings.forget(&key());
        assert!(!standings.is_rejected(&key(), &secret("a")), "the same, set anew, is tried again");
    }
}
