//! The scripts that switch guards off: each expression still finds its guard. Nothing is built for that.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

use std::path::Path;
use std::process::Command;

#[test]
fn no_mutant_is_stale() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let has = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).current_dir(&root).output();
        output.is_ok_and(|output| output.status.success())
    };
    // A copy without its history has no list of files.
    if !cfg!(unix) || !has("git", &["ls-files", "rust/selftest"]) || !has("perl", &["-v"]) {
        assert!(std::env::var_os("CI").is_none(), "the mutants need git and perl");
        println!("skipped: the mutants need git and perl");
        return;
    }
    for script in ["rust/selftest/tests/mutate.sh", "rust/core/tests/merge/mutate.sh"] {
        let copy = std::env::temp_dir().join(format!("connector-mutants-{}", std::process::id()));
        let output = Command::new("sh").arg(root.join(script)).arg(&copy).env("CHECK", "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("0 survivors"), "{script}: {said}");
        std::fs::remove_dir_all(copy).unwrap();
    }
}
