//! Media types: read as the MIME Sniffing Standard parses them, taken from an answer as the Fetch Standard does.

use std::fmt;

use rustc_hash::FxHashSet;

use super::charset::Charset;

/// A media type (MIME type record of the MIME Sniffing Standard, section 4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaType {
    /// `type/subtype` in lower case.
    essence: String,
    /// Names in lower case, each once, in order.
    parameters: Vec<(String, String)>,
}

/// What a body of some media type is to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// JSON: `application/json`, `text/json`, and every `+json`.
    Json,
    /// Text: the other `text/*`, XML, YAML, lines of JSON, scripts.
    Text,
    /// Anything else: described, not shown.
    Other,
}

impl MediaType {
    /// Parses one media type (section 4.4).
    pub fn parse(input: &str) -> Option<Self> {
        let input = input.trim_matches(is_space);
        let (main, rest) = input.split_once('/')?;
        let (sub, rest) = rest.split_once(';').map_or((rest, None), |(sub, rest)| (sub, Some(rest)));
        let sub = sub.trim_end_matches(is_space);
        if !is_token(main) || !is_token(sub) {
            return None;
        }
        let essence = format!("{main}/{sub}").to_ascii_lowercase();
        Some(Self { essence, parameters: rest.map(parameters).unwrap_or_default() })
    }

    /// The media type of an answer ("extract a MIME type" of the Fetch Standard): of several `Content-Type` values
    /// the last that is one, with the charset of earlier ones of the same essence. Nothing when there is none.
    ///
    /// Field names are in lower case, as the transport gives them.
    pub fn of(headers: &[(String, Vec<u8>)]) -> Option<Self> {
        let written = Self::written(headers);
        let mut found: Option<Self> = None;
        let mut charset: Option<String> = None;
        for value in split(&written) {
            let Some(mut media) = Self::parse(value).filter(|media| media.essence != "*/*") else { continue };
            let own = media.parameter("charset").map(str::to_owned);
            let another = found.as_ref().is_none_or(|found| found.essence != media.essence);
            if another || own.is_some() {
                charset = own;
            } else if let Some(charset) = &charset {
                media.parameters.push(("charset".to_owned(), charset.clone()));
            }
            found = Some(media);
        }
        found
    }

    /// All `Content-Type` values of an answer as they were written.
    pub(super) fn written(headers: &[(String, Vec<u8>)]) -> String {
        let fields = headers.iter().filter(|(name, _)| name == "content-type");
        let fields: Vec<String> =
            fields.map(|(_, value)| value.iter().map(|byte| char::from(*byte)).collect()).collect();
        fields.join(", ")
    }

    /// `type/subtype` in lower case, without parameters.
    pub fn essence(&self) -> &str {
        &self.essence
    }

    /// The value of a parameter; the name is in lower case.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The encoding that the charset parameter names, if there is one and it is known.
    pub fn charset(&self) -> Option<Charset> {
        self.parameter("charset").and_then(Charset::for_label)
    }

    /// What a body of this type is to the model.
    pub fn kind(&self) -> Kind {
        const TEXTS: [&str; 10] = [
            "application/xml",
            "application/yaml",
            "application/x-yaml",
            "application/toml",
            "application/x-ndjson",
            "application/ndjson",
            "application/jsonl",
            "application/json-seq",
            "application/javascript",
            "application/sql",
        ];
        let essence = self.essence.as_str();
        let is_application = essence.starts_with("application/");
        if essence == "application/json" || essence == "text/json" || essence.ends_with("+json") {
            Kind::Json
        } else if essence.starts_with("text/")
            || TEXTS.contains(&essence)
            || (is_application && (essence.ends_with("+xml") || essence.ends_with("+yaml")))
        {
            Kind::Text
        } else {
            Kind::Other
        }
    }

    /// Whether a body of this type is HTML.
    pub(super) fn is_html(&self) -> bool {
        matches!(self.essence.as_str(), "text/html" | "application/xhtml+xml")
    }
}

