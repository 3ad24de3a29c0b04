//! Secrets of the command line, which never stand on it.

use std::path::Path;

use connector_core::Code;
use connector_runtime::Secret;

use crate::source::read;
use crate::style::Trouble;

/// The most bytes of one secret.
const MAX_BYTES: usize = 64 << 10;

/// A `--secret` flag: the credential's name, and where its secret comes from.
#[derive(Debug)]
pub(crate) struct SecretFlag<'f> {
    pub(crate) name: &'f str,
    from: Place<'f>,
}

#[derive(Debug)]
enum Place<'f> {
    Variable(&'f str),
    Descriptor(u16),
    Prompt,
}

impl<'f> Place<'f> {
    fn read(from: &'f str) -> Option<Self> {
        if let Some(variable) = from.strip_prefix("env:").filter(|name| !name.is_empty()) {
            Some(Self::Variable(variable))
        } else if let Some(number) = from.strip_prefix("fd:") {
            number.parse().ok().map(Self::Descriptor)
        } else {
            (from == "prompt").then_some(Self::Prompt)
        }
    }
}

/// Reads a secret that belongs to no connector: `from` is `env:VARIABLE`, `fd:NUMBER` or `prompt`.
pub(crate) fn secret_from(name: &str, from: &str) -> Result<Secret, Trouble> {
    let usage = || Trouble::usage("a password comes from env:VARIABLE, fd:NUMBER or prompt");
    SecretFlag { name, from: Place::read(from).ok_or_else(usage)? }.secret()
}

impl<'f> SecretFlag<'f> {
    /// Reads the flags. What stands on the command line is not repeated in a message: it may be a secret after all.
    pub(crate) fn read_all(flags: &'f [String]) -> Result<Vec<Self>, Trouble> {
        let mut read: Vec<Self> = Vec::new();
        for flag in flags {
            let usage = || Trouble::usage("--secret takes NAME=env:VARIABLE, NAME=fd:NUMBER or NAME=prompt");
            let (name, from) = flag.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(usage)?;
            let from = Place::read(from).ok_or_else(usage)?;
            if read.iter().any(|before| before.name == name) {
                return Err(Trouble::usage("--secret gives one name twice"));
            }
            read.push(Self { name, from });
        }
        Ok(read)
    }

    /// Reads the secret. The line break that ends a file or a line is not part of it.
    pub(crate) fn secret(&self) -> Result<Secret, Trouble> {
        let missing = |reason: String| Trouble::new(Code::CredentialMissing.as_str(), reason);
        let invalid = |reason: &str| Trouble::new(Code::CredentialInvalid.as_str(), reason);
        Ok(Secret::new(match self.from {
            Place::Variable(variable) => std::env::var(variable).map_err(|error| match error {
                std::env::VarError::NotPresent => missing(format!("the variable {variable} is not set")),
                std::env::VarError::NotUnicode(_) => invalid("the secret is not UTF-8"),
            })?,
            Place::Descriptor(number) => {
                let bytes = read(Path::new(&format!("/dev/fd/{number}")), MAX_BYTES)?;
                let text = String::from_utf8(bytes).map_err(|_| invalid("the secret is not UTF-8"))?;
                text.trim_end_matches(['\r', '\n']).to_owned()
            }
            Place::Prompt => rpassword::prompt_password(format!("{}: ", self.name))
                .map_err(|_| missing("there is no terminal to ask for the secret".to_owned()))?,
        }))
    }
}
