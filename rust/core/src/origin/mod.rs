//! Where a request may go: origins, and the addresses behind them.

mod reach;

pub use reach::Reach;
