//! The key that the host keeps, and what is authenticated with it (HMAC-SHA-256, RFC 2104).

use std::fmt;

use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use sha2::Sha256 as Digest;
use zeroize::Zeroizing;

/// The key of one store: 32 random bytes that the host keeps outside the folder, as in the Keychain or the Android
/// Keystore. Cannot be printed; its memory is overwritten when it is dropped.
#[derive(Clone)]
pub struct StoreKey(Zeroizing<[u8; 32]>);

impl StoreKey {
    /// Takes over a key.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The code of some bytes, apart for each kind of file.
    pub(crate) fn code(&self, kind: &str, bytes: &[u8]) -> [u8; 32] {
        self.keyed(kind, bytes).finalize().into_bytes().into()
    }

    /// Whether this is the code of these bytes; the time does not depend on where they differ.
    pub(crate) fn fits(&self, kind: &str, bytes: &[u8], code: &[u8; 32]) -> bool {
        self.keyed(kind, bytes).verify_slice(code).is_ok()
    }

    fn keyed(&self, kind: &str, bytes: &[u8]) -> Hmac<Digest> {
        // RFC 2104 fills a shorter key up with zeros to a block of the hash.
        let mut block = Zeroizing::new([0; 64]);
        for (to, from) in block.iter_mut().zip(self.0.iter()) {
            *to = *from;
        }
        let mut mac = <Hmac<Digest> as KeyInit>::new((&*block).into());
        for part in [b"connector-store ".as_slice(), kind.as_bytes(), b"\0", bytes] {
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_of_one_key_one_kind_and_these_bytes() {
        let key = StoreKey::new([7; 32]);
        let code = key.code("lock", b"bytes");
        assert!(key.fits("lock", b"bytes", &code));
        assert!(!key.fits("lock", b"bytez", &code));
        assert!(!key.fits("ledger", b"bytes", &code));
        assert!(!StoreKey::new([8; 32]).fits("lock", b"bytes", &code));
        assert_eq!(format!("{key:?}"), "StoreKey(..)");
    }

    #[test]
    fn the_code_is_hmac_sha_256_of_the_kind_and_the_bytes() {
        let mut reference = <Hmac<Digest> as Mac>::new_from_slice(&[7; 32]).unwrap();
        reference.update(b"connector-store lock\0bytes");
        let expected: [u8; 32] = reference.finalize().into_bytes().into();
        assert_eq!(StoreKey::new([7; 32]).code("lock", b"bytes"), expected);
    }
}
