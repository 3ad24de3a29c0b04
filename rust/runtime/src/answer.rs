//! What an execution gives.

use connector_core::Code;

/// The outcome of one call, for the model and for the application. It holds text of the server: hand it to the
/// model, do not log it.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    /// One JSON object for the model: `{"tool", "status", "data" or "text", "omitted"}`.
    pub text: String,
    /// Whether something of the answer was left out.
    pub truncated: bool,
    /// The HTTP status.
    pub status: u16,
    /// Whether the answer is an error result: not 2xx, or an error by the response map.
    pub is_error: bool,
    /// `response.invalid`, when the answer could not be read as its map says. The request was carried out all the same.
    pub code: Option<Code>,
    /// Seconds after which the server says that the call may be made again.
    pub retry_after: Option<u64>,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer")
            .field("status", &self.status)
            .field("is_error", &self.is_error)
            .finish_non_exhaustive()
    }
}
