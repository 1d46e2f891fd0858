//! A consistent view of the tree: its memory tables and table files as of one moment.
//!
//! Invariant: a view never changes what a sequence number shows. The active memory table goes on
//! growing, but only with higher numbers.

use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use lsm_tree::table::filter::standard_bloom::Builder as Bloom;
use lsm_tree::{InternalValue, Memtable, SeqNo, Slice};

use crate::contract::{Direction, KeyRange, Page, Result, Row, ScanLimits};

use super::super::lock::FolderLock;
use super::super::options::KEY_BYTES_MAX;
use super::listing::Listed;
use super::translate;

type Bounds = (Bound<Slice>, Bound<Slice>);
type Entries = Box<dyn DoubleEndedIterator<Item = lsm_tree::Result<InternalValue>>>;
type GetInFiles =
    dyn Fn(&[u8], u64, SeqNo) -> lsm_tree::Result<Option<InternalValue>> + Send + Sync;
type Range = dyn Fn(&Bounds, SeqNo, &Arc<Memtable>) -> Entries + Send + Sync;

/// Statistics of the table files, known without reading them.
#[derive(Clone)]
pub(in super::super) struct Files {
    /// Their paths and checksums.
    pub(in super::super) listed: Vec<Listed>,
    /// The first key of each, ascending.
    pub(in super::super) starts: Vec<Bytes>,
    /// The first and the last key of each, and its number, ascending.
    pub(in super::super) extents: Vec<(Bytes, Bytes, u64)>,
    /// Their bytes together.
    pub(in super::super) bytes: u64,
    /// Runs that were flushed and not merged yet; a read may look into each.
    pub(in super::super) fresh_runs: usize,
    /// Number of entries …
    pub(in super::super) entries: u64,
    /// … and how many of these are tombstones.
    pub(in super::super) tombstones: u64,
}

/// The memory tables and table files of one moment. The library's types for the files cannot be
/// named, so two closures hold them.
pub(in super::super) struct View {
    active: Arc<Memtable>,
    sealed: Vec<Arc<Memtable>>,
    files: Files,
    folder: PathBuf,
    get_in_files: Arc<GetInFiles>,
    /// Reads a range; the last argument is the active memory table.
    range: Arc<Range>,
    /// Released last: see [`super::Tree::keep_locked`].
    lock: Option<Arc<FolderLock>>,
}

/// The newest entry of a key: its sequence number, and its value unless it is a tombstone.
pub(in super::super) struct Newest {
    /// The sequence number of its write.
    pub(in super::super) seqno: u64,
    /// The value; `None` for a tombstone.
    pub(in super::super) value: Option<Bytes>,
}

impl View {
    /// Creates a view of the given parts.
    pub(super) fn new(
        active: Arc<Memtable>,
        sealed: Vec<Arc<Memtable>>,
        files: Files,
        folder: PathBuf,
        lock: Option<Arc<FolderLock>>,
        get_in_files: impl Fn(&[u8], u64, SeqNo) -> lsm_tree::Result<Option<InternalValue>>
        + Send
        + Sync
        + 'static,
        range: impl Fn(&Bounds, SeqNo, &Arc<Memtable>) -> Entries + Send + Sync + 'static,
    ) -> Self {
        Self {
            active,
            sealed,
            files,
            folder,
            get_in_files: Arc::new(get_in_files),
            range: Arc::new(range),
            lock,
        }
    }

    /// Returns an empty view, for a closed store.
    pub(in super::super) fn nothing() -> Self {
        let files = Files {
            listed: Vec::new(),
            starts: Vec::new(),
            extents: Vec::new(),
            bytes: 0,
            fresh_runs: 0,
            entries: 0,
            tombstones: 0,
        };
        Self::new(
            Arc::new(Memtable::new(0)),
            Vec::new(),
            files,
            PathBuf::new(),
            None,
            |_, _, _| Ok(None),
            |_, _, _| Box::new(std::iter::empty()),
        )
    }

    /// Returns the same view with those entries of the active memory table alone that lie below `bound`.
    ///
    /// Who reads below it for long does not step over what is written meanwhile, again for each page.
    pub(in super::super) fn frozen(&self, bound: u64) -> Self {
        let active = Memtable::new(self.active.id());
        for entry in self.active.iter().filter(|entry| entry.key.seqno < bound) {
            active.insert(entry);
        }
        Self {
            active: Arc::new(active),
            sealed: self.sealed.clone(),
            files: self.files.clone(),
            folder: self.folder.clone(),
            get_in_files: Arc::clone(&self.get_in_files),
            range: Arc::clone(&self.range),
            lock: self.lock.clone(),
        }
    }

