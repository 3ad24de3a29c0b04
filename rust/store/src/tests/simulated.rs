//! A file system that keeps count of what is not durable yet, and can lose it.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::files::{Files, LogFile};

/// What of the things not made durable is still there after the power was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    /// Nothing.
    All,
    /// Everything.
    None,
    /// Any of the names; of the bytes of a file any beginning, with zeros in the place of the rest or without.
    Torn(u64),
    /// Any of the names and any of the bytes, also later ones without earlier ones.
    Holes(u64),
}

#[derive(Clone)]
pub(super) struct Simulated(Arc<Mutex<World>>);

#[derive(Clone, Default)]
struct World {
    nodes: Vec<Node>,
    folders: BTreeMap<String, Folder>,
    steps: usize,
    fails: Option<(Range<usize>, io::ErrorKind)>,
    off: Option<usize>,
}

#[derive(Clone, Default)]
struct Node {
    seen: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Cut(usize),
}

#[derive(Clone, Default)]
struct Folder {
    seen: BTreeMap<String, Entry>,
    durable: BTreeMap<String, Entry>,
    pending: Vec<Naming>,
}

#[derive(Clone, Copy, PartialEq)]
enum Entry {
    File(usize),
    Folder,
}

#[derive(Clone)]
enum Naming {
    Make(String, Entry),
    Remove(String),
    Move(String, String, Entry),
}

impl Naming {
    fn apply(&self, names: &mut BTreeMap<String, Entry>) {
        match self {
            Self::Make(name, entry) => drop(names.insert(name.clone(), *entry)),
            Self::Remove(name) => drop(names.remove(name)),
            Self::Move(from, to, entry) => {
                names.remove(from);
                names.insert(to.clone(), *entry);
            }
        }
    }
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write(at, new) => {
                bytes.resize(bytes.len().max(at + new.len()), 0);
                bytes[*at..at + new.len()].copy_from_slice(new);
            }
            Self::Cut(len) => bytes.resize(*len, 0),
        }
    }
}

/// How far a step comes.
enum Step {
    Whole,
    /// Half of it happens, then the caller is told of a failure.
    Half(io::Error),
}

impl World {
    fn step(&mut self) -> io::Result<Step> {
        let now = self.steps;
        self.steps += 1;
        match (&self.off, &self.fails) {
            (Some(at), _) if now > *at => Err(io::Error::other("the power is off")),
            (Some(at), _) if now == *at => Ok(Step::Half(io::Error::other("the power is off"))),
            (_, Some((range, kind))) if range.contains(&now) => Ok(Step::Half(io::Error::from(*kind))),
            _ => Ok(Step::Whole),
        }
    }

    fn folder(&mut self, name: &str) -> io::Result<&mut Folder> {
        self.folders.get_mut(name).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn node(&mut self, name: &str) -> io::Result<usize> {
        let (folder, file) = split(name);
        match self.folder(folder)?.seen.get(file) {
            Some(Entry::File(node)) => Ok(*node),
            Some(Entry::Folder) => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            None => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    }

    fn name(&mut self, folder: &str, naming: Naming) -> io::Result<()> {
        let folder = self.folder(folder)?;
        naming.apply(&mut folder.seen);
        folder.pending.push(naming);
        Ok(())
    }

    fn change(&mut self, node: usize, change: Change) {
        let node = &mut self.nodes[node];
        change.apply(&mut node.seen);
        node.pending.push(change);
    }

    fn write(&mut self, node: usize, bytes: &[u8]) -> io::Result<()> {
        let at = self.nodes[node].seen.len();
        match self.step()? {
            Step::Whole => self.change(node, Change::Write(at, bytes.to_vec())),
            Step::Half(error) => {
                self.change(node, Change::Write(at, bytes[..bytes.len() / 2].to_vec()));
                return Err(error);
            }
        }
        Ok(())
    }

    fn sync(&mut self, node: usize) -> io::Result<()> {
        let step = self.step()?;
        let lost = self.off.is_none();
        let node = &mut self.nodes[node];
        match step {
            Step::Whole => {
                for change in std::mem::take(&mut node.pending) {
                    change.apply(&mut node.durable);
                }
                Ok(())
            }
            Step::Half(error) => {
                // As Linux does it: after a sync that failed the pages are taken for written, and are not.
                if lost {
                    node.pending.clear();
                }
                Err(error)
            }
        }
    }
}

fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('/').unwrap_or(("", name))
}

impl Simulated {
    pub(super) fn new() -> Self {
        let mut world = World::default();
        world.folders.insert(String::new(), Folder::default());
        Self(Arc::new(Mutex::new(world)))
    }

