//! What the tests share.

#![allow(dead_code, unreachable_pub, reason = "each test uses the part that it needs")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "tests, and the example that prints their table"
)]

pub mod order;
pub mod random;
pub mod spelling;
pub mod stress;
pub mod suites;
pub mod table;
pub mod tools;

use std::time::Duration;

use connector_oracle::{Judge, judge_program};

/// The judge, or nothing, said aloud, where npm or g++ is missing. Under `CI` they must be there.
pub fn judge() -> Option<Judge> {
    let program = judge_program().unwrap_or_else(|error| panic!("the judge cannot be built: {error}"));
    if program.is_none() {
        assert!(std::env::var_os("CI").is_none(), "CI needs npm and g++ for the judge");
        println!("skipped: npm or g++ is missing, so that llama.rn cannot judge");
    }
    Some(Judge::new(program?, Duration::from_secs(10)))
}
