//! The write ledger: which writes may have left the device, whatever happened to the process.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use connector_core::audit::Head;
use connector_core::json::{Sha256, Value};
use connector_core::{Code, Refusal};
use smol_str::SmolStr;

use crate::files::Files;
use crate::key::StoreKey;
use crate::lines::{Line, Seal, Sealer};
use crate::log::{Kind, Log};
use crate::state::{hash, hash_value, integer};

pub(crate) const FILE: &str = "ledger.log";
const KIND: Kind = Kind { what: "the write ledger", damage: Code::StoreTampered };
/// The starts of writes without an end move on when the older half of the ledger goes, as many as this part of it
/// holds: those of this process, which may start no more than that, then the newest others.
const CARRIED: usize = 4;

/// What is known of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The request left the device, and an answer to it came back.
    Sent,
    /// Not one byte of the request left the device, and none ever will.
    NotSent,
    /// The request may have left the device, wholly or in part, and no answer to it is known: it was cut, or the process
    /// ended before it could tell.
    OutcomeUnknown,
}

impl Outcome {
    /// `sent`, `not_sent` or `outcome_unknown`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::NotSent => "not_sent",
            Self::OutcomeUnknown => "outcome_unknown",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Sent, Self::NotSent, Self::OutcomeUnknown].into_iter().find(|outcome| outcome.as_str() == text)
    }
}

/// A write that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The digest of its plan.
    pub plan: Sha256,
    /// The full name of the tool.
    pub tool: SmolStr,
    /// When it was started: the host's wall clock, in milliseconds since 1970.
    pub time_ms: u64,
    /// What is known of it; `outcome_unknown` also while it is under way.
    pub outcome: Outcome,
    /// Whether its end was told. A write of an earlier process without an end was interrupted.
    pub ended: bool,
    sequence: u64,
    bytes: usize,
    own: bool,
}

impl Write {
    /// Whether it is of an earlier process, which ended before it could say how the write did.
    pub fn is_interrupted(&self) -> bool {
        !self.own && !self.ended
    }

    fn is_under_way(&self) -> bool {
        self.own && !self.ended
    }
}

/// The writes of one store. All of it blocks on files.
pub struct Ledger {
    inner: Mutex<Inner>,
}

struct Inner {
    log: Log,
    /// Bytes of starts that can move on.
    carried: usize,
    writes: HashMap<Sha256, Write>,
}