    fn with<T>(&self, use_it: impl FnOnce(&mut World) -> T) -> T {
        use_it(&mut self.0.lock().unwrap())
    }

    pub(super) fn files(&self) -> Arc<dyn Files> {
        Arc::new(self.clone())
    }

    /// The power goes off in the middle of this step.
    pub(super) fn off_at(&self, step: usize) {
        self.with(|world| world.off = Some(step));
    }

    /// These steps fail half done.
    pub(super) fn fail(&self, steps: Range<usize>, kind: io::ErrorKind) {
        self.with(|world| world.fails = Some((steps, kind)));
    }

    pub(super) fn heal(&self) {
        self.with(|world| world.fails = None);
    }

    pub(super) fn steps(&self) -> usize {
        self.with(|world| world.steps)
    }

    /// The same folder in the same state, apart from this one.
    pub(super) fn copy(&self) -> Self {
        Self(Arc::new(Mutex::new(self.with(|world| World {
            steps: 0,
            off: None,
            fails: None,
            ..world.clone()
        }))))
    }

    /// What is there when the power comes back.
    pub(super) fn after(&self, loss: Loss) -> Self {
        let mut world = self.with(|world| world.clone());
        let mut coin = Coin::new(loss);
        for folder in world.folders.values_mut() {
            for naming in std::mem::take(&mut folder.pending) {
                if coin.keeps() {
                    naming.apply(&mut folder.durable);
                }
            }
            folder.seen.clone_from(&folder.durable);
        }
        for node in &mut world.nodes {
            coin.settle(node);
        }
        // A folder whose name is lost is lost with what is in it.
        let root = world.folders[""].seen.clone();
        world.folders.retain(|name, _| name.is_empty() || root.get(name) == Some(&Entry::Folder));
        for (name, entry) in root {
            if entry == Entry::Folder {
                world.folders.entry(name).or_default();
            }
        }
        Self(Arc::new(Mutex::new(World { steps: 0, off: None, fails: None, ..world })))
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.with(|world| {
            let names = world.folders.iter().flat_map(|(folder, inside)| {
                inside.seen.iter().map(move |(name, entry)| (folder, name, *entry))
            });
            let files = names.filter(|(_, _, entry)| *entry != Entry::Folder);
            files
                .map(
                    |(folder, name, _)| {
                        if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") }
                    },
                )
                .collect()
        })
    }

    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        self.with(|world| world.node(name).map(|node| world.nodes[node].seen.clone())).unwrap()
    }

    /// Somebody else puts these bytes there.
    pub(super) fn put(&self, name: &str, bytes: &[u8]) {
        self.with(|world| {
            let (folder, file) = split(name);
            let node = Node { seen: bytes.to_vec(), durable: bytes.to_vec(), pending: Vec::new() };
            world.nodes.push(node);
            let entry = Entry::File(world.nodes.len() - 1);
            let folder = world.folder(folder).unwrap();
            folder.seen.insert(file.into(), entry);
            folder.durable.insert(file.into(), entry);
        });
    }

    /// Somebody else removes a file.
    pub(super) fn take(&self, name: &str) {
        self.with(|world| {
            let (folder, file) = split(name);
            let folder = world.folder(folder).unwrap();
            folder.seen.remove(file).unwrap();
            folder.durable.remove(file);
        });
    }
}

/// A small generator of its own (xorshift64*): a failed case is repeated by its seed.
pub(super) struct Coin {
    loss: Loss,
    state: u64,
}

