//! One value at one position: the same code for a call, for a setting at install time and for a look at how
//! a value would be encoded.

use smallvec::{SmallVec, smallvec};
use smol_str::SmolStr;

use super::encode::{Pair, array_pairs, flag_pair, scalar_pair};
use super::header_value::check_header_value;
use super::path_value::{SegmentPart, SlashRule, joined_segment, path_segment, path_segments};
use super::slot::{Options, Position};
use super::value::{ValueFault, json_value, scalar_text};
use crate::json::Value;
use crate::limits::TrustLimits;

/// What a slot puts into the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Placed {
    /// Nothing: the slot is left out.
    Omitted,
    /// Segments of the path, encoded.
    Segments(SmallVec<[String; 1]>),
    /// Pairs of a query or form, not encoded yet.
    Pairs(SmallVec<[Pair; 1]>),
    /// A header value, a text body, or a part of a joined segment that is not encoded yet.
    Text(SmolStr),
    /// A JSON value.
    Json(Value),
}

/// Whether a value can stand at a position by itself; the whole that it is part of may still refuse it.
pub(crate) fn can_stand(
    position: Position,
    options: Options,
    value: &Value,
    limits: &TrustLimits,
) -> Result<(), ValueFault> {
    place(position, options, &SmolStr::default(), Some(value), limits).map(|_| ())
}

/// Places a value, or says why it cannot stand there. `name` is that of the pair in a query or form.
pub(super) fn place(
    position: Position,
    options: Options,
    name: &SmolStr,
    value: Option<&Value>,
    limits: &TrustLimits,
) -> Result<Placed, ValueFault> {
    let Some(value) = value else {
        return if options.omit_absent { Ok(Placed::Omitted) } else { Err(ValueFault::Missing) };
    };
    if value.is_null() {
        let omitted = if position == Position::Json { options.omit_null } else { options.omit_absent };
        if omitted {
            return Ok(Placed::Omitted);
        }
    }
    let url_bytes = limits.url_bytes;
    Ok(match position {
        Position::Path => {
            let text = scalar_text(value)?;
            Placed::Segments(if options.many_segments {
                path_segments(&text, url_bytes)?.into()
            } else {
                let slash = if options.encode_slash { SlashRule::Encode } else { SlashRule::Refuse };
                smallvec![path_segment(&text, slash, url_bytes)?]
            })
        }
        Position::Joined => {
            let text = scalar_text(value)?;
            joined_segment(&[SegmentPart::Value(&text)], url_bytes)?;
            Placed::Text(text)
        }
        Position::Query | Position::Form => Placed::Pairs(match options.array {
            Some(style) => array_pairs(name, value, style)?.into(),
            None if options.flag => flag_pair(name, value)?.into_iter().collect(),
            None => smallvec![scalar_pair(name.clone(), value)?],
        }),
        Position::Header => {
            let text = scalar_text(value)?;
            check_header_value(&text, limits.header_value_bytes)?;
            Placed::Text(text)
        }
        Position::Text => Placed::Text(scalar_text(value)?),
        Position::Json => Placed::Json(json_value(value)?),
    })
}
