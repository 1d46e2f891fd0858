//! Adding and removing indexes while the table is in use.
//!
//! An index is added in three steps: writes keep it (*building*), the rows that were there before
//! are entered range by range, reads may use it (*public*). A row that is written while its range
//! is being entered makes that range's commit conflict, and the range is entered again. The queue of
//! due times is filled in the same way when items begin to expire by an attribute.

mod build;
mod due;

pub(crate) use due::give_due_times;

use std::sync::{Arc, PoisonError, mpsc};
use std::time::Duration;

use shelfmark_model::{IndexSchema, IndexState, TableName};
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{Commit, ErrorKind as StoreErrorKind};

use crate::catalogue::{CatalogueChange, Owner, Table};
use crate::engine::Inner;
use crate::error::{Error, ErrorKind, Result};

/// How often a busy store is asked again to end what was begun.
const BUSY_MAX: usize = 1000;

/// How long is waited when a busy store does not say.
const WAIT: Duration = Duration::from_millis(1);

/// Adds an index and returns once it is complete.
pub(crate) fn add(inner: &Inner, name: &TableName, index: IndexSchema) -> Result<Arc<Table>> {
    let index_name = index.name.clone();
    let table = inner.catalogue.alter(name, |schema| {
        if schema.index(&index.name).is_some() {
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("table {name} has an index {} already", index.name),
            ));
        }
        schema.indexes.push(IndexSchema { state: IndexState::Building, ..index });
        Ok(())
    })?;
    complete(inner, &table, &index_name)
}

/// Goes on building indexes that a stop interrupted.
pub(crate) fn resume(inner: &Inner, name: &TableName) -> Result<()> {
    let table = inner.catalogue.table(name)?;
    if table.cells.is_some() {
        return crate::cells::resume(inner, name);
    }
    for index in &table.indexes {
        if index.schema.state == IndexState::Building {
            complete(inner, &table, &index.schema.name)?;
        }
    }
    if table.schema.options.ttl_pass.is_some() {
        give_due_times(inner, &table)?;
    }
    Ok(())
}

/// Begins the indexes of a table of items anew and builds them. Returns the names of those that
/// cannot be, for two items have one key of a unique one; they are removed.
pub(crate) fn renew(inner: &Inner, name: &TableName) -> Result<Vec<String>> {
    inner.catalogue.apply(vec![CatalogueChange::RenewDerived(name.clone())], Owner::Engine)?;
    let table = inner.catalogue.table(name)?;
    let mut removed = Vec::new();
    for index in &table.indexes {
        match complete(inner, &table, &index.schema.name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                removed.push(index.schema.name.clone());
            }
            completed => drop(completed?),
        }
    }
    Ok(removed)
}

/// Goes on building the indexes of items that a stop interrupted, of all tables. The tables of cells
/// are the business of whoever declares them: a face must look at them anew afterwards.
pub(crate) fn resume_all(inner: &Inner) -> Result<()> {
    let mut outcome = Ok(());
    for name in inner.catalogue.unfinished()? {
        match resume(inner, &name) {
            Ok(()) => {}
            // Dropped since, or such that it cannot be built and was removed.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => {}
            Err(error) => outcome = Err(error),
        }
    }
    outcome
}

/// Builds an index and makes it public, or removes it when it cannot be built.
fn complete(inner: &Inner, table: &Table, index: &str) -> Result<Arc<Table>> {
    let name = &table.schema.name;
    match build::build(inner, table, index) {
        Ok(()) => patiently(|| inner.catalogue.set_index_state(name, index, IndexState::Public)),
        // What was dropped meanwhile is no longer this one's to remove.
        Err(error) if error.kind() == ErrorKind::NotFound => Err(error),
        Err(error) => {
            patiently(|| remove(inner, name, index))?;
            Err(error)
        }
    }
}

/// Commits a piece of what is built, while the table's `current` form has what is built; `false` if
/// the piece must be read and entered again.
pub(crate) fn enter(
    inner: &Inner,
    commit: Commit,
    current: impl Fn() -> Result<Arc<Table>>,
) -> Result<bool> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let done = Box::new(move |outcome| {
        // The receiver waits until it is told.
        let _ = sender.send(outcome);
    });
    let queued = loop {
        let current = current()?;
        let _gate = current.shared.gate.read().unwrap_or_else(PoisonError::into_inner);
        if !current.is_retired() {
            // While the gate is held what is built is not dropped.
            break inner.store.submit(commit, done);
        }
    };
    let outcome = match queued {
        Ok(_) => receiver.recv().unwrap_or_else(|_| {
            let lost = "the commit ended without an answer";
            Err(shelfmark_store::Error::new(StoreErrorKind::Undetermined, lost))
        }),
        Err(error) => Err(error),
    };
    let Err(error) = outcome else { return Ok(true) };
    match error.kind() {
        // If an unknown end was a good one, the same entries are put again.
        StoreErrorKind::Conflict | StoreErrorKind::TooOld | StoreErrorKind::Undetermined => {
            Ok(false)
        }
        StoreErrorKind::Busy => {
            wait(error.retry_after());
            Ok(false)
        }
        _ => Err(error.into()),
    }
}

/// Waits while the store is busy: a caller who was told so could not begin again.
pub(crate) fn patiently<T>(mut change: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 0..BUSY_MAX {
        match change() {
            Err(error) if error.kind() == ErrorKind::Busy => wait(error.retry_after()),
            ended => return ended,
        }
    }
    change()
}

fn wait(asked: Option<Duration>) {
    ThreadSleeper.sleep(asked.unwrap_or(WAIT));
}

/// Removes an index; its entries become garbage.
pub(crate) fn remove(inner: &Inner, name: &TableName, index: &str) -> Result<Arc<Table>> {
    inner.catalogue.alter(name, |schema| {
        let before = schema.indexes.len();
        schema.indexes.retain(|own| own.name != index);
        if schema.indexes.len() == before {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("table {name} has no index {index}"),
            ));
        }
        Ok(())
    })
}
