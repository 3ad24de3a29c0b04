//! The file system of the device, and the lock that keeps other processes out of the folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use connector_core::{Code, Refusal};

use crate::fault::writing;
use crate::files::{Files, LogFile};

/// Locked while the store is open; never removed, or two processes could hold two files of one name.
const PROCESS_LOCK: &str = "process.lock";
/// How often a locked folder is tried again.
const RETRY: Duration = Duration::from_millis(10);

/// A folder of the device, locked for this process until it is dropped.
pub(crate) struct Disk {
    folder: PathBuf,
    held: File,
}

impl Disk {
    /// Takes a folder for this process; with `create` it is made, but not those that it would stand in.
    ///
    /// # Errors
    /// `store.folder`, `store.locked` when another has it for all of `wait`, `store.read_only`, `store.full`, `store.io`.
    pub(crate) fn open(folder: &Path, create: bool, wait: Duration) -> Result<Self, Refusal> {
        let no_folder = |reason: &str| Err(Refusal::new(Code::StoreFolder, reason));
        match fs::metadata(folder) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return no_folder("the store's folder is not a folder"),
            Err(error) if error.kind() == io::ErrorKind::NotFound && create => match make(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return no_folder("the folder above the store's folder does not exist");
                }
                Err(error) => return Err(writing("the store's folder", &error)),
                Ok(()) => {}
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return no_folder("the store's folder does not exist");
            }
            Err(error) => return no_folder(&format!("the store's folder cannot be used: {error}")),
        }
        let path = folder.join(PROCESS_LOCK);
        let open = || {
            let opened =
                open_regular(private(OpenOptions::new().write(true).create(true).truncate(false)), &path);
            opened.map_err(|error| writing("the process lock", &error))
        };
        let mut held = open()?;
        let end = Instant::now() + wait;
        loop {
            match try_lock(&held) {
                // One that was removed meanwhile keeps nobody out.
                Ok(true)
                    if is_still(&held, &path).map_err(|error| writing("the process lock", &error))? =>
                {
                    return Ok(Self { folder: folder.to_owned(), held });
                }
                Ok(true) if Instant::now() < end => held = open()?,
                Ok(true) => {
                    return Err(Refusal::new(
                        Code::StoreLocked,
                        "the process lock is removed again and again",
                    ));
                }
                Ok(false) if Instant::now() >= end => {
                    let reason = "another process has this store open: close it there, or try again later";
                    return Err(Refusal::new(Code::StoreLocked, reason));
                }
                Ok(false) => std::thread::sleep(RETRY.min(end.saturating_duration_since(Instant::now()))),
                Err(error) => return Err(writing("the process lock", &error)),
            }
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Closing the file would do, but for a child process that was forked and has not yet begun its own program.
        let _closing_unlocks_too = unlock(&self.held);
    }
}

/// A folder that only its owner enters, durable in the one above.
fn make(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    match sync_names(above(folder)) {
        // An application may pass through a folder that it cannot read, and so not sync.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        synced => synced,
    }
}

/// The folder in which something stands.
pub(crate) fn above(path: &Path) -> &Path {
    path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Files that only their owner reads and writes.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(unix)]
pub(crate) fn sync_names(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file; the names are the file system's to keep.
#[cfg(not(unix))]
pub(crate) fn sync_names(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether the lock was free. It is of the open file: it goes with it, however the process ends.
#[cfg(unix)]
fn try_lock(file: &File) -> io::Result<bool> {
    match rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(unix)]
fn unlock(file: &File) -> io::Result<()> {
    Ok(rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock)?)
}

#[cfg(not(unix))]
fn unlock(file: &File) -> io::Result<()> {
    file.unlock()
}

#[cfg(not(unix))]
fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(fs::TryLockError::WouldBlock) => Ok(false),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Opens a regular file and nothing else. A link, a folder or a pipe in the place of a file was put there by somebody else:
/// a link would lead out of the folder, a pipe would block whoever opens it.
///
/// # Errors
/// `InvalidInput` where something else stands there; those of opening a file.
pub(crate) fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let no_file = || io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.cast_signed());
    }
    match options.open(path) {
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        Ok(_) => Err(no_file()),
        // Also where the system has its own word for it: a link is a loop, a pipe without a reader no device.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
        Err(error) => match fs::symlink_metadata(path) {
            Ok(found) if !found.is_file() => Err(no_file()),
            _ => Err(error),
        },
    }
}

/// Whether the name still stands for the file that was opened.
#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let held = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (held.dev(), held.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn is_still(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

impl Files for Disk {
    fn read(&self, name: &str, limit: usize) -> io::Result<Vec<u8>> {
        let path = self.path(name);
        let file = open_regular(OpenOptions::new().read(true), &path)?;
        let mut bytes = Vec::new();
        let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        file.take(most).read_to_end(&mut bytes)?;
        if bytes.len() > limit {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("it is over its limit of {limit} bytes"),
            ));
        }
        Ok(bytes)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = private(OpenOptions::new().write(true).create_new(true)).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path(name))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.path(folder))? {
            // A name that is not Unicode is none of ours.
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn make_folder(&self, name: &str) -> io::Result<()> {
        let path = self.path(name);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => Ok(()),
            Ok(_) => Err(io::Error::from(io::ErrorKind::NotADirectory)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path),
            Err(error) => Err(error),
        }
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        sync_names(&self.path(folder))
    }

    fn open_log(&self, name: &str) -> io::Result<Box<dyn LogFile>> {
        let path = self.path(name);
        // To append and not to write at a place: the line that follows a failed one lands behind whatever is there.
        Ok(Box::new(open_regular(OpenOptions::new().append(true), &path)?))
    }
}

impl LogFile for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        // The length counts as data here (POSIX: all that is needed to read the data back); on Apple's systems this is
        // F_FULLFSYNC, which empties the cache of the drive too.
        self.sync_data()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_a_regular_file_is_opened() {
        let above = tempfile::tempdir().unwrap();
        let at = |name: &str| above.path().join(name);
        fs::write(at("file"), "x").unwrap();
        fs::create_dir(at("folder")).unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let ways: [fn(&mut OpenOptions) -> &mut OpenOptions; 3] = [
            |options| options.read(true),
            |options| options.append(true),
            |options| options.write(true).create(true).truncate(false),
        ];
        for way in ways {
            let open = |name: &str| {
                open_regular(way(&mut OpenOptions::new()), &at(name)).map_err(|error| error.kind())
            };
            assert!(open("file").is_ok());
            for name in ["folder", "link", "pipe"] {
                assert_eq!(open(name).unwrap_err(), io::ErrorKind::InvalidInput, "{name}");
            }
        }
    }

    #[test]
    fn nothing_else_stands_for_the_process_lock() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("store");
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(above.path().join("elsewhere"), folder.join(PROCESS_LOCK)).unwrap();
        assert!(Disk::open(&folder, true, Duration::ZERO).is_err());
        assert!(!above.path().join("elsewhere").exists());
    }
}