/// Serialises (section 4.5).
impl fmt::Display for MediaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.essence)?;
        for (name, value) in &self.parameters {
            if is_token(value) {
                write!(f, ";{name}={value}")?;
            } else {
                let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
                write!(f, ";{name}=\"{quoted}\"")?;
            }
        }
        Ok(())
    }
}

/// The parameters behind the first `;`. Those that are none are passed over, of two of one name the first counts.
fn parameters(mut rest: &str) -> Vec<(String, String)> {
    let (mut parameters, mut names) = (Vec::new(), FxHashSet::default());
    loop {
        rest = rest.trim_start_matches(is_space);
        let end = rest.find([';', '=']).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let mut behind = behind.chars();
        let value = match behind.next() {
            None => return parameters,
            Some(';') => {
                rest = behind.as_str();
                continue;
            }
            Some(_) if behind.as_str().is_empty() => return parameters,
            Some(_) if behind.as_str().starts_with('"') => {
                let (value, behind) = quoted(behind.as_str());
                rest = behind.split_once(';').map_or("", |(_, rest)| rest);
                Some(value)
            }
            Some(_) => {
                let (value, behind) = behind.as_str().split_once(';').unwrap_or((behind.as_str(), ""));
                rest = behind;
                let value = value.trim_end_matches(is_space);
                (!value.is_empty()).then(|| value.to_owned())
            }
        };
        let name = name.to_ascii_lowercase();
        if let Some(value) = value
            && is_token(&name)
            && value.chars().all(is_quotable)
            && names.insert(name.clone())
        {
            parameters.push((name, value));
        }
        if rest.is_empty() {
            return parameters;
        }
    }
}

/// The value of a quoted string and what stands behind it ("collect an HTTP quoted string"). `text` starts with `"`.
fn quoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut rest = text.chars();
    rest.next();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => value.push(rest.next().unwrap_or('\\')),
            _ => value.push(c),
        }
    }
    (value, rest.as_str())
}

/// The parts between commas that stand in no quoted string, without the blanks around them ("get, decode, and
/// split").
fn split(values: &str) -> Vec<&str> {
    let (mut parts, mut start, mut in_quotes, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in values.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_quotes => escaped = true,
            '"' => in_quotes = !in_quotes,
            ',' if !in_quotes => {
                parts.push(values.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(values.get(start..).unwrap_or_default());
    parts.into_iter().map(|part| part.trim_matches([' ', '\t'])).collect()
}

/// HTTP whitespace.
fn is_space(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t' | ' ')
}

/// Whether a text is one or more HTTP token code points.
fn is_token(text: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(token)
}

/// An HTTP quoted-string token code point.
fn is_quotable(c: char) -> bool {
    matches!(c, '\t' | ' '..='~' | '\u{80}'..='\u{ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_the_essence() {
        for (text, kind) in [
            ("application/json; charset=utf-8", Kind::Json),
            ("Application/Problem+JSON", Kind::Json),
            ("text/json", Kind::Json),
            ("text/html", Kind::Text),
            ("text/event-stream", Kind::Text),
            ("application/atom+xml", Kind::Text),
            ("image/svg+xml", Kind::Other),
            ("application/octet-stream", Kind::Other),
            ("multipart/mixed; boundary=x", Kind::Other),
            ("application/jsonp", Kind::Other),
        ] {
            assert_eq!(MediaType::parse(text).unwrap().kind(), kind, "{text}");
        }
    }

    #[test]
    fn a_comma_in_quotes_does_not_split() {
        assert_eq!(split("a;x=\"b,c\\\",d\", e ,"), ["a;x=\"b,c\\\",d\"", "e", ""]);
    }

    #[test]
    fn parameters_without_end_are_read_in_one_walk() {
        let text = format!("a/b{}", ";x=\"".repeat(50_000));
        assert_eq!(MediaType::parse(&text).unwrap().parameters.len(), 1);
        let many: Vec<_> = (0..50_000).map(|at| format!("p{at}=1")).collect();
        let many = format!("a/b;{}", many.join(";"));
        assert_eq!(MediaType::parse(&many).unwrap().parameters.len(), 50_000);
    }
}
