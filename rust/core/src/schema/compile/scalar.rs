//! `type`, numbers, strings, `enum` and `const`.

use std::sync::Arc;

use super::Compiler;
use super::keywords::{Keywords, count};
use crate::json::{Path, Value};
use crate::schema::Formats;
use crate::schema::arena::Id;
use crate::schema::decimal::Dec;
use crate::schema::number::{Bound, Num};
use crate::schema::rules as r;
use crate::schema::set::Set;
use crate::schema::string::{Str, all, is_empty, meet};
use crate::schema::strings::{ANY_LENGTH, formats};

/// The kinds of values that `type` lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "one for each kind of JSON value")]
pub(crate) struct Kinds {
    pub(crate) null: bool,
    pub(crate) boolean: bool,
    pub(crate) integer: bool,
    /// Every number; `integer` may be set beside it.
    pub(crate) number: bool,
    pub(crate) string: bool,
    pub(crate) array: bool,
    pub(crate) object: bool,
}

impl Kinds {
    const ALL: Self = Self {
        null: true,
        boolean: true,
        integer: true,
        number: true,
        string: true,
        array: true,
        object: true,
    };
    const NONE: Self = Self {
        null: false,
        boolean: false,
        integer: false,
        number: false,
        string: false,
        array: false,
        object: false,
    };

    /// The kinds of a `type`; all without one.
    pub(crate) fn of(value: Option<&Value>) -> Self {
        let Some(value) = value else { return Self::ALL };
        let mut kinds = Self::NONE;
        match value {
            Value::Array(names) => names.iter().filter_map(Value::as_str).for_each(|name| kinds.add(name)),
            one => one.as_str().into_iter().for_each(|name| kinds.add(name)),
        }
        kinds
    }

    fn add(&mut self, name: &str) {
        match name {
            "null" => self.null = true,
            "boolean" => self.boolean = true,
            "integer" => self.integer = true,
            "number" => self.number = true,
            "string" => self.string = true,
            "array" => self.array = true,
            "object" => self.object = true,
            _ => {}
        }
    }

    /// Whether the kind of a value is let through; of a number, whether it is an integer where only those are.
    pub(crate) fn has(self, value: &Value) -> bool {
        match value {
            Value::Null => self.null,
            Value::Bool(_) => self.boolean,
            Value::Number(number) => self.number || (self.integer && Num::integers().has(number)),
            Value::String(_) => self.string,
            Value::Array(_) => self.array,
            Value::Object(_) => self.object,
        }
    }
}

/// The set of a lone `type` with one name.
pub(super) fn plain_kind(value: &Value) -> Option<Id> {
    Some(match value.as_str()? {
        "null" => Id::NULL,
        "boolean" => Id::BOOLEAN,
        "integer" => Id::INTEGER,
        "number" => Id::NUMBER,
        "string" => Id::STRING,
        "array" => Id::ARRAY,
        "object" => Id::OBJECT,
        _ => return None,
    })
}

impl Compiler<'_, '_> {
    /// What numbers are let through.
    pub(super) fn numbers(&mut self, keywords: &Keywords<'_>, kinds: Kinds, path: &Path<'_>) -> Vec<Num> {
        if !kinds.number && !kinds.integer {
            return Vec::new();
        }
        let mut num = if kinds.number { Num::ANY } else { Num::integers() };
        if keywords.constrains_numbers() {
            let own = interval(keywords);
            let step = Num { step: dec(keywords.multiple_of).filter(|step| step.is_positive()), ..Num::ANY };
            if let Ok(both) = own.and(&step).and_then(|own| num.and(&own)) {
                num = both;
            } else {
                let message =
                    format_args!("the multiples of this that are integers have more than 30 digits");
                self.report(&r::NUMBER_TOO_LONG, &path.name("multipleOf"), message);
            }
            if matches!(num.member(), Ok(None)) {
                return Vec::new();
            }
        }
        vec![num]
    }

