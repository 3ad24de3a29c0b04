//! Detached signatures over the exact bytes of a manifest, in the format of minisign: Ed25519 (RFC 8032) over
//! BLAKE2b-512 (RFC 7693) of the bytes, and a second signature that covers the trusted comment.
//!
//! The order is: [`TrustedKeys::verify`] on the raw bytes, then the manifest is read, then [`Signer::may_sign`] on
//! the id that it names. Nothing of an unsigned or wrongly signed manifest is read where a signature is required.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use smol_str::SmolStr;

use crate::error::{Code, Refusal};
use crate::limits::TrustLimits;

/// The most bytes of a signature file: four lines, of which only the comments have no fixed length.
const SIGNATURE_BYTES: usize = 8 << 10;
/// Algorithm, key id and Ed25519 point of a public key.
const KEY_BYTES: usize = 42;

/// A minisign public key. Its one spelling, 56 characters of base64, is its identity: the key id in it is only a
/// hint that anybody can repeat.
#[derive(Clone)]
pub struct PublicKey {
    text: SmolStr,
    key: minisign_verify::PublicKey,
}

impl PublicKey {
    /// Reads the base64 line of a public key, or the two lines of a `.pub` file.
    ///
    /// # Errors
    /// `signature.invalid` when the text is no minisign key.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let refused = || Refusal::new(Code::SignatureInvalid, "the text is not a public key of minisign");
        let lines: Vec<&str> = text.lines().take(3).collect();
        let line = match lines.as_slice() {
            [line] => *line,
            [comment, line] if comment.starts_with("untrusted comment:") => *line,
            _ => return Err(refused()),
        };
        let bytes = STANDARD.decode(line).map_err(|_| refused())?;
        if bytes.len() != KEY_BYTES || !bytes.starts_with(b"Ed") {
            return Err(refused());
        }
        let key = minisign_verify::PublicKey::from_base64(line).map_err(|_| refused())?;
        Ok(Self { text: line.into(), key })
    }

    /// The base64 line.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PublicKey {}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Whether manifests of a source must be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// A manifest without a signature is refused.
    Required,
    /// A manifest may come without one; one that is there must be valid all the same.
    #[default]
    Optional,
}

/// The policy of each source, by the host's label of it.
#[derive(Debug, Clone, Default)]
pub struct Policies {
    /// For sources that are not named.
    pub otherwise: Policy,
    /// For single sources.
    pub sources: BTreeMap<SmolStr, Policy>,
}

impl Policies {
    /// The policy of a source.
    pub fn of(&self, source: &str) -> Policy {
        self.sources.get(source).copied().unwrap_or(self.otherwise)
    }
}

/// The keys that the host trusts, each for the connector ids that it lists and for no others.
#[derive(Debug, Clone, Default)]
pub struct TrustedKeys {
    keys: Vec<(PublicKey, BTreeSet<SmolStr>)>,
}

impl TrustedKeys {
    /// No key is trusted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts a key for connector ids, in addition to those it is trusted for already.
    pub fn trust(mut self, key: PublicKey, ids: impl IntoIterator<Item = impl Into<SmolStr>>) -> Self {
        let ids = ids.into_iter().map(Into::into);
        match self.keys.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => known.extend(ids),
            None => self.keys.push((key, ids.collect())),
        }
        self
    }

    /// Judges the bytes of a manifest before anything is read from them. `signature` is the text of a `.minisig`
    /// file: one that is there must be valid, whatever the policy.
    ///
    /// # Errors
    /// `manifest.invalid` when the bytes are over the limit, `signature.missing`, `signature.invalid`, and
    /// `signature.key` when it is by none of these keys.
    pub fn verify(
        &self,
        manifest: &[u8],
        signature: Option<&str>,
        policy: Policy,
        limits: &TrustLimits,
    ) -> Result<Signer, Refusal> {
        if manifest.len() > limits.manifest_bytes {
            let reason = format!("the manifest is over the limit of {} bytes", limits.manifest_bytes);
            return Err(Refusal::new(Code::ManifestInvalid, reason));
        }
        let Some(text) = signature else {
            return match policy {
                Policy::Optional => Ok(Signer { signed: None }),
                Policy::Required => {
                    let reason =
                        "manifests of this source must be signed, and this one came without a signature";
                    Err(Refusal::new(Code::SignatureMissing, reason))
                }
            };
        };
        let signature = decode(text)?;
        let mut verdict =
            Refusal::new(Code::SignatureKey, "the manifest is signed by a key that the host does not trust");
        // Two keys may carry the same id; each is tried.
        for (key, ids) in &self.keys {
            match key.key.verify(manifest, &signature, false) {
                Ok(()) => return Ok(Signer { signed: Some((key.clone(), ids.clone())) }),
                Err(minisign_verify::Error::UnexpectedKeyId) => {}
                Err(minisign_verify::Error::UnexpectedAlgorithm) => {
                    let reason =
                        "the signature is of the legacy form, not over the BLAKE2b hash: sign without `-l`";
                    verdict = Refusal::new(Code::SignatureInvalid, reason);
                }
                Err(_) => {
                    let reason =
                        "the signature does not fit the bytes of the manifest and the key that it names";
                    verdict = Refusal::new(Code::SignatureInvalid, reason);
                }
            }
        }
        Err(verdict)
    }
}

