//! Builds for phones: `cargo xtask mobile` makes and checks the libraries of the one table of targets, `ios` packs them as
//! an `XCFramework`, `android` as an AAR.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command for a developer's terminal")]
#![allow(
    unreachable_pub,
    reason = "`pub` names the doors between modules; a program has none to the outside"
)]

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod android;
mod binary;
mod ios;
mod library;
mod mobile;
mod parts;
mod places;
mod sizes;
mod source;
mod symbols;
mod target;
mod toolchain;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Builds Connector Core for phones")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Builds the static libraries of iOS and Android (and the shared ones of Android) and checks them.
    Mobile(mobile::Mobile),
    /// Packs the libraries of iOS as an `XCFramework` with its checksum; on a Mac.
    Ios(ios::Ios),
    /// Packs the libraries of Android as an AAR; needs the NDK and Gradle.
    Android,
}

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Mobile(options) => mobile::run(&options),
        Task::Ios(options) => ios::run(&options),
        Task::Android => android::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            eprintln!("\n{problems}");
            ExitCode::FAILURE
        }
    }
}
