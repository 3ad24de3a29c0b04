//! `connector`, the command for authors of connector manifests.
fn main() {}
