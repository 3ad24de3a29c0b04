//! One byte string to look for, and how it may stand (Knuth, Morris and Pratt: every byte is read once).

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// Below this many bytes a secret is looked for as a whole word only.
const MIN_INSIDE: usize = 4;
/// As many bytes may stand at the end of a cut text that are an escape without its end, in the escapes of another.
const MAX_UNFINISHED: usize = 64;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Needle {
    bytes: Vec<u8>,
    /// For each prefix the length of its longest proper border.
    borders: Vec<usize>,
    stands: Stands,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stands {
    /// Anywhere.
    Inside,
    /// With no letter or digit on either side.
    Word,
    /// Anywhere in a base64 text, of which all goes.
    Base64,
    /// As the whole of a base64 text.
    WholeBase64,
}

impl Needle {
    /// Bytes as they are, ASCII letters in either case; a short one as a word.
    pub(super) fn plain(mut bytes: Vec<u8>) -> Self {
        bytes.make_ascii_lowercase();
        let stands = if bytes.len() < MIN_INSIDE { Stands::Word } else { Stands::Inside };
        Self::new(bytes, stands)
    }

    /// The base64 characters that `secret` alone decides, for each of the three places that it can have among
    /// the bytes of a longer text; for a short secret its own base64 text.
    pub(super) fn base64(secret: &[u8]) -> Vec<Self> {
        if secret.is_empty() {
            return Vec::new();
        }
        if secret.len() < MIN_INSIDE {
            return vec![Self::new(STANDARD_NO_PAD.encode(secret).into_bytes(), Stands::WholeBase64)];
        }
        let at = |before: usize| {
            let mut bytes = vec![0; before];
            bytes.extend_from_slice(secret);
            let mut text = STANDARD_NO_PAD.encode(&bytes).into_bytes();
            text.truncate(bytes.len() * 8 / 6);
            text.drain(..(before * 8).div_ceil(6));
            Self::new(text, Stands::Base64)
        };
        (0..3).map(at).collect()
    }

    fn new(bytes: Vec<u8>, stands: Stands) -> Self {
        let mut borders = Vec::with_capacity(bytes.len());
        let mut border = 0;
        for (at, b) in bytes.iter().enumerate() {
            if at > 0 {
                border = advance(&bytes, &borders, border, *b);
            }
            borders.push(border);
        }
        Self { bytes, borders, stands }
    }

    /// Whether the character is among the needle's.
    pub(super) fn holds(&self, c: char) -> bool {
        let mut utf8 = [0; 4];
        let utf8 = c.encode_utf8(&mut utf8).as_bytes();
        self.bytes.windows(utf8.len()).any(|window| window == utf8)
    }

    /// Tells `found` every range of `bytes` that has to go for this needle.
    pub(super) fn find(&self, bytes: &[u8], found: impl FnMut(Range<usize>)) {
        match self.stands {
            Stands::Inside | Stands::Word => self.find_plain(bytes, found),
            Stands::Base64 | Stands::WholeBase64 => self.find_base64(bytes, found),
        }
    }

    /// Where the earliest of the beginnings of this needle starts that end at the end of `bytes`, or at one of their last
    /// places where `opens` tells that an escape may start, which then misses its end.
    pub(super) fn begun(&self, bytes: &[u8], opens: impl Fn(u8) -> bool) -> Option<usize> {
        let base64 = matches!(self.stands, Stands::Base64 | Stands::WholeBase64);
        let unfinished = bytes.len().saturating_sub(MAX_UNFINISHED);
        let (mut matched, mut earliest) = (0, None);
        for at in 0..=bytes.len() {
            let next = bytes.get(at).copied();
            if matched > 0 && next.is_none_or(|next| at >= unfinished && opens(next)) {
                let start = if base64 {
                    // The character before holds some bits of the secret too.
                    let start = start_across_folds(bytes, at.saturating_sub(1), matched);
                    let before = start.checked_sub(1).and_then(|before| bytes.get(before));
                    start - usize::from(before.is_some_and(|before| is_base64(*before)))
                } else {
                    at - matched
                };
                earliest = Some(earliest.map_or(start, |earliest: usize| earliest.min(start)));
            }
            matched = match next {
                Some(next) if base64 && is_fold(next) => matched,
                Some(next) => self.step(matched, next),
                None => matched,
            };
        }
        earliest
    }

    /// The length of the longest beginning that ends with `b`, a whole needle counted as its longest border.
    fn step(&self, matched: usize, b: u8) -> usize {
        let b = match self.stands {
            Stands::Inside | Stands::Word => b.to_ascii_lowercase(),
            Stands::Base64 | Stands::WholeBase64 => standard_alphabet(b),
        };
        let matched = advance(&self.bytes, &self.borders, matched, b);
        if matched < self.bytes.len() { matched } else { self.borders.last().copied().unwrap_or_default() }
    }

    fn find_plain(&self, bytes: &[u8], mut found: impl FnMut(Range<usize>)) {
        let mut matched = 0;
        for (at, b) in bytes.iter().enumerate() {
            matched = advance(&self.bytes, &self.borders, matched, b.to_ascii_lowercase());
            if matched == self.bytes.len() {
                // Overlapping matches are found too: what stays of one would tell about the other.
                matched = self.borders.last().copied().unwrap_or_default();
                let end = at + 1;
                let start = end.saturating_sub(self.bytes.len());
                if self.stands == Stands::Inside || is_word(bytes, start, end) {
                    found(start..end);
                }
            }
        }
    }

    fn find_base64(&self, bytes: &[u8], mut found: impl FnMut(Range<usize>)) {
        let mut matched = 0;
        let mut gone_to = 0;
        for (at, b) in bytes.iter().enumerate().filter(|(_, b)| !is_fold(**b)) {
            matched = advance(&self.bytes, &self.borders, matched, standard_alphabet(*b));
            if matched < self.bytes.len() {
                continue;
            }
            // Begun anew, and not looked at again where all is gone: no byte is walked over more than twice.
            matched = 0;
            if at < gone_to {
                continue;
            }
            let start = start_across_folds(bytes, at, self.bytes.len());
            let before = bytes.get(gone_to..start).unwrap_or_default();
            let before = before.iter().rev().take_while(|b| is_base64(**b)).count();
            let behind = bytes.get(at + 1..).unwrap_or_default();
            let text = behind.iter().take_while(|b| is_base64(**b)).count();
            let padding = behind.iter().skip(text).take(2).take_while(|b| **b == b'=').count();
            gone_to = at + 1 + text + padding;
            if self.stands == Stands::Base64 || before + text == 0 {
                found(start - before..gone_to);
            }
        }
    }
}

/// The length of the longest prefix that ends with `b`, when before it one of length `matched` ended.
fn advance(bytes: &[u8], borders: &[usize], mut matched: usize, b: u8) -> usize {
    loop {
        if bytes.get(matched) == Some(&b) {
            return matched + 1;
        }
        if matched == 0 {
            return 0;
        }
        matched = borders.get(matched - 1).copied().unwrap_or_default();
    }
}

/// RFC 4648 section 5 to section 4.
fn standard_alphabet(b: u8) -> u8 {
    match b {
        b'-' => b'+',
        b'_' => b'/',
        b => b,
    }
}

/// Line ends, at which base64 is wrapped.
fn is_fold(b: u8) -> bool {
    matches!(b, b'\r' | b'\n')
}

fn is_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_')
}

/// Where the `length` bytes begin that end at `last`, line ends not counted.
fn start_across_folds(bytes: &[u8], last: usize, length: usize) -> usize {
    let counted = bytes.iter().enumerate().take(last + 1).rev().filter(|(_, b)| !is_fold(**b));
    counted.take(length).last().map_or(last, |(at, _)| at)
}

/// Whether neither side has a letter or digit; bytes beyond ASCII count as letters.
fn is_word(bytes: &[u8], start: usize, end: usize) -> bool {
    let letter = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || !b.is_ascii());
    !letter(start.checked_sub(1).and_then(|at| bytes.get(at))) && !letter(bytes.get(end))
}
