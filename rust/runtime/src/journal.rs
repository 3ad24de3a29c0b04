//! What a session leaves behind: its state, its audit trail and its writes, in a store or in memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use connector_core::audit::{Deed, Event, Record, Trail};
use connector_core::json::Sha256;
use connector_core::toolset::{Connector, ToolSet};
use connector_core::{Code, Refusal};
use connector_store::{
    Durability, GrantRecord, Outcome, Provenance, Store, Tombstone, Transaction, Verified, Write,
};

/// Audit records kept in memory.
const RECORDS: usize = 10_000;
/// Records that may wait: until another is written, or the store can be written to again. Older ones are lost, and that is
/// told.
const WAITING: usize = 1_000;

/// Hears of every event of the audit trail as it happens. It is called on the thread that does the deed, which waits for
/// it: it may take no time, and may not call back into the session.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// The traces of a session. It blocks on files where there is a store.
pub(crate) struct Journal {
    place: Place,
    observer: Mutex<Option<Observer>>,
}

/// Where they are kept.
enum Place {
    Memory(Mutex<Trail>),
    Store(Box<Kept>),
}

pub(crate) struct Kept {
    pub(crate) store: Store,
    /// Held while records are written; comes before `waiting`.
    writing: Mutex<()>,
    waiting: Mutex<Waiting>,
}

/// Records that are not written yet, oldest first.
#[derive(Default)]
struct Waiting {
    events: VecDeque<Event>,
    lost: u64,
}

impl Journal {
    pub(crate) fn in_memory(observer: Option<Observer>) -> Self {
        Self { place: Place::Memory(Mutex::new(Trail::new(RECORDS))), observer: Mutex::new(observer) }
    }

    pub(crate) fn on(store: Store, observer: Option<Observer>) -> Self {
        let kept = Kept { store, writing: Mutex::default(), waiting: Mutex::default() };
        Self { place: Place::Store(Box::new(kept)), observer: Mutex::new(observer) }
    }

    pub(crate) fn store(&self) -> Option<&Store> {
        match &self.place {
            Place::Memory(_) => None,
            Place::Store(kept) => Some(&kept.store),
        }
    }

    fn tell(&self, event: &Event) {
        let observer = lock(&self.observer).clone();
        if let Some(observer) = observer {
            observer(event);
        }
    }

    /// Tells the observer nothing more, and lets go of it.
    pub(crate) fn fall_silent(&self) {
        *lock(&self.observer) = None;
    }

    /// Makes the install of a connector, or another grant of it, durable: the state of this set. `manifest` are its bytes,
    /// where they are not the ones that are kept already.
    pub(crate) fn install(
        &self,
        set: &ToolSet,
        connector: &Connector,
        manifest: Option<&[u8]>,
    ) -> Result<(), Refusal> {
        let (Some(store), Some(past)) = (self.store(), set.past_of(connector.id())) else { return Ok(()) };
        let (state, id) = (store.state(), connector.id());
        let provenance =
            Provenance { source: connector.source().into(), key: connector.key().map(Into::into) };
        let grant = GrantRecord { grant: connector.grant().to_value(), hash: connector.grant_hash() };
        let mut change = Transaction::new(&state, set.hash());
        // The merge has judged whose the id is; the store would refuse to be told otherwise by mistake.
        if state.owner(id).is_some_and(|owner| owner.provenance != provenance) {
            change = change.move_source(id, provenance.clone());
        }
        change = match manifest {
            Some(bytes) => change.pin(id, bytes.to_vec(), provenance, grant),
            None => change.grant(id, grant),
        };
        for (name, value) in past.tombstones() {
            let tombstone = Tombstone(value);
            if state.tombstone(name) != Some(&tombstone) {
                change = change.tombstone(name.clone(), tombstone);
            }
        }
        store.commit(&change).map(drop)
    }

    /// Makes the removal of a connector durable.
    pub(crate) fn remove(&self, set: &ToolSet, id: &str) -> Result<(), Refusal> {
        let Some(store) = self.store() else { return Ok(()) };
        store.commit(&Transaction::new(&store.state(), set.hash()).unpin(id)).map(drop)
    }

    /// Says that a write is about to leave: durable when this returns, in the ledger and in the audit trail.
    pub(crate) fn started(&self, plan: Sha256, event: Event) -> Result<(), Refusal> {
        self.tell(&event);
        match &self.place {
            Place::Memory(trail) => drop(lock(trail).append(event)),
            Place::Store(kept) => {
                let ledger = kept.store.ledger();
                ledger.started(plan, &event.subject, event.time_ms)?;
                if let Err(refusal) = kept.append_now(event) {
                    // Nothing has left, and nothing will.
                    let _reads_unknown_otherwise = ledger.ended(plan, Outcome::NotSent);
                    return Err(refusal);
                }
            }
        }
        Ok(())
    }

