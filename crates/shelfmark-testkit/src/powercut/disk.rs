//! A disk as a program may rely on it: what is durable, and what is only pending.
//!
//! Invariant: `now` is what the running system sees; what a power cut leaves is the durable part
//! and any choice among the pending changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use shelfmark_store::vfs;

use super::recording::Event;

/// Number of a file or folder.
pub type NodeId = usize;

/// A change that is not durable yet. Numbers rise in the order in which changes were made.
#[derive(Debug, Clone)]
pub struct Pending<T> {
    /// Its number.
    pub number: u64,
    /// The change.
    pub change: T,
}

/// A change of a file's bytes.
#[derive(Debug, Clone)]
pub enum FileChange {
    /// Bytes at an offset.
    Write(usize, Vec<u8>),
    /// A new length.
    Length(usize),
}

/// A change of the names in a folder.
#[derive(Debug, Clone)]
pub enum NameChange {
    /// The name stands for this node from now on.
    Put(String, NodeId),
    /// The name is gone.
    Remove(String),
    /// The first name, in the given folder, is gone, and the second stands for this node, at once.
    Rename(NodeId, String, String, NodeId),
}

/// The names in folders.
pub type Names = BTreeMap<NodeId, BTreeMap<String, NodeId>>;

/// A file or folder.
#[derive(Debug, Clone)]
pub enum Node {
    /// A file.
    File {
        /// Its bytes after a power cut that takes everything pending.
        durable: Vec<u8>,
        /// Its other pending changes.
        pending: Vec<Pending<FileChange>>,
    },
    /// A folder.
    Folder {
        /// The names after a power cut that discards everything pending.
        durable: BTreeMap<String, NodeId>,
        /// Its pending changes.
        pending: Vec<Pending<NameChange>>,
        /// The names for the running system.
        now: BTreeMap<String, NodeId>,
    },
}

/// The files below one folder, the root, which itself is durable.
#[derive(Debug, Clone)]
pub struct Disk {
    nodes: Vec<Node>,
    handles: BTreeMap<u32, NodeId>,
    syncs: BTreeMap<u32, (NodeId, u64)>,
    next: u64,
}

/// The root's number.
pub const ROOT: NodeId = 0;

impl Disk {
    /// Creates a disk that holds nothing but the root.
    #[must_use]
    pub fn new() -> Self {
        Self {
            nodes: vec![new_folder()],
            handles: BTreeMap::new(),
            syncs: BTreeMap::new(),
            next: 0,
        }
    }

