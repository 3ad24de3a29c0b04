//! A member of a set, with shared parts: as a tree it may be far larger than what it took to find it.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::json::{Object, Value};
use crate::schema::decimal::Dec;
use crate::schema::set::Set;

/// The most values (scalars, arrays, objects) of a witness that is written out.
const SIZE: u64 = 10_000;

/// A member of a set.
#[derive(Debug, Clone)]
pub(crate) struct Witness {
    node: Arc<Node>,
    /// How many values it is made of.
    size: u64,
}

#[derive(Debug)]
enum Node {
    Scalar(Value),
    Array(Vec<Witness>),
    Object(Vec<(SmolStr, Witness)>),
}

impl Witness {
    /// A value that holds no other.
    pub(super) fn scalar(value: Value) -> Self {
        Self { node: Arc::new(Node::Scalar(value)), size: 1 }
    }

    /// Null or a truth value, where the set has one.
    pub(super) fn of_constants(set: &Set) -> Option<Self> {
        if set.null {
            Some(Self::scalar(Value::Null))
        } else if set.fals || set.tru {
            Some(Self::scalar(Value::Bool(!set.fals)))
        } else {
            None
        }
    }

    pub(super) fn number(number: Dec) -> Self {
        Self::scalar(Value::Number(number.to_number()))
    }

    pub(super) fn string(text: SmolStr) -> Self {
        Self::scalar(Value::String(text))
    }

    pub(super) fn array(items: Vec<Self>) -> Self {
        let size = items.iter().fold(1u64, |size, item| size.saturating_add(item.size));
        Self { node: Arc::new(Node::Array(items)), size }
    }

    pub(super) fn object(members: Vec<(SmolStr, Self)>) -> Self {
        let size = members.iter().fold(1u64, |size, (_, member)| size.saturating_add(member.size));
        Self { node: Arc::new(Node::Object(members)), size }
    }

    /// The value, unless it is too large to be written out.
    pub(crate) fn value(&self) -> Option<Value> {
        (self.size <= SIZE).then(|| self.write())
    }

    fn write(&self) -> Value {
        match self.node.as_ref() {
            Node::Scalar(value) => value.clone(),
            Node::Array(items) => Value::Array(items.iter().map(Self::write).collect()),
            Node::Object(members) => {
                let members = members.iter().map(|(name, member)| (name.clone(), member.write()));
                Value::Object(members.collect::<Object>())
            }
        }
    }
}
