//! How values are written into a URL and into a form.

use smol_str::{SmolStr, format_smolstr};
use url::form_urlencoded::byte_serialize;

use super::slot::ArrayStyle;
use super::value::{ValueFault, scalar_text};
use crate::json::Value;

/// One pair of a query or form, not encoded yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The name.
    pub name: SmolStr,
    /// What follows the name.
    pub value: PairValue,
}

/// The value of a pair, not encoded yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairValue {
    /// None, and no `=` either.
    Bare,
    /// A text.
    Text(SmolStr),
    /// Items that a query separates by a comma as it is.
    Commas(Vec<SmolStr>),
}

impl Pair {
    /// A pair of two texts.
    pub fn text(name: impl Into<SmolStr>, value: impl Into<SmolStr>) -> Self {
        Self { name: name.into(), value: PairValue::Text(value.into()) }
    }

    /// A name alone.
    pub fn bare(name: impl Into<SmolStr>) -> Self {
        Self { name: name.into(), value: PairValue::Bare }
    }
}

impl PairValue {
    /// The text that a receiver reads, `""` for a bare name.
    pub fn as_read(&self) -> SmolStr {
        match self {
            Self::Bare => SmolStr::default(),
            Self::Text(text) => text.clone(),
            Self::Commas(items) => items.join(",").into(),
        }
    }

    /// The value as it stands in a query after the `=`; nothing for a bare name.
    pub fn in_query(&self) -> Option<String> {
        let mut out = String::new();
        self.write_in_query(&mut out);
        (*self != Self::Bare).then_some(out)
    }

    fn write_in_query(&self, out: &mut String) {
        match self {
            Self::Bare => {}
            Self::Text(text) => write_percent_encoded(text, out),
            Self::Commas(items) => {
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { "," });
                    write_percent_encoded(item, out);
                }
            }
        }
    }

    /// The value as it stands in a form after the `=`; nothing for a bare name.
    pub fn in_form(&self) -> Option<String> {
        match self {
            Self::Bare => None,
            value => Some(byte_serialize(value.as_read().as_bytes()).collect()),
        }
    }
}

/// The pair of one scalar.
pub fn scalar_pair(name: impl Into<SmolStr>, value: &Value) -> Result<Pair, ValueFault> {
    Ok(Pair { name: name.into(), value: PairValue::Text(scalar_text(value)?) })
}

/// The pair of a boolean that is sent as a flag: the bare name for true, nothing for false.
pub fn flag_pair(name: &str, value: &Value) -> Result<Option<Pair>, ValueFault> {
    let set = value.as_bool().ok_or(ValueFault::NotBoolean)?;
    Ok(set.then(|| Pair::bare(name)))
}

/// The pairs of an array of scalars, which has at least one.
pub fn array_pairs(name: &str, value: &Value, style: ArrayStyle) -> Result<Vec<Pair>, ValueFault> {
    let items = value.as_array().ok_or(ValueFault::NotArray)?;
    let items: Vec<SmolStr> = items.iter().map(scalar_text).collect::<Result<_, _>>()?;
    if items.is_empty() {
        return Err(ValueFault::NoItems);
    }
    let separated = |delimiter: char| -> Result<(), ValueFault> {
        for item in &items {
            if item.is_empty() {
                return Err(ValueFault::EmptyItem);
            }
            if item.contains(delimiter) {
                return Err(ValueFault::Delimiter);
            }
        }
        Ok(())
    };
    Ok(match style {
        ArrayStyle::Repeat => items.into_iter().map(|item| Pair::text(name, item)).collect(),
        ArrayStyle::Brackets => {
            let name = format_smolstr!("{name}[]");
            items.into_iter().map(|item| Pair::text(name.clone(), item)).collect()
        }
        ArrayStyle::Comma => {
            separated(',')?;
            vec![Pair { name: name.into(), value: PairValue::Commas(items) }]
        }
        ArrayStyle::Pipe => {
            separated('|')?;
            vec![Pair::text(name, items.join("|"))]
        }
    })
}

