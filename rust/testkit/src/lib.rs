//! What the tests of Connector Core share: loopback servers that do exactly what a script says, a
//! certificate authority made at run time, the scenarios of the hostile-origin kit, and the loader of the case files.
//!
//! The command line's `demo` and `selftest` use the servers too; nothing else that is shipped does.

pub mod cases;
mod log;
mod request;
pub mod scenario;
mod script;
mod server;
mod socket;
mod tls;

pub use log::{Entry, Event, Log};
pub use request::Request;
pub use script::{Script, Step};
pub use server::{Handler, Server};
pub use tls::{Authority, Identity};
