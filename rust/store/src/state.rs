//! What the lock file holds.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use connector_core::json::{Object, Sha256, Value, canonical, sha256};
use smol_str::SmolStr;

/// The format that this version writes and reads.
pub(crate) const FORMAT: u64 = 1;

/// Where a connector id comes from; given by the host, never by a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// The host's label of the source.
    pub source: SmolStr,
    /// The key that signs, as the base64 line of minisign, when manifests of this id are signed.
    pub key: Option<SmolStr>,
}

/// A grant as the host's words and as its hash. The words may hold settings of the person: they are not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct GrantRecord {
    /// The grant.
    pub grant: Value,
    /// Its hash, as the tool set has it.
    pub hash: Sha256,
}

impl fmt::Debug for GrantRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GrantRecord({})", self.hash)
    }
}

/// An installed connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// SHA-256 of the exact bytes of its manifest.
    pub manifest: Sha256,
    /// Where it came from.
    pub provenance: Provenance,
    /// What it is allowed, bound to this manifest.
    pub grant: GrantRecord,
}

/// Whose a connector id is, for good, and what was installed last under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Where its manifests come from.
    pub provenance: Provenance,
    /// SHA-256 of the manifest that was installed last, also when it was removed since.
    pub manifest: Sha256,
    /// The grant of one that was removed, without its origins and settings, which the tombstones have. Nothing while it is
    /// installed, and nothing where a version that kept none removed it.
    pub grant: Option<Value>,
}

/// What is known for good about a tool name that was ever seen, in the words of the tool set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone(pub Value);

/// One state of the store: what a lock file holds. Cheap to clone and never changed; a commit makes another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub(crate) counter: u64,
    pub(crate) pins: BTreeMap<SmolStr, Arc<Entry<Pin>>>,
    pub(crate) owners: BTreeMap<SmolStr, Owner>,
    pub(crate) tombstones: BTreeMap<SmolStr, Arc<Entry<Tombstone>>>,
    pub(crate) tool_set: Sha256,
    pub(crate) chain: Sha256,
}

impl State {
    /// The state of a store in which nothing was ever installed; counter 0, hashes of zeros.
    pub(crate) fn empty() -> Self {
        let none = Sha256([0; 32]);
        let (pins, owners, tombstones) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { counter: 0, pins, owners, tombstones, tool_set: none, chain: none }
    }

    /// Grows with every commit, and is never used twice. A host that keeps the highest it has seen is told by
    /// `store.rolled_back` when an older lock file was put back.
    pub fn counter(&self) -> u64 {
        self.counter
    }

    /// The installed connectors by id.
    pub fn pins(&self) -> impl ExactSizeIterator<Item = (&SmolStr, &Pin)> {
        self.pins.iter().map(|(id, pin)| (id, &pin.value))
    }

    /// An installed connector.
    pub fn pin(&self, id: &str) -> Option<&Pin> {
        self.pins.get(id).map(|pin| &pin.value)
    }

    /// The owner of every connector id ever installed, also of those removed since.
    pub fn owners(&self) -> impl ExactSizeIterator<Item = (&SmolStr, &Owner)> {
        self.owners.iter()
    }

    /// Whose a connector id is.
    pub fn owner(&self, id: &str) -> Option<&Owner> {
        self.owners.get(id)
    }

    /// Every tool name ever seen, by full name.
    pub fn tombstones(&self) -> impl ExactSizeIterator<Item = (&SmolStr, &Tombstone)> {
        self.tombstones.iter().map(|(name, tombstone)| (name, &tombstone.value))
    }

    /// What is known of a full name.
    pub fn tombstone(&self, name: &str) -> Option<&Tombstone> {
        self.tombstones.get(name).map(|tombstone| &tombstone.value)
    }

    /// The tool set hash of the last commit, zeros before the first.
    pub fn tool_set(&self) -> Sha256 {
        self.tool_set
    }

    /// The head of the chain of tool set hashes: SHA-256 of the RFC 8785 form of `{"previous", "toolSet"}` for each
    /// commit; zeros before the first.
    pub fn chain(&self) -> Sha256 {
        self.chain
    }

    /// The head of the chain after a commit of this tool set.
    pub(crate) fn chained(&self, tool_set: Sha256) -> Sha256 {
        let link = [("previous", hash_value(self.chain)), ("toolSet", hash_value(tool_set))];
        sha256(canonical(&object(link)).unwrap_or_default())
    }

