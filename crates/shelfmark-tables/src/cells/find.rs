//! Finds a row that is written, and puts what becomes of it with everything that follows.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_keycode::put_ordered_varint;
use shelfmark_model::limits::ROW_SIZE_BYTES_MAX;
use shelfmark_records::cells::tombstones::HighWater;
use shelfmark_records::cells::{CellRow, CellsLayout, Content, LiveRow, Place, Timestamp};
use shelfmark_records::keys::Tree;
use shelfmark_store::KeyRange;

use super::beside::BesideOthers;
use super::derive;
use super::page::live_row;
use super::purging::Purges;
use super::tombstones;
use crate::catalogue::Table;
use crate::commit::Writer;
use crate::error::{Error, ErrorKind, Result};
use crate::report::AccessStep;
use crate::rows::put_stored;
use crate::rows::read_row;
use crate::tables::Tables;
use shelfmark_records::catalogue::keys::put_table_name;
use shelfmark_records::cells::due;

/// Memory that a cell of a row takes beside its path and value.
const HELD_CELL_BYTES: usize = 96;

/// One table, as the writes of a commit see it.
pub(crate) struct Target<'a> {
    pub(super) tables: &'a Tables,
    pub(super) writer: &'a Writer,
    pub(super) table: &'a Table,
    pub(super) layout: &'a CellsLayout,
    pub(super) views: &'a [Arc<Table>],
    /// Second since the Unix epoch.
    pub(super) now: u64,
    /// Deleted ranges whose rows may still be there.
    pub(super) purges: Purges,
    /// Set where other servers write to the table.
    beside: Option<BesideOthers>,
    /// The commit does nothing but add to counters.
    only_adds: bool,
    /// Rows that were found to be decided on. What is written of the table since is none of them.
    kept: RefCell<HashMap<Vec<u8>, Found>>,
    /// The latest timestamp that is written.
    latest: Cell<Timestamp>,
    /// A row of several chunks is written.
    has_chunks: Cell<bool>,
    /// The access step of what is read for the writes, if an observer asks for it.
    step: Option<RefCell<AccessStep>>,
}

/// A row, or the statics of a partition, before a write.
pub(crate) struct Found {
    pub(super) place: Place,
    /// Without chunk.
    pub(crate) key: Vec<u8>,
    /// As it is stored; `None` if nothing is.
    pub(crate) stored: Option<CellRow>,
    chunks: Vec<Bytes>,
    /// The part of the row that was not deleted, where that is less.
    left: Option<CellRow>,
}

impl Found {
    /// Creates the found form of a part of a row, as it is stored.
    pub(super) fn part(place: Place, key: Vec<u8>, row: CellRow) -> Self {
        Self { place, key, stored: Some(row), chunks: Vec::new(), left: None }
    }

    /// Returns what of the row was not deleted; `None` if nothing was there.
    pub(super) fn row(&self) -> Option<&CellRow> {
        self.left.as_ref().or(self.stored.as_ref())
    }

    /// Returns about how many bytes it holds: the cells, and the chunks that they were put together from.
    pub(super) fn held_bytes(&self) -> usize {
        let chunks: usize = self.chunks.iter().map(Bytes::len).sum();
        let cells = self.stored.iter().flat_map(|row| &row.cells);
        let cells = cells.map(|(key, cell)| key.path.len() + cell.value_bytes() + HELD_CELL_BYTES);
        chunks + cells.sum::<usize>()
    }

    /// Returns the row, to be changed.
    pub(super) fn to_row(&self) -> CellRow {
        self.row().cloned().unwrap_or_default()
    }
}

