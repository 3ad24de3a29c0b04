//! Removal: terminal sequences, controls, and characters that show nothing. One pass, left to right.

use std::str::Chars;

use super::chars::{self, KEYCAP, VS16, ZWJ};

/// How many marks may stand upon one base: 30, as in the Stream-Safe Text Format (UAX #15 section 13).
/// No script needs more; beyond are letters piled up to cover the lines around them.
const MAX_MARKS: u32 = 30;

/// The text without what the cleaner removes; with `one_line`, white space folded to single spaces and
/// none at the ends. `None` when nothing had to change. `strip(strip(x)) == strip(x)`.
pub(super) fn strip(text: &str, one_line: bool) -> Option<String> {
    let plain = |b: u8| matches!(b, b'\n' | b'\t' | b' '..=b'~');
    if !one_line && text.bytes().all(plain) {
        return None;
    }
    let mut filter = Filter::new(Kept { text: String::with_capacity(text.len()), one_line });
    let mut source = Source { rest: text.chars() };
    while let Some(c) = source.next() {
        filter.push(c);
    }
    let mut stripped = filter.finish().text;
    if one_line && stripped.ends_with(' ') {
        stripped.pop();
    }
    (stripped != text).then_some(stripped)
}

/// The characters of a text that show something or may belong to something that does: without terminal
/// sequences, controls and invisible characters, and with one sign for the end of a line.
struct Source<'a> {
    rest: Chars<'a>,
}

impl Source<'_> {
    fn next(&mut self) -> Option<char> {
        loop {
            match self.rest.next()? {
                '\r' => {
                    let mut ahead = self.rest.clone();
                    if ahead.next() == Some('\n') {
                        self.rest = ahead;
                    }
                    return Some('\n');
                }
                '\u{1b}' => self.escape(),
                // Without a parameter it is more often a quotation mark of a mistaken code page.
                '\u{9b}' if visible(&mut self.rest.clone()).is_some_and(|c| matches!(c, '0'..='?')) => {
                    self.control_sequence();
                }
                '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => self.control_string(false),
                c if chars::is_line_break(c) => return Some('\n'),
                c if chars::is_control(c) || chars::is_invisible(c) => {}
                c => return Some(c),
            }
        }
    }

    /// What follows an ESC (ECMA-48 section 5.3, ECMA-35 section 13), of the short sequences those that
    /// terminals know: a stray ESC takes no letter of a word with it.
    fn escape(&mut self) {
        let mut ahead = self.rest.clone();
        match visible(&mut ahead) {
            Some('[') => {
                self.rest = ahead;
                self.control_sequence();
            }
            Some(']' | 'P' | 'X' | '^' | '_') => {
                self.rest = ahead;
                self.control_string(true);
            }
            Some('!'..='/') => {
                self.rest = ahead;
                self.take_while(|c| matches!(c, '!'..='/'));
                self.take_one(|c| matches!(c, '0'..='~'));
            }
            Some(
                '6'..='9'
                | '='
                | '>'
                | 'D'
                | 'E'
                | 'H'
                | 'M'..='O'
                | 'V'
                | 'W'
                | 'Z'
                | '\\'
                | 'c'
                | '|'..='~',
            ) => {
                self.rest = ahead;
            }
            _ => {}
        }
    }

    /// The parameters, intermediates and final of a CSI (ECMA-48 section 5.4); a broken one ends where it breaks.
    fn control_sequence(&mut self) {
        self.take_while(|c| matches!(c, ' '..='?'));
        self.take_one(|c| matches!(c, '@'..='~'));
    }

    /// The payload of OSC, DCS, SOS, PM or APC up to ST or BEL. One that never ends properly goes to the end
    /// of its line when ESC opened it, so that a stray ESC does not swallow a whole answer; a lone C1 byte
    /// takes nothing with it, since it is more often a letter of a mistaken code page.
    fn control_string(&mut self, seven_bit: bool) {
        let mut ahead = self.rest.clone();
        let mut line_end = None;
        let broken_at = loop {
            let before = ahead.clone();
            match ahead.next() {
                Some('\u{7}' | '\u{9c}') => {
                    self.rest = ahead;
                    return;
                }
                Some('\u{1b}') if ahead.as_str().starts_with('\\') => {
                    ahead.next();
                    self.rest = ahead;
                    return;
                }
                // Another introducer, CAN or SUB. Each stretch between two of them is read twice at most.
                None
                | Some(
                    '\u{1b}' | '\u{18}' | '\u{1a}' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}',
                ) => {
                    break before;
                }
                Some(c) if line_end.is_none() && (c == '\n' || chars::is_line_break(c)) => {
                    line_end = Some(before);
                }
                Some(_) => {}
            }
        };
        if seven_bit {
            self.rest = line_end.unwrap_or(broken_at);
        }
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool + Copy) {
        while self.take_one(wanted) {}
    }

    fn take_one(&mut self, wanted: impl Fn(char) -> bool) -> bool {
        let mut ahead = self.rest.clone();
        let taken = visible(&mut ahead).is_some_and(wanted);
        if taken {
            self.rest = ahead;
        }
        taken
    }
}

