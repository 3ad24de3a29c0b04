//! Manifests as authors write them: the samples and the first-party connectors check clean, and each sentence
//! of the format that forbids something is a rule that a broken manifest meets.

mod base;
mod clean;
mod complete;
mod effect;
mod laws;
mod rules;
mod schema;
