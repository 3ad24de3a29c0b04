//! What a large input costs: its limit, and not its size.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write, pipe};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::bad_input::sparse;
use crate::support::{connector, file};

/// The most memory that `connector check` had resident until it wrote its report, in KiB.
///
/// Its stdout is a pipe that is full already, so it waits there, at the end of its work, while it is looked at.
fn peak_of_check(path: &str) -> u64 {
    const CAPACITY: usize = 64 << 10;
    let (mut reader, writer) = pipe().unwrap();
    let mut filler = writer.try_clone().unwrap();
    // On a thread of its own, for systems whose pipes take less.
    let filling = std::thread::spawn(move || filler.write_all(&vec![b' '; CAPACITY]));
    for _ in 0..50 {
        if !filling.is_finished() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    let mut child = connector().args(["check", path]).stdin(Stdio::null()).stdout(writer).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let look = || {
        let text = fs::read_to_string(&status).unwrap();
        let field = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1).map(str::to_owned)
        };
        (field("State:"), field("VmHWM:"), field("voluntary_ctxt_switches:"))
    };
    let (started, mut last) = (Instant::now(), None);
    let peak = loop {
        std::thread::sleep(Duration::from_millis(300));
        let now = look();
        // Asleep, and nothing has happened since the last look.
        if now.0.as_deref() == Some("S") && last.as_ref() == Some(&now) {
            break now.1.unwrap().parse().unwrap();
        }
        assert!(started.elapsed() < Duration::from_secs(60), "the command does not come to its report");
        last = Some(now);
    };
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    filling.join().unwrap().unwrap();
    assert!(rest.len() > CAPACITY, "the report came after the look");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    peak
}

#[test]
fn a_file_of_300_mb_costs_its_limit_and_no_more() {
    let small = peak_of_check(&file("small.json", "{"));
    let huge = peak_of_check(&sparse(300 << 20));
    println!("peak memory: {small} KiB for a file of 1 byte, {huge} KiB for one of 300 MiB");
    // The limit of 1 MiB, at most twice while the buffer grows, and room for the allocator.
    assert!(huge < small + (4 << 10), "{small} and {huge} KiB");
}