    /// Returns the statistics of the table files.
    pub(in super::super) fn files(&self) -> &Files {
        &self.files
    }

    /// Returns the approximate size of the memory tables in bytes.
    pub(in super::super) fn memory_bytes(&self) -> u64 {
        let sealed: u64 = self.sealed.iter().map(|memtable| memtable.size()).sum();
        sealed + self.active.size()
    }

    /// Returns the newest entry of `key` below `bound`, tombstones included.
    ///
    /// A deletion whose key has no older entry may be gone, and then nothing is returned.
    pub(in super::super) fn newest(&self, key: &[u8], bound: u64) -> Result<Option<Newest>> {
        Ok(self.entry(key, bound)?.map(|entry| Newest {
            seqno: entry.key.seqno,
            value: if entry.is_tombstone() { None } else { Some(entry.value.into()) },
        }))
    }

    /// Returns the value of `key` at `bound`: that of its newest entry below it.
    pub(in super::super) fn get(&self, key: &[u8], bound: u64) -> Result<Option<Bytes>> {
        Ok(self
            .entry(key, bound)?
            .filter(|entry| !entry.is_tombstone())
            .map(|entry| entry.value.into()))
    }

    fn entry(&self, key: &[u8], bound: u64) -> Result<Option<InternalValue>> {
        if key.len() > KEY_BYTES_MAX {
            return Ok(None);
        }
        if let Some(entry) = self.active.get(key, bound) {
            return Ok(Some(entry));
        }
        for memtable in self.sealed.iter().rev() {
            if let Some(entry) = memtable.get(key, bound) {
                return Ok(Some(entry));
            }
        }
        (self.get_in_files)(key, Bloom::get_hash(key), bound)
            .map_err(|error| translate(&self.folder, error))
    }

    /// Iterates over the rows of `range` at `bound`.
    pub(in super::super) fn rows(
        &self,
        range: &KeyRange,
        direction: Direction,
        bound: u64,
    ) -> impl Iterator<Item = Result<Row>> + use<> {
        let entries = if range.is_empty() {
            None
        } else {
            Some((self.range)(&bounds_of(range), bound, &self.active))
        };
        let folder = self.folder.clone();
        let mut entries = entries;
        std::iter::from_fn(move || {
            let entries = entries.as_mut()?;
            match direction {
                Direction::Ascending => entries.next(),
                Direction::Descending => entries.next_back(),
            }
        })
        .map(move |entry| match entry {
            Ok(entry) => Ok(Row { key: entry.key.user_key.into(), value: entry.value.into() }),
            Err(error) => Err(translate(&folder, error)),
        })
    }
}

/// Returns the first page of `rows`, which are those of `range`, as [`crate::Snapshot::scan`] promises
/// it.
pub(in super::super) fn page_of(
    rows: impl Iterator<Item = Result<Row>>,
    range: &KeyRange,
    direction: Direction,
    limits: ScanLimits,
) -> Result<Page> {
    let mut page = Page::default();
    let mut bytes = 0;
    for row in rows {
        let mut row = row?;
        if limits.keys_only {
            row.value = Bytes::new();
        }
        bytes += row.key.len() + row.value.len();
        page.rows.push(row);
        if page.rows.len() >= limits.rows_max || bytes >= limits.bytes_max {
            page.next = page.rows.last().map(|last| range.after(&last.key, direction));
            break;
        }
    }
    Ok(page)
}

/// Converts a range to bounds that the library accepts: it panics on keys that cannot be stored.
fn bounds_of(range: &KeyRange) -> Bounds {
    let (start, start_cut) = cut(&range.start);
    // No stored key is as long as the bound, so the first ones above it are above its beginning.
    let start = if start_cut { Bound::Excluded(start) } else { Bound::Included(start) };
    let end = match &range.end {
        None => Bound::Unbounded,
        Some(end) => match cut(end) {
            (end, true) => Bound::Included(end),
            (end, false) => Bound::Excluded(end),
        },
    };
    (start, end)
}

fn cut(key: &Bytes) -> (Slice, bool) {
    if key.len() > KEY_BYTES_MAX {
        (Slice::from(key.slice(..KEY_BYTES_MAX)), true)
    } else {
        (Slice::from(key.clone()), false)
    }
}
