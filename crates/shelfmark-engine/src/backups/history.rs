//! Histories: the logs that changes of a table go to while backups need them.
//!
//! A history is a dormant table of its own. Its change log holds the changes, and its rows are the copy
//! of the table that follows behind them, if the table can be restored to any moment.
//!
//! Invariant: a table names its history from before the first change that is in it, and a history that no
//! table names and no work needs is dropped.

use std::sync::Arc;

use shelfmark_model::{History, Placement, RowKind, TableName, TableOptions, TableSchema};
use shelfmark_tables::catalogue::{BACKUPS_NAMESPACE, Owner, Table};
use shelfmark_tables::rows::patiently;
use shelfmark_tables::{Error, ErrorKind, Result};

use super::ledger::Entry;
use crate::engine::Engine;

/// The kind of entries about histories.
pub(super) const HISTORIES: &str = "history";

/// Returns the name of the table that holds a history, and of its entry.
pub(super) fn history_name(table: &TableName, label: &str) -> TableName {
    TableName::new(BACKUPS_NAMESPACE, format!("history/{}/{}/{label}", table.namespace, table.name))
}

/// Returns a schema for copies of a table's rows, which nobody reads.
pub(super) fn dormant_schema(table: &TableSchema, name: TableName) -> TableSchema {
    TableSchema {
        name,
        partition: table.partition.clone(),
        sort: table.sort.clone(),
        placement: table.placement,
        rows: RowKind::Items,
        columns: Vec::new(),
        indexes: Vec::new(),
        options: TableOptions { dormant: true, ..TableOptions::default() },
        cells: None,
    }
}

/// Checks that rows of a table are such as copies are made of.
pub(super) fn check_has_copies(table: &Table) -> Result<()> {
    let TableSchema { name, rows, placement, .. } = &table.schema;
    if *rows == RowKind::Items && *placement == Placement::Hashed {
        return Ok(());
    }
    let why = format!("table {name} cannot be backed up: only hashed tables of items can");
    Err(Error::invalid(why))
}

impl Engine {
    /// Has the changes of a table go to a history, if they do not yet. With `days` they are kept for so
    /// long. Returns the table's form that has it, and whether the history is new.
    pub(super) fn start_history(
        &self,
        name: &TableName,
        days: Option<u32>,
    ) -> Result<(Arc<Table>, bool)> {
        let table = self.inner.catalogue.table(name)?;
        if let Some(own) = &table.schema.options.history {
            if days.is_none() || own.days == days {
                return Ok((table, false));
            }
            let altered = patiently(|| {
                self.inner.catalogue.alter(name, |schema| {
                    if let Some(own) = &mut schema.options.history {
                        own.days = days;
                    }
                    Ok(())
                })
            })?;
            return Ok((altered, false));
        }
        check_has_copies(&table)?;
        let label = format!("{:016x}", self.inner.environment.clock.now_micros());
        let own = history_name(name, &label);
        let created = self.inner.environment.clock.now_millis();
        let entry = Entry::new(HISTORIES, own.name.as_str())
            .with("namespace", name.namespace.as_str())
            .with("table", name.name.as_str())
            .with_number("created_ms", created);
        self.put_ledger_entry(entry)?;
        let mut schema = dormant_schema(&table.schema, own);
        schema.options.change_log = true;
        let log = patiently(|| self.inner.catalogue.create(schema.clone(), Owner::Engine))?.id;
        let altered = patiently(|| {
            self.inner.catalogue.alter(name, |schema| {
                if schema.options.history.is_some() {
                    let why = format!("table {name} got a history just now; retry");
                    return Err(Error::new(ErrorKind::Conflict, why));
                }
                schema.options.history =
                    Some(Box::new(History { label: label.clone(), log, days }));
                Ok(())
            })
        })?;
        Ok((altered, true))
    }

    /// Has the changes of a table go to its history no longer, if nothing but finished work needed it.
    pub(super) fn stop_history(&self, name: &TableName) -> Result<()> {
        patiently(|| {
            self.inner.catalogue.alter(name, |schema| {
                if schema.options.history.as_ref().is_some_and(|own| own.days.is_none()) {
                    schema.options.history = None;
                }
                Ok(())
            })
        })
        .map(drop)
    }

    /// Drops the history of an entry, with its copy.
    pub(super) fn drop_history(&self, entry: &Entry) -> Result<()> {
        let own = TableName::new(BACKUPS_NAMESPACE, entry.id.as_str());
        self.drop_if_there(&own)?;
        self.delete_ledger_entry(HISTORIES, &entry.id)
    }

    /// Drops a table of the engine's own, or one that was never whole.
    pub(super) fn drop_if_there(&self, name: &TableName) -> Result<()> {
        match patiently(|| self.inner.catalogue.drop_table(name, Owner::Engine)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            dropped => dropped,
        }
    }
}
