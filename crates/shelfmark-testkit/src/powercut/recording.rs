//! Reading what `shelfmark-preload` wrote down. The layout is drawn in its module `record`.

use std::path::{Path, PathBuf};

use shelfmark_store::vfs;

/// Something that a process did. Paths are relative to the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A process begins; handles of the one before are void.
    Begin,
    /// A file or folder was opened, and perhaps created.
    Open {
        /// Its handle in later events.
        handle: u32,
        /// It is created if it is missing.
        creates: bool,
        /// Its length becomes 0.
        empties: bool,
        /// Where.
        path: PathBuf,
    },
    /// Bytes were written.
    Write {
        /// To what.
        handle: u32,
        /// The offset, in bytes.
        offset: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// A file was cut or extended.
    Length {
        /// Which.
        handle: u32,
        /// New length in bytes.
        length: u64,
    },
    /// The same, by path.
    LengthByPath {
        /// Which.
        path: PathBuf,
        /// New length in bytes.
        length: u64,
    },
    /// A sync began.
    SyncBegin {
        /// Of what.
        handle: u32,
        /// Number of the sync in its process.
        number: u32,
        /// The functions that asked for it, the innermost first, joined by ` < `.
        site: String,
    },
    /// A sync ended well.
    SyncEnd {
        /// Number of the sync in its process.
        number: u32,
    },
    /// A name was changed.
    Rename(PathBuf, PathBuf),
    /// A file got another name.
    Link(PathBuf, PathBuf),
    /// The name of a file was removed.
    Unlink(PathBuf),
    /// A folder was created.
    CreateFolder(PathBuf),
    /// A folder was removed.
    RemoveFolder(PathBuf),
    /// The process wrote this to its standard output.
    Note(Vec<u8>),
}

/// Reads a recording of operations below `root`.
///
/// A last record that is cut off (its process was killed) is left out.
///
/// # Errors
///
/// * A text that says what cannot be understood. The recorder and this reader differ then.
pub fn read(path: &Path, root: &Path) -> Result<Vec<Event>, String> {
    let bytes = vfs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut rest = bytes.as_slice();
    let mut events = Vec::new();
    while let Some((head, after)) = rest.split_first_chunk::<4>() {
        let length = usize::try_from(u32::from_be_bytes(*head)).unwrap_or(usize::MAX);
        let Some((record, after)) = after.split_at_checked(length) else { break };
        let event = Fields { rest: record, root }
            .event()
            .ok_or_else(|| format!("record {} is not understood", events.len()))?;
        events.push(event);
        rest = after;
    }
    Ok(events)
}

/// The fields of one record, taken one by one.
struct Fields<'a> {
    rest: &'a [u8],
    root: &'a Path,
}

impl Fields<'_> {
    fn event(mut self) -> Option<Event> {
        let (kind, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(match kind {
            0 => Event::Begin,
            1 => {
                let handle = self.u32()?;
                let (flags, rest) = self.rest.split_first()?;
                self.rest = rest;
                let path = self.path()?;
                Event::Open { handle, creates: flags & 1 != 0, empties: flags & 2 != 0, path }
            }
            2 => {
                let (handle, offset) = (self.u32()?, self.u64()?);
                Event::Write { handle, offset, bytes: self.rest.to_vec() }
            }
            3 => Event::Length { handle: self.u32()?, length: self.u64()? },
            4 => {
                let (handle, number) = (self.u32()?, self.u32()?);
                Event::SyncBegin { handle, number, site: self.text()? }
            }
            5 => Event::SyncEnd { number: self.u32()? },
            6 => {
                let (from, to) = self.two_paths()?;
                Event::Rename(from, to)
            }
            7 => Event::Unlink(self.path()?),
            8 => Event::CreateFolder(self.path()?),
            9 => Event::RemoveFolder(self.path()?),
            10 => {
                let (from, to) = self.two_paths()?;
                Event::Link(from, to)
            }
            11 => Event::Note(self.rest.to_vec()),
            12 => {
                let length = self.u64()?;
                Event::LengthByPath { path: self.path()?, length }
            }
            _ => return None,
        })
    }

    fn u32(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        Some(u32::from_be_bytes(*bytes))
    }

    fn u64(&mut self) -> Option<u64> {
        let (bytes, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        Some(u64::from_be_bytes(*bytes))
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(std::mem::take(&mut self.rest).to_vec()).ok()
    }

    fn path(&mut self) -> Option<PathBuf> {
        let path = self.text()?;
        Path::new(&path).strip_prefix(self.root).ok().map(Path::to_owned)
    }

    fn two_paths(&mut self) -> Option<(PathBuf, PathBuf)> {
        let length = usize::try_from(self.u32()?).ok()?;
        let (from, to) = self.rest.split_at_checked(length)?;
        self.rest = from;
        let from = self.path()?;
        self.rest = to;
        Some((from, self.path()?))
    }
}
