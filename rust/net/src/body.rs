//! Reading the body of an answer within its caps.

use connector_core::request::Budget;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::coding::{Coding, Decoder, Fed};
use crate::error::{BadCoding, Failure, Malformed};

/// A body as it was read.
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cut: bool,
    pub(crate) wire_bytes: usize,
    /// Whether the message was read to its end, so that the connection may be used again.
    pub(crate) ended: bool,
}

/// Reads and decodes as the bytes arrive, and stops at whichever cap is reached first.
///
/// The decoded cap cuts the body (the caller decides what a cut body is worth); the wire cap refuses it.
/// Where both are reached by the same byte, as without a content coding under equal caps, it is cut.
/// Trailer fields are read past and dropped.
///
/// No content has no coding, whatever its head says (RFC 9110 section 15.3.5, HEAD, and careless servers): a coding that
/// is not taken is refused with the first byte.
pub(crate) async fn read(
    mut body: Incoming,
    coding: Result<Coding, BadCoding>,
    budget: &Budget,
) -> Result<Body, Failure> {
    let (mut decoder, mut wire_bytes, mut ended) = (None, 0, true);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| damaged(&error))?;
        let Ok(data) = frame.into_data() else { continue };
        if data.is_empty() {
            continue;
        }
        let decoder = match &mut decoder {
            Some(decoder) => decoder,
            none => none.insert(Decoder::new(coding.map_err(Failure::Encoding)?, budget.decoded_bytes)),
        };
        let left = budget.wire_bytes - wire_bytes;
        // One byte more than the cap is fed: without a coding it tells whether the decoded cap comes first.
        let fed = data.get(..left.saturating_add(1)).unwrap_or(&data);
        if decoder.feed(fed).map_err(Failure::Encoding)? == Fed::Full {
            wire_bytes += data.len().min(left);
            ended = false;
            break;
        }
        if data.len() > left {
            return Err(Failure::BodyTooLarge);
        }
        wire_bytes += data.len();
    }
    let (bytes, cut) = match decoder {
        Some(decoder) => decoder.finish().map_err(Failure::Encoding)?,
        None => (Vec::new(), false),
    };
    Ok(Body { bytes, cut, wire_bytes, ended })
}

fn damaged(error: &hyper::Error) -> Failure {
    use std::error::Error;
    use std::io::ErrorKind;

    // hyper wraps both an end of stream and a broken chunk as errors of the body; the kind tells them apart.
    let broken = error
        .source()
        .and_then(|source| source.downcast_ref::<std::io::Error>())
        .is_some_and(|error| matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData));
    Failure::Protocol(if broken { Malformed::Body } else { Malformed::CutShort })
}
