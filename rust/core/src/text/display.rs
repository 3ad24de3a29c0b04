//! The form for a person who is asked to consent: nothing hides in it.

use std::fmt::Write;

use super::chars;
use super::strip::{Filter, Sink};

/// `text` with every character that shows nothing, turns the direction of writing or moves the cursor
/// written as `\u{202e}`: what [`Cleaner`](super::Cleaner) would remove or take for a line break, and LF and
/// TAB too, so that a value cannot draw lines of its own. Joiners and selectors that spell a word or an emoji
/// are shown as they are. A `\` before `u{` is escaped as well, so two texts never look the same for it.
pub fn escape_display(text: &str) -> String {
    let mut filter = Filter::new(Shown(String::with_capacity(text.len())));
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let fakes_an_escape = c == '\\' && rest.as_str().starts_with("u{");
        if c.is_control() || chars::is_line_break(c) || chars::is_invisible(c) || fakes_an_escape {
            filter.push_rejected(c);
        } else {
            filter.push(c);
        }
    }
    filter.finish().0
}

struct Shown(String);

impl Sink for Shown {
    fn keep(&mut self, c: char) {
        self.0.push(c);
    }

    fn drop(&mut self, c: char) {
        // Writing to a String cannot fail.
        let _ = write!(self.0, "\\u{{{:x}}}", u32::from(c));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_seen() {
        assert_eq!(escape_display("file\u{202e}txt.exe"), "file\\u{202e}txt.exe");
        assert_eq!(escape_display("a\nb\tc\u{1b}[0m\u{e0041}"), "a\\u{a}b\\u{9}c\\u{1b}[0m\\u{e0041}");
        assert_eq!(escape_display("pay\u{200c}pal\u{2028}"), "pay\\u{200c}pal\\u{2028}");
    }

    #[test]
    fn words_and_emoji_stay_readable() {
        for text in
            ["é 中 x", "\u{645}\u{6cc}\u{200c}\u{62e}", "👨\u{200d}👩", "C:\\users", "1\u{fe0f}\u{20e3}"]
        {
            assert_eq!(escape_display(text), text);
        }
    }

    #[test]
    fn an_escape_that_was_typed_differs_from_one_that_was_made() {
        assert_eq!(escape_display("\\u{202e}"), "\\u{5c}u{202e}");
        assert_ne!(escape_display("\\u{202e}"), escape_display("\u{202e}"));
    }
}
