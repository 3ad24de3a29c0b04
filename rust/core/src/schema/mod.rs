//! Parameter schemas as sets of JSON values: one representation, three readers.

pub mod strings;
