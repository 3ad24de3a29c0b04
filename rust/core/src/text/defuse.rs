//! Markup that would load something when a host renders an answer: it becomes plain text by one space.
//!
//! * `![` becomes `! [`. Every Markdown image begins so, inline, by reference, collapsed or embedded; what is
//!   left is a link, which loads nothing by itself, with its text and address readable.
//! * `<img` becomes `< img`: HTML knows no tag with a space there. This holds for every element whose name
//!   begins like one that loads or runs, for every tag that has an attribute with a value (`style`,
//!   `background`, `on...` and those yet to be invented), and for declarations and processing instructions
//!   (external entities, style sheets). `<b>`, `Vec<String>` and `a < b` stay.

/// Elements that load or run something by their name.
const LOADERS: &[&str] = &[
    "img", "image", "picture", "script", "style", "iframe", "frame", "frameset", "object", "embed", "applet",
    "link", "meta", "base", "svg", "math", "video", "audio", "source", "track", "input", "form", "body",
    "bgsound", "portal", "layer", "ilayer",
];

/// The text without markup that loads, `None` when there is none.
pub(super) fn defuse(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut name_end = Ahead::new(bytes, |b| b.is_ascii_whitespace() || matches!(b, b'/' | b'>'));
    let mut sign = Ahead::new(bytes, |b| matches!(b, b'=' | b'>'));
    let mut defused = String::new();
    let mut from = 0;
    for (at, pair) in bytes.windows(2).enumerate() {
        let fires = match pair {
            b"![" => true,
            [b'<', b'!' | b'?'] => bytes.get(at + 2).is_some_and(u8::is_ascii_alphabetic),
            [b'<', letter] if letter.is_ascii_alphabetic() => {
                let end = name_end.next(at);
                let name = text.get(at + 1..end.unwrap_or(bytes.len())).unwrap_or_default();
                is_loader(name)
                    || end
                        .is_some_and(|end| sign.next(end).is_some_and(|sign| bytes.get(sign) == Some(&b'=')))
            }
            _ => false,
        };
        if fires {
            defused.push_str(text.get(from..=at).unwrap_or_default());
            defused.push(' ');
            from = at + 1;
        }
    }
    if from == 0 {
        return None;
    }
    defused.push_str(text.get(from..).unwrap_or_default());
    Some(defused)
}

/// Whether a tag name begins like one of the loaders: a cut may have torn it, or may be about to make it one.
fn is_loader(name: &str) -> bool {
    LOADERS
        .iter()
        .any(|loader| name.get(..loader.len()).is_some_and(|head| head.eq_ignore_ascii_case(loader)))
}

/// The next byte of a kind at or behind a place, for places that only grow: each byte is read once.
struct Ahead<'a, F> {
    bytes: &'a [u8],
    wanted: F,
    found: Option<usize>,
    read_to: usize,
}

impl<'a, F: Fn(u8) -> bool> Ahead<'a, F> {
    fn new(bytes: &'a [u8], wanted: F) -> Self {
        Self { bytes, wanted, found: None, read_to: 0 }
    }

    fn next(&mut self, place: usize) -> Option<usize> {
        if self.found.is_some_and(|found| found >= place) {
            return self.found;
        }
        let from = self.read_to.max(place);
        let rest = self.bytes.get(from..).unwrap_or_default();
        self.found = rest.iter().position(|b| (self.wanted)(*b)).map(|offset| from + offset);
        self.read_to = self.found.map_or(self.bytes.len(), |found| found + 1);
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(text: &str, expected: &str) {
        let out = defuse(text).unwrap_or_else(|| text.to_owned());
        assert_eq!(out, expected);
        assert_eq!(defuse(&out), None);
    }

    #[test]
    fn images_become_links() {
        becomes("![a](http://e.example/?q=1)", "! [a](http://e.example/?q=1)");
        becomes(
            "![a][b] ![c] [![d](e)](f) ![[g]] !![h](i)",
            "! [a][b] ! [c] [! [d](e)](f) ! [[g]] !! [h](i)",
        );
        becomes("wow! [a](b)", "wow! [a](b)");
    }

    #[test]
    fn tags_that_load_become_text() {
        becomes("<img src=x onerror=alert(1)>", "< img src=x onerror=alert(1)>");
        becomes("<IMG/SRC=x><Script>x</script><svg><style", "< IMG/SRC=x>< Script>x</script>< svg>< style");
        becomes("<img\"\"src=x> <images>", "< img\"\"src=x> < images>");
        becomes("<div style='background:url(x)'>a</div>", "< div style='background:url(x)'>a</div>");
        becomes("<a href=\"https://x.example\">x</a>", "< a href=\"https://x.example\">x</a>");
        becomes("<p\n\">\" title=x><p \"=\">\">", "<p\n\">\" title=x>< p \"=\">\">");
        becomes(
            "<!DOCTYPE a><?xml-stylesheet href=x?><!-- c -->",
            "< !DOCTYPE a>< ?xml-stylesheet href=x?><!-- c -->",
        );
        becomes("<<script>", "<< script>");
        becomes("<sc<script>ript>", "<sc< script>ript>");
    }

    #[test]
    fn text_that_loads_nothing_stays() {
        for text in [
            "<b>x</b> <br/> <li class>",
            "Vec<String>, Map<K, Vec<V>>",
            "a<b and c>d",
            "x <- y",
            "<https://x.example/a>",
        ] {
            becomes(text, text);
        }
    }

    #[test]
    fn each_byte_is_read_once_however_many_tags_are_open() {
        let read = std::cell::Cell::new(0_usize);
        let text = "<a ".repeat(10_000);
        let mut ahead = Ahead::new(text.as_bytes(), |b| {
            read.set(read.get() + 1);
            b == b'='
        });
        for place in (0..text.len()).step_by(3) {
            assert_eq!(ahead.next(place), None);
        }
        assert_eq!(read.get(), text.len());
    }
}
