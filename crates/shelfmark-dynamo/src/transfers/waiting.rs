//! Transfers on a server without buckets: they were begun by one that had some, and wait.
//!
//! They go on once a server has buckets again. What it is not: the work itself.
//!
//! Invariant: what waits is told, and nothing is held up by it for ever: the table of an import can be
//! deleted meanwhile, which ends the import.

use shelfmark_engine::{Engine, Result};
use shelfmark_model::TableName;

use super::RUNNING_MAX;
use super::record::{EXPORTING, IMPORTING, IMPORTS, Transfer, table_of};

/// Returns a sentence on what waits, if something does.
///
/// # Errors
///
/// * Those of the store.
pub(crate) fn waiting(engine: &Engine) -> Result<Option<String>> {
    let count = |kind| engine.ledger_entries(kind, "", None, RUNNING_MAX).map(|own| own.len());
    let (exports, imports) = (count(EXPORTING)?, count(IMPORTING)?);
    if exports + imports == 0 {
        return Ok(None);
    }
    Ok(Some(format!(
        "{exports} exports and {imports} imports wait, for this server has no buckets: start it with \
         --buckets DIR, or delete the tables of the imports"
    )))
}

/// Ends the import that fills a table, with the table. Returns false if there is none.
///
/// Durability: it is as this says after a crash once this returns.
///
/// # Errors
///
/// * Those of the store.
pub(crate) fn give_up_import(engine: &Engine, table: &TableName) -> Result<bool> {
    for note in engine.ledger_entries(IMPORTING, "", None, RUNNING_MAX)? {
        let Some(transfer) = Transfer::find(engine, IMPORTS, &note.id)? else { continue };
        if table_of(&transfer.entry) == *table {
            engine.drop_table(table)?;
            let why = ("InternalServerError", "The table was deleted".to_owned());
            let now_ms = engine.environment().clock.now_millis();
            transfer.end(engine, now_ms, Some(why))?;
            return Ok(true);
        }
    }
    Ok(false)
}
