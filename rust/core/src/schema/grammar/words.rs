//! Lists of words as prefix trees, without an automaton.

use std::borrow::Cow;

use smallvec::SmallVec;
use smol_str::SmolStr;

use super::chars::escaped;
use super::rules::Rules;

/// Words as they stand in a JSON text after the opening quote, the closing quote included, each with what follows it.
pub(super) struct Words<'w, T> {
    list: SmallVec<[(Cow<'w, str>, T); 8]>,
}

impl<'w, T: Copy> Words<'w, T> {
    pub(super) fn new(words: impl IntoIterator<Item = (&'w SmolStr, T)>) -> Self {
        let mut sorted = true;
        let mut list: SmallVec<[(Cow<'w, str>, T); 8]> = SmallVec::new();
        for (word, after) in words {
            let word = escaped(word).map_or(Cow::Borrowed(word.as_str()), Cow::Owned);
            sorted &= list.last().is_none_or(|(last, _)| *last < word);
            list.push((word, after));
        }
        if !sorted {
            list.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        Self { list }
    }

    /// Writes the words into the open rule as one sequence; `follow` writes what comes after a closing quote.
    pub(super) fn write(&self, rules: &mut Rules, mut follow: impl FnMut(&mut Rules, T)) {
        branch(&self.list, 0, rules, &mut follow);
    }
}

/// Writes what remains of words that are the same up to `from` bytes. A word is never the beginning of another, since
/// the closing quote stands nowhere else.
fn branch<T: Copy>(
    words: &[(Cow<'_, str>, T)],
    from: usize,
    rules: &mut Rules,
    follow: &mut impl FnMut(&mut Rules, T),
) {
    let ([(first, after), others @ ..], Some((last, _))) = (words, words.last()) else { return };
    if others.is_empty() {
        rules.writer.literal(first.get(from..).unwrap_or_default());
        rules.writer.literal("\"");
        return follow(rules, *after);
    }
    // Of sorted words the first and the last share what all share.
    let alike = |(a, b): &(char, char)| a == b;
    let tails = (first.get(from..).unwrap_or_default(), last.get(from..).unwrap_or_default());
    let shared: usize =
        tails.0.chars().zip(tails.1.chars()).take_while(alike).map(|(c, _)| c.len_utf8()).sum();
    let at = from + shared;
    rules.writer.literal(first.get(from..at).unwrap_or_default());
    let next = |word: &str| word.get(at..).and_then(|rest| rest.chars().next());
    rules.writer.open();
    for group in words.chunk_by(|(a, _), (b, _)| next(a) == next(b)) {
        rules.writer.alternative();
        branch(group, at, rules, follow);
    }
    rules.writer.close();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(words: &[&str]) -> String {
        let words: Vec<SmolStr> = words.iter().map(SmolStr::new).collect();
        let mut rules = Rules::new();
        rules.begin("x");
        rules.writer.literal("\"");
        Words::new(words.iter().map(|word| (word, ()))).write(&mut rules, |_, ()| ());
        rules.end();
        rules.into_parts().0
    }

    #[test]
    fn common_beginnings_are_written_once() {
        assert_eq!(written(&["red"]), "x ::= \"\\\"red\\\"\"\n");
        assert_eq!(
            written(&["blue", "red", "redder", "ref"]),
            "x ::= \"\\\"\" (\"blue\\\"\" | \"re\" (\"d\" (\"\\\"\" | \"der\\\"\") | \"f\\\"\"))\n"
        );
    }

    #[test]
    fn words_are_escaped_for_json_and_then_for_the_grammar() {
        let text = written(&["", "\n", "\"", "\u{1}", "é"]);
        let escapes = r#""\\" ("\"\"" | "n\"" | "u0001\"")"#;
        assert_eq!(text, format!("x ::= \"\\\"\" (\"\\\"\" | {escapes} | \"é\\\"\")\n"));
    }

    #[test]
    fn each_word_brings_what_follows_it() {
        let words = ["a", "b"].map(SmolStr::new_static);
        let mut rules = Rules::new();
        rules.begin("x");
        Words::new(words.iter().zip(["one", "two"])).write(&mut rules, |rules, next| rules.writer.name(next));
        rules.end();
        assert_eq!(rules.into_parts().0, "x ::= (\"a\\\"\" one | \"b\\\"\" two)\n");
    }
}
