//! llama.rn's own C++ as judge: its schema converter, grammar parser and matcher, built from its npm package.
//!
//! ```text
//! setup    npm installs the package without its scripts, g++ builds `llama/judge.cpp` against its sources: once,
//!          into a folder under `target`
//! process  the judge runs as a child process with a time limit, since it crashes on some input and hangs on other
//! ```
//!
//! `cargo test -p connector-oracle` does all of that by itself.

mod inference;
mod process;
mod setup;
mod tiny;

pub use inference::Inference;
pub use process::{Failure, Judge, Load, Time};
pub use setup::judge_program;
pub use tiny::tiny_model;
