//! Content codings (RFC 9110 section 8.4): exactly one, of those that were asked for, undone as it arrives.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

use crate::error::BadCoding;

/// The coding of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Deflate,
}

impl Coding {
    /// The coding that a head declares. `x-gzip` is `gzip`; `identity` and an empty field say nothing.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, BadCoding> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let Some(value) = values.next() else { return Ok(Self::Identity) };
        if values.next().is_some() || value.as_bytes().contains(&b',') {
            return Err(BadCoding::Stacked);
        }
        match value.as_bytes().trim_ascii().to_ascii_lowercase().as_slice() {
            b"" | b"identity" => Ok(Self::Identity),
            b"gzip" | b"x-gzip" => Ok(Self::Gzip),
            b"deflate" => Ok(Self::Deflate),
            _ => Err(BadCoding::NotAsked),
        }
    }
}

/// The largest cap for which room is made before the bytes have come.
const RESERVED: usize = 64 << 20;

/// Where the decoded bytes go: at most `cap`, and word of it when there were more.
struct Sink {
    bytes: Vec<u8>,
    cap: usize,
    over: bool,
}

impl Sink {
    fn new(cap: usize) -> Self {
        Self { bytes: Vec::new(), cap, over: false }
    }

    /// Grows as bytes come: by doubling, but to a cap of at most 64 MiB at once as soon as an eighth of it and 1 MiB are
    /// passed, so that the copy that a growing vector makes never adds much to it. Room that stays untouched costs address
    /// space only. Memory that is not to be had is a cap that is reached.
    fn extend(&mut self, bytes: &[u8]) -> io::Result<()> {
        let needed = self.bytes.len() + bytes.len();
        if needed > self.bytes.capacity() {
            let doubled = needed.max(self.bytes.capacity().saturating_mul(2));
            let whole = self.cap <= RESERVED && doubled > (self.cap / 8).min(1 << 20);
            let target = if whole { self.cap.max(needed) } else { doubled.min(self.cap.max(needed)) };
            if self.bytes.try_reserve_exact(target - self.bytes.len()).is_err() {
                self.over = true;
                return Err(io::ErrorKind::OutOfMemory.into());
            }
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

impl Write for Sink {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let room = self.cap.saturating_sub(self.bytes.len());
        match buf.get(..room) {
            Some(start) if room < buf.len() => {
                self.extend(start)?;
                self.over = true;
                // Stops the decoder; nothing more is unfolded.
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => {
                self.extend(buf)?;
                Ok(buf.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A decoder that is fed as the body arrives and never holds more than its cap and a window of 32 KiB.
pub(crate) struct Decoder(Inner);

enum Inner {
    Identity(Sink),
    Gzip(MultiGzDecoder<Sink>),
    /// `deflate` before its first two bytes tell which of its two forms it is.
    Deflate {
        start: Vec<u8>,
        sink: Sink,
    },
    Zlib(ZlibDecoder<Sink>),
    Raw(DeflateDecoder<Sink>),
}

/// What feeding came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fed {
    /// More may come.
    More,
    /// The cap is full and there was more.
    Full,
}

impl Decoder {
    pub(crate) fn new(coding: Coding, cap: usize) -> Self {
        let sink = Sink::new(cap);
        Self(match coding {
            Coding::Identity => Inner::Identity(sink),
            Coding::Gzip => Inner::Gzip(MultiGzDecoder::new(sink)),
            Coding::Deflate => Inner::Deflate { start: Vec::new(), sink },
        })
    }

    /// Takes the next bytes of the body.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Fed, BadCoding> {
        if let Inner::Deflate { start, sink } = &mut self.0 {
            start.extend_from_slice(bytes);
            if start.len() < 2 {
                return Ok(Fed::More);
            }
            let start = std::mem::take(start);
            let sink = std::mem::replace(sink, Sink::new(0));
            self.0 = if is_zlib(&start) {
                Inner::Zlib(ZlibDecoder::new(sink))
            } else {
                Inner::Raw(DeflateDecoder::new(sink))
            };
            return self.write(&start);
        }
        self.write(bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<Fed, BadCoding> {
        let outcome = match &mut self.0 {
            Inner::Identity(sink) => sink.write_all(bytes),
            Inner::Gzip(decoder) => decoder.write_all(bytes),
            Inner::Zlib(decoder) => decoder.write_all(bytes),
            Inner::Raw(decoder) => decoder.write_all(bytes),
            Inner::Deflate { .. } => Ok(()),
        };
        match outcome {
            Ok(()) => Ok(Fed::More),
            Err(_) if self.sink().over => Ok(Fed::Full),
            Err(_) => Err(BadCoding::Damaged),
        }
    }

    fn sink(&self) -> &Sink {
        match &self.0 {
            Inner::Identity(sink) | Inner::Deflate { sink, .. } => sink,
            Inner::Gzip(decoder) => decoder.get_ref(),
            Inner::Zlib(decoder) => decoder.get_ref(),
            Inner::Raw(decoder) => decoder.get_ref(),
        }
    }

    /// The body, once all of it was fed or the cap is full, and whether it was cut there.
    pub(crate) fn finish(mut self) -> Result<(Vec<u8>, bool), BadCoding> {
        let over = self.sink().over;
        let ended = match &mut self.0 {
            _ if over => Ok(()),
            Inner::Identity(_) => Ok(()),
            Inner::Gzip(decoder) => decoder.try_finish(),
            Inner::Zlib(decoder) => decoder.try_finish(),
            Inner::Raw(decoder) => decoder.try_finish(),
            Inner::Deflate { .. } => Err(io::ErrorKind::UnexpectedEof.into()),
        };
        let sink = match &mut self.0 {
            Inner::Identity(sink) | Inner::Deflate { sink, .. } => sink,
            Inner::Gzip(decoder) => decoder.get_mut(),
            Inner::Zlib(decoder) => decoder.get_mut(),
            Inner::Raw(decoder) => decoder.get_mut(),
        };
        if ended.is_err() && !sink.over {
            return Err(BadCoding::Damaged);
        }
        let mut bytes = std::mem::take(&mut sink.bytes);
        bytes.shrink_to_fit();
        Ok((bytes, sink.over))
    }
}

/// Whether two bytes begin a zlib stream (RFC 1950 section 2.2). Some servers send bare DEFLATE data under
/// the name, and every browser takes both.
fn is_zlib(start: &[u8]) -> bool {
    match start {
        [method, flags, ..] => {
            method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)).is_multiple_of(31)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    fn coded(coding: Coding, raw: bool, plain: &[u8]) -> Vec<u8> {
        match (coding, raw) {
            (Coding::Identity, _) => plain.to_vec(),
            (Coding::Gzip, _) => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(plain).unwrap();
                encoder.finish().unwrap()
            }
            (Coding::Deflate, true) => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(plain).unwrap();
                encoder.finish().unwrap()
            }
            (Coding::Deflate, false) => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(plain).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    const FORMS: [(Coding, bool); 4] =
        [(Coding::Identity, false), (Coding::Gzip, false), (Coding::Deflate, false), (Coding::Deflate, true)];

    fn decode(coding: Coding, cap: usize, pieces: &[&[u8]]) -> Result<(Vec<u8>, bool), BadCoding> {
        let mut decoder = Decoder::new(coding, cap);
        for piece in pieces {
            if decoder.feed(piece)? == Fed::Full {
                break;
            }
        }
        decoder.finish()
    }

    proptest::proptest! {
        #[test]
        fn decoding_gives_back_what_was_coded_however_it_is_cut_into_pieces(
            plain in proptest::collection::vec(0u8..4, 1..5_000), cuts in proptest::collection::vec(1usize..50, 0..40),
        ) {
            for (coding, raw) in FORMS {
                let wire = coded(coding, raw, &plain);
                let mut pieces = Vec::new();
                let mut rest = wire.as_slice();
                for cut in &cuts {
                    let (piece, after) = rest.split_at((*cut).min(rest.len()));
                    pieces.push(piece);
                    rest = after;
                }
                pieces.push(rest);
                proptest::prop_assert_eq!(decode(coding, plain.len(), &pieces), Ok((plain.clone(), false)));
                let cap = plain.len() - 1;
                proptest::prop_assert_eq!(
                    decode(coding, cap, &pieces),
                    Ok((plain.get(..cap).unwrap().to_vec(), true))
                );
            }
        }

        #[test]
        fn what_ends_early_is_damaged(plain in proptest::collection::vec(0u8..4, 1..2_000), keep in 0.0..1.0f64) {
            for (coding, raw) in FORMS.into_iter().skip(1) {
                let wire = coded(coding, raw, &plain);
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a share of a small length")]
                let kept = (wire.len() as f64 * keep) as usize;
                let outcome = decode(coding, 1 << 20, &[wire.get(..kept).unwrap()]);
                proptest::prop_assert_eq!(outcome, Err(BadCoding::Damaged));
            }
        }
    }

    #[test]
    fn room_is_made_for_what_came_and_not_for_the_cap() {
        for cap in [RESERVED + 1, 1 << 30, usize::MAX] {
            let mut sink = Sink::new(cap);
            for _ in 0..40 {
                sink.write_all(&vec![b'x'; 60_000]).unwrap();
            }
            assert!(sink.bytes.capacity() <= 2 * sink.bytes.len(), "{cap}: {}", sink.bytes.capacity());
        }
        let mut sink = Sink::new(4 << 20);
        sink.write_all(&vec![b'x'; (1 << 20) + 1]).unwrap();
        assert_eq!(sink.bytes.capacity(), 4 << 20, "a small cap is made room for at once");
    }

    #[test]
    fn one_coding_of_those_asked_for() {
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_ENCODING, value.parse().unwrap());
            }
            Coding::of(&headers)
        };
        assert_eq!(of(&[]), Ok(Coding::Identity));
        for (value, coding) in [
            ("gzip", Coding::Gzip),
            ("GZip ", Coding::Gzip),
            ("x-gzip", Coding::Gzip),
            ("deflate", Coding::Deflate),
            ("identity", Coding::Identity),
            ("", Coding::Identity),
        ] {
            assert_eq!(of(&[value]), Ok(coding), "{value:?}");
        }
        for values in [&["gzip, gzip"][..], &["gzip", "gzip"], &["identity, gzip"], &["gzip,"]] {
            assert_eq!(of(values), Err(BadCoding::Stacked), "{values:?}");
        }
        for value in ["br", "zstd", "compress", "gzip2", "*"] {
            assert_eq!(of(&[value]), Err(BadCoding::NotAsked), "{value:?}");
        }
    }

    #[test]
    fn an_accepted_coding_is_one_that_is_asked_for() {
        assert_eq!(connector_core::request::ACCEPT_ENCODING, "gzip, deflate");
    }
}
