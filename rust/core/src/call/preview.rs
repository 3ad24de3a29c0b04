//! What a person is shown before a call leaves: exactly what goes on the wire, secrets apart.

use std::borrow::Cow;

use smol_str::SmolStr;

use crate::json::{Object, Value, write_string};
use crate::manifest::Effect;
use crate::request::Method;
use crate::text::escape_display;

/// One header field of a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewHeader {
    /// The name.
    pub name: SmolStr,
    /// The value, a credential as `<credential NAME>`.
    pub value: Cow<'static, str>,
    /// Whether the transport fixes it.
    pub fixed: bool,
    /// Whether a credential stands in the value; in any other `<credential NAME>` is text of the call.
    pub credential: bool,
}

/// The request of a plan, for a person. It holds argument values: show it, do not log it.
#[derive(Clone, PartialEq, Eq)]
pub struct Preview {
    /// The full name of the tool.
    pub tool: SmolStr,
    /// What the manifest says that the call does.
    pub effect: Effect,
    /// The connector's id.
    pub connector: SmolStr,
    /// Where the connector came from, as the host says.
    pub source: SmolStr,
    /// The origin in ASCII.
    pub origin: SmolStr,
    /// The method.
    pub method: Method,
    /// The whole URL in ASCII.
    pub url: String,
    /// All header fields in the order of the wire.
    pub headers: Vec<PreviewHeader>,
    /// The body, when one is sent. A credential stands in it as `<credential NAME>` outside of quotes (JSON) or
    /// unencoded (form), where no argument can.
    pub body: Option<String>,
    /// Whether a credential stands in the body.
    pub body_credential: bool,
    /// The connector's title.
    pub title: SmolStr,
}

impl Preview {
    /// Everything as lines of text for a person, with invisible and bidi characters escaped; id and source before
    /// the title.
    pub fn display(&self) -> String {
        let Self {
            tool, effect, connector, source, title, method, url, headers, body, body_credential, ..
        } = self;
        let mut lines = vec![
            format!("{connector} from {source} ({title})"),
            format!("{tool}, {}", effect.as_str()),
            format!("{} {url}", method.as_str()),
        ];
        // Line by line: a line break inside a value is shown as an escape and forges no line.
        for line in &mut lines {
            *line = escape_display(line);
        }
        for PreviewHeader { name, value, credential, .. } in headers {
            let value = if *credential { escape_display(value) } else { without_placeholders(value, false) };
            lines.push(format!("{}: {value}", escape_display(name)));
        }
        let body = body.iter().map(|body| without_placeholders(body, *body_credential));
        lines.extend(body.flat_map(|body| [String::new(), body]));
        lines.join("\n")
    }

    /// The preview as JSON, in the shape of the RPC page.
    pub fn to_value(&self) -> Value {
        let header = |header: &PreviewHeader| {
            let credential = header.credential.then(|| ("credential", true.into()));
            let members = [
                ("name", header.name.as_str().into()),
                ("value", (&*header.value).into()),
                ("fixed", header.fixed.into()),
            ];
            Value::Object(members.into_iter().chain(credential).collect())
        };
        let members: Object = [
            ("tool", self.tool.as_str().into()),
            ("effect", self.effect.as_str().into()),
            ("connector", self.connector.as_str().into()),
            ("source", self.source.as_str().into()),
            ("origin", self.origin.as_str().into()),
            ("method", self.method.as_str().into()),
            ("url", self.url.as_str().into()),
            ("headers", Value::Array(self.headers.iter().map(header).collect())),
            ("body", self.body.as_deref().map_or(Value::Null, Value::from)),
            ("display", self.display().into()),
        ]
        .into_iter()
        .collect();
        Value::Object(members)
    }
}

