//! Why a value is not accepted.

use crate::json::Value;

/// One reason why a value is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where, as an RFC 6901 pointer into the value that ends at the last declared name.
    pub pointer: String,
    /// The keyword that is violated.
    pub keyword: &'static str,
    /// What is wrong, one sentence. Never holds a value or an undeclared name.
    pub message: String,
}

impl Violation {
    /// The value takes too many steps to decide about.
    pub(crate) fn too_costly() -> Self {
        let message = "the value takes too many steps to check".to_owned();
        Self { pointer: String::new(), keyword: "", message }
    }
}

/// Every reason why the schema does not accept the value.
pub(crate) fn violations(_schema: &super::Inner, _value: &Value) -> Vec<Violation> {
    vec![Violation { pointer: String::new(), keyword: "", message: "the value is not valid".to_owned() }]
}
