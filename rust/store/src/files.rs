//! What the store asks of a file system. Behind it stands the disk, or in tests one that loses power.

use std::io;

/// A folder and its files; names are relative to the folder of the store.
///
/// Nothing here is durable by itself but the bytes of [`Files::write`]: a name that was made, moved or removed is so
/// after [`Files::sync_folder`], a line of a log after [`LogFile::sync`].
pub(crate) trait Files: Send + Sync {
    /// The bytes of a regular file of at most `limit` bytes.
    fn read(&self, name: &str, limit: usize) -> io::Result<Vec<u8>>;
    /// Makes a file anew and makes its bytes durable; its name is not yet.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Gives a file another name, in place of the one that has it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// The names in a folder; `""` is the folder of the store.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;
    /// Makes a folder; one that is there is fine.
    fn make_folder(&self, name: &str) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &str) -> io::Result<()>;
    /// Opens a file that exists, to append to it.
    fn open_log(&self, name: &str) -> io::Result<Box<dyn LogFile>>;
}

/// A file that grows.
pub(crate) trait LogFile: Send {
    /// Adds bytes at the end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Cuts the file to a length.
    fn truncate(&mut self, len: u64) -> io::Result<()>;
    /// Makes everything in the file durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// The ending of files that are being written; what a crash left of them is removed when the store is opened.
pub(crate) const UNFINISHED: &str = ".tmp";

/// Writes a file so that its name stands for the old bytes or for the new ones, durably once this returns.
pub(crate) fn replace(files: &dyn Files, folder: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    place(files, name, bytes)?;
    files.sync_folder(folder)
}

/// The same without the last step: the new bytes are durable, which of the two the name stands for is not.
pub(crate) fn place(files: &dyn Files, name: &str, bytes: &[u8]) -> io::Result<()> {
    let unfinished = format!("{name}{UNFINISHED}");
    let placed = files.write(&unfinished, bytes).and_then(|()| files.rename(&unfinished, name));
    if placed.is_err() {
        // It may be what fills the disk.
        let _left_for_the_next_opening = files.remove(&unfinished);
    }
    placed
}
