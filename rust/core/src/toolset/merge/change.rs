//! One difference between what was installed and what is to be.

use smol_str::SmolStr;

use crate::Code;
use crate::json::{Object, Value};

macro_rules! kinds {
    ($($variant:ident $word:literal $code:expr, $doc:literal;)*) => {
        /// What changed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ChangeKind {
            $(#[doc = $doc] $variant,)*
        }

        impl ChangeKind {
            /// All kinds; those that keep a merge from happening come first, in the order in which they are told.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The kind as it stands in a review.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// The code by which a merge refuses this change; none where it lets the change through by itself.
            pub fn refused_as(self) -> Option<Code> {
                match self {
                    $(Self::$variant => $code,)*
                }
            }
        }
    };
}

kinds! {
    Source "source" Some(Code::MergeSource), "The manifest comes from another source.";
    Key "key" Some(Code::MergeSource), "The manifest is signed by another key, or no longer, or for the first time.";
    Supersedes "supersedes" Some(Code::MergeSupersedes), "The manifest does not name the one that it replaces.";
    Widened "widened" Some(Code::MergeWidening), "A tool takes arguments that it refused before; with a witness.";
    Undecided "undecided" Some(Code::MergeUndecided), "Whether a tool takes more than before was not decided.";
    Required "required" Some(Code::MergeRequired), "A tool needs other arguments than before.";
    ToolAdded "tool_added" Some(Code::MergeChanged), "A tool is new.";
    Effect "effect" Some(Code::MergeChanged), "A tool does something else to the server's data.";
    Origin "origin" Some(Code::MergeChanged), "A server is new, or another.";
    Credential "credential" Some(Code::MergeChanged), "A credential is new, or goes elsewhere.";
    Setting "setting" Some(Code::MergeChanged), "A setting is new, or another.";
    Request "request" Some(Code::MergeChanged), "A tool sends another request.";
    Response "response" Some(Code::MergeChanged), "A tool shows another part of the answer.";
    LimitRaised "limit_raised" Some(Code::MergeChanged), "A tool may take more than before.";
    Text "text" Some(Code::MergeChanged), "A text that a person or a model reads is another.";
    Grant "grant" Some(Code::GrantWider), "The grant allows more than the one in force.";
    ToolRemoved "tool_removed" None, "A tool is gone.";
    Narrowed "narrowed" None, "A tool takes less than before, or the same said otherwise.";
    LimitLowered "limit_lowered" None, "A tool may take less than before.";
    PostRead "post_read" None, "A tool that sends a POST claims that it only reads.";
}

/// One difference between what was installed and what is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What changed.
    pub kind: ChangeKind,
    /// The full name of the tool, where it is about one.
    pub tool: Option<SmolStr>,
    /// Where in the new manifest (of what is gone: in the old one), or below `/grant`, as an RFC 6901 pointer.
    pub pointer: String,
    /// What was there.
    pub before: Option<Value>,
    /// What is there now.
    pub after: Option<Value>,
    /// For a widening: arguments that are accepted now and were refused.
    pub witness: Option<Value>,
}

impl Change {
    pub(super) fn new(kind: ChangeKind, tool: Option<&SmolStr>, pointer: impl Into<String>) -> Self {
        Self { kind, tool: tool.cloned(), pointer: pointer.into(), before: None, after: None, witness: None }
    }

    pub(super) fn from(mut self, before: Option<Value>) -> Self {
        self.before = before;
        self
    }

    pub(super) fn to(mut self, after: Option<Value>) -> Self {
        self.after = after;
        self
    }

    /// Whether a merge is refused for it.
    pub fn needs_approval(&self) -> bool {
        self.kind.refused_as().is_some()
    }

    /// `{"kind", "tool", "pointer", "before", "after", "witness"}`, without those that are not there.
    pub fn to_value(&self) -> Value {
        let text = |text: &str| Some(Value::from(text));
        let members = [
            ("kind", text(self.kind.as_str())),
            ("tool", self.tool.as_deref().and_then(text)),
            ("pointer", text(&self.pointer)),
            ("before", self.before.clone()),
            ("after", self.after.clone()),
            ("witness", self.witness.clone()),
        ];
        let members = members.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Value::Object(members.collect::<Object>())
    }
}
