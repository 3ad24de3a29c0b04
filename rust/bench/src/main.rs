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
mod memory;
mod plan;
mod table;

#[global_allocator]
static ALLOCATOR: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

fn main() {
    let mut table = table::Table::new();
    memory::rows(&mut table);
    check::rows(&mut table);
    plan::rows(&mut table);
    execute::rows(&mut table);
    table.finish();
}
