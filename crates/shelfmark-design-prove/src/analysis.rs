//! The findings about a plan: which obligations fail and why, and the evidence for the others.
//!
//! What it is not: no judgement; whoever looks at a plan writes down what it finds.

use std::collections::BTreeSet;

use shelfmark_design_language::certificate::RowsMax;
use shelfmark_design_language::model::schema::FamilyId;

/// One violated requirement.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The number of the obligation.
    pub obligation: u8,
    /// The reason, for people.
    pub reason: String,
    /// The lint that explains it.
    pub lint: &'static str,
    /// True if the call cannot even be formed.
    pub call: bool,
}

/// The findings about a plan.
#[derive(Debug, Clone, Default)]
pub struct Analysis {
    /// The violated requirements.
    pub failures: Vec<Failure>,
    /// The evidence for each obligation.
    pub evidence: Vec<(u8, String)>,
    /// True if the plan needs several ranges or follow-up reads.
    pub multi: bool,
    /// Upper bound of the rows that one call reads.
    pub rows_max: RowsMax,
    /// True if rows come in the wanted order only because an index ends with the key of its rows,
    /// where the target orders by the index's own columns.
    pub leans_on_base_key: bool,
    /// The row families that the plan reads on purpose.
    pub families: BTreeSet<FamilyId>,
}

impl Analysis {
    /// Records that an obligation fails.
    pub fn fail(&mut self, obligation: u8, lint: &'static str, reason: impl Into<String>) {
        #[cfg(test)]
        if crate::tests::without::is_off(obligation) {
            return;
        }
        self.failures.push(Failure { obligation, lint, reason: reason.into(), call: false });
    }

    /// Records that the call cannot be formed.
    pub fn fail_call(&mut self, lint: &'static str, reason: impl Into<String>) {
        #[cfg(test)]
        if crate::tests::without::is_off(1) {
            return;
        }
        self.failures.push(Failure { obligation: 1, lint, reason: reason.into(), call: true });
    }

    /// Records that the target has no request for a step.
    pub fn fail_request(&mut self, reason: impl Into<String>) {
        #[cfg(test)]
        if crate::tests::without::is_off(10) {
            return;
        }
        let reason = reason.into();
        self.failures.push(Failure { obligation: 10, lint: "A8", reason, call: true });
    }

    /// Records evidence for an obligation.
    pub fn note(&mut self, obligation: u8, text: impl Into<String>) {
        self.evidence.push((obligation, text.into()));
    }
}
