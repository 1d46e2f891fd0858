//! Rows of one partition written into the answer as the engine shows them: no row is held, no value
//! copied on the way.
//!
//! What it is not: for selections that compute, and for columns that are put together from cells.

use bytes::Bytes;
use shelfmark_cql_types::term::Expr;
use shelfmark_engine::{CellSink, ShownRow};

use crate::outcome::{RowBuffer, Written};
use crate::schema::{ColumnKind, Table};

/// The place of a column of the answer in a stored row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// A column of the partition key, by its place.
    Partition(usize),
    /// A column of the clustering key, by its place.
    Clustering(usize),
    /// A static column, by its number.
    Static(u32),
    /// A column of the row, by its number; and how many columns probably come before it.
    Regular(u32, usize),
}

/// Returns where the columns of an answer lie; `None` if any has to be made.
pub(super) fn shown(items: &[Expr], table: &Table) -> Option<Vec<Shown>> {
    let mut numbers: Vec<u32> = table
        .columns
        .iter()
        .filter(|own| own.role == ColumnKind::Regular)
        .map(|own| own.id)
        .collect();
    numbers.sort_unstable();
    items
        .iter()
        .map(|item| {
            let Expr::Column(at) = item else { return None };
            let column = table.columns.get(*at)?;
            if column.kind.is_multi_cell() {
                return None;
            }
            let place = || usize::try_from(column.id).ok();
            Some(match column.role {
                ColumnKind::PartitionKey => Shown::Partition(place()?),
                ColumnKind::Clustering => Shown::Clustering(place()?),
                ColumnKind::Static => Shown::Static(column.id),
                ColumnKind::Regular => {
                    Shown::Regular(column.id, numbers.binary_search(&column.id).ok()?)
                }
            })
        })
        .collect()
}

/// Writes rows as they are shown.
pub(super) struct Encoder<'e> {
    columns: &'e [Shown],
    /// The columns of the partition key.
    partition: &'e [Bytes],
    /// Statics without rows are no row of the answer.
    hides_statics: bool,
    buffer: &'e mut RowBuffer,
    /// The length of the buffer before.
    before: Written,
}

impl<'e> Encoder<'e> {
    pub(super) fn new(
        columns: &'e [Shown],
        partition: &'e [Bytes],
        hides_statics: bool,
        buffer: &'e mut RowBuffer,
    ) -> Self {
        let before = buffer.written();
        Self { columns, partition, hides_statics, buffer, before }
    }

    /// Returns how many rows were written.
    pub(super) fn rows(&self) -> u64 {
        u64::from(self.buffer.rows() - self.before.rows())
    }

    /// Returns how many bytes were written.
    pub(super) fn bytes(&self) -> usize {
        self.buffer.bytes().len().saturating_sub(self.before.bytes())
    }
}

impl CellSink for Encoder<'_> {
    fn begin(&mut self) {
        self.buffer.truncate_to(self.before);
    }

    fn row(&mut self, row: &ShownRow<'_>) {
        if self.hides_statics && row.is_statics_alone() {
            return;
        }
        for column in self.columns {
            self.buffer.cell(match *column {
                Shown::Partition(place) => self.partition.get(place).map(AsRef::as_ref),
                Shown::Clustering(place) => row.clustering(place),
                Shown::Static(id) => row.static_cell(id),
                Shown::Regular(id, guess) => row.cell(id, guess),
            });
        }
        self.buffer.end_row();
    }
}
