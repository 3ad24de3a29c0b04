//! The secrets of one call: asked for when it is sent, and once more when the server refuses them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use connector_core::call::Confirmed;
use connector_core::text::Redactor;
use connector_core::{Code, Refusal};
use smol_str::SmolStr;

use crate::place::Place;
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
    /// Refuses with `credential.missing`, with `credential.rejected` when the server refused the same secrets before,
    /// with what the store refuses, and when the call is given up meanwhile.
    pub(crate) async fn ask(place: &Place, confirmed: &Confirmed) -> Result<Self, Refusal> {
        let inner = &place.inner;
        let connector = confirmed.plan().connector();
        let mut now: Vec<Held> = Vec::new();
        for credential in confirmed.credentials() {
            let name = SmolStr::from(credential.name.as_str());
            if now.iter().any(|held| held.name == name) {
                continue;
            }
            let key = CredentialKey::new(connector, &name)?;
            let Some(secret) = fetch(place, &key, None).await? else {
                let reason = format!("the credential `{name}` of `{}` is not set", key.connector);
                return Err(Refusal::new(Code::CredentialMissing, reason));
            };
            now.push(Held { name, key, secret });
        }
        if are_known_refused(inner, &now) {
            Err(rejected(&now))
        } else {
            Ok(Self { now, before: Vec::new() })
        }
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
    pub(crate) async fn renew(&mut self, place: &Place) -> Result<bool, Refusal> {
        let inner = &place.inner;
        let now = inner.clock.monotonic();
        let mut next = self.now.clone();
        let mut renewed = false;
        for held in &mut next {
            let renewal = inner.state().standings.renewal(&held.key, now);
            let secret = match renewal {
                Renewal::Known(given) => tokio::select! {
                    biased;
                    () = place.token.cancelled() => return Err(place.given_up()),
                    secret = given.secret() => secret,
                },
                Renewal::Ask(tell) => {
                    let secret = fetch(place, &held.key, Some(held.secret.clone())).await?;
                    tell.tell(secret.clone());
                    secret
                }
            };
            if let Some(secret) = secret.filter(|secret| !secret.is(&held.secret)) {
                held.secret = secret;
                renewed = true;
            }
        }
        if !renewed || are_known_refused(inner, &next) {
            return Ok(false);
        }
        self.before = std::mem::replace(&mut self.now, next);
        Ok(true)
    }

    /// The server refused these secrets for good: they are not sent together again.
    pub(crate) fn reject(&self, inner: &Inner) -> Refusal {
        let pairs = self.now.iter().map(|held| (held.key.clone(), held.secret.clone()));
        inner.state().standings.refuse(pairs.collect());
        rejected(&self.now)
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

/// Whether the server refused these very secrets, and none was set anew.
fn are_known_refused(inner: &Inner, held: &[Held]) -> bool {
    let pairs = held.iter().map(|held| (&held.key, &held.secret));
    inner.state().standings.are_refused(&pairs)
}

/// Asks the store for one secret, away from the threads of other calls: it may ask a person. A call that is given up
/// waits no longer, whatever the store does.
async fn fetch(
    place: &Place,
    key: &CredentialKey,
    refused: Option<Secret>,
) -> Result<Option<Secret>, Refusal> {
    let store = place.inner.state().open()?;
    let (key, need) = (key.clone(), place.need(refused));
    let asking = async {
        let asked = tokio::task::spawn_blocking(move || store.get_for(&key, &need)).await;
        asked.unwrap_or_else(|_| {
            Err(Refusal::new(Code::CredentialMissing, "the store of the credentials broke down"))
        })
    };
    tokio::select! {
        biased;
        () = place.token.cancelled() => Err(place.given_up()),
        secret = asking => secret,
    }
}

fn rejected(held: &[Held]) -> Refusal {
    let names: Vec<String> = held.iter().map(|held| format!("`{}`", held.name)).collect();
    let of = held.first().map_or("?", |held| &held.key.connector);
    let reason = match names.as_slice() {
        [one] => format!("the server refused the credential {one} of `{of}`: set it anew"),
        names => format!(
            "the server refused the credentials {} of `{of}` together, and does not say which of them: set anew the \
             one that is wrong",
            names.join(" and ")
        ),
    };
    let advice = "The service refuses the stored credential. Do not call again; tell the user to renew it.";
    Refusal::new(Code::CredentialRejected, reason).advise(advice)
}
