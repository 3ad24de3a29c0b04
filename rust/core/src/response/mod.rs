//! From the bytes of an answer to bounded, clean text for the model.
//!
//! ```text
//! manifest -> map (mapping, reader, pointer)      what is read, and every rule about it
//! bytes    -> media, charset, html                JSON, text, or something that is only described
//! JSON     -> select -> dress -> node             what the readers find, clean, no more than can be shown
//! node     -> frame                               one JSON object within the limit
//! ```
//!
//! # Choices
//!
//! | what | here | why |
//! |---|---|---|
//! | a member that stands twice in an answer | `response.invalid` | readers disagree about which of the two counts |
//! | JSON in another encoding than UTF-8, whatever its label | read as UTF-8, so refused unless it is ASCII | RFC 8259 section 8.1 |
//! | malformed UTF-8 in JSON or text | U+FFFD | one broken byte in a note does not hide the others; it can form no syntax |
//! | half a surrogate pair in JSON | `response.invalid` | it is no character |
//! | a body of nothing but white space | empty | |
//! | an empty success under `error.unless` | an error | nobody said that it went well |
//! | no media type | JSON if the map reads JSON, else by a look at the body | small servers send none |
//! | text where the map reads JSON | `response.invalid` | a login page is no empty result |
//! | control characters all over a text | described, not shown | it is no text |
//! | comments, scripts and styles of HTML | left out | a person would not see them |
//! | a list of readers that all find nothing | missing | |
//! | the empty result of a mapping | `[]`, `{}` or `""` as the mapping gives lists, objects or joined text; else missing | |
//! | an empty result within a list of readers | the next is tried | nothing was found |
//! | an item for which a reader finds nothing | not in the list | |
//! | items that `join` cannot join (lists, objects) | left out and counted | |
//! | keys or names that are one when they are clean | the first stays, the others are counted | |
//! | a number whose digits hold a secret | a text with the placeholder | |
//! | an error result | `text` is `Error (404)` or `Error (404): <mapped message>` | a status of 200 must not hide an error |
//! | the end of a text over the decoded cap | its last word goes too | it may be half of a secret |

mod apply;
mod charset;
mod clean;
mod dress;
mod frame;
mod html;
mod map;
mod mapping;
mod media;
mod node;
mod pointer;
mod reader;
mod received;
mod rules;
mod select;
#[cfg(test)]
mod tests;

pub use apply::{MapContext, Mapped};
pub use charset::Charset;
pub use map::{ErrorMap, Format, ResponseMap};
pub use mapping::{Each, Give, Mapping, Over, Take};
pub use media::{Kind as MediaKind, MediaType};
pub use pointer::Pointer;
pub use reader::Reader;
pub use received::Received;
pub use rules::RULES;
