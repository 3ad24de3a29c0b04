//! A look at how one value would be encoded at one position, for authors and for other languages.

use smol_str::SmolStr;

use super::encode::Pair;
use super::place::{Placed, place};
use super::slot::{Position, read_bare_options};
use super::value::ValueFault;
use crate::error::{Code, Refusal};
use crate::json::{Object, Path, Value};
use crate::limits::TrustLimits;
use crate::rule::Findings;
use crate::shape::Reading;

/// One encoded value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Encoded {
    /// As it stands on the wire. For a query or form: the value of a single pair, all pairs where there are
    /// several, the name of a bare one.
    pub encoded: String,
    /// Query and form, where the value makes repeats, brackets or a flag: the pairs as a receiver reads them.
    pub pairs: Option<Vec<(String, String)>>,
    /// A path with `segments`: each of them.
    pub segments: Option<Vec<String>>,
    /// Whether the slot is left out.
    pub omitted: bool,
}

/// The name of the pair that stands for any.
const NAME: &str = "x";

/// Encodes one value as a slot at `position` with these options (as in a manifest) would.
///
/// Refuses with `manifest.invalid` an option that the position does not take, and with `request.value` or
/// `request.too_large` a value that cannot stand there.
pub fn encode_one(
    position: Position,
    value: &Value,
    options: &Object,
    limits: &TrustLimits,
) -> Result<Encoded, Refusal> {
    let mut findings = Findings::new();
    let mut reading = Reading { limits, findings: &mut findings };
    let options = read_bare_options(options, position, &Path::Root, &mut reading);
    let Some(options) = options.filter(|_| !findings.has_errors()) else {
        let reason = findings.list().first().map_or_else(String::new, |finding| finding.message.clone());
        return Err(Refusal::new(Code::ManifestInvalid, reason).with_findings(findings.into_list()));
    };
    let placed =
        place(position, options, &SmolStr::new_static(NAME), Some(value), limits).map_err(|fault| {
            let code = if fault == ValueFault::TooLong { Code::RequestTooLarge } else { Code::RequestValue };
            let place = position.as_str();
            Refusal::new(code, format!("the value cannot stand in the {place}: {fault}"))
                .advise(fault.advice())
        })?;
    let several = options.array.is_some() || options.flag;
    Ok(match placed {
        Placed::Omitted => Encoded { omitted: true, ..Encoded::default() },
        Placed::Segments(segments) => Encoded {
            encoded: segments.join("/"),
            segments: options.many_segments.then(|| segments.into_vec()),
            ..Encoded::default()
        },
        Placed::Text(text) => Encoded { encoded: text.into(), ..Encoded::default() },
        Placed::Json(value) => Encoded { encoded: value.to_text(), ..Encoded::default() },
        Placed::Pairs(pairs) => Encoded {
            encoded: written(position, &pairs),
            omitted: pairs.is_empty(),
            pairs: several.then(|| {
                pairs.iter().map(|pair| (pair.name.to_string(), pair.value.as_read().to_string())).collect()
            }),
            segments: None,
        },
    })
}

fn written(position: Position, pairs: &[Pair]) -> String {
    let form = position == Position::Form;
    let value = |pair: &Pair| if form { pair.value.in_form() } else { pair.value.in_query() };
    match pairs {
        [pair] if pair.name == NAME => value(pair).unwrap_or_else(|| NAME.to_owned()),
        _ if form => super::encode::write_form(pairs),
        _ => super::encode::write_query(pairs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_text;

    fn encode(position: Position, value: &str, options: &str) -> Result<Encoded, Refusal> {
        let (value, options) = (read_text(value).unwrap(), read_text(options).unwrap());
        encode_one(position, &value, options.as_object().unwrap(), &TrustLimits::default())
    }

    #[test]
    fn a_value_is_encoded_as_its_slot_would() {
        let one = |position, value, options| encode(position, value, options).map(|encoded| encoded.encoded);
        for (position, value, options, expected) in [
            (Position::Path, r#""a b""#, "{}", "a%20b"),
            (Position::Path, r#""a/b""#, r#"{"slash": "encode"}"#, "a%2Fb"),
            (Position::Query, "1e2", "{}", "100"),
            (Position::Query, r#"["a b","c"]"#, r#"{"array": "comma"}"#, "a%20b,c"),
            (Position::Query, r#"["a b","c"]"#, r#"{"array": "repeat"}"#, "x=a%20b&x=c"),
            (Position::Query, r#"["a"]"#, r#"{"array": "brackets"}"#, "x%5B%5D=a"),
            (Position::Form, r#""a b~""#, "{}", "a+b%7E"),
            (Position::Header, r#""a b""#, "{}", "a b"),
            (Position::Json, r#"{"a": 1.0}"#, "{}", r#"{"a":1}"#),
            (Position::Json, "null", "{}", "null"),
        ] {
            assert_eq!(one(position, value, options).as_deref(), Ok(expected), "{value} {options}");
        }
    }

    #[test]
    fn pairs_segments_and_omissions_are_told() {
        let encoded = encode(Position::Query, "true", r#"{"flag": true}"#).unwrap();
        assert_eq!((encoded.encoded.as_str(), encoded.pairs), ("x", Some(vec![("x".into(), String::new())])));
        let encoded = encode(Position::Query, "false", r#"{"flag": true}"#).unwrap();
        assert_eq!((encoded.omitted, encoded.pairs), (true, Some(vec![])));
        let encoded = encode(Position::Form, r#"["a", "b"]"#, r#"{"array": "brackets"}"#).unwrap();
        assert_eq!(encoded.pairs, Some(vec![("x[]".into(), "a".into()), ("x[]".into(), "b".into())]));
        let encoded = encode(Position::Path, r#""a/b c""#, r#"{"segments": "many"}"#).unwrap();
        assert_eq!(encoded.segments, Some(vec!["a".into(), "b%20c".into()]));
        for (position, options) in [
            (Position::Query, r#"{"absent": "omit"}"#),
            (Position::Header, r#"{"absent": "omit"}"#),
            (Position::Json, r#"{"null": "omit"}"#),
        ] {
            assert!(encode(position, "null", options).unwrap().omitted);
        }
    }

    #[test]
    fn what_cannot_stand_there_is_refused_without_its_value() {
        for (position, value, options, code) in [
            (Position::Path, r#""../s3cret""#, "{}", Code::RequestValue),
            (Position::Header, r#""s3cret\r\n""#, "{}", Code::RequestValue),
            (Position::Query, r#"["s3cret"]"#, "{}", Code::RequestValue),
            (Position::Query, "null", "{}", Code::RequestValue),
            (Position::Query, "1", r#"{"slash": "encode"}"#, Code::ManifestInvalid),
            (Position::Query, "1", r#"{"array": "repeat", "flag": true}"#, Code::ManifestInvalid),
            (Position::Json, "9007199254740993", "{}", Code::RequestValue),
        ] {
            let value = Value::from(value).as_str().map(str::to_owned).unwrap();
            let parsed = crate::json::read(
                value.as_bytes(),
                crate::json::Profile { max_bytes: 1 << 20, max_depth: 9, numbers: crate::json::Numbers::Any },
            );
            let options = read_text(options).unwrap();
            let refusal = encode_one(
                position,
                &parsed.0.unwrap(),
                options.as_object().unwrap(),
                &TrustLimits::default(),
            )
            .unwrap_err();
            assert_eq!(refusal.code, code, "{value}");
            assert!(!format!("{refusal:?}").contains("s3cret"));
        }
    }
}
