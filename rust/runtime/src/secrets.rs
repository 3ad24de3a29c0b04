//! The secrets of one call: asked for when it is sent, and once more when the server refuses them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use connector_core::call::Confirmed;
use connector_core::text::Redactor;
use connector_core::{Code, Refusal};
use smol_str::SmolStr;

use crate::secret::{CredentialKey, Secret};
use crate::session::Inner;
use crate::standing::Renewal;

/// The secrets that a call sends, and those that it sent before.
pub(crate) struct Secrets {
    now: Vec<Held>,
    /// What a first try sent; it must not come back either.
    before: Vec<Held>,
}

#[derive(Clone)]
struct Held {
    name: SmolStr,
    key: CredentialKey,
    secret: Secret,
}

impl Secrets {
    /// Asks the store for every secret that the request has a place for.
    ///
    /// Refuses with `credential.missing`, with `credential.rejected` when the server refused the same secret before,
    /// and with what the store refuses.
    pub(crate) fn ask(inner: &Inner, confirmed: &Confirmed) -> Result<Self, Refusal> {
        let store = inner.state().open()?;
        let connector = confirmed.plan().connector();
        let mut now: Vec<Held> = Vec::new();
        for credential in confirmed.credentials() {
            let name = SmolStr::from(credential.name.as_str());
            if now.iter().any(|held| held.name == name) {
                continue;
            }
            let key = CredentialKey::new(connector, &name)?;
            let Some(secret) = store.get(&key)? else {
                let reason = format!("the credential `{name}` of `{}` is not set", key.connector);
                return Err(Refusal::new(Code::CredentialMissing, reason));
            };
            if inner.state().standings.is_rejected(&key, &secret) {
                return Err(rejected(&key));
            }
            now.push(Held { name, key, secret });
        }
        Ok(Self { now, before: Vec::new() })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.now.is_empty()
    }

    /// The secrets by the names of their credentials.
    pub(crate) fn by_name(&self) -> BTreeMap<SmolStr, &str> {
        self.now.iter().map(|held| (held.name.clone(), held.secret.expose())).collect()
    }

    /// Asks the store once more, where it was not asked within the last minute. Gives whether a secret is another one
    /// than the one that was sent, and is not known to be refused.
    pub(crate) fn renew(&mut self, inner: &Inner) -> Result<bool, Refusal> {
        let store = inner.state().open()?;
        let now = inner.clock.monotonic();
        let before = self.now.clone();
        let mut renewed = false;
        for held in &mut self.now {
            let renewal = inner.state().standings.renewal(&held.key, now);
            let secret = match renewal {
                Renewal::Known(secret) => secret,
                Renewal::Ask => {
                    let secret = store.get(&held.key)?;
                    inner.state().standings.renewed(&held.key, now, secret.clone());
                    secret
                }
            };
            let other = secret.filter(|secret| !secret.is(&held.secret));
            if let Some(secret) =
                other.filter(|secret| !inner.state().standings.is_rejected(&held.key, secret))
            {
                held.secret = secret;
                renewed = true;
            }
        }
        if renewed {
            self.before = before;
        }
        Ok(renewed)
    }

    /// The server refused these secrets for good: they are not sent again.
    pub(crate) fn reject(&self, inner: &Inner) -> Refusal {
        let mut state = inner.state();
        for held in &self.now {
            state.standings.reject(&held.key, held.secret.clone());
        }
        self.now.first().map_or_else(
            || Refusal::new(Code::CredentialRejected, "the server refused the request"),
            |held| rejected(&held.key),
        )
    }

    /// Finds all of them in an answer.
    pub(crate) fn redactor(&self, confirmed: &Confirmed) -> Redactor {
        let places = confirmed.credentials();
        let sent = self.now.iter().chain(&self.before);
        let texts: Vec<Cow<'_, str>> = sent
            .flat_map(|held| {
                let own = places.iter().filter(|place| place.name.as_str() == held.name);
                own.flat_map(|place| place.withheld(held.secret.expose()))
            })
            .collect();
        Redactor::new(texts.iter().map(|text| text.as_bytes()))
    }
}

fn rejected(key: &CredentialKey) -> Refusal {
    let reason =
        format!("the server refused the credential `{}` of `{}`: set it anew", key.name, key.connector);
    let advice = "The service refuses the stored credential. Do not call again; tell the user to renew it.";
    Refusal::new(Code::CredentialRejected, reason).advise(advice)
}
