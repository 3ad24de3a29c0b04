//! Secrets that come back: a server that echoes a credential must not hand it to the model.
//!
//! A sent secret is found as it is, its ASCII letters in either case; in base64, standard or URL alphabet, padded or not, wrapped over lines,
//! alone or inside a longer text (`user:secret`); percent-encoded, wholly or in part, in any case, a space
//! also as `+`; escaped as in JSON; as HTML character references; and in these when one was applied upon
//! another. A match in base64 takes the whole base64 text with it, since its ends hold bits of the secret.
//!
//! This is a guard against servers that echo. One that wants the model to see a secret can spell it in ways
//! without end (hexadecimal, backwards); it knows the secret anyway.

mod needle;
mod view;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::json::{Numbers, Profile, read_strict};
use needle::Needle;
use view::{Escapes, MAX_TEXT, View};

/// How many layers of escaping are looked through.
const LAYERS: usize = 2;

/// What may stand for a secret. The first one is used whose ends stand in no secret and that holds none
/// itself, so that no secret can come about at its edges.
const PLACEHOLDERS: &[&str] = &[
    "[credential]",
    "(credential)",
    "{credential}",
    "\u{ab}credential\u{bb}",
    "[removed]",
    "(removed)",
    "\u{2588}",
];

/// Finds secrets in text and puts a placeholder in their place. Its `Debug` prints nothing of them.
///
/// A secret shorter than four bytes is found only as a word of its own (or as a base64 text of its own):
/// inside words it would be everywhere, and every placeholder would betray it. An empty one is passed over.
#[derive(Clone)]
pub struct Redactor {
    needles: Vec<Needle>,
    placeholder: &'static str,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// A redactor for the secrets that were sent, as they went on the wire. Give a Basic `user:password` pair
    /// as well as the password when the password is shorter than four bytes.
    pub fn new<'s>(secrets: impl IntoIterator<Item = &'s [u8]>) -> Self {
        let mut needles: Vec<Needle> = Vec::new();
        for secret in secrets {
            for spelling in spellings(secret) {
                needles.push(Needle::plain(spelling));
            }
            needles.extend(as_json(secret).map(Needle::plain));
            needles.extend(Needle::base64(secret));
        }
        needles.sort_unstable();
        needles.dedup();
        let mut redactor = Self { needles, placeholder: "" };
        let inert = |placeholder: &&&str| {
            let ends = [placeholder.chars().next(), placeholder.chars().next_back()];
            let free = |needle: &Needle| !ends.into_iter().flatten().any(|end| needle.holds(end));
            redactor.needles.iter().all(free) && redactor.find(placeholder).is_empty()
        };
        redactor.placeholder =
            PLACEHOLDERS.iter().find(inert).or(PLACEHOLDERS.last()).copied().unwrap_or_default();
        redactor
    }

    /// Whether a secret stands in the text, in one of the forms.
    pub fn occurs_in(&self, text: &str) -> bool {
        !self.find(text).is_empty()
    }

    /// The text with a placeholder for each secret. Work grows with the text times the secrets.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        // Ranges stand on boundaries of characters, so this is UTF-8; an empty text would be the safe end otherwise.
        Cow::Owned(String::from_utf8(self.replaced(text.as_bytes(), found)).unwrap_or_default())
    }

    /// Bytes that are yet to be decoded, with a placeholder for each secret that stands in them as UTF-8: a wrong label
    /// must not hide one.
    pub fn redact_bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        let found = apart(self.places(bytes));
        if found.is_empty() {
            return Cow::Borrowed(bytes);
        }
        Cow::Owned(self.replaced(bytes, found))
    }

    /// The start of a text that was cut, without what may be the beginning of a secret at its end, in one of the forms.
    /// All of it when no secret was sent. Redact it before: a whole secret is not looked for.
    pub fn without_begun<'t>(&self, text: &'t str) -> &'t str {
        if self.needles.is_empty() {
            return text;
        }
        if text.len() > MAX_TEXT {
            return "";
        }
        let (mut view, mut end) = (View::of(text.as_bytes()), text.len());
        for layer in 0..=LAYERS {
            let begun = self.needles.iter().filter_map(|needle| needle.begun(view.bytes(), Escapes::opens));
            end = begun.map(|start| view.place(start)).fold(end, usize::min);
            if layer == LAYERS {
                break;
            }
            let Some(decoded) = view.decode(Escapes::ALL) else { break };
            view = decoded;
        }
        text.get(..floor_boundary(text, end)).unwrap_or_default()
    }

    fn replaced(&self, bytes: &[u8], found: Vec<Range<usize>>) -> Vec<u8> {
        let mut replaced = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for range in found {
            replaced.extend_from_slice(bytes.get(from..range.start).unwrap_or_default());
            replaced.extend_from_slice(self.placeholder.as_bytes());
            from = range.end;
        }
        replaced.extend_from_slice(bytes.get(from..).unwrap_or_default());
        replaced
    }

    /// The places of all secrets, in order, apart from each other, on character boundaries.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let whole = |range: Range<usize>| floor_boundary(text, range.start)..ceil_boundary(text, range.end);
        apart(self.places(text.as_bytes()).into_iter().map(whole).collect())
    }

    /// The places of all secrets, in no order.
    fn places(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if self.needles.is_empty() {
            return found;
        }
        if bytes.len() > MAX_TEXT {
            found.push(0..bytes.len());
            return found;
        }
        let mut view = View::of(bytes);
        for layer in 0..=LAYERS {
            for needle in &self.needles {
                needle.find(view.bytes(), |range| found.push(view.in_text(&range)));
            }
            if layer == LAYERS {
                break;
            }
            let Some(decoded) = view.decode(Escapes::ALL) else { break };
            view = decoded;
        }
        found
    }
}

