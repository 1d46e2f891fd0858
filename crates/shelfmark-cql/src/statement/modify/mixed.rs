//! Conditions of a batch that exclude each other.
//!
//! What it is not: the test of conditions on rows, which is `condition`'s.

use std::collections::HashMap;

use shelfmark_cql_protocol::{CqlError, Result};
use shelfmark_engine::ClusteringValue;

use super::Place;
use super::condition::Conditions;
use super::run::Ready;

/// Conditions of one row that exclude each other.
pub(super) fn check_mixed(ready: &[Ready<'_>]) -> Result<()> {
    if ready.len() < 2 {
        return Ok(());
    }
    let mut known: HashMap<Option<&[ClusteringValue]>, &Conditions> = HashMap::new();
    for own in ready.iter().filter(|own| own.entry.modify.is_conditional()) {
        let conditions = &own.entry.modify.conditions;
        for place in condition_places(own) {
            let other = *known.entry(place).or_insert(conditions);
            let message = match (other, conditions) {
                (Conditions::NotExists, Conditions::Exists)
                | (Conditions::Exists, Conditions::NotExists) => {
                    "Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row"
                }
                (Conditions::All(_), Conditions::Exists) => {
                    "Cannot mix IF conditions and IF EXISTS for the same row"
                }
                (Conditions::All(_), Conditions::NotExists)
                | (Conditions::Exists | Conditions::NotExists, Conditions::All(_)) => {
                    "Cannot mix IF conditions and IF NOT EXISTS for the same row"
                }
                _ => continue,
            };
            return Err(CqlError::invalid(message));
        }
    }
    Ok(())
}

/// Returns the rows that the conditions of a statement are on, `None` for the statics: those on statics
/// are there, whatever row the statement names.
///
/// Source: Cassandra 5.0, `ColumnConditions.addConditionsTo`, and its answers.
fn condition_places<'r>(own: &'r Ready<'_>) -> Vec<Option<&'r [ClusteringValue]>> {
    let rows = own.changes.iter().map(|change| match &change.place {
        Place::Row(clustering) => Some(clustering.as_slice()),
        _ => None,
    });
    match &own.entry.modify.conditions {
        conditions @ Conditions::All(_) => {
            let (of_row, of_statics) = conditions.places();
            let rows = rows.filter(|row| row.is_some() && of_row);
            rows.chain(of_statics.then_some(None)).collect()
        }
        // That a row is there is asked of it alone, though statics are written beside it.
        _ => {
            let rows: Vec<_> = rows.collect();
            match rows.iter().find(|row| row.is_some()) {
                Some(row) => vec![*row],
                None => rows.into_iter().take(1).collect(),
            }
        }
    }
}
