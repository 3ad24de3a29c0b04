//! `cargo xtask mobile`: builds the libraries, and checks what was built.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use crate::library;
use crate::sizes::{Measured, Record};
use crate::symbols::{self, AndroidNames};
use crate::target::{TARGETS, Target};
use crate::toolchain::{Choice, Toolchain};
use crate::{binary, parts, places};

/// How many lines of the list of parts are printed.
const PARTS: usize = 24;

/// What the command line says.
#[derive(Debug, Args)]
pub struct Mobile {
    /// Only this target; may be said more than once. All five without it.
    #[arg(long = "target", value_name = "TRIPLE")]
    targets: Vec<String>,
    /// All five, said aloud.
    #[arg(long, conflicts_with = "targets")]
    all: bool,
    /// The cargo profile. Only `mobile` is compared with the record of sizes.
    #[arg(long, default_value = "mobile")]
    profile: String,
    /// What builds it.
    #[arg(long, value_enum, default_value_t)]
    toolchain: Choice,
    /// Takes the measured sizes into the record, with this explanation.
    #[arg(long, value_name = "REASON")]
    record: Option<String>,
    /// Prints what the libraries are made of.
    #[arg(long)]
    parts: bool,
}

/// What was built.
struct Library {
    archive: PathBuf,
    /// Android's, with its symbols.
    shared: Option<PathBuf>,
}

/// Builds and checks.
///
/// # Errors
/// Every problem that was found, after all targets have been built.
pub fn run(options: &Mobile) -> Result<(), String> {
    let targets: Vec<Target> = if options.targets.is_empty() {
        TARGETS.to_vec()
    } else {
        options.targets.iter().map(|triple| Target::named(triple)).collect::<Result<_, _>>()?
    };
    let path = places::root().join("rust/xtask/sizes.json");
    let mut record = Record::read(&path)?;
    let expected = library::expected()?;
    println!(
        "{} names are called by the bindings",
        expected.iter().filter(|name| symbols::is_of_bindings(name)).count()
    );
    let (mut problems, mut all, mut toolchain) = (Vec::new(), BTreeMap::new(), String::new());
    for target in targets {
        let started = Instant::now();
        let tools = Toolchain::find(target, options.toolchain)?;
        toolchain = tools.name()?;
        println!("\n{} with {toolchain}", target.triple);
        let archive = library::archive(target, &tools, &options.profile)?;
        println!("  built in {} s", started.elapsed().as_secs());
        let shared = match target.android_abi() {
            Some(_) => Some(library::shared(&archive, target, &tools, &expected)?),
            None => None,
        };
        let library = Library { archive, shared };
        let mut found = check(&library, target, &tools, &expected)?;
        let measured = measure(&library, target, &tools)?;
        for (part, bytes) in &measured {
            println!("  {part}: {bytes} bytes");
        }
        let comparable =
            options.profile == "mobile" && (record.toolchain.is_empty() || record.toolchain == toolchain);
        if options.record.is_some() {
            all.insert(target.triple.to_owned(), measured);
        } else if comparable {
            let comparison = record.compare(target.triple, &measured);
            comparison.notes.iter().for_each(|note| println!("  {note}"));
            found.extend(comparison.problems);
        } else {
            println!("  not compared: the record is of profile mobile with {}", record.toolchain);
        }
        if let Some(shared) = library.shared.as_deref().filter(|_| options.parts) {
            print_parts(shared)?;
        }
        if found.is_empty() {
            println!("  every check passed");
        }
        problems.extend(found.into_iter().map(|problem| format!("{}: {problem}", target.triple)));
    }
    if let Some(reason) = options.record.as_deref().filter(|_| problems.is_empty()) {
        record.explain(&toolchain, &all, reason);
        record.write(&path)?;
        println!("\nrecorded in {}", path.display());
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Format, processor, platform, names and paths of what was built.
fn check(
    library: &Library,
    target: Target,
    tools: &Toolchain,
    expected: &BTreeSet<String>,
) -> Result<Vec<String>, String> {
    let bytes = places::read(&library.archive)?;
    let (names, mut problems) = binary::archive(&bytes, target)?;
    problems.extend(symbols::problems(&names, expected));
    problems.extend(of_this_machine(&bytes));
    if let Some(shared) = &library.shared {
        let bytes = places::read(shared)?;
        let (names, more) = binary::shared(&bytes, target)?;
        let in_shared = |problem: String| format!("shared library: {problem}");
        problems.extend(more.into_iter().map(in_shared));
        problems.extend(symbols::problems(&names, expected).into_iter().map(in_shared));
        problems.extend(of_this_machine(&bytes).map(in_shared));
        if matches!(tools, Toolchain::Source(_)) {
            // The NDK's own libraries of this API level have said so already, of its unwinder too.
            let android = AndroidNames::parse(include_str!("../android/api24.txt"))?;
            problems.extend(android.lacking(&names).into_iter().map(in_shared));
        }
    }
    Ok(problems)
}

/// The folder of the person who built it stands in a library that was not built with care.
fn of_this_machine(bytes: &[u8]) -> Option<String> {
    let folders = places::home().into_iter().chain([places::root()]);
    let mut folders =
        folders.map(|folder| folder.to_string_lossy().into_owned()).filter(|folder| folder.len() > 1);
    let holds = |folder: &String| {
        let needle = format!("{folder}/").into_bytes();
        bytes.windows(needle.len()).any(|window| window == needle)
    };
    folders.find(holds).map(|folder| format!("it names the folder {folder} of this machine"))
}

fn measure(library: &Library, target: Target, tools: &Toolchain) -> Result<Measured, String> {
    let size = |path: &Path| {
        std::fs::metadata(path).map(|data| data.len()).map_err(|error| format!("{}: {error}", path.display()))
    };
    let mut measured = Measured::new();
    if let Some(shared) = &library.shared {
        measured.insert("shared".into(), size(&library::stripped(shared, tools)?)?);
    } else {
        measured.insert("archive".into(), size(&library.archive)?);
        if let Some(linked) = library::linked(&library.archive, target, tools)? {
            measured.insert("linked".into(), size(&linked)?);
        }
    }
    Ok(measured)
}

fn print_parts(shared: &Path) -> Result<(), String> {
    let (crates, single) = parts::of(&binary::sizes(&places::read(shared)?)?);
    println!("  bytes by crate:");
    crates.iter().take(PARTS).for_each(|(name, size)| println!("  {size:>9}  {name}"));
    println!("  largest parts:");
    single.iter().take(PARTS).for_each(|(name, size)| println!("  {size:>9}  {name:.120}"));
    Ok(())
}
