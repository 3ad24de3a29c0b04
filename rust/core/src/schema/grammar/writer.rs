//! The text of a grammar, written rule by rule into one buffer.

use std::fmt::Write as _;

use super::chars::Ranges;

/// A buffer of finished rules and at most one open one. Adjacent literals become one; spaces and separators are
/// put where llama.rn's parser needs them.
#[derive(Debug, Default)]
pub(super) struct Writer {
    text: String,
    place: Place,
}

/// What stands right before the end of the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    /// The beginning of an alternative.
    #[default]
    Start,
    /// The inside of a literal that is still open.
    Literal,
    /// A finished element.
    Element,
}

impl Writer {
    /// The length of the text so far, in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Adds finished rules.
    pub(super) fn push_rules(&mut self, rules: &str) {
        self.text.push_str(rules);
    }

    /// Begins a rule.
    pub(super) fn begin(&mut self, name: &str) {
        self.text.push_str(name);
        self.text.push_str(" ::= ");
        self.place = Place::Start;
    }

    /// Begins a rule that may be empty. The empty alternative stands first: at the end of a rule the parser would
    /// skip the line end after `|` and take the next rule's name for an element.
    pub(super) fn begin_optional(&mut self, name: &str) {
        self.begin(name);
        self.text.push_str("| ");
    }

    /// Ends a rule. One without a body would take the next rule's name too.
    pub(super) fn end(&mut self) {
        if self.place == Place::Start {
            self.text.push_str("\"\"");
        }
        self.close_literal();
        self.text.push('\n');
        self.place = Place::Start;
    }

    /// Begins another alternative, unless none was begun yet.
    pub(super) fn alternative(&mut self) {
        self.close_literal();
        if self.place == Place::Element {
            self.text.push_str(" | ");
            self.place = Place::Start;
        }
    }

    /// Opens a group of alternatives.
    pub(super) fn open(&mut self) {
        self.element();
        self.text.push('(');
        self.place = Place::Start;
    }

    /// Closes a group, which must not be empty.
    pub(super) fn close(&mut self) {
        self.close_literal();
        self.text.push(')');
        self.place = Place::Element;
    }

    /// A reference to a rule.
    pub(super) fn name(&mut self, name: &str) {
        self.element();
        self.text.push_str(name);
        self.place = Place::Element;
    }

    /// Exactly these characters.
    pub(super) fn literal(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.place != Place::Literal {
            self.element();
            self.text.push('"');
            self.place = Place::Literal;
        }
        let mut plain = 0;
        for (at, c) in text.char_indices() {
            if matches!(c, ' '..='~' if c != '"' && c != '\\') {
                continue;
            }
            self.text.push_str(text.get(plain..at).unwrap_or_default());
            plain = at + c.len_utf8();
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                c if !c.is_ascii() && c.is_alphanumeric() => self.text.push(c),
                // What a reader of the text could not see, or would see elsewhere.
                c => self.code_point(c),
            }
        }
        self.text.push_str(text.get(plain..).unwrap_or_default());
    }

    /// One character of a class. A class of one character is a literal.
    pub(super) fn class(&mut self, ranges: &Ranges) {
        if let [(one, last)] = ranges.as_slice()
            && one == last
        {
            return self.literal(one.encode_utf8(&mut [0; 4]));
        }
        self.element();
        self.text.push('[');
        for &(first, last) in ranges {
            self.class_char(first);
            if first < last {
                if u32::from(first) + 1 < u32::from(last) {
                    self.text.push('-');
                }
                self.class_char(last);
            }
        }
        self.text.push(']');
        self.place = Place::Element;
    }

    /// Keeps what follows out of the literal before it, since it will be counted.
    pub(super) fn separate(&mut self) {
        self.close_literal();
    }

    /// How often the element before this stands; for 1, nothing.
    pub(super) fn times(&mut self, least: u64, most: Option<u64>) {
        self.close_literal();
        let _ = match (least, most) {
            (1, Some(1)) => Ok(()),
            (0, Some(1)) => self.text.write_char('?'),
            (0, None) => self.text.write_char('*'),
            (1, None) => self.text.write_char('+'),
            (least, None) => write!(self.text, "{{{least},}}"),
            (least, Some(most)) if least == most => write!(self.text, "{{{least}}}"),
            (least, Some(most)) => write!(self.text, "{{{least},{most}}}"),
        };
        self.place = Place::Element;
    }

    fn class_char(&mut self, c: char) {
        if c.is_ascii_alphanumeric() { self.text.push(c) } else { self.code_point(c) }
    }

    fn code_point(&mut self, c: char) {
        let c = u32::from(c);
        let _ = match c {
            0..=0xFF => write!(self.text, "\\x{c:02X}"),
            0x100..=0xFFFF => write!(self.text, "\\u{c:04X}"),
            _ => write!(self.text, "\\U{c:08X}"),
        };
    }

    fn element(&mut self) {
        self.close_literal();
        if self.place == Place::Element && !self.text.ends_with('(') {
            self.text.push(' ');
        }
    }

    fn close_literal(&mut self) {
        if self.place == Place::Literal {
            self.text.push('"');
            self.place = Place::Element;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Writer)) -> String {
        let mut writer = Writer::default();
        writer.begin("x");
        write(&mut writer);
        writer.end();
        writer.into_text()
    }

    #[test]
    fn adjacent_literals_are_one_and_elements_stand_apart() {
        let text = written(|w| {
            w.literal("{");
            w.literal("\"a\":");
            w.name("ws");
            w.literal("null");
            w.alternative();
            w.open();
            w.name("y");
            w.alternative();
            w.literal("z");
            w.close();
            w.times(0, Some(1));
            w.name("y");
        });
        assert_eq!(text, "x ::= \"{\\\"a\\\":\" ws \"null\" | (y | \"z\")? y\n");
    }

    #[test]
    fn an_empty_alternative_stands_first_and_no_rule_is_without_a_body() {
        assert_eq!(written(|_| ()), "x ::= \"\"\n");
        let mut writer = Writer::default();
        writer.begin_optional("x");
        writer.literal(" ");
        writer.end();
        assert_eq!(writer.into_text(), "x ::= | \" \"\n");
    }

    #[test]
    fn literals_escape_what_the_parser_reads_and_what_nobody_sees() {
        let text = written(|w| w.literal("é\t\u{0}\u{7f}\u{202e}\u{1F600}名\\\"#[]"));
        assert_eq!(text, "x ::= \"é\\t\\x00\\x7F\\u202E\\U0001F600名\\\\\\\"#[]\"\n");
    }

    #[test]
    fn classes_escape_all_but_letters_and_digits() {
        let ranges = |list: &[(char, char)]| Ranges::from_slice(list);
        let text = written(|w| {
            w.class(&ranges(&[('-', '-'), (']', '^'), ('a', 'z'), ('\u{E000}', char::MAX)]));
            w.times(2, Some(9));
            w.class(&ranges(&[('"', '"')]));
        });
        assert_eq!(text, "x ::= [\\x2D\\x5D\\x5Ea-z\\uE000-\\U0010FFFF]{2,9} \"\\\"\"\n");
    }

    #[test]
    fn a_count_is_written_in_its_shortest_form() {
        let counts =
            [(1, Some(1)), (0, Some(1)), (0, None), (1, None), (3, None), (3, Some(3)), (0, Some(7))];
        let text = written(|w| {
            for (least, most) in counts {
                w.name("a");
                w.times(least, most);
            }
        });
        assert_eq!(text, "x ::= a a? a* a+ a{3,} a{3} a{0,7}\n");
    }
}
