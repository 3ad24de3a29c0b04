//! SHA-256, the one hash of the core.

use std::fmt;

use sha2::Digest;

/// A SHA-256 value (FIPS 180-4); prints as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256(pub [u8; 32]);

/// The SHA-256 of some bytes.
pub fn sha256(bytes: impl AsRef<[u8]>) -> Sha256 {
    Sha256(sha2::Sha256::digest(bytes.as_ref()).into())
}

impl Sha256 {
    /// Reads 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut out = [0; 32];
        for (byte, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
            let [high, low] = pair else { return None };
            *byte = hex(*high)? << 4 | hex(*low)?;
        }
        Some(Self(out))
    }
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl Sha256 {
    /// Appends the text that it prints as.
    pub(crate) fn write(self, out: &mut String) {
        out.push_str(std::str::from_utf8(&self.digits()).unwrap_or_default());
    }

    fn digits(self) -> [u8; 64] {
        let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
        }
        text
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_prints_and_parses() {
        let hash = sha256("abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.to_string(), text);
        assert_eq!(Sha256::parse(text), Some(hash));
        assert_eq!(Sha256::parse(&text.to_uppercase()), None);
        assert_eq!(Sha256::parse(text.get(1..).unwrap()), None);
    }
}
