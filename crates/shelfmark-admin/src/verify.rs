//! `verify`: the records of a store checked against each other, also while clients write.
//!
//! The engine's check reads a moment for as long as the store keeps it; beside writers it may see two
//! moments, and report what changed between them. What is wrong stays wrong: only findings that a second
//! and third look have as well are told.
//!
//! What it is not: a check of the bytes on disk, which needs a folder that nobody has open.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use shelfmark_engine::{Engine, Verification};

use crate::admin::Admin;
use crate::error::Result;
use crate::operation::Operation;

/// Looks at a store that changes under them. Source: ours; a false finding would have to come back twice.
const LOOKS_MAX: usize = 3;

/// Asks for the records to be checked. Reads everything once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verify {}

/// The records that were checked, and the faults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyAnswer {
    /// Tables.
    pub tables: u64,
    /// Rows, those of views included.
    pub rows: u64,
    /// Entries of indexes.
    pub entries: u64,
    /// Entries of change logs.
    pub changes: u64,
    /// Due times.
    pub due_times: u64,
    /// Request tokens.
    pub tokens: u64,
    /// The faults, with place, key and reason; none if all is well.
    pub findings: Vec<String>,
    /// Faults beyond those told.
    pub findings_more: u64,
}

impl VerifyAnswer {
    /// Returns true if nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

impl From<&Verification> for VerifyAnswer {
    fn from(found: &Verification) -> Self {
        Self {
            tables: found.tables,
            rows: found.rows,
            entries: found.entries,
            changes: found.changes,
            due_times: found.due_times,
            tokens: found.tokens,
            findings: found.findings.iter().map(ToString::to_string).collect(),
            findings_more: found.findings_more,
        }
    }
}

impl Operation for Verify {
    const NAME: &'static str = "verify";
    type Answer = VerifyAnswer;

    fn run(self, admin: &Admin) -> Result<VerifyAnswer> {
        let engine = admin.engine();
        let mut before = published(engine);
        let mut answer = VerifyAnswer::from(&engine.verify()?);
        for _ in 1..LOOKS_MAX {
            let now = published(engine);
            if answer.is_clean() || now == before {
                break;
            }
            before = now;
            let again = VerifyAnswer::from(&engine.verify()?);
            answer = still_wrong(&answer, again);
        }
        Ok(answer)
    }
}

fn published(engine: &Engine) -> u64 {
    engine.store().stats().published
}

/// Returns the later look without what the earlier one did not find.
fn still_wrong(earlier: &VerifyAnswer, later: VerifyAnswer) -> VerifyAnswer {
    if earlier.findings_more > 0 {
        // Not all of it is known by name.
        return later;
    }
    let known: BTreeSet<&String> = earlier.findings.iter().collect();
    let findings = later.findings.into_iter().filter(|finding| known.contains(finding)).collect();
    VerifyAnswer { findings, findings_more: 0, ..later }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_stays_wrong_and_the_rest_is_dropped() {
        let of = |findings: &[&str], findings_more| VerifyAnswer {
            findings: findings.iter().map(|own| (*own).to_owned()).collect(),
            findings_more,
            ..VerifyAnswer::default()
        };
        let kept = still_wrong(&of(&["a", "b"], 0), of(&["b", "c"], 0));
        assert_eq!(kept.findings, ["b"]);
        let kept = still_wrong(&of(&["a"], 7), of(&["b", "c"], 1));
        assert_eq!((kept.findings.len(), kept.findings_more), (2, 1));
    }
}
