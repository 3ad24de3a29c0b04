//! Randomness for plans.

use std::sync::{Mutex, PoisonError};

use connector_core::{Code, Refusal};
use zeroize::Zeroize;

/// Random bytes of the system, drawn for some names at a time: asking the system is a good part of what a plan costs.
#[derive(Default)]
pub(crate) struct Random(Mutex<Drawn>);

#[derive(Default)]
struct Drawn {
    bytes: [[u8; 16]; 16],
    left: usize,
}

impl Random {
    /// A random UUID, version 4 (RFC 9562 section 5.4).
    pub(crate) fn uuid(&self) -> Result<String, Refusal> {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if drawn.left == 0 {
            getrandom::fill(drawn.bytes.as_flattened_mut())
                .map_err(|_| Refusal::new(Code::RandomUnavailable, "the device gives no random numbers"))?;
            drawn.left = drawn.bytes.len();
        }
        drawn.left -= 1;
        let left = drawn.left;
        let mut bytes = [0; 16];
        if let Some(next) = drawn.bytes.get_mut(left) {
            bytes = *next;
            next.zeroize();
        }
        Ok(uuid(bytes))
    }
}

fn uuid(mut bytes: [u8; 16]) -> String {
    let [.., version, _, variant, _, _, _, _, _, _, _] = &mut bytes;
    *version = *version & 0x0f | 0x40;
    *variant = *variant & 0x3f | 0x80;
    let digit = |nibble: u8| char::from(if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 });
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.into_iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.extend([digit(byte >> 4), digit(byte & 0xf)]);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_uuid_is_of_version_4_and_its_variant() {
        assert_eq!(uuid([0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(uuid([0; 16]), "00000000-0000-4000-8000-000000000000");
    }

    #[test]
    fn no_two_are_alike() {
        let random = Random::default();
        let drawn: HashSet<String> = (0..1_000).map(|_| random.uuid().unwrap()).collect();
        assert_eq!(drawn.len(), 1_000);
    }
}
