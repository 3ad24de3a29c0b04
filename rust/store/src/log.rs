//! A file of lines that only grows, until it is full and its older half goes.

use std::io;
use std::sync::Arc;

use connector_core::audit::Head;
use connector_core::json::Value;
use connector_core::{Code, Refusal};

use crate::fault::{reading, writing};
use crate::files::{Files, LogFile, replace};
use crate::lines::{Broken, Line, Scan, Sealer};

/// The most that is read of a log, whatever its limit was when it was written.
const CEILING: usize = 64 << 20;

/// What a log is called, and how its damages are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    /// What it is called in refusals.
    pub(crate) what: &'static str,
    /// The code by which a damage is reported.
    pub(crate) damage: Code,
}

/// Whether the file is what this process takes it for.
enum Trust {
    /// It is.
    Sound,
    /// An append or a sync failed: what stands behind the lines that count, and what of all is durable, is not known.
    Tail,
    /// A replacement failed: the name may stand for either file, and ought to stand for these bytes.
    Ought(Vec<u8>),
}

/// An open log.
pub(crate) struct Log {
    files: Arc<dyn Files>,
    sealer: Sealer,
    kind: Kind,
    limit: usize,
    file: Option<Box<dyn LogFile>>,
    len: usize,
    dropped: Head,
    head: Head,
    broken: Option<Broken>,
    trust: Trust,
    unsynced: bool,
}

impl Log {
    /// Opens a log, shows its sealed lines, and cuts off what a crash left at its end. A log that is not there is made;
    /// where there must be one (`expected`) that is a damage.
    ///
    /// # Errors
    /// `store.io`, `store.read_only`, `store.full`. A damage is no error, it is told by [`Log::damage`].
    pub(crate) fn open(
        files: Arc<dyn Files>,
        sealer: Sealer,
        kind: Kind,
        limit: usize,
        expected: bool,
        visit: &mut dyn FnMut(&Value, Head),
    ) -> Result<Self, Refusal> {
        let (dropped, head, file, trust) = (Head::default(), Head::default(), None, Trust::Sound);
        let mut log = Self {
            files,
            sealer,
            kind,
            limit,
            file,
            len: 0,
            dropped,
            head,
            broken: None,
            trust,
            unsynced: false,
        };
        let what = match log.files.read(log.sealer.file, CEILING) {
            Ok(bytes) => {
                let scan = log.sealer.scan(&bytes, visit);
                (log.dropped, log.head, log.broken, log.len) =
                    (scan.dropped, scan.head, scan.broken, scan.good);
                if log.len < bytes.len() {
                    log.cut().map_err(|error| writing(kind.what, &error))?;
                }
                return Ok(log);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => expected.then_some("the file is gone"),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::FileTooLarge | io::ErrorKind::InvalidInput) =>
            {
                Some("something else stands in the place of the file")
            }
            Err(error) => return Err(reading(kind.what, &error)),
        };
        log.broken = what.map(|what| Broken { after: 0, what });
        let bytes = log.sealer.header(log.dropped, log.broken)?.into_bytes();
        replace(&*log.files, "", log.sealer.file, &bytes).map_err(|error| writing(kind.what, &error))?;
        log.len = bytes.len();
        Ok(log)
    }

    /// The last line.
    pub(crate) fn head(&self) -> Head {
        self.head
    }

    /// The last line that was dropped.
    pub(crate) fn dropped(&self) -> Head {
        self.dropped
    }

    /// The first line that was found changed or removed when the log was opened.
    pub(crate) fn damage(&self) -> Option<Refusal> {
        self.broken.map(|broken| self.refuse(broken))
    }

    /// Notes a damage that the lines do not tell by themselves.
    pub(crate) fn note(&mut self, what: &'static str) {
        let after = self.head.sequence;
        self.broken.get_or_insert(Broken { after, what });
    }

    /// A damage as a refusal.
    pub(crate) fn refuse(&self, Broken { after, what }: Broken) -> Refusal {
        Refusal::new(self.kind.damage, format!("{}: {what}, after line {after}", self.kind.what))
    }

    /// Seals the lines of this log.
    pub(crate) fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// Whether this line fits without dropping others.
    pub(crate) fn has_room(&self, line: &Line) -> bool {
        self.len.saturating_add(line.text.len()) <= self.limit
    }

    /// Adds a line. With `durable` it outlives a loss of power once this returns.
    ///
    /// # Errors
    /// `store.io`, `store.read_only`, `store.full`; then the line is not in the log.
    pub(crate) fn append(&mut self, line: &Line, durable: bool) -> Result<(), Refusal> {
        self.restore()?;
        let added = self.file().and_then(|file| {
            file.append(line.text.as_bytes())?;
            if durable { file.sync() } else { Ok(()) }
        });
        if let Err(error) = added {
            // At once, so that the line is gone also when nothing is ever appended again.
            let _done_again_before_the_next = self.cut();
            self.trust = Trust::Tail;
            return Err(writing(self.kind.what, &error));
        }
        self.len = self.len.saturating_add(line.text.len());
        self.head = line.head;
        self.unsynced = !durable;
        Ok(())
    }

