//! What one question came to.

use std::borrow::Cow;

use serde::Serialize;
use shelfmark_engine::AccessReport;

/// Whose plan a question was answered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Plan {
    /// The document's own.
    Published,
    /// One that gives the right answer at the least cost.
    Right,
}

/// One question, as it is printed and as it stands in the JSON output.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Outcome {
    pub(crate) model: &'static str,
    pub(crate) face: &'static str,
    pub(crate) pattern: Cow<'static, str>,
    pub(crate) plan: Plan,
    pub(crate) question: String,
    /// The key range, as a person writes it.
    pub(crate) range: String,
    pub(crate) rows_read: u64,
    pub(crate) rows_returned: u64,
    pub(crate) ms: f64,
    pub(crate) correct: bool,
    pub(crate) note: String,
    /// The schema and the read or write of the model that this plan stands for, `root.tags`.
    pub(crate) proof: Option<String>,
    /// Of a wrong answer the first rows that differ, each beside the right one.
    #[serde(skip)]
    pub(crate) differing: Vec<(String, String)>,
}

/// Rows read and returned, summed over the steps of an answer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rows {
    pub(crate) read: u64,
    pub(crate) returned: u64,
}

impl Rows {
    /// Returns what a report says.
    pub(crate) fn of(report: &AccessReport) -> Self {
        Self { read: report.rows_read(), returned: report.rows_returned() }
    }
}
