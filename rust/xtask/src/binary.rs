//! Reads what was built: format, processor, platform and names of a static library, a shared library or an object. On
//! every machine alike, without binutils.

use std::collections::BTreeSet;

use object::elf::PT_LOAD;
use object::macho::{PLATFORM_IOS, PLATFORM_IOSSIMULATOR};
use object::read::archive::ArchiveFile;
use object::read::elf::ProgramHeader;
use object::{Architecture, BinaryFormat, File, Object, ObjectSymbol, SymbolScope};

use crate::target::{ANDROID_PAGE, Arch, IOS_MINIMUM, System, Target};

/// The names of a library, without the underscore that Mach-O puts before each.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Names {
    /// Defined, and seen from outside.
    pub exported: BTreeSet<String>,
    /// Defined at all, those seen from inside only among them.
    pub defined: BTreeSet<String>,
    /// Asked of others; the library does not load without them.
    pub needed: BTreeSet<String>,
    /// Asked of others where they have it.
    pub wanted: BTreeSet<String>,
}

/// The names of a static library, and everything about it that does not fit the target.
///
/// # Errors
/// What is not an archive of object files.
pub fn archive(bytes: &[u8], target: Target) -> Result<(Names, Vec<String>), String> {
    let archive = ArchiveFile::parse(bytes).map_err(|error| format!("no static library: {error}"))?;
    let (mut names, mut problems, mut objects) = (Names::default(), Vec::new(), 0);
    for member in archive.members() {
        let member = member.map_err(|error| format!("a broken static library: {error}"))?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let data = member.data(bytes).map_err(|error| format!("{name}: {error}"))?;
        let file = File::parse(data).map_err(|error| format!("{name} is no object file: {error}"))?;
        problems.extend(misfits(&file, target).into_iter().map(|problem| format!("{name}: {problem}")));
        collect(&mut names, &file, file.symbols());
        objects += 1;
    }
    if objects == 0 {
        problems.push("it is empty".into());
    }
    names.needed.retain(|name| !names.defined.contains(name));
    names.wanted.retain(|name| !names.defined.contains(name));
    Ok((names, problems))
}

/// The names of a shared library, and everything about it that does not fit the target.
///
/// # Errors
/// What is no library.
pub fn shared(bytes: &[u8], target: Target) -> Result<(Names, Vec<String>), String> {
    let file = File::parse(bytes).map_err(|error| format!("no shared library: {error}"))?;
    let mut problems = misfits(&file, target);
    if let File::Elf64(elf) = &file {
        let endian = elf.endian();
        for header in elf.elf_program_headers() {
            let align: u64 = header.p_align(endian);
            if header.p_type(endian) == PT_LOAD && align < ANDROID_PAGE {
                problems.push(format!("a segment is aligned to {align} bytes, not to {ANDROID_PAGE}"));
            }
        }
    }
    let (mut names, mut inside) = (exports(&file), Names::default());
    // The NDK's unwinder is linked in and hidden: only the other table knows its names.
    collect(&mut inside, &file, file.symbols());
    names.defined.append(&mut inside.defined);
    Ok((names, problems))
}

/// The names that a library of this machine exports.
///
/// # Errors
/// What is no library.
pub fn host_exports(bytes: &[u8]) -> Result<BTreeSet<String>, String> {
    let file = File::parse(bytes).map_err(|error| format!("no shared library: {error}"))?;
    Ok(exports(&file).exported)
}

/// The sizes of the named parts of a linked library, for a list of what is large.
///
/// # Errors
/// What is no library.
pub fn sizes(bytes: &[u8]) -> Result<Vec<(String, u64)>, String> {
    let file = File::parse(bytes).map_err(|error| format!("no shared library: {error}"))?;
    let named = file.symbols().filter(|symbol| symbol.is_definition() && symbol.size() > 0);
    Ok(named.filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.size()))).collect())
}

/// Mach-O has one table of names for all; ELF's dynamic one is what a loader sees.
fn exports(file: &File<'_>) -> Names {
    let mut names = Names::default();
    match file.format() {
        BinaryFormat::MachO => collect(&mut names, file, file.symbols()),
        _ => collect(&mut names, file, file.dynamic_symbols()),
    }
    names
}

