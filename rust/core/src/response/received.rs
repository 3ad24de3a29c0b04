//! What the transport gives back.

/// One answer as the transport read it: within its caps, content coding removed, nothing interpreted.
#[derive(Clone, PartialEq, Eq)]
pub struct Received {
    /// The status code.
    pub status: u16,
    /// The header fields in the order of the wire; names in lower case, values as bytes.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body after content decoding, at most the decoded cap.
    pub body: Vec<u8>,
    /// Whether the decoded body was longer than its cap, and `body` is only its start.
    pub body_cut: bool,
    /// The bytes of the body as they came off the wire.
    pub wire_bytes: usize,
}
