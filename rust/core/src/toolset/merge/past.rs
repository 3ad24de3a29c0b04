//! What is never forgotten: for each connector id whose it is, and for each tool name what it last was.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::super::bounds::Bounds;
use super::super::connector::{BoundTool, Connector};
use super::super::effect;
use super::super::tree::Leaf;
use crate::TrustLimits;
use crate::json::{Object, Path, Sha256, Value, canonical, sha256};
use crate::manifest::Tool;
use crate::rule::Findings;
use crate::schema::Schema;

/// The tool names that are remembered; when they are used up, nothing new can be installed.
pub const TOMBSTONES: usize = 10_000;

/// What is remembered of a connector id for good, also after its removal. Immutable; a store writes it with
/// [`to_value`](Self::to_value) and gives it back with [`from_value`](Self::from_value).
#[derive(Debug, Clone)]
pub struct Past {
    id: SmolStr,
    source: SmolStr,
    key: Option<SmolStr>,
    manifest: Sha256,
    tools: BTreeMap<SmolStr, Remembered>,
    digest: Sha256,
}

/// A tool name, and whether the last manifest of the connector still had it.
#[derive(Debug, Clone)]
struct Remembered {
    tombstone: Arc<Tombstone>,
    gone: bool,
}

/// What a tool last was.
#[derive(Debug)]
pub(super) struct Tombstone {
    /// Everything that its effect hash covers.
    pub(super) document: Arc<Value>,
    pub(super) effect: Sha256,
    pub(super) bounds: Bounds,
    /// The arguments that no call may leave out, sorted.
    pub(super) required: Vec<SmolStr>,
    /// What it took. Nothing when a schema that was once taken is refused by this core: then no other is narrower.
    pub(super) schema: Option<Schema>,
}

impl Tombstone {
    pub(super) fn new(tool: &Tool, bound: &BoundTool) -> Self {
        let schema = tool.parameters().schema().clone();
        Self {
            document: Arc::clone(&bound.document),
            effect: bound.effect,
            bounds: bound.bounds,
            required: required(&schema),
            schema: Some(schema),
        }
    }

    fn from_value(value: &Value, limits: &TrustLimits) -> Option<Self> {
        let document = value.get("document")?.clone();
        document.as_object()?;
        let names = value.get("required")?.as_array()?.iter();
        let nothing = Value::Object(
            [("type", "object".into()), ("properties", Object::new().into())].into_iter().collect(),
        );
        let parameters = document.get("tool").and_then(|tool| tool.get("parameters")).unwrap_or(&nothing);
        Some(Self {
            effect: effect::hash(&document),
            bounds: Bounds::from_value(value.get("bounds")?)?,
            required: names.map(|name| name.as_str().map(SmolStr::new)).collect::<Option<_>>()?,
            schema: Schema::parameters(parameters, &Path::Root, limits, &mut Findings::new()),
            document: Arc::new(document),
        })
    }
}

/// The arguments that no accepted value leaves out, judged on the compiled set; sorted.
pub(super) fn required(schema: &Schema) -> Vec<SmolStr> {
    let names = schema.properties().iter();
    let mut required: Vec<SmolStr> =
        names.filter(|name| schema.field(name).is_some_and(|field| !field.absent)).cloned().collect();
    required.sort_unstable();
    required
}

impl Past {
    /// What is to be remembered of a connector: its own tools, and those of which `before` knew.
    pub(super) fn new(connector: &Connector, before: Option<&Self>) -> Self {
        let known = before.into_iter().flat_map(|past| past.tools.iter());
        let mut tools: BTreeMap<SmolStr, Remembered> =
            known.map(|(name, known)| (name.clone(), Remembered { gone: true, ..known.clone() })).collect();
        for (tool, bound) in connector.tools() {
            let tombstone = Arc::new(Tombstone::new(tool, bound));
            tools.insert(tool.full_name().clone(), Remembered { tombstone, gone: false });
        }
        Self::of(
            connector.id().into(),
            connector.source().into(),
            connector.key().map(SmolStr::new),
            connector.manifest().sha256(),
            tools,
        )
    }

