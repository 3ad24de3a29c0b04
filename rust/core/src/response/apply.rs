//! From an answer to the result for the model.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::charset::{Charset, json_text, start};
use super::clean::Wash;
use super::dress::Dresser;
use super::frame::{Content, common_start, frame};
use super::html;
use super::map::{Format, ResponseMap};
use super::mapping::Take;
use super::media::{Kind, MediaType};
use super::node::Node;
use super::received::Received;
use super::select::{Found, Selection};
use crate::error::{Code, Refusal};
use crate::json::{Numbers, Profile, Value, read};
use crate::limits::TrustLimits;
use crate::request::Method;
use crate::text::{ModelTokens, Redactor};

/// What a response map needs to know beside the answer.
#[derive(Clone, Copy)]
pub struct MapContext<'a> {
    /// The full name of the tool, `id.name`.
    pub tool: &'a str,
    /// The method of the request: an answer to HEAD has no body.
    pub method: Method,
    /// The ceilings; `result_chars`, `result_parts`, `json_depth` and `response_decoded_bytes` hold here.
    pub limits: &'a TrustLimits,
    /// The control tokens of the model that will read the result.
    pub tokens: &'a ModelTokens,
    /// The secrets that were sent.
    pub secrets: &'a Redactor,
    /// The most characters of this one result, when the caller has less room than the map allows.
    pub max_chars: Option<usize>,
}

/// The result of a call for the model, and what the host should know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    /// One JSON object, `{"tool", "status", "data" or "text", "omitted"}` in this order, never longer than the
    /// limit in Unicode scalar values. `omitted` is there when something was left out. Where not even the frame
    /// has room, members are missing, down to `{}`.
    pub text: String,
    /// Whether the model should read it as an error: a status outside 2xx, `error.if`, `error.unless`, or an answer
    /// that cannot be read.
    pub is_error: bool,
    /// Whether something was left out: `omitted` is not 0.
    pub truncated: bool,
    /// What was left out. Under `data`: items, members and values that are missing, and texts that were cut short,
    /// by `limit` or for want of room. Under `text`: characters that are known to be missing.
    pub omitted: usize,
    /// The status code.
    pub status: u16,
    /// `response.invalid`, when the answer cannot be read as its map says; nothing else is an error of the core.
    pub refusal: Option<Refusal>,
}

/// The most characters of a mapped error message.
const MAX_MESSAGE_CHARS: usize = 1_000;
/// The most characters of a media type that is shown.
const MAX_TYPE_CHARS: usize = 100;

/// How much of a text is looked at at least, in bytes: cleaning may take much of it away.
const MIN_WINDOW: usize = 256 << 10;
/// How much of a page that is not UTF-8 is looked at at least: scripts may stand before what a person sees.
const MAX_PAGE: usize = 2 << 20;
/// The most JSON values of an answer. Each takes more than the two bytes that it may have on the wire: without this, the
/// cap on decoded bytes would be no bound of memory.
const MAX_VALUES: usize = 200_000;

impl ResponseMap {
    /// The result for the model. Never fails: what cannot be read becomes an error result with the status, since
    /// the request was carried out.
    ///
    /// Work and memory are bounded by the decoded cap of the limits, whatever the map and the answer are.
    pub fn apply(&self, received: &Received, context: &MapContext<'_>) -> Mapped {
        let own = self.mapping.max_chars.unwrap_or(Self::DEFAULT_MAX_CHARS);
        let limit = own.min(context.limits.result_chars).min(context.max_chars.unwrap_or(usize::MAX));
        let wash = Wash::new(context.tokens, context.secrets);
        let dresser = Dresser::new(&wash, limit, context.limits);
        let selection = Selection { dresser, parts: context.limits.result_parts };
        let mut answer = Answer { map: self, received, context, wash: &wash, selection, limit };
        let outcome = answer.outcome();
        let status = received.status;
        let mut refusal = None;
        let (content, is_error) = match outcome {
            Outcome::Success(content) => (content, false),
            Outcome::Error(message) => (answer.error(message), true),
            Outcome::Unreadable(reason) => {
                let content = answer.error(Some(Message { text: reason.clone(), missing: 0 }));
                refusal = Some(Refusal::new(Code::ResponseInvalid, reason));
                (content, true)
            }
        };
        let framed = frame(context.tool, status, content, limit, &wash);
        let (text, omitted) = (framed.text, framed.omitted);
        Mapped { text, is_error, truncated: omitted > 0, omitted, status, refusal }
    }
}

/// How an answer turned out.
enum Outcome {
    Success(Content),
    /// An error of the server, with its mapped message.
    Error(Option<Message>),
    /// Not what the map expects; the reason says nothing of the content.
    Unreadable(String),
}

/// A clean message, and how many of its characters are missing.
struct Message {
    text: String,
    missing: usize,
}

