//! The active tools: connectors bound by their grants, an immutable set of them, the merge by which it changes, and
//! the contract of an export.

mod bounds;
mod connector;
mod contract;
mod effect;
pub mod merge;
mod set;
mod tree;

pub use connector::{Connector, RULES};
pub use contract::{Contract, Envelope, InText};
pub use merge::{Approval, Approvals, Change, ChangeKind, Past, Review};
pub use set::{ToolRef, ToolSet};
