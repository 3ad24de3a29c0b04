//! Formats: their rules are made once for the process.

use once_cell::sync::OnceCell;
use smol_str::SmolStr;

use super::automaton::Automaton;
use super::rules::Rules;
use super::shared::SharedSet;
use crate::schema::strings::{Dfa, formats};

/// What the names of these rules begin with, and no other.
pub(super) const PREFIX: &str = "fmt-";

/// The rules of a format.
#[derive(Debug)]
pub(super) struct FormatRules {
    /// The rule of a whole string, quotes included.
    pub(super) name: SmolStr,
    pub(super) text: String,
    pub(super) shared: SharedSet,
}

/// The rules of the format at this place of the table of formats.
pub(super) fn rules(place: usize, name: &str, dfa: &Dfa) -> Option<&'static FormatRules> {
    static TABLE: [OnceCell<FormatRules>; formats::EXACT_COUNT] =
        [const { OnceCell::new() }; formats::EXACT_COUNT];
    Some(TABLE.get(place)?.get_or_init(|| {
        let mut rules = Rules::new();
        let name = rules.names.after(&smol_str::format_smolstr!("{PREFIX}{name}"));
        let mut automaton = Automaton::of_strings(dfa, name.clone());
        rules.begin(&name);
        rules.writer.literal("\"");
        automaton.start(&mut rules);
        rules.end();
        automaton.finish(&mut rules);
        let (text, shared) = rules.into_parts();
        FormatRules { name, text, shared }
    }))
}

#[cfg(test)]
mod tests {
    use super::super::gbnf::Gbnf;
    use super::*;

    #[test]
    fn the_rules_of_every_format_take_its_strings_and_no_others() {
        let samples = [
            "2024-02-29",
            "2023-02-29",
            "23:59:60Z",
            "2024-02-29T12:00:00+01:00",
            "P1Y2M",
            "a@b.example",
            "127.0.0.1",
            "256.0.0.1",
            "::1",
            "1::2::3",
            "https://example.com/?q=1#f",
            "not a uri",
            "//x",
            "{x}",
            "123e4567-e89b-12d3-a456-426614174000",
            "/a/~1b/\u{1}\"\\é",
            "0/x",
            "1#",
            "",
        ];
        for (place, name) in formats::names().take(formats::EXACT_COUNT).enumerate() {
            let Some(formats::Format::Exact(dfa)) = formats::lookup(name) else { panic!("{name}") };
            let format = rules(place, name, &dfa).unwrap();
            let mut text = format.text.clone();
            format.shared.write(&mut text);
            let grammar = Gbnf::read(&text);
            let own = format.text.lines().all(|line| line.starts_with(PREFIX));
            assert!(own, "{text}");
            let mut taken = 0;
            for sample in samples {
                let json = crate::json::Value::String(sample.into()).to_text();
                assert_eq!(grammar.takes(&format.name, &json), dfa.matches(sample), "{name} {sample}");
                taken += usize::from(dfa.matches(sample));
            }
            assert!(taken > 0, "{name} takes none of the samples");
        }
    }
}
