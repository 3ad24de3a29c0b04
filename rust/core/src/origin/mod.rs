//! Where a request may go: origins, and the addresses behind them.

mod address;
mod reach;
mod special_purpose;

pub use address::{Classified, Denied, classify, is_local, judge, judge_cleartext};
pub use reach::Reach;
pub use special_purpose::{AddressKind, METADATA, SPECIAL_PURPOSE, SpecialPurpose};
