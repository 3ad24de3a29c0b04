//! The lines of a log, as bytes.
//!
//! ```text
//! {"broken":null,"dropped":{"hash":"...","sequence":41},"hash":"...","log":"..."}   what went before, under the store's key
//! {...,"hash":"...","previous":"...","sequence":42}                                one line for each record
//! ```
//!
//! Each line is the RFC 8785 form of an object and is sealed by `hash` over everything else in it; `previous` and
//! `sequence` chain it to the line before. What stands at the very end without a seal, and lacks its end or has holes of
//! zeros, is what a crash or a lost power left of an append that nobody was told had worked. Any other line without a seal
//! was changed, and a gap in the chain is a removed one.

use connector_core::audit::Head;
use connector_core::json::{Numbers, Object, Profile, Sha256, Value, canonical, read_strict, sha256};
use connector_core::{Code, Refusal};

use crate::key::StoreKey;
use crate::state::{hash, hash_value, integer, object};

/// The most bytes of one line.
const LINE: usize = 16 << 10;
/// Sequence numbers stay where every double is a whole number.
const SEQUENCE: u64 = (1 << 53) - 1;

/// How the lines of a log are sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seal {
    /// By SHA-256: anybody can check, and forge; the host may keep the head.
    Hash,
    /// By HMAC under the store's key.
    Key,
}

/// A line that is sealed and not written yet.
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) head: Head,
}

impl Line {
    /// A line that carries its seal already.
    ///
    /// # Errors
    /// `store.limit`.
    pub(crate) fn sealed(value: &Value, head: Head) -> Result<Self, Refusal> {
        let text = canonical(value).ok_or_else(no_room)? + "\n";
        if text.len() > LINE || head.sequence > SEQUENCE {
            return Err(no_room());
        }
        Ok(Self { text, head })
    }
}

/// Where a line that was read stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    previous: Sha256,
    head: Head,
}

impl Place {
    /// The line before it.
    pub(crate) fn before(self) -> Head {
        Head { sequence: self.head.sequence.saturating_sub(1), hash: self.previous }
    }
}

/// A line that was changed or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The sequence number of the last line that stands where it should.
    pub(crate) after: u64,
    /// What is wrong behind it.
    pub(crate) what: &'static str,
}

/// What a reading of a whole log found.
#[derive(Debug)]
pub(crate) struct Scan {
    /// The last line that was dropped when the log was full.
    pub(crate) dropped: Head,
    /// The last line.
    pub(crate) head: Head,
    /// The first damage.
    pub(crate) broken: Option<Broken>,
    /// Where the last sealed line ends.
    pub(crate) good: usize,
}

/// Seals and reads the lines of one log.
#[derive(Debug, Clone)]
pub(crate) struct Sealer {
    pub(crate) key: StoreKey,
    pub(crate) seal: Seal,
    /// The name of the file: lines of one log are none of another.
    pub(crate) file: &'static str,
}

