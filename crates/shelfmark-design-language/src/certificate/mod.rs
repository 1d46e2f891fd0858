//! Certificates: the form of a proof's result and of its plan.
//!
//! What it is not: no proof and no judgement. The prover fills certificates in, the verifier and
//! the confirmation take them apart; this is all that they share.
//!
//! Invariant: `steps` and `ranges` are `plan` in words. `seal` is a sum over what is claimed, not over
//! the sentences that explain it: those may be worded anew.

mod bound;
mod concurrency;
pub mod shown;
pub mod text;

pub use bound::{Factor, RowsMax};
pub use concurrency::{Claim, Concurrency};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The words before what a proof assumes, in the evidence of an obligation.
pub const ASSUMED: &str = "assumed: ";

/// The status of a pattern in a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// One contiguous range or point read, all obligations discharged; or an exact write.
    Certified,
    /// Exactly right by a stated, bounded number of ranges or follow-up reads.
    Multi,
    /// The plan does not answer the pattern.
    Refused,
    /// No key can serve the pattern.
    Unservable,
}

impl Status {
    /// Returns the word in machine forms.
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

/// The reasons for which no key can serve a read; there are no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// Records are skipped by number.
    Offset,
    /// An aggregate that no row keeps.
    Aggregate,
    /// Contains, suffix, full text or geography.
    Search,
    /// Ranges or prefixes on two attributes.
    TwoRanges,
    /// A range on one attribute and an order that begins with another.
    OtherOrder,
}

/// One obligation, with the evidence that it holds or fails.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Obligation {
    /// `O1` to `O9`.
    pub id: String,
    /// True if it holds.
    pub holds: bool,
    /// The evidence that it holds, or the counterexample.
    pub evidence: String,
}

/// One end of a range, for machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeEnd {
    /// `begins`, `from`, `after`, `to`, `before` or `through`.
    pub kind: String,
    /// The column's text with its holes.
    pub value: String,
    /// True if it is a whole value; otherwise it is how texts begin.
    pub whole: bool,
}

/// A range of keys with inputs in it, as a plan's step reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The table or index.
    pub table: String,
    /// The partition key, column by column; empty for a whole table.
    pub partition: Vec<String>,
    /// The sort key from which on rows are read, included.
    pub from: Vec<String>,
    /// The sort key up to which rows are read: `prefix of` the text of `from` when equal to it.
    pub to: Vec<String>,
    /// True if the ends are those of everything that begins so.
    pub prefix: bool,
    /// True if it is read from its end.
    pub descending: bool,
    /// The largest number of rows, as an input or a number.
    pub limit: Option<String>,
    /// The leading sort columns that have one value, as machines take them.
    pub equal: Vec<String>,
    /// The ends on the column after those, as machines take them.
    pub ends: Vec<RangeEnd>,
}

/// The result of proving one pattern in one schema.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Certificate {
    /// The schema.
    pub schema: String,
    /// The read or write.
    pub pattern: String,
    /// True for a write, false for a read.
    pub write: bool,
    /// The outcome.
    pub status: Status,
    /// The obligation that fails first.
    pub obligation: Option<String>,
    /// The reason, if no key can serve the pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ground: Option<Ground>,
    /// All obligations.
    pub obligations: Vec<Obligation>,
    /// The key ranges of a read, or the keys a write touches.
    pub ranges: Vec<Range>,
    /// The plan, one line for each step.
    pub steps: Vec<String>,
    /// Largest number of rows that one call reads.
    pub rows_max: RowsMax,
    /// The claim of a certified write beside others; earlier builds wrote none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Concurrency>,
    /// The reason for the outcome.
    pub reason: String,
    /// The witness of a refusal: the state, call or excess that shows it.
    pub witness: Option<Json>,
    /// The plan for machines: the steps with their terms, indices into the model of `model`.
    pub plan: Json,
    /// Hash of model and schema, so that a certificate of another model is noticed.
    pub model: String,
    /// A checksum over the claims above: it detects accidents, not lies, which checking detects.
    pub seal: String,
}

impl Certificate {
    /// Returns the text for people: the outcome, the plan and the evidence of harm, one line each.
    #[must_use]
    pub fn text(&self) -> String {
        let obligation = self.obligation.as_deref().map_or_else(String::new, |id| format!(" {id}"));
        let head = format!(
            "{:<10} {}.{}{obligation} {}",
            self.status.word(),
            self.schema,
            self.pattern,
            self.reason
        );
        let mut out = format!("{}\n", head.trim_end());
        for step in &self.steps {
            out.push_str(&format!("{:11}{step}\n", ""));
        }
        let evidence = self.obligations.iter().flat_map(|one| one.evidence.split("; "));
        for assumed in evidence.filter(|one| one.starts_with(ASSUMED)) {
            out.push_str(&format!("{:11}{assumed}\n", ""));
        }
        if let Some(concurrency) = &self.concurrency {
            out.push_str(&format!("{:11}{}\n", "", concurrency.text()));
        }
        if let Some(witness) = &self.witness {
            out.push_str(&shown::text(witness, &self.reason, 11));
        }
        out
    }

    /// Returns the checksum over what is claimed: every field but the seal and the sentences for
    /// people (the reason, the evidence, the steps in words).
    pub fn sum(&self) -> String {
        let mut bare = Self { reason: String::new(), steps: Vec::new(), ..self.clone() };
        bare.obligations.iter_mut().for_each(|obligation| obligation.evidence.clear());
        bare.sum_of_all()
    }

    /// Returns true if the seal is that of what is claimed. Earlier builds had the sentences under it.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        self.seal == self.sum() || self.seal == self.sum_of_all()
    }

    fn sum_of_all(&self) -> String {
        let bare = Self { seal: String::new(), ..self.clone() };
        let text = serde_json::to_string(&bare).unwrap_or_default();
        let mut state = 0x6c62_272e_07bb_0142_u64;
        for byte in text.bytes() {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        format!("{state:016x}")
    }

    /// Returns the certificate with its seal set.
    pub fn sealed(mut self) -> Self {
        self.seal = self.sum();
        self
    }
}