/// The query of a URL without its `?`: names and values percent-encoded, in order.
pub fn write_query(pairs: &[Pair]) -> String {
    let mut out = String::new();
    append_query(pairs, &mut out);
    out
}

/// Appends [`write_query`].
pub(super) fn append_query(pairs: &[Pair], out: &mut String) {
    for (at, Pair { name, value }) in pairs.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "&" });
        write_percent_encoded(name, out);
        if *value != PairValue::Bare {
            out.push('=');
            value.write_in_query(out);
        }
    }
}

/// A body of `application/x-www-form-urlencoded`
/// (<https://url.spec.whatwg.org/#concept-urlencoded-serializer>), pairs in order. A bare name stands alone.
pub fn write_form(pairs: &[Pair]) -> String {
    let mut out = String::new();
    for (at, Pair { name, value }) in pairs.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "&" });
        out.extend(byte_serialize(name.as_bytes()));
        if let Some(value) = value.in_form() {
            out.push('=');
            out.push_str(&value);
        }
    }
    out
}

/// The text in UTF-8 with everything but the unreserved characters of RFC 3986 section 2.3 percent-encoded,
/// hexadecimal digits in upper case (section 2.1).
pub fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    write_percent_encoded(text, &mut out);
    out
}

/// Appends [`percent_encode`].
fn write_percent_encoded(text: &str, out: &mut String) {
    let unreserved = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~');
    let digit = |nibble: u8| char::from(if nibble < 10 { b'0' + nibble } else { b'A' + nibble - 10 });
    // Runs that stand for themselves, each with the one character that ended it.
    for run in text.split_inclusive(|c| !unreserved(c)) {
        let plain = run.trim_end_matches(|c| !unreserved(c));
        out.push_str(plain);
        for byte in run.bytes().skip(plain.len()) {
            out.extend(['%', digit(byte >> 4), digit(byte & 0xf)]);
        }
    }
}

