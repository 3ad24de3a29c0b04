//! The arguments of a tool.

use std::sync::LazyLock;

use crate::json::{Object, Path, Value};
use crate::limits::TrustLimits;
use crate::rule::Findings;
use crate::schema::Schema;
use crate::shape::{Definitions, Reading, Shape, fragment};

/// What a tool takes: a compiled object schema, closed by default.
#[derive(Debug, Clone)]
pub struct Parameters {
    schema: Schema,
    is_declared: bool,
}

/// The schema of a tool that takes no arguments.
static NOTHING: LazyLock<Option<Schema>> = LazyLock::new(|| {
    let source = fragment([("type", "object".into()), ("properties", Object::new().into())]);
    Schema::parameters(&source, &Path::Root, &TrustLimits::default(), &mut Findings::new())
});

impl Parameters {
    /// The schema: that of the manifest, or the empty closed object where the manifest has none.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Whether the manifest has `parameters`; without them the tool takes no arguments.
    pub fn is_declared(&self) -> bool {
        self.is_declared
    }
}

impl Shape for Parameters {
    const REQUIRED: bool = false;

    fn read(value: &Value, at: &Path<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let schema = Schema::parameters(value, at, reading.limits, reading.findings)?;
        Some(Self { schema, is_declared: true })
    }

    fn absent() -> Option<Self> {
        NOTHING.clone().map(|schema| Self { schema, is_declared: false })
    }

    fn describe(_: &mut Definitions) -> Value {
        fragment([("type", "object".into())])
    }
}
