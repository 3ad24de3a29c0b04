//! Putting checked values into the slots: the URL, the headers and the body of one call.

use std::borrow::Cow;

use smol_str::SmolStr;
use url::{Position as UrlPosition, Url, form_urlencoded};

use super::body::{Body, FormValue, Json};
use super::built::{Built, BuiltBody, BuiltHeader, CredentialUse, FormPart, HeaderPart, Node};
use super::encode::{Pair, PairValue, append_query};
use super::header::HeaderValue;
use super::header_value::check_header_value;
use super::path::{Part, Segment};
use super::path_value::{SegmentPart, joined_segment};
use super::place::{Placed, place};
use super::query::QueryValue;
use super::settings::Settings;
use super::slot::{Fill, Position, Slot, Source};
use super::template::Request;
use super::value::ValueFault;
use crate::error::{Code, Refusal};
use crate::json::{Object, Value};
use crate::limits::TrustLimits;
use crate::origin::BoundOrigin;

/// Bytes that all headers of a manifest may have together; servers take no more.
pub(super) const MAX_HEADER_BYTES: usize = 64 << 10;

impl Request {
    /// Builds the request of one call.
    ///
    /// `arguments` were accepted by the schema of the tool, `settings` were checked at install time, and
    /// `idempotency_key` is the UUID of the plan where [`Request::idempotency`] asks for one. Secrets stay
    /// placeholders until [`Built::render`].
    ///
    /// The finished URL is parsed again and held against the template. Refuses with `request.value` what
    /// cannot stand in its slot and with `request.too_large` what is over a limit; a refusal names the
    /// argument or setting, never its value.
    pub fn build(
        &self,
        origin: &BoundOrigin,
        settings: &Settings,
        arguments: &Object,
        idempotency_key: Option<&str>,
        limits: &TrustLimits,
    ) -> Result<Built, Refusal> {
        let filler = Filler { settings, arguments, limits };
        let path = filler.path(self, origin)?;
        let pairs = filler.query(self, path.text.len())?;
        let url = finish_url(origin, path.text, path.segments, &pairs)?;
        if url.as_str().len() > limits.url_bytes {
            return Err(filler.too_large("URL", limits.url_bytes));
        }
        let headers = filler.headers(self, idempotency_key)?;
        let body = self.body.as_ref().map(|body| filler.body(body)).transpose()?.flatten();
        Ok(Built {
            method: self.method,
            url,
            headers,
            body,
            literal_path_bytes: path.literal_bytes,
            header_value_bytes: limits.header_value_bytes,
            body_bytes: limits.body_bytes,
        })
    }
}

/// Of a slot that stands in no pair.
const NO_NAME: SmolStr = SmolStr::new_static("");

/// The path of one call.
struct BuiltPath {
    /// Origin, base path and segments.
    text: String,
    /// How many segments there are, the base path included.
    segments: usize,
    /// How much of the path stands before the first slot.
    literal_bytes: usize,
}

/// Where values come from.
struct Filler<'f> {
    settings: &'f Settings,
    arguments: &'f Object,
    limits: &'f TrustLimits,
}

