//! What is never forgotten: for each connector id whose it is, and for each tool name what it last was.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smol_str::SmolStr;

use super::super::bounds::Bounds;
use super::super::connector::{BoundTool, Connector};
use super::super::effect;
use super::super::tree::Leaf;
use crate::TrustLimits;
use crate::grant::Grant;
use crate::json::{Numbers, Object, Path, Profile, Sha256, Value, canonical, read_strict, sha256};
use crate::manifest::Tool;
use crate::rule::Findings;
use crate::schema::Schema;

/// The tool names that are remembered; when they are used up, nothing new can be installed.
pub const TOMBSTONES: usize = 10_000;
/// How deep the document of a tool may nest: a manifest's depth, and where the tool stands in the document.
const DOCUMENT_DEPTH: usize = 128;

/// What is remembered of a connector id for good, also after its removal. Immutable; a store keeps it as
/// [`tombstones`](Self::tombstones) and gives it back with [`restore`](Self::restore).
#[derive(Debug, Clone)]
pub struct Past {
    id: SmolStr,
    source: SmolStr,
    key: Option<SmolStr>,
    manifest: Sha256,
    /// The grant that was in force last; the least where an older store did not say.
    grant: Grant,
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

    /// The document stands as text: in an object of a store the order of its members, which counts, may be lost.
    fn to_value(&self, gone: bool) -> Value {
        let required = self.required.iter().map(|name| Value::String(name.clone())).collect();
        let members = [
            ("gone", gone.into()),
            ("required", Value::Array(required)),
            ("bounds", self.bounds.to_value()),
            ("document", self.document.to_text().into()),
        ];
        Value::Object(members.into_iter().collect())
    }

    fn from_value(value: &Value, limits: &TrustLimits) -> Option<Self> {
        let text = value.get("document")?.as_str()?;
        let max_depth = DOCUMENT_DEPTH.max(limits.json_depth.saturating_add(8));
        let profile = Profile { max_bytes: text.len(), max_depth, numbers: Numbers::Exact };
        let document = read_strict(text.as_bytes(), profile).ok()?;
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

    /// The credentials that the tool used, each with the origin that it went to.
    fn credentials(&self) -> impl Iterator<Item = (SmolStr, SmolStr)> {
        let members = |name: &str| self.document.get(name).and_then(Value::as_object);
        let used = members("credentials").into_iter().flat_map(Object::iter);
        used.filter_map(move |(name, entry)| {
            let origin = members("origins")?.get(entry.get("origin")?.as_str()?)?;
            let (scheme, rest) = origin.get("bound")?.as_str()?.split_once("://")?;
            let host = rest.split('/').next()?;
            Some((name.clone(), smol_str::format_smolstr!("{scheme}://{host}")))
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
            connector.grant().clone(),
            tools,
        )
    }

    fn of(
        id: SmolStr,
        source: SmolStr,
        key: Option<SmolStr>,
        manifest: Sha256,
        grant: Grant,
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
            grant.hash(manifest).to_string().into(),
            Value::Array(remembered.collect()),
        ];
        let digest = sha256(canonical(&Value::Array(content)).unwrap_or_default());
        Self { id, source, key, manifest, grant, tools, digest }
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

    /// The grant that was in force last, also when the connector was removed since: a later one that is wider takes an
    /// approval.
    pub fn grant(&self) -> &Grant {
        &self.grant
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

    /// The credentials that any tool ever used, each with the serialised origin that it last went to there: what is to
    /// be forgotten with the connector.
    pub fn credentials(&self) -> BTreeSet<(SmolStr, SmolStr)> {
        self.tools.values().flat_map(|known| known.tombstone.credentials()).collect()
    }

    /// What is remembered of each full tool name as JSON, for a store.
    pub fn tombstones(&self) -> impl ExactSizeIterator<Item = (&SmolStr, Value)> {
        self.tools.iter().map(|(name, known)| (name, known.tombstone.to_value(known.gone)))
    }

    /// Puts together what a store kept: whose the id is, the manifest that was installed last and its grant (the least,
    /// where the store does not know it), and what [`tombstones`](Self::tombstones) gave; nothing when one of these is not
    /// of that form. `limits` bound the schemas.
    pub fn restore(
        id: &str,
        source: &str,
        key: Option<&str>,
        (manifest, grant): (Sha256, Grant),
        tombstones: impl IntoIterator<Item = (SmolStr, Value)>,
        limits: &TrustLimits,
    ) -> Option<Self> {
        let mut tools = BTreeMap::new();
        for (name, value) in tombstones {
            let tombstone = Arc::new(Tombstone::from_value(&value, limits)?);
            let gone = value.get("gone")?.as_bool()?;
            if tools.insert(name, Remembered { tombstone, gone }).is_some() {
                return None;
            }
        }
        Some(Self::of(id.into(), source.into(), key.map(SmolStr::new), manifest, grant, tools))
    }
}

impl Leaf for Arc<Past> {
    fn digest(&self) -> Sha256 {
        self.digest
    }
}
