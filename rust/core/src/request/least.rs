//! What a request takes at least, whatever the arguments are: the parts that a manifest fixes and a person gives. Where
//! they are over a bound by themselves, no call could ever be sent.

use super::body::{Body, FormValue, Json};
use super::build::MAX_HEADER_BYTES;
use super::credential::{Auth, Basic, CredentialSlot};
use super::encode::{Pair, PairValue, percent_encode, write_form};
use super::header::{HeaderValue, Headers};
use super::path::{Part, PathTemplate, Segment};
use super::place::{Placed, place};
use super::query::{Query, QueryValue};
use super::settings::Settings;
use super::slot::{Fill, Position, Slot, Source};
use super::template::{Request, RequestDraft};
use smol_str::SmolStr;

use crate::json::Value;
use crate::limits::TrustLimits;

/// A part of a request that is over its bound before any argument stands in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overrun {
    /// The member of the request that went over.
    pub(crate) member: &'static str,
    /// What the bound is of.
    pub(crate) what: &'static str,
    /// The bound, in bytes.
    pub(crate) limit: usize,
}

impl Request {
    /// The overruns under an origin of this many bytes and these settings.
    pub(crate) fn overruns(&self, origin: usize, settings: &Settings, limits: &TrustLimits) -> Vec<Overrun> {
        let least = Least { settings, limits };
        least.overruns(origin, Some(&self.path), Some(&self.query), Some(&self.headers), self.body.as_ref())
    }
}

impl RequestDraft {
    /// The overruns of what the manifest fixes.
    pub(super) fn overruns(&self, limits: &TrustLimits) -> Vec<Overrun> {
        let least = Least { settings: &Settings::default(), limits };
        let body = self.body.as_ref().and_then(Option::as_ref);
        least.overruns(0, self.path.as_ref(), self.query.as_ref(), self.headers.as_ref(), body)
    }
}

struct Least<'l> {
    settings: &'l Settings,
    limits: &'l TrustLimits,
}

