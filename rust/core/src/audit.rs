//! The audit trail: what was done, never with what values, chained by hash.

use std::borrow::Cow;

use serde::Serialize;

use crate::json::{Number, Object, Sha256, Value, sha256, write_string};

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// A connector was installed, or an install was refused.
    Install,
    /// What an install would change was shown, with an approval to give, or that was refused.
    Review,
    /// A grant was changed, or the change was refused.
    Grant,
    /// A connector was removed, or the removal was refused.
    Remove,
    /// A write is about to leave the device.
    Started,
    /// A call came to its end.
    Call,
}

impl Deed {
    const ALL: [Self; 6] =
        [Self::Install, Self::Review, Self::Grant, Self::Remove, Self::Started, Self::Call];

    /// The deed of a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|deed| deed.as_str() == word)
    }

    /// The word of the record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Review => "review",
            Self::Grant => "grant",
            Self::Remove => "remove",
            Self::Started => "started",
            Self::Call => "call",
        }
    }
}

/// What the host says about one deed; nothing here may be a value, a secret or a URL with values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The host's wall clock, in milliseconds since 1970.
    pub time_ms: u64,
    /// What was done.
    pub deed: Deed,
    /// The connector, or the full name of a tool.
    pub subject: String,
    /// The tool set under which it was done.
    pub tool_set: Sha256,
    /// The digest of the plan or the hash of the manifest, where there is one.
    pub object: Option<Sha256>,
    /// `ok`, `started`, or the stable code of the refusal.
    pub outcome: Cow<'static, str>,
    /// The HTTP status, when there was an answer.
    pub status: Option<u16>,
    /// Bytes of the request body.
    pub sent_bytes: u64,
    /// Bytes of the response body on the wire.
    pub received_bytes: u64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// One line of the trail. `hash` is the SHA-256 of the RFC 8785 form of everything else in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Counts from 1 without gaps.
    pub sequence: u64,
    /// The hash of the line before, zeros for the first.
    pub previous: Sha256,
    /// What happened.
    pub event: Event,
    /// The hash of this line.
    pub hash: Sha256,
}

/// The end of a chain: how many records it ever had, and the hash of the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The sequence number of the last record; 0 when there was none.
    pub sequence: u64,
    /// The hash of the last record; zeros when there was none.
    pub hash: Sha256,
}

impl Default for Head {
    fn default() -> Self {
        Self { sequence: 0, hash: Sha256([0; 32]) }
    }
}

impl Record {
    /// The record that follows the head of a chain.
    pub fn after(head: Head, event: Event) -> Self {
        let (sequence, previous) = (head.sequence.saturating_add(1), head.hash);
        let mut record = Self { sequence, previous, event, hash: Sha256([0; 32]) };
        record.hash = record.computed();
        record
    }

    /// The head of a chain that ends with this record.
    pub fn head(&self) -> Head {
        Head { sequence: self.sequence, hash: self.hash }
    }

    fn computed(&self) -> Sha256 {
        // The RFC 8785 form of `members`, written as it is.
        let event = &self.event;
        let mut text = String::with_capacity(384);
        text.push_str("{\"deed\":");
        write_string(event.deed.as_str(), &mut text);
        let name = |name: &str, text: &mut String| {
            text.push_str(",\"");
            text.push_str(name);
            text.push_str("\":");
        };
        let number = |member: &str, value: u64, text: &mut String| {
            name(member, text);
            text.push_str(&Number::from(value).canonical().unwrap_or_default());
        };
        let string = |member: &str, value: &str, text: &mut String| {
            name(member, text);
            write_string(value, text);
        };
        number("durationMs", event.duration_ms, &mut text);
        match event.object {
            Some(object) => string("object", &object.to_string(), &mut text),
            None => text.push_str(",\"object\":null"),
        }
        string("outcome", &event.outcome, &mut text);
        string("previous", &self.previous.to_string(), &mut text);
        number("receivedBytes", event.received_bytes, &mut text);
        number("sentBytes", event.sent_bytes, &mut text);
        number("sequence", self.sequence, &mut text);
        match event.status {
            Some(status) => number("status", u64::from(status), &mut text),
            None => text.push_str(",\"status\":null"),
        }
        string("subject", &event.subject, &mut text);
        number("time", event.time_ms, &mut text);
        string("toolSet", &event.tool_set.to_string(), &mut text);
        text.push('}');
        sha256(text)
    }

    fn members(&self) -> Object {
        let event = &self.event;
        let optional = |value: Option<Value>| value.unwrap_or(Value::Null);
        [
            ("sequence", Value::from(self.sequence)),
            ("previous", self.previous.to_string().into()),
            ("time", event.time_ms.into()),
            ("deed", event.deed.as_str().into()),
            ("subject", event.subject.as_str().into()),
            ("toolSet", event.tool_set.to_string().into()),
            ("object", optional(event.object.map(|hash| hash.to_string().into()))),
            ("outcome", (&*event.outcome).into()),
            ("status", optional(event.status.map(|status| u64::from(status).into()))),
            ("sentBytes", event.sent_bytes.into()),
            ("receivedBytes", event.received_bytes.into()),
            ("durationMs", event.duration_ms.into()),
        ]
        .into_iter()
        .collect()
    }