/// Ranges in order, those that touch as one.
fn apart(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_unstable_by_key(|range| (range.start, range.end));
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

/// A secret that is a JSON object or array, as an answer of JSON shows it when it comes back as one.
fn as_json(secret: &[u8]) -> Option<Vec<u8>> {
    matches!(secret.first(), Some(b'{' | b'[')).then_some(())?;
    let profile = Profile { max_bytes: secret.len(), max_depth: 32, numbers: Numbers::Any };
    Some(read_strict(secret, profile).ok()?.to_text().into_bytes())
}

/// The byte strings that a view can hold where the text holds the secret: itself; itself with the escapes
/// undone that it happens to hold (a view undoes all kinds at once, the server applied one of them); and
/// those with `+` for the space.
fn spellings(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut spellings = vec![secret.to_vec()];
    for kinds in Escapes::subsets() {
        spellings.extend(View::of(secret).decode(kinds).map(|view| view.bytes().to_vec()));
    }
    let spaced: Vec<_> = spellings.iter().filter(|s| s.contains(&b' ')).cloned().collect();
    let plus = |s: Vec<u8>| s.into_iter().map(|b| if b == b' ' { b'+' } else { b }).collect();
    spellings.extend(spaced.into_iter().map(plus));
    spellings.retain(|s| !s.is_empty());
    spellings.sort_unstable();
    spellings.dedup();
    spellings
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at = at.saturating_sub(1);
    }
    at
}

