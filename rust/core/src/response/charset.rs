//! From bytes to text as the Encoding Standard decodes them.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};

/// A character encoding of the Encoding Standard. The default is UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset(&'static Encoding);

impl Default for Charset {
    fn default() -> Self {
        Self(UTF_8)
    }
}

impl Charset {
    /// The encoding that a label names ("get an encoding"); nothing for an unknown label, `utf-7` among them.
    pub fn for_label(label: &str) -> Option<Self> {
        Encoding::for_label(label.as_bytes()).map(Self)
    }

    /// The name in the Encoding Standard.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The text of the bytes ("decode"): a byte order mark decides before the label does, and is no part of the
    /// text; what is malformed becomes U+FFFD. When the bytes were `cut`, what they lack at their end is left out.
    pub fn decode(self, bytes: &[u8], cut: bool) -> String {
        let (encoding, mark) = Encoding::for_bom(bytes).unwrap_or((self.0, 0));
        let bytes = bytes.get(mark..).unwrap_or_default();
        let mut decoder = encoding.new_decoder_without_bom_handling();
        let room = decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len());
        let mut text = String::with_capacity(room);
        let (_result, _read, _malformed) = decoder.decode_to_string(bytes, &mut text, !cut);
        text
    }
}

/// The text of a JSON document: UTF-8 whatever a label says (RFC 8259 sections 8.1 and 11), without its byte
/// order mark, malformed bytes as U+FFFD ("UTF-8 decode", as `json()` of the Fetch Standard reads it).
pub(super) fn json_text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(label: &str, bytes: &[u8]) -> String {
        Charset::for_label(label).unwrap().decode(bytes, false)
    }

    #[test]
    fn a_byte_order_mark_decides_before_the_label() {
        assert_eq!(decode("windows-1252", b"\xef\xbb\xbf\xc3\xa9"), "é");
        assert_eq!(decode("utf-8", b"\xfe\xff\0a"), "a");
        assert_eq!(decode("utf-8", b"\xff\xfea\0"), "a");
        assert_eq!(decode("utf-16", b"a\0"), "a");
        assert_eq!(decode("utf-16be", b"\0a"), "a");
    }

    #[test]
    fn malformed_bytes_are_replaced_and_never_dropped() {
        assert_eq!(decode("utf-8", b"a\xffb\xc0\xaf"), "a\u{fffd}b\u{fffd}\u{fffd}");
        assert_eq!(decode("shift_jis", b"\x81"), "\u{fffd}");
        assert_eq!(decode("hz-gb-2312", b"~{abc~}"), "\u{fffd}");
        assert_eq!(json_text(b"\xef\xbb\xbf\"a\xff\""), "\"a\u{fffd}\"");
    }

    #[test]
    fn the_end_of_cut_bytes_is_not_malformed() {
        assert_eq!(Charset::default().decode(b"abc\xe2\x82", true), "abc");
        assert_eq!(Charset::default().decode(b"abc\xe2\x82", false), "abc\u{fffd}");
    }
}
