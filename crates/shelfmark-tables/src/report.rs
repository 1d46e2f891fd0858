//! The access report: the cost of an answer.
//!
//! It feeds the consumed capacity of the DynamoDB face, tracing, `explain`, the tour, and the
//! modeller's confirmation that a certified pattern reads what it returns.

use std::sync::Arc;

use shelfmark_store::KeyRange;

/// A callback that is told the access report of each read and write of whoever gave it.
pub type Observer = Arc<dyn Fn(&AccessReport) + Send + Sync>;

/// One step of an answer: a table or one of its indexes, and what was read there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessStep {
    /// Name of the table.
    pub table: String,
    /// Name of the index, if the step read one.
    pub index: Option<String>,
    /// The key ranges touched, as bytes of the store. A point read is the range of its row.
    pub ranges: Vec<KeyRange>,
    /// Logical rows that the ranges delivered, before any filter. Headers, markers, further chunks
    /// and dead rows are no rows.
    pub rows_read: u64,
    /// Rows looked at beyond a limit by their key alone.
    pub keys_peeked: u64,
    /// Rows that were answered.
    pub rows_returned: u64,
    /// Bytes of the items read, by the rule of `shelfmark_model::item_size_bytes`.
    pub bytes_read: u64,
}

impl AccessStep {
    pub(crate) fn new(table: &str, index: Option<&str>) -> Self {
        Self {
            table: table.to_owned(),
            index: index.map(str::to_owned),
            ranges: Vec::new(),
            rows_read: 0,
            keys_peeked: 0,
            rows_returned: 0,
            bytes_read: 0,
        }
    }
}

/// The steps of one answer, in the order they were taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccessReport {
    /// The steps. An index entry and the base row fetched for it are two.
    pub steps: Vec<AccessStep>,
}

impl AccessReport {
    /// Returns the rows read over all steps.
    #[must_use]
    pub fn rows_read(&self) -> u64 {
        self.steps.iter().map(|step| step.rows_read).sum()
    }

    /// Returns the rows returned over all steps.
    #[must_use]
    pub fn rows_returned(&self) -> u64 {
        self.steps.iter().map(|step| step.rows_returned).sum()
    }

    /// Returns the bytes read over all steps.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.steps.iter().map(|step| step.bytes_read).sum()
    }

    /// Adds the steps of another answer.
    pub fn extend(&mut self, other: Self) {
        self.steps.extend(other.steps);
    }
}
