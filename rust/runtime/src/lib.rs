//! Sessions: the core and the transport joined, with clocks, randomness, secrets, plans, flows, rates and the
//! audit trail. What the command line and the bindings call.

mod answer;
mod clock;
mod execution;
mod exporting;
mod planning;
mod random;
mod rates;
mod run;
mod secret;
mod secrets;
mod session;
mod standing;
mod state;

pub use answer::Answer;
pub use connector_core as core;
#[cfg(feature = "test-hooks")]
pub use connector_net::hooks;
pub use connector_net::{ClientOptions, Trust};
pub use planning::PlanView;
pub use secret::{CredentialKey, CredentialStore, MemoryStore, Secret};
pub use session::{Installed, Listed, ListedTool, Session, SessionOptions};
