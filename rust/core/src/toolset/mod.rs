//! The active tools: connectors bound by their grants, an immutable set of them, and the contract of an export.

mod connector;
mod contract;
mod effect;
mod set;

pub use connector::{Connector, RULES};
pub use contract::{Contract, Envelope, InText};
pub use set::{ToolRef, ToolSet};
