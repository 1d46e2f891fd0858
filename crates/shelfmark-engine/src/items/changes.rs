//! Reads a table's change log.

use bytes::Bytes;
use shelfmark_model::Item;
use shelfmark_records::items::{DecodedChange, change_parts, decode_change};
use shelfmark_records::keys::{Tree, after_row, tree_key};
use shelfmark_store::{CommitNumber, Direction, KeyRange, ScanLimits, Snapshot};

use crate::catalogue::Table;
use crate::engine::Engine;
use crate::error::{Error, Result};

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

impl Engine {
    /// Returns up to `limit` changes of a table after `after`, oldest first, both images with each.
    ///
    /// Changes appear in the order in which they were committed and none appears later between two
    /// that were seen.
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
        let prefix = tree_key(Tree::Changes, table.id);
        let mut range = KeyRange::prefix(prefix.clone());
        if let Some(after) = after {
            let mut last = prefix.clone();
            last.extend_from_slice(&after.commit.to_be_bytes());
            last.extend_from_slice(&after.position.to_be_bytes());
            range = after_row(&range, &last, false);
        }
        let snapshot = self.inner.store.snapshot()?;
        let mut changes = Vec::new();
        let mut parts: Vec<Bytes> = Vec::new();
        let mut rest = Some(range);
        while let Some(range) = rest.take().filter(|_| changes.len() < limit) {
            let limits = ScanLimits { rows_max: limit - changes.len(), ..Default::default() };
            let page = Snapshot::scan(&*snapshot, &range, Direction::Ascending, limits)?;
            for row in page.rows {
                let place = row.key.get(prefix.len()..).unwrap_or_default();
                parts.push(row.value);
                let first = parts.first().ok_or_else(damaged)?;
                if change_parts(first)? == parts.len() {
                    changes.push(change_at(place, &std::mem::take(&mut parts))?);
                }
            }
            rest = page.next;
        }
        if parts.is_empty() || changes.len() == limit { Ok(changes) } else { Err(damaged()) }
    }
}

fn change_at(place: &[u8], parts: &[Bytes]) -> Result<ItemChange> {
    let (commit, position) = place.split_first_chunk::<8>().ok_or_else(damaged)?;
    let position = position.first_chunk::<4>().ok_or_else(damaged)?;
    let position = ChangePosition {
        commit: u64::from_be_bytes(*commit),
        position: u32::from_be_bytes(*position),
    };
    let DecodedChange { at_micros, expired, old, new } = decode_change(parts)?;
    Ok(ItemChange { position, at_micros, old, new, expired })
}

fn damaged() -> Error {
    Error::corrupt("an entry of a change log is damaged")
}