    fn of(
        id: SmolStr,
        source: SmolStr,
        key: Option<SmolStr>,
        manifest: Sha256,
        tools: BTreeMap<SmolStr, Remembered>,
    ) -> Self {
        let remembered = tools.iter().map(|(name, known)| {
            let hash = known.tombstone.effect.to_string();
            Value::Array(vec![name.as_str().into(), hash.into(), known.gone.into()])
        });
        let content = vec![
            Value::from(id.as_str()),
            source.as_str().into(),
            key.as_deref().map_or(Value::Null, Value::from),
            manifest.to_string().into(),
            Value::Array(remembered.collect()),
        ];
        let digest = sha256(canonical(&Value::Array(content)).unwrap_or_default());
        Self { id, source, key, manifest, tools, digest }
    }

    /// The connector id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The source that the id belongs to.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The key by which its manifests are signed, if they are.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The hash of the manifest that was installed last.
    pub fn manifest(&self) -> Sha256 {
        self.manifest
    }

    /// How many tool names are remembered.
    pub fn names(&self) -> usize {
        self.tools.len()
    }

    /// What a tool last was, and whether the last manifest still had it.
    pub(super) fn tool(&self, full_name: &str) -> Option<(&Tombstone, bool)> {
        self.tools.get(full_name).map(|known| (known.tombstone.as_ref(), known.gone))
    }

    /// The tools of the last manifest.
    pub(super) fn tools(&self) -> impl Iterator<Item = (&SmolStr, &Tombstone)> {
        let here = self.tools.iter().filter(|(_, known)| !known.gone);
        here.map(|(name, known)| (name, known.tombstone.as_ref()))
    }

    /// All of it as JSON, for a store.
    pub fn to_value(&self) -> Value {
        let tools = self.tools.iter().map(|(name, known)| {
            let Tombstone { document, bounds, required, .. } = known.tombstone.as_ref();
            let required = required.iter().map(|name| Value::String(name.clone())).collect();
            let members = [
                ("name", Value::String(name.clone())),
                ("gone", known.gone.into()),
                ("required", Value::Array(required)),
                ("bounds", bounds.to_value()),
                ("document", Value::clone(document)),
            ];
            Value::Object(members.into_iter().collect())
        });
        let members = [
            ("id", Value::String(self.id.clone())),
            ("source", Value::String(self.source.clone())),
            ("key", self.key.clone().map_or(Value::Null, Value::String)),
            ("manifest", self.manifest.to_string().into()),
            ("tools", Value::Array(tools.collect())),
        ];
        Value::Object(members.into_iter().collect())
    }

    /// Reads what [`to_value`](Self::to_value) wrote; nothing when a member is missing or of another kind. `limits`
    /// bound the schemas.
    pub fn from_value(value: &Value, limits: &TrustLimits) -> Option<Self> {
        let text = |name: &str| value.get(name)?.as_str().map(SmolStr::new);
        let key = match value.get("key")? {
            Value::Null => None,
            key => Some(key.as_str()?.into()),
        };
        let mut tools = BTreeMap::new();
        for tool in value.get("tools")?.as_array()? {
            let tombstone = Arc::new(Tombstone::from_value(tool, limits)?);
            let gone = tool.get("gone")?.as_bool()?;
            let name = SmolStr::new(tool.get("name")?.as_str()?);
            if tools.insert(name, Remembered { tombstone, gone }).is_some() {
                return None;
            }
        }
        Some(Self::of(text("id")?, text("source")?, key, Sha256::parse(&text("manifest")?)?, tools))
    }
}

impl Leaf for Arc<Past> {
    fn digest(&self) -> Sha256 {
        self.digest
    }
}
