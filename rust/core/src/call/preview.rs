//! What a person is shown before a call leaves: exactly what goes on the wire, secrets apart.

use crate::json::{Object, Value};
use crate::manifest::Effect;
use crate::request::Method;
use crate::text::escape_display;

/// One header field of a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewHeader {
    /// The name.
    pub name: String,
    /// The value, a credential as `<credential NAME>`.
    pub value: String,
    /// Whether the transport fixes it.
    pub fixed: bool,
}

/// The request of a plan, for a person. It holds argument values: show it, do not log it.
#[derive(Clone, PartialEq, Eq)]
pub struct Preview {
    /// The full name of the tool.
    pub tool: String,
    /// What the manifest says that the call does.
    pub effect: Effect,
    /// The connector's id.
    pub connector: String,
    /// Where the connector came from, as the host says.
    pub source: String,
    /// The origin in ASCII.
    pub origin: String,
    /// The method.
    pub method: Method,
    /// The whole URL in ASCII.
    pub url: String,
    /// All header fields in the order of the wire.
    pub headers: Vec<PreviewHeader>,
    /// The body, when one is sent.
    pub body: Option<String>,
    /// Everything as lines of text with invisible and bidi characters escaped; id and source before any title.
    pub display: String,
}

impl Preview {
    /// Fills in the display form.
    pub(super) fn displayed(mut self, title: &str) -> Self {
        let Self { tool, effect, connector, source, method, url, headers, body, .. } = &self;
        let mut lines = vec![
            format!("{connector} from {source} ({title})"),
            format!("{tool}, {}", effect.as_str()),
            format!("{} {url}", method.as_str()),
        ];
        lines.extend(headers.iter().map(|PreviewHeader { name, value, .. }| format!("{name}: {value}")));
        lines.extend(body.iter().flat_map(|body| [String::new(), body.clone()]));
        // Line by line: a line break inside a value is shown as an escape and forges no line.
        let lines: Vec<String> = lines.iter().map(|line| escape_display(line)).collect();
        self.display = lines.join("\n");
        self
    }

    /// The preview as JSON, in the shape of the RPC page.
    pub fn to_value(&self) -> Value {
        let header = |header: &PreviewHeader| {
            let members = [
                ("name", header.name.as_str().into()),
                ("value", header.value.as_str().into()),
                ("fixed", header.fixed.into()),
            ];
            Value::Object(members.into_iter().collect())
        };
        let members: Object = [
            ("tool", self.tool.as_str().into()),
            ("effect", self.effect.as_str().into()),
            ("connector", self.connector.as_str().into()),
            ("source", self.source.as_str().into()),
            ("origin", self.origin.as_str().into()),
            ("method", self.method.as_str().into()),
            ("url", self.url.as_str().into()),
            ("headers", Value::Array(self.headers.iter().map(header).collect())),
            ("body", self.body.as_deref().map_or(Value::Null, Value::from)),
            ("display", self.display.as_str().into()),
        ]
        .into_iter()
        .collect();
        Value::Object(members)
    }
}

impl std::fmt::Debug for Preview {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Preview").field("tool", &self.tool).finish_non_exhaustive()
    }
}