    /// Says how a write ended. Where that cannot be written, it goes on reading `outcome_unknown`.
    pub(crate) fn ended(&self, plan: Sha256, outcome: Outcome) {
        if let Some(store) = self.store() {
            let _reads_unknown_otherwise = store.ledger().ended(plan, outcome);
        }
    }

    /// Adds a record to the trail; one that cannot be written now is written with the next. The record of a call waits for
    /// no other that is on its way to the disk.
    pub(crate) fn record(&self, event: Event) {
        self.tell(&event);
        match &self.place {
            Place::Memory(trail) => drop(lock(trail).append(event)),
            Place::Store(kept) if event.deed == Deed::Call => {
                kept.waiting().push(event);
                kept.append_waiting();
            }
            // A change of what is installed is to be found after a loss of power too.
            Place::Store(kept) => {
                if kept.append_now(event.clone()).is_err() {
                    kept.waiting().push(event);
                }
            }
        }
    }

    /// The records that are kept, oldest first, and the head of their chain.
    pub(crate) fn audit(&self) -> Result<(Vec<Record>, Sha256), Refusal> {
        match &self.place {
            Place::Memory(trail) => {
                let trail = lock(trail);
                Ok((trail.records().cloned().collect(), trail.head()))
            }
            Place::Store(kept) => {
                kept.settle();
                Ok((kept.store.audit().records()?, kept.store.audit().head()))
            }
        }
    }

    /// The hash of the last record.
    pub(crate) fn head(&self) -> Sha256 {
        match &self.place {
            Place::Memory(trail) => lock(trail).head(),
            Place::Store(kept) => {
                kept.settle();
                kept.store.audit().head()
            }
        }
    }

    /// Checks the chain of the records, against a head that the host kept.
    pub(crate) fn verify(&self, kept: Option<Sha256>) -> Result<Verified, Refusal> {
        if let Place::Store(journal) = &self.place {
            journal.settle();
            return journal.store.audit().verify(kept);
        }
        let (records, head) = self.audit()?;
        let first = records.first();
        let dropped = first.map_or(0, |first| first.sequence.saturating_sub(1));
        let before = first.map_or(Sha256([0; 32]), |first| first.previous);
        let known = |kept| kept == before || records.iter().any(|record| record.hash == kept);
        if connector_core::audit::verify(&records, head) && kept.is_none_or(known) {
            return Ok(Verified { dropped, kept: records.len() as u64, head });
        }
        Err(Refusal::new(Code::AuditBroken, "the audit trail does not lead to the record that the host saw"))
    }

    pub(crate) fn writes(&self) -> Vec<Write> {
        self.store().map(|store| store.ledger().writes()).unwrap_or_default()
    }

    /// What a person should be told about the logs.
    pub(crate) fn damage(&self) -> Vec<Refusal> {
        let Place::Store(kept) = &self.place else { return Vec::new() };
        let mut damage = kept.store.damage();
        let waiting = kept.waiting();
        if !waiting.events.is_empty() || waiting.lost > 0 {
            let (count, lost) = (waiting.events.len(), waiting.lost);
            let reason =
                format!("{count} audit records wait until the store can be written to, and {lost} were lost");
            damage.push(Refusal::new(Code::StoreIo, reason));
        }
        damage
    }
}

impl Kept {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }

    /// Writes a record, after those that wait, durably.
    fn append_now(&self, event: Event) -> Result<(), Refusal> {
        let writing = lock(&self.writing);
        self.drain()?;
        self.store.audit().append(event, Durability::Now)?;
        drop(writing);
        self.append_waiting();
        Ok(())
    }

    /// Writes what waits, unless somebody else is at it, who then writes this too.
    fn append_waiting(&self) {
        while !self.waiting().events.is_empty() {
            let Ok(_writing) = self.writing.try_lock() else { return };
            if self.drain().is_err() {
                return;
            }
            // Whoever added one since saw the lock taken: look again without it.
        }
    }

    /// Waits for those that write, and writes what waits.
    fn settle(&self) {
        let _writing = lock(&self.writing);
        let _waits_on = self.drain();
    }

    /// For the one that holds `writing`.
    fn drain(&self) -> Result<(), Refusal> {
        loop {
            let Some(event) = self.waiting().events.front().cloned() else { return Ok(()) };
            self.store.audit().append(event, Durability::Later)?;
            self.waiting().events.pop_front();
        }
    }
}

impl Waiting {
    fn push(&mut self, event: Event) {
        if self.events.len() >= WAITING {
            self.events.pop_front();
            self.lost = self.lost.saturating_add(1);
        }
        self.events.push_back(event);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is changed in single steps: a panic elsewhere leaves it whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
