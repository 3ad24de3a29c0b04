//! The hostile-origin kit: runs the scenarios of `connector-testkit` through the public session, with real sockets.
//!
//! A scenario's servers stand on loopback. The client finds them at the addresses that the scenario names: those are
//! judged as any address is, and only then led to the loopback port. Every other address that the guard lets pass is
//! led to a trap, to which no scenario may connect, so that a guard that fails harms nobody. docs/selftest.md tells
//! the format and what is looked at beside the code of each call.

mod canary;
mod expect;
mod kit;
mod play;
mod stage;
mod store;

pub use connector_testkit::scenario;
pub use kit::{Kit, Outcome};
pub use play::{Play, Seen, arguments, requested};
pub use stage::{Part, read_grant};

use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Panics of this process since [`watch_panics`].
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Counts panics from here on, those in tasks included, whose panic would otherwise be an unanswered call. Each is
/// still told as before.
pub fn watch_panics() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.fetch_add(1, Ordering::SeqCst);
            before(panic);
        }));
    });
}

/// How many panics were counted.
pub fn panics() -> usize {
    PANICS.load(Ordering::SeqCst)
}