impl Least<'_> {
    fn overruns(
        &self,
        origin: usize,
        path: Option<&PathTemplate>,
        query: Option<&Query>,
        headers: Option<&Headers>,
        body: Option<&Body>,
    ) -> Vec<Overrun> {
        let path = origin + path.map_or(0, |path| self.path(path));
        let url = path + query.map_or(0, |query| self.query(query));
        let headers = headers.map(|headers| &headers.0).into_iter().flatten();
        let (mut all, mut longest) = (0, 0);
        for (name, header) in headers {
            let value = self.header(header);
            all += name.len() + value;
            // A literal has a rule of its own.
            if !matches!(header, HeaderValue::Literal(_)) {
                longest = longest.max(value);
            }
        }
        let body = body.map_or(0, |body| self.body(body));
        let TrustLimits { url_bytes, header_value_bytes, body_bytes, .. } = *self.limits;
        [
            ("path", "URL", path, url_bytes),
            // Told once.
            ("query", "URL", if path > url_bytes { 0 } else { url }, url_bytes),
            ("headers", "header value", longest, header_value_bytes),
            ("headers", "header", all, MAX_HEADER_BYTES),
            ("body", "body", body, body_bytes),
        ]
        .into_iter()
        .filter(|(_, _, least, limit)| least > limit)
        .map(|(member, what, _, limit)| Overrun { member, what, limit })
        .collect()
    }

    /// What a setting takes in its slot; nothing is known of an argument.
    fn placed(&self, slot: &Slot, position: Position, name: &str) -> Placed {
        let setting =
            (slot.source == Source::Setting).then(|| self.settings.get(slot.name.as_str())).flatten();
        let placed = setting
            .map(|value| place(position, slot.options, &SmolStr::from(name), Some(value), self.limits));
        placed.and_then(Result::ok).unwrap_or(Placed::Omitted)
    }

    fn slot(&self, slot: &Slot, position: Position, name: &str) -> usize {
        match self.placed(slot, position, name) {
            Placed::Omitted => 0,
            Placed::Segments(segments) => segments.iter().map(|segment| segment.len() + 1).sum(),
            Placed::Pairs(pairs) if position == Position::Form => write_form(&pairs).len(),
            Placed::Pairs(pairs) => pairs.iter().map(in_query).sum(),
            Placed::Text(text) if position == Position::Joined => percent_encode(&text).len(),
            Placed::Text(text) => text.len(),
            Placed::Json(value) => value.to_text().len(),
        }
    }

    fn path(&self, path: &PathTemplate) -> usize {
        let part = |part: &Part| match part {
            Part::Literal(text) => text.len(),
            Part::Slot(slot) => self.slot(slot, Position::Joined, ""),
        };
        let segment = |segment: &Segment| match segment {
            Segment::Literal(text) => text.len() + 1,
            Segment::Slot(slot) => self.slot(slot, Position::Path, ""),
            Segment::Joined(parts) => 1 + parts.iter().map(part).sum::<usize>(),
        };
        path.0.iter().map(segment).sum()
    }

    fn query(&self, query: &Query) -> usize {
        let pair = |(name, value): &(smol_str::SmolStr, QueryValue)| match value {
            QueryValue::Bare => in_query(&Pair::bare(name.clone())),
            QueryValue::Literal(text) => in_query(&Pair::text(name.clone(), text.clone())),
            QueryValue::Slot(slot) => self.slot(slot, Position::Query, name),
        };
        query.0.iter().map(pair).sum()
    }

    fn header(&self, value: &HeaderValue) -> usize {
        match value {
            HeaderValue::Literal(text) => text.len(),
            HeaderValue::Slot(Fill::Slot(slot)) => self.slot(slot, Position::Header, ""),
            HeaderValue::Slot(Fill::Credential(slot)) => around(slot),
        }
    }

    fn body(&self, body: &Body) -> usize {
        match body {
            Body::Json(json) => self.json(json),
            Body::Text(slot) => self.slot(slot, Position::Text, ""),
            Body::Form(fields) => {
                let field = |(name, value): &(smol_str::SmolStr, FormValue)| match value {
                    FormValue::Literal(text) => write_form(&[Pair::text(name.clone(), text.clone())]).len(),
                    FormValue::Slot(Fill::Slot(slot)) => self.slot(slot, Position::Form, name),
                    FormValue::Slot(Fill::Credential(_)) => 0,
                };
                fields.iter().map(field).sum()
            }
        }
    }

    /// An object or array may lose every member whose slot is left out.
    fn json(&self, json: &Json) -> usize {
        match json {
            Json::Literal(value) => value.to_text().len(),
            Json::Slot(Fill::Slot(slot)) => self.slot(slot, Position::Json, ""),
            Json::Slot(Fill::Credential(_)) => 0,
            Json::Array(items) => 2 + items.iter().map(|item| self.json(item)).sum::<usize>(),
            Json::Object(members) => {
                let member = |(name, value): &(smol_str::SmolStr, Json)| match self.json(value) {
                    0 => 0,
                    size => Value::from(name.as_str()).to_text().len() + 1 + size,
                };
                2 + members.iter().map(member).sum::<usize>()
            }
        }
    }
}

/// The bytes of a pair in a query, with what stands before it.
fn in_query(pair: &Pair) -> usize {
    let value = match &pair.value {
        PairValue::Bare => 0,
        PairValue::Text(_) | PairValue::Commas(_) => 1 + pair.value.in_query().as_deref().map_or(0, str::len),
    };
    1 + percent_encode(&pair.name).len() + value
}

/// What a manifest writes around a secret, and one byte of it; an optional one may be left out.
fn around(slot: &CredentialSlot) -> usize {
    match &slot.auth {
        _ if slot.omit_absent => 0,
        Auth::Bare => 1,
        Auth::Scheme(scheme) => scheme.len() + 2,
        Auth::Basic(scheme, Basic::PasswordOf(user)) => scheme.len() + 1 + (user.len() + 2).div_ceil(3) * 4,
        Auth::Basic(scheme, Basic::UserAndPassword | Basic::User) => scheme.len() + 5,
    }
}
