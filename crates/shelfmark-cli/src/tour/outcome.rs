//! The outcome of one question.

use std::borrow::Cow;

use serde::Serialize;
use shelfmark_engine::AccessReport;

/// The origin of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Plan {
    /// The document's own plan.
    Published,
    /// A plan that gives the right answer at the least cost.
    Right,
}

/// The outcome of one question, as it is printed and as it stands in the JSON output.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Outcome {
    pub(crate) model: &'static str,
    pub(crate) face: &'static str,
    pub(crate) pattern: Cow<'static, str>,
    pub(crate) plan: Plan,
    pub(crate) question: String,
    /// The key range in readable form.
    pub(crate) range: String,
    pub(crate) rows_read: u64,
    pub(crate) rows_returned: u64,
    pub(crate) ms: f64,
    pub(crate) correct: bool,
    pub(crate) note: String,
    /// The schema and pattern of the model that this plan stands for, `root.tags`.
    pub(crate) proof: Option<String>,
    /// The first differing rows of a wrong answer, each beside the right one.
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
    /// Returns the counts of a report.
    pub(crate) fn of(report: &AccessReport) -> Self {
        Self { read: report.rows_read(), returned: report.rows_returned() }
    }
}