/// The next character that is not invisible: hidden ones do not save a sequence from being one.
fn visible(rest: &mut Chars<'_>) -> Option<char> {
    rest.find(|c| !chars::is_invisible(*c))
}

/// Where a [`Filter`] puts what it decides.
pub(super) trait Sink {
    /// A character that stays.
    fn keep(&mut self, c: char);
    /// A character that goes.
    fn drop(&mut self, c: char);
}

struct Kept {
    text: String,
    one_line: bool,
}

impl Sink for Kept {
    fn keep(&mut self, c: char) {
        if self.one_line && c.is_whitespace() {
            if !self.text.is_empty() && !self.text.ends_with(' ') {
                self.text.push(' ');
            }
        } else {
            self.text.push(c);
        }
    }

    fn drop(&mut self, _: char) {}
}

/// Decides about joiners, selectors and piles of marks by their neighbours.
pub(super) struct Filter<S> {
    sink: S,
    /// The character before, `None` at the start and behind one that was dropped: a run of hidden
    /// characters is never somebody's spelling.
    previous: Option<char>,
    /// A joiner, or VS16 upon a keycap base, whose right neighbour decides.
    held: Option<char>,
    marks: u32,
}

impl<S: Sink> Filter<S> {
    pub(super) fn new(sink: S) -> Self {
        Self { sink, previous: None, held: None, marks: 0 }
    }

    /// Takes the next character.
    pub(super) fn push(&mut self, c: char) {
        if let Some(held) = self.held.take() {
            if self.joins(held, c) {
                self.keep(held);
            } else {
                self.reject(held);
            }
        }
        if chars::is_joiner(c) {
            if self.previous.is_some_and(|p| chars::is_joining_letter(p) || is_emoji_end(p)) {
                self.held = Some(c);
            } else {
                self.reject(c);
            }
        } else if chars::is_selector(c) {
            match self.previous {
                Some(p) if chars::is_mongolian_selector(c) && chars::is_mongolian_letter(p) => self.keep(c),
                Some(p) if !chars::is_mongolian_selector(c) && chars::is_emoji(p) => self.keep(c),
                Some(p) if c == VS16 && chars::is_keycap_base(p) => self.held = Some(c),
                _ => self.reject(c),
            }
        } else if chars::is_nonspacing_mark(c) {
            self.marks += 1;
            if self.marks > MAX_MARKS {
                self.marks = MAX_MARKS;
                self.reject(c);
            } else {
                self.keep(c);
            }
        } else {
            self.marks = 0;
            self.keep(c);
        }
    }

    /// Takes a character that its caller already knows to be one that goes.
    pub(super) fn push_rejected(&mut self, c: char) {
        if let Some(held) = self.held.take() {
            self.reject(held);
        }
        self.reject(c);
    }

    /// The end of the text.
    pub(super) fn finish(mut self) -> S {
        if let Some(held) = self.held.take() {
            self.reject(held);
        }
        self.sink
    }

    fn joins(&self, held: char, next: char) -> bool {
        let Some(previous) = self.previous else { return false };
        if held == VS16 {
            return next == KEYCAP;
        }
        (chars::is_joining_letter(previous) && chars::is_joining_letter(next))
            || (held == ZWJ
                && is_emoji_end(previous)
                && chars::is_emoji(next)
                && !chars::is_emoji_modifier(next))
    }

    fn keep(&mut self, c: char) {
        self.sink.keep(c);
        self.previous = Some(c);
    }

    fn reject(&mut self, c: char) {
        self.sink.drop(c);
        self.previous = None;
    }
}

