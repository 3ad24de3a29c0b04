//! From a confirmed plan to the one request that the transport takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::Plan;
use crate::request::{CredentialUse, Given, Header, Outgoing};
use crate::{Code, Refusal};

/// A plan whose confirmation, where one is needed, repeated its digest. Only [`Plan::confirm`] makes one.
#[derive(Debug, Clone)]
pub struct Confirmed(Arc<Plan>);

impl Plan {
    /// Takes the confirmation: the digest that the person was shown, as text.
    ///
    /// # Errors
    /// `plan.confirmation_required` when one is needed and missing, or is of another plan; nothing is consumed.
    pub fn confirm(self: &Arc<Self>, confirmation: Option<&str>) -> Result<Confirmed, Refusal> {
        let reason = match confirmation {
            Some(text) if text == self.digest().to_string() => return Ok(Confirmed(Arc::clone(self))),
            None if self.needs_confirmation().is_empty() => return Ok(Confirmed(Arc::clone(self))),
            Some(_) => "the confirmation is not the digest of this plan",
            None => "the plan needs a person's confirmation: show its preview and give its digest back",
        };
        Err(Refusal::new(Code::PlanConfirmationRequired, reason))
    }
}

impl Confirmed {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.0
    }

    /// The places that the request has for secrets, as the preview shows them; a credential may have several.
    pub fn credentials(&self) -> Vec<&CredentialUse> {
        let mut uses = self.0.built().credentials();
        uses.retain(|credential| !self.0.seed().leaves_out(credential));
        uses
    }

    /// Sets the secrets, by the names of their credentials, in their places.
    ///
    /// # Errors
    /// `credential.missing` for a place of the preview that has no secret, `credential.invalid` for a secret that
    /// cannot stand in its place, `request.too_large`.
    pub fn dispatch(&self, secrets: &BTreeMap<SmolStr, &str>) -> Result<Outgoing, Refusal> {
        let plan = &*self.0;
        let connector = plan.connector();
        let Some(origin) = plan.tool().and_then(|tool| connector.origin_of(tool)) else {
            return Err(Refusal::new(Code::PlanStale, "the origin of the plan is gone"));
        };
        let secret = |credential: &CredentialUse| secrets.get(credential.name.as_str()).copied();
        if let Some(missing) = self.credentials().into_iter().find(|credential| secret(credential).is_none())
        {
            let reason = format!("the credential `{}` of `{}` is not set", missing.name, connector.id());
            return Err(Refusal::new(Code::CredentialMissing, reason));
        }
        let rendered = plan.built().render(|credential| match secret(credential) {
            Some(secret) if !plan.seed().leaves_out(credential) => Given::Secret(secret),
            _ => Given::Nothing,
        })?;
        let own = rendered.headers.into_iter().filter(|header| !header.fixed);
        let headers = own.map(|header| Header {
            name: header.name.to_string(),
            value: header.value.into_owned(),
            secret: header.secret,
        });
        Ok(Outgoing {
            method: rendered.method,
            url: rendered.url,
            headers: headers.collect(),
            body: rendered.body,
            reach: origin.reach(),
            budget: plan.budget().clone(),
            literal_prefix: plan.built().literal_prefix().to_owned(),
        })
    }
}
