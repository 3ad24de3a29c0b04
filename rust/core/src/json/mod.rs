//! JSON, strictly and within limits (RFC 8259, RFC 6901, RFC 8785).
