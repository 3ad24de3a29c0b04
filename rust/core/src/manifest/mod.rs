//! Manifests: typed, and checked by every rule, or not there at all.
//!
//! ```text
//! bytes -> check -> Report { manifest, findings }
//!          json       strict reading, exact numbers
//!          document   the members, each typed, every breach a finding
//!          rules      what spans members: names, uses, slots against parameters, effect, limits
//! ```
//!
//! A [`Manifest`] can be made by [`check`] alone.

mod check;
mod document;
mod model;
mod parameters;
mod rules;
mod schema;
mod settings;

pub use check::{Report, check};
pub use document::{Ceiling, Choices, Credential, Effect, Limits, Setting, SettingType};
pub use model::{Manifest, Tool};
pub use parameters::Parameters;
pub use rules::RULES;
pub use schema::json_schema;