impl<'a> Target<'a> {
    pub(crate) fn new(
        tables: &'a Tables,
        writer: &'a Writer,
        table: &'a Table,
        views: &'a [Arc<Table>],
        now: u64,
    ) -> Result<Self> {
        let layout = table.cells()?;
        let state = &table.shared.cells;
        let beside = BesideOthers::of(tables, writer, table)?;
        tables.load_state(table, &writer.buffer)?;
        let purges = Purges::of(table);
        if tables.is_alone {
            let rows = layout.blind_columns.as_ref().map(|_| &layout.keys.prefix);
            state.high_water.load(table.id, rows, &writer.buffer)?;
        }
        Ok(Self {
            tables,
            writer,
            table,
            layout,
            views,
            now,
            purges,
            beside,
            only_adds: false,
            kept: RefCell::default(),
            latest: Cell::new(Timestamp::MIN),
            has_chunks: Cell::new(false),
            step: None,
        })
    }

    /// Notes that the commit does nothing but add to counters, so that no operation of it reads what
    /// another one changes.
    pub(crate) fn only_adding(mut self, only_adds: bool) -> Self {
        self.only_adds = only_adds && !self.tables.is_alone && self.tables.adds_within;
        self
    }

    /// Returns true if additions need not exclude each other.
    pub(super) fn adds_within(&self) -> bool {
        self.only_adds && self.views.is_empty() && self.layout.kept_indexes().next().is_none()
    }

    /// Counts what is read from here on.
    pub(crate) fn reporting(mut self, wanted: bool) -> Self {
        let step = || AccessStep::new(&self.table.schema.name.name, None);
        self.step = wanted.then(|| RefCell::new(step()));
        self
    }

    /// Returns what was read, if it was counted.
    pub(crate) fn into_step(self) -> Option<AccessStep> {
        let mut step = self.step?.into_inner();
        step.rows_returned = step.rows_read;
        Some(step)
    }

    /// Notes that a partition is written at `timestamp`.
    pub(super) fn note_written(&self, partition: &[u8], timestamp: Timestamp) {
        self.tables.written.raise(partition, timestamp);
        self.latest.set(self.latest.get().max(timestamp));
    }

    /// Returns what the table's high-water mark has to say of the writes so far.
    pub(crate) fn written(&self) -> HighWater {
        HighWater { until: self.latest.get(), has_chunks: self.has_chunks.get() }
    }

    /// Returns what of a row that was found is live.
    pub(crate) fn live(&self, found: &Found) -> Option<LiveRow> {
        found.row().and_then(|row| live_row(row, self.layout, self.now))
    }

    /// Notes a deletion at `timestamp`, before its tombstone is queued.
    pub(super) fn note_deletion(&self, timestamp: Timestamp) {
        self.table.shared.cells.raise(timestamp);
        let latest = &self.writer.tombstone;
        latest.set(latest.get().max(timestamp));
    }

    /// Has the commit exclude deletions of ranges of a partition by other servers, and where
    /// `is_range` every other write of it.
    pub(super) fn guard(&self, partition: &[u8], is_range: bool) {
        if let Some(beside) = &self.beside {
            beside.guard(&self.writer.buffer, partition, is_range);
        }
    }

    /// Returns a timestamp for a write of now, never the same twice.
    pub(crate) fn server_timestamp(&self) -> Timestamp {
        self.tables.timestamps.next(self.writer.now_micros).cast_signed()
    }

    /// Keeps a row that was found, for whoever writes it next.
    pub(crate) fn keep(&self, found: Found) {
        self.kept.borrow_mut().insert(found.key.clone(), found);
    }

    /// Gives out a row that was kept; nobody gets it a second time.
    pub(super) fn take_kept(&self, key: &[u8]) -> Option<Found> {
        self.kept.borrow_mut().remove(key)
    }

    /// Forgets rows that were kept: some of them may be written.
    pub(super) fn forget_kept(&self) {
        self.kept.borrow_mut().clear();
    }

    /// Reads a row that will be written. The read is validated at commit.
    pub(crate) fn find(&self, place: Place) -> Result<Found> {
        let key = self.layout.keys.place(&place)?;
        self.find_at(place, key)
    }

