//! Randomness for plans.

use connector_core::{Code, Refusal};

/// A random UUID, version 4 (RFC 9562 section 5.4).
pub(crate) fn uuid() -> Result<String, Refusal> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|_| Refusal::new(Code::RandomUnavailable, "the device gives no random numbers"))?;
    let mut value = u128::from_be_bytes(bytes);
    value = value & !(0xf << 76) | 4 << 76;
    value = value & !(0b11 << 62) | 0b10 << 62;
    let hex = format!("{value:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    Ok(format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_of_version_4_and_its_variant() {
        let (a, b) = (uuid().unwrap(), uuid().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.len(), 36);
        assert_eq!(a.as_bytes()[14], b'4');
        assert!(matches!(a.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
    }
}
