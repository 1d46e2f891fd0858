//! The report of a confirmation, for people and for machines.

use std::time::Duration;

use serde_json::{Value as Json, json};
use shelfmark_design::Status;
use shelfmark_design::shown::{counted, text};

/// A call on a state, with its result beside the right one.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The state.
    pub state: Json,
    /// The inputs.
    pub call: Json,
    /// The right result: the answer, or the rows of the changed state.
    pub right: Json,
    /// The plan's result on the engine, or why it could not run.
    pub plan: Json,
}

impl Shown {
    fn json(&self) -> Json {
        json!({
            "state": self.state, "call": self.call, "right": self.right, "plan": self.plan,
        })
    }
}

/// The verdict on one pattern in one schema.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The schema.
    pub schema: String,
    /// The target that it is written for.
    pub target: String,
    /// The read or write.
    pub pattern: String,
    /// True for a write, false for a read.
    pub write: bool,
    /// The status that the proof gives.
    pub status: Status,
    /// True if the engine agrees with the proof.
    pub ok: bool,
    /// True for a refusal of which no call showed why: `ok` is false, and nothing contradicts the proof.
    pub unshown: bool,
    /// Calls that were run.
    pub calls: usize,
    /// Calls beside those, of a write where it is not defined.
    pub undefined: usize,
    /// Calls of a write that were drawn and not run: no draw was defined on the state.
    pub left_out: usize,
    /// Number of calls of a write that others were executed in between, as its claim allows.
    pub races: usize,
    /// Time that the calls took, or the run of the witness; zero where no clock was handed in.
    pub took: Duration,
    /// Rows that the engine read for them.
    pub rows_read: u64,
    /// Items that were returned.
    pub rows_returned: u64,
    /// Rows that the steps returned, summed over them: an index entry and its base row count 2.
    pub rows_handed_on: u64,
    /// Key ranges that were touched, each the one claimed.
    pub ranges: usize,
    /// A sentence about the result.
    pub note: String,
    /// Of a refusal its witness, run; of a contradiction the call that shows it.
    pub shown: Option<Shown>,
}

/// The verdicts on a model.
#[derive(Debug, Clone)]
pub struct Report {
    /// The caller's name for the model.
    pub name: String,
    /// The seed, to repeat a run.
    pub seed: u64,
    /// One for each pattern and schema, in the order of the model.
    pub verdicts: Vec<Verdict>,
}

impl Report {
    /// Returns true if the engine contradicts no proof. A refusal of which nothing shows why is none that
    /// it contradicts, and is counted.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.ok || verdict.unshown)
    }

    /// Returns the machine form: an array with an object for each pattern and schema.
    #[must_use]
    pub fn json(&self) -> Json {
        Json::Array(self.verdicts.iter().map(Verdict::json).collect())
    }

    /// Returns the text for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut schema = "";
        for verdict in &self.verdicts {
            if verdict.schema != schema {
                if !schema.is_empty() {
                    out.push('\n');
                }
                schema = &verdict.schema;
                out.push_str(&format!("{schema} ({})\n", verdict.target));
            }
            out.push_str(&verdict.text());
        }
        let wrong = self.verdicts.iter().filter(|verdict| !verdict.ok && !verdict.unshown).count();
        let unshown = self.verdicts.iter().filter(|verdict| verdict.unshown).count();
        let calls: usize =
            self.verdicts.iter().map(|verdict| verdict.calls + verdict.undefined).sum();
        let patterns = self.verdicts.len();
        out.push('\n');
        out.push_str(&match wrong {
            _ if patterns == 0 => "No pattern of any schema was run.\n".to_owned(),
            0 => {
                let (patterns, calls) = (counted(patterns, "pattern"), counted(calls, "call"));
                format!("{patterns}, {calls}: the engine did what the proofs say.\n")
            }
            _ => {
                let patterns = counted(patterns, "pattern");
                format!("{wrong} of {patterns} went otherwise than proven; seed {}.\n", self.seed)
            }
        });
        if unshown > 0 {
            let refusals = counted(unshown, "refusal");
            out.push_str(&format!(
                "Of {refusals} no call showed why; such a write may be right.\n"
            ));
        }
        out
    }
}

impl Verdict {
    /// Returns what stands behind the calls of a confirmed write: those where it is not defined, and those
    /// that were left out.
    pub(crate) fn beside(&self) -> String {
        let mut out = String::new();
        if self.undefined > 0 {
            out += &format!("; {} where it is not defined changed nothing", self.undefined);
        }
        if self.left_out > 0 {
            let calls = counted(self.left_out, "call");
            out += &format!("; {calls} left out, not defined on the states that were drawn");
        }
        out
    }

    fn json(&self) -> Json {
        let shown = self.shown.as_ref().map(Shown::json);
        json!({
            "schema": self.schema,
            "pattern": self.pattern,
            "write": self.write,
            "status": self.status.word(),
            "ok": self.ok,
            "unshown": self.unshown,
            "calls": self.calls,
            "calls_not_defined": self.undefined,
            "calls_left_out": self.left_out,
            "races": self.races,
            "rows_read": self.rows_read,
            "rows_returned": self.rows_returned,
            "ranges": self.ranges,
            "note": self.note,
            "shown": shown,
        })
    }

    fn text(&self) -> String {
        let mark = match (self.ok, self.unshown) {
            (true, _) => "ok   ",
            (false, true) => "?    ",
            (false, false) => "WRONG",
        };
        let mut out =
            format!("  {mark} {:<10} {:<24} {}\n", self.status.word(), self.pattern, self.note);
        if let Some(shown) = &self.shown {
            out.push_str(&text(&shown.json(), &self.note, 19));
        }
        out
    }
}
