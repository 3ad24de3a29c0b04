//! Tampering.
