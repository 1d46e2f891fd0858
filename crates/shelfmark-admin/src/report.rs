//! The cost of an answer, as it goes to people and pages.

use serde::{Deserialize, Serialize};
use shelfmark_engine::AccessReport;
use shelfmark_store::KeyRange;

/// Ranges of a step that are told; more are counted.
const RANGES_MAX: usize = 32;

/// The cost of an answer: what was read for it, step by step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Rows read over all steps, before any filter.
    pub rows_read: u64,
    /// Rows returned over all steps.
    pub rows_returned: u64,
    /// Bytes of the rows read.
    pub bytes_read: u64,
    /// The steps, in the order they were taken.
    pub steps: Vec<Step>,
}

/// The reads of a table or of one of its indexes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The table.
    pub table: String,
    /// The index, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// The key ranges, as bytes of the store.
    pub ranges: Vec<Range>,
    /// Ranges beyond those told.
    #[serde(default)]
    pub ranges_more: usize,
    /// Rows read.
    pub rows_read: u64,
    /// Rows returned.
    pub rows_returned: u64,
    /// Bytes of the rows read.
    pub bytes_read: u64,
}

/// A range of keys, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The first key that belongs to it.
    pub from: String,
    /// The first key after it; none for the end of the store.
    pub to: Option<String>,
}

impl From<&KeyRange> for Range {
    fn from(range: &KeyRange) -> Self {
        Self { from: hex::encode(&range.start), to: range.end.as_ref().map(hex::encode) }
    }
}

impl From<&AccessReport> for Report {
    fn from(report: &AccessReport) -> Self {
        let steps = report.steps.iter().map(|step| Step {
            table: step.table.clone(),
            index: step.index.clone(),
            ranges: step.ranges.iter().take(RANGES_MAX).map(Range::from).collect(),
            ranges_more: step.ranges.len().saturating_sub(RANGES_MAX),
            rows_read: step.rows_read,
            rows_returned: step.rows_returned,
            bytes_read: step.bytes_read,
        });
        Self {
            rows_read: report.rows_read(),
            rows_returned: report.rows_returned(),
            bytes_read: report.bytes_read(),
            steps: steps.collect(),
        }
    }
}
