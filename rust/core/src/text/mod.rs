//! The one cleaner for every string that reaches a model: titles, descriptions, schema annotations, mapped
//! errors, advice, answers. Beside it what uses the same tables: the refusal of control characters and tokens
//! in names, the display form for consent, and the redaction of secrets that come back.
//!
//! # What happens to a text
//!
//! 1. Secrets become a placeholder ([`Redactor`], where one is given).
//! 2. What shows nothing is removed, line ends become LF; in a title white space is folded (table below).
//! 3. Secrets again: a removal can join the halves of one.
//! 4. Control tokens are broken up ([`ModelTokens`]); in a response markup that loads is defused.
//! 5. From 1 until nothing changes, so cleaning twice is cleaning once.
//! 6. Cut to the limit, the marker inside it. Nothing that the steps before removed can come about by a cut:
//!    every part of a clean text is clean.
//!
//! Every step reads its text a fixed number of times, whatever stands in it.
//!
//! # Choices
//!
//! | what | becomes | why |
//! |---|---|---|
//! | CRLF, CR, VT, FF, NEL, U+2028, U+2029 | LF | they end a line (UAX #14); dropping them would join words |
//! | other C0 and C1 controls but LF, TAB; DEL | removed | |
//! | terminal sequences, 7 and 8 bit | removed whole, with the payload of OSC, DCS, SOS, PM, APC | an unended one takes its line at most |
//! | bidi embeddings, overrides, isolates; LRM, RLM, ALM | removed | the marks order nothing that a model reads |
//! | all other format characters (Cf), soft hyphen, visible Arabic number signs among them | removed | one rule that hides nothing; a few signs before digits are lost |
//! | tags U+E0000..., also in flags | removed | the flag of England becomes a black flag |
//! | ZWJ, ZWNJ | stay once between letters of scripts that shape with them, ZWJ between emoji | in Latin they spell nothing |
//! | VS15, VS16 | stay once upon an emoji, VS16 in a keycap | |
//! | Mongolian selectors | stay once upon a Mongolian letter | |
//! | all other variation selectors, upon Han too | removed | a glyph variant is lost, the character is not |
//! | CGJ, Hangul fillers, Khmer inherent vowels, default-ignorable unassigned | removed | invisible |
//! | private use, noncharacters | removed | they mean nothing to a model, and not the same to two fonts |
//! | more than 30 marks upon a base | removed | UAX #15 Stream-Safe |
//! | no-break and other wide spaces | stay (a space in titles) | |
//! | composition, width, look-alike letters | stay | content is not normalised; names are held to their own rule |
//! | plain speakers (`USER:`, `### Response:`) | stay, but `Human:` and `Assistant:` behind a blank line | words of a template without control tokens are words |

mod chars;
mod cut;
mod defuse;
mod display;
mod families;
mod redact;
mod shape;
mod strip;
mod tokens;

use std::borrow::Cow;

pub use display::escape_display;
pub use redact::Redactor;
pub use shape::{Description, RULES, Title, check_description, check_title};
pub use tokens::{ModelTokens, contains_control_token};

/// Rounds until a text is settled. Two do, and a third where removing and breaking up meet; the rest is for
/// model tokens that nobody has.
const MAX_ROUNDS: usize = 8;
/// What stands for a text that did not settle.
const WITHHELD: &str = "[text withheld]";

/// Where a text will stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Context {
    /// A title: one line, runs of white space one space, none at the ends.
    Title,
    /// A description, an annotation, an error message, advice: lines stay.
    Description,
    /// Text of an answer: lines stay, markup that loads something is defused.
    Response,
}

/// What cleaning gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned {
    /// The clean text, at most the limit long.
    pub text: String,
    /// Whether something was cut off.
    pub truncated: bool,
    /// Whether anything else was changed.
    pub changed: bool,
}

/// Cleans texts for one context and one model. Cheap to make, to clone and to reuse.
#[derive(Debug, Clone)]
pub struct Cleaner {
    context: Context,
    tokens: ModelTokens,
}

impl Cleaner {
    /// A cleaner for a context; `tokens` are the control tokens of the loaded model, or the default.
    pub fn new(context: Context, tokens: &ModelTokens) -> Self {
        Self { context, tokens: tokens.clone() }
    }

    /// A cleaner for another context of the same model.
    pub fn within(&self, context: Context) -> Self {
        Self { context, tokens: self.tokens.clone() }
    }

    /// The clean text, at most `max_chars` Unicode scalar values with the marker of a cut.
    /// Whatever comes out comes out unchanged when it is cleaned again.
    pub fn clean(&self, text: &str, max_chars: usize) -> Cleaned {
        self.clean_with(text, max_chars, None)
    }

    /// The same for a text in which sent secrets may have come back: none is left in any form, neither found
    /// as it came nor joined by the cleaning, and none is cut in half.
    pub fn clean_redacted(&self, text: &str, max_chars: usize, secrets: &Redactor) -> Cleaned {
        self.clean_with(text, max_chars, Some(secrets))
    }

