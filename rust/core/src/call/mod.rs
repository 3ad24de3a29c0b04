//! From a model's untrusted call to a plan that a person can confirm.
//!
//! ```text
//! ToolCall -> check -> CheckedCall -> plan -> Plan -> confirm -> Confirmed -> dispatch -> Outgoing
//! ```

mod check;
mod dispatch;
mod flow;
mod plan;
mod preview;

pub use check::{CheckedCall, ToolCall, check};
pub use dispatch::Confirmed;
pub use flow::Flows;
pub use plan::{Plan, PlanSeed, Reason};
pub use preview::{Preview, PreviewHeader};
