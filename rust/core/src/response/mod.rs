//! From the bytes of an answer to bounded, clean text for the model.

mod clean;
mod map;
mod mapping;
mod pointer;
mod reader;
mod received;
mod rules;

pub use map::{ErrorMap, Format, ResponseMap};
pub use mapping::{Each, Give, Mapping, Over, Take};
pub use pointer::Pointer;
pub use reader::Reader;
pub use received::Received;
pub use rules::RULES;
