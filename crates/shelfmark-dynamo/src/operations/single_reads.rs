//! Reads of single items by statements, for batches and transactions: each SELECT names a whole
//! primary key and nothing else.

use std::sync::Arc;

use shelfmark_engine::weight::Allowance;
use shelfmark_engine::{AccessReport, Engine, Get, Table, View};
use shelfmark_model::{Item, Key, Projection};

use super::read_request::bytes_read;
use super::statement_read::target_and_columns;
use super::statement_request::Asked;
use crate::errors::{Error, Result, texts};
use crate::partiql::{self, Columns, Select};
use crate::scope::ScopedEngine;
use crate::table::{self, check_key_paths};

/// A read of one item.
pub(super) struct Single {
    pub(super) table: Arc<Table>,
    pub(super) key: Key,
    columns: Columns,
    pub(super) consistent: bool,
}

/// An item that was read.
pub(super) struct Found {
    pub(super) table: Arc<Table>,
    pub(super) item: Option<Item>,
    /// Size of the whole item.
    pub(super) bytes: usize,
    pub(super) consistent: bool,
}

/// Plans the read of a SELECT; `operation` is whose rules it breaks if it names no single item.
///
/// # Errors
///
/// * ValidationException: WHERE is not the equality of the whole primary key alone.
/// * ResourceNotFoundException: there is no such table.
pub(super) fn plan(
    engine: &ScopedEngine,
    asked: &Asked,
    select: &Select,
    operation: &str,
) -> Result<Single> {
    let without_key = || Error::validation(texts::select_without_key(operation));
    select.check_clauses()?;
    let filter = select.filter.as_ref();
    let condition =
        filter.map(|filter| partiql::condition(filter, &asked.parameters)).transpose()?;
    let (target, columns) = target_and_columns(engine, asked, select)?;
    if target.index_name().is_some() {
        return Err(without_key());
    }
    let table = Arc::clone(&target.table);
    let condition = condition.ok_or_else(without_key)?;
    let (key, rest) = partiql::key_and_condition(&table.schema, condition).map_err(|error| {
        match error.message == texts::WHERE_WITHOUT_KEY {
            true => without_key(),
            false => error,
        }
    })?;
    if rest.is_some() {
        return Err(without_key());
    }
    check_key_paths(&table.schema, columns.paths())?;
    let key = table::read_key(&table, key)?;
    Ok(Single { table, key, columns, consistent: asked.consistent })
}

/// Reads in progress, as of one moment.
pub(super) struct SingleReads {
    view: View,
    /// The remaining reads, the next one last.
    left: Vec<Option<Single>>,
    /// The items in the order of the statements; nothing where there is no read.
    pub(super) found: Vec<Option<Found>>,
    pub(super) report: AccessReport,
}

impl SingleReads {
    /// Begins to read; a statement without a read has a place in the order only.
    pub(super) fn new(engine: &Engine, mut reads: Vec<Option<Single>>) -> Result<Self> {
        reads.reverse();
        let view = engine.snapshot()?;
        Ok(Self { view, left: reads, found: Vec::new(), report: AccessReport::default() })
    }

    /// Reads within `allowance`; returns false if that is used up before the end.
    pub(super) fn go_on(&mut self, mut allowance: Allowance) -> Result<bool> {
        while allowance.rows() > 0 {
            let Some(next) = self.left.pop() else { return Ok(true) };
            let Some(Single { table, key, columns, consistent }) = next else {
                self.found.push(None);
                continue;
            };
            let got = self.view.get(&table, &Get { key, projection: Projection::All })?;
            let bytes = bytes_read(&got);
            allowance.spend(1, bytes);
            let item = got.item.map(|item| columns.apply(item));
            self.report.extend(got.report);
            self.found.push(Some(Found { table, item, bytes, consistent }));
        }
        Ok(self.left.is_empty())
    }

    /// Returns the bytes of all items that were read.
    pub(super) fn bytes(&self) -> usize {
        self.found.iter().flatten().map(|found| found.bytes).sum()
    }
}