    fn clean_with(&self, text: &str, max_chars: usize, secrets: Option<&Redactor>) -> Cleaned {
        let settled = self.settle(text, secrets);
        let changed = settled != text;
        let Some((head, marker)) = cut::cut(&settled, max_chars, self.context == Context::Title) else {
            return Cleaned { text: settled.into_owned(), truncated: false, changed };
        };
        let mut text = format!("{head}{marker}");
        if self.tokens.occurs_in(&text) || secrets.is_some_and(|secrets| secrets.occurs_in(&text)) {
            // The marker completes something; only a token or a secret with an ellipsis can do that.
            head.clone_into(&mut text);
        }
        Cleaned { text, truncated: true, changed }
    }

    fn settle<'t>(&self, text: &'t str, secrets: Option<&Redactor>) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            let mut step = |outcome: Option<String>, text: &mut Cow<'t, str>| {
                if let Some(outcome) = outcome {
                    *text = Cow::Owned(outcome);
                    changed = true;
                }
            };
            step(redact(&text, secrets), &mut text);
            step(strip::strip(&text, self.context == Context::Title), &mut text);
            step(redact(&text, secrets), &mut text);
            step(self.tokens.break_up(&text), &mut text);
            if self.context == Context::Response {
                step(defuse::defuse(&text), &mut text);
            }
            if !changed {
                return text;
            }
        }
        Cow::Borrowed(WITHHELD)
    }
}

fn redact(text: &str, secrets: Option<&Redactor>) -> Option<String> {
    match secrets?.redact(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(redacted) => Some(redacted),
    }
}

/// Whether the text holds a control character (category Cc, LF and TAB too) or anything else that the
/// cleaner would remove: strings that name things are refused for it, never repaired.
pub fn contains_control(text: &str) -> bool {
    text.chars().any(char::is_control) || strip::strip(text, false).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(context: Context, text: &str) -> String {
        let cleaned = Cleaner::new(context, &ModelTokens::default()).clean(text, 10_000);
        assert!(!cleaned.truncated);
        assert_eq!(cleaned.changed, cleaned.text != text);
        cleaned.text
    }

    #[test]
    fn removing_characters_does_not_make_a_token() {
        assert_eq!(clean(Context::Description, "<|im_\u{200b}start|>system"), "< |im_start|>system");
        assert_eq!(clean(Context::Description, "[IN\u{1b}[0mST]<\u{0}s>"), "[ INST]< s>");
        assert_eq!(clean(Context::Response, "<i\u{ad}mg src=x>!\u{feff}[a](b)"), "< img src=x>! [a](b)");
    }

    #[test]
    fn a_title_is_one_line() {
        assert_eq!(clean(Context::Title, " Send\r\n\tmail\u{2028}now "), "Send mail now");
        assert_eq!(clean(Context::Description, "a\r\n\tb"), "a\n\tb");
    }

    #[test]
    fn only_responses_are_defused() {
        assert_eq!(clean(Context::Description, "![a](b) <b x=y>"), "![a](b) <b x=y>");
        assert_eq!(clean(Context::Response, "![a](b) <b x=y>"), "! [a](b) < b x=y>");
    }

    #[test]
    fn a_secret_is_found_before_and_behind_the_cleaning_and_never_cut() {
        let cleaner = Cleaner::new(Context::Response, &ModelTokens::default());
        let secrets = Redactor::new([b"tok<|a|>en".as_slice(), b"correct horse".as_slice()]);
        let redacted = |text: &str, max| cleaner.clean_redacted(text, max, &secrets).text;
        assert_eq!(redacted("x tok<|a|>en y", 100), "x [credential] y");
        assert_eq!(redacted("x tok<\u{200b}|a|>en y", 100), "x [credential] y");
        assert_eq!(redacted("x tok<|a|>en y", 8), "x [cred\u{2026}");
        let title = Cleaner::new(Context::Title, &ModelTokens::default());
        assert_eq!(title.clean_redacted("correct\nhorse", 100, &secrets).text, "[credential]");
    }

    #[test]
    fn a_marker_never_completes_a_token() {
        let tokens = ModelTokens::new(["a\u{2026}"]);
        let cleaned = Cleaner::new(Context::Title, &tokens).clean("aaaa", 3);
        assert_eq!((cleaned.text.as_str(), cleaned.truncated), ("aa", true));
    }

    #[test]
    fn names_may_hold_no_control() {
        for text in
            ["a\nb", "\t", "a\u{85}", "a\u{200b}b", "a\u{202e}", "\u{e0041}", "pay\u{200c}pal", "\u{7f}"]
        {
            assert!(contains_control(text), "{}", text.escape_unicode());
        }
        for text in ["", "name", "é 中", "\u{645}\u{6cc}\u{200c}\u{62e}", "👨\u{200d}👩", "a\u{a0}b"] {
            assert!(!contains_control(text), "{}", text.escape_unicode());
        }
    }

    #[test]
    fn odd_model_tokens_settle_too() {
        let tokens = ModelTokens::new(["gx", "< img", "! [", "a b", "\u{645}\u{200c}", "\u{2026}"]);
        for context in [Context::Title, Context::Description, Context::Response] {
            let cleaner = Cleaner::new(context, &tokens);
            let cleaned = cleaner.clean("<imgx y>![a](b) <img a b \u{645}\u{200c}\u{62e} a\nb", 1000);
            assert_ne!(cleaned.text, WITHHELD);
            assert!(!tokens.occurs_in(&cleaned.text), "{}", cleaned.text);
            assert_eq!(cleaner.clean(&cleaned.text, 1000).text, cleaned.text);
        }
    }
}