impl Filler<'_> {
    fn place(&self, slot: &Slot, position: Position, name: &SmolStr) -> Result<Placed, Refusal> {
        let value = match slot.source {
            Source::Param => self.arguments.get(slot.name.as_str()),
            Source::Setting => self.settings.get(slot.name.as_str()),
        };
        place(position, slot.options, name, value, self.limits).map_err(|fault| refuse(slot, position, fault))
    }

    fn path(&self, request: &Request, origin: &BoundOrigin) -> Result<BuiltPath, Refusal> {
        let mut text = String::with_capacity(256);
        text.push_str(origin.as_str());
        let mut segments = origin.base_path().len();
        // Where the first slot begins.
        let mut slot_at = None;
        for segment in &request.path.0 {
            match segment {
                Segment::Literal(segment) => {
                    text.push('/');
                    text.push_str(segment);
                    segments += 1;
                }
                Segment::Slot(slot) => {
                    slot_at.get_or_insert(text.len() + 1);
                    let Placed::Segments(placed) = self.place(slot, Position::Path, &NO_NAME)? else {
                        return Err(refuse(slot, Position::Path, ValueFault::Missing));
                    };
                    segments += placed.len();
                    for segment in placed {
                        text.push('/');
                        text.push_str(&segment);
                    }
                }
                Segment::Joined(parts) => {
                    text.push('/');
                    let start = if let Some(Part::Literal(start)) = parts.first() { start.len() } else { 0 };
                    slot_at.get_or_insert(text.len() + start);
                    text.push_str(&self.joined(parts)?);
                    segments += 1;
                }
            }
            if text.len() > self.limits.url_bytes {
                return Err(self.too_large("URL", self.limits.url_bytes));
            }
        }
        if segments == 0 {
            text.push('/');
            segments = 1;
        }
        let literal_bytes = slot_at.unwrap_or(text.len()).saturating_sub(origin.origin().as_str().len());
        Ok(BuiltPath { text, segments, literal_bytes })
    }

    fn joined(&self, parts: &[Part]) -> Result<String, Refusal> {
        let mut texts: Vec<(bool, SmolStr)> = Vec::with_capacity(parts.len());
        let mut last = None;
        for part in parts {
            match part {
                Part::Literal(text) => texts.push((true, text.clone())),
                Part::Slot(slot) => {
                    last = Some(slot);
                    match self.place(slot, Position::Joined, &NO_NAME)? {
                        Placed::Text(text) => texts.push((false, text)),
                        _ => return Err(refuse(slot, Position::Joined, ValueFault::Missing)),
                    }
                }
            }
        }
        let parts: Vec<_> = texts
            .iter()
            .map(
                |(literal, text)| {
                    if *literal { SegmentPart::Literal(text) } else { SegmentPart::Value(text) }
                },
            )
            .collect();
        // Each part was fine alone: the fault is of the whole, and the last value could mend it.
        joined_segment(&parts, self.limits.url_bytes).map_err(|fault| match last {
            Some(slot) => refuse(slot, Position::Joined, fault),
            None => Refusal::new(Code::RequestValue, format!("a joined segment of the path: {fault}")),
        })
    }

    /// The pairs of the query; `used` bytes of the URL stand before them.
    fn query(&self, request: &Request, used: usize) -> Result<Vec<Pair>, Refusal> {
        let mut pairs = Vec::with_capacity(request.query.0.len());
        let mut left = self.limits.url_bytes.saturating_sub(used);
        for (name, value) in &request.query.0 {
            let start = pairs.len();
            match value {
                QueryValue::Bare => pairs.push(Pair::bare(name.clone())),
                QueryValue::Literal(text) => pairs.push(Pair::text(name.clone(), text.clone())),
                QueryValue::Slot(slot) => {
                    if let Placed::Pairs(placed) = self.place(slot, Position::Query, name)? {
                        pairs.extend(placed);
                    }
                }
            }
            let size: usize = pairs.iter().skip(start).map(least_size).sum();
            let Some(rest) = left.checked_sub(size) else {
                return Err(self.too_large("URL", self.limits.url_bytes));
            };
            left = rest;
        }
        Ok(pairs)
    }

    fn headers(&self, request: &Request, key: Option<&str>) -> Result<Vec<BuiltHeader>, Refusal> {
        let mut headers = Vec::with_capacity(request.headers.0.len() + 1);
        let mut left = MAX_HEADER_BYTES;
        for (name, value) in &request.headers.0 {
            let value = match value {
                HeaderValue::Literal(text) => HeaderPart::Text(text.clone()),
                HeaderValue::Slot(Fill::Credential(slot)) => HeaderPart::Secret(CredentialUse::new(slot)),
                HeaderValue::Slot(Fill::Slot(slot)) => match self.place(slot, Position::Header, name)? {
                    Placed::Text(text) => HeaderPart::Text(text),
                    _ => continue,
                },
            };
            let size = name.len() + if let HeaderPart::Text(text) = &value { text.len() } else { 0 };
            left = left.checked_sub(size).ok_or_else(|| self.too_large("header", MAX_HEADER_BYTES))?;
            headers.push(BuiltHeader { name: name.clone(), value });
        }
        if let Some(idempotency) = &request.idempotency {
            let key = key.filter(|key| {
                !key.is_empty() && check_header_value(key, self.limits.header_value_bytes).is_ok()
            });
            let key = key.ok_or_else(|| {
                Refusal::new(
                    Code::RequestValue,
                    "the request needs an idempotency key that a header can hold",
                )
            })?;
            headers.push(BuiltHeader {
                name: idempotency.header.0.clone(),
                value: HeaderPart::Text(key.into()),
            });
        }
        Ok(headers)
    }

    /// The body, or nothing when the whole of it is left out.
    fn body(&self, body: &Body) -> Result<Option<BuiltBody>, Refusal> {
        let mut left = self.limits.body_bytes;
        Ok(match body {
            Body::Json(json) => self.json(json, &mut left)?.map(BuiltBody::Json),
            Body::Form(fields) => Some(BuiltBody::Form(self.form(fields, &mut left)?)),
            Body::Text(slot) => match self.place(slot, Position::Text, &NO_NAME)? {
                Placed::Text(text) => {
                    self.take(text.len(), &mut left)?;
                    Some(BuiltBody::Text(text.into()))
                }
                _ => None,
            },
        })
    }

    fn form(&self, fields: &[(SmolStr, FormValue)], left: &mut usize) -> Result<Vec<FormPart>, Refusal> {
        let mut parts = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            let start = parts.len();
            match value {
                FormValue::Literal(text) => {
                    parts.push(FormPart::Pair(Pair::text(name.clone(), text.clone())));
                }
                FormValue::Slot(Fill::Credential(slot)) => {
                    parts.push(FormPart::Secret(name.clone(), CredentialUse::new(slot)));
                }
                FormValue::Slot(Fill::Slot(slot)) => {
                    if let Placed::Pairs(placed) = self.place(slot, Position::Form, name)? {
                        parts.extend(placed.into_iter().map(FormPart::Pair));
                    }
                }
            }
            for part in parts.iter().skip(start) {
                self.take(if let FormPart::Pair(pair) = part { least_size(pair) } else { 0 }, left)?;
            }
        }
        Ok(parts)
    }

    /// A JSON value without what is left out; nothing when it is left out itself.
    fn json(&self, json: &Json, left: &mut usize) -> Result<Option<Node>, Refusal> {
        let node = match json {
            Json::Literal(value) => self.text(value, left)?,
            Json::Slot(Fill::Credential(slot)) => Node::Secret(CredentialUse::new(slot)),
            Json::Slot(Fill::Slot(slot)) => match self.place(slot, Position::Json, &NO_NAME)? {
                Placed::Json(value) => self.text(&value, left)?,
                _ => return Ok(None),
            },
            Json::Array(items) => {
                let mut nodes = Vec::with_capacity(items.len());
                for item in items {
                    self.take(1, left)?;
                    nodes.extend(self.json(item, left)?);
                }
                Node::array(nodes)
            }
            Json::Object(members) => {
                let mut nodes = Vec::with_capacity(members.len());
                for (name, value) in members {
                    if let Some(value) = self.json(value, left)? {
                        let name = Value::String(name.clone()).to_text();
                        self.take(name.len() + 2, left)?;
                        nodes.push((name, value));
                    }
                }
                Node::object(nodes)
            }
        };
        Ok(Some(node))
    }

    fn text(&self, value: &Value, left: &mut usize) -> Result<Node, Refusal> {
        // The literals of a manifest were checked; numbers are written as those of arguments are.
        let placed =
            place(Position::Json, super::slot::Options::default(), &NO_NAME, Some(value), self.limits);
        let Ok(Placed::Json(value)) = placed else {
            return Err(Refusal::new(Code::RequestValue, "a literal of the body cannot be sent"));
        };
        let text = value.to_text();
        self.take(text.len(), left)?;
        Ok(Node::Text(text))
    }

    fn take(&self, size: usize, left: &mut usize) -> Result<(), Refusal> {
        *left = left.checked_sub(size).ok_or_else(|| self.too_large("body", self.limits.body_bytes))?;
        Ok(())
    }

    /// A refusal of the whole; the longest argument could mend it.
    fn too_large(&self, what: &str, limit: usize) -> Refusal {
        let refusal =
            Refusal::new(Code::RequestTooLarge, format!("the {what} is over the limit of {limit} bytes"));
        let longest = self.arguments.iter().max_by_key(|(_, value)| value.to_text().len());
        match longest {
            Some((name, _)) => refusal.advise(format!("The request is too long. Give a shorter `{name}`.")),
            None => refusal,
        }
    }
}