    /// Reads a row as [`Target::find`] does, at a place whose key is known.
    pub(super) fn find_at(&self, place: Place, key: Vec<u8>) -> Result<Found> {
        let raw = read_row(&self.writer.buffer, &key)?;
        let (stored, chunks) = match raw {
            Some(raw) => {
                if !raw.chunks.is_empty() {
                    self.table.shared.cells.note_chunks();
                }
                (Some(CellRow::decode(&raw.head, &raw.chunks)?), raw.chunks)
            }
            None => (None, Vec::new()),
        };
        self.found(place, key, stored, chunks)
    }

    /// Forgets what is over in a row that will be written.
    pub(super) fn forget(&self, row: &mut CellRow) {
        row.forget(self.now, self.now.saturating_sub(self.layout.grace_seconds));
        row.cells.retain(|key, cell| self.layout.sees(key.column, cell.timestamp));
    }

    pub(super) fn found(
        &self,
        place: Place,
        key: Vec<u8>,
        stored: Option<CellRow>,
        chunks: Vec<Bytes>,
    ) -> Result<Found> {
        let mut found = Found { place, key, stored, chunks, left: None };
        if let Some(deleted) = self.purged_up_to(&found.key)? {
            let mut row = found.to_row();
            row.delete_up_to(deleted);
            found.left = Some(row);
        }
        self.count(&found);
        Ok(found)
    }

    /// Returns the latest deletion that is being purged and covers a row.
    pub(super) fn purged_up_to(&self, key: &[u8]) -> Result<Option<Timestamp>> {
        self.purges.covering(&self.writer.buffer, &self.layout.keys, self.rest_of(key))
    }

    /// Statics and rows of dead cells are no rows.
    fn count(&self, found: &Found) {
        let Some(step) = &self.step else { return };
        let mut step = step.borrow_mut();
        let range = KeyRange::prefix(found.key.clone());
        // A condition and the write behind it look at the row once.
        if step.ranges.contains(&range) {
            return;
        }
        step.ranges.push(range);
        let row = found.row().filter(|_| found.place.clustering.is_some());
        let live = row.and_then(|row| live_row(row, self.layout, self.now));
        if let Some(live) = live {
            step.rows_read += 1;
            step.bytes_read += live.size_bytes() as u64;
        }
    }

