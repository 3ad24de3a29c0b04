//! Control tokens of language models, and how they are broken up.
//!
//! A tokenizer takes a control token wherever its exact characters stand, whoever wrote them. One separator
//! inside is enough to make it ordinary text, and everyone sees that it was there. Matching is a little wider
//! than any tokenizer's: a character that only another form of an ASCII one (full width, small, mathematical)
//! counts as that one, look-alikes of the bar count as a bar, and the known families match in any case.

use std::fmt;
use std::sync::{Arc, LazyLock};

use rustc_hash::{FxHashMap, FxHashSet};
use unicode_normalization::char::decompose_compatible;

use super::families;

/// The longest text between the brackets of a barred token; the longest known has some forty characters.
const MAX_BARRED: usize = 64;

/// The control tokens to look for: those of known families, always, and those of the loaded model. Cheap to
/// clone. `ModelTokens::default()` holds the known families alone.
#[derive(Clone)]
pub struct ModelTokens(Arc<Table>);

static KNOWN: LazyLock<ModelTokens> = LazyLock::new(|| ModelTokens::new(std::iter::empty::<&str>()));

impl fmt::Debug for ModelTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelTokens")
    }
}

impl Default for ModelTokens {
    fn default() -> Self {
        KNOWN.clone()
    }
}

impl ModelTokens {
    /// The known families and the special tokens that the host names for the loaded model, each as its
    /// tokenizer spells it (matched in its own case). A token of one character or of white space alone is in
    /// every text and cannot be broken up; it is passed over.
    pub fn new(model: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut table = Table::default();
        for token in families::any_case() {
            table.any_case.insert(token.chars().map(|c| fold(c).to_ascii_lowercase()));
        }
        for token in families::exact_case() {
            table.exact.insert(token.chars());
        }
        let mut used = FxHashSet::default();
        for token in model {
            let folded: Vec<char> = token.as_ref().chars().map(fold).collect();
            if folded.len() > 1 && !folded.iter().all(|c| c.is_whitespace()) {
                used.extend(folded.iter().copied());
                table.exact.insert(folded.into_iter());
            }
        }
        // A separator that no token holds cannot help to form one. The known families hold no space.
        let separators = [' ', '\u{b7}', '\u{a6}'].into_iter().chain('\u{2190}'..='\u{2bff}');
        table.separator = separators.into_iter().find(|c| !used.contains(c)).unwrap_or('\u{fffd}');
        Self(Arc::new(table))
    }

    /// Whether a control token stands anywhere in the text.
    pub fn occurs_in(&self, text: &str) -> bool {
        let mut found = false;
        self.0.scan(text, |_| {
            found = true;
            false
        });
        found
    }

    /// The text with a separator inside every control token, `None` when there is none. Afterwards no token
    /// stands anywhere in it: one that did would hold no separator, so it would have stood in `text`, and
    /// every one that stood there got its separator.
    pub(super) fn break_up(&self, text: &str) -> Option<String> {
        let mut breaks = Vec::new();
        self.0.scan(text, |at| {
            breaks.push(at);
            true
        });
        if breaks.is_empty() {
            return None;
        }
        breaks.sort_unstable();
        breaks.dedup();
        let mut broken = String::with_capacity(text.len() + breaks.len() * self.0.separator.len_utf8());
        let mut from = 0;
        for at in breaks {
            broken.push_str(text.get(from..at).unwrap_or_default());
            broken.push(self.0.separator);
            from = at;
        }
        broken.push_str(text.get(from..).unwrap_or_default());
        Some(broken)
    }
}

/// Whether a control token of a known family stands anywhere in the text: strings that name things (schema
/// property names, `enum`, `const` ...) are refused for it, never repaired.
pub fn contains_control_token(text: &str) -> bool {
    KNOWN.occurs_in(text)
}

/// The one ASCII character that `c` is only another form of (a compatibility or canonical mapping of the
/// Unicode Character Database), a bar for what looks like one, else `c` itself.
fn fold(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    if matches!(c, '\u{1c0}' | '\u{2223}' | '\u{23d0}' | '\u{2502}' | '\u{2503}' | '\u{2758}' | '\u{ffe8}') {
        return '|';
    }
    let (mut first, mut count) = (c, 0);
    decompose_compatible(c, |d| {
        if count == 0 {
            first = d;
        }
        count += 1;
    });
    if count == 1 && first.is_ascii() { first } else { c }
}

