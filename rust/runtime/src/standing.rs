//! What servers said about secrets: which ones they refused, and when the store was asked once more.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::watch;

use crate::secret::{CredentialKey, Secret};

/// A store is asked once more at most once in this time, for each credential.
const BETWEEN_REFRESHES: Duration = Duration::from_secs(60);

/// What was refused, and when the store was asked.
#[derive(Default)]
pub(crate) struct Standings {
    /// The secrets of requests that a server refused, the last for each choice of credentials: as many as the tools
    /// have. A server does not say which of several it means.
    refused: Vec<Vec<(CredentialKey, Secret)>>,
    refreshed: HashMap<CredentialKey, (Duration, Given)>,
}

/// How a call whose secret was refused comes by another one.
pub(crate) enum Renewal {
    /// The store may be asked, and this call is the one that asks it, and tells the others.
    Ask(Tell),
    /// It was asked within the last minute.
    Known(Given),
}

/// What a store was asked for; none as long as it has not answered.
type Slot = Option<Option<Secret>>;

/// The call that asks tells what the store gave.
pub(crate) struct Tell(watch::Sender<Slot>);

impl Tell {
    pub(crate) fn tell(self, secret: Option<Secret>) {
        self.0.send_replace(Some(secret));
    }
}

/// What the store gives, for the calls that do not ask themselves.
#[derive(Clone)]
pub(crate) struct Given(watch::Receiver<Slot>);

impl Given {
    /// Waits for the answer; nothing when the call that asked was given up.
    pub(crate) async fn secret(mut self) -> Option<Secret> {
        self.0.wait_for(Option::is_some).await.ok().and_then(|given| given.clone().flatten())
    }
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
            Some((at, given)) if now.saturating_sub(*at) < BETWEEN_REFRESHES => Renewal::Known(given.clone()),
            _ => {
                let (tell, given) = watch::channel(None);
                self.refreshed.insert(key.clone(), (now, Given(given)));
                Renewal::Ask(Tell(tell))
            }
        }
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

    #[tokio::test]
    async fn a_store_is_asked_once_more_once_a_minute() {
        let mut standings = Standings::default();
        let at = Duration::from_secs;
        let Renewal::Ask(tell) = standings.renewal(&key(), at(0)) else { panic!("the first asks") };
        let Renewal::Known(waiting) = standings.renewal(&key(), at(1)) else {
            panic!("the first still asks")
        };
        let ((), waited) = tokio::join!(async { tell.tell(Some(secret("b"))) }, waiting.secret());
        assert!(
            waited.is_some_and(|known| known.is(&secret("b"))),
            "what one call is given serves the others"
        );
        for now in [1, 59] {
            let Renewal::Known(known) = standings.renewal(&key(), at(now)) else { panic!("{now}") };
            assert!(known.secret().await.is_some_and(|known| known.is(&secret("b"))));
        }
        let Renewal::Ask(given_up) = standings.renewal(&key(), at(60)) else { panic!("a minute later") };
        let Renewal::Known(waiting) = standings.renewal(&key(), at(61)) else { panic!("it is asked") };
        drop(given_up);
        assert!(waiting.secret().await.is_none(), "nobody waits for a call that was given up");
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
