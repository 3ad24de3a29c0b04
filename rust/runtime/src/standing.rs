//! What servers said about secrets: which ones they refused, and when the store was asked once more.

use std::collections::HashMap;
use std::time::Duration;

use crate::secret::{CredentialKey, Secret};

/// A store is asked once more at most once in this time, for each credential.
const BETWEEN_REFRESHES: Duration = Duration::from_secs(60);

/// What was refused, and when the store was asked.
#[derive(Default)]
pub(crate) struct Standings {
    /// The secrets of requests that a server refused, the last for each choice of credentials: as many as the tools
    /// have. A server does not say which of several it means.
    refused: Vec<Vec<(CredentialKey, Secret)>>,
    refreshed: HashMap<CredentialKey, (Duration, Option<Secret>)>,
}

/// How a call whose secret was refused comes by another one.
pub(crate) enum Renewal {
    /// The store may be asked, and this call is the one that asks it.
    Ask,
    /// It was asked within the last minute, and this is what it gave.
    Known(Option<Secret>),
}

impl Standings {
    /// Whether the server refused these very secrets, or some of them alone, and none of those was set anew. With one
    /// of them another they are other secrets; each of them alone may be good.
    pub(crate) fn are_refused<'s>(
        &self,
        secrets: &(impl Iterator<Item = (&'s CredentialKey, &'s Secret)> + Clone),
    ) -> bool {
        let is_sent = |(key, refused): &(CredentialKey, Secret)| {
            secrets.clone().any(|(other, secret)| other == key && secret.is(refused))
        };
        self.refused.iter().any(|refused| refused.iter().all(is_sent))
    }

    /// The server refused these secrets for good.
    pub(crate) fn refuse(&mut self, secrets: Vec<(CredentialKey, Secret)>) {
        let of = |(key, _): &(CredentialKey, Secret)| secrets.iter().any(|(other, _)| other == key);
        self.refused.retain(|before| before.len() != secrets.len() || !before.iter().all(of));
        if !secrets.is_empty() {
            self.refused.push(secrets);
        }
    }

    /// Asks for the one refresh of this minute.
    pub(crate) fn renewal(&mut self, key: &CredentialKey, now: Duration) -> Renewal {
        match self.refreshed.get(key) {
            Some((at, secret)) if now.saturating_sub(*at) < BETWEEN_REFRESHES => {
                Renewal::Known(secret.clone())
            }
            _ => {
                self.refreshed.insert(key.clone(), (now, None));
                Renewal::Ask
            }
        }
    }

    /// What the store gave when it was asked.
    pub(crate) fn renewed(&mut self, key: &CredentialKey, now: Duration, secret: Option<Secret>) {
        self.refreshed.insert(key.clone(), (now, secret));
    }

    /// The person set the secret anew, or deleted it.
    pub(crate) fn forget(&mut self, key: &CredentialKey) {
        self.refused.retain(|refused| refused.iter().all(|(other, _)| other != key));
        self.refreshed.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> CredentialKey {
        named("token")
    }

    fn named(name: &str) -> CredentialKey {
        let text = String::new;
        CredentialKey { source: text(), connector: text(), name: name.to_owned(), origin: text() }
    }

    fn set(pairs: &[(&str, &str)]) -> Vec<(CredentialKey, Secret)> {
        pairs.iter().map(|(name, text)| (named(name), secret(text))).collect()
    }

    fn are_refused(standings: &Standings, pairs: &[(&str, &str)]) -> bool {
        let pairs = set(pairs);
        standings.are_refused(&pairs.iter().map(|(key, secret)| (key, secret)))
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
        standings.refuse(set(&[("token", "a")]));
        assert!(are_refused(&standings, &[("token", "a")]));
        assert!(!are_refused(&standings, &[("token", "b")]), "another secret is another");
        assert!(!are_refused(&standings, &[]));
        standings.forget(&key());
        assert!(!are_refused(&standings, &[("token", "a")]), "the same, set anew, is tried again");
    }

    #[test]
    fn of_two_secrets_in_one_request_neither_is_blamed_alone() {
        let mut standings = Standings::default();
        standings.refuse(set(&[("key", "good"), ("token", "bad")]));
        assert!(are_refused(&standings, &[("token", "bad"), ("key", "good")]), "both together were");
        assert!(!are_refused(&standings, &[("key", "good")]), "a tool that sends one of them may call");
        assert!(!are_refused(&standings, &[("key", "good"), ("token", "new")]));
        standings.refuse(set(&[("token", "bad")]));
        assert!(
            are_refused(&standings, &[("key", "other"), ("token", "bad")]),
            "one that was refused alone is bad"
        );
        standings.forget(&named("token"));
        assert!(
            !are_refused(&standings, &[("key", "good"), ("token", "bad")]),
            "set anew, they are tried once"
        );
    }

    #[test]
    fn the_last_refusal_of_the_same_credentials_is_kept() {
        let mut standings = Standings::default();
        for number in 0..100 {
            standings.refuse(set(&[("key", "k"), ("token", &number.to_string())]));
            standings.refuse(set(&[("token", &number.to_string())]));
        }
        assert_eq!(standings.refused.len(), 2);
        standings.refuse(Vec::new());
        assert_eq!(standings.refused.len(), 2);
    }
}