/// Decodes each `%` that two hexadecimal digits follow, once; any other `%` stays (WHATWG percent-decode).
pub(super) fn percent_decode(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        if let (b'%', [high, low, after @ ..]) = (first, tail)
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            out.push((high << 4) | low);
            rest = after;
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::{Url, form_urlencoded};

    use super::*;
    use crate::json::read_text;

    fn pairs(json: &str, style: ArrayStyle) -> Result<(String, String), ValueFault> {
        array_pairs("x", &read_text(json).unwrap(), style)
            .map(|pairs| (write_query(&pairs), write_form(&pairs)))
    }

    #[test]
    fn everything_but_the_unreserved_is_encoded() {
        assert_eq!(percent_encode("AZaz09-._~"), "AZaz09-._~");
        assert_eq!(percent_encode(" +&=/?#%é\u{1F600}\0"), "%20%2B%26%3D%2F%3F%23%25%C3%A9%F0%9F%98%80%00");
    }

    #[test]
    fn a_malformed_percent_stays() {
        for (text, expected) in
            [("%41%zz%4", "A%zz%4"), ("%%41", "%A"), ("%2541", "%41"), ("%", "%"), ("%é", "%é")]
        {
            assert_eq!(percent_decode(text.as_bytes()), expected.as_bytes(), "{text}");
        }
    }

    #[test]
    fn each_style_of_array_has_its_pairs() {
        let expected = |query: &str, form: &str| Ok((query.to_owned(), form.to_owned()));
        let items = r#"["a b", 1.0, true]"#;
        assert_eq!(pairs(items, ArrayStyle::Repeat), expected("x=a%20b&x=1&x=true", "x=a+b&x=1&x=true"));
        assert_eq!(pairs(items, ArrayStyle::Comma), expected("x=a%20b,1,true", "x=a+b%2C1%2Ctrue"));
        assert_eq!(pairs(items, ArrayStyle::Pipe), expected("x=a%20b%7C1%7Ctrue", "x=a+b%7C1%7Ctrue"));
        assert_eq!(
            pairs(items, ArrayStyle::Brackets),
            expected("x%5B%5D=a%20b&x%5B%5D=1&x%5B%5D=true", "x%5B%5D=a+b&x%5B%5D=1&x%5B%5D=true")
        );
        assert_eq!(pairs(r#"[""]"#, ArrayStyle::Repeat), expected("x=", "x="));
    }

    #[test]
    fn items_that_would_change_the_list_are_refused() {
        for (json, style, fault) in [
            ("[]", ArrayStyle::Repeat, ValueFault::NoItems),
            (r#"["a", ""]"#, ArrayStyle::Comma, ValueFault::EmptyItem),
            (r#"["a", ""]"#, ArrayStyle::Pipe, ValueFault::EmptyItem),
            (r#"["a,b"]"#, ArrayStyle::Comma, ValueFault::Delimiter),
            (r#"["a|b"]"#, ArrayStyle::Pipe, ValueFault::Delimiter),
            ("[null]", ArrayStyle::Repeat, ValueFault::NotScalar),
            ("[[1]]", ArrayStyle::Repeat, ValueFault::NotScalar),
            (r#""a""#, ArrayStyle::Repeat, ValueFault::NotArray),
        ] {
            assert_eq!(pairs(json, style), Err(fault), "{json}");
        }
        assert!(
            pairs(r#"["a,b"]"#, ArrayStyle::Pipe).is_ok() && pairs(r#"["a|b"]"#, ArrayStyle::Comma).is_ok()
        );
    }

    #[test]
    fn a_flag_is_a_bare_name_or_nothing() {
        let written =
            |value: bool| flag_pair("x y", &Value::Bool(value)).map(|pair| write_query(pair.as_slice()));
        assert_eq!((written(true), written(false)), (Ok("x%20y".into()), Ok(String::new())));
        assert_eq!(flag_pair("x", &Value::from("true")), Err(ValueFault::NotBoolean));
        assert_eq!(write_form(&[Pair::bare("x"), Pair::text("y", "")]), "x&y=");
    }

    proptest! {
        #[test]
        fn a_query_value_never_leaves_its_pair(name in ".{1,12}", value in ".*", items in prop::collection::vec(".{0,8}", 1..4)) {
            let list = Value::Array(items.iter().map(|item| Value::from(item.as_str())).collect());
            let mut expected = vec![(name.clone(), value.clone())];
            let mut pairs = vec![Pair::text(name.clone(), value)];
            for style in [ArrayStyle::Repeat, ArrayStyle::Comma, ArrayStyle::Pipe, ArrayStyle::Brackets] {
                let Ok(more) = array_pairs(&name, &list, style) else { continue };
                match style {
                    ArrayStyle::Repeat => expected.extend(items.iter().map(|item| (name.clone(), item.clone()))),
                    ArrayStyle::Comma => expected.push((name.clone(), items.join(","))),
                    ArrayStyle::Pipe => expected.push((name.clone(), items.join("|"))),
                    ArrayStyle::Brackets => expected.extend(items.iter().map(|item| (format!("{name}[]"), item.clone()))),
                }
                pairs.extend(more);
            }
            pairs.push(Pair::text("fixed", "1"));
            expected.push(("fixed".to_owned(), "1".to_owned()));

            let text = format!("https://api.example.com/v1?{}", write_query(&pairs));
            let url = Url::parse(&text).unwrap();
            prop_assert_eq!(url.as_str(), &text, "a parser leaves the URL as it was written");
            prop_assert_eq!(url.query_pairs().into_owned().collect::<Vec<_>>(), expected.clone());
            let form = write_form(&pairs);
            prop_assert_eq!(form_urlencoded::parse(form.as_bytes()).into_owned().collect::<Vec<_>>(), expected);
        }

        #[test]
        fn decoding_undoes_encoding(text in ".*") {
            prop_assert_eq!(percent_decode(percent_encode(&text).as_bytes()), text.as_bytes());
        }
    }
}
