//! From a confirmed plan to the one request that the transport takes.

use std::sync::Arc;

use super::Plan;
use crate::json::Sha256;
use crate::origin::Scheme;
use crate::request::{CredentialUse, Given, Header, Outgoing};
use crate::{Code, Refusal};

/// A plan whose confirmation, where one is needed, repeated its digest. Only [`Plan::confirm`] makes one.
#[derive(Debug, Clone)]
pub struct Confirmed(Arc<Plan>);

impl Plan {
    /// Takes the confirmation: the digest that the person was shown.
    ///
    /// # Errors
    /// `plan.confirmation_required` when one is needed and missing, or is of another plan; nothing is consumed.
    pub fn confirm(self: &Arc<Self>, confirmation: Option<Sha256>) -> Result<Confirmed, Refusal> {
        let given = confirmation == Some(self.digest());
        if given || (self.needs_confirmation().is_empty() && confirmation.is_none()) {
            return Ok(Confirmed(Arc::clone(self)));
        }
        let reason = if confirmation.is_some() {
            "the confirmation is not the digest of this plan"
        } else {
            "the plan needs a person's confirmation: show its preview and give its digest back"
        };
        Err(Refusal::new(Code::PlanConfirmationRequired, reason))
    }
}

impl Confirmed {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.0
    }

    /// The credentials that the request has a place for.
    pub fn credentials(&self) -> Vec<&CredentialUse> {
        self.0.built().credentials()
    }

    /// Sets the secrets in their places. `secret` is asked for each place of a credential.
    ///
    /// # Errors
    /// `credential.missing`, `credential.invalid`; `grant.denied` for a secret over `http` that the grant does not
    /// allow; `request.too_large`.
    pub fn dispatch<'s>(
        &self,
        secret: impl Fn(&CredentialUse) -> Option<&'s str>,
    ) -> Result<Outgoing, Refusal> {
        let plan = &*self.0;
        let connector = plan.connector();
        let Some(origin) = plan.tool().and_then(|tool| connector.origin_of(tool)) else {
            return Err(Refusal::new(Code::PlanStale, "the origin of the plan is gone"));
        };
        let cleartext = origin.origin().scheme() == Scheme::Http;
        let sends = self.credentials().into_iter().any(|credential| secret(credential).is_some());
        if sends && cleartext && !connector.grant().cleartext_credentials {
            return Err(Refusal::new(Code::GrantDenied, "the grant does not let a credential go over http"));
        }
        let rendered =
            plan.built().render(|credential| secret(credential).map_or(Given::Nothing, Given::Secret))?;
        let own = rendered.headers.into_iter().filter(|header| !header.fixed);
        let headers = own.map(|header| Header {
            name: header.name.to_string(),
            value: header.value,
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
