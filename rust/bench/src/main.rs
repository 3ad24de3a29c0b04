//! Speed and memory, as ratios: each row runs the core and a reference in turns, in this process, and compares their
//! medians. A shared machine moves both alike.
//!
//! `cargo run --release -p connector-bench`

#![allow(clippy::print_stdout, reason = "a table is what this program makes")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark that fails should say where and stop"
)]

mod check;
mod execute;
mod grammar;
mod memory;
mod merge;
mod plan;
mod table;

#[global_allocator]
static ALLOCATOR: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

type Rows = fn(&mut table::Table);

fn main() {
    // With a name, only the rows of that part: for a profiler.
    let only = std::env::args().nth(1);
    let mut table = table::Table::new();
    let parts: [(&str, Rows); 6] = [
        ("memory", memory::rows),
        ("check", check::rows),
        ("grammar", grammar::rows),
        ("plan", plan::rows),
        ("execute", execute::rows),
        ("merge", merge::rows),
    ];
    for (name, rows) in parts {
        if only.as_deref().is_none_or(|only| only == name) {
            rows(&mut table);
        }
    }
    table.finish();
}
