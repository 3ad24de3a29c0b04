//! The memory that an input of 300 MB costs: the cap of what is read, and little more.

use std::io::{Read, Write};
use std::path::Path;

use crate::ALLOCATOR;
use crate::table::Table;

const HUGE: usize = 300 << 20;

pub(crate) fn rows(table: &mut Table) {
    let path = std::env::temp_dir().join(format!("connector-bench-{}.json", std::process::id()));
    write_huge(&path);
    // The command reads a file through a limit, and the core is never given more.
    let limits = connector_core::TrustLimits::default();
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let mut bytes = Vec::new();
    let file = std::fs::File::open(&path).unwrap();
    file.take(limits.manifest_bytes as u64 + 1).read_to_end(&mut bytes).unwrap();
    let report = connector_core::manifest::check(&bytes, &limits);
    assert!(report.manifest.is_none());
    let used = ALLOCATOR.peak_usage() - before;
    drop(bytes);
    std::fs::remove_file(&path).unwrap();
    let cap = limits.manifest_bytes + (2 << 20);
    #[allow(clippy::cast_precision_loss, reason = "sizes of megabytes")]
    let ratio = used as f64 / cap as f64;
    let megabytes =
        |bytes: usize| format!("{:.2} MB", f64::from(u32::try_from(bytes >> 10).unwrap()) / 1024.0);
    table.row("a file of 300 MB / cap and 2 MB", &megabytes(used), &megabytes(cap), ratio, 1.0);
}

fn write_huge(path: &Path) {
    let mut file = std::fs::File::create(path).unwrap();
    file.write_all(b"{\"manifestVersion\": 1, \"description\": \"").unwrap();
    let block = vec![b'x'; 1 << 20];
    for _ in 0..HUGE >> 20 {
        file.write_all(&block).unwrap();
    }
    file.write_all(b"\"}").unwrap();
}
