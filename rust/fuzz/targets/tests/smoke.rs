//! The fuzz targets as a test: the shared cases, the findings of fuzzers, and deterministic mutations of both, for machines
//! that have no fuzzer. `CONNECTOR_FUZZ_RUNS` says how many inputs each target has (1,500 by default).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints its counts"
)]

#[path = "../examples/seeds/source.rs"]
mod source;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use connector_fuzz_targets::{TARGETS, run};

/// No input of a few kilobytes may take so long, also in an unoptimised build.
const PATIENCE: Duration = Duration::from_secs(10);

/// A small generator of the same numbers, always (xorshift, Marsaglia 2003).
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (most.max(1) as u64)).unwrap()
    }
}

/// The words of the dictionary (libFuzzer's format: `name="text"`, with `\xNN`).
fn dictionary() -> Vec<Vec<u8>> {
    let text = include_str!("../../dictionary.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    let word = |quoted: &str| {
        let inner = quoted.strip_prefix('"').unwrap().strip_suffix('"').unwrap().as_bytes();
        let (mut word, mut at) = (Vec::new(), 0);
        while at < inner.len() {
            match (inner[at], inner.get(at + 1)) {
                (b'\\', Some(b'x')) => {
                    let digits = str::from_utf8(&inner[at + 2..at + 4]).unwrap();
                    word.push(u8::from_str_radix(digits, 16).unwrap());
                    at += 4;
                }
                (b'\\', Some(byte)) => {
                    word.push(*byte);
                    at += 2;
                }
                (byte, _) => {
                    word.push(byte);
                    at += 1;
                }
            }
        }
        word
    };
    lines.map(|(_, quoted)| word(quoted)).collect()
}

/// What a fuzzer does, in small: words put in, bytes changed, parts taken away, doubled and joined.
fn mutate(chance: &mut Chance, seeds: &[Vec<u8>], words: &[Vec<u8>]) -> Vec<u8> {
    let mut input = seeds[chance.below(seeds.len())].clone();
    for _ in 0..=chance.below(5) {
        let at = chance.below(input.len() + 1);
        let end = (at + chance.below(24)).min(input.len());
        match chance.below(6) {
            0 if at < input.len() => input[at] = u8::try_from(chance.below(256)).unwrap(),
            1 => drop(input.drain(at..end)),
            2 => {
                let part = input[at..end].to_vec();
                input.splice(at..at, part);
            }
            3 => {
                let other = &seeds[chance.below(seeds.len())];
                let from = chance.below(other.len() + 1);
                let part = other[from..(from + 64).min(other.len())].to_vec();
                input.splice(at..end, part);
            }
            _ => {
                let word = words[chance.below(words.len())].clone();
                input.splice(at..at, word);
            }
        }
    }
    input.truncate(16 << 10);
    input
}

#[test]
fn no_target_panics_or_is_slow() {
    let runs: usize = std::env::var("CONNECTOR_FUZZ_RUNS").map_or(1_500, |runs| runs.parse().unwrap());
    let words = dictionary();
    let mut slow = Vec::new();
    for (name, _) in TARGETS {
        let mut seeds = source::seeds(name);
        seeds.extend(findings(name));
        assert!(!seeds.is_empty(), "{name} has no seed");
        let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
        let mut longest = Duration::ZERO;
        let mut one = |input: &[u8]| {
            let started = Instant::now();
            run(name, input);
            longest = longest.max(started.elapsed());
        };
        for seed in &seeds {
            one(seed);
        }
        for _ in 0..runs {
            one(&mutate(&mut chance, &seeds, &words));
        }
        println!("{name}: {} seeds, {runs} mutations, the longest took {longest:?}", seeds.len());
        if longest > PATIENCE {
            slow.push((name, longest));
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}

/// Inputs that once broke a law, in the folder `cases`.
fn findings(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases").join(name);
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect()
}
