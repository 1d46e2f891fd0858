//! Counts the items of a table and of its indexes, page by page.
//!
//! What it is not: a view of one moment. Each page shows what was committed when it was read, so a
//! count is exact for any state that did not change while it was made.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_engine::weight::Allowance;
use shelfmark_engine::{Cursor, Engine, ResultPage, Scan, Table};
use shelfmark_model::IndexState;

use super::{Size, Sizes};
use crate::errors::Result;
use crate::limits::PAGE_SIZE_BYTES_MAX;
use crate::table::{VectorIndex, vector_indexes, written_size_bytes};

/// A count in progress.
pub(crate) struct Counting {
    engine: Engine,
    table: Arc<Table>,
    /// The indexes that are read after the current range; `None` stands for the table itself.
    left: Vec<Option<String>>,
    /// The range that is read now, and how far.
    current: Option<(Option<String>, Option<Cursor>)>,
    vectors: BTreeMap<String, VectorIndex>,
    sizes: Sizes,
}

impl Counting {
    /// Begins to count a table and those of its indexes that are whole.
    pub(crate) fn of(engine: &Engine, table: &Arc<Table>) -> Self {
        let public = table.schema.indexes.iter().filter(|own| own.state == IndexState::Public);
        let names: Vec<String> = public.map(|index| index.name.clone()).collect();
        let vectors = vector_indexes(&table.schema);
        let zero = |name: &String| (name.clone(), Size::default());
        let (indexes, of_vectors) = (names.iter().map(zero), vectors.keys().map(zero));
        let sizes = Sizes {
            table: Size::default(),
            indexes: indexes.collect(),
            vectors: of_vectors.collect(),
        };
        Self {
            engine: engine.clone(),
            table: Arc::clone(table),
            left: names.into_iter().rev().map(Some).collect(),
            current: Some((None, None)),
            vectors,
            sizes,
        }
    }

    /// Returns the table that is counted.
    pub(crate) fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Returns milliseconds since the Unix epoch.
    pub(crate) fn now_ms(&self) -> u64 {
        self.engine.environment().clock.now_millis()
    }

    /// Returns what was counted so far.
    pub(crate) fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// Reads one page of at most this allowance. Returns true once everything is counted.
    pub(crate) fn step(&mut self, allowance: &mut Allowance) -> Result<bool> {
        let Some((index, start)) = self.current.take() else { return Ok(true) };
        let reads_items = index.is_none() && !self.vectors.is_empty();
        let scan = Scan {
            index,
            start,
            count_only: !reads_items,
            limit: Some(allowance.rows().max(1)).filter(|rows| *rows < usize::MAX),
            bytes_max: Some(allowance.bytes().clamp(1, PAGE_SIZE_BYTES_MAX)),
            ..Scan::default()
        };
        let page = self.engine.scan(&self.table, &scan)?;
        let bytes = page.report.bytes_read();
        allowance.spend(page.evaluated, usize::try_from(bytes).unwrap_or(usize::MAX));
        self.add(scan.index.as_deref(), &page, bytes);
        self.current = match page.cursor {
            Some(cursor) => Some((scan.index, Some(cursor))),
            None => self.left.pop().map(|index| (index, None)),
        };
        Ok(self.current.is_none())
    }

    fn add(&mut self, index: Option<&str>, page: &ResultPage, bytes: u64) {
        let items = page.count as u64;
        match index {
            // Only a table with vector indexes is read with its items, whose vectors count as floats.
            None if !page.items.is_empty() => {
                let sizes = page.items.iter().map(|item| written_size_bytes(&self.table, item));
                self.sizes.table.add(items, sizes.sum::<usize>() as u64);
            }
            None => self.sizes.table.add(items, bytes),
            Some(name) => {
                if let Some(size) = self.sizes.indexes.get_mut(name) {
                    size.add(items, bytes);
                }
            }
        }
        for item in &page.items {
            for (name, vector) in &self.vectors {
                let Some(bytes) = vector.entry_bytes(&self.table, item) else { continue };
                self.sizes.vectors.entry(name.clone()).or_default().add(1, bytes as u64);
            }
        }
    }
}