fn ceil_boundary(text: &str, mut at: usize) -> usize {
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "s3cr3t/\"x+y z";

    fn redacted(text: &str) -> String {
        let redactor = Redactor::new([SECRET.as_bytes()]);
        let out = redactor.redact(text).into_owned();
        assert!(!redactor.occurs_in(&out), "{out}");
        out
    }

    #[test]
    fn each_form_becomes_the_placeholder() {
        for form in [
            "s3cr3t/\"x+y z",
            "s3cr3t%2F%22x%2By%20z",
            "s3cr3t%2f%22x%2By+z",
            "%73%33%63%72%33%74%2F%22%78%2B%79%20%7A",
            "s3cr3t/%22x+y z",
            "s3cr3t\\/\\\"x+y z",
            "\\u00733cr3t/\\\"x\\u002By z",
            "s3cr3t/&quot;x&#43;y&#x20;z",
            "s3cr3t%252F%2522x%252By%2520z",
            "czNjcjN0LyJ4K3kgeg==",
            "czNjcjN0LyJ4K3kgeg",
            "czNjcjN0\r\nLyJ4K3kgeg%3D%3D",
        ] {
            let out = redacted(&format!("key <{form}> is wrong"));
            assert!(
                out == "key <[credential]> is wrong" || out == "key <[credential]%3D%3D> is wrong",
                "{out}"
            );
        }
    }

    #[test]
    fn base64_of_a_longer_text_goes_whole() {
        // "u:", "us:", "user:" before the secret, "!!" behind it: the three alignments
        assert_eq!(redacted("Basic dTpzM2NyM3QvIngreSB6."), "Basic [credential].");
        assert_eq!(redacted("Basic dXM6czNjcjN0LyJ4K3kgeiEh."), "Basic [credential].");
        assert_eq!(redacted("Basic dXNlcjpzM2NyM3QvIngreSB6ISE=."), "Basic [credential].");
    }

    #[test]
    fn both_base64_alphabets_are_known() {
        let redactor = Redactor::new([b"\xfb\xff\xfe?>~~".as_slice()]);
        assert_eq!(redactor.redact("+//+Pz5+fg== -__-Pz5-fg \\/x"), "[credential] [credential] \\/x");
        assert_eq!(redactor.redact("%FB%FF%FE%3f%3E~~"), "[credential]");
        assert_eq!(Redactor::new([b"??>>??".as_slice()]).redact("a Pz8+Pj8\\/ b"), "a [credential] b");
    }

    #[test]
    fn short_secrets_are_words() {
        let redactor = Redactor::new([b"abc".as_slice(), b"7".as_slice(), b"".as_slice()]);
        assert_eq!(
            redactor.redact("abc xabc ab%63! YWJj YWJjZGVm 7 77"),
            "[credential] xabc [credential]! [credential] YWJjZGVm [credential] 77"
        );
    }

    #[test]
    fn folding_the_case_hides_no_secret() {
        let redactor = Redactor::new([b"S3cret-Value".as_slice(), b"KeY".as_slice()]);
        assert_eq!(
            redactor.redact("s3cret-value S3CRET%2dVALUE key keys"),
            "[credential] [credential] [credential] keys"
        );
        assert_eq!(Redactor::new([b"CREDENTIAL".as_slice()]).redact("credential"), "[removed]");
    }

    #[test]
    fn a_wrong_label_hides_no_secret() {
        let redactor = Redactor::new(["p\u{e4}ssword".as_bytes()]);
        assert_eq!(redactor.redact_bytes(b"\xe9 p\xc3\xa4ssword \xff").as_ref(), b"\xe9 [credential] \xff");
        assert!(matches!(redactor.redact_bytes(b"\xe9 p\xe4ssword"), Cow::Borrowed(_)));
    }

    /// However a text is cut inside a secret, in whatever form: nothing of the secret stays, and nothing else goes.
    #[test]
    fn no_beginning_of_a_secret_stays_at_the_end_of_a_cut_text() {
        let redactor = Redactor::new([SECRET.as_bytes()]);
        // Each form with the length of its first character: less than that is nothing of the secret yet.
        for (first, form) in [
            (1, "s3cr3t/\"x+y z"),
            (1, "s3cr3t%2F%22x%2By%20z"),
            (3, "%73%33%63%72%33%74%2F%22%78%2B%79%20%7A"),
            (6, "\\u00733cr3t/\\\"x\\u002By z"),
            (1, "s3cr3t/&quot;x&#43;y&#x20;z"),
            (1, "s3cr3t%252F%2522x%252By%2520z"),
            (5, "%2573%2533%2563r3t"),
            (12, "%26%23x73%3b3cr3t"),
            (1, "S3CR3T/"),
        ] {
            let text = format!("\u{304a}\u{8336} {form}");
            for at in 7 + first..text.len() {
                let cut = text.get(..at).unwrap();
                let redacted = redactor.redact(cut);
                assert_eq!(redactor.without_begun(&redacted), "\u{304a}\u{8336} ", "{cut}");
            }
        }
        for (text, kept) in [
            ("Basic dXM6czNjcjN0LyJ4K", "Basic dXM"),
            ("Basic dXM6czNj\r\ncjN0Ly", "Basic dXM"),
            ("no secret 100% sure", "no secret 100% sure"),
            ("a b % q", "a b % q"),
            ("this", "thi"),
        ] {
            assert_eq!(redactor.without_begun(text), kept);
        }
        assert_eq!(Redactor::new([]).without_begun("s3cr3t/"), "s3cr3t/");
    }

    #[test]
    fn the_placeholder_holds_no_secret() {
        for secret in ["credential", "x[cr", "l]", "(", "[({\u{ab}"] {
            let redactor = Redactor::new([secret.as_bytes()]);
            let out = redactor.redact(&format!("{secret} x{secret}x x {secret}")).into_owned();
            assert!(!redactor.occurs_in(&out), "{secret}: {out}");
        }
    }

    #[test]
    fn text_without_secrets_is_not_copied() {
        assert!(matches!(Redactor::new([b"secret".as_slice()]).redact("a%20b \\n &amp;"), Cow::Borrowed(_)));
        assert!(matches!(Redactor::new([]).redact("x"), Cow::Borrowed(_)));
    }

    #[test]
    fn debug_prints_nothing() {
        assert_eq!(format!("{:?}", Redactor::new([b"hunter2".as_slice()])), "Redactor");
    }
}
