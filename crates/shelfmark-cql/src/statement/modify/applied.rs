//! The answer of a conditional request: `[applied]`, and what a condition that did not hold has seen.
//!
//! Invariant: rows are accounted for as they are written, and go to a file where they are long.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_cql_protocol::{ColumnSpec, Result};
use shelfmark_cql_types::CqlType;
use shelfmark_engine::Engine;

use crate::function_context::EngineContext;
use crate::outcome::{Answered, Outcome, RequestOptions, ResultRows, RowBuffer};
use crate::schema::Table;

/// Returns the `[applied]` column of a table.
pub(crate) fn applied_column(table: &Table) -> ColumnSpec {
    ColumnSpec {
        keyspace: Arc::clone(&table.keyspace),
        table: Arc::clone(&table.name),
        name: "[applied]".into(),
        kind: CqlType::Boolean,
    }
}

/// The answer of a conditional request, which begins with `[applied]`; its rows are accounted for as they
/// are written.
pub(super) struct AppliedRows<'a> {
    table: &'a Table,
    /// The columns of each row.
    places: &'a [usize],
    masks: bool,
    buffer: RowBuffer,
}

impl<'a> AppliedRows<'a> {
    /// Begins an answer whose rows have the columns at `places`.
    pub(super) fn new(table: &'a Table, places: &'a [usize], options: &RequestOptions) -> Self {
        Self { table, places, masks: options.masks, buffer: RowBuffer::of(options) }
    }

    /// Returns true if no row was added.
    pub(super) fn is_empty(&self) -> bool {
        self.buffer.rows() == 0
    }

    /// Adds a row that a condition which did not hold has seen.
    ///
    /// # Errors
    ///
    /// * As `RowBuffer::check`.
    pub(super) fn add(&mut self, engine: &Engine, mut values: Vec<Option<Bytes>>) -> Result<()> {
        if self.masks {
            mask(engine, self.table, self.places, &mut values)?;
        }
        let applied = [u8::from(false)];
        let cells = std::iter::once(Some(applied.as_slice()));
        self.buffer.row(cells.chain(values.iter().map(Option::as_deref)));
        self.buffer.check().map(|_| ())
    }

    /// Returns the answer.
    pub(super) fn answer(mut self, applied: bool) -> Answered {
        let table = self.table;
        let mut columns = vec![applied_column(table)];
        if self.is_empty() {
            self.buffer.row([Some([u8::from(applied)].as_slice())]);
        } else {
            columns.extend(self.places.iter().filter_map(|at| table.columns.get(*at)).map(|own| {
                ColumnSpec {
                    keyspace: Arc::clone(&table.keyspace),
                    table: Arc::clone(&table.name),
                    name: Arc::clone(&own.name),
                    kind: own.kind.clone(),
                }
            }));
        }
        let rows = ResultRows { columns: columns.into(), rows: self.buffer, paging: None };
        Outcome::Rows(rows).into()
    }
}

/// Masks the values that a failed condition shows. Ours: Cassandra shows them to whoever may write.
fn mask(engine: &Engine, table: &Table, places: &[usize], row: &mut [Option<Bytes>]) -> Result<()> {
    let context = EngineContext::new(engine.environment());
    for (value, at) in row.iter_mut().zip(places) {
        let Some(column) = table.columns.get(*at) else { continue };
        if let Some(mask) = &column.mask {
            *value = mask.show(&column.kind, value.as_deref(), &context)?.map(Bytes::from);
        }
    }
    Ok(())
}
