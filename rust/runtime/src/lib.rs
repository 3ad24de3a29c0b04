//! Sessions: the core, the transport and the store joined, with clocks, randomness, secrets, plans, flows, rates and the
//! audit trail. What the command line and the bindings call.

mod answer;
mod change;
mod clock;
mod execution;
mod exporting;
mod journal;
mod place;
mod planning;
mod random;
mod rates;
mod run;
mod secret;
mod secrets;
mod session;
mod shelf;
mod standing;
mod state;
mod sync;
mod visible;

pub use answer::Answer;
pub use change::{Offer, Reviewed};
pub use connector_core as core;
#[cfg(feature = "test-hooks")]
pub use connector_net::hooks;
pub use connector_net::{ClientOptions, Trust};
pub use connector_store as store;
pub use journal::Observer;
pub use planning::PlanView;
pub use secret::{CredentialKey, CredentialStore, MemoryStore, Need, Secret};
pub use session::{Installed, Listed, ListedTool, Session, SessionOptions};
