//! A text with its escapes undone, each byte knowing where it came from.

use std::borrow::Cow;
use std::ops::Range;

/// The longest text that a view is made of, in bytes: places are kept in 32 bits.
pub(super) const MAX_TEXT: usize = u32::MAX as usize;

/// Which kinds of escapes a view undoes.
#[derive(Clone, Copy)]
pub(super) struct Escapes {
    percent: bool,
    backslash: bool,
    reference: bool,
}

impl Escapes {
    /// Percent-encoding (RFC 3986), backslash escapes (RFC 8259 and kin), HTML character references.
    pub(super) const ALL: Self = Self { percent: true, backslash: true, reference: true };

    /// Whether an escape may start with this byte.
    pub(super) fn opens(b: u8) -> bool {
        matches!(b, b'%' | b'\\' | b'&')
    }

    /// All combinations but the empty one.
    pub(super) fn subsets() -> impl Iterator<Item = Self> {
        (1..8_u8).map(|bits| Self {
            percent: bits & 1 != 0,
            backslash: bits & 2 != 0,
            reference: bits & 4 != 0,
        })
    }
}

/// Bytes, and for each the place in the text of the character or escape that it came from.
pub(super) struct View<'t> {
    bytes: Cow<'t, [u8]>,
    /// One place for each byte and the end of the text; absent for the text itself.
    places: Option<Vec<u32>>,
}

impl<'t> View<'t> {
    /// The bytes as they are.
    pub(super) fn of(bytes: &'t [u8]) -> Self {
        Self { bytes: Cow::Borrowed(bytes), places: None }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The place in the text of a range of this view, whole escapes at both ends.
    pub(super) fn in_text(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.place(range.start);
        let last = self.place(range.end.saturating_sub(1));
        let mut end = range.end;
        while self.place(end) == last && end < self.bytes.len() {
            end += 1;
        }
        start..self.place(end)
    }

    /// The same as it is stored; texts are no longer than [`MAX_TEXT`].
    fn stored(&self, at: usize) -> u32 {
        u32::try_from(self.place(at)).unwrap_or(u32::MAX)
    }

    /// The place in the text of a byte of this view.
    pub(super) fn place(&self, at: usize) -> usize {
        match &self.places {
            None => at,
            Some(places) => places.get(at).or(places.last()).map_or(at, |place| *place as usize),
        }
    }

    /// The view with one layer of escapes undone, `None` when it holds none.
    pub(super) fn decode(&self, kinds: Escapes) -> Option<View<'static>> {
        let mut at = 0;
        let mut plain = 0;
        let mut bytes = Vec::new();
        let mut places = Vec::new();
        while let Some(b) = self.bytes.get(at) {
            let rest = self.bytes.get(at + 1..).unwrap_or_default();
            let escape = match b {
                b'%' if kinds.percent => percent(rest),
                b'\\' if kinds.backslash => backslash(rest),
                b'&' if kinds.reference => reference(rest),
                _ => None,
            };
            at += 1;
            let Some((meant, length)) = escape else { continue };
            bytes.reserve(self.bytes.len() - bytes.len());
            places.reserve(self.bytes.len() + 1 - places.len());
            bytes.extend_from_slice(self.bytes.get(plain..at - 1).unwrap_or_default());
            places.extend((plain..at - 1).map(|at| self.stored(at)));
            let meant = meant.bytes();
            bytes.extend_from_slice(meant.as_slice());
            places.extend(meant.iter().map(|_| self.stored(at - 1)));
            at += length;
            plain = at;
        }
        if plain == 0 {
            return None;
        }
        bytes.extend_from_slice(self.bytes.get(plain..).unwrap_or_default());
        places.extend((plain..=self.bytes.len()).map(|at| self.stored(at)));
        Some(View { bytes: Cow::Owned(bytes), places: Some(places) })
    }
}

/// What an escape stands for.
enum Meant {
    Byte(u8),
    Char(char),
}

impl Meant {
    fn bytes(self) -> smallvec::SmallVec<[u8; 4]> {
        match self {
            Self::Byte(b) => smallvec::smallvec![b],
            Self::Char(c) => c.encode_utf8(&mut [0; 4]).bytes().collect(),
        }
    }
}

