//! The claim of a certified write about others that are executed at the same time.
//!
//! What it is not: no promise about time or staleness. What a claim leaves open, lint W2 says.
//!
//! Invariant: the words are those of the claim; nothing else is known of the write here.

use serde::{Deserialize, Serialize};

/// The way in which the changes of a write happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// One request of one row does all of it.
    Request,
    /// One serializable transaction has all steps, reads of single rows among them.
    Transaction,
    /// One request changes everything, on conditions that fail where what was read before is no longer so.
    Compared,
    /// The proof is of the write executed alone: others may come between its requests.
    Alone,
}

/// The claim of a write beside others, with the conditions of its requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concurrency {
    /// The way in which its changes happen.
    pub claim: Claim,
    /// The tables whose requests carry a condition on the row: where it fails, the write ends there.
    pub conditions: Vec<String>,
}

impl Concurrency {
    /// Returns true if every interleaving with other such writes leaves the rows of one order of them.
    #[must_use]
    pub fn is_atomic(&self) -> bool {
        self.claim != Claim::Alone
    }

    /// Returns the claim in words.
    #[must_use]
    pub fn text(&self) -> String {
        let tables = self.conditions.join(", ");
        match (self.claim, tables.is_empty()) {
            (Claim::Request, true) => "atomic: one request".to_owned(),
            (Claim::Request, false) => {
                format!("atomic: one request, which a condition on {tables} ends")
            }
            (Claim::Transaction, true) => "atomic: one transaction".to_owned(),
            (Claim::Transaction, false) => {
                format!("atomic: one transaction, which conditions on {tables} end")
            }
            (Claim::Compared, _) => format!(
                "atomic: reads, then one request; conditions on {tables} end it where another \
                 write has changed what was read"
            ),
            (Claim::Alone, true) => {
                "executed alone only: others may come between its requests".to_owned()
            }
            (Claim::Alone, false) => format!(
                "executed alone only: others may come between its requests; conditions on {tables} \
                 end it"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Claim, Concurrency};

    #[test]
    fn a_claim_names_the_tables_whose_conditions_end_the_write() {
        let said = |claim, conditions: &[&str]| {
            let conditions = conditions.iter().map(|one| (*one).to_owned()).collect();
            Concurrency { claim, conditions }.text()
        };
        assert_eq!(said(Claim::Request, &[]), "atomic: one request");
        let both = said(Claim::Transaction, &["a", "b"]);
        assert_eq!(both, "atomic: one transaction, which conditions on a, b end");
        assert!(said(Claim::Compared, &["a"]).contains("conditions on a end it where another"));
        assert!(said(Claim::Alone, &["a"]).ends_with("conditions on a end it"));
        assert!(!said(Claim::Alone, &[]).contains("conditions"));
    }
}
