//! Characters of a JSON string and how the grammar lets them be written: one spelling each, the one that
//! `JSON.stringify` and RFC 8785 write.

use std::ops::RangeInclusive;

use smallvec::SmallVec;
use smol_str::SmolStr;

/// Ascending ranges of characters that do not touch. They are never written negated: llama.rn checks a character
/// that comes in parts (byte tokens) against a negated class by refusing every character that begins like an excluded
/// one, and a negated class takes surrogates, which no text has.
pub(super) type Ranges = SmallVec<[(char, char); 4]>;

/// The characters that cannot stand raw in a JSON string: a bit for each control below U+0020, and two more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Escapes(u64);

impl Escapes {
    const QUOTE: u64 = 1 << 32;
    const BACKSLASH: u64 = 1 << 33;
    /// All of them.
    pub(super) const ALL: Self = Self((1 << 34) - 1);

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The one spelling, when there is only one character.
    pub(super) fn only(self) -> Option<&'static str> {
        self.0.is_power_of_two().then(|| SPELLINGS.get(self.0.trailing_zeros() as usize).copied()).flatten()
    }

    /// What may follow the backslash: one letter.
    pub(super) fn letters(self) -> Ranges {
        let mut letters: SmallVec<[char; 8]> = self
            .spellings()
            .filter(|spelling| spelling.len() == 2)
            .filter_map(|spelling| spelling.chars().last())
            .collect();
        letters.sort_unstable();
        join(letters.into_iter().map(|letter| (letter, letter)))
    }

    /// The last digits after `\u00` and this digit.
    pub(super) fn digits(self, high: char) -> Ranges {
        let long = self.spellings().filter(|spelling| spelling.len() == 6);
        let mut digits: SmallVec<[char; 16]> = long
            .filter(|spelling| spelling.chars().nth(4) == Some(high))
            .filter_map(|spelling| spelling.chars().last())
            .collect();
        digits.sort_unstable();
        join(digits.into_iter().map(|digit| (digit, digit)))
    }

    fn spellings(self) -> impl Iterator<Item = &'static str> {
        SPELLINGS
            .iter()
            .enumerate()
            .filter(move |(bit, _)| self.0 >> bit & 1 == 1)
            .map(|(_, spelling)| *spelling)
    }
}

/// How the characters of [`Escapes`] are written, by bit.
const SPELLINGS: [&str; 34] = [
    "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b", "\\t",
    "\\n", "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013",
    "\\u0014", "\\u0015", "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c",
    "\\u001d", "\\u001e", "\\u001f", "\\\"", "\\\\",
];

/// A set of characters as they stand in a JSON string: some raw, some escaped.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Spelled {
    pub(super) raw: Ranges,
    pub(super) escaped: Escapes,
}

impl Spelled {
    /// The spellings of ascending ranges.
    pub(super) fn of(ranges: impl IntoIterator<Item = RangeInclusive<char>>) -> Self {
        let mut spelled = Self::default();
        let mut raw: SmallVec<[(char, char); 8]> = SmallVec::new();
        for range in ranges {
            let (first, last) = (*range.start(), *range.end());
            let bit = |c: char, bit: u64| if first <= c && c <= last { bit } else { 0 };
            let controls = (first..=last.min('\x1f')).fold(0, |bits, c| bits | 1 << u32::from(c));
            spelled.escaped.0 |= controls | bit('"', Escapes::QUOTE) | bit('\\', Escapes::BACKSLASH);
            raw.extend(
                PLAIN
                    .iter()
                    .map(|(from, to)| (first.max(*from), last.min(*to)))
                    .filter(|(from, to)| from <= to),
            );
        }
        spelled.raw = join(raw);
        spelled
    }

    /// Every character.
    pub(super) fn any() -> Self {
        Self::of(['\0'..=char::MAX])
    }

    /// The one way to write this set, when there is only one.
    pub(super) fn only(&self) -> Option<SmolStr> {
        match (self.raw.as_slice(), self.escaped.only()) {
            ([], Some(spelling)) => Some(SmolStr::new_static(spelling)),
            ([(one, last)], None) if one == last && self.escaped.is_empty() => {
                Some(smol_str::format_smolstr!("{one}"))
            }
            _ => None,
        }
    }
}

/// What stands raw in a JSON string. Surrogates are no characters; the parser would count them.
const PLAIN: [(char, char); 4] = [(' ', '!'), ('#', '['), (']', '\u{D7FF}'), ('\u{E000}', char::MAX)];

/// A string as it stands in a JSON text, without its quotes; nothing when it stands there as it is.
pub(super) fn escaped(text: &str) -> Option<String> {
    let needs = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    if !text.bytes().any(needs) {
        return None;
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        let bit = match c {
            '"' => Some(32),
            '\\' => Some(33),
            c => Some(u32::from(c) as usize).filter(|control| *control < 0x20),
        };
        match bit.and_then(|bit| SPELLINGS.get(bit)) {
            Some(spelling) => out.push_str(spelling),
            None => out.push(c),
        }
    }
    Some(out)
}

/// Ascending ranges, with those that touch made one. The gap of the surrogates keeps its neighbours apart.
fn join(ranges: impl IntoIterator<Item = (char, char)>) -> Ranges {
    let mut joined = Ranges::new();
    for (first, last) in ranges {
        match joined.last_mut() {
            Some(before) if u32::from(before.1) + 1 >= u32::from(first) => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_has_the_spelling_that_rfc_8785_writes() {
        for c in ('\0'..='\u{2100}').chain(['\u{D7FF}', '\u{E000}', char::MAX]) {
            let json = crate::json::Value::String(c.to_string().as_str().into()).to_text();
            let expected = json.get(1..json.len() - 1).unwrap();
            assert_eq!(Spelled::of([c..=c]).only().as_deref(), Some(expected), "{c:?}");
            assert_eq!(escaped(&c.to_string()).as_deref().unwrap_or(&c.to_string()), expected, "{c:?}");
        }
    }

    #[test]
    fn all_characters_are_three_ranges_and_two_that_leave_out_the_surrogates() {
        let any = Spelled::any();
        assert_eq!(any.raw.as_slice(), PLAIN);
        assert_eq!(any.escaped, Escapes::ALL);
        assert_eq!(any.only(), None);
    }

    #[test]
    fn escapes_are_told_by_letter_and_by_digits() {
        let some = Spelled::of(['\u{7}'..='\u{b}', '\u{1f}'..='"', '\\'..='\\']);
        assert_eq!(some.raw.as_slice(), [(' ', '!')]);
        assert_eq!(
            some.escaped.letters().as_slice(),
            [('"', '"'), ('\\', '\\'), ('b', 'b'), ('n', 'n'), ('t', 't')]
        );
        assert_eq!(some.escaped.digits('0').as_slice(), [('7', '7'), ('b', 'b')]);
        assert_eq!(some.escaped.digits('1').as_slice(), [('f', 'f')]);
    }
}
