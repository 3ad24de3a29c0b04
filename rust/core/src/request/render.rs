//! Rendering a built request: the same for the preview and for the wire, apart from the secrets.

use std::borrow::Cow;
use std::cell::Cell;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use smol_str::SmolStr;

use super::built::{
    Built, BuiltBody, BuiltHeader, CredentialUse, FormPart, Given, HeaderPart, Node, Rendered, RenderedHeader,
};
use super::credential::{Auth, Basic, CredentialSlot};
use super::encode::{Pair, write_form};
use super::fixed::fixed_headers;
use super::header_value::check_header_value;
use super::slot::Position;
use crate::error::{Code, Refusal};
use crate::json::Value;
use crate::limits::TrustLimits;

/// The `User-Agent` where a manifest sets none.
pub const USER_AGENT: &str = concat!("connector-core/", env!("CARGO_PKG_VERSION"));
/// The `Accept` where a manifest sets none: JSON before other text, anything rather than nothing.
pub const ACCEPT: &str = "application/json, text/*;q=0.9, */*;q=0.1";

/// What stands for the `Content-Length` in a preview whose body holds a placeholder: the secret has another length.
const UNKNOWN_LENGTH: &str = "<length with credential>";

/// The most fields beside those of the manifest: the fixed ones and the defaults.
const ADDED_HEADERS: usize = 6;

/// Gives what stands in the place of each secret.
type Give<'g, 's> = &'g dyn Fn(&CredentialUse) -> Given<'s>;

/// A field name as the transport writes it: the letter behind each hyphen in upper case. Names are the same in
/// any case (RFC 9110 section 5.1); this way the preview is the wire byte for byte.
fn wire_name(name: &SmolStr) -> SmolStr {
    let cased = || {
        let mut start = true;
        name.bytes().map(move |byte| {
            let cased = if start { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() };
            start = byte == b'-';
            cased
        })
    };
    // Most manifests write it so.
    if cased().eq(name.bytes()) { name.clone() } else { cased().map(char::from).collect() }
}