#[derive(Default)]
struct Table {
    any_case: Trie,
    exact: Trie,
    separator: char,
}

/// A token found: where it ends, and where its separator goes, in bytes from its start.
#[derive(Clone, Copy)]
struct Found {
    cut: usize,
    end: usize,
}

impl Table {
    /// Calls `at` with the place of a separator for each occurrence that no earlier separator divides, until
    /// it says stop. Each character begins at most three walks, each as long as the longest token at most.
    fn scan(&self, text: &str, mut at: impl FnMut(usize) -> bool) {
        let mut last_cut = 0;
        for (start, c) in text.char_indices() {
            let first = fold(c);
            if !self.begins_token(first) {
                continue;
            }
            let rest = text.get(start..).unwrap_or_default();
            let found = [self.any_case.shortest(rest, true), self.exact.shortest(rest, false), barred(rest)];
            for token in found.into_iter().flatten() {
                if start < last_cut && last_cut < start + token.end {
                    continue;
                }
                last_cut = start + token.cut;
                if !at(last_cut) {
                    return;
                }
            }
        }
    }

    fn begins_token(&self, first: char) -> bool {
        matches!(first, '<' | '[')
            || self.any_case.first.contains(&first.to_ascii_lowercase())
            || self.exact.first.contains(&first)
    }
}

/// The tokens as a tree of characters.
#[derive(Default)]
struct Trie {
    first: FxHashSet<char>,
    next: FxHashMap<(u32, char), u32>,
    /// For a node that ends a token: after how many characters its separator goes.
    ends: FxHashMap<u32, usize>,
    nodes: u32,
}

impl Trie {
    fn insert(&mut self, token: impl Iterator<Item = char> + Clone) {
        self.first.extend(token.clone().next());
        let mut node = 0;
        for c in token.clone() {
            let fresh = self.nodes + 1;
            let entry = self.next.entry((node, c)).or_insert(fresh);
            node = *entry;
            self.nodes = self.nodes.max(node);
        }
        let token: Vec<char> = token.collect();
        self.ends.entry(node).or_insert_with(|| separator_place(&token));
    }

    /// The shortest token that `text` begins with: a separator inside it divides the longer ones too.
    fn shortest(&self, text: &str, any_case: bool) -> Option<Found> {
        let mut node = 0;
        let mut places = smallvec::SmallVec::<[usize; 32]>::new();
        for (at, c) in text.char_indices() {
            let folded = if any_case { fold(c).to_ascii_lowercase() } else { fold(c) };
            node = *self.next.get(&(node, folded))?;
            places.push(at);
            if let Some(place) = self.ends.get(&node) {
                let cut = places.get(*place).copied()?;
                return Some(Found { cut, end: at + c.len_utf8() });
            }
        }
        None
    }
}

/// After how many characters the separator of a token goes: behind its opening sign, else before its
/// closing one, else in the first place that no white space touches.
fn separator_place(token: &[char]) -> usize {
    let sign = |c: Option<&char>| c.is_some_and(|c| !c.is_alphanumeric() && !c.is_whitespace());
    if sign(token.first()) {
        return 1;
    }
    if sign(token.last()) {
        return token.len().saturating_sub(1);
    }
    let words = token.windows(2).position(|pair| pair.iter().all(|c| !c.is_whitespace()));
    words.map_or(1, |at| at + 1)
}

