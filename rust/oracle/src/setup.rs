//! Installing llama.rn and building the judge, once for each version of the files here.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

const PACKAGE: &str = include_str!("../llama/package.json");
const LOCK: &str = include_str!("../llama/package-lock.json");
const NPMRC: &str = include_str!("../llama/.npmrc");
const SOURCES: [(&str, &str); 2] =
    [("judge.cpp", include_str!("../llama/judge.cpp")), ("rest.cpp", include_str!("../llama/rest.cpp"))];
/// What is taken of llama.rn, below its folder `cpp`.
const THEIRS: [&str; 4] =
    ["common/json-schema-to-grammar.cpp", "llama-grammar.cpp", "unicode.cpp", "unicode-data.cpp"];

/// What runs models: its files, and the package of llama.node, which has the same C++ ready for Node.
const NODE: [(&str, &str); 4] = [
    ("package.json", include_str!("../llama/node/package.json")),
    ("package-lock.json", include_str!("../llama/node/package-lock.json")),
    (".npmrc", NPMRC),
    ("infer.mjs", include_str!("../llama/node/infer.mjs")),
];

/// The program of the judge, built at the first call, which takes about a minute. `Ok(None)` where npm or g++ is
/// missing; an error where they are there and something else went wrong.
pub fn judge_program() -> io::Result<Option<&'static Path>> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    if let Some(known) = PROGRAM.get() {
        return Ok(known.as_deref());
    }
    let built = if is_there("npm") && is_there("g++") { Some(build()?) } else { None };
    Ok(PROGRAM.get_or_init(|| built).as_deref())
}

/// The script that runs models, its package installed at the first call. `Ok(None)` where Node or npm is missing.
pub(crate) fn inference_script() -> io::Result<Option<PathBuf>> {
    if !is_there("npm") || !is_there("node") {
        return Ok(None);
    }
    let mut hasher = DefaultHasher::new();
    NODE.hash(&mut hasher);
    let cache = target().join("llama.node");
    fs::create_dir_all(&cache)?;
    let lock = fs::File::create(cache.join("lock"))?;
    lock.lock()?;
    let done = cache.join(format!("installed-{:016x}", hasher.finish()));
    if !done.exists() {
        NODE.iter().try_for_each(|(name, text)| fs::write(cache.join(name), text))?;
        run(Command::new("npm").args(["ci", "--ignore-scripts"]).current_dir(&cache))?;
        fs::write(done, "")?;
    }
    Ok(Some(cache.join("infer.mjs")))
}

/// A file below the folder of build products, written anew.
pub(crate) fn product(name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let path = target().join(name);
    fs::write(&path, bytes)?;
    Ok(path)
}

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn build() -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (PACKAGE, LOCK, NPMRC, SOURCES, THEIRS).hash(&mut hasher);
    let cache = target().join("llama.rn");
    fs::create_dir_all(&cache)?;
    // Other test programs may be at it too.
    let lock = fs::File::create(cache.join("lock"))?;
    lock.lock()?;
    let program = cache.join(format!("judge-{:016x}", hasher.finish()));
    if program.exists() {
        return Ok(program);
    }
    for (name, text) in
        [("package.json", PACKAGE), ("package-lock.json", LOCK), (".npmrc", NPMRC)].into_iter().chain(SOURCES)
    {
        fs::write(cache.join(name), text)?;
    }
    run(Command::new("npm").arg("ci").current_dir(&cache))?;
    let cpp = Path::new("node_modules/llama.rn/cpp");
    let unfinished = program.with_extension("unfinished");
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-O2", "-w", "-o"]).arg(&unfinished);
    for include in [cpp.to_owned(), cpp.join("common")] {
        compiler.arg("-I").arg(include);
    }
    compiler.args(SOURCES.map(|(name, _)| name)).args(THEIRS.map(|source| cpp.join(source)));
    run(compiler.current_dir(&cache))?;
    fs::rename(&unfinished, &program)?;
    Ok(program)
}

/// The folder of build products.
fn target() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace.join("target"), |target| workspace.join(target))
}

fn run(command: &mut Command) -> io::Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{}: {}: {text}", command.get_program().display(), output.status)))
}