/// The four lines of a `.minisig` file and nothing else.
fn decode(text: &str) -> Result<minisign_verify::Signature, Refusal> {
    let refused =
        || Refusal::new(Code::SignatureInvalid, "the signature is not the text of a `.minisig` file");
    let fits = text.len() <= SIGNATURE_BYTES
        && text.lines().count() == 4
        && text.starts_with("untrusted comment:")
        && !text.contains('\0');
    if !fits {
        return Err(refused());
    }
    minisign_verify::Signature::decode(text).map_err(|_| refused())
}

/// Who signed a manifest, as far as was verified; made by [`TrustedKeys::verify`] alone.
#[derive(Debug, Clone)]
pub struct Signer {
    signed: Option<(PublicKey, BTreeSet<SmolStr>)>,
}

impl Signer {
    /// The key of the signature; nothing when there was none and none was required.
    pub fn key(&self) -> Option<&PublicKey> {
        self.signed.as_ref().map(|(key, _)| key)
    }

    /// Whether this signer may speak for a connector id. Nobody's signature may where none is required.
    ///
    /// # Errors
    /// `signature.key` when the key is not trusted for this id.
    pub fn may_sign(&self, id: &str) -> Result<(), Refusal> {
        match &self.signed {
            Some((_, ids)) if !ids.contains(id) => {
                let reason = format!("the key of this signature is not trusted for the connector `{id}`");
                Err(Refusal::new(Code::SignatureKey, reason))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use minisign::KeyPair;
    use proptest::prelude::*;

    use super::*;

    const MANIFEST: &[u8] = br#"{"id": "notes"}"#;

    fn pair() -> (KeyPair, PublicKey) {
        let pair = KeyPair::generate_unencrypted_keypair().unwrap();
        let key = PublicKey::parse(&pair.pk.to_base64()).unwrap();
        (pair, key)
    }

    fn sign(pair: &KeyPair, bytes: &[u8]) -> String {
        let cursor = Cursor::new(bytes);
        minisign::sign(None, &pair.sk, cursor, Some("file:notes.json"), Some("a comment"))
            .unwrap()
            .to_string()
    }

    fn verify(keys: &TrustedKeys, signature: Option<&str>, policy: Policy) -> Result<Signer, Code> {
        keys.verify(MANIFEST, signature, policy, &TrustLimits::default()).map_err(|refusal| refusal.code)
    }

    #[test]
    fn a_valid_signature_names_its_key_and_speaks_for_the_listed_ids_alone() {
        let (pair, key) = pair();
        let keys = TrustedKeys::new().trust(key.clone(), ["notes"]).trust(key.clone(), ["mail"]);
        for policy in [Policy::Required, Policy::Optional] {
            let signer = verify(&keys, Some(&sign(&pair, MANIFEST)), policy).unwrap();
            assert_eq!(signer.key(), Some(&key));
            assert!(signer.may_sign("notes").is_ok() && signer.may_sign("mail").is_ok());
            assert_eq!(signer.may_sign("notes2").unwrap_err().code, Code::SignatureKey);
        }
    }

    #[test]
    fn without_a_signature_the_policy_of_the_source_decides() {
        let policies = Policies {
            otherwise: Policy::Optional,
            sources: [(SmolStr::from("store.example"), Policy::Required)].into(),
        };
        let keys = TrustedKeys::new();
        assert_eq!(verify(&keys, None, policies.of("store.example")).unwrap_err(), Code::SignatureMissing);
        let unsigned = verify(&keys, None, policies.of("a file")).unwrap();
        assert_eq!(unsigned.key(), None);
        assert!(unsigned.may_sign("notes").is_ok());
    }

    #[test]
    fn a_signature_that_is_there_must_be_valid_whatever_the_policy() {
        let ((pair, key), (stranger, _)) = (pair(), pair_of_another());
        let keys = TrustedKeys::new().trust(key, ["notes"]);
        for policy in [Policy::Required, Policy::Optional] {
            let refused = |signature: &str| verify(&keys, Some(signature), policy).unwrap_err();
            assert_eq!(refused(&sign(&pair, b"other bytes")), Code::SignatureInvalid);
            assert_eq!(refused(&sign(&stranger, MANIFEST)), Code::SignatureKey);
            assert_eq!(refused(""), Code::SignatureInvalid);
            assert_eq!(refused(&"x\n".repeat(1 << 20)), Code::SignatureInvalid);
            assert_eq!(refused(&format!("{}\nmore", sign(&pair, MANIFEST))), Code::SignatureInvalid);
        }
    }

    fn pair_of_another() -> (KeyPair, PublicKey) {
        pair()
    }

    /// A stranger's key may carry the key id of a trusted one: the id is a hint and no proof.
    #[test]
    fn a_repeated_key_id_is_no_trust_and_no_obstacle() {
        let (pair, key) = pair();
        let (_, other) = pair_of_another();
        let mut bytes = STANDARD.decode(other.as_str()).unwrap();
        bytes[2..10].copy_from_slice(&STANDARD.decode(key.as_str()).unwrap()[2..10]);
        let double = PublicKey::parse(&STANDARD.encode(bytes)).unwrap();
        let only_double = TrustedKeys::new().trust(double.clone(), ["notes"]);
        let signature = sign(&pair, MANIFEST);
        assert_eq!(
            verify(&only_double, Some(&signature), Policy::Optional).unwrap_err(),
            Code::SignatureInvalid
        );
        let both = TrustedKeys::new().trust(double, ["mail"]).trust(key.clone(), ["notes"]);
        assert_eq!(verify(&both, Some(&signature), Policy::Optional).unwrap().key(), Some(&key));
    }

    #[test]
    fn a_legacy_signature_and_an_oversized_manifest_are_refused() {
        // The example of minisign-verify's own documentation: key, legacy signature over `test`.
        let key = PublicKey::parse("RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3").unwrap();
        let legacy = "untrusted comment: signature from minisign secret key\n\
            RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSSbXxwA=\n\
            trusted comment: timestamp:1555779966\tfile:test\n\
            QtKMXWyYcwdpZAlPF7tE2ENJkRd1ujvKjlj1m9RtHTBnZPa5WKU5uWRs5GoP5M/VqE81QFuMKI5k/SfNQUaOAA==";
        let keys = TrustedKeys::new().trust(key, ["notes"]);
        let limits = TrustLimits::default();
        let refusal = keys.verify(b"test", Some(legacy), Policy::Optional, &limits).unwrap_err();
        assert_eq!(refusal.code, Code::SignatureInvalid);
        assert!(refusal.reason.contains("legacy"), "{}", refusal.reason);
        let large = vec![b' '; limits.manifest_bytes + 1];
        let refusal = keys.verify(&large, None, Policy::Optional, &limits).unwrap_err();
        assert_eq!(refusal.code, Code::ManifestInvalid);
    }

    #[test]
    fn keys_have_one_spelling() {
        let (pair, key) = pair();
        let file = format!("untrusted comment: minisign public key\n{}\n", key.as_str());
        assert_eq!(PublicKey::parse(&file).unwrap(), key);
        let text = pair.pk.to_base64();
        for wrong in [
            "",
            "RWQ",
            &text[1..],
            &format!("{text}="),
            &format!("{text} "),
            &format!("{text}\n{text}"),
            &format!("E{}", &text[1..]),
        ] {
            assert_eq!(
                PublicKey::parse(wrong).map_err(|refusal| refusal.code),
                Err(Code::SignatureInvalid),
                "{wrong}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Any one changed character of a signature, but those of the untrusted comment, makes it invalid.
        #[test]
        fn no_changed_signature_is_valid(place in any::<prop::sample::Index>(), with in "[A-Za-z0-9+/=:\n é]") {
            let (pair, key) = pair();
            let keys = TrustedKeys::new().trust(key, ["notes"]);
            let text = sign(&pair, MANIFEST);
            let signed = text.find('\n').unwrap() + 1..text.trim_end().len();
            let at = signed.start + place.index(signed.len());
            prop_assume!(text[at..=at] != with);
            let changed = format!("{}{with}{}", &text[..at], &text[at + 1..]);
            let code = verify(&keys, Some(&changed), Policy::Optional).unwrap_err();
            prop_assert!(matches!(code, Code::SignatureInvalid | Code::SignatureKey));
        }

        #[test]
        fn no_text_and_no_bytes_make_it_panic(text in "\\PC{0,300}", manifest in any::<Vec<u8>>()) {
            let (_, key) = pair();
            let keys = TrustedKeys::new().trust(key, ["notes"]);
            prop_assert!(keys.verify(&manifest, Some(&text), Policy::Optional, &TrustLimits::default()).is_err());
            prop_assert!(PublicKey::parse(&text).is_err());
        }
    }
}