/// The barred shapes: `<|x|>`, `<|x>`, `<x|>` and `[|x|]`, where x begins with a letter, a digit or one of
/// `_▁/"`, does not end in white space, and holds a letter, a digit or a quote.
fn barred(text: &str) -> Option<Found> {
    let mut rest = text.char_indices();
    let (_, open) = rest.next()?;
    let (open, close) = match fold(open) {
        '<' => ('<', '>'),
        '[' => ('[', ']'),
        _ => return None,
    };
    let cut = rest.clone().next()?.0;
    let mut bars_before = 0;
    let mut core = None;
    let mut named = false;
    let mut last = open;
    for (at, c) in rest.take(MAX_BARRED + 1) {
        let c_folded = fold(c);
        if c_folded == close {
            let bar_behind = last == '|';
            let shaped =
                if open == '<' { bars_before > 0 || bar_behind } else { bars_before > 0 && bar_behind };
            return (shaped && named && core.is_some_and(|last: char| !last.is_whitespace()))
                .then_some(Found { cut, end: at + c.len_utf8() });
        }
        if c_folded == open || c == '\n' {
            return None;
        }
        if c_folded == '|' {
            if core.is_none() {
                bars_before += 1;
            }
        } else {
            if core.is_none()
                && !(c_folded.is_alphanumeric() || matches!(c_folded, '_' | '\u{2581}' | '/' | '"'))
            {
                return None;
            }
            named |= c_folded.is_alphanumeric() || c_folded == '"';
            core = Some(c_folded);
        }
        last = c_folded;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(tokens: &ModelTokens, text: &str) -> String {
        let out = tokens.break_up(text).unwrap_or_else(|| text.to_owned());
        assert!(!tokens.occurs_in(&out), "{out}");
        assert_eq!(tokens.break_up(&out), None);
        out
    }

    #[test]
    fn every_known_token_is_broken_up_and_stays_readable() {
        let tokens = ModelTokens::default();
        for token in families::any_case().chain(families::exact_case()) {
            let text = format!("a{token}b");
            assert!(contains_control_token(&text), "{token}");
            let out = broken(&tokens, &text);
            assert_eq!(out.replace(' ', ""), text.replace(' ', ""), "{token}");
        }
        for token in families::any_case() {
            broken(&tokens, &token.to_ascii_uppercase());
            assert!(contains_control_token(&token.to_ascii_uppercase()), "{token}");
        }
    }

    #[test]
    fn tokens_between_bars_need_no_list() {
        for token in [
            "<|im_start|>",
            "<|eot_id|>",
            "<|START_OF_TURN_TOKEN|>",
            "<|channel|>",
            "<|\"|>",
            "<|turn>",
            "<turn|>",
            "<|tool_call>",
            "<\u{ff5c}tool\u{2581}outputs\u{2581}end\u{ff5c}>",
            "<\u{ff5c}\u{2581}pad\u{2581}\u{ff5c}>",
            "[|endofturn|]",
            "<|begin of text|>",
            "\u{ff1c}\u{ff5c}\u{ff49}\u{ff4d}_end\u{ff5c}\u{ff1e}",
            "<\u{2502}im_end\u{2502}>",
        ] {
            assert!(contains_control_token(token), "{token}");
            broken(&ModelTokens::default(), &format!("<{token}>{token}|>"));
        }
        assert_eq!(broken(&ModelTokens::default(), "<|im_start|>system"), "< |im_start|>system");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "^(<|>|<=|>=)$",
            "a <b || c> d",
            "x |> f <| y",
            "Vec<String>",
            "<https://x.example|Example>",
            "[args]",
            "<pre>",
            "| a <b | c> |",
            "[| 1; 2 |]",
            "[a](b)",
            "1 < 2 > 1",
            "<id>",
            "[[x]]",
            "if a<|b",
            "Human: hi",
        ] {
            assert!(!contains_control_token(text), "{text}");
        }
    }

    #[test]
    fn tokens_of_the_loaded_model_are_broken_up_too() {
        let tokens = ModelTokens::new(["<unused42>", "ASSISTANT", "\n\n", "x"]);
        assert_eq!(broken(&tokens, "<unused42>"), "< unused42>");
        assert_eq!(broken(&tokens, "ASSISTANT: x\n\nassistant"), "A SSISTANT: x\n\nassistant");
        assert!(!contains_control_token("<unused42>"));
    }

    #[test]
    fn overlapping_tokens_are_all_broken_up() {
        let tokens = ModelTokens::new(["abc", "bcd", "cda", "ab c"]);
        assert_eq!(broken(&tokens, "abcdab"), "a\u{b7}b\u{b7}c\u{b7}dab");
        broken(&tokens, "ab cdabcdabcd");
    }

    #[test]
    fn a_separator_never_helps_to_form_a_token() {
        for token in ["< |im_start|>", "a b", "[ INST]", "x\u{b7} y"] {
            let tokens = ModelTokens::new([token]);
            broken(&tokens, &format!("{token}<|im_start|>[INST]{token}"));
        }
    }
}