/// One answer under its map.
struct Answer<'a> {
    map: &'a ResponseMap,
    received: &'a Received,
    context: &'a MapContext<'a>,
    wash: &'a Wash<'a>,
    selection: Selection<'a>,
    /// The most characters of the result.
    limit: usize,
}

impl Answer<'_> {
    fn outcome(&mut self) -> Outcome {
        let media = MediaType::of(&self.received.headers);
        let no_body = self.context.method == Method::Head;
        if !(200..300).contains(&self.received.status) {
            let message = if no_body { None } else { self.error_message(media.as_ref()) };
            return Outcome::Error(message);
        }
        if no_body {
            return self.ok();
        }
        if is_empty(&self.received.body) && !self.received.body_cut {
            // `unless` asks for a word of the server, and there is none.
            return if self.map.error.unless.is_some() { Outcome::Error(None) } else { self.ok() };
        }
        match self.reading(media.as_ref()) {
            Kind::Json => match self.json() {
                Ok(body) => self.data(&body),
                Err(reason) => Outcome::Unreadable(reason),
            },
            Kind::Text if self.map.reads_json() => Outcome::Unreadable(self.not_json(media.as_ref())),
            Kind::Text => self.text(media.as_ref()),
            Kind::Other if self.map.error.unless.is_some() => {
                Outcome::Unreadable(self.not_json(media.as_ref()))
            }
            Kind::Other => self.described(media.as_ref()),
        }
    }

    /// How the body of a success is read. Without a media type the map decides, and without a map a look at the
    /// body (RFC 9110 section 8.3 leaves it to the recipient).
    fn reading(&self, media: Option<&MediaType>) -> Kind {
        match (self.map.format, media) {
            (Some(Format::Json), _) => Kind::Json,
            (Some(Format::Text), _) => Kind::Text,
            (None, Some(media)) => media.kind(),
            (None, None) if self.map.reads_json() => Kind::Json,
            (None, None) => {
                let start = self.received.body.trim_ascii_start().first();
                if matches!(start, Some(b'{' | b'[')) && self.json().is_ok() {
                    Kind::Json
                } else if std::str::from_utf8(&self.received.body).is_ok() {
                    Kind::Text
                } else {
                    Kind::Other
                }
            }
        }
    }

    /// The body as JSON, or why not. Strict but for numbers, which are only shown: a doubled member is refused,
    /// since readers disagree about which of the two counts.
    fn json(&self) -> Result<Value, String> {
        let limits = self.context.limits;
        if self.received.body_cut {
            let cap = self.received.body.len();
            return Err(format!("the answer is larger than {cap} bytes, and JSON is not read in part"));
        }
        // Replacement characters are longer than the bytes that they replace.
        let max_bytes = limits.response_decoded_bytes.saturating_mul(3);
        let profile = Profile { max_bytes, max_depth: limits.json_depth, numbers: Numbers::Any };
        let text = json_text(&self.received.body);
        if values(text.as_bytes()) > MAX_VALUES {
            return Err(format!("the answer holds more than {MAX_VALUES} JSON values"));
        }
        let (value, findings) = read(text.as_bytes(), profile);
        match findings.list().iter().find(|finding| finding.is_error()) {
            Some(finding) => Err(format!("the answer is not JSON that can be read ({})", finding.rule.id)),
            None => value.ok_or_else(|| "the answer is not JSON".to_owned()),
        }
    }

    fn data(&mut self, body: &Value) -> Outcome {
        let error = &self.map.error;
        let raised = error.when.as_ref().and_then(|at| at.resolve(body)).is_some_and(says_something);
        let denied = error.unless.as_ref().is_some_and(|at| at.resolve(body) != Some(&Value::Bool(true)));
        if raised || denied {
            return Outcome::Error(self.mapped_message(body));
        }
        match self.selection.mapping(&self.map.mapping, body) {
            Ok(Found::Value(node) | Found::Empty(node)) => Outcome::Success(Content::Data(node)),
            Ok(Found::Missing | Found::Null) => Outcome::Success(Content::Data(Node::literal("null"))),
            Ok(Found::Unshown) => {
                // Only work that no honest map asks for ends here: an empty list that says that something is missing.
                Outcome::Success(Content::Data(Node::list(Vec::new(), Take::First, 1)))
            }
            Err(not_each) => Outcome::Unreadable(not_each.to_string()),
        }
    }

    fn text(&mut self, media: Option<&MediaType>) -> Outcome {
        let charset = media.and_then(MediaType::charset).unwrap_or_default();
        let (html, cut) = (media.is_some_and(MediaType::is_html), self.received.body_cut);
        // Cleaning copies; what can never be shown is not copied.
        let window = self.limit.saturating_mul(4).max(MIN_WINDOW);
        // Bytes of another encoding could hold a secret that no text of them shows as one.
        let body = if charset == Charset::default() {
            Cow::Borrowed(self.received.body.as_slice())
        } else {
            self.wash.redact_bytes(&self.received.body)
        };
        let (mut text, unread) = charset.decode(&body, cut, if html { MAX_PAGE.max(window) } else { window });
        if is_binary(&text) {
            return self.described(media);
        }
        let mut missing = unread;
        if html {
            // Before parts of it go: a secret may hold what looks like markup.
            let redacted = self.wash.redact(&text);
            let (seen, left) = html::seen(&redacted, window);
            missing += left.chars().count();
            text = Cow::Owned(seen);
        }
        let shown = start(&text, window);
        let behind = text.get(shown.len()..).unwrap_or_default();
        if !cut && missing == 0 && behind.is_empty() {
            return Outcome::Success(Content::Text(self.wash.clean(shown, usize::MAX).text, 0));
        }
        let (clean, gone) = self.wash.clean_start(shown);
        missing += gone + behind.chars().count();
        Outcome::Success(Content::Text(clean, missing.max(1)))
    }

    fn ok(&self) -> Outcome {
        Outcome::Success(Content::Text(format!("OK ({})", self.received.status), 0))
    }

    /// `[image/jpeg, 48213 bytes, not shown]`
    fn described(&self, media: Option<&MediaType>) -> Outcome {
        let more = if self.received.body_cut { "more than " } else { "" };
        let (name, size) = (self.type_name(media), self.received.body.len());
        Outcome::Success(Content::Text(format!("[{name}, {more}{size} bytes, not shown]"), 0))
    }

    fn not_json(&self, media: Option<&MediaType>) -> String {
        format!("the answer is {} where the response map expects JSON", self.type_name(media))
    }

    /// The type in lower case; where a secret came back in the field, what the server wrote without it.
    fn type_name(&self, media: Option<&MediaType>) -> String {
        let Some(media) = media else { return "unknown type".to_owned() };
        let written = MediaType::written(&self.received.headers);
        match self.wash.redact(&written) {
            Cow::Owned(redacted) => self.wash.clean(&redacted, MAX_TYPE_CHARS).text,
            Cow::Borrowed(_) => self.wash.clean(media.essence(), MAX_TYPE_CHARS).text,
        }
    }

    /// The mapped message of an answer outside 2xx, when its body is JSON.
    fn error_message(&mut self, media: Option<&MediaType>) -> Option<Message> {
        self.map.error.message.as_ref()?;
        let json =
            self.map.format == Some(Format::Json) || media.is_none_or(|media| media.kind() == Kind::Json);
        let body = json.then(|| self.json().ok()).flatten()?;
        self.mapped_message(&body)
    }

    fn mapped_message(&mut self, body: &Value) -> Option<Message> {
        let reader = self.map.error.message.as_ref()?;
        let Ok(Found::Value(node)) = self.selection.reader(reader, body) else { return None };
        let mut written = String::new();
        let message = node.as_text().unwrap_or_else(|| {
            node.write(&mut written);
            &written
        });
        let whole = self.wash.clean(message.trim(), usize::MAX).text;
        let text = self.wash.clean(&whole, MAX_MESSAGE_CHARS).text;
        let missing = node.omitted() + whole.chars().count() - common_start(&text, &whole);
        (!text.is_empty()).then_some(Message { text, missing })
    }

    /// `Error (404): <message>`
    fn error(&self, message: Option<Message>) -> Content {
        let mut text = format!("Error ({})", self.received.status);
        let Some(message) = message else { return Content::Text(text, 0) };
        let _written = write!(text, ": {}", message.text);
        Content::Text(text, message.missing)
    }
}

