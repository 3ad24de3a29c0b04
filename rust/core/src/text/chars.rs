//! What each code point may do in cleaned text. Properties are those of the Unicode Character Database
//! that `unicode-properties` carries; the few sets that it does not carry stand here by name.

use unicode_properties::{EmojiStatus, GeneralCategory, UnicodeEmoji, UnicodeGeneralCategory};

/// U+200D ZERO WIDTH JOINER.
pub(super) const ZWJ: char = '\u{200d}';
/// U+200C ZERO WIDTH NON-JOINER.
pub(super) const ZWNJ: char = '\u{200c}';
/// U+FE0E VARIATION SELECTOR-15, text style.
const VS15: char = '\u{fe0e}';
/// U+FE0F VARIATION SELECTOR-16, emoji style.
pub(super) const VS16: char = '\u{fe0f}';
/// U+20E3 COMBINING ENCLOSING KEYCAP.
pub(super) const KEYCAP: char = '\u{20e3}';

/// Characters that end a line without being LF (UAX #14 classes BK, CR and NL): they become LF.
pub(super) fn is_line_break(c: char) -> bool {
    matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// C0 and C1 controls but LF, TAB and the line breaks.
pub(super) fn is_control(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t' && !is_line_break(c)
}

/// Characters that leave wherever they stand: they show nothing, or nothing that two readers agree about.
/// Joiners and the selectors that can be of use are judged by their neighbours and not here.
pub(super) fn is_invisible(c: char) -> bool {
    if c.is_ascii() || is_joiner(c) || is_selector(c) {
        return false;
    }
    is_default_ignorable(c)
        || is_noncharacter(c)
        || matches!(c.general_category(), GeneralCategory::Format | GeneralCategory::PrivateUse)
}

/// The default-ignorable code points that are not of category Cf (`DerivedCoreProperties.txt`), unassigned
/// ones included: a later Unicode version cannot bring one past us.
fn is_default_ignorable(c: char) -> bool {
    matches!(c,
        '\u{34f}'                           // combining grapheme joiner
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
        | '\u{17b4}' | '\u{17b5}'           // Khmer inherent vowels
        | '\u{2065}' | '\u{fff0}'..='\u{fff8}' // unassigned
        | '\u{fe00}'..='\u{fe0d}'           // variation selectors 1 to 14
        | '\u{e0000}'..='\u{e0fff}') // tags, variation selectors 17 to 256, unassigned
}

/// The 66 code points that never are characters.
fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe
}

/// ZWJ and ZWNJ.
pub(super) fn is_joiner(c: char) -> bool {
    matches!(c, ZWJ | ZWNJ)
}

/// The selectors that stay behind a base that knows them: VS15, VS16, and the Mongolian ones.
pub(super) fn is_selector(c: char) -> bool {
    matches!(c, VS15 | VS16) || is_mongolian_selector(c)
}

pub(super) fn is_mongolian_selector(c: char) -> bool {
    matches!(c, '\u{180b}'..='\u{180d}' | '\u{180f}')
}

pub(super) fn is_mongolian_letter(c: char) -> bool {
    matches!(c, '\u{1820}'..='\u{18aa}')
}

/// Emoji that can stand alone, and skin tones: bases of VS15 and VS16, parts of ZWJ sequences.
pub(super) fn is_emoji(c: char) -> bool {
    !c.is_ascii() && c.is_emoji_char() && c.emoji_status() != EmojiStatus::EmojiPresentationAndEmojiComponent // regional indicators
}

/// A skin tone.
pub(super) fn is_emoji_modifier(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

pub(super) fn is_regional_indicator(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// `0` to `9`, `#` and `*`: with VS16 and U+20E3 they are keycaps.
pub(super) fn is_keycap_base(c: char) -> bool {
    matches!(c, '0'..='9' | '#' | '*')
}

/// Marks that take no room of their own (Mn, Me).
pub(super) fn is_nonspacing_mark(c: char) -> bool {
    !c.is_ascii()
        && matches!(c.general_category(), GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark)
}

/// Whether a cut before `c` would tear it from what it belongs to.
pub(super) fn is_extending(c: char) -> bool {
    is_joiner(c)
        || is_selector(c)
        || is_emoji_modifier(c)
        || is_nonspacing_mark(c)
        || (!c.is_ascii() && c.general_category() == GeneralCategory::SpacingMark)
}

/// Letters, and the marks upon them, of scripts whose shaping uses ZWJ or ZWNJ (the Unicode Standard,
/// section 23.2 and the script chapters: Arabic and its kin, the Indic scripts, Khmer, Myanmar, Mongolian).
/// In other scripts a joiner between letters only hides something.
pub(super) fn is_joining_letter(c: char) -> bool {
    let script = matches!(c,
        '\u{600}'..='\u{77f}'               // Arabic, Syriac, Arabic Supplement
        | '\u{7c0}'..='\u{7ff}'             // N'Ko
        | '\u{840}'..='\u{8ff}'             // Mandaic, Syriac Supplement, Arabic Extended
        | '\u{900}'..='\u{dff}'             // Devanagari to Sinhala
        | '\u{f00}'..='\u{109f}'            // Tibetan, Myanmar
        | '\u{1780}'..='\u{18af}'           // Khmer, Mongolian
        | '\u{1b00}'..='\u{1bbf}'           // Balinese, Sundanese
        | '\u{a840}'..='\u{a87f}'           // Phags-pa
        | '\u{a8e0}'..='\u{a8ff}'           // Devanagari Extended
        | '\u{a980}'..='\u{a9ff}'           // Javanese, Myanmar Extended-B
        | '\u{aa60}'..='\u{aa7f}'           // Myanmar Extended-A
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' // Arabic presentation forms
        | '\u{10ac0}'..='\u{10aff}'         // Manichaean
        | '\u{10d00}'..='\u{10d3f}'         // Hanifi Rohingya
        | '\u{10f30}'..='\u{10fdf}'         // Sogdian to Chorasmian
        | '\u{11000}'..='\u{1193f}' | '\u{11d00}'..='\u{11daf}' // Brahmi and its kin, Gondi
        | '\u{1e900}'..='\u{1e95f}'); // Adlam
    script
        && matches!(
            c.general_category(),
            GeneralCategory::OtherLetter
                | GeneralCategory::ModifierLetter
                | GeneralCategory::UppercaseLetter
                | GeneralCategory::LowercaseLetter
                | GeneralCategory::NonspacingMark
                | GeneralCategory::SpacingMark
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_point_has_one_role() {
        for c in '\0'..=char::MAX {
            let roles = [
                matches!(c, '\n' | '\t'),
                is_line_break(c),
                is_control(c),
                is_invisible(c),
                is_joiner(c),
                is_selector(c),
            ];
            assert!(roles.iter().filter(|role| **role).count() <= 1, "U+{:04X}", u32::from(c));
            if c.is_control() {
                assert!(roles.contains(&true), "U+{:04X}", u32::from(c));
            }
        }
    }

    #[test]
    fn ordinary_text_is_visible() {
        for c in "aZ0 \u{a0}\u{3000}é€中한กש\u{fffd}\u{fffc}😀👍🏽🇩🇪\u{301}".chars() {
            assert!(!is_invisible(c), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn emoji_are_not_digits_nor_flags() {
        assert!(is_emoji('😀') && is_emoji('❤') && is_emoji('\u{1f3fd}') && is_emoji('©'));
        assert!(!is_emoji('1') && !is_emoji('#') && !is_emoji('🇩') && !is_emoji(VS16) && !is_emoji('a'));
    }
}
