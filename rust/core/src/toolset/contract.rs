//! The contract that a planner must bring back: what an export showed, of which tool set.

use std::collections::BTreeSet;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::json::{Sha256, Value, canonical, sha256};

/// The names that an export showed, and the hash of the tool set that they come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    tool_set: Sha256,
    names: Arc<BTreeSet<SmolStr>>,
    id: Sha256,
}

impl Contract {
    pub(super) fn new(tool_set: Sha256, names: BTreeSet<SmolStr>) -> Self {
        let list = names.iter().map(|name| Value::String(name.clone())).collect();
        let document = [("toolSet", tool_set.to_string().into()), ("tools", Value::Array(list))];
        let id = sha256(canonical(&Value::Object(document.into_iter().collect())).unwrap_or_default());
        Self { tool_set, names: Arc::new(names), id }
    }

    /// The token that the application carries: a hash over names and tool set.
    pub fn id(&self) -> Sha256 {
        self.id
    }

    /// The tool set that was exported.
    pub fn tool_set(&self) -> Sha256 {
        self.tool_set
    }

    /// Whether the export showed this full name.
    pub fn shows(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The full names that were shown, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &SmolStr> {
        self.names.iter()
    }
}
