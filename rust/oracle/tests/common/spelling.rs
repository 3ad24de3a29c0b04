//! Values as a grammar spells them.

use connector_core::json::{Number, Value};

/// The text of a value: members as they stand, characters as RFC 8785 writes them, numbers without an exponent.
/// Nothing where a number has more digits than a grammar takes.
pub fn spelled(value: &Value) -> Option<String> {
    let mut text = String::new();
    write(value, &mut text)?;
    Some(text)
}

fn write(value: &Value, text: &mut String) -> Option<()> {
    match value {
        Value::Number(number) => text.push_str(&plain(number)?),
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                write(item, text)?;
            }
            text.push(']');
        }
        Value::Object(object) => {
            text.push('{');
            for (at, (name, value)) in object.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                text.push_str(&Value::String(name.clone()).to_text());
                text.push(':');
                write(value, text)?;
            }
            text.push('}');
        }
        scalar => text.push_str(&scalar.to_text()),
    }
    Some(())
}

/// The text of a value as llama.rn's converter writes constants: numbers of doubles with the exponents of C. With `far`
/// as its rule of numbers takes them: integers of more than 16 digits with an exponent, none of which begins with zero.
pub fn dumped(value: &serde_json::Value, far: bool) -> String {
    use serde_json::Value as Json;
    match value {
        Json::Number(number) => {
            let double = number.as_f64().filter(|_| number.is_f64()).unwrap_or(1.0).abs();
            let is_plain = double == 0.0 || (1e-4..1e15).contains(&double);
            let text = if is_plain { number.to_string() } else { format!("{:e}", number.as_f64().unwrap()) };
            let (sign, magnitude) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
            if far && magnitude.len() > 16 && magnitude.bytes().all(|byte| byte.is_ascii_digit()) {
                let (first, rest) = magnitude.split_at(1);
                let fraction = rest.trim_end_matches('0');
                let point = if fraction.is_empty() { "" } else { "." };
                return format!("{sign}{first}{point}{fraction}e{}", rest.len());
            }
            let Some((digits, exponent)) = text.split_once('e') else { return text };
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent.trim_start_matches('+')),
            };
            if far { format!("{digits}e{sign}{exponent}") } else { format!("{digits}e{sign}{exponent:0>2}") }
        }
        Json::Array(items) => {
            format!("[{}]", items.iter().map(|item| dumped(item, far)).collect::<Vec<_>>().join(","))
        }
        Json::Object(members) => {
            let member = |(name, value): (&String, &Json)| {
                format!("{}:{}", Json::from(name.as_str()), dumped(value, far))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
        }
        scalar => scalar.to_string(),
    }
}

/// A number with at most 16 integer and 15 fraction digits, without an exponent.
fn plain(number: &Number) -> Option<String> {
    let decimal = number.decimal();
    let (digits, exponent) = (decimal.digits, decimal.exponent);
    if digits.is_empty() || digits == "0" {
        return Some("0".to_owned());
    }
    let point = i64::try_from(digits.len()).ok()? + exponent;
    if point > 16 || exponent < -15 {
        return None;
    }
    let sign = if decimal.negative { "-" } else { "" };
    Some(if exponent >= 0 {
        format!("{sign}{digits}{}", "0".repeat(usize::try_from(exponent).ok()?))
    } else if point > 0 {
        let (whole, fraction) = digits.split_at(usize::try_from(point).ok()?);
        format!("{sign}{whole}.{fraction}")
    } else {
        format!("{sign}0.{}{digits}", "0".repeat(usize::try_from(-point).ok()?))
    })
}

/// The same value with its members in other orders, up to some hundred.
pub fn orders(value: &Value) -> Vec<Value> {
    let mut all = match value {
        Value::Object(object) => {
            let members: Vec<_> = object.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            let mut orders = vec![Vec::new()];
            for member in members {
                let inner = self::orders(&member.1);
                let mut next = Vec::new();
                for order in &orders {
                    for at in 0..=order.len() {
                        for value in &inner {
                            let mut longer: Vec<_> = order.clone();
                            longer.insert(at, (member.0.clone(), value.clone()));
                            next.push(longer);
                        }
                    }
                }
                next.truncate(400);
                orders = next;
            }
            orders.into_iter().map(|members| Value::Object(members.into_iter().collect())).collect()
        }
        Value::Array(items) => {
            let mut lists = vec![Vec::new()];
            for item in items {
                let inner = self::orders(item);
                let longer = |list: &Vec<Value>| {
                    let list = list.clone();
                    inner
                        .iter()
                        .map(move |value| [list.clone(), vec![value.clone()]].concat())
                        .collect::<Vec<_>>()
                };
                lists = lists.iter().flat_map(longer).take(400).collect();
            }
            lists.into_iter().map(Value::Array).collect()
        }
        other => vec![other.clone()],
    };
    all.truncate(400);
    all
}
