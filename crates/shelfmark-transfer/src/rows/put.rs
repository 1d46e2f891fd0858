//! Writes rows by batches of prepared statements, and one by one where a batch is refused.
//!
//! Cells with write times are written with them: those of one row that were written together by one
//! statement. Invariant: a row is counted once it is written; writing it again changes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_cql_protocol::client::{Batch, Execute, PreparedStatement, Request};
use shelfmark_cql_protocol::types::CqlType;
use shelfmark_cql_protocol::{BatchKind, BoundValue};

use super::counters::Counters;
use super::peer::{ConnectCql, Peer};
use super::table::{Role, RowTable};
use super::{Row, Stamp};
use crate::control::Control;
use crate::error::Result;
use crate::items::Put;
use crate::sums::Sums;

/// Bytes of the values of a batch. Source: ours; Cassandra refuses batches of 50 KiB.
const BATCH_BYTES_MAX: usize = 32 * 1024;
/// Statements of a batch. Source: ours.
const BATCH_STATEMENTS_MAX: usize = 100;

/// Writes rows into one table.
pub struct RowPutter<'p> {
    peer: Peer<'p>,
    table: Arc<RowTable>,
    /// Of whole rows; none for a table of counters.
    rows: Option<Insert>,
    /// Of partitions that have static cells alone.
    statics: Option<Insert>,
    counters: Option<Counters>,
}

/// An `INSERT` of some columns.
struct Insert {
    /// The places of the columns, in the order of the markers.
    columns: Vec<usize>,
    plain: PreparedStatement,
    /// The statement with a write time and an expiry.
    stamped: PreparedStatement,
}

impl Insert {
    fn prepare(
        peer: &mut Peer<'_>,
        table: &RowTable,
        wanted: impl Fn(Role) -> bool,
    ) -> Result<Self> {
        let all = table.columns.iter().enumerate();
        let columns: Vec<usize> =
            all.filter(|(_, own)| wanted(own.role)).map(|(place, _)| place).collect();
        let plain = peer.prepare(&table.insert(&columns, false))?;
        let stamped = peer.prepare(&table.insert(&columns, true))?;
        Ok(Self { columns, plain, stamped })
    }
}

/// Cells that one statement writes: true for lists, their time, their expiry.
type Group = (bool, Option<i64>, Option<i32>);

/// A statement with its values, and the row that it is of.
type Bound<'s> = (&'s PreparedStatement, Vec<BoundValue>, usize);

impl<'p> RowPutter<'p> {
    /// Connects and prepares the statements.
    ///
    /// # Errors
    ///
    /// * Those of the server.
    pub fn new(
        connect: &ConnectCql<'_>,
        control: &'p Control<'p>,
        table: Arc<RowTable>,
    ) -> Result<Self> {
        let mut peer = Peer::new(connect, control)?;
        if table.is_of_counters() {
            let counters = Some(Counters::prepare(&mut peer, &table)?);
            return Ok(Self { peer, table, rows: None, statics: None, counters });
        }
        let has = |role: Role| table.columns.iter().any(|own| own.role == role);
        let rows = Some(Insert::prepare(&mut peer, &table, |_| true)?);
        let statics = match has(Role::Static) && has(Role::Clustering) {
            true => Some(Insert::prepare(&mut peer, &table, |role| {
                matches!(role, Role::Partition | Role::Static)
            })?),
            false => None,
        };
        Ok(Self { peer, table, rows, statics, counters: None })
    }

    /// Writes rows.
    ///
    /// # Errors
    ///
    /// * Those of the server that are not about one row; write the rows again.
    pub fn put(&mut self, rows: &[Row]) -> Result<Put> {
        let mut put = Put::default();
        if let Some(counters) = &self.counters {
            for (place, row) in rows.iter().enumerate() {
                match counters.put(&mut self.peer, row)? {
                    Ok(()) => row.add_to(&self.table, &mut put.sums),
                    Err(why) => put.refused.push((place, why)),
                }
            }
            return Ok(put);
        }
        let mut waiting: Vec<Bound<'_>> = Vec::new();
        let mut bytes = 0;
        for (place, row) in rows.iter().enumerate() {
            let insert = match is_static_alone(&self.table, row) {
                true => self.statics.as_ref(),
                false => self.rows.as_ref(),
            };
            let Some(insert) = insert else {
                put.refused.push((place, "a part of the clustering key is null".to_owned()));
                continue;
            };
            for (statement, values) in statements(&self.table, insert, row) {
                bytes += size(&values);
                waiting.push((statement, values, place));
            }
            if waiting.len() >= BATCH_STATEMENTS_MAX || bytes >= BATCH_BYTES_MAX {
                flush(&mut self.peer, &waiting, &mut put.refused)?;
                waiting.clear();
                bytes = 0;
            }
        }
        flush(&mut self.peer, &waiting, &mut put.refused)?;
        put.refused.dedup_by_key(|(place, _)| *place);
        let is_refused = |place: usize| put.refused.iter().any(|(own, _)| *own == place);
        let mut sums = Sums::default();
        for (_, row) in rows.iter().enumerate().filter(|(place, _)| !is_refused(*place)) {
            row.add_to(&self.table, &mut sums);
        }
        put.sums = sums;
        Ok(put)
    }
}

