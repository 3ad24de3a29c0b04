//! The strict reader: RFC 8259 and nothing beside it, within limits that hold while reading.

use smol_str::SmolStr;

use super::number::{self, Number};
use super::pointer::Path;
use super::value::{Object, Value};
use crate::error::{Code, Refusal};
use crate::rule::{At, Findings, Rule};
use crate::rules;

rules! {
    JSON_TOO_LARGE: Error "json.too_large", "A document holds to its size limit.",
        "A manifest is at most 1 MiB: shorten descriptions or split the connector.";
    JSON_ENCODING: Error "json.encoding", "A document is UTF-8.", "Save the file as UTF-8 without a byte order mark.";
    JSON_BOM: Error "json.bom", "A document has no byte order mark.", "Save the file as UTF-8 without a byte order mark.";
    JSON_SYNTAX: Error "json.syntax", "A document is JSON as RFC 8259 defines it.",
        "No comments, trailing commas, single quotes, unescaped controls or half surrogate pairs.";
    JSON_TOO_DEEP: Error "json.too_deep", "A document nests no deeper than its limit.", "At most 32 levels of arrays and objects.";
    JSON_DUPLICATE: Error "json.duplicate_member", "A member name stands once in its object.",
        "Remove one of the two members; readers disagree about which of them counts.";
    JSON_NUMBER_INEXACT: Error "json.number_inexact", "A number keeps its value as a double (RFC 8785), and is not -0.",
        "Write the number that is meant, or a string: two different files must not share a hash.";
}

/// What may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// The most bytes of the document.
    pub max_bytes: usize,
    /// The deepest nesting of arrays and objects, a scalar being 0; more than 128 is read as 128.
    pub max_depth: usize,
    /// Which numbers are taken.
    pub numbers: Numbers,
}

/// Which numbers a document may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Only those that keep their value through RFC 8785: what is hashed or sent.
    Exact,
    /// All of RFC 8259: what is only shown.
    Any,
}

/// The reader recurses once a level; a host cannot set a limit that would overflow a phone's thread.
const DEPTH_CEILING: usize = 128;

/// Reads one document. The value is there unless the text is no JSON or over a limit; doubled members and
/// inexact numbers are findings beside it (of two members the first counts), so that a report can go on.
pub fn read(bytes: &[u8], profile: Profile) -> (Option<Value>, Findings) {
    let mut findings = Findings::new();
    if bytes.len() > profile.max_bytes {
        let limit = profile.max_bytes;
        findings.add(
            &JSON_TOO_LARGE,
            &Path::Root,
            format_args!("the document is over the limit of {limit} bytes"),
        );
        return (None, findings);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = At::Offset(error.valid_up_to());
            findings.add_at(
                &JSON_ENCODING,
                &Path::Root,
                at,
                format_args!("the document is not valid UTF-8 here"),
            );
            return (None, findings);
        }
    };
    if text.starts_with('\u{feff}') {
        let at = At::Offset(0);
        findings.add_at(
            &JSON_BOM,
            &Path::Root,
            at,
            format_args!("the document starts with a byte order mark"),
        );
        return (None, findings);
    }
    let max_depth = profile.max_depth.min(DEPTH_CEILING);
    let mut reader = Reader { text, bytes, at: 0, max_depth, numbers: profile.numbers, findings };
    let value = reader.document();
    let mut findings = reader.findings;
    match value {
        Ok(value) => (Some(value), findings),
        Err(Fault { rule, at, pointer, message }) => {
            findings.add_at(
                rule,
                &Path::Tail(&Path::Root, &pointer),
                At::Offset(at),
                format_args!("{message}"),
            );
            (None, findings)
        }
    }
}

/// Reads one document, or refuses it with all findings (`json.invalid`).
pub fn read_strict(bytes: &[u8], profile: Profile) -> Result<Value, Refusal> {
    match read(bytes, profile) {
        (Some(value), findings) if !findings.has_errors() => Ok(value),
        (_, findings) => {
            let reason = findings.list().first().map_or_else(String::new, |finding| finding.message.clone());
            Err(Refusal::new(Code::JsonInvalid, reason).with_findings(findings.into_list()))
        }
    }
}

struct Fault {
    rule: &'static Rule,
    at: usize,
    pointer: String,
    message: &'static str,
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    max_depth: usize,
    numbers: Numbers,
    findings: Findings,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Value, Fault> {
        self.space();
        let value = self.value(&Path::Root, 0)?;
        self.space();
        if self.at < self.bytes.len() {
            return Err(self.fault(&Path::Root, "expected the end of the document"));
        }
        Ok(value)
    }

