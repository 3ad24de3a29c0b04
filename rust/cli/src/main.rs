//! `connector`, the command for authors of connector manifests.

use std::process::ExitCode;

fn main() -> ExitCode {
    connector_cli::run()
}