    /// The RFC 8785 text of the state. Put together from the texts of the entries, so that a commit costs about what
    /// writing the file does; nothing when a number in an owner's place cannot be written, which no state has.
    pub(crate) fn to_text(&self) -> Option<String> {
        let owners = self.owners.iter().map(|(id, owner)| (id.clone(), owner.to_value())).collect();
        Some(format!(
            "{{\"chain\":\"{}\",\"counter\":{},\"format\":{FORMAT},\"owners\":{},\"pins\":{},\"tombstones\":{},\"toolSet\":\"{}\"}}",
            self.chain,
            self.counter,
            canonical(&Value::Object(owners))?,
            texts(&self.pins)?,
            texts(&self.tombstones)?,
            self.tool_set,
        ))
    }

    /// Reads what [`State::to_text`] wrote.
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        let members = |name: &str| value.get(name).and_then(Value::as_object);
        let mut state = Self::empty();
        state.counter = integer(value, "counter")?;
        for (id, pin) in members("pins")?.iter() {
            state.pins.insert(id.clone(), Entry::new(Pin::from_value(pin)?)?);
        }
        for (id, owner) in members("owners")?.iter() {
            state.owners.insert(id.clone(), Owner::from_value(owner)?);
        }
        for (name, tombstone) in members("tombstones")?.iter() {
            state.tombstones.insert(name.clone(), Entry::new(Tombstone(tombstone.clone()))?);
        }
        state.tool_set = hash(value, "toolSet")?;
        state.chain = hash(value, "chain")?;
        Some(state)
    }
}

/// A part of a state with its RFC 8785 text, which is not printed: it holds the words of grants.
#[derive(PartialEq, Eq)]
pub(crate) struct Entry<T> {
    pub(crate) value: T,
    text: String,
}

impl<T: fmt::Debug> fmt::Debug for Entry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// What stands in the lock file under a name.
pub(crate) trait Part {
    fn to_value(&self) -> Value;
}

impl<T: Part> Entry<T> {
    /// Nothing when a number in it is beyond the range of a double.
    pub(crate) fn new(value: T) -> Option<Arc<Self>> {
        let text = canonical(&value.to_value())?;
        Some(Arc::new(Self { value, text }))
    }
}

/// The RFC 8785 text of an object of entries: members by the UTF-16 code units of their names.
fn texts<T>(entries: &BTreeMap<SmolStr, Arc<Entry<T>>>) -> Option<String> {
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    let mut out = String::from("{");
    for (at, (name, entry)) in entries.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(&canonical(&Value::String(name.clone()))?);
        out.push(':');
        out.push_str(&entry.text);
    }
    out.push('}');
    Some(out)
}

impl Provenance {
    fn members(&self) -> [(&'static str, Value); 2] {
        let key = self.key.clone().map_or(Value::Null, Value::String);
        [("source", Value::String(self.source.clone())), ("key", key)]
    }

    fn from_value(value: &Value) -> Option<Self> {
        let key = match value.get("key")? {
            Value::Null => None,
            key => Some(key.as_str()?.into()),
        };
        Some(Self { source: value.get("source")?.as_str()?.into(), key })
    }
}

impl Part for Pin {
    fn to_value(&self) -> Value {
        let grant = [("grant", self.grant.grant.clone()), ("grantHash", hash_value(self.grant.hash))];
        let manifest = [("manifest", hash_value(self.manifest))];
        object(manifest.into_iter().chain(self.provenance.members()).chain(grant))
    }
}

impl Pin {
    fn from_value(value: &Value) -> Option<Self> {
        let grant = GrantRecord { grant: value.get("grant")?.clone(), hash: hash(value, "grantHash")? };
        Some(Self { manifest: hash(value, "manifest")?, provenance: Provenance::from_value(value)?, grant })
    }
}

impl Owner {
    fn to_value(&self) -> Value {
        let grant = self.grant.clone().map(|grant| ("grant", grant));
        let manifest = [("manifest", hash_value(self.manifest))].into_iter();
        object(manifest.chain(self.provenance.members()).chain(grant))
    }

    fn from_value(value: &Value) -> Option<Self> {
        let grant = value.get("grant").cloned();
        Some(Self { provenance: Provenance::from_value(value)?, manifest: hash(value, "manifest")?, grant })
    }
}

impl Part for Tombstone {
    fn to_value(&self) -> Value {
        self.0.clone()
    }
}

/// An object with these members.
pub(crate) fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Object(members.into_iter().collect::<Object>())
}

/// A hash as it is written.
pub(crate) fn hash_value(hash: Sha256) -> Value {
    hash.to_string().into()
}

/// A member that is a hash.
pub(crate) fn hash(value: &Value, name: &str) -> Option<Sha256> {
    Sha256::parse(value.get(name)?.as_str()?)
}

/// A member that is a whole number below 2^53.
pub(crate) fn integer(value: &Value, name: &str) -> Option<u64> {
    value.get(name)?.as_number()?.as_integer().and_then(|number| u64::try_from(number).ok())
}