/// Writes the statements that wait, together if the server takes them so.
fn flush(
    peer: &mut Peer<'_>,
    waiting: &[Bound<'_>],
    refused: &mut Vec<(usize, String)>,
) -> Result<()> {
    if waiting.len() > 1 {
        let statements: Vec<(&PreparedStatement, Vec<BoundValue>)> =
            waiting.iter().map(|(statement, values, _)| (*statement, values.clone())).collect();
        let batch = Batch {
            kind: BatchKind::Unlogged,
            statements: &statements,
            consistency: peer.consistency,
        };
        if peer.ask(&Request::Batch(batch))?.is_ok() {
            return Ok(());
        }
    }
    // One by one, to find the one that is refused.
    for (statement, values, place) in waiting {
        let execute = Execute {
            statement,
            values,
            consistency: peer.consistency,
            page_size: None,
            paging: None,
        };
        if let Err(refusal) = peer.ask(&Request::Execute(execute))? {
            refused.push((*place, refusal.why));
        }
    }
    Ok(())
}

fn size(values: &[BoundValue]) -> usize {
    let size = |value: &BoundValue| match value {
        BoundValue::Bytes(bytes) => bytes.len() + 4,
        BoundValue::Null | BoundValue::Unset => 4,
    };
    values.iter().map(size).sum()
}

/// Returns true for the row of a partition that has static cells and no rows.
fn is_static_alone(table: &RowTable, row: &Row) -> bool {
    let cells = table.columns.iter().zip(&row.cells);
    let mut keys = cells.filter(|(own, _)| own.role == Role::Clustering);
    keys.any(|(_, cell)| cell.is_none())
}

/// Returns the statements that write a row.
fn statements<'s>(
    table: &RowTable,
    insert: &'s Insert,
    row: &Row,
) -> Vec<(&'s PreparedStatement, Vec<BoundValue>)> {
    let whole = || vec![(&insert.plain, bound(table, insert, row, |_| true))];
    if row.stamps.is_empty() {
        return whole();
    }
    // Cells that were written together.
    let mut groups: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
    for (place, column) in table.columns.iter().enumerate() {
        let has_value = row.cells.get(place).is_some_and(Option::is_some);
        if matches!(column.role, Role::Static | Role::Regular) && has_value {
            let stamp = row.stamps.get(place).copied().unwrap_or_default();
            let is_list = column.is_multi_cell && matches!(column.kind, CqlType::List { .. });
            groups.entry((is_list, stamp.written, stamp.ttl)).or_default().push(place);
        }
    }
    if groups.is_empty() {
        return whole();
    }
    let newest = groups.keys().filter_map(|(_, written, _)| *written).max();
    let one = |((is_list, written, ttl), places): (Group, Vec<usize>)| {
        let mut values = bound(table, insert, row, |place| places.contains(&place));
        // What has several times, or none, is as old as the newest cell beside it. A list is written as of
        // now: written twice at one time, it would have its elements twice.
        let Some(written) = written.or(newest).filter(|_| !is_list) else {
            return (&insert.plain, values);
        };
        let ttl = ttl.unwrap_or(0);
        values.push(BoundValue::Bytes(Bytes::copy_from_slice(&written.to_be_bytes())));
        values.push(BoundValue::Bytes(Bytes::copy_from_slice(&ttl.to_be_bytes())));
        (&insert.stamped, values)
    };
    groups.into_iter().map(one).collect()
}

/// Returns a row's values for the markers; of values beside the key those that are wanted.
fn bound(
    table: &RowTable,
    insert: &Insert,
    row: &Row,
    wanted: impl Fn(usize) -> bool,
) -> Vec<BoundValue> {
    let value = |place: &usize| {
        let role = table.columns.get(*place).map(|own| own.role);
        let is_key = matches!(role, Some(Role::Partition | Role::Clustering));
        match row.cells.get(*place).and_then(Option::as_ref) {
            Some(bytes) if is_key || wanted(*place) => BoundValue::Bytes(bytes.clone()),
            None if is_key => BoundValue::Null,
            _ => BoundValue::Unset,
        }
    };
    insert.columns.iter().map(value).collect()
}

impl Stamp {
    /// Returns true if nothing is known.
    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }
}
