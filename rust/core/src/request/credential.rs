//! The slots of secrets, and what is written around a secret.

use smol_str::SmolStr;

use super::rules::{SLOT_BASIC, SLOT_SCHEME};
use super::slot::{clash, is_token};
use crate::json::{Object, Path, Quoted};
use crate::shape::{Identifier, Reading, member};

/// A place that a secret fills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialSlot {
    /// The name of the credential.
    pub name: Identifier,
    /// Whether the slot is left out when the person set no secret.
    pub omit_absent: bool,
    /// What is written around the secret.
    pub auth: Auth,
}

/// What is written around a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// Nothing.
    Bare,
    /// This RFC 9110 auth scheme and one space.
    Scheme(SmolStr),
    /// `Basic` (RFC 7617): the scheme as written, and what the secret is.
    Basic(SmolStr, Basic),
}

/// What the secret of a `Basic` credential is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basic {
    /// `user:password`.
    UserAndPassword,
    /// The password of this user.
    PasswordOf(SmolStr),
    /// The user, whose password is empty.
    User,
}

/// Reads the options that say what is written around a secret; a position without them has reported them.
pub(super) fn read_auth(object: &Object, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Auth> {
    let mut text = |name| member::<Option<SmolStr>>(object, name, at, reading);
    let (scheme, user, password) = (text("scheme"), text("user"), text("password"));
    let (scheme, user, password) = (scheme?, user?, password?);
    if let Some(scheme) = scheme.as_ref().filter(|scheme| !is_token(scheme)) {
        let message = format_args!("{} is not an auth scheme", Quoted(scheme));
        reading.findings.add(&SLOT_SCHEME, &at.name("scheme"), message);
    }
    if user.is_some() && password.is_some() {
        clash("user", "password", at, reading);
    }
    let basic = scheme.as_ref().is_some_and(|scheme| scheme.eq_ignore_ascii_case("Basic"));
    for (name, value) in [("user", &user), ("password", &password)] {
        let at = at.name(name);
        match value {
            Some(_) if !basic => {
                reading.findings.add_name(
                    &SLOT_BASIC,
                    &at,
                    format_args!("`{name}` needs the scheme `Basic`"),
                );
            }
            Some(value) if name == "user" && value.contains(|c: char| c == ':' || c.is_control()) => {
                reading.findings.add(
                    &SLOT_BASIC,
                    &at,
                    format_args!("a user holds neither `:` nor a control character"),
                );
            }
            Some(value) if name == "password" && !value.is_empty() => {
                reading.findings.add(&SLOT_BASIC, &at, format_args!("a literal password can only be empty"));
            }
            _ => {}
        }
    }
    Some(match (scheme, user, password) {
        (None, ..) => Auth::Bare,
        (Some(scheme), ..) if !basic => Auth::Scheme(scheme),
        (Some(scheme), Some(user), _) => Auth::Basic(scheme, Basic::PasswordOf(user)),
        (Some(scheme), None, Some(_)) => Auth::Basic(scheme, Basic::User),
        (Some(scheme), None, None) => Auth::Basic(scheme, Basic::UserAndPassword),
    })
}
