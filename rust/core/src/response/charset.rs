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
    ///
    /// Bytes that are UTF-8 as they stand are not copied. Of others no more is decoded than fits into `room` bytes of
    /// UTF-8, but for a few; the second part is how many bytes were left.
    pub(super) fn decode(self, bytes: &[u8], cut: bool, room: usize) -> (Cow<'_, str>, usize) {
        let (encoding, mark) = Encoding::for_bom(bytes).unwrap_or((self.0, 0));
        let bytes = bytes.get(mark..).unwrap_or_default();
        if encoding == UTF_8
            && let Ok(text) = str::from_utf8(bytes)
        {
            return (Cow::Borrowed(text), 0);
        }
        let mut decoder = encoding.new_decoder_without_bom_handling();
        let most = decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len());
        let mut text = String::with_capacity(most.min(room.max(FEW)));
        let (_result, read, _malformed) = decoder.decode_to_string(bytes, &mut text, !cut);
        (Cow::Owned(text), bytes.len() - read)
    }
}

/// A decoder writes nothing into less room than this.
const FEW: usize = 16;

/// The start of a text in at most this many bytes.
pub(super) fn start(text: &str, most: usize) -> &str {
    let mut at = most.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text.get(..at).unwrap_or_default()
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
        let (text, left) = Charset::for_label(label).unwrap().decode(bytes, false, 1_000);
        assert_eq!(left, 0);
        text.into_owned()
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
        assert_eq!(Charset::default().decode(b"abc\xe2\x82", true, 99).0, "abc");
        assert_eq!(Charset::default().decode(b"abc\xe2\x82", false, 99).0, "abc\u{fffd}");
    }

    #[test]
    fn no_more_is_decoded_than_there_is_room_for() {
        let (text, left) = Charset::default().decode(&[0xff; 1_000], false, 100);
        assert_eq!(text.chars().count() + left, 1_000);
        assert!((90..=100).contains(&text.len()), "{}", text.len());
        let whole = "é".repeat(1_000);
        let (text, left) = Charset::default().decode(whole.as_bytes(), false, 100);
        assert_eq!((text.len(), left), (2_000, 0), "what need not be copied takes no room");
    }
}