    /// Makes room: drops the older half of the lines and adds others in one step, which is durable once this returns.
    /// `add` is told the last line that goes.
    ///
    /// # Errors
    /// `store.io`, `store.read_only`, `store.full`, and those of `add`; then nothing has changed.
    pub(crate) fn turn(
        &mut self,
        add: impl FnOnce(&Self, Head) -> Result<Vec<Line>, Refusal>,
    ) -> Result<(), Refusal> {
        self.restore()?;
        let old = self.own()?;
        let mut excess = old.len().saturating_sub(self.limit / 2);
        let mut stay = old.split_inclusive(|byte| *byte == b'\n');
        // The header goes in any case.
        excess = excess.saturating_sub(stay.next().map_or(0, <[u8]>::len));
        let stay = stay.skip_while(|line| {
            let goes = excess > 0;
            excess = excess.saturating_sub(line.len());
            goes
        });
        let stay: Vec<&[u8]> = stay.collect();
        // The first of those that stay says which stood before it.
        let first = stay.iter().find_map(|line| self.sealer.read(line));
        let dropped = first.map_or(self.head, |(_, place)| place.before());
        let lines = add(self, dropped)?;
        let mut new = self.sealer.header(dropped, self.broken)?.into_bytes();
        for line in stay.into_iter().chain(lines.iter().map(|line| line.text.as_bytes())) {
            new.extend_from_slice(line);
        }
        self.file = None;
        if let Err(error) = replace(&*self.files, "", self.sealer.file, &new) {
            let back = replace(&*self.files, "", self.sealer.file, &old);
            self.trust = if back.is_ok() { Trust::Sound } else { Trust::Ought(old) };
            return Err(writing(self.kind.what, &error));
        }
        (self.len, self.dropped, self.unsynced) = (new.len(), dropped, false);
        self.head = lines.last().map_or(self.head, |line| line.head);
        Ok(())
    }

    /// Makes all lines so far durable.
    ///
    /// # Errors
    /// `store.io`, `store.read_only`, `store.full`; the lines stay in the log.
    pub(crate) fn sync(&mut self) -> Result<(), Refusal> {
        self.restore()?;
        if !self.unsynced {
            return Ok(());
        }
        if let Err(error) = self.file().and_then(|file| file.sync()) {
            self.trust = Trust::Tail;
            return Err(writing(self.kind.what, &error));
        }
        self.unsynced = false;
        Ok(())
    }

    /// Reads the whole file again and shows its sealed lines.
    ///
    /// # Errors
    /// `store.io`. A damage is told in the result.
    pub(crate) fn reread(&mut self, visit: &mut dyn FnMut(&Value, Head)) -> Result<Scan, Refusal> {
        self.restore()?;
        let own = self.own()?;
        let mut scan = self.sealer.scan(&own, visit);
        if scan.broken.is_none() && (own.len() < self.len || scan.head != self.head) {
            let what = "lines were removed or changed since the store was opened";
            scan.broken = Some(Broken { after: scan.head.sequence, what });
        }
        Ok(scan)
    }

    /// Makes the file what it ought to be. Written anew as a whole, since after a sync that failed the system may take
    /// pages for written that are not.
    fn restore(&mut self) -> Result<(), Refusal> {
        let bytes = match &mut self.trust {
            Trust::Sound => return Ok(()),
            Trust::Ought(bytes) => std::mem::take(bytes),
            Trust::Tail => self.own()?,
        };
        self.file = None;
        if let Err(error) = replace(&*self.files, "", self.sealer.file, &bytes) {
            self.trust = Trust::Ought(bytes);
            return Err(writing(self.kind.what, &error));
        }
        (self.len, self.trust, self.unsynced) = (bytes.len(), Trust::Sound, false);
        Ok(())
    }

    /// The part of the file that counts.
    fn own(&self) -> Result<Vec<u8>, Refusal> {
        let mut bytes =
            self.files.read(self.sealer.file, CEILING).map_err(|error| reading(self.kind.what, &error))?;
        bytes.truncate(self.len);
        Ok(bytes)
    }

    /// Cuts the file to the part that counts.
    fn cut(&mut self) -> io::Result<()> {
        let len = u64::try_from(self.len).unwrap_or(u64::MAX);
        self.file().and_then(|file| file.truncate(len).and_then(|()| file.sync()))
    }

    fn file(&mut self) -> io::Result<&mut Box<dyn LogFile>> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.files.open_log(self.sealer.file)?,
        };
        Ok(self.file.insert(file))
    }
}