impl Built {
    /// The request with what `give` gives for each credential: placeholders for the preview, secrets for the
    /// wire. Apart from these both are the same, byte for byte.
    ///
    /// Refuses with `credential.missing` when there is no secret for a place that is not left out, with
    /// `credential.invalid` when a secret cannot stand in its place, and with `request.too_large` when the
    /// body is over its limit.
    pub fn render<'s>(&self, give: impl Fn(&CredentialUse) -> Given<'s>) -> Result<Rendered, Refusal> {
        let (filled, hidden) = (Cell::new(false), Cell::new(false));
        let give: Give<'_, 's> = &|credential| {
            let given = give(credential);
            filled.set(filled.get() || !matches!(given, Given::Nothing));
            hidden.set(hidden.get() || matches!(given, Given::Placeholder));
            given
        };
        let (body, kind) = match &self.body {
            None => (None, None),
            Some(BuiltBody::Text(text)) => (Some(text.clone()), Some("text/plain;charset=utf-8")),
            Some(BuiltBody::Form(parts)) => {
                (Some(self.form(parts, give)?), Some("application/x-www-form-urlencoded"))
            }
            Some(BuiltBody::Json(node)) => {
                let mut out = String::new();
                let there = self.json(node, give, &mut out)?;
                (there.then_some(out), Some("application/json"))
            }
        };
        if body.as_ref().is_some_and(|body| body.len() > self.body_bytes) {
            let limit = self.body_bytes;
            return Err(Refusal::new(
                Code::RequestTooLarge,
                format!("the body is over the limit of {limit} bytes"),
            ));
        }
        // What of this was of the body, before the headers ask for secrets too.
        let (secret_body, hidden_body) = (filled.get(), hidden.get());
        let kind = kind.filter(|_| body.is_some());
        let mut headers = self.render_headers(kind, body.as_ref().map(String::len), give)?;
        if let Some(length) = headers.iter_mut().find(|header| secret_body && header.name == "Content-Length")
        {
            length.secret = true;
            if hidden_body {
                length.value = UNKNOWN_LENGTH.into();
            }
        }
        let body = body.map(String::into_bytes);
        Ok(Rendered { method: self.method, url: self.url.clone(), headers, body, secret_body })
    }

    /// The fields of the transport and of the manifest, and the defaults for what the manifest leaves out.
    /// `kind` is the default media type of the body that is sent.
    fn render_headers(
        &self,
        kind: Option<&'static str>,
        body: Option<usize>,
        give: Give<'_, '_>,
    ) -> Result<Vec<RenderedHeader>, Refusal> {
        let fixed = |(name, value)| RenderedHeader {
            name: SmolStr::new_static(name),
            value,
            fixed: true,
            secret: false,
        };
        let mut fixed = fixed_headers(self.method, &self.url, body).map(fixed);
        let mut headers = Vec::with_capacity(self.headers.len() + ADDED_HEADERS);
        headers.extend(fixed.by_ref().take(1));
        for BuiltHeader { name, value } in &self.headers {
            // Without a body there is nothing whose type could be told.
            if kind.is_none() && name.eq_ignore_ascii_case("content-type") {
                continue;
            }
            let (value, secret) = match value {
                HeaderPart::Text(text) => (text.to_string(), false),
                HeaderPart::Secret(credential) => match self.header(credential, give)? {
                    Some(value) => (value, true),
                    None => continue,
                },
            };
            headers.push(RenderedHeader { name: wire_name(name), value: value.into(), fixed: false, secret });
        }
        let defaults = [("User-Agent", Some(USER_AGENT)), ("Accept", Some(ACCEPT)), ("Content-Type", kind)];
        for (name, value) in defaults {
            if let Some(value) =
                value.filter(|_| headers.iter().all(|header| !header.name.eq_ignore_ascii_case(name)))
            {
                let name = SmolStr::new_static(name);
                headers.push(RenderedHeader { name, value: value.into(), fixed: false, secret: false });
            }
        }
        headers.extend(fixed);
        Ok(headers)
    }

    /// The value of a header that a secret fills; nothing when it is left out.
    fn header(&self, credential: &CredentialUse, give: Give<'_, '_>) -> Result<Option<String>, Refusal> {
        match give(credential) {
            Given::Nothing => credential.left_out().map(|()| None),
            Given::Placeholder => Ok(Some(credential.with_scheme(credential.placeholder()))),
            Given::Secret(secret) => credential.header_value(secret, self.header_value_bytes).map(Some),
        }
    }

    /// A secret for a body; nothing when it is left out.
    fn plain<'s>(
        &self,
        credential: &CredentialUse,
        give: Give<'_, 's>,
    ) -> Result<Option<Shown<'s>>, Refusal> {
        match give(credential) {
            Given::Nothing => credential.left_out().map(|()| None),
            Given::Placeholder => Ok(Some(Shown::Placeholder(credential.placeholder()))),
            Given::Secret(secret) => {
                credential.check(secret, self.header_value_bytes)?;
                Ok(Some(Shown::Secret(secret)))
            }
        }
    }

    fn form(&self, parts: &[FormPart], give: Give<'_, '_>) -> Result<String, Refusal> {
        let mut out = String::new();
        for part in parts {
            let written = match part {
                FormPart::Pair(pair) => write_form(std::slice::from_ref(pair)),
                FormPart::Secret(name, credential) => match self.plain(credential, give)? {
                    None => continue,
                    Some(Shown::Secret(secret)) => write_form(&[Pair::text(name.clone(), secret)]),
                    // A person reads it: the placeholder stands as it is.
                    Some(Shown::Placeholder(text)) => write_form(&[Pair::text(name.clone(), "")]) + &text,
                },
            };
            if !out.is_empty() {
                out.push('&');
            }
            out.push_str(&written);
        }
        Ok(out)
    }

    /// Writes a value; gives whether there is one.
    fn json(&self, node: &Node, give: Give<'_, '_>, out: &mut String) -> Result<bool, Refusal> {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Secret(credential) => match self.plain(credential, give)? {
                None => return Ok(false),
                Some(Shown::Secret(text)) => Value::from(text).write(out),
                // Not in quotes, as no argument stands: a person tells it from a text that only looks like it.
                Some(Shown::Placeholder(text)) => out.push_str(&text),
            },
            Node::Array(items) => {
                let mut separator = "[";
                for item in items {
                    let start = out.len();
                    out.push_str(separator);
                    if self.json(item, give, out)? {
                        separator = ",";
                    } else {
                        out.truncate(start);
                    }
                }
                out.push_str(if separator == "[" { "[]" } else { "]" });
            }
            Node::Object(members) => {
                let mut separator = "{";
                for (name, value) in members {
                    let start = out.len();
                    out.push_str(separator);
                    out.push_str(name);
                    out.push(':');
                    if self.json(value, give, out)? {
                        separator = ",";
                    } else {
                        out.truncate(start);
                    }
                }
                out.push_str(if separator == "{" { "{}" } else { "}" });
            }
        }
        Ok(true)
    }
}