    fn value(&mut self, path: &Path<'_>, depth: usize) -> Result<Value, Fault> {
        match self.peek() {
            Some(b'{') => self.object(path, depth + 1),
            Some(b'[') => self.array(path, depth + 1),
            Some(b'"') => self.string(path).map(Value::String),
            Some(b't') => self.word("true", path, Value::Bool(true)),
            Some(b'f') => self.word("false", path, Value::Bool(false)),
            Some(b'n') => self.word("null", path, Value::Null),
            Some(b'-' | b'0'..=b'9') => self.number(path),
            Some(_) => Err(self.fault(path, "expected a JSON value")),
            None => Err(self.fault(path, "the document ends where a JSON value is expected")),
        }
    }

    fn object(&mut self, path: &Path<'_>, depth: usize) -> Result<Value, Fault> {
        self.enter(path, depth)?;
        let mut object = Object::new();
        if self.eat(b'}') {
            return Ok(Value::Object(object));
        }
        loop {
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.fault(path, "expected a member name in double quotes"));
            }
            let name = self.string(path)?;
            self.space();
            if !self.eat(b':') {
                return Err(self.fault(path, "expected `:` after a member name"));
            }
            let value = self.value(&path.name(&name), depth)?;
            if let Err((name, _)) = object.add(name, value) {
                let message = format_args!("the member {} stands twice", Quoted(&name));
                self.findings.add_at(&JSON_DUPLICATE, &path.name(&name), At::Offset(start), message);
            }
            self.space();
            if self.eat(b'}') {
                return Ok(Value::Object(object));
            }
            if !self.eat(b',') {
                return Err(self.fault(path, "expected `,` or `}` after a member"));
            }
        }
    }

    fn array(&mut self, path: &Path<'_>, depth: usize) -> Result<Value, Fault> {
        self.enter(path, depth)?;
        let mut items = Vec::new();
        if self.eat(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(&path.index(items.len()), depth)?);
            self.space();
            if self.eat(b']') {
                return Ok(Value::Array(items));
            }
            if !self.eat(b',') {
                return Err(self.fault(path, "expected `,` or `]` after an item"));
            }
        }
    }

    fn enter(&mut self, path: &Path<'_>, depth: usize) -> Result<(), Fault> {
        if depth > self.max_depth {
            let message = "the document nests deeper than the limit";
            return Err(Fault { rule: &JSON_TOO_DEEP, at: self.at, pointer: path.to_string(), message });
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    fn number(&mut self, path: &Path<'_>) -> Result<Value, Fault> {
        let start = self.at;
        let Some(length) = number::scan(self.bytes.get(start..).unwrap_or_default()) else {
            return Err(self.fault(path, "this is not a number of JSON"));
        };
        self.at += length;
        let number = Number::checked(self.text.get(start..self.at).unwrap_or_default());
        if self.numbers == Numbers::Exact && !number.keeps_its_value() {
            let message = format_args!("the number does not keep its value as a double");
            self.findings.add_at(&JSON_NUMBER_INEXACT, path, At::Offset(start), message);
        }
        Ok(Value::Number(number))
    }

    fn string(&mut self, path: &Path<'_>) -> Result<SmolStr, Fault> {
        self.at += 1;
        let start = self.at;
        self.plain();
        if self.peek() == Some(b'"') {
            let text = SmolStr::new(self.text.get(start..self.at).unwrap_or_default());
            self.at += 1;
            return Ok(text);
        }
        let mut out = String::from(self.text.get(start..self.at).unwrap_or_default());
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(SmolStr::new(out));
                }
                Some(b'\\') => out.push(self.escape(path)?),
                Some(_) => return Err(self.fault(path, "a control character in a string must be escaped")),
                None => return Err(self.fault(path, "the document ends inside a string")),
            }
            let start = self.at;
            self.plain();
            out.push_str(self.text.get(start..self.at).unwrap_or_default());
        }
    }

    /// Over everything that stands for itself in a string.
    fn plain(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)).unwrap_or(rest.len());
    }

    fn escape(&mut self, path: &Path<'_>) -> Result<char, Fault> {
        let escaped = match self.bytes.get(self.at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(path),
            _ => return Err(self.fault(path, "this escape is not one of JSON")),
        };
        self.at += 2;
        Ok(escaped)
    }

    fn unicode(&mut self, path: &Path<'_>) -> Result<char, Fault> {
        let unit = |at: usize| -> Option<u32> {
            let digits =
                self.bytes.get(at + 2..at + 6).filter(|_| self.bytes.get(at..at + 2) == Some(b"\\u"))?;
            digits.iter().try_fold(0, |sum, digit| Some(sum << 4 | char::from(*digit).to_digit(16)?))
        };
        let Some(first) = unit(self.at) else {
            return Err(self.fault(path, "expected four hexadecimal digits after `\\u`"));
        };
        let (scalar, length) = match (first, unit(self.at + 6)) {
            (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) => {
                (0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00), 12)
            }
            _ => (first, 6),
        };
        let Some(scalar) = char::from_u32(scalar) else {
            return Err(self.fault(path, "half a surrogate pair is not a character"));
        };
        self.at += length;
        Ok(scalar)
    }

    fn word(&mut self, word: &'static str, path: &Path<'_>, value: Value) -> Result<Value, Fault> {
        if !self.bytes.get(self.at..).unwrap_or_default().starts_with(word.as_bytes()) {
            return Err(self.fault(path, "expected a JSON value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Takes one structural byte and the white space behind it.
    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        if there {
            self.at += 1;
            if !matches!(byte, b'}' | b']') {
                self.space();
            }
        }
        there
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn fault(&self, path: &Path<'_>, message: &'static str) -> Fault {
        Fault { rule: &JSON_SYNTAX, at: self.at, pointer: path.to_string(), message }
    }
}

/// A name in a message: as a JSON string, cut after 64 characters.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl std::fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 64;
        let mut out = String::new();
        let shown: String = self.0.chars().take(SHOWN).collect();
        super::string::write_string(&shown, &mut out);
        f.write_str(&out)?;
        if shown.len() < self.0.len() { f.write_str("...") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILE: Profile = Profile { max_bytes: 1 << 20, max_depth: 32, numbers: Numbers::Exact };

    fn ids(text: &str) -> Vec<&'static str> {
        read(text.as_bytes(), PROFILE).1.list().iter().map(|finding| finding.rule.id).collect()
    }

    #[test]
    fn a_document_reads_back_as_it_was_written() {
        let text = r#"{"a":[1,2.50,-3e2,true,false,null],"b":{"é\n😀":"\u0001"}}"#;
        assert_eq!(read_strict(text.as_bytes(), PROFILE).unwrap().to_text(), text);
        let escaped = read_strict(br#""\u00e9\ud83d\ude00\/\"""#, PROFILE).unwrap();
        assert_eq!(escaped.as_str(), Some("é😀/\""));
    }

    #[test]
    fn every_doubled_member_and_inexact_number_is_found() {
        let text = r#"{"a": 1, "b": {"c": 1, "c": -0}, "a": 9007199254740993}"#;
        let (value, findings) = read(text.as_bytes(), PROFILE);
        let found: Vec<_> = findings.list().iter().map(|f| (f.rule.id, f.pointer.as_str(), f.at)).collect();
        assert_eq!(
            found,
            [
                ("json.number_inexact", "/b/c", At::Offset(28)),
                ("json.duplicate_member", "/b/c", At::Offset(23)),
                ("json.number_inexact", "/a", At::Offset(38)),
                ("json.duplicate_member", "/a", At::Offset(33)),
            ]
        );
        assert_eq!(value.unwrap().get("a"), Some(&Value::from(1i64)));
    }

    #[test]
    fn what_is_not_json_is_refused_where_it_stands() {
        for text in [
            "",
            " ",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{'a':1}",
            "[1 2]",
            "nul",
            "\"\t\"",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"",
            "1 2",
            "// x\n1",
            "{\"a\"}",
            "\u{a0}1",
        ] {
            assert_eq!(ids(text), ["json.syntax"], "{text:?}");
        }
        assert_eq!(ids("\u{feff}1"), ["json.bom"]);
        assert_eq!(read(b"\"\xff\"", PROFILE).1.list().first().map(|f| f.at), Some(At::Offset(1)));
    }

    #[test]
    fn limits_hold() {
        let nested = |depth: usize| format!("{}0{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(ids(&nested(32)), Vec::<&str>::new());
        assert_eq!(ids(&nested(33)), ["json.too_deep"]);
        assert_eq!(ids(&"[".repeat(1_000_000)), ["json.too_deep"]);
        let loose = Profile { max_depth: usize::MAX, max_bytes: usize::MAX, ..PROFILE };
        assert!(read("[".repeat(5_000_000).as_bytes(), loose).1.has_errors());
        assert_eq!(ids(&format!("\"{}\"", "x".repeat(1 << 20))), ["json.too_large"]);
    }

    #[test]
    fn a_report_is_never_larger_than_its_bound() {
        let name = "n".repeat(400_000);
        let text = format!("{{\"{name}\":{{\"a\":0{}}}}}", ",\"a\":0".repeat(90_000));
        let (_, findings) = read(text.as_bytes(), PROFILE);
        assert!(findings.list().len() < 5);
        assert_eq!(findings.errors(), 90_000);
    }
}
