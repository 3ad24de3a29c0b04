//! The contract that a planner must bring back: what an export showed, of which tool set.

use std::collections::BTreeSet;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::json::{Sha256, Value, canonical, sha256};

/// The names that an export showed, the hash of the tool set that they come from, and, where the export brought a
/// grammar, how calls stand in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    tool_set: Sha256,
    names: Arc<BTreeSet<SmolStr>>,
    in_text: Option<InText>,
    id: Sha256,
}

/// How calls stand in a text that a grammar of ours brought about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InText {
    /// What stands around a call.
    pub envelope: Envelope,
    /// Whether several may stand there.
    pub several: bool,
    /// Whether other text may come before them: the grammar waited for its trigger.
    pub lazy: bool,
}

/// What stands around a call in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Envelope {
    /// `<tool_call>` and `</tool_call>` on lines of their own, as Hermes and Qwen write it in `ChatML`.
    Hermes,
    /// Nothing; several calls are a list.
    Json,
}

impl Envelope {
    /// `hermes` or `json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hermes => "hermes",
            Self::Json => "json",
        }
    }
}

impl Contract {
    pub(super) fn new(tool_set: Sha256, names: BTreeSet<SmolStr>) -> Self {
        Self::of(tool_set, Arc::new(names), None)
    }

    fn of(tool_set: Sha256, names: Arc<BTreeSet<SmolStr>>, in_text: Option<InText>) -> Self {
        let list = names.iter().map(|name| Value::String(name.clone())).collect();
        let mut document = vec![("toolSet", tool_set.to_string().into()), ("tools", Value::Array(list))];
        document.extend(in_text.map(|InText { envelope, several, lazy }| {
            ("inText", Value::Array(vec![envelope.as_str().into(), several.into(), lazy.into()]))
        }));
        let id = sha256(canonical(&Value::Object(document.into_iter().collect())).unwrap_or_default());
        Self { tool_set, names, in_text, id }
    }

    /// The contract of an export of the same names by which calls stand in the text. It is another one: only under it
    /// is text read as calls.
    pub fn in_text_as(&self, in_text: InText) -> Self {
        Self::of(self.tool_set, Arc::clone(&self.names), Some(in_text))
    }

    /// How calls stand in the text, if they do.
    pub fn in_text(&self) -> Option<InText> {
        self.in_text
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
