//! Builds the library of a target.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary;
use crate::places;
use crate::symbols::is_of_bindings;
use crate::target::{ANDROID_PAGE, Target};
use crate::toolchain::{Toolchain, clean};

/// The one crate that phones get. Built alone: with the command line in the same run, cargo would join their features.
const PACKAGE: &str = "connector-ffi";
/// Its name as a library.
pub const NAME: &str = "connector_ffi";

/// Builds the static library of a target, and gives its path.
///
/// # Errors
/// What keeps it from being built.
pub fn archive(target: Target, tools: &Toolchain, profile: &str) -> Result<PathBuf, String> {
    no_test_hooks(target)?;
    let folder = places::cache().join("target");
    let mut cargo = tools.cargo(target);
    cargo
        .current_dir(places::root())
        .env("CARGO_TARGET_DIR", &folder)
        .env("CARGO_ENCODED_RUSTFLAGS", remapped());
    cargo.args(["rustc", "--locked", "--quiet", "--package", PACKAGE, "--lib", "--profile", profile]);
    // Named here and not in Cargo.toml alone: beside a `lib` cargo would leave out link-time optimisation.
    cargo.args(["--crate-type", "staticlib", "--target", target.triple]);
    cargo.env(format!("CFLAGS_{}", target.underscored()), c_flags(&tools.c_flags()));
    if matches!(tools, Toolchain::Source(_)) {
        cargo.arg("-Zbuild-std=std,panic_unwind");
    }
    places::run(&mut cargo)?;
    Ok(folder.join(target.triple).join(profile).join(format!("lib{NAME}.a")))
}

/// Links Android's shared library from the static one, and gives its path. It exports what the bindings call and no more,
/// so that the linker leaves out what nobody can reach, uniffi's metadata (the texts of all documentation) among it.
///
/// # Errors
/// A name that Android lacks, or another fault of the linker.
pub fn shared(
    archive: &Path,
    target: Target,
    tools: &Toolchain,
    exported: &BTreeSet<String>,
) -> Result<PathBuf, String> {
    let script = archive.with_extension("exports");
    let names = exported.iter().filter(|name| is_of_bindings(name));
    let listed: Vec<_> = names.clone().map(String::as_str).collect();
    places::write(&script, format!("{{ global: {}; local: *; }};\n", listed.join("; ")).as_bytes())?;
    let to = archive.with_extension("so");
    let mut link = tools.android_linker(target)?;
    link.args(["-shared", "-o"]).arg(&to).arg(archive);
    // Nothing in the library itself asks for them.
    link.args(names.map(|name| format!("-Wl,--undefined={name}")));
    link.arg(format!("-Wl,--version-script={}", script.display()));
    link.arg(format!("-Wl,-soname,lib{NAME}.so")).arg(format!("-Wl,-z,max-page-size={ANDROID_PAGE}"));
    link.args([
        "-Wl,-z,defs",
        "-Wl,-z,relro",
        "-Wl,-z,now",
        "-Wl,-z,noexecstack",
        "-Wl,--gc-sections",
        "-Wl,--as-needed",
    ]);
    // Functions of the same code become one. Nothing compares their addresses for more than "the same code".
    link.args(["-Wl,--icf=all", "-Wl,-O2", "-Wl,--build-id=sha1"]);
    // Relocations packed as every supported Android reads them (from API 23), and one hash table.
    link.args(["-Wl,--pack-dyn-relocs=android", "-Wl,--hash-style=gnu", "-Wl,--eh-frame-hdr"]);
    places::run(link.args(["-ldl", "-lm", "-lc"]))?;
    Ok(to)
}

/// The names by which the bindings call, as the library of this machine exports them.
///
/// # Errors
/// A library that cannot be built or read.
pub fn expected() -> Result<BTreeSet<String>, String> {
    let mut cargo = clean(Path::new("cargo"));
    let folder = places::root().join("target");
    cargo.current_dir(places::root()).env("CARGO_TARGET_DIR", &folder);
    cargo.args(["rustc", "--locked", "--quiet", "--package", PACKAGE, "--lib", "--crate-type", "cdylib"]);
    places::run(&mut cargo)?;
    let file = format!("{}{NAME}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    binary::host_exports(&places::read(&folder.join("debug").join(file))?)
}

/// The library without what only a debugger reads: what a phone carries.
///
/// # Errors
/// A tool that is missing or fails.
pub fn stripped(shared: &Path, tools: &Toolchain) -> Result<PathBuf, String> {
    let strip = tools.llvm("llvm-strip").ok_or("no llvm-strip")?;
    let to = shared.with_extension("stripped.so");
    places::run(Command::new(strip).arg("--strip-all").arg("-o").arg(&to).arg(shared))?;
    Ok(to)
}

/// A stripped dylib of everything that the bindings call, by LLVM's linker; what Apple's frameworks have is left open.
/// Only to be measured: an application links the archive.
///
/// # Errors
/// A linker that fails.
pub fn linked(archive: &Path, target: Target, tools: &Toolchain) -> Result<Option<PathBuf>, String> {
    let Some(linker) = tools.llvm("ld64.lld").filter(|linker| linker.exists()) else { return Ok(None) };
    let platform = if target.system == crate::target::System::Ios { "ios" } else { "ios-simulator" };
    let minimum = crate::target::IOS_MINIMUM;
    let to = archive.with_extension("linked.dylib");
    let mut link = Command::new(linker);
    link.args(["-arch", target.apple_arch(), "-platform_version", platform, minimum, minimum]);
    link.args(["-dylib", "-dead_strip", "-undefined", "dynamic_lookup", "-x", "-S"]);
    link.args(["-exported_symbol", "_uniffi_*", "-exported_symbol", "_ffi_*"]);
    link.arg("-force_load").arg(archive).arg("-o").arg(&to);
    places::run(&mut link)?;
    Ok(Some(to))
}

/// The flags of ring's C: without the text for debuggers that it asks for, and without paths of this machine.
fn c_flags(more: &str) -> String {
    let home = places::cargo_home().map(|home| format!(" -ffile-prefix-map={}=cargo", home.display()));
    format!("-g0{}{more}", home.unwrap_or_default())
}

/// Paths of the builder's machine are replaced in messages of panics: they are nobody's business, and the size of a
/// library must not depend on them.
fn remapped() -> String {
    let mut flags = vec![format!("--remap-path-prefix={}=", places::root().display())];
    if let Some(home) = places::cargo_home() {
        flags.push(format!("--remap-path-prefix={}=cargo", home.display()));
    }
    flags.join("\u{1f}")
}

/// Asks cargo itself: the feature is not among those that this build resolves to.
fn no_test_hooks(target: Target) -> Result<(), String> {
    let mut cargo = clean(Path::new("cargo"));
    cargo.current_dir(places::root());
    cargo.args([
        "tree",
        "--locked",
        "--quiet",
        "--package",
        PACKAGE,
        "--edges",
        "features,no-dev",
        "--prefix",
        "none",
    ]);
    let tree = places::output(cargo.args(["--target", target.triple]))?;
    match tree.lines().find(|line| line.contains("test-hooks")) {
        None => Ok(()),
        Some(line) => Err(format!("the build for {} has {line}", target.triple)),
    }
}
