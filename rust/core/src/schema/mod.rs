//! Parameter schemas as sets of JSON values: one representation, three readers.

mod grammar;
pub mod strings;
