//! `connector rpc`: the seam by which other languages' tests, editors and checks reach the real core.
//! JSON-RPC 2.0, one message per line; docs/rpc.md lists the methods.

mod asking;
mod export;
mod message;
mod pure;
mod schema;
mod server;
mod session;
mod tools;
mod wire;

pub(crate) use export::{grammar_value, tools_value};
pub(crate) use message::object;
pub(crate) use pure::report;
pub(crate) use schema::grammar_value as schema_grammar_value;
pub(crate) use server::serve;
pub(crate) use tools::{audit, list, review_value};
