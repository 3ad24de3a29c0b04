//! Exact decimal numbers: what a schema may bound with, and how a number of any length compares to it.

use std::cmp::Ordering;

use crate::json::{Decimal, Number};

/// The most significant digits of a number in a schema; also of any number that the algebra makes.
pub(crate) const DIGITS: usize = 30;
/// The greatest power of ten of such a number, either way. Doubles end at 10^308.
const POWER: i64 = 1_000;
/// 10^30.
const TOP: i128 = 10i128.pow(30);

/// `mantissa × 10^power`, exactly. The mantissa has at most 30 digits and does not end in 0; zero is 0 × 10^0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Dec {
    mantissa: i128,
    power: i32,
}

impl Dec {
    pub(crate) const ZERO: Self = Self { mantissa: 0, power: 0 };
    pub(crate) const ONE: Self = Self { mantissa: 1, power: 0 };

    /// `mantissa × 10^power`; nothing beyond 30 digits or the powers of ten.
    pub(crate) fn new(mut mantissa: i128, mut power: i64) -> Option<Self> {
        if mantissa == 0 {
            return Some(Self::ZERO);
        }
        while mantissa % 10 == 0 {
            mantissa /= 10;
            power += 1;
        }
        let fits = mantissa.abs() < TOP && power.abs() <= POWER;
        fits.then(|| i32::try_from(power).ok()).flatten().map(|power| Self { mantissa, power })
    }

    /// The value of a JSON number that is short enough.
    pub(crate) fn from_number(number: &Number) -> Option<Self> {
        let text = number.lexeme();
        if text.len() <= 18
            && let Ok(short) = text.parse::<i64>()
        {
            return Self::new(i128::from(short), 0);
        }
        Self::from_decimal(&number.decimal())
    }

    fn from_decimal(decimal: &Decimal) -> Option<Self> {
        if decimal.digits.len() > DIGITS {
            return None;
        }
        Self::new(decimal.mantissa()?, decimal.exponent)
    }

    pub(crate) fn is_integer(self) -> bool {
        self.power >= 0
    }

    pub(crate) fn is_positive(self) -> bool {
        self.mantissa > 0
    }

    /// Mantissa and power of ten.
    pub(crate) fn parts(self) -> (i128, i64) {
        (self.mantissa, i64::from(self.power))
    }

    /// The power of ten of the last digit.
    pub(crate) fn power(self) -> i64 {
        i64::from(self.power)
    }

    /// The place of the first digit: a value of order `n` is below 10^n and at least 10^(n-1).
    fn order(self) -> i64 {
        digits(self.mantissa) + i64::from(self.power)
    }

    /// Whether this is `n × step` for an integer `n`. The step is above zero.
    pub(crate) fn is_multiple_of(self, step: Self) -> bool {
        if self.mantissa == 0 {
            return true;
        }
        // The mantissa does not end in 0, so it is no multiple of a higher power of ten.
        let Ok(shift) = u64::try_from(i64::from(self.power) - i64::from(step.power)) else { return false };
        let rest = self.mantissa.unsigned_abs() % step.mantissa.unsigned_abs();
        times_power_of_ten(rest, shift, step.mantissa.unsigned_abs()) == 0
    }

    /// The least number that is a multiple of both; nothing when it has too many digits.
    pub(crate) fn lcm(self, other: Self) -> Option<Self> {
        let power = self.power.min(other.power);
        let (a, b) = (self.scaled(power)?, other.scaled(power)?);
        let gcd = gcd(a.unsigned_abs(), b.unsigned_abs());
        Self::new((a / i128::try_from(gcd).ok()?).checked_mul(b)?, i64::from(power))
    }

    /// How often `step` goes into this: the floor and the ceiling of the quotient. Nothing beyond `i128`.
    pub(crate) fn quotient(self, step: Self) -> Option<(i128, i128)> {
        let power = self.power.min(step.power);
        let Some(divisor) = step.scaled(power) else {
            // The step is far greater than this number.
            let sign = self.mantissa.signum();
            return Some((sign.min(0), sign.max(0)));
        };
        let value = self.scaled(power)?;
        let floor = value.div_euclid(divisor);
        Some((floor, if value.rem_euclid(divisor) == 0 { floor } else { floor + 1 }))
    }

