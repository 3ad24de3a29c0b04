//! The rules that every grammar may use, written only where it does.

/// A rule that is the same in every grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shared {
    /// The optional blank after `,` and `:`.
    Ws,
    /// Any string.
    String,
    /// The rest of any string, its closing quote included.
    Text,
    /// One character of a string.
    Char,
    /// What follows a backslash.
    Escape,
    Boolean,
    Integer,
    Number,
    /// What may follow the integer part of a number.
    NumberTail,
    Exponent,
    /// Any value.
    Value,
    Object,
    /// The members of an object after the quote of the first key.
    Members,
    Array,
    /// The items of an array that has one.
    Items,
}

/// Any character but quote, backslash, controls and surrogates.
macro_rules! plain {
    () => {
        r"[\x20\x21\x23-\x5B\x5D-\uD7FF\uE000-\U0010FFFF]"
    };
}

/// Name, body, and what the body uses. Numbers have at most 16 integer digits, 15 fraction digits and two in the
/// exponent; `-0` is not among them.
const RULES: [(Shared, &str, &str, &[Shared]); 15] = [
    (Shared::Ws, "ws", r#"| " ""#, &[]),
    (Shared::String, "string", r#""\"" text"#, &[Shared::Text]),
    (Shared::Text, "text", concat!(r#""\"" | "#, plain!(), r#" text | "\\" escape text"#), &[Shared::Escape]),
    (Shared::Char, "char", concat!(plain!(), r#" | "\\" escape"#), &[Shared::Escape]),
    (Shared::Escape, "escape", r#"["\\bfnrt] | "u00" ("0" [0-7be-f] | "1" [0-9a-f])"#, &[]),
    (Shared::Boolean, "boolean", r#""true" | "false""#, &[]),
    (Shared::Integer, "integer", r#""0" | "-"? [1-9] [0-9]{0,15}"#, &[]),
    (
        Shared::Number,
        "number",
        r#""0" number-tail | [1-9] [0-9]{0,15} number-tail | "-" ("0." [0-9]{1,15} exponent? | [1-9] [0-9]{0,15} number-tail)"#,
        &[Shared::NumberTail],
    ),
    (Shared::NumberTail, "number-tail", r#"| "." [0-9]{1,15} exponent? | exponent"#, &[Shared::Exponent]),
    (Shared::Exponent, "exponent", r#"[eE] [-+]? ("0" | [1-9] [0-9]?)"#, &[]),
    (
        Shared::Value,
        "value",
        r#""null" | "true" | "false" | number | "\"" text | "[" ("]" | items) | "{" ("}" | "\"" members)"#,
        &[Shared::Number, Shared::Text, Shared::Items, Shared::Members],
    ),
    (Shared::Object, "object", r#""{" ("}" | "\"" members)"#, &[Shared::Members]),
    (
        Shared::Members,
        "members",
        r#"text ":" ws value ("," ws "\"" members | "}")"#,
        &[Shared::Text, Shared::Ws, Shared::Value],
    ),
    (Shared::Array, "array", r#""[" ("]" | items)"#, &[Shared::Items]),
    (Shared::Items, "items", r#"value ("," ws items | "]")"#, &[Shared::Value, Shared::Ws]),
];

impl Shared {
    pub(super) fn name(self) -> &'static str {
        RULES.get(self as usize).map_or("value", |(_, name, ..)| name)
    }

    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        RULES.iter().map(|(_, name, ..)| *name)
    }
}

/// A set of shared rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SharedSet(u16);

impl SharedSet {
    /// Adds a rule and what it uses.
    pub(super) fn add(&mut self, rule: Shared) {
        let bit = 1 << rule as u16;
        if self.0 & bit == 0 {
            self.0 |= bit;
            let uses = RULES.get(rule as usize).map_or(&[][..], |(.., uses)| uses);
            for used in uses {
                self.add(*used);
            }
        }
    }

    pub(super) fn add_all(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// The text of the rules.
    pub(super) fn write(self, text: &mut String) {
        for (rule, name, body, _) in RULES {
            if self.0 >> rule as u16 & 1 == 1 {
                for part in [name, " ::= ", body, "\n"] {
                    text.push_str(part);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_stands_at_its_place_and_brings_what_its_body_names() {
        for (at, (rule, name, body, _)) in RULES.iter().enumerate() {
            assert_eq!(*rule as usize, at, "{name}");
            let mut set = SharedSet::default();
            set.add(*rule);
            let mut text = String::new();
            set.write(&mut text);
            assert!(text.contains(&format!("{name} ::= {body}\n")));
            // Outside literals and classes every word is the name of a rule that is written too.
            let mut outside = String::new();
            let mut end = None;
            let mut characters = text.chars();
            while let Some(c) = characters.next() {
                match (end, c) {
                    (Some(_), '\\') => drop(characters.next()),
                    (Some(close), c) if c == close => end = None,
                    (Some(_), _) => {}
                    (None, '"') => end = Some('"'),
                    (None, '[') => end = Some(']'),
                    (None, '{') => end = Some('}'),
                    (None, c) => outside.push(c),
                }
            }
            let words = outside
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
                .filter(|word| !word.is_empty());
            for word in words {
                assert!(
                    text.lines().any(|line| line.starts_with(&format!("{word} ::="))),
                    "{name} uses {word}"
                );
            }
        }
    }
}
