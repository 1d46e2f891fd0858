//! One thing that a power cut could leave: a choice among the pending changes, made into files.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use shelfmark_store::vfs;

use super::disk::{Disk, FileChange, NameChange, Names, Node, NodeId, ROOT, write};

/// The fate of a pending change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is there.
    Kept,
    /// It is not there.
    Lost,
    /// Of a write: the first so many bytes are there, and the length to match.
    Head(usize),
    /// Of a write: the length is there and the bytes from so many on.
    Tail(usize),
    /// Of a write: the length is there and no byte.
    OnlyLength,
    /// Of a write: all but the bytes from the first offset to before the second, both within it.
    Hole(usize, usize),
}

/// The files and folders of a moment, by their paths below the root. A folder has no bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image(pub BTreeMap<PathBuf, Option<Vec<u8>>>);

impl Image {
    /// Builds what `disk` holds when each pending change has the fate that `fate` says.
    pub fn of(disk: &Disk, fate: impl Fn(u64) -> Fate) -> Self {
        let mut image = Self(BTreeMap::new());
        let names = disk.names(|number| fate(number) != Fate::Lost);
        image.add(disk, ROOT, Path::new(""), &names, &fate);
        image
    }

    /// Reads what is in `folder`.
    ///
    /// # Errors
    ///
    /// * The operating system's error.
    pub fn read(folder: &Path) -> std::io::Result<Self> {
        Ok(Self::of(&Disk::of(folder)?, |_| Fate::Kept))
    }

    fn add(
        &mut self,
        disk: &Disk,
        node: NodeId,
        path: &Path,
        names: &Names,
        fate: &impl Fn(u64) -> Fate,
    ) {
        match disk.node(node) {
            Some(Node::File { durable, pending }) => {
                let mut bytes = durable.clone();
                for pending in pending {
                    strike(&pending.change, fate(pending.number), &mut bytes);
                }
                self.0.insert(path.to_owned(), Some(bytes));
            }
            Some(Node::Folder { .. }) => {
                if node != ROOT {
                    self.0.insert(path.to_owned(), None);
                }
                for (name, child) in names.get(&node).into_iter().flatten() {
                    self.add(disk, *child, &path.join(name), names, fate);
                }
            }
            None => {}
        }
    }

    /// Returns a number that images with other contents do not have.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    /// Puts the image into `folder`, which is created. Nothing is synced.
    ///
    /// # Errors
    ///
    /// * The operating system's error.
    pub fn put(&self, folder: &Path) -> std::io::Result<()> {
        vfs::create_folder(folder)?;
        for (path, bytes) in &self.0 {
            let path = folder.join(path);
            match bytes {
                Some(bytes) => vfs::create_new(&path)?.write_all(bytes)?,
                None => vfs::create_folder(&path)?,
            }
        }
        Ok(())
    }
}

/// Does to `bytes` what is left of a change.
fn strike(change: &FileChange, fate: Fate, bytes: &mut Vec<u8>) {
    let FileChange::Write(offset, data) = change else {
        if fate != Fate::Lost {
            change.apply(bytes);
        }
        return;
    };
    let mut put = |from: usize, upto: usize| {
        if let Some(part) = data.get(from..upto.min(data.len())) {
            write(bytes, offset + from, part);
        }
    };
    let all = data.len();
    match fate {
        Fate::Lost => {}
        Fate::Kept => put(0, all),
        Fate::Head(count) => put(0, count),
        Fate::Tail(from) => put(from, all),
        Fate::OnlyLength => put(all, all),
        Fate::Hole(from, upto) => {
            put(0, from);
            put(upto, all);
        }
    }
}

/// A pending change, as far as choices among them need to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Number of the change.
    pub number: u64,
    /// Bytes of the write; 0 for other changes.
    pub write_bytes: usize,
    /// For people: what it is.
    pub what: String,
}

/// Lists what is pending on a disk, in the order in which it was done.
#[must_use]
pub fn choices(disk: &Disk) -> Vec<Choice> {
    let mut all = Vec::new();
    for node in disk.reachable() {
        match disk.node(node) {
            Some(Node::File { pending, .. }) => all.extend(pending.iter().map(|pending| {
                let (write_bytes, what) = match &pending.change {
                    FileChange::Write(offset, data) => {
                        (data.len(), format!("{} bytes at {offset} of file {node}", data.len()))
                    }
                    FileChange::Length(length) => (0, format!("length {length} of file {node}")),
                };
                Choice { number: pending.number, write_bytes, what }
            })),
            Some(Node::Folder { pending, .. }) => all.extend(pending.iter().map(|pending| {
                let what = match &pending.change {
                    NameChange::Put(name, node) => format!("name {name} for {node}"),
                    NameChange::Remove(name) => format!("removal of {name}"),
                    NameChange::Rename(_, from, to, _) => format!("rename of {from} to {to}"),
                };
                Choice { number: pending.number, write_bytes: 0, what }
            })),
            None => {}
        }
    }
    all.sort_by_key(|choice| choice.number);
    all
}
