//! Reads a table's change log.

use bytes::Bytes;
use shelfmark_model::Item;
use shelfmark_records::items::{DecodedChange, change_parts, change_time, decode_change};
use shelfmark_records::keys::{Tree, after_row, tree_key};
use shelfmark_store::{CommitNumber, Direction, KeyRange, ScanLimits, Snapshot};

use crate::catalogue::Table;
use crate::error::{Error, Result};
use crate::tables::Tables;

/// A place in a change log. The order of places is the order of commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ChangePosition {
    /// Number of the commit.
    pub commit: CommitNumber,
    /// Position among the changes of that commit.
    pub position: u32,
}

/// One change of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemChange {
    /// The position of the change in the log.
    pub position: ChangePosition,
    /// Microseconds since the Unix epoch when it was written.
    pub at_micros: u64,
    /// The item before; `None` when it was created.
    pub old: Option<Item>,
    /// The item after; `None` when it was deleted.
    pub new: Option<Item>,
    /// It was deleted because it had expired.
    pub expired: bool,
}

impl Tables {
    /// Returns up to `limit` changes of a table after `after`, oldest first, both images with each.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the table keeps no change log. Set its option.
    pub fn changes(
        &self,
        table: &Table,
        after: Option<ChangePosition>,
        limit: usize,
    ) -> Result<Vec<ItemChange>> {
        if !table.schema.options.change_log {
            return Err(Error::invalid(format!(
                "table {} keeps no change log; set its option `change_log`",
                table.schema.name
            )));
        }
        let snapshot = self.store.snapshot()?;
        let after = after.map_or(LogStart::Front, LogStart::After);
        Ok(read_log(&*snapshot, table.id, after, limit, usize::MAX)?.changes)
    }
}

/// The place in a change log at which a read begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogStart {
    /// The oldest change.
    Front,
    /// The change at this position, or the next one.
    At(ChangePosition),
    /// The next change behind this position.
    After(ChangePosition),
}

/// Changes of a log, oldest first.
pub struct LogPage {
    /// The changes.
    pub changes: Vec<ItemChange>,
    /// There are no more behind them.
    pub is_end: bool,
}

/// Reads up to `limit` changes of the log of this id, and no more after those that reach `bytes_max`
/// together.
///
/// # Errors
///
/// * [`crate::ErrorKind::Corrupt`]: an entry cannot be read. Run `verify`.
/// * Those of the store.
pub fn read_log(
    snapshot: &dyn Snapshot,
    id: u64,
    from: LogStart,
    limit: usize,
    bytes_max: usize,
) -> Result<LogPage> {
    let prefix = tree_key(Tree::Changes, id);
    let mut page = LogPage { changes: Vec::new(), is_end: false };
    let mut parts: Vec<Bytes> = Vec::new();
    let mut bytes = 0;
    let mut rest = Some(log_range(&prefix, from, snapshot.stamped_through()?));
    while let Some(range) = rest.take() {
        if page.changes.len() >= limit || bytes >= bytes_max && parts.is_empty() {
            return Ok(page);
        }
        let rows_max = limit - page.changes.len();
        let limits = ScanLimits { rows_max, ..Default::default() };
        let rows = Snapshot::scan(snapshot, &range, Direction::Ascending, limits)?;
        for row in rows.rows {
            if bytes >= bytes_max && parts.is_empty() {
                return Ok(page);
            }
            let place = row.key.get(prefix.len()..).unwrap_or_default();
            bytes = bytes.saturating_add(row.value.len());
            parts.push(row.value);
            let first = parts.first().ok_or_else(damaged)?;
            if change_parts(first)? == parts.len() {
                page.changes.push(change_at(place, &std::mem::take(&mut parts))?);
            }
        }
        rest = rows.next;
    }
    page.is_end = true;
    if parts.is_empty() { Ok(page) } else { Err(damaged()) }
}

/// Returns the keys of the changes of a log behind a place, up to one and with it.
///
/// # Errors
///
/// * Those of the store.
pub fn log_keys(
    snapshot: &dyn Snapshot,
    id: u64,
    after: Option<ChangePosition>,
    last: ChangePosition,
) -> Result<Vec<Bytes>> {
    let prefix = tree_key(Tree::Changes, id);
    let from = after.map_or(LogStart::Front, LogStart::After);
    let mut range = log_range(&prefix, from, last.commit);
    range.end = KeyRange::prefix(log_key(&prefix, last)).end;
    let limits = ScanLimits { keys_only: true, ..Default::default() };
    let mut keys = Vec::new();
    let mut rest = Some(range);
    while let Some(range) = rest.take() {
        let page = Snapshot::scan(snapshot, &range, Direction::Ascending, limits)?;
        keys.extend(page.rows.into_iter().map(|row| row.key));
        rest = page.next;
    }
    Ok(keys)
}

/// Returns the keys of a log from a place on, up to the commit `through`: behind it some may still
/// appear.
fn log_range(prefix: &[u8], from: LogStart, through: CommitNumber) -> KeyRange {
    let mut all = KeyRange::prefix(prefix.to_vec());
    if let Some(commit) = through.checked_add(1) {
        all.end = Some(log_key(prefix, ChangePosition { commit, position: 0 }).into());
    }
    match from {
        LogStart::Front => all,
        LogStart::At(at) => KeyRange { start: log_key(prefix, at).into(), end: all.end },
        LogStart::After(after) => after_row(&all, &log_key(prefix, after), false),
    }
}

fn log_key(prefix: &[u8], at: ChangePosition) -> Vec<u8> {
    let mut key = prefix.to_vec();
    key.extend_from_slice(&at.commit.to_be_bytes());
    key.extend_from_slice(&at.position.to_be_bytes());
    key
}

/// Returns the position of the first or last entry of a log, with its time if it is the first.
///
/// # Errors
///
/// * [`crate::ErrorKind::Corrupt`]: the entry cannot be read. Run `verify`.
/// * Those of the store.
pub fn log_end(
    snapshot: &dyn Snapshot,
    id: u64,
    from: LogStart,
    direction: Direction,
) -> Result<Option<(ChangePosition, u64)>> {
    let prefix = tree_key(Tree::Changes, id);
    let mut rest = Some(log_range(&prefix, from, snapshot.stamped_through()?));
    let limits = ScanLimits { rows_max: 1, ..Default::default() };
    while let Some(range) = rest.take() {
        let page = Snapshot::scan(snapshot, &range, direction, limits)?;
        if let Some(row) = page.rows.first() {
            let position = position_at(row.key.get(prefix.len()..).unwrap_or_default())?;
            let at_micros = match direction {
                Direction::Ascending => change_time(&row.value)?,
                Direction::Descending => 0,
            };
            return Ok(Some((position, at_micros)));
        }
        rest = page.next;
    }
    Ok(None)
}

fn position_at(place: &[u8]) -> Result<ChangePosition> {
    let (commit, position) = place.split_first_chunk::<8>().ok_or_else(damaged)?;
    let position = position.first_chunk::<4>().ok_or_else(damaged)?;
    Ok(ChangePosition {
        commit: u64::from_be_bytes(*commit),
        position: u32::from_be_bytes(*position),
    })
}

fn change_at(place: &[u8], parts: &[Bytes]) -> Result<ItemChange> {
    let position = position_at(place)?;
    let DecodedChange { at_micros, expired, old, new } = decode_change(parts)?;
    Ok(ItemChange { position, at_micros, old, new, expired })
}

fn damaged() -> Error {
    Error::corrupt("an entry of a change log is damaged")
}