fn refuse(slot: &Slot, position: Position, fault: ValueFault) -> Refusal {
    let code = if fault == ValueFault::TooLong { Code::RequestTooLarge } else { Code::RequestValue };
    let (name, place) = (&slot.name, position.as_str());
    match slot.source {
        Source::Param => {
            Refusal::new(code, format!("the argument `{name}` cannot stand in the {place}: {fault}"))
                .advise(format!("`{name}`: {}.", fault.advice()))
        }
        Source::Setting => {
            Refusal::new(code, format!("the setting `{name}` cannot stand in the {place}: {fault}"))
        }
    }
}

/// The fewest bytes that a pair has on the wire with its `=` and `&`.
fn least_size(pair: &Pair) -> usize {
    pair.name.len()
        + 1
        + match &pair.value {
            PairValue::Bare => 0,
            PairValue::Text(text) => text.len() + 1,
            PairValue::Commas(items) => items.iter().map(|item| item.len() + 1).sum(),
        }
}

/// Puts the URL together, parses it again and holds it against what was meant: nothing normalised away, the
/// same origin, as many segments, the same names in the query.
fn finish_url(
    origin: &BoundOrigin,
    path: String,
    path_segments: usize,
    pairs: &[Pair],
) -> Result<Url, Refusal> {
    let mut text = path;
    if !pairs.is_empty() {
        text.push('?');
        append_query(pairs, &mut text);
    }
    let other =
        || Refusal::new(Code::RequestValue, "the finished URL is not the one that the manifest describes");
    let url = Url::parse(&text).map_err(|_| other())?;
    let bound = origin.origin();
    let same_origin = url[..UrlPosition::BeforePath] == *bound.as_str();
    let segments = url.path().split('/').skip(1).count();
    let names = query_names(url.query().unwrap_or_default());
    let same_names = names.eq(pairs.iter().map(|pair| pair.name.as_str()));
    let same = url.as_str() == text
        && same_origin
        && url.username().is_empty()
        && url.password().is_none()
        && url.fragment().is_none()
        && segments == path_segments
        && same_names;
    if same { Ok(url) } else { Err(other()) }
}

/// The names of a query as a receiver reads them (<https://url.spec.whatwg.org/#urlencoded-parsing>); what follows a `=`
/// is not decoded.
fn query_names(query: &str) -> impl Iterator<Item = Cow<'_, str>> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        // Most names stand for themselves.
        let coded = name.contains(['%', '+']).then_some(name.as_bytes());
        let decoded = coded.and_then(|coded| form_urlencoded::parse(coded).next());
        decoded.map_or(Cow::Borrowed(name), |(name, _)| name)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_names_are_those_of_the_whole_query(query in "([a=&+%] ?|%4[01]|%C3%A9|\\PC){0,12}") {
            let whole = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
            prop_assert!(query_names(&query).eq(whole));
        }
    }
}