    /// What strings are let through.
    pub(super) fn strings(&mut self, keywords: &Keywords<'_>, kinds: Kinds, path: &Path<'_>) -> Vec<Str> {
        if !kinds.string {
            return Vec::new();
        }
        let (mut dfa, mut length) = (all(), ANY_LENGTH);
        if let Some(pattern) =
            keywords.pattern.and_then(Value::as_str).and_then(|text| self.patterns.get(text))
        {
            dfa = Arc::clone(&pattern.dfa);
            length = pattern.length;
        }
        if self.options.formats == Formats::Assert
            && let Some(formats::Format::Exact(format)) =
                keywords.format.and_then(Value::as_str).and_then(formats::lookup)
        {
            match self.products.and(&dfa, &format) {
                Ok(both) => dfa = both,
                Err(undecided) => self.too_costly(path, undecided),
            }
        }
        length = meet(length, (count(keywords.min_length).unwrap_or(0), count(keywords.max_length)));
        Str::of_dfa(dfa, length).into_iter().collect()
    }

    /// The values of `enum` and `const` that the kinds, numbers and strings of `own` let through. Scalars are
    /// tried at once; of arrays and objects only the kind, and `constrained` says that more is to be met.
    pub(super) fn listed(&mut self, keywords: &Keywords<'_>, own: &Set) -> Option<Listed> {
        let values: Vec<&Value> = match (keywords.values.and_then(Value::as_array), keywords.constant) {
            (Some(values), Some(constant)) => {
                values.iter().filter(|value| *value == constant).take(1).collect()
            }
            (Some(values), None) => values.iter().collect(),
            (None, Some(constant)) => vec![constant],
            (None, None) => return None,
        };
        let (mut set, mut words, mut composite) = (Set::default(), Vec::new(), Vec::new());
        for value in values {
            match value {
                Value::Null => set.null |= own.null,
                Value::Bool(true) => set.tru |= own.tru,
                Value::Bool(false) => set.fals |= own.fals,
                Value::Number(number) => {
                    let point = Dec::from_number(number).map(Num::point);
                    set.num.extend(point.filter(|_| own.num.iter().any(|num| num.has(number))));
                }
                Value::String(text) if own.str.iter().any(|str| str.has(text)) => words.push(text.clone()),
                Value::String(_) => {}
                Value::Array(_) if own.arr.is_empty() => {}
                Value::Object(_) if own.obj.is_empty() => {}
                value => composite.extend(self.arena.constant(value)),
            }
        }
        let mut seen = rustc_hash::FxHashSet::default();
        set.num.retain(|num| seen.insert(num.clone()));
        set.str.extend(Str::of_words(words));
        let scalars = if set.has_no_value() { Id::NEVER } else { self.arena.leaf(set) };
        let composite = self.arena.or_all(&composite);
        Some(Listed { scalars, composite })
    }
}

/// The values of an `enum` or `const`.
pub(super) struct Listed {
    /// Scalars, all of which the kinds, numbers and strings let through.
    pub(super) scalars: Id,
    /// Arrays and objects, which still have to be met with what is said of those.
    pub(super) composite: Id,
}

/// The interval of the four bounds, in both spellings of the exclusive ones.
fn interval(keywords: &Keywords<'_>) -> Num {
    let bound = |at: Option<&Value>, exclusive: Option<&Value>| {
        dec(at).map(|at| Bound { at, inclusive: exclusive != Some(&Value::Bool(true)) })
    };
    let strict = |at: Option<&Value>| dec(at).map(|at| Bound { at, inclusive: false });
    let lo = bound(keywords.minimum, keywords.exclusive_minimum);
    let hi = bound(keywords.maximum, keywords.exclusive_maximum);
    let inner = Num { lo, hi, ..Num::ANY };
    let outer =
        Num { lo: strict(keywords.exclusive_minimum), hi: strict(keywords.exclusive_maximum), ..Num::ANY };
    inner.and(&outer).unwrap_or(inner)
}

fn dec(value: Option<&Value>) -> Option<Dec> {
    value.and_then(Value::as_number).and_then(Dec::from_number)
}

/// Whether an interval of counts leaves nothing.
pub(super) fn counts(least: Option<&Value>, most: Option<&Value>) -> Option<(u64, Option<u64>)> {
    let interval = (count(least).unwrap_or(0), count(most));
    (!is_empty(interval)).then_some(interval)
}

#[cfg(test)]
mod tests {
    use crate::schema::testing::{broken, check, closed, compile, open};
    use crate::schema::{Formats, Options};