impl Coin {
    fn new(loss: Loss) -> Self {
        let seed = match loss {
            Loss::Torn(seed) | Loss::Holes(seed) => seed,
            _ => 0,
        };
        Self { loss, state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        usize::try_from(self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % limit
    }

    fn keeps(&mut self) -> bool {
        match self.loss {
            Loss::All => false,
            Loss::None => true,
            Loss::Torn(_) | Loss::Holes(_) => self.below(2) == 0,
        }
    }

    /// Makes of a file what is found of it.
    fn settle(&mut self, node: &mut Node) {
        let pending = std::mem::take(&mut node.pending);
        match self.loss {
            Loss::All => {}
            Loss::None => pending.iter().for_each(|change| change.apply(&mut node.durable)),
            Loss::Holes(_) => {
                for change in &pending {
                    match change {
                        _ if self.keeps() => change.apply(&mut node.durable),
                        Change::Write(at, bytes) => {
                            Change::Write(*at, vec![0; bytes.len()]).apply(&mut node.durable);
                        }
                        Change::Cut(_) => {}
                    }
                }
            }
            Loss::Torn(_) => {
                let whole = self.below(pending.len() + 1);
                pending.iter().take(whole).for_each(|change| change.apply(&mut node.durable));
                if let Some(Change::Write(at, bytes)) = pending.get(whole) {
                    let mut torn = bytes[..self.below(bytes.len() + 1)].to_vec();
                    if self.keeps() {
                        torn.resize(bytes.len(), 0);
                    }
                    Change::Write(*at, torn).apply(&mut node.durable);
                }
            }
        }
        node.seen.clone_from(&node.durable);
    }
}

impl Files for Simulated {
    fn read(&self, name: &str, limit: usize) -> io::Result<Vec<u8>> {
        self.with(|world| {
            let node = world.node(name)?;
            let bytes = world.nodes[node].seen.clone();
            if bytes.len() > limit { Err(io::Error::from(io::ErrorKind::FileTooLarge)) } else { Ok(bytes) }
        })
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.with(|world| {
            let (folder, file) = split(name);
            if world.node(name).is_ok() {
                if let Step::Half(error) = world.step()? {
                    return Err(error);
                }
                world.name(folder, Naming::Remove(file.into()))?;
            }
            if let Step::Half(error) = world.step()? {
                return Err(error);
            }
            let node = world.nodes.len();
            world.nodes.push(Node::default());
            world.name(folder, Naming::Make(file.into(), Entry::File(node)))?;
            world.write(node, bytes)?;
            world.sync(node)
        })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.with(|world| {
            let node = world.node(from)?;
            if let Step::Half(error) = world.step()? {
                return Err(error);
            }
            let ((folder, from), (_, to)) = (split(from), split(to));
            world.name(folder, Naming::Move(from.into(), to.into(), Entry::File(node)))
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.with(|world| {
            world.node(name)?;
            if let Step::Half(error) = world.step()? {
                return Err(error);
            }
            let (folder, file) = split(name);
            world.name(folder, Naming::Remove(file.into()))
        })
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.with(|world| Ok(world.folder(folder)?.seen.keys().cloned().collect()))
    }

    fn make_folder(&self, name: &str) -> io::Result<()> {
        self.with(|world| {
            if world.folders.contains_key(name) {
                return Ok(());
            }
            if let Step::Half(error) = world.step()? {
                return Err(error);
            }
            world.folders.insert(name.into(), Folder::default());
            world.name("", Naming::Make(name.into(), Entry::Folder))
        })
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.with(|world| {
            if let Step::Half(error) = world.step()? {
                return Err(error);
            }
            let folder = world.folder(folder)?;
            for naming in std::mem::take(&mut folder.pending) {
                naming.apply(&mut folder.durable);
            }
            Ok(())
        })
    }

    fn open_log(&self, name: &str) -> io::Result<Box<dyn LogFile>> {
        let node = self.with(|world| world.node(name))?;
        Ok(Box::new(Open(self.clone(), node)))
    }
}

struct Open(Simulated, usize);

impl LogFile for Open {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.with(|world| world.write(self.1, bytes))
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).unwrap();
        self.0.with(|world| {
            if let Step::Half(error) = world.step()? {
                return Err(error);
            }
            world.change(self.1, Change::Cut(len));
            Ok(())
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.with(|world| world.sync(self.1))
    }
}