    /// Reads what [`to_value`](Self::to_value) wrote; nothing when it is of another form. Whether the hash fits is for
    /// [`verify`] to say.
    pub fn from_value(value: &Value) -> Option<Self> {
        let text = |name: &str| value.get(name)?.as_str();
        let hash = |name: &str| Sha256::parse(text(name)?);
        // Beyond 2^53 a number was written as its double, which may be the next power of two.
        let number = |name: &str| {
            let number = value.get(name)?.as_number()?.as_integer()?;
            Some(u64::try_from(number).unwrap_or(if number < 0 { 0 } else { u64::MAX }))
        };
        let absent = |name: &str| matches!(value.get(name), Some(Value::Null));
        let event = Event {
            time_ms: number("time")?,
            deed: Deed::parse(text("deed")?)?,
            subject: text("subject")?.to_owned(),
            tool_set: hash("toolSet")?,
            object: if absent("object") { None } else { Some(hash("object")?) },
            outcome: text("outcome")?.to_owned().into(),
            status: if absent("status") { None } else { Some(u16::try_from(number("status")?).ok()?) },
            sent_bytes: number("sentBytes")?,
            received_bytes: number("receivedBytes")?,
            duration_ms: number("durationMs")?,
        };
        Some(Self { sequence: number("sequence")?, previous: hash("previous")?, event, hash: hash("hash")? })
    }

    /// The record as it is shown and stored, `hash` last.
    pub fn to_value(&self) -> Value {
        let hash = [("hash".into(), self.hash.to_string().into())];
        Value::Object(self.members().into_iter().chain(hash).collect())
    }
}

/// A chain of records with a bound on how many are kept; the head goes on when old ones are dropped.
#[derive(Debug, Clone)]
pub struct Trail {
    records: std::collections::VecDeque<Record>,
    capacity: usize,
    head: Head,
}

impl Trail {
    /// An empty trail that keeps the last `capacity` records.
    pub fn new(capacity: usize) -> Self {
        Self { records: std::collections::VecDeque::new(), capacity, head: Head::default() }
    }

    /// Adds a record and gives it back.
    pub fn append(&mut self, event: Event) -> Record {
        let record = Record::after(self.head, event);
        self.head = record.head();
        self.records.push_back(record.clone());
        if self.records.len() > self.capacity {
            self.records.pop_front();
        }
        record
    }

    /// The records that are kept, oldest first.
    pub fn records(&self) -> impl ExactSizeIterator<Item = &Record> {
        self.records.iter()
    }

    /// The hash of the last record ever added; zeros when there was none.
    pub fn head(&self) -> Sha256 {
        self.head.hash
    }
}

/// Whether the records follow each other unbroken and unchanged, and end at `head`.
pub fn verify<'r>(records: impl IntoIterator<Item = &'r Record>, head: Sha256) -> bool {
    let mut last: Option<&Record> = None;
    for record in records {
        let follows =
            last.is_none_or(|last| record.previous == last.hash && record.sequence == last.sequence + 1);
        if !follows || record.hash != record.computed() {
            return false;
        }
        last = Some(record);
    }
    last.map_or(Sha256([0; 32]), |last| last.hash) == head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(subject: &str) -> Event {
        let tool_set = sha256("set");
        let (object, status) = (None, Some(200));
        let subject = subject.to_owned();
        let (sent_bytes, received_bytes, duration_ms, time_ms) = (0, 10, 5, 1_700_000_000_000);
        Event {
            time_ms,
            deed: Deed::Call,
            subject,
            tool_set,
            object,
            outcome: "ok".into(),
            status,
            sent_bytes,
            received_bytes,
            duration_ms,
        }
    }

    #[test]
    fn a_removed_changed_or_reordered_line_is_seen() {
        let mut trail = Trail::new(10);
        for name in ["a.x", "b.y", "c.z"] {
            trail.append(event(name));
        }
        let records: Vec<Record> = trail.records().cloned().collect();
        assert!(verify(&records, trail.head()));
        assert!(!verify(records.iter().take(2), trail.head()), "the last is missing");
        assert!(!verify(records.iter().enumerate().filter(|(at, _)| *at != 1).map(|(_, r)| r), trail.head()));
        assert!(!verify(records.iter().rev(), trail.head()));
        let mut changed = records;
        changed[1].event.outcome = "net.timeout".into();
        assert!(!verify(&changed, trail.head()));
    }

    #[test]
    fn the_hash_is_that_of_the_canonical_form_of_everything_else() {
        let mut trail = Trail::new(2);
        for (object, status) in [(None, None), (Some(sha256("plan")), Some(204))] {
            let record = trail.append(Event { object, status, ..event("a.\u{e9}\"") });
            let text = crate::json::canonical(&Value::Object(record.members())).unwrap();
            assert_eq!(record.hash, sha256(text));
            assert_eq!(Record::from_value(&record.to_value()), Some(record));
        }
    }

    #[test]
    fn a_bounded_trail_still_verifies_from_its_oldest_line() {
        let mut trail = Trail::new(2);
        for name in ["a.x", "b.y", "c.z"] {
            trail.append(event(name));
        }
        assert_eq!(trail.records().len(), 2);
        assert!(verify(trail.records(), trail.head()));
    }
}
