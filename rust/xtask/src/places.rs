//! Where things are, and how programs are run.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Where big things are kept between runs; everything in it is made again when it is missing.
pub fn cache() -> PathBuf {
    let base = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let base = base.or_else(|| home().map(|home| home.join(".cache")));
    base.map_or_else(|| root().join("target"), |base| base.join("connector-core")).join("mobile")
}

/// The home folder, which no library may name.
pub fn home() -> Option<PathBuf> {
    env::var_os("HOME")
        .or_else(|| env::var_os("USERPROFILE"))
        .map(PathBuf::from)
        .filter(|home| home.is_absolute())
}

/// Where cargo keeps the sources of dependencies.
pub fn cargo_home() -> Option<PathBuf> {
    env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| home().map(|home| home.join(".cargo")))
}

/// A program on the path.
pub fn program(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Runs a program whose output goes where ours goes.
///
/// # Errors
/// A program that does not start or does not end well.
pub fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| format!("{name} does not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} ended with {status}: {command:?}")) }
}

/// Runs a program and gives what it wrote.
///
/// # Errors
/// A program that does not start or does not end well.
pub fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name} does not start: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!(
            "{name} ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))
    }
}

/// Reads a file.
///
/// # Errors
/// One that cannot be read, by name.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file and the folders it is in, unless it says the same already.
///
/// # Errors
/// One that cannot be written, by name.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if std::fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, bytes))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Copies a file into a folder that may not be there yet.
///
/// # Errors
/// One that cannot be read or written, by name.
pub fn copy(from: &Path, to: &Path) -> Result<(), String> {
    write(to, &read(from)?)
}
