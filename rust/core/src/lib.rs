//! The pure core of Connector Core: what a connector may say, what a model may ask, what leaves the
//! device and what comes back. No I/O, no clock, no environment, no async: bytes and values in, values out.
//!
//! The modules stand in the order of the data's path; each uses only those before it.

pub mod error;
pub mod limits;
pub mod rule;

pub mod json;
pub mod shape;
pub mod text;

pub mod schema;

pub mod origin;
pub mod request;
pub mod response;

pub mod manifest;

pub mod grant;
pub mod toolset;

pub mod export;

pub mod call;

pub mod audit;
pub mod catalogue;
pub mod signature;

pub use error::{Code, Refusal};
pub use limits::{LIMITS, LimitFault, TrustLimits};
pub use rule::{At, Finding, Findings, Rule, Severity};