fn collect<'data>(
    names: &mut Names,
    file: &File<'_>,
    symbols: impl Iterator<Item = impl ObjectSymbol<'data>>,
) {
    for symbol in symbols {
        let Ok(name) = symbol.name() else { continue };
        let name = spelled(file.format(), name).to_owned();
        if name.is_empty() {
        } else if symbol.is_undefined() {
            let names = if symbol.is_weak() { &mut names.wanted } else { &mut names.needed };
            names.insert(name);
        } else if symbol.is_definition() {
            // Mach-O's own word for what the static linker sees and the loader does not is `Linkage`.
            if symbol.is_global() && matches!(symbol.scope(), SymbolScope::Dynamic | SymbolScope::Unknown) {
                names.exported.insert(name.clone());
            }
            names.defined.insert(name);
        }
    }
}

/// The name as C spells it: Mach-O puts an underscore before each.
fn spelled(format: BinaryFormat, name: &str) -> &str {
    match format {
        BinaryFormat::MachO => name.strip_prefix('_').unwrap_or(name),
        _ => name,
    }
}

fn misfits(file: &File<'_>, target: Target) -> Vec<String> {
    let mut problems = Vec::new();
    let format = if target.is_apple() { BinaryFormat::MachO } else { BinaryFormat::Elf };
    if file.format() != format {
        problems.push(format!("it is {:?}, not {format:?}", file.format()));
    }
    let architecture = match target.arch {
        Arch::Arm64 => Architecture::Aarch64,
        Arch::X86 => Architecture::X86_64,
    };
    if file.architecture() != architecture {
        problems.push(format!("it is for {:?}, not for {architecture:?}", file.architecture()));
    }
    if let File::MachO64(macho) = file {
        // Objects of assembler may say nothing; what they say must be right.
        if let Ok(Some((version, _))) = macho.build_version() {
            let platform = match target.system {
                System::IosSimulator => PLATFORM_IOSSIMULATOR,
                System::Ios | System::Android => PLATFORM_IOS,
            };
            let endian = macho.endian();
            if version.platform.get(endian) != platform {
                problems
                    .push(format!("its platform is {:?}, not {platform:?}", version.platform.get(endian)));
            }
            let minimum = version.minos.get(endian).0;
            if minimum > encoded(IOS_MINIMUM) {
                problems.push(format!(
                    "it starts on iOS {}.{} at the oldest, not on {IOS_MINIMUM}",
                    minimum >> 16,
                    minimum >> 8 & 0xff
                ));
            }
        }
    }
    problems
}

/// `15.1` as Mach-O writes it.
fn encoded(version: &str) -> u32 {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    next() << 16 | next() << 8 | next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(triple: &str) -> Target {
        Target::named(triple).unwrap()
    }

    #[test]
    fn versions_are_written_as_mach_o_does() {
        assert_eq!(encoded("15.1"), 0x000f_0100);
        assert_eq!(encoded("7"), 0x0007_0000);
    }

    #[test]
    fn one_underscore_of_mach_o_is_no_part_of_a_name() {
        assert_eq!(spelled(BinaryFormat::MachO, "_uniffi_f"), "uniffi_f");
        assert_eq!(spelled(BinaryFormat::MachO, "__Unwind_Resume"), "_Unwind_Resume");
        assert_eq!(spelled(BinaryFormat::Elf, "_Unwind_Resume"), "_Unwind_Resume");
    }

    #[test]
    fn what_is_no_library_is_refused() {
        assert!(archive(b"not an archive", target("aarch64-apple-ios")).is_err());
        assert!(shared(b"\x7fELF", target("aarch64-linux-android")).is_err());
    }

    #[test]
    fn an_empty_archive_is_a_problem() {
        let (names, problems) = archive(b"!<arch>\n", target("aarch64-linux-android")).unwrap();
        assert_eq!((names, problems), (Names::default(), vec!["it is empty".to_owned()]));
    }

    /// This very program is a file of another system, whatever machine the test runs on.
    #[test]
    fn a_program_of_this_machine_fits_no_phone() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let other = if cfg!(target_vendor = "apple") { "aarch64-linux-android" } else { "aarch64-apple-ios" };
        let (_, problems) = shared(&program, target(other)).unwrap();
        assert!(problems.iter().any(|problem| problem.starts_with("it is ")), "{problems:?}");
        assert!(!sizes(&program).unwrap().is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_alignment_of_4_kb_is_told() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let (names, problems) = shared(&program, target("x86_64-linux-android")).unwrap();
        assert!(problems.iter().any(|problem| problem.contains("aligned to 4096 bytes")), "{problems:?}");
        assert!(names.needed.contains("malloc"));
    }
}
