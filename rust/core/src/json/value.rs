//! A JSON value as it was read: members in file order, numbers with their digits.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use smol_str::SmolStr;

use super::number::Number;
use super::string::write_string;

/// A JSON value (RFC 8259). Numbers keep their spelling, objects their order; member names are unique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number with its digits.
    Number(Number),
    /// A string of Unicode scalar values.
    String(SmolStr),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Object),
}

/// The members of an object, in the order in which they were written, each name once.
///
/// Equality ignores the order, as RFC 8259 section 4 has it.
#[derive(Clone, Default)]
pub struct Object {
    members: Vec<(SmolStr, Value)>,
    /// Where each name stands in `members`; kept only above `INDEXED` members, and apart, so that every value is small.
    /// A tree, since neither the order of hostile names nor their hashes may make it slow.
    #[allow(clippy::box_collection, reason = "one word in each of the many values that have no index")]
    index: Option<Box<BTreeMap<SmolStr, u32>>>,
}

/// Up to this many members a look-up walks the list.
const INDEXED: usize = 12;

impl Object {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.position(name).and_then(|at| self.members.get(at)).map(|(_, value)| value)
    }

    /// Whether there is a member of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// Adds a member at the end; gives the value back when the name is taken.
    pub fn insert(&mut self, name: impl Into<SmolStr>, value: Value) -> Result<(), Value> {
        self.add(name.into(), value).map_err(|(_, value)| value)
    }

    /// Adds a member at the end; gives it back when the name is taken.
    pub(super) fn add(&mut self, name: SmolStr, value: Value) -> Result<(), (SmolStr, Value)> {
        let Some(index) = &mut self.index else {
            if self.members.iter().any(|(known, _)| *known == name) {
                return Err((name, value));
            }
            self.members.push((name, value));
            if self.members.len() > INDEXED {
                self.index = Some(Box::new(self.keys().cloned().zip(0..).collect()));
            }
            return Ok(());
        };
        match index.entry(name) {
            Entry::Occupied(taken) => Err((taken.key().clone(), value)),
            Entry::Vacant(free) => {
                let name = free.key().clone();
                free.insert(u32::try_from(self.members.len()).unwrap_or(u32::MAX));
                self.members.push((name, value));
                Ok(())
            }
        }
    }

    /// The members in file order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&SmolStr, &Value)> + Clone {
        self.members.iter().map(|(name, value)| (name, value))
    }

    /// The names in file order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &SmolStr> + Clone {
        self.members.iter().map(|(name, _)| name)
    }

    /// The values in file order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + Clone {
        self.members.iter().map(|(_, value)| value)
    }

    fn position(&self, name: &str) -> Option<usize> {
        match &self.index {
            None => self.members.iter().position(|(known, _)| known == name),
            Some(index) => index.get(name).map(|at| *at as usize),
        }
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl Eq for Object {}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Builds an object; of two members of one name the first stays.
impl<K: Into<SmolStr>> FromIterator<(K, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(members: I) -> Self {
        let mut object = Self::new();
        for (name, value) in members {
            let _taken = object.insert(name, value);
        }
        object
    }
}

impl IntoIterator for Object {
    type Item = (SmolStr, Value);
    type IntoIter = std::vec::IntoIter<(SmolStr, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

impl Value {
    /// The members, when this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The items, when this is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The text, when this is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The number, when this is one.
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// The truth value, when this is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// A member, when this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object().and_then(|object| object.get(name))
    }

    /// `null`, `boolean`, `number`, `string`, `array` or `object`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// The compact JSON text: members in order, numbers with their digits, the short escapes.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// Appends the compact JSON text.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(number) => out.push_str(number.lexeme()),
            Self::String(text) => write_string(text, out),
            Self::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(object) => {
                out.push('{');
                for (at, (name, value)) in object.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    write_string(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<SmolStr> for Value {
    fn from(text: SmolStr) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Number(Number::from(value))
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Number(Number::from(value))
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Number(Number::from(value as u64))
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::Array(items)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

/// Numbers go out as integers or doubles where these keep the value, else as the text of their digits in a
/// string: a serializer that must keep every digit takes [`Value::to_text`].
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => {
                let raw = serde_json::value::RawValue::from_string(number.lexeme().to_owned());
                raw.map_err(serde::ser::Error::custom)?.serialize(serializer)
            }
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Self::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                for (name, value) in object.iter() {
                    map.serialize_entry(name.as_str(), value)?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_and_unique_below_and_above_the_index() {
        let mut object = Object::new();
        for at in 0..100u64 {
            assert!(object.insert(format!("k{at}"), Value::from(at)).is_ok());
            assert!(object.insert(format!("k{at}"), Value::Null).is_err());
        }
        for at in 0..100u64 {
            assert_eq!(object.get(&format!("k{at}")), Some(&Value::from(at)));
        }
        assert_eq!(object.get("k100"), None);
        assert_eq!(object.keys().next().map(SmolStr::as_str), Some("k0"));
        assert_eq!(object.len(), 100);
    }

    #[test]
    fn the_order_of_names_does_not_make_an_object_slow() {
        let names = (0..200_000).rev().map(|at| (format!("{at:06}"), Value::Null));
        let object: Object = names.collect();
        assert_eq!((object.len(), object.get("000007")), (200_000, Some(&Value::Null)));
    }

    #[test]
    fn equality_ignores_the_order_of_members_and_the_spelling_of_numbers() {
        let a: Object = [("a", Value::from(1i64)), ("b", Value::Null)].into_iter().collect();
        let b: Object = [("b", Value::Null), ("a", Value::from(1i64))].into_iter().collect();
        assert_eq!(a, b);
    }
}