/// An emoji, or the VS16 that was kept upon one.
fn is_emoji_end(c: char) -> bool {
    c == VS16 || chars::is_emoji(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(text: &str, expected: &str) {
        let stripped = strip(text, false).unwrap_or_else(|| text.to_owned());
        assert_eq!(stripped, expected, "{}", text.escape_unicode());
        assert_eq!(strip(&stripped, false), None);
    }

    fn stays(text: &str) {
        assert_eq!(strip(text, false), None, "{}", text.escape_unicode());
    }

    #[test]
    fn lines_end_in_lf() {
        becomes("a\r\nb\rc\nd", "a\nb\nc\nd");
        becomes("a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f", "a\nb\nc\nd\ne\nf");
        stays("a\n\tb\n\n");
    }

    #[test]
    fn terminal_sequences_go_whole() {
        becomes("\u{1b}[31mred\u{1b}[0m", "red");
        becomes("\u{9b}31mred", "red");
        becomes("\u{1b}[?1049h\u{1b}[6n\u{1b}(B\u{1b}7\u{1b}", "");
        becomes("\u{1b}]0;PWNED\u{7}x", "x");
        becomes("\u{1b}]8;;http://evil.example/\u{1b}\\click\u{1b}]8;;\u{1b}\\", "click");
        becomes("\u{1b}Pq#0;2\nmore\u{1b}\\x", "x");
        becomes("\u{9d}52;c;aGk=\u{9c}x\u{9f}hidden\u{1b}\\y", "xy");
        becomes("\u{1b}\u{200b}[3\u{200b}1mred", "red");
    }

    #[test]
    fn a_sequence_that_never_ends_takes_its_line_at_most() {
        becomes("\u{1b}]0;a\u{1b}[31mb", "b");
        becomes("\u{1b}]0;title\nthe answer\nis long", "\nthe answer\nis long");
        becomes("dr\u{9e}ava \u{8b}a\u{9b} b\u{1b}[", "drava a b");
        becomes("a\u{1b}b\u{1b} c", "ab c");
        becomes("a\u{1b}[31\u{e9}b", "a\u{e9}b");
    }

    #[test]
    fn joiners_stay_between_letters_that_need_them() {
        stays("\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}");
        stays("\u{915}\u{94d}\u{200d}\u{937}");
        stays("\u{9b0}\u{200d}\u{9cd}\u{9af}\u{9be}");
        becomes("a\u{200d}b\u{200c}c", "abc");
        becomes("\u{645}\u{200c}", "\u{645}");
        becomes("\u{645}\u{200c}\u{200d}\u{200c}\u{62e}", "\u{645}\u{62e}");
    }

    #[test]
    fn emoji_sequences_stay() {
        for text in [
            "👨\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}\u{200d}🔥",
            "👩🏽\u{200d}🚀",
            "🏳\u{fe0f}\u{200d}🌈",
            "1\u{fe0f}\u{20e3}",
            "🇩🇪",
        ] {
            stays(text);
        }
        becomes("👨\u{200d}x", "👨x");
        becomes("👨\u{200c}👩", "👨👩");
    }

    #[test]
    fn selectors_stay_once_upon_a_base_that_knows_them() {
        stays("☎\u{fe0e}☎\u{fe0f}");
        becomes("☎\u{fe0f}\u{fe0f}\u{fe00}", "☎\u{fe0f}");
        becomes("a\u{fe0f}1\u{fe0f}2", "a12");
        becomes("辻\u{e0101}😀\u{e0159}", "辻😀");
        stays("\u{182d}\u{180b}\u{1820}");
        becomes("a\u{180b}\u{182d}\u{180b}\u{180c}", "a\u{182d}\u{180b}");
    }

    #[test]
    fn marks_pile_up_to_thirty() {
        let pile = |n| format!("e{}x", "\u{301}".repeat(n));
        stays(&pile(30));
        becomes(&pile(1000), &pile(30));
    }

    #[test]
    fn one_line_has_single_spaces_and_none_at_the_ends() {
        assert_eq!(strip(" \ta\n\n b\u{a0}\u{3000}c \u{2028}", true).as_deref(), Some("a b c"));
        assert_eq!(strip("a b", true), None);
        assert_eq!(strip(" \n", true).as_deref(), Some(""));
    }
}