    /// `n` times this.
    pub(crate) fn times(self, n: i128) -> Option<Self> {
        Self::new(self.mantissa.checked_mul(n)?, i64::from(self.power))
    }

    /// This and `n × 10^power`.
    pub(crate) fn plus(self, n: i128, power: i64) -> Option<Self> {
        let power = i32::try_from(power).ok()?;
        let least = power.min(self.power);
        let step = Self { mantissa: n, power }.scaled(least)?;
        Self::new(self.scaled(least)?.checked_add(step)?, i64::from(least))
    }

    /// The mantissa at a lower power of ten.
    fn scaled(self, power: i32) -> Option<i128> {
        let shift = u32::try_from(self.power - power).ok()?;
        if self.mantissa == 0 {
            return Some(0);
        }
        self.mantissa.checked_mul(10i128.checked_pow(shift)?)
    }

    /// A JSON number of this value, integers without a fraction.
    pub(crate) fn to_number(self) -> Number {
        let sign = if self.mantissa < 0 { "-" } else { "" };
        let digits = self.mantissa.unsigned_abs().to_string();
        let text = match self.power {
            0..=24 => format!("{sign}{digits}{}", "0".repeat(usize::try_from(self.power).unwrap_or(0))),
            -24..=-1 => {
                let places = usize::try_from(-self.power).unwrap_or(0);
                let digits = format!("{digits:0>width$}", width = places + 1);
                let (whole, fraction) = digits.split_at(digits.len() - places);
                format!("{sign}{whole}.{fraction}")
            }
            power => format!("{sign}{digits}e{power}"),
        };
        Number::parse(&text).unwrap_or_else(|| Number::from(0u64))
    }
}

impl PartialOrd for Dec {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Dec {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = self.mantissa.signum();
        if sign != other.mantissa.signum() || sign == 0 || self.power == other.power {
            return self.mantissa.cmp(&other.mantissa);
        }
        let magnitude = self.order().cmp(&other.order()).then_with(|| {
            // Of one order and at most 30 digits each: both fit at the lower power.
            let power = self.power.min(other.power);
            let at = |dec: &Self| dec.scaled(power).map(i128::unsigned_abs);
            at(self).cmp(&at(other))
        });
        if sign < 0 { magnitude.reverse() } else { magnitude }
    }
}

/// A number of data, which may be of any length.
#[derive(Debug, Clone)]
pub(crate) enum Real {
    Short(Dec),
    Long(Decimal),
}

impl Real {
    pub(crate) fn of(number: &Number) -> Self {
        Dec::from_number(number).map_or_else(|| Self::Long(number.decimal()), Self::Short)
    }

    pub(crate) fn compare(&self, bound: Dec) -> Ordering {
        let long = match self {
            Self::Short(dec) => return dec.cmp(&bound),
            Self::Long(long) => long,
        };
        // A long number is never zero.
        match (long.negative, bound.mantissa.signum()) {
            (true, 0 | 1) => return Ordering::Less,
            (false, 0 | -1) => return Ordering::Greater,
            _ => {}
        }
        let length = i64::try_from(long.digits.len()).unwrap_or(i64::MAX);
        let magnitude = length.saturating_add(long.exponent).cmp(&bound.order()).then_with(|| {
            // Of one order: digit by digit from the left, and neither ends in 0.
            long.digits.as_str().cmp(bound.mantissa.unsigned_abs().to_string().as_str())
        });
        if long.negative { magnitude.reverse() } else { magnitude }
    }

    /// Whether this is `n × step` for an integer `n`. The step is above zero.
    pub(crate) fn is_multiple_of(&self, step: Dec) -> bool {
        let long = match self {
            Self::Short(dec) => return dec.is_multiple_of(step),
            Self::Long(long) => long,
        };
        let Ok(shift) = u64::try_from(long.exponent.saturating_sub(i64::from(step.power))) else {
            return false;
        };
        let modulus = step.mantissa.unsigned_abs();
        let digits = long.digits.bytes().map(|digit| u128::from(digit.wrapping_sub(b'0')));
        let rest = digits.fold(0, |rest, digit| (rest * 10 + digit) % modulus);
        times_power_of_ten(rest, shift, modulus) == 0
    }
}