impl Preview {
    /// Appends the RFC 8785 text of what the digest covers: every member but the display form, which is made of them.
    pub(super) fn write_canonical(&self, out: &mut String) {
        out.push_str("{\"body\":");
        match &self.body {
            Some(body) => write_string(body, out),
            None => out.push_str("null"),
        }
        write_member("connector", &self.connector, out);
        write_member("effect", self.effect.as_str(), out);
        out.push_str(",\"headers\":[");
        for (index, PreviewHeader { name, value, fixed, credential }) in self.headers.iter().enumerate() {
            out.push_str(if index > 0 { ",{" } else { "{" });
            out.push_str(if *credential { "\"credential\":true," } else { "" });
            out.push_str("\"fixed\":");
            out.push_str(if *fixed { "true" } else { "false" });
            write_member("name", name, out);
            write_member("value", value, out);
            out.push('}');
        }
        out.push(']');
        write_member("method", self.method.as_str(), out);
        write_member("origin", &self.origin, out);
        write_member("source", &self.source, out);
        write_member("title", &self.title, out);
        write_member("tool", &self.tool, out);
        write_member("url", &self.url, out);
        out.push('}');
    }
}

/// The display form of a text in which nothing looks like a credential that is none: its `<` is shown as an escape.
/// With `outside`, what stands outside of JSON strings is one.
fn without_placeholders(text: &str, outside: bool) -> String {
    let (mut shown, mut from) = (String::new(), 0);
    let (mut quoted, mut escaped) = (!outside, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if outside => escaped = quoted,
            '"' if outside => quoted = !quoted,
            '<' if quoted && text.get(at..).is_some_and(|rest| rest.starts_with(PLACEHOLDER_START)) => {
                shown.push_str(&escape_display(text.get(from..at).unwrap_or_default()));
                shown.push_str("\\u{3c}");
                from = at + 1;
            }
            _ => {}
        }
    }
    shown.push_str(&escape_display(text.get(from..).unwrap_or_default()));
    shown
}

/// How each placeholder of a credential starts.
const PLACEHOLDER_START: &str = "<credential";

/// `,"name":"value"`, for a name that needs no escape.
pub(super) fn write_member(name: &str, value: &str, out: &mut String) {
    out.push_str(",\"");
    out.push_str(name);
    out.push_str("\":");
    write_string(value, out);
}

impl std::fmt::Debug for Preview {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Preview").field("tool", &self.tool).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{canonical, read_text};

    #[test]
    fn the_text_under_the_digest_is_the_canonical_form_of_the_preview() {
        let header = |name: &str, fixed| PreviewHeader {
            name: name.into(),
            value: "a \"b\"".into(),
            fixed,
            credential: name == "Authorization",
        };
        let mut preview = Preview {
            tool: "notes.add".into(),
            effect: Effect::Write,
            connector: "notes".into(),
            source: "file:\u{1}".into(),
            origin: "https://notes.example".into(),
            method: Method::Post,
            url: "https://notes.example/v1".into(),
            headers: vec![header("Host", true), header("Accept", false), header("Authorization", false)],
            body: Some("{\"a\":\"\u{202e}\\n\"}\n".into()),
            body_credential: false,
            title: "Notes".into(),
        };
        for body in [true, false] {
            if !body {
                preview.body = None;
            }
            let mut text = String::new();
            preview.write_canonical(&mut text);
            let value = read_text(&text).unwrap();
            assert_eq!(canonical(&value).as_deref(), Some(text.as_str()));
            assert_eq!(value.get("url").and_then(Value::as_str), Some("https://notes.example/v1"));
        }
        assert!(preview.display().contains("notes from file:\\u{1} (Notes)"));
    }

    #[test]
    fn nothing_that_looks_like_a_credential_is_shown_as_one() {
        assert_eq!(without_placeholders("a <credential k> \\ <b>", false), "a \\u{3c}credential k> \\ <b>");
        let body = r#"{"t":<credential k>,"p":"<credential k> \" <credential k>"}"#;
        let shown = without_placeholders(body, true);
        assert!(shown.starts_with(r#"{"t":<credential k>,"p":"\u{3c}credential k> "#), "{shown}");
        assert_eq!(shown.matches("<credential").count(), 1, "{shown}");
        assert_eq!(
            without_placeholders("t=<credential k>&p=%3Ccredential", true),
            "t=<credential k>&p=%3Ccredential"
        );
    }
}
