//! What the fuzzers run: each target takes any bytes and holds the laws of one part of the core against them. A law that
//! is broken panics, which is what a fuzzer looks for; the test `smoke` runs the same targets over mutated cases.

#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a broken law ends a fuzz target by a panic, and nothing but fuzzers and tests uses this crate"
)]

mod call;
mod document;
mod schema;
mod text;

/// A target: any bytes, and no panic.
pub type Target = fn(&[u8]);

/// All targets by their names.
pub const TARGETS: [(&str, Target); 11] = [
    ("json", document::json),
    ("manifest", document::manifest),
    ("grant", document::grant),
    ("origin", document::origin),
    ("schema", schema::schema),
    ("grammar", schema::grammar),
    ("narrower", schema::narrower),
    ("arguments", call::arguments),
    ("slots", call::slots),
    ("response", text::response),
    ("text", text::text),
];

/// Runs the target of a name.
///
/// # Panics
/// When there is none, and when a law is broken.
pub fn run(name: &str, data: &[u8]) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target of this name");
    target(data);
}

/// The parts of an input, which stand between bytes that no UTF-8 has.
fn parts<const N: usize>(data: &[u8]) -> Option<[&str; N]> {
    let mut parts = data.splitn(N, |byte| *byte == 0xff).map(str::from_utf8);
    let mut found = [""; N];
    for part in &mut found {
        *part = parts.next()?.ok()?;
    }
    Some(found)
}