impl Ledger {
    pub(crate) fn open(
        files: Arc<dyn Files>,
        key: StoreKey,
        limit: usize,
        expected: bool,
    ) -> Result<Self, Refusal> {
        let mut writes = HashMap::new();
        let sealer = Sealer { key, seal: Seal::Key, file: FILE };
        let log = Log::open(files, sealer, KIND, limit, expected, &mut |line, place| {
            replay(&mut writes, line, place);
        })?;
        Ok(Self { inner: Mutex::new(Inner { log, carried: limit / CARRIED, writes }) })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere leaves the ledger whole: what it remembers follows what is written.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that a write is about to leave the device. It may leave once this has returned `Ok`, and not before: the
    /// line is durable then. A plan can be started once, in this process or in any before it.
    ///
    /// # Errors
    /// `ledger.order` when the plan was started before; `store.limit` when more writes are under way than the ledger can
    /// carry (some 700 with its default size); `store.io`, `store.read_only` and `store.full`. After any of them the write
    /// must not leave.
    pub fn started(&self, plan: Sha256, tool: &str, time_ms: u64) -> Result<(), Refusal> {
        let mut inner = self.inner();
        if inner.writes.contains_key(&plan) {
            let reason = "a write under this plan was started before, and is not sent again";
            return Err(Refusal::new(Code::LedgerOrder, reason));
        }
        let (outcome, ended, own) = (Outcome::OutcomeUnknown, false, true);
        let write = Write { plan, tool: tool.into(), time_ms, outcome, ended, sequence: 0, bytes: 0, own };
        let line = inner.log.sealer().line(inner.log.head(), start("started", &write))?;
        let bytes = line.text.len();
        let under_way: usize =
            inner.writes.values().filter(|write| write.is_under_way()).map(|write| write.bytes).sum();
        if under_way.saturating_add(bytes) > inner.carried {
            return Err(Refusal::new(
                Code::StoreLimit,
                "more writes are under way than the ledger can carry",
            ));
        }
        let head = inner.add(start("started", &write), true)?;
        inner.writes.insert(plan, Write { sequence: head.sequence, bytes, ..write });
        Ok(())
    }

    /// Says how a write ended. [`Outcome::NotSent`] is for what never handed a byte to a socket; who cannot tell says
    /// [`Outcome::OutcomeUnknown`]. A write that was interrupted may be ended later, when its outcome is learned.
    ///
    /// The line outlives the process at once, and a loss of power with the next start; until then the write reads
    /// `outcome_unknown` after it.
    ///
    /// # Errors
    /// `ledger.order` when there is no such write, or it has ended; `store.io`, `store.read_only`, `store.full`: then
    /// it goes on reading `outcome_unknown`.
    pub fn ended(&self, plan: Sha256, outcome: Outcome) -> Result<(), Refusal> {
        let mut inner = self.inner();
        if inner.writes.get(&plan).is_none_or(|write| write.ended) {
            let reason = "no write under this plan waits for its end";
            return Err(Refusal::new(Code::LedgerOrder, reason));
        }
        let members =
            vec![("event", "ended".into()), ("plan", hash_value(plan)), ("outcome", outcome.as_str().into())];
        inner.add(members, false)?;
        if let Some(write) = inner.writes.get_mut(&plan) {
            (write.outcome, write.ended) = (outcome, true);
        }
        Ok(())
    }

    /// The write that was started under a plan. Nothing means that no byte of one left the device, as long as
    /// [`Ledger::is_whole`]; else it may be one of those that were dropped.
    pub fn write(&self, plan: Sha256) -> Option<Write> {
        self.inner().writes.get(&plan).cloned()
    }

    /// The writes that are remembered, oldest first.
    pub fn writes(&self) -> Vec<Write> {
        let mut writes: Vec<Write> = self.inner().writes.values().cloned().collect();
        writes.sort_by_key(|write| write.sequence);
        writes
    }

    /// The writes of earlier processes that never ended, oldest first: what a person should be told about.
    pub fn interrupted(&self) -> Vec<Write> {
        self.writes().into_iter().filter(Write::is_interrupted).collect()
    }

    /// Whether every write ever started is remembered: none was dropped to make room, and no line is damaged.
    pub fn is_whole(&self) -> bool {
        let inner = self.inner();
        inner.log.dropped() == Head::default() && inner.log.damage().is_none()
    }

    /// Holds the ledger against the starts that the audit trail tells, oldest first. A start is in the ledger before it is in
    /// the trail, so one that is only there was cut off the ledger. What the ledger drops is older than the newest start.
    pub(crate) fn knows(&self, started: &[Sha256]) {
        let mut inner = self.inner();
        let all = inner.log.dropped() == Head::default();
        let looked_at =
            if all { started } else { started.last().map(std::slice::from_ref).unwrap_or_default() };
        if looked_at.iter().any(|plan| !inner.writes.contains_key(plan)) {
            inner.log.note("the audit trail tells of a write that is not here");
        }
    }

    pub(crate) fn damage(&self) -> Option<Refusal> {
        self.inner().log.damage()
    }
}

impl Inner {
    /// Adds a line, after those of writes under way that have to move on for it.
    fn add(&mut self, members: Vec<(&'static str, Value)>, durable: bool) -> Result<Head, Refusal> {
        let line = self.log.sealer().line(self.log.head(), members.iter().cloned())?;
        if self.log.has_room(&line) {
            self.log.append(&line, durable)?;
            return Ok(line.head);
        }
        let mut moved = BTreeMap::new();
        let (writes, carried) = (&self.writes, self.carried);
        self.log.turn(|log, dropped| {
            let mut open: Vec<&Write> = writes.values().filter(|write| !write.ended).collect();
            open.sort_by_key(|write| std::cmp::Reverse((write.own, write.sequence)));
            let mut room = carried;
            open.retain(|write| {
                let fits = write.bytes <= room;
                room = if fits { room - write.bytes } else { 0 };
                fits && write.sequence <= dropped.sequence
            });
            open.sort_by_key(|write| write.sequence);
            let (mut lines, mut head): (Vec<Line>, Head) = (Vec::new(), log.head());
            let starts = open.into_iter().map(|write| (Some(write.plan), start("moved", write)));
            for (plan, members) in starts.chain([(None, members)]) {
                let line = log.sealer().line(head, members)?;
                head = line.head;
                moved.extend(plan.map(|plan| (plan, head.sequence)));
                lines.push(line);
            }
            Ok(lines)
        })?;
        for (plan, sequence) in moved {
            if let Some(write) = self.writes.get_mut(&plan) {
                write.sequence = sequence;
            }
        }
        let dropped = self.log.dropped();
        self.writes.retain(|_, write| write.sequence > dropped.sequence);
        Ok(self.log.head())
    }
}

fn start(event: &'static str, write: &Write) -> Vec<(&'static str, Value)> {
    vec![
        ("event", event.into()),
        ("plan", hash_value(write.plan)),
        ("tool", write.tool.as_str().into()),
        ("time", write.time_ms.into()),
    ]
}

/// Takes a line of an earlier process; one that is not understood says nothing.
fn replay(writes: &mut HashMap<Sha256, Write>, line: &Value, place: Head) {
    let bytes = line.to_text().len() + 1;
    let Some(plan) = hash(line, "plan") else { return };
    match line.get("event").and_then(Value::as_str) {
        Some("started" | "moved") => {
            let tool = line.get("tool").and_then(Value::as_str).unwrap_or_default();
            let time_ms = integer(line, "time").unwrap_or(0);
            let (outcome, ended, sequence, own) = (Outcome::OutcomeUnknown, false, place.sequence, false);
            let write = Write { plan, tool: tool.into(), time_ms, outcome, ended, sequence, bytes, own };
            writes.entry(plan).and_modify(|known| known.sequence = place.sequence).or_insert(write);
        }
        Some("ended") => {
            let outcome = line.get("outcome").and_then(Value::as_str).and_then(Outcome::parse);
            if let (Some(write), Some(outcome)) = (writes.get_mut(&plan), outcome) {
                (write.outcome, write.ended) = (outcome, true);
            }
        }
        _ => {}
    }
}
