//! `cargo xtask ios`: the `XCFramework` of the libraries, and its checksum, for the Swift package in `ios/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use sha2::{Digest as _, Sha256};

use crate::library;
use crate::places;
use crate::target::{System, TARGETS, Target};
use crate::toolchain::{Choice, Toolchain};

/// The module that generated Swift imports; also the sub-folder of its headers, since two `XCFrameworks` that both have
/// a `module.modulemap` at the top cannot be in one application.
const MODULE: &str = "ConnectorCoreFFI";

/// What the command line says.
#[derive(Debug, Args)]
pub struct Ios {
    /// Where the archive will be served: also writes a `Package.swift` that names this address and the checksum.
    #[arg(long)]
    url: Option<String>,
}

/// Builds and packs.
///
/// # Errors
/// What is missing or fails.
pub fn run(options: &Ios) -> Result<(), String> {
    if let Some(missing) = missing(|name| places::program(name).is_some()) {
        return Err(missing);
    }
    let ios = places::root().join("ios");
    let build = ios.join("build");
    let swift = places::root().join("bindings/swift");
    let headers = headers(&swift, &build)?;
    sources(&swift.join("Sources/ConnectorCore"), &ios.join("Sources/ConnectorCore"))?;
    let mut libraries = Vec::new();
    for system in [System::Ios, System::IosSimulator] {
        let targets: Vec<Target> = TARGETS.into_iter().filter(|target| target.system == system).collect();
        libraries.push(united(&targets, &build.join(format!("{system:?}")))?);
    }
    let framework = build.join(format!("{MODULE}.xcframework"));
    if framework.exists() {
        fs::remove_dir_all(&framework).map_err(|error| format!("{}: {error}", framework.display()))?;
    }
    let mut pack = Command::new("xcodebuild");
    pack.arg("-create-xcframework");
    for library in &libraries {
        pack.arg("-library").arg(library).arg("-headers").arg(&headers);
    }
    places::run(pack.arg("-output").arg(&framework))?;
    let archive = build.join(format!("{MODULE}.xcframework.zip"));
    places::run(Command::new("ditto").args(["-c", "-k", "--keepParent"]).arg(&framework).arg(&archive))?;
    let checksum = checksum(&places::read(&archive)?);
    places::write(&archive.with_extension("zip.checksum"), format!("{checksum}\n").as_bytes())?;
    if let Some(url) = &options.url {
        let package = String::from_utf8_lossy(&places::read(&ios.join("Package.swift"))?).into_owned();
        places::write(&build.join("release/Package.swift"), released(&package, url, &checksum)?.as_bytes())?;
    }
    println!("{}\nchecksum {checksum}\nThe package: {}", archive.display(), ios.display());
    Ok(())
}

/// What this machine lacks for it.
fn missing(has: impl Fn(&str) -> bool) -> Option<String> {
    let tools = ["xcodebuild", "lipo", "ditto"].into_iter().filter(|tool| !has(tool)).collect::<Vec<_>>();
    (!tools.is_empty()).then(|| {
        format!(
            "An XCFramework is packed by Xcode, on a Mac: there is no {}. The libraries themselves are built and checked \
             on Linux too: cargo xtask mobile --target aarch64-apple-ios",
            tools.join(", ")
        )
    })
}

/// One library of all processors of a platform: an `XCFramework` takes one file for each.
fn united(targets: &[Target], folder: &Path) -> Result<PathBuf, String> {
    let united = folder.join(format!("lib{}.a", library::NAME));
    let mut lipo = Command::new("lipo");
    lipo.arg("-create");
    for target in targets {
        let tools = Toolchain::find(*target, Choice::Platform)?;
        lipo.arg(library::archive(*target, &tools, "mobile")?);
    }
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    places::run(lipo.arg("-output").arg(&united))?;
    Ok(united)
}