/// How many values a JSON text holds at most: one, and one for each `,`, `[` and `{` outside of strings.
fn values(json: &[u8]) -> usize {
    let mut bytes = json.iter();
    let mut count = 1;
    while let Some(byte) = bytes.next() {
        match byte {
            b',' | b'[' | b'{' => count += 1,
            b'"' => {
                while bytes
                    .next()
                    .is_some_and(|byte| *byte != b'"' && (*byte != b'\\' || bytes.next().is_some()))
                {
                }
            }
            _ => {}
        }
    }
    count
}

/// Whether a body is nothing but white space, or a byte order mark.
fn is_empty(body: &[u8]) -> bool {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii().is_empty()
}

/// Whether a value at `error.if` tells of an error: present and not null, false or empty.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// Whether a text is bytes of something else: of its first characters (as many as the MIME Sniffing Standard looks
/// at) several are binary data bytes, and not only a stray one.
fn is_binary(text: &str) -> bool {
    const LOOKED_AT: usize = 1_445;
    let binary = |c: &char| matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1a}' | '\u{1c}'..='\u{1f}');
    let start = text.chars().take(LOOKED_AT);
    let (looked, found) = start.fold((0, 0), |(n, found), c| (n + 1, found + usize::from(binary(&c))));
    found >= 8 && found * 32 > looked
}
