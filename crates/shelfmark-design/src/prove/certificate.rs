//! What a proof says.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// How a pattern fares in a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// One contiguous range or point read, all obligations discharged; or an exact write.
    Certified,
    /// Exactly right by a stated, bounded number of ranges or follow-up reads.
    Multi,
    /// The plan does not do it.
    Refused,
    /// No key can do it.
    Unservable,
}

impl Status {
    /// The word in machine forms.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Certified => "certified",
            Self::Multi => "multi",
            Self::Refused => "refused",
            Self::Unservable => "unservable",
        }
    }
}

/// One obligation and how it was discharged, or why not.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Obligation {
    /// `O1` to `O9`.
    pub id: String,
    /// Whether it holds.
    pub holds: bool,
    /// What it rests on, or what breaks it.
    pub evidence: String,
}

/// A range of keys with inputs in it, as a plan's step reads it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Range {
    /// The table or index.
    pub table: String,
    /// The partition key, column by column; empty for a whole table.
    pub partition: Vec<String>,
    /// The sort key from which on, included.
    pub from: Vec<String>,
    /// Up to which: `prefix of` what `from` says when equal to it.
    pub to: Vec<String>,
    /// Whether the ends are those of everything that begins so.
    pub prefix: bool,
    /// Whether it is read from its end.
    pub descending: bool,
    /// How many rows at most, as an input or a number.
    pub limit: Option<String>,
}

/// What a proof says about one pattern in one schema.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Certificate {
    /// The schema.
    pub schema: String,
    /// The read or write.
    pub pattern: String,
    /// Whether the pattern is a write.
    pub write: bool,
    /// The outcome.
    pub status: Status,
    /// The obligation that fails first.
    pub obligation: Option<String>,
    /// All of them.
    pub obligations: Vec<Obligation>,
    /// The key ranges of a read, or the keys a write touches.
    pub ranges: Vec<Range>,
    /// The plan, a line a step.
    pub steps: Vec<String>,
    /// Rows read by one call, at most: a number, an input, or `unbounded`.
    pub rows_max: String,
    /// Why.
    pub reason: String,
    /// Of a refusal: the state, call or excess that shows it.
    pub witness: Option<Json>,
    /// Hash of model and schema, so that a certificate of another model is noticed.
    pub model: String,
}
