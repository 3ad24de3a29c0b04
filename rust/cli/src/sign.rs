//! `connector hash`, `sign` and `verify`: the exact bytes of a manifest, and who signed them.

use std::fs::OpenOptions;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use connector_core::json::sha256;
use connector_core::signature::{Policy, TrustedKeys};
use connector_core::{Code, TrustLimits};
use minisign::{KeyPair, PublicKey, SecretKeyBox};

use crate::kept::{public_key, text_of};
use crate::secret::secret_from;
use crate::source::{name_of, read};
use crate::style::{GOOD, QUIET, TITLE, Trouble, note, out};

/// The largest key or signature file.
const MAX_BYTES: usize = 4_096;

/// Prints the SHA-256 of a file's exact bytes: what `supersedes` of its successor holds.
pub(crate) fn hash(file: &Path) -> Result<ExitCode, Trouble> {
    let bytes = read(file, TrustLimits::default().manifest_bytes)?;
    out(&sha256(bytes).to_string());
    Ok(ExitCode::SUCCESS)
}

/// Signs a file's exact bytes, into FILE.minisig.
pub(crate) fn sign(
    file: &Path,
    key: &Path,
    password: Option<&str>,
    signature: Option<&Path>,
) -> Result<ExitCode, Trouble> {
    let bytes = read(file, TrustLimits::default().manifest_bytes)?;
    let text = text_of(key, MAX_BYTES)?;
    let invalid = |what: &str| Trouble::new(Code::SignatureInvalid.as_str(), what.to_owned());
    let parse =
        || SecretKeyBox::from_string(&text).map_err(|_| invalid("the key is not a minisign secret key"));
    // A key without a password says so itself.
    let secret = if let Ok(secret) = parse()?.into_unencrypted_secret_key() {
        secret
    } else {
        let password = secret_from("password", password.unwrap_or("prompt"))?;
        parse()?
            .into_secret_key(Some(password.expose().to_owned()))
            .map_err(|_| invalid("the password does not open the key"))?
    };
    let comment =
        file.file_name().map_or_else(String::new, |name| format!("file:{}", name.to_string_lossy()));
    let signed = minisign::sign(None, &secret, Cursor::new(&bytes), Some(&comment), None)
        .map_err(|error| invalid(&error.to_string()))?;
    let to = signature.map_or_else(|| beside(file), Path::to_owned);
    write(&to, signed.to_string().as_bytes(), false)?;
    let public = PublicKey::from_secret_key(&secret).map_err(|error| invalid(&error.to_string()))?;
    out(&format!("{GOOD}signed{GOOD:#} by {} into {TITLE}{}{TITLE:#}", public.to_base64(), name_of(&to)));
    Ok(ExitCode::SUCCESS)
}

/// Makes a key: NAME.key, under a password unless `plain`, and NAME.pub.
pub(crate) fn make_key(name: &Path, password: Option<&str>, plain: bool) -> Result<ExitCode, Trouble> {
    let failed = |error: minisign::PError| Trouble::new(Code::RandomUnavailable.as_str(), error.to_string());
    let pair = if plain {
        KeyPair::generate_unencrypted_keypair()
    } else {
        let password = secret_from("password of the new key", password.unwrap_or("prompt"))?;
        KeyPair::generate_encrypted_keypair(Some(password.expose().to_owned()))
    };
    let KeyPair { pk, sk } = pair.map_err(failed)?;
    let (secret, public) = (with_ending(name, ".key"), with_ending(name, ".pub"));
    let boxed = sk.to_box(None).map_err(failed)?.into_string();
    write(&secret, boxed.as_bytes(), true)?;
    write(&public, pk.to_box().map_err(failed)?.into_string().as_bytes(), true)?;
    note(&format!("{QUIET}keep {} to yourself{QUIET:#}", name_of(&secret)));
    out(&pk.to_base64());
    Ok(ExitCode::SUCCESS)
}

/// Verifies a signature over a file's exact bytes, by one key.
pub(crate) fn verify(file: &Path, key: &str, signature: Option<&Path>) -> Result<ExitCode, Trouble> {
    let limits = TrustLimits::default();
    let bytes = read(file, limits.manifest_bytes)?;
    let key = public_key(key)?;
    let signature = text_of(&signature.map_or_else(|| beside(file), Path::to_owned), MAX_BYTES)?;
    let trusted = TrustedKeys::new().trust(key.clone(), [] as [&str; 0]);
    trusted.verify(&bytes, Some(&signature), Policy::Required, &limits)?;
    out(&format!("{GOOD}signed{GOOD:#} by {key}"));
    Ok(ExitCode::SUCCESS)
}

fn beside(file: &Path) -> PathBuf {
    with_ending(file, ".minisig")
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Writes a file for its owner; a key never takes the place of another file.
fn write(path: &Path, bytes: &[u8], fresh: bool) -> Result<(), Trouble> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).create_new(fresh).truncate(!fresh);
    #[cfg(unix)]
    if fresh {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let written =
        options.open(path).and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.map_err(|error| Trouble::new("output.failed", format!("cannot write {}: {error}", name_of(path))))
}
