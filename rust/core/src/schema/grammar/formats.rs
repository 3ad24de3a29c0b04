//! x
pub(super) const PREFIX: &str = "fmt-";
