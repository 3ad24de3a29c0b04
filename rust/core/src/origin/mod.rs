//! Where a request may go: origins, and the addresses behind them.

mod address;
mod binding;
mod entry;
mod metadata;
#[allow(clippy::module_inception, reason = "the module of the type, beside those of what is made of it")]
mod origin;
mod reach;
mod rules;
mod special_purpose;

pub use address::{Classified, Denied, classify, is_local, judge, judge_cleartext};
pub use binding::{BoundOrigin, is_pchar};
pub use entry::{OriginEntry, Selection, UserProvided};
pub use metadata::METADATA;
pub use origin::{Origin, Scheme};
pub use reach::Reach;
pub use rules::{OriginFault, RULES};
pub use special_purpose::{AddressKind, SPECIAL_PURPOSE, SpecialPurpose};
