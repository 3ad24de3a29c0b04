//! JSON numbers: the digits as written, the exact value behind them, and the RFC 8785 text.

use std::fmt;

use smol_str::{SmolStr, SmolStrBuilder};

/// A JSON number, kept as it was spelled. Equality is of the value: `1`, `1.0` and `1e0` are equal.
#[derive(Clone)]
pub struct Number(SmolStr);

/// A decimal value, exactly: `digits × 10^exponent`, without leading or trailing zeros; zero has no digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// Whether the value is below zero. Never with zero.
    pub negative: bool,
    /// The significant digits, `""` for zero.
    pub digits: SmolStr,
    /// The power of ten. 0 for zero; saturates at the ends of `i64`.
    pub exponent: i64,
}

impl Decimal {
    /// The signed digits, when there are at most 38 of them.
    pub fn mantissa(&self) -> Option<i128> {
        let digits = if self.digits.is_empty() { Some(0) } else { self.digits.parse::<i128>().ok() };
        digits.map(|digits| if self.negative { -digits } else { digits })
    }
}

impl Number {
    /// Takes text that is a number by the grammar of RFC 8259 section 6; nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        (scan(text.as_bytes()) == Some(text.len())).then(|| Self(text.into()))
    }

    /// Text that the reader has checked.
    pub(super) fn checked(text: &str) -> Self {
        Self(text.into())
    }

    /// The number as it was written.
    pub fn lexeme(&self) -> &str {
        &self.0
    }

    /// The nearest double; infinite beyond its range.
    pub fn to_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// The exact value.
    pub fn decimal(&self) -> Decimal {
        decimal(&self.0)
    }

    /// The value as an integer, when it is one (`1.0` and `1e2` are) and fits.
    pub fn as_integer(&self) -> Option<i128> {
        if self.is_short_integer() {
            return self.0.parse().ok();
        }
        let decimal = self.decimal();
        let power = u32::try_from(decimal.exponent).ok()?;
        decimal.mantissa()?.checked_mul(10i128.checked_pow(power)?)
    }

    /// Whether RFC 8785 writes this number as the same decimal value, which two files need that share a hash.
    /// `9007199254740993`, `1e400` and `-0` do not keep theirs; `0.1` and `1.0` do.
    pub fn keeps_its_value(&self) -> bool {
        if self.is_short_integer() {
            return self.lexeme() != "-0";
        }
        let Some(text) = self.canonical() else { return false };
        let value = self.decimal();
        value == decimal(&text) && !(value.digits.is_empty() && self.0.starts_with('-'))
    }

    /// The text of RFC 8785 section 3.2.2.3 (ECMA-262 `Number::toString`); nothing beyond the range of a double.
    pub fn canonical(&self) -> Option<String> {
        if self.is_short_integer() {
            return Some(if self.lexeme() == "-0" { "0".to_owned() } else { self.lexeme().to_owned() });
        }
        // Not Rust's own shortest digits: of two that are equally near, ECMA-262 takes the even one.
        let double = self.to_f64();
        double.is_finite().then(|| ryu_js::Buffer::new().format_finite(double).to_owned())
    }

    /// An integer of so few digits that a double holds it exactly.
    pub(crate) fn is_short_integer(&self) -> bool {
        self.0.len() <= 15 && self.0.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    }
}

fn decimal(text: &str) -> Decimal {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let power = power.parse::<i64>().unwrap_or(if power.starts_with('-') { i64::MIN } else { i64::MAX });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let whole = whole.trim_start_matches('0');
    let (digits, exponent) = if fraction.is_empty() {
        let kept = whole.trim_end_matches('0');
        (SmolStr::new(kept), whole.len() - kept.len())
    } else if whole.is_empty() {
        (SmolStr::new(fraction.trim_start_matches('0')), 0)
    } else {
        let mut digits = SmolStrBuilder::new();
        digits.push_str(whole);
        digits.push_str(fraction);
        (digits.finish(), 0)
    };
    if digits.is_empty() {
        return Decimal { negative: false, digits, exponent: 0 };
    }
    let length = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let exponent = power.saturating_add(length(exponent)).saturating_sub(length(fraction.len()));
    Decimal { negative, digits, exponent }
}

/// The length of the number that `bytes` start with (RFC 8259 section 6).
pub(super) fn scan(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && bytes.get(at) == Some(&b'0')) {
        return None;
    }
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let power = digits(at + 1 + sign);
        if power == 0 {
            return None;
        }
        at += 1 + sign + power;
    }
    Some(at)
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.decimal() == other.decimal()
    }
}

impl Eq for Number {}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(smol_str::format_smolstr!("{value}"))
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self(smol_str::format_smolstr!("{value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    #[test]
    fn only_the_grammar_of_rfc_8259_is_a_number() {
        for text in ["0", "-0", "10", "1.50", "1e5", "1E+05", "-0.0e-0", "123456789012345678901234567890"] {
            assert!(Number::parse(text).is_some(), "{text}");
        }
        for text in ["", "-", "01", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "1 ", "١"] {
            assert!(Number::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn values_are_equal_whatever_their_spelling() {
        for (a, b) in [("1", "1.0"), ("100", "1e2"), ("0.10", "1e-1"), ("-0", "0.00"), ("1200e-2", "12")] {
            assert_eq!(number(a), number(b));
        }
        assert_ne!(number("1e400"), number("1e401"));
        assert_ne!(number("0.1"), number("-0.1"));
        assert_eq!(
            number("0.00120").decimal(),
            Decimal { negative: false, digits: "12".into(), exponent: -4 }
        );
    }

    #[test]
    fn a_number_keeps_its_value_or_is_known_not_to() {
        for text in ["0", "-1", "0.1", "1.0", "1e2", "9007199254740992", "1e22", "5e-324", "9007199254740994"]
        {
            assert!(number(text).keeps_its_value(), "{text}");
        }
        for text in
            ["-0", "-0.0", "9007199254740993", "1e400", "0.1000000000000000055511151231257827", "1e-400"]
        {
            assert!(!number(text).keeps_its_value(), "{text}");
        }
    }

    #[test]
    fn integers_are_values_not_spellings() {
        assert_eq!(number("1e2").as_integer(), Some(100));
        assert_eq!(number("-7.0").as_integer(), Some(-7));
        assert_eq!(number("0.5").as_integer(), None);
        assert_eq!(number("1e99999999999999999999").as_integer(), None);
        assert_eq!(number("123456789012345678").as_integer(), Some(123_456_789_012_345_678));
    }

    #[test]
    fn the_canonical_text_is_that_of_ecmascript() {
        for (text, expected) in [
            ("1E30", "1e+30"),
            ("1e21", "1e+21"),
            ("123e18", "123000000000000000000"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
            ("1e-7", "1e-7"),
            ("0.000000123", "1.23e-7"),
            ("-0", "0"),
            ("-0.5", "-0.5"),
            ("333333333.33333329", "333333333.3333333"),
        ] {
            assert_eq!(number(text).canonical().as_deref(), Some(expected));
        }
        assert_eq!(number("1e400").canonical(), None);
    }
}
