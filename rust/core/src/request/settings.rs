//! What the person gave at install time.

use std::fmt;

use crate::json::{Object, Value};

/// The settings of a connector, each checked against its declaration and against every slot that it fills.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Settings(Object);

/// Values are not printed.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Settings {
    /// Takes values that were checked.
    pub(crate) fn new(values: Object) -> Self {
        Self(values)
    }

    /// The value of a setting: a string that is not empty, or an integer.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// All values, in the order of the declarations; they go into every hash.
    pub fn values(&self) -> &Object {
        &self.0
    }
}
