//! Writes the seeds of the fuzzers from the shared cases: `cargo run -p connector-fuzz-targets --example seeds -- FOLDER`
//! makes a folder for each target.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a tool for developers"
)]

mod source;

use std::fs;
use std::path::PathBuf;

use connector_fuzz_targets::TARGETS;

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).expect("a folder"));
    for (name, _) in TARGETS {
        let folder = folder.join(name);
        fs::create_dir_all(&folder).unwrap();
        let seeds = source::seeds(name);
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), seed).unwrap();
        }
        println!("{name}: {} seeds", seeds.len());
    }
}