impl Sealer {
    /// Seals a line that follows another. None of its members is called `hash`, `previous` or `sequence`.
    ///
    /// # Errors
    /// `store.limit`.
    pub(crate) fn line(
        &self,
        after: Head,
        members: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> Result<Line, Refusal> {
        let sequence = after.sequence.saturating_add(1);
        let place = [("previous", hash_value(after.hash)), ("sequence", sequence.into())];
        let Value::Object(content) = object(place.into_iter().chain(members)) else { return Err(no_room()) };
        let hash = self.sealed(self.seal, &content).ok_or_else(no_room)?;
        Line::sealed(&with_hash(content, hash), Head { sequence, hash })
    }

    /// The first line of a log.
    pub(crate) fn header(&self, dropped: Head, broken: Option<Broken>) -> Result<String, Refusal> {
        let place = [("hash", hash_value(dropped.hash)), ("sequence", dropped.sequence.into())];
        let broken = broken.map_or(Value::Null, |broken| broken.after.into());
        let content = [("log", self.file.into()), ("broken", broken), ("dropped", object(place))];
        let Value::Object(content) = object(content) else { return Err(no_room()) };
        let hash = self.sealed(Seal::Key, &content).ok_or_else(no_room)?;
        Ok(canonical(&with_hash(content, hash)).ok_or_else(no_room)? + "\n")
    }

    /// A line, when it is one and its seal fits.
    pub(crate) fn read(&self, line: &[u8]) -> Option<(Value, Place)> {
        let value = self.unsealed(self.seal, line)?;
        let head = Head { sequence: integer(&value, "sequence")?, hash: hash(&value, "hash")? };
        let previous = hash(&value, "previous")?;
        Some((value, Place { previous, head }))
    }

    /// Reads a whole log and shows its sealed lines.
    pub(crate) fn scan(&self, bytes: &[u8], visit: &mut dyn FnMut(&Value, Head)) -> Scan {
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let header = self.unsealed(Seal::Key, first).and_then(|value| self.read_header(&value));
        let mut broken = match header {
            Some((_, broken)) => broken,
            None => Some(Broken { after: 0, what: "the header was changed" }),
        };
        let mut dropped = header.map(|(dropped, _)| dropped);
        let mut head = dropped;
        let (mut at, mut good) = (first.len(), first.len());
        let mut unsealed = false;
        let mut written = None;
        for line in lines {
            at = at.saturating_add(line.len());
            let Some((value, place)) = self.read(line) else {
                unsealed = true;
                if line.ends_with(b"\n") && !line.contains(&0) {
                    written = Some(at);
                }
                continue;
            };
            written = None;
            good = at;
            let last = *head.get_or_insert(place.before());
            dropped.get_or_insert(last);
            let follows = place.before() == last;
            let what = match (unsealed, follows) {
                (true, _) => Some("a line was changed"),
                (false, false) if place.head.sequence > last.sequence => Some("a line was removed"),
                (false, false) => Some("a line stands out of order"),
                (false, true) => None,
            };
            unsealed = false;
            if let Some(what) = what {
                broken.get_or_insert(Broken { after: last.sequence, what });
            }
            visit(&value, place.head);
            if place.head.sequence > last.sequence {
                head = Some(place.head);
            }
        }
        // No crash leaves a whole line that was never written: somebody changed it. It stays, and goes on telling.
        if let Some(end) = written {
            let after = head.unwrap_or_default().sequence;
            broken.get_or_insert(Broken { after, what: "a line was changed" });
            good = end;
        }
        Scan { dropped: dropped.unwrap_or_default(), head: head.unwrap_or_default(), broken, good }
    }

    fn read_header(&self, value: &Value) -> Option<(Head, Option<Broken>)> {
        if value.get("log")?.as_str() != Some(self.file) {
            return None;
        }
        let broken = match value.get("broken")? {
            Value::Null => None,
            _ => Some(Broken {
                after: integer(value, "broken")?,
                what: "lines since dropped were changed or removed",
            }),
        };
        let dropped = value.get("dropped")?;
        Some((Head { sequence: integer(dropped, "sequence")?, hash: hash(dropped, "hash")? }, broken))
    }

    /// An object in exactly the form in which it was sealed.
    fn unsealed(&self, seal: Seal, line: &[u8]) -> Option<Value> {
        let text = line.strip_suffix(b"\n")?;
        let profile = Profile { max_bytes: LINE, max_depth: 8, numbers: Numbers::Exact };
        let value = read_strict(text, profile).ok()?;
        let given = hash(&value, "hash")?;
        let content: Object = value
            .as_object()?
            .iter()
            .filter(|(name, _)| *name != "hash")
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect();
        let whole = canonical(&value)?.as_bytes() == text;
        (whole && self.sealed(seal, &content)? == given).then_some(value)
    }

    fn sealed(&self, seal: Seal, content: &Object) -> Option<Sha256> {
        let text = canonical(&Value::Object(content.clone()))?;
        Some(match seal {
            Seal::Hash => sha256(text),
            Seal::Key => Sha256(self.key.code("log", text.as_bytes())),
        })
    }
}

fn with_hash(content: Object, hash: Sha256) -> Value {
    Value::Object(content.into_iter().chain([("hash".into(), hash_value(hash))]).collect())
}

fn no_room() -> Refusal {
    Refusal::new(Code::StoreLimit, format!("a record is over {LINE} bytes, or the log is at its end"))
}