    #[test]
    fn type_is_one_kind_or_several() {
        check(&open(r#"{"type": "integer"}"#), &["0", "-7.0", "1e2"], &["1.5", "\"1\"", "null"]);
        check(&open(r#"{"type": ["string", "null"]}"#), &["\"\"", "null"], &["0", "false", "[]", "{}"]);
        check(&open(r#"{"type": ["integer", "number"]}"#), &["1.5"], &["true"]);
        check(&open("{}"), &["null", "0", "\"\"", "[]", "{}"], &[]);
        check(&open(r#"{"type": "string", "nullable": true}"#), &["null", "\"\""], &["0"]);
    }

    #[test]
    fn an_integer_of_any_length_is_an_integer() {
        let big = "12345678910111213141516171819202122232425262728293031";
        check(&open(r#"{"type": "integer"}"#), &[big, "1e308", "1e400"], &["1e-1", "0.1e0"]);
        check(&open(r#"{"type": "integer", "maximum": 1e20}"#), &["-1e400", "1e20"], &[big, "1e21"]);
    }

    #[test]
    fn bounds_in_both_spellings() {
        check(
            &open(r#"{"minimum": 1, "exclusiveMaximum": 2.5}"#),
            &["1", "2.49", "\"x\""],
            &["0.9", "2.5", "3"],
        );
        let older =
            open(r#"{"minimum": 1, "exclusiveMinimum": true, "maximum": 3, "exclusiveMaximum": false}"#);
        check(&older, &["1.1", "3"], &["1", "3.1"]);
        check(&open(r#"{"minimum": 5, "exclusiveMinimum": 3}"#), &["5"], &["4"]);
    }

    #[test]
    fn multiples_are_exact() {
        check(&open(r#"{"multipleOf": 0.01}"#), &["0.07", "4.02", "0", "1e308"], &["0.075"]);
        check(&open(r#"{"type": "integer", "multipleOf": 0.123456789}"#), &["123456789"], &["1e308", "1"]);
        check(&open(r#"{"type": "integer", "multipleOf": 0.5}"#), &["1e308", "3"], &["0.5"]);
    }

    #[test]
    fn lengths_count_characters() {
        check(
            &open(r#"{"minLength": 2, "maxLength": 3}"#),
            &["\"é😀\"", "\"abc\"", "7"],
            &["\"😀\"", "\"abcd\""],
        );
    }

    #[test]
    fn patterns_search_and_formats_are_asserted() {
        check(&open(r#"{"pattern": "b+", "maxLength": 3}"#), &["\"abc\"", "0"], &["\"xyz\"", "\"abcd\""]);
        check(&open(r#"{"format": "date"}"#), &["\"2024-02-29\"", "0"], &["\"2023-02-29\""]);
        check(&open(r#"{"format": "no such format"}"#), &["\"anything\""], &[]);
        let annotated = Options { formats: Formats::Annotate, ..Options::default() };
        check(&compile(r#"{"format": "date"}"#, annotated).unwrap(), &["\"x\""], &[]);
    }

    #[test]
    fn listed_values_are_compared_by_value() {
        let schema = open(r#"{"enum": [1, "a", null, [1], {"a": 1}]}"#);
        check(
            &schema,
            &["1.0", "\"a\"", "null", "[1.0]", "{\"a\":1e0}"],
            &["2", "\"b\"", "[]", "{}", "true"],
        );
        check(&open(r#"{"const": false}"#), &["false"], &["0", "null"]);
        check(
            &open(r#"{"const": {"a": [null]}}"#),
            &["{\"a\":[null]}"],
            &["{\"a\":[]}", "{\"a\":[null],\"b\":1}"],
        );
        check(
            &open(r#"{"enum": ["a", "b", 3], "type": "string", "const": "b"}"#),
            &["\"b\""],
            &["\"a\"", "3"],
        );
        check(&open(r#"{"enum": [1, 2, 30], "maximum": 10}"#), &["1", "2"], &["30", "3"]);
        check(&open(r#"{"enum": [[1], [1, 2]], "maxItems": 1}"#), &["[1]"], &["[1,2]"]);
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for schema in [
            r#"{"type": "string", "minLength": 3, "maxLength": 2}"#,
            r#"{"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}"#,
            r#"{"type": "number", "enum": ["a"]}"#,
            r#"{"type": "string", "pattern": "^a$", "minLength": 2}"#,
            r#"{"type": "string", "pattern": "^a$", "format": "date"}"#,
            r#"{"enum": []}"#,
            "false",
        ] {
            assert_eq!(broken(schema), [("schema.unsatisfiable", String::new())], "{schema}");
        }
        assert_eq!(closed(r#"{"minLength": 3, "maxLength": 2}"#).accepts(&0u64.into()), Ok(()));
    }
}
