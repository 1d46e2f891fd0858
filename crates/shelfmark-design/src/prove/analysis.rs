//! What was found about a plan: which obligations fail and why, and what speaks for the others.
//!
//! What it is not: no judgement; whoever looks at a plan writes down what it finds.

use std::collections::BTreeSet;

use crate::model::schema::FamilyId;

/// One thing that is not as it must be.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// 1 to 9.
    pub(crate) obligation: u8,
    pub(crate) reason: String,
    /// The lint that explains it.
    pub(crate) lint: &'static str,
    /// Whether the call cannot even be formed.
    pub(crate) call: bool,
}

/// What was found about a plan.
#[derive(Debug, Clone, Default)]
pub(crate) struct Analysis {
    pub(crate) failures: Vec<Failure>,
    pub(crate) evidence: Vec<(u8, String)>,
    pub(crate) multi: bool,
    pub(crate) rows_max: String,
    /// Whether rows come in the order asked for only because an index goes on with the key of its
    /// rows, where the target orders by the index's own columns.
    pub(crate) leans_on_base_key: bool,
    /// The row families that the plan reads on purpose.
    pub(crate) families: BTreeSet<FamilyId>,
}

impl Analysis {
    pub(crate) fn fail(&mut self, obligation: u8, lint: &'static str, reason: impl Into<String>) {
        #[cfg(test)]
        if crate::tests::without::is_off(obligation) {
            return;
        }
        self.failures.push(Failure { obligation, lint, reason: reason.into(), call: false });
    }

    pub(crate) fn fail_call(&mut self, lint: &'static str, reason: impl Into<String>) {
        #[cfg(test)]
        if crate::tests::without::is_off(1) {
            return;
        }
        self.failures.push(Failure { obligation: 1, lint, reason: reason.into(), call: true });
    }

    pub(crate) fn note(&mut self, obligation: u8, text: impl Into<String>) {
        self.evidence.push((obligation, text.into()));
    }
}
