//! The modules of the core stand in a line, and each uses only those before it.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may panic, and prints its counts"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// The order of docs/ARCHITECTURE.md.
const LINE: [&str; 15] = [
    "limits", "rule", "error", "json", "shape", "text", "schema", "origin", "request", "response",
    "manifest", "grant", "toolset", "export", "call",
];
/// `rule` prints json paths and `error` carries findings: the three make the ground on which the line stands.
const GROUND: usize = 4;
/// Beside the line: the audit trail and signatures use only the ground, and the catalogue lists the rules of all.
const ASIDE: [&str; 3] = ["audit", "signature", "catalogue"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            sources(&entry.path(), found);
        } else if entry.path().extension().is_some_and(|extension| extension == "rs") {
            found.push(entry.path());
        }
    }
}

#[test]
fn each_module_uses_only_those_before_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let rank = |module: &str| LINE.iter().position(|known| *known == module);
    let mut breaches = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("lib.rs")) {
        let module =
            file.strip_prefix(&src).unwrap().components().next().unwrap().as_os_str().to_string_lossy();
        let module = module.trim_end_matches(".rs");
        assert!(rank(module).is_some() || ASIDE.contains(&module), "{module} has no place in the line");
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for (number, line) in
            code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            for used in line.split("crate::").skip(1) {
                let used: String =
                    used.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                let (Some(to), from) = (rank(&used), rank(module)) else { continue };
                let ground = to < GROUND;
                if !ground && module != "catalogue" && from.is_none_or(|from| to > from) {
                    breaches.push(format!("{}:{}: {module} uses {used}", file.display(), number + 1));
                }
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn the_core_is_pure() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for banned in [
            "std::fs",
            "std::net::Tcp",
            "std::env",
            "SystemTime",
            "Instant::now",
            "tokio",
            "async fn",
            "std::thread::spawn",
        ] {
            assert!(!code.contains(banned), "{} names {banned}", file.display());
        }
    }
}