    /// Returns a row's name in tombstones and due times: its key without `[rows][table id]`.
    pub(super) fn rest_of<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        key.get(self.layout.keys.prefix.len()..).unwrap_or_default()
    }

    /// Returns the latest deletion by a tombstone that a write of the row at `timestamp` must respect.
    pub(crate) fn deleted_at(&self, key: &[u8], timestamp: Timestamp) -> Result<Option<Timestamp>> {
        let state = &self.table.shared.cells;
        let (may_have_tombstones, levels) = match &self.beside {
            None => (state.may_have_tombstones(timestamp), state.levels()),
            Some(beside) => {
                let own = timestamp <= self.writer.tombstone.get();
                (own || beside.may_have_tombstones(timestamp), beside.levels())
            }
        };
        if !may_have_tombstones {
            return Ok(None);
        }
        tombstones::deletion_of(&self.writer.buffer, self.table.id, levels, self.rest_of(key))
    }

    /// Puts what a row becomes, the entries of indexes, the rows of views, and when it is due.
    pub(super) fn put(&self, found: &Found, mut after: CellRow) -> Result<()> {
        self.forget(&mut after);
        self.put_forgotten(found, &after)
    }

    /// Looks at a row whose time has come: forgets what is over, and notes when to look again.
    pub(super) fn look_again(&self, found: &Found) -> Result<()> {
        let mut after = found.to_row();
        self.forget(&mut after);
        self.put_forgotten(found, &after)?;
        if let Some(second) = due_second(&after, self.layout.grace_seconds) {
            self.put_due(second, due::ROW, self.rest_of(&found.key));
        }
        Ok(())
    }

    fn put_forgotten(&self, found: &Found, after: &CellRow) -> Result<()> {
        let grace = self.layout.grace_seconds;
        let is_empty = *after == CellRow::default();
        if found.stored.as_ref() == Some(after) || is_empty && found.stored.is_none() {
            return Ok(());
        }
        derive::follow(self, found, after)?;
        let stored = (!is_empty).then(|| after.encode());
        if let Some(stored) = &stored {
            let size: usize =
                stored.head.len() + stored.chunks.iter().map(Bytes::len).sum::<usize>();
            if size > ROW_SIZE_BYTES_MAX {
                return Err(Error::new(
                    ErrorKind::LimitExceeded,
                    format!("the row has {size} bytes; the limit is {ROW_SIZE_BYTES_MAX}"),
                ));
            }
        }
        if stored.as_ref().is_some_and(|stored| !stored.chunks.is_empty()) {
            self.has_chunks.set(true);
            self.table.shared.cells.high_water.note_chunks();
        }
        let mut buffer = self.writer.buffer.borrow_mut();
        put_stored(&mut buffer, &found.key, &found.chunks, stored, found.stored.is_some());
        drop(buffer);
        let old = found.stored.as_ref().and_then(|row| due_second(row, grace));
        let new = due_second(after, grace);
        if old != new {
            let rest = self.rest_of(&found.key);
            if let Some(second) = old {
                self.writer.buffer.borrow_mut().delete(due_key(
                    self.table.id,
                    second,
                    due::ROW,
                    rest,
                ));
            }
            if let Some(second) = new {
                self.put_due(second, due::ROW, rest);
            }
        }
        Ok(())
    }

    /// Has a tombstone looked at once its grace period is over.
    pub(super) fn put_tombstone_due(&self, tombstone_key: &[u8], happened_at: u64) {
        let prefix = self.layout.keys.prefix.len();
        let rest = tombstone_key.get(prefix..).unwrap_or_default();
        self.put_due(happened_at + self.layout.grace_seconds + 1, due::TOMBSTONE, rest);
    }

    pub(super) fn put_due(&self, second: u64, kind: u8, rest: &[u8]) {
        let (key, name) = due_entry(self.table, second, kind, rest);
        self.writer.buffer.borrow_mut().put(key, name);
    }
}

/// Returns the key and the value of a due time: the second at which to look at a row again.
pub(super) fn due_entry(table: &Table, second: u64, kind: u8, rest: &[u8]) -> (Bytes, Bytes) {
    let mut name = Vec::new();
    put_table_name(&mut name, &table.schema.name);
    (due_key(table.id, second, kind, rest), name.into())
}

/// Returns the key `[due][second][table id][kind][rest]`.
fn due_key(table: u64, second: u64, kind: u8, rest: &[u8]) -> Bytes {
    let mut key = vec![Tree::Due as u8];
    key.extend_from_slice(&second.to_be_bytes());
    put_ordered_varint(&mut key, table);
    key.push(kind);
    key.extend_from_slice(rest);
    key.into()
}

/// Returns the second at which what is over at `second` is to be forgotten.
pub(super) fn due_at(second: u64, grace: u64) -> u64 {
    second.saturating_add(grace).saturating_add(1)
}

/// Returns the second at which something of a row is to be forgotten.
pub(super) fn due_second(row: &CellRow, grace: u64) -> Option<u64> {
    let cells = row.cells.values().filter_map(|cell| match &cell.content {
        Content::Dead { at_seconds } => Some(*at_seconds),
        Content::Live { expiry, .. } => expiry.map(|expiry| expiry.at_seconds),
    });
    let collections = row.collections.values().map(|deletion| deletion.at_seconds);
    let liveness =
        row.liveness.and_then(|liveness| liveness.expiry).map(|expiry| expiry.at_seconds);
    cells
        .chain(collections)
        .chain(liveness)
        .chain(row.deletion.map(|deletion| deletion.at_seconds))
        .min()
        .map(|second| due_at(second, grace))
}
