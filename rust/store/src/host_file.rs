//! What a host without a keychain keeps of a store: its key, the highest counter seen, the head of the audit trail.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use connector_core::json::{Numbers, Profile, Sha256, read_strict};
use connector_core::{Code, Refusal};
use zeroize::Zeroizing;

use crate::disk::{above, open_regular, sync_names};
use crate::fault::{reading, writing};
use crate::key::StoreKey;
use crate::state::{hash, hash_value, integer, object};

const WHAT: &str = "the host's file of the store";
/// More than any such file needs.
const MAX_BYTES: usize = 4_096;

/// A file beside the folder of a store, for command lines and tests. It guards against whoever can change the folder and
/// not this file, as a synchronised or restored folder; an application keeps the three in the Keychain or the
/// Android Keystore instead.
pub struct HostFile {
    path: PathBuf,
    key: Zeroizing<[u8; 32]>,
    counter: u64,
    head: Sha256,
}

impl HostFile {
    /// The file of a folder, `FOLDER.host.json`; made with a random key when it is missing.
    ///
    /// # Errors
    /// `store.folder` when the folder has no name; `store.tampered` when the file is not one of these; `store.io`,
    /// `store.read_only`, `store.full`, `random.unavailable`.
    pub fn of(folder: &Path) -> Result<Self, Refusal> {
        let Some(name) = folder.file_name() else {
            return Err(Refusal::new(Code::StoreFolder, "the store's folder has no name of its own"));
        };
        let mut name = name.to_owned();
        name.push(".host.json");
        let path = folder.with_file_name(name);
        if let Some(found) = Self::read(&path)? {
            return Ok(found);
        }
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *key)
            .map_err(|_| Refusal::new(Code::RandomUnavailable, "the device gives no random numbers"))?;
        let made = Self { path, key, counter: 0, head: Sha256([0; 32]) };
        // A link and not a rename: of two processes that make the file at once, one's key holds for both.
        let unfinished = made.unfinished();
        let linked = made.write(&unfinished).and_then(|()| match fs::hard_link(&unfinished, &made.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        });
        // A store under a key that a loss of power takes away could never be opened again.
        let linked = linked.and_then(|()| sync_names(above(&made.path)));
        let _already_gone = fs::remove_file(&unfinished);
        linked.map_err(|error| writing(WHAT, &error))?;
        Self::read(&made.path)?.ok_or_else(|| Refusal::new(Code::StoreIo, format!("{WHAT} is gone")))
    }

    fn read(path: &Path) -> Result<Option<Self>, Refusal> {
        let mut bytes = Zeroizing::new(Vec::new());
        match open_regular(OpenOptions::new().read(true), path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(reading(WHAT, &error)),
            Ok(file) => {
                let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
                file.take(most).read_to_end(&mut bytes).map_err(|error| reading(WHAT, &error))?;
            }
        }
        let parse = || {
            let profile = Profile { max_bytes: MAX_BYTES, max_depth: 2, numbers: Numbers::Exact };
            let value = read_strict(&bytes, profile).ok()?;
            let key = Zeroizing::new(Sha256::parse(value.get("key")?.as_str()?)?.0);
            let (counter, head) = (integer(&value, "counter")?, hash(&value, "auditHead")?);
            Some(Self { path: path.to_owned(), key, counter, head })
        };
        let refused =
            || Refusal::new(Code::StoreTampered, format!("{WHAT} is not one that was written here"));
        parse().map(Some).ok_or_else(refused)
    }

    /// The key of the store.
    pub fn key(&self) -> StoreKey {
        StoreKey::new(*self.key)
    }

    /// The highest counter that was kept.
    pub fn counter(&self) -> u64 {
        self.counter
    }

    /// The head of the audit trail that was kept last; zeros at first.
    pub fn audit_head(&self) -> Sha256 {
        self.head
    }

    /// Keeps what the host sees now, durably. Call it while the store is open: no other process writes then.
    ///
    /// # Errors
    /// `store.io`, `store.read_only`, `store.full`; the old ones are kept then.
    pub fn keep(&mut self, counter: u64, head: Sha256) -> Result<(), Refusal> {
        let counter = counter.max(self.counter);
        if (counter, head) == (self.counter, self.head) {
            return Ok(());
        }
        let next = Self { path: self.path.clone(), key: self.key.clone(), counter, head };
        let unfinished = next.unfinished();
        let kept = next.write(&unfinished).and_then(|()| fs::rename(&unfinished, &next.path));
        let kept = kept.and_then(|()| sync_names(above(&next.path)));
        kept.map_err(|error| {
            let _already_gone = fs::remove_file(&unfinished);
            writing(WHAT, &error)
        })?;
        *self = next;
        self.tidy();
        Ok(())
    }

    /// Removes what processes that were killed left beside the file. The store is open: nobody else is writing now.
    fn tidy(&self) {
        let stem = self.path.file_stem().and_then(|stem| stem.to_str());
        let (Some(stem), Ok(entries)) = (stem, fs::read_dir(above(&self.path))) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let middle = name
                .to_str()
                .and_then(|name| name.strip_prefix(stem)?.strip_prefix('.')?.strip_suffix(".tmp"));
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            if middle
                .and_then(|middle| middle.split_once('-'))
                .is_some_and(|(a, b)| is_number(a) && is_number(b))
            {
                let _gone_or_tried_again = fs::remove_file(entry.path());
            }
        }
    }

    /// A name that nobody else writes to at this moment.
    fn unfinished(&self) -> PathBuf {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        self.path.with_extension(format!("{process}-{number}.tmp"))
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let members = [
            ("key", hash_value(Sha256(*self.key))),
            ("counter", self.counter.into()),
            ("auditHead", hash_value(self.head)),
        ];
        let text = Zeroizing::new(object(members).to_text());
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }
}

/// Not the key.
impl std::fmt::Debug for HostFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostFile").field("counter", &self.counter).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use connector_core::json::sha256;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_what_was_seen_is_kept() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("store");
        let mut first = HostFile::of(&folder).unwrap();
        assert_eq!((first.counter(), first.audit_head()), (0, Sha256([0; 32])));
        first.keep(7, sha256("head")).unwrap();
        first.keep(3, sha256("later")).unwrap();
        let again = HostFile::of(&folder).unwrap();
        assert_eq!((again.counter(), again.audit_head()), (7, sha256("later")), "a counter never falls");
        assert_eq!(*again.key, *first.key);
        let names: Vec<_> =
            fs::read_dir(above.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["store.host.json"]);
        // What a killed process left goes; what is not its goes not.
        for name in ["store.host.12-0.tmp", "store.host.x-0.tmp"] {
            fs::write(above.path().join(name), "key").unwrap();
        }
        first.keep(8, sha256("later")).unwrap();
        assert!(!above.path().join("store.host.12-0.tmp").exists());
        assert!(above.path().join("store.host.x-0.tmp").exists());
        assert!(!format!("{first:?}").contains(&Sha256(*first.key).to_string()));
        fs::write(above.path().join("store.host.json"), "{}").unwrap();
        assert_eq!(HostFile::of(&folder).unwrap_err().code, Code::StoreTampered);
    }

    #[test]
    fn two_that_make_it_at_once_have_one_key() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("store");
        let keys: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let make = || scope.spawn(|| *HostFile::of(&folder).unwrap().key);
            [make(), make(), make()].map(|thread| thread.join().unwrap()).into()
        });
        assert!(keys.iter().all(|key| *key == keys[0]) && keys[0] != [0; 32]);
    }
}
