//! From the bytes of an answer to bounded, clean text for the model.

mod received;

pub use received::Received;