/// What the bytes behind a `%` mean, and how many they are.
fn percent(rest: &[u8]) -> Option<(Meant, usize)> {
    Some((Meant::Byte(u8::try_from(hex(rest.get(..2)?)?).ok()?), 2))
}

/// What the bytes behind a backslash mean, and how many they are.
fn backslash(rest: &[u8]) -> Option<(Meant, usize)> {
    let meant = match rest.first()? {
        b'u' => return unicode(rest),
        b'x' => return Some((Meant::Byte(u8::try_from(hex(rest.get(1..3)?)?).ok()?), 3)),
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'f' => 12,
        b @ (b'"' | b'\'' | b'\\' | b'/' | b'`') => *b,
        _ => return None,
    };
    Some((Meant::Byte(meant), 1))
}

/// `uXXXX`, or a pair of surrogates with a backslash between.
fn unicode(rest: &[u8]) -> Option<(Meant, usize)> {
    let unit = hex(rest.get(1..5)?)?;
    if let Some(c) = char::from_u32(unit) {
        return Some((Meant::Char(c), 5));
    }
    let low = rest.get(5..)?.strip_prefix(b"\\u").and_then(|low| hex(low.get(..4)?))?;
    let mut pair = char::decode_utf16([u16::try_from(unit).ok()?, u16::try_from(low).ok()?]);
    Some((Meant::Char(pair.next()?.ok()?), 11))
}

/// What the bytes behind an `&` mean up to their `;`, and how many they are.
fn reference(rest: &[u8]) -> Option<(Meant, usize)> {
    const NAMED: [(&[u8], u8); 5] =
        [(b"amp", b'&'), (b"lt", b'<'), (b"gt", b'>'), (b"quot", b'"'), (b"apos", b'\'')];
    let length = rest.iter().take(12).position(|b| *b == b';')?;
    let name = rest.get(..length)?;
    if let Some((_, b)) = NAMED.iter().find(|(known, _)| *known == name) {
        return Some((Meant::Byte(*b), length + 1));
    }
    let number = name.strip_prefix(b"#")?;
    let value = match number.strip_prefix(b"x").or_else(|| number.strip_prefix(b"X")) {
        Some(digits) => hex(digits)?,
        None => std::str::from_utf8(number).ok()?.parse().ok()?,
    };
    Some((Meant::Char(char::from_u32(value)?), length + 1))
}

fn hex(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u32, |value, b| value.checked_mul(16)?.checked_add(char::from(*b).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> String {
        View::of(text.as_bytes())
            .decode(Escapes::ALL)
            .map_or_else(String::new, |view| String::from_utf8_lossy(view.bytes()).into())
    }

    #[test]
    fn one_layer_is_undone() {
        assert_eq!(decoded("a%2Fb%2f%C3%A9"), "a/b/é");
        assert_eq!(decoded("\\u00e9\\\"\\/\\\\\\n\\ud83d\\ude00\\x41"), "é\"/\\\n😀A");
        assert_eq!(decoded("&amp;&lt;&#39;&#x1F600;&quot;"), "&<'😀\"");
        assert_eq!(decoded("%2541"), "%41");
    }

    #[test]
    fn what_is_no_escape_stays() {
        for text in ["100% & more; 5%", "\\q \\ud83d \\u12", "&unknown; &#xd800; &#99999999999;", "%4"] {
            assert!(View::of(text.as_bytes()).decode(Escapes::ALL).is_none(), "{text}");
        }
    }

    #[test]
    fn each_byte_knows_its_place() {
        let text = "ab%2Fc\\u00e9d";
        let view = View::of(text.as_bytes()).decode(Escapes::ALL).unwrap();
        assert_eq!(view.bytes(), "ab/céd".as_bytes());
        assert_eq!(text.get(view.in_text(&(2..3))), Some("%2F"));
        assert_eq!(text.get(view.in_text(&(3..5))), Some("c\\u00e9"));
        assert_eq!(text.get(view.in_text(&(0..7))), Some(text));
        let twice = View::of(b"x%255Cny").decode(Escapes::ALL).unwrap().decode(Escapes::ALL).unwrap();
        assert_eq!(twice.bytes(), b"x\\ny");
        assert_eq!(twice.in_text(&(1..2)), 1..6);
    }
}