/// The folder of headers: the generated header and its module map, in a sub-folder.
fn headers(swift: &Path, build: &Path) -> Result<PathBuf, String> {
    let (mut header, mut map) = (None, None);
    let mut folders = vec![swift.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder)
            .map_err(|error| format!("no generated Swift: {}: {error}", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match name.as_str() {
                _ if path.is_dir() && !name.starts_with('.') => folders.push(path),
                "ConnectorCoreFFI.h" => header = Some(path),
                "ConnectorCoreFFI.modulemap" => map = Some(path),
                _ => {}
            }
        }
    }
    let header = header.ok_or_else(|| format!("no {MODULE}.h under {}", swift.display()))?;
    let to = build.join("headers");
    places::copy(&header, &to.join(MODULE).join(format!("{MODULE}.h")))?;
    let written = to.join(MODULE).join("module.modulemap");
    match map {
        Some(map) => places::copy(&map, &written)?,
        None => places::write(&written, module_map().as_bytes())?,
    }
    Ok(to)
}

/// Copies the Swift: a package may not name files outside its folder.
fn sources(from: &Path, to: &Path) -> Result<(), String> {
    let entries =
        fs::read_dir(from).map_err(|error| format!("no generated Swift: {}: {error}", from.display()))?;
    if to.exists() {
        fs::remove_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    }
    for path in entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "swift"))
    {
        places::copy(&path, &to.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// The package with an address and a checksum in place of the folder.
fn released(package: &str, url: &str, checksum: &str) -> Result<String, String> {
    let local = format!("path: \"build/{MODULE}.xcframework\"");
    if url.contains(['"', '\\']) || !url.starts_with("https://") {
        return Err(format!("not an https address: {url}"));
    }
    if package.matches(&local).count() != 1 {
        return Err(format!("ios/Package.swift does not name {local} once"));
    }
    Ok(package.replace(&local, &format!("url: \"{url}\", checksum: \"{checksum}\"")))
}

fn module_map() -> String {
    format!("module {MODULE} {{\n    header \"{MODULE}.h\"\n    export *\n}}\n")
}

/// What `swift package compute-checksum` gives.
fn checksum(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_xcode_is_told_what_it_can_do() {
        let message = missing(|_| false).unwrap();
        assert!(
            message.contains("xcodebuild, lipo, ditto") && message.contains("cargo xtask mobile"),
            "{message}"
        );
        assert_eq!(missing(|_| true), None);
    }

    #[test]
    fn headers_stand_in_a_sub_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (swift, build) = (folder.path().join("swift"), folder.path().join("build"));
        assert!(headers(&swift, &build).is_err());
        places::write(&swift.join("Sources/FFI/ConnectorCoreFFI.h"), b"// generated").unwrap();
        let headers = headers(&swift, &build).unwrap();
        assert_eq!(
            places::read(&headers.join("ConnectorCoreFFI/ConnectorCoreFFI.h")).unwrap(),
            b"// generated"
        );
        assert!(headers.join("ConnectorCoreFFI/module.modulemap").exists());
        assert!(!headers.join("module.modulemap").exists());
    }

    #[test]
    fn a_released_package_names_address_and_checksum() {
        let package = include_str!("../../../ios/Package.swift");
        let released = released(package, "https://example.org/a.zip", "00ff").unwrap();
        assert!(released.contains("url: \"https://example.org/a.zip\", checksum: \"00ff\""), "{released}");
        assert!(!released.contains("path: \"build"));
        assert!(super::released(package, "http://example.org/a.zip", "00ff").is_err());
        assert!(super::released("", "https://example.org/a.zip", "00ff").is_err());
    }

    #[test]
    fn sources_are_those_of_the_bindings_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        places::write(&from.join("A.swift"), b"a").unwrap();
        places::write(&from.join("notes.txt"), b"n").unwrap();
        places::write(&to.join("Old.swift"), b"o").unwrap();
        sources(&from, &to).unwrap();
        assert_eq!(places::read(&to.join("A.swift")).unwrap(), b"a");
        assert!(!to.join("Old.swift").exists() && !to.join("notes.txt").exists());
    }

    #[test]
    fn the_checksum_is_sha_256_in_hexadecimal() {
        assert_eq!(checksum(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn the_package_starts_where_the_libraries_do() {
        let package = include_str!("../../../ios/Package.swift");
        assert!(package.contains(&format!(".iOS(\"{}\")", crate::target::IOS_MINIMUM)));
    }
}