/// The number of decimal digits.
fn digits(mantissa: i128) -> i64 {
    mantissa.unsigned_abs().checked_ilog10().map_or(0, |log| i64::from(log) + 1)
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `value × 10^shift` modulo a modulus of at most 30 digits, in steps of the logarithm of `shift`.
fn times_power_of_ten(value: u128, mut shift: u64, modulus: u128) -> u128 {
    let (mut result, mut power) = (value % modulus, 10 % modulus);
    while shift > 0 && result != 0 {
        if shift & 1 == 1 {
            result = times(result, power, modulus);
        }
        power = times(power, power, modulus);
        shift >>= 1;
    }
    result
}

/// `a × b` modulo a modulus of at most 30 digits, eight digits of `b` at a time.
fn times(a: u128, mut b: u128, modulus: u128) -> u128 {
    const CHUNK: u128 = 100_000_000;
    if let Some(product) = a.checked_mul(b) {
        return product % modulus;
    }
    let (mut result, mut a) = (0, a);
    while b > 0 {
        result = (result + a * (b % CHUNK)) % modulus;
        a = a * CHUNK % modulus;
        b /= CHUNK;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(text: &str) -> Real {
        Real::of(&Number::parse(text).unwrap())
    }

    fn dec(text: &str) -> Dec {
        Dec::from_number(&Number::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn numbers_compare_by_value_whatever_their_length() {
        let ascending = [
            "-1e999999999999999999",
            "-12345678910111213141516171819202122232425262728293031",
            "-2e30",
            "-1.5",
            "-1",
            "-1e-300",
            "0",
            "1e-300",
            "0.1",
            "0.11",
            "1",
            "9.99",
            "10",
            "1e30",
            "12345678910111213141516171819202122232425262728293030.5",
            "12345678910111213141516171819202122232425262728293031",
            "1.7976931348623157e308",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                if let Some(b) = Dec::from_number(&Number::parse(b).unwrap()) {
                    assert_eq!(real(a).compare(b), i.cmp(&j), "{a} {b:?}");
                }
            }
        }
    }

    #[test]
    fn multiples_are_exact() {
        for (value, step) in [
            ("0", "0.3"),
            ("0.3", "0.1"),
            ("1e308", "0.5"),
            ("1e308", "7e307"),
            ("12345678910111213141516171819202122232425262728293031", "1"),
            ("-12345678910111213141516171819202122232425262728293031", "0.001"),
            ("1e999999999999999999", "1024"),
            ("4.5e-10", "1.5e-10"),
        ] {
            let expected = (value, step) != ("1e308", "7e307");
            assert_eq!(real(value).is_multiple_of(dec(step)), expected, "{value} {step}");
        }
        for (value, step) in [
            ("1e308", "0.123456789"),
            ("35", "1.5"),
            ("0.0075", "0.001"),
            ("1e999999999999999999", "3"),
            ("12345678910111213141516171819202122232425262728293031.5", "1"),
            ("1", "1e300"),
        ] {
            assert!(!real(value).is_multiple_of(dec(step)), "{value} {step}");
        }
    }

    #[test]
    fn a_modular_product_of_thirty_digits_does_not_overflow() {
        let modulus = 999_999_999_999_999_999_999_999_999_989;
        let a = 999_999_999_999_999_999_999_999_999_988;
        assert_eq!(times(a, a, modulus), 1);
    }

    #[test]
    fn arithmetic_keeps_its_value_or_says_nothing() {
        assert_eq!(dec("0.3").lcm(dec("0.2")), Some(dec("0.6")));
        assert_eq!(dec("4").lcm(dec("6")), Some(dec("12")));
        assert_eq!(dec("1e300").lcm(dec("3")), None);
        assert_eq!(dec("7.5").quotient(dec("2")), Some((3, 4)));
        assert_eq!(dec("-7.5").quotient(dec("2")), Some((-4, -3)));
        assert_eq!(dec("-1").quotient(dec("1e300")), Some((-1, 0)));
        assert_eq!(dec("1e300").quotient(dec("1")), None);
        assert_eq!(dec("1.5").plus(1, -3), Some(dec("1.501")));
    }

    #[test]
    fn a_decimal_is_written_as_a_number_of_json() {
        for text in ["0", "-1.5", "1200", "0.001", "1e30", "-25e-40"] {
            assert_eq!(dec(text).to_number().decimal(), Number::parse(text).unwrap().decimal());
        }
        assert_eq!(dec("1e2").to_number().lexeme(), "100");
    }
}
