//! Loopback servers and case files for the tests of the other crates.
