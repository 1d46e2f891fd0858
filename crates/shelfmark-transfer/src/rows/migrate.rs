//! Takes over the keyspaces of a live server of CQL: types, tables, indexes, views and rows, with the write
//! times and expiries of cells.
//!
//! What stays behind: functions and aggregates that are written in other languages, triggers, roles, and
//! what no client can read: deletions, write times of rows without values and of single elements.

use std::sync::Arc;

use shelfmark_cql_protocol::client::{Query, Request};
use shelfmark_cql_protocol::types::maybe_quote;

use super::Row;
use super::peer::{ConnectCql, Peer, text_of};
use super::put::RowPutter;
use super::range::RowSource;
use super::table::RowTable;
use crate::control::Control;
use crate::error::{Error, ErrorKind, Result};
use crate::migration::{MigratedTable, Migration, Told};
use crate::position::PositionFile;
use crate::sums::Sums;
use crate::walk::Work;

/// A migration from one server to another.
pub struct RowMigration<'m> {
    /// The side that is read.
    pub from: &'m ConnectCql<'m>,
    /// The side that is written.
    pub to: &'m ConnectCql<'m>,
    /// The keyspaces; none stands for all but the server's own.
    pub keyspaces: Vec<String>,
    /// Ranges of tokens of a table that are read at once.
    pub ranges: usize,
}

/// Keyspaces that were taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsMigrated {
    /// The tables.
    pub tables: Vec<MigratedTable>,
    /// Statements that this side refuses, with its words: of functions and the like.
    pub left_behind: Vec<String>,
}

/// Copies the keyspaces and compares both sides.
///
/// # Errors
///
/// * [`ErrorKind::Differs`]: a table was written to meanwhile, or the other side has more.
/// * [`ErrorKind::Refused`]: a keyspace, a type or a table cannot be made here.
/// * Those of the servers; call again to go on where it ended.
pub fn migrate_rows<'m>(
    what: &'m RowMigration<'m>,
    file: &'m PositionFile,
    control: &'m Control<'m>,
    told: &'m Told<'m>,
) -> Result<RowsMigrated> {
    let (mut from, mut to) = (Peer::new(what.from, control)?, Peer::new(what.to, control)?);
    let keyspaces = match what.keyspaces.is_empty() {
        true => keyspaces(&mut from)?,
        false => what.keyspaces.clone(),
    };
    let mut left_behind = Vec::new();
    let mut migration = Migration::new(control, file, told, what.ranges)?;
    for keyspace in keyspaces {
        make(&mut from, &mut to, &keyspace, &mut left_behind)?;
        for name in tables(&mut from, &keyspace)? {
            let full = format!("{}.{}", maybe_quote(&keyspace), maybe_quote(&name));
            if !migration.position.done.contains_key(&full) {
                table(what, &full, (&mut from, &mut to), &mut migration)?;
            }
        }
    }
    Ok(RowsMigrated { tables: migration.end()?, left_behind })
}

fn table<'m>(
    what: &'m RowMigration<'m>,
    full: &str,
    (from, to): (&mut Peer<'_>, &mut Peer<'_>),
    migration: &mut Migration<'m>,
) -> Result<()> {
    let control = migration.control;
    let there = Arc::new(RowTable::read(from, full)?);
    let here = Arc::new(RowTable::read(to, full)?);
    if there.columns != here.columns {
        let why = format!("the table {full} is there already, with other columns");
        return Err(Error::invalid(why));
    }
    let side = |connect, table: &Arc<RowTable>, with_stamps| RowSource {
        connect,
        control,
        table: Arc::clone(table),
        ranges: what.ranges,
        with_stamps,
    };
    let with_stamps = !there.is_of_counters();
    let put = |_: usize| -> Result<Work<'_, Row, u64>> {
        let mut putter = RowPutter::new(what.to, control, Arc::clone(&here))?;
        Ok(Box::new(move |rows: Vec<Row>| {
            let put = putter.put(&rows)?;
            match put.refused.into_iter().next() {
                Some((_, why)) => Err(Error::new(ErrorKind::Refused, why)),
                None => Ok(put.sums.rows),
            }
        }))
    };
    let sum = |row: &Row, sums: &mut Sums| row.add_to(&there, sums);
    let (source, target) =
        (side(what.from, &there, with_stamps), side(what.to, &here, with_stamps));
    migration.table(full, (&source, &target), &put, &sum)
}

/// Lists the keyspaces of users.
fn keyspaces(peer: &mut Peer<'_>) -> Result<Vec<String>> {
    let page = peer.all("SELECT keyspace_name FROM system_schema.keyspaces")?;
    let is_own = |name: &String| {
        // Of DynamoDB's tables there is a keyspace for each region and account.
        let is_of_dynamodb = name == "dynamodb" || name.starts_with("dynamodb@");
        is_of_dynamodb || name == "system" || name.starts_with("system_") || name == "shelfmark"
    };
    let mut all: Vec<String> = page.rows.iter().map(|row| text_of(row.first())).collect();
    all.retain(|name| !is_own(name));
    all.sort();
    Ok(all)
}

/// Lists the tables of a keyspace, without its views.
fn tables(peer: &mut Peer<'_>, keyspace: &str) -> Result<Vec<String>> {
    let name = keyspace.replace('\'', "''");
    let text =
        format!("SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{name}'");
    let mut all: Vec<String> =
        peer.all(&text)?.rows.iter().map(|row| text_of(row.first())).collect();
    all.sort();
    Ok(all)
}

/// Makes what a keyspace has, unless it is there.
fn make(
    from: &mut Peer<'_>,
    to: &mut Peer<'_>,
    keyspace: &str,
    left_behind: &mut Vec<String>,
) -> Result<()> {
    let text = format!("DESCRIBE KEYSPACE {}", maybe_quote(keyspace));
    let described = from.all(&text).map_err(|error| {
        let why = format!(
            "{keyspace} cannot be described ({error}); the source must be Cassandra 4.0 or later, or this server"
        );
        Error::new(error.kind(), why)
    })?;
    for row in described.rows {
        let (kind, name) = (text_of(row.get(1)), text_of(row.get(2)));
        let described = text_of(row.get(3));
        let statement = shelfmark_cql_syntax::recreating(&described);
        // A table's text has its indexes and views behind it, a statement each.
        for span in shelfmark_cql_syntax::split(statement).statements {
            let one = span.text(statement);
            let query = Query { text: one, ..Query::default() };
            match to.ask(&Request::Query(query))? {
                Ok(_) => {}
                Err(refusal) if refusal.is_there_already() => {}
                Err(refusal) if matches!(kind.as_str(), "function" | "aggregate" | "trigger") => {
                    left_behind.push(format!("{kind} {keyspace}.{name}: {}", refusal.why));
                }
                Err(refusal) => {
                    let text = format!("{kind} {name} cannot be made here: {}", refusal.why);
                    return Err(Error::new(ErrorKind::Refused, text));
                }
            }
        }
    }
    Ok(())
}