enum Shown<'s> {
    Secret(&'s str),
    Placeholder(String),
}

impl CredentialUse {
    /// What stands for the secret in a preview.
    pub fn placeholder(&self) -> String {
        ["<credential ", self.name.as_str(), ">"].concat()
    }

    /// Whether the place may go without its secret.
    fn left_out(&self) -> Result<(), Refusal> {
        if self.optional {
            return Ok(());
        }
        Err(Refusal::new(Code::CredentialMissing, format!("the credential `{}` is not set", self.name)))
    }

    fn invalid(&self, why: &str) -> Refusal {
        Refusal::new(Code::CredentialInvalid, format!("the credential `{}` cannot be sent: {why}", self.name))
    }

    /// The place of a slot.
    pub fn new(slot: &CredentialSlot) -> Self {
        Self { name: slot.name.clone(), auth: slot.auth.clone(), optional: slot.omit_absent }
    }

    /// Whether a secret can be sent at this place: `credential.invalid` when it cannot.
    pub fn check_at(&self, position: Position, secret: &str, limits: &TrustLimits) -> Result<(), Refusal> {
        match position {
            Position::Header => self.header_value(secret, limits.header_value_bytes).map(|_| ()),
            _ => self.check(secret, limits.header_value_bytes),
        }
    }

    /// What of a secret must not come back: the secret, the pair that `Basic` encodes, and the password of a pair.
    pub fn withheld<'s>(&self, secret: &'s str) -> Vec<Cow<'s, str>> {
        let mut texts = vec![Cow::Borrowed(secret)];
        if let Auth::Basic(_, basic) = &self.auth {
            texts.extend(self.user_and_password(basic, secret).ok().map(Cow::Owned));
            let password = secret.split_once(':').filter(|_| *basic == Basic::UserAndPassword);
            texts.extend(password.map(|(_, password)| Cow::Borrowed(password)));
        }
        texts
    }

    /// The value of a header that the secret fills.
    fn header_value(&self, secret: &str, max_bytes: usize) -> Result<String, Refusal> {
        self.check(secret, max_bytes)?;
        let secret = match &self.auth {
            Auth::Bare | Auth::Scheme(_) => {
                check_header_value(secret, max_bytes).map_err(|fault| self.invalid(&fault.to_string()))?;
                secret.to_owned()
            }
            Auth::Basic(_, basic) => STANDARD.encode(self.user_and_password(basic, secret)?),
        };
        let value = self.with_scheme(secret);
        if value.len() > max_bytes {
            return Err(self.invalid("it is longer than a header value may be"));
        }
        Ok(value)
    }

    fn with_scheme(&self, secret: String) -> String {
        match &self.auth {
            Auth::Bare => secret,
            Auth::Scheme(scheme) | Auth::Basic(scheme, _) => [scheme.as_str(), " ", &secret].concat(),
        }
    }

    /// What every secret is held to, wherever it stands.
    fn check(&self, secret: &str, max_bytes: usize) -> Result<(), Refusal> {
        if secret.is_empty() {
            return Err(self.invalid("it is empty"));
        }
        if secret.len() > max_bytes {
            return Err(self.invalid("it is longer than a header value may be"));
        }
        if secret.contains(char::is_control) {
            return Err(self.invalid("it holds a line break or another control character"));
        }
        Ok(())
    }

    /// The text that `Basic` encodes (RFC 7617 section 2); a user holds no colon.
    fn user_and_password(&self, basic: &Basic, secret: &str) -> Result<String, Refusal> {
        match basic {
            Basic::UserAndPassword if secret.contains(':') => Ok(secret.to_owned()),
            Basic::UserAndPassword => Err(self.invalid("it is not of the form `user:password`")),
            Basic::PasswordOf(user) => Ok(format!("{user}:{secret}")),
            Basic::User if secret.contains(':') => Err(self.invalid("it is a user, which holds no colon")),
            Basic::User => Ok(format!("{secret}:")),
        }
    }
}
