//! What a value may be where it stands in a header.

use super::value::ValueFault;

/// Checks a value before it is sent as it is: visible ASCII with inner spaces and tabs (RFC 9110 section 5.5
/// without obs-text, which receivers read in different charsets), at most `max_bytes`. It may be empty.
pub fn check_header_value(text: &str, max_bytes: usize) -> Result<(), ValueFault> {
    if text.len() > max_bytes {
        return Err(ValueFault::TooLong);
    }
    if !text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
        return Err(ValueFault::HeaderCharacter);
    }
    let blank = [' ', '\t'];
    if text.starts_with(blank) || text.ends_with(blank) { Err(ValueFault::HeaderEdge) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_value_is_visible_ascii_with_inner_blanks() {
        let check = |text: &str| check_header_value(text, 16);
        for text in ["", "a", "a b\tc", "!~", "%0d%0a", "0123456789abcdef"] {
            assert_eq!(check(text), Ok(()), "{text:?}");
        }
        for (text, fault) in [
            ("a\r\nb: c", ValueFault::HeaderCharacter),
            ("a\n", ValueFault::HeaderCharacter),
            ("a\0", ValueFault::HeaderCharacter),
            ("\u{7f}", ValueFault::HeaderCharacter),
            ("é", ValueFault::HeaderCharacter),
            ("\u{10a}", ValueFault::HeaderCharacter),
            (" a", ValueFault::HeaderEdge),
            ("a\t", ValueFault::HeaderEdge),
            (" ", ValueFault::HeaderEdge),
            ("0123456789abcdefg", ValueFault::TooLong),
        ] {
            assert_eq!(check(text), Err(fault), "{text:?}");
        }
    }
}
