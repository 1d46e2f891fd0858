//! What was found about a plan: which obligations fail and why, and what speaks for the others.
//!
//! What it is not: no judgement; whoever looks at a plan writes down what it finds.

use std::collections::BTreeSet;

use shelfmark_design_language::certificate::RowsMax;
use shelfmark_design_language::model::schema::FamilyId;

/// One thing that is not as it must be.
#[derive(Debug, Clone)]
pub struct Failure {
    /// 1 to 9.
    pub obligation: u8,
    /// Why, for people.
    pub reason: String,
    /// The lint that explains it.
    pub lint: &'static str,
    /// Whether the call cannot even be formed.
    pub call: bool,
}

/// What was found about a plan.
#[derive(Debug, Clone, Default)]
pub struct Analysis {
    /// What is not as it must be.
    pub failures: Vec<Failure>,
    /// What each obligation rests on.
    pub evidence: Vec<(u8, String)>,
    /// True if the plan needs several ranges or follow-up reads.
    pub multi: bool,
    /// How many rows one call reads at most.
    pub rows_max: RowsMax,
    /// Whether rows come in the order asked for only because an index goes on with the key of its
    /// rows, where the target orders by the index's own columns.
    pub leans_on_base_key: bool,
    /// The row families that the plan reads on purpose.
    pub families: BTreeSet<FamilyId>,
}

impl Analysis {
    /// Notes that an obligation does not hold.
    pub fn fail(&mut self, obligation: u8, lint: &'static str, reason: impl Into<String>) {
        #[cfg(test)]
        if crate::tests::without::is_off(obligation) {
            return;
        }
        self.failures.push(Failure { obligation, lint, reason: reason.into(), call: false });
    }

    /// Notes that the call cannot be formed.
    pub fn fail_call(&mut self, lint: &'static str, reason: impl Into<String>) {
        #[cfg(test)]
        if crate::tests::without::is_off(1) {
            return;
        }
        self.failures.push(Failure { obligation: 1, lint, reason: reason.into(), call: true });
    }

    /// Notes that the target cannot be asked for a step.
    pub fn fail_request(&mut self, reason: impl Into<String>) {
        #[cfg(test)]
        if crate::tests::without::is_off(10) {
            return;
        }
        let reason = reason.into();
        self.failures.push(Failure { obligation: 10, lint: "A8", reason, call: true });
    }

    /// Notes what an obligation rests on.
    pub fn note(&mut self, obligation: u8, text: impl Into<String>) {
        self.evidence.push((obligation, text.into()));
    }
}