    /// Creates a disk that holds, durably, what is in `folder` now.
    ///
    /// # Errors
    ///
    /// * The operating system's error.
    pub fn of(folder: &Path) -> std::io::Result<Self> {
        let mut disk = Self::new();
        let mut left = vec![(folder.to_owned(), ROOT)];
        while let Some((path, parent)) = left.pop() {
            for path in vfs::list(&path)? {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let node = if path.is_dir() {
                    let node = disk.add(new_folder());
                    left.push((path, node));
                    node
                } else {
                    disk.add(Node::File { durable: vfs::read(&path)?, pending: Vec::new() })
                };
                if let Some(Node::Folder { durable, now, .. }) = disk.nodes.get_mut(parent) {
                    durable.insert(name.clone(), node);
                    now.insert(name, node);
                }
            }
        }
        Ok(disk)
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Returns a node.
    #[must_use]
    pub fn node(&self, node: NodeId) -> Option<&Node> {
        self.nodes.get(node)
    }

    /// Returns the number above those of all changes so far.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// Lists the nodes that a power cut may leave under some name, the root first.
    #[must_use]
    pub fn reachable(&self) -> Vec<NodeId> {
        let mut seen = BTreeSet::from([ROOT]);
        let mut left = vec![ROOT];
        while let Some(node) = left.pop() {
            let Some(Node::Folder { durable, pending, .. }) = self.nodes.get(node) else {
                continue;
            };
            let named = pending.iter().filter_map(|pending| match &pending.change {
                NameChange::Put(_, node) | NameChange::Rename(_, _, _, node) => Some(*node),
                NameChange::Remove(_) => None,
            });
            for child in durable.values().copied().chain(named) {
                if seen.insert(child) {
                    left.push(child);
                }
            }
        }
        seen.into_iter().collect()
    }

    /// Does what a process did.
    ///
    /// # Errors
    ///
    /// * A text that says why the event is impossible here: something went past the recorder.
    pub fn apply(&mut self, event: &Event) -> Result<(), String> {
        self.try_apply(event).ok_or_else(|| format!("impossible on this disk: {event:?}"))
    }

    fn try_apply(&mut self, event: &Event) -> Option<()> {
        match event {
            Event::Begin => {
                self.handles.clear();
                self.syncs.clear();
            }
            Event::Open { handle, creates, empties, path } => {
                let node = match self.find(path) {
                    Some(node) => node,
                    None if *creates => {
                        self.create(path, Node::File { durable: Vec::new(), pending: Vec::new() })?
                    }
                    None => return None,
                };
                self.handles.insert(*handle, node);
                if *empties {
                    self.change_file(node, FileChange::Length(0))?;
                }
            }
            Event::Write { handle, offset, bytes } => {
                let change = FileChange::Write(usize::try_from(*offset).ok()?, bytes.clone());
                self.change_file(*self.handles.get(handle)?, change)?;
            }
            Event::Length { handle, length } => {
                let change = FileChange::Length(usize::try_from(*length).ok()?);
                self.change_file(*self.handles.get(handle)?, change)?;
            }
            Event::LengthByPath { path, length } => {
                let node = self.find(path)?;
                self.change_file(node, FileChange::Length(usize::try_from(*length).ok()?))?;
            }
            Event::SyncBegin { handle, number, .. } => {
                self.syncs.insert(*number, (*self.handles.get(handle)?, self.next));
            }
            Event::SyncEnd { number } => {
                let (node, below) = self.syncs.remove(number)?;
                self.settle(node, below);
            }
            Event::Unlink(path) | Event::RemoveFolder(path) => {
                let (parent, name) = self.parent(path)?;
                self.change_names(parent, NameChange::Remove(name))?;
            }
            Event::CreateFolder(path) => {
                self.create(path, new_folder())?;
            }
            Event::Link(from, to) => {
                let node = self.find(from)?;
                let (parent, name) = self.parent(to)?;
                self.change_names(parent, NameChange::Put(name, node))?;
            }
            Event::Rename(from, to) => self.rename(from, to)?,
            Event::Note(_) => {}
        }
        Some(())
    }

    fn find(&self, path: &Path) -> Option<NodeId> {
        path.iter().try_fold(ROOT, |node, name| match self.nodes.get(node)? {
            Node::Folder { now, .. } => now.get(name.to_str()?).copied(),
            Node::File { .. } => None,
        })
    }

    fn parent(&self, path: &Path) -> Option<(NodeId, String)> {
        Some((self.find(path.parent()?)?, path.file_name()?.to_str()?.to_owned()))
    }

    fn create(&mut self, path: &Path, node: Node) -> Option<NodeId> {
        let (parent, name) = self.parent(path)?;
        let node = self.add(node);
        self.change_names(parent, NameChange::Put(name, node))?;
        Some(node)
    }

    fn rename(&mut self, from: &Path, to: &Path) -> Option<()> {
        let node = self.find(from)?;
        let (from_folder, from) = self.parent(from)?;
        let (to_folder, to) = self.parent(to)?;
        self.change_names(to_folder, NameChange::Rename(from_folder, from, to, node))
    }

    fn change_names(&mut self, folder: NodeId, change: NameChange) -> Option<()> {
        let number = self.next;
        self.next += 1;
        if let NameChange::Rename(from, name, ..) = &change {
            self.names_now(*from)?.remove(name);
        }
        change.put(self.names_now(folder)?);
        match self.nodes.get_mut(folder)? {
            Node::Folder { pending, .. } => pending.push(Pending { number, change }),
            Node::File { .. } => return None,
        }
        Some(())
    }

    fn names_now(&mut self, folder: NodeId) -> Option<&mut BTreeMap<String, NodeId>> {
        match self.nodes.get_mut(folder)? {
            Node::Folder { now, .. } => Some(now),
            Node::File { .. } => None,
        }
    }

    fn change_file(&mut self, file: NodeId, change: FileChange) -> Option<()> {
        let number = self.next;
        self.next += 1;
        match self.nodes.get_mut(file)? {
            Node::File { pending, .. } => {
                pending.push(Pending { number, change });
                Some(())
            }
            Node::Folder { .. } => None,
        }
    }

    /// Makes the changes of `node` with numbers below `below` durable.
    fn settle(&mut self, node: NodeId, below: u64) {
        let mut left = Vec::new();
        match self.nodes.get_mut(node) {
            Some(Node::File { durable, pending }) => {
                for done in pending.extract_if(.., |pending| pending.number < below) {
                    done.change.apply(durable);
                }
            }
            Some(Node::Folder { durable, pending, .. }) => {
                for done in pending.extract_if(.., |pending| pending.number < below) {
                    match &done.change {
                        NameChange::Rename(from, name, ..) if *from == node => {
                            durable.remove(name);
                        }
                        NameChange::Rename(from, name, ..) => {
                            left.push((done.number, *from, name.clone()));
                        }
                        NameChange::Put(..) | NameChange::Remove(_) => {}
                    }
                    done.change.put(durable);
                }
            }
            None => {}
        }
        // The name left in another folder is gone as durably, and whatever was done to it before.
        for (number, from, name) in left {
            if let Some(Node::Folder { durable, pending, .. }) = self.nodes.get_mut(from) {
                let before = |pending: &Pending<NameChange>| {
                    pending.number < number && pending.change.name() == name
                };
                pending.retain(|pending| !before(pending));
                durable.remove(&name);
            }
        }
    }

    /// Returns what every reachable folder names when the pending changes that `is_kept` takes are
    /// done.
    #[must_use]
    pub fn names(&self, is_kept: impl Fn(u64) -> bool) -> Names {
        let mut names = Names::new();
        let mut changes = Vec::new();
        for node in self.reachable() {
            if let Some(Node::Folder { durable, pending, .. }) = self.nodes.get(node) {
                names.insert(node, durable.clone());
                let kept = pending.iter().filter(|pending| is_kept(pending.number));
                changes.extend(kept.map(|pending| (pending.number, node, &pending.change)));
            }
        }
        changes.sort_by_key(|(number, ..)| *number);
        for (_, folder, change) in changes {
            if let NameChange::Rename(from, name, ..) = change
                && let Some(left) = names.get_mut(from)
            {
                left.remove(name);
            }
            if let Some(own) = names.get_mut(&folder) {
                change.put(own);
            }
        }
        names
    }
}

impl Default for Disk {
    fn default() -> Self {
        Self::new()
    }
}

fn new_folder() -> Node {
    Node::Folder { durable: BTreeMap::new(), pending: Vec::new(), now: BTreeMap::new() }
}

impl NameChange {
    /// Returns the name that it is about.
    fn name(&self) -> &str {
        match self {
            Self::Put(name, _) | Self::Remove(name) | Self::Rename(_, _, name, _) => name,
        }
    }

    /// Changes the names of its folder. What a rename leaves is not its business.
    fn put(&self, names: &mut BTreeMap<String, NodeId>) {
        match self {
            Self::Put(name, node) => {
                names.insert(name.clone(), *node);
            }
            Self::Remove(name) => {
                names.remove(name);
            }
            Self::Rename(_, _, name, node) => {
                names.insert(name.clone(), *node);
            }
        }
    }
}

impl FileChange {
    /// Changes the bytes of a file.
    pub fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write(offset, data) => write(bytes, *offset, data),
            Self::Length(length) => bytes.resize(*length, 0),
        }
    }
}

/// Writes `data` at `offset`, with zeros before it where there was nothing.
pub(super) fn write(bytes: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    if let Some(place) = bytes.get_mut(offset..end) {
        place.copy_from_slice(data);
    }
}
