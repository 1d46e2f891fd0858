//! Tracks the items that a transaction has changed, where it allows one operation for each.

use super::shelf::Key;
use shelfmark_design_language::model::schema::{Schema, TableId, WriteStep, WriteStepKind};
use shelfmark_design_language::target::profile;

/// The items that transactions of one write have changed so far.
pub(super) struct Items {
    /// True if an item may be changed by one step only.
    once: bool,
    /// Transaction, table, key, and true if it was deleted.
    changed: Vec<(usize, TableId, Key, bool)>,
}

impl Items {
    pub(super) fn of(schema: &Schema) -> Self {
        let once = profile(&schema.target).is_some_and(|target| target.one_operation_per_item);
        Self { once, changed: Vec::new() }
    }

    /// Records the change of a step; `Err` where the store would refuse it.
    pub(super) fn step(
        &mut self,
        step: &WriteStep,
        changed: Vec<(TableId, Key)>,
    ) -> Result<(), String> {
        let Some(transaction) = step.transaction.filter(|_| self.once) else { return Ok(()) };
        let deletes = matches!(step.kind, WriteStepKind::Delete { .. });
        let puts = matches!(step.kind, WriteStepKind::Put { .. });
        for (table, key) in &changed {
            // Of a delete and a put under one key the delete is left out.
            let again = self.changed.iter().any(|(other, at, item, deleted)| {
                *other == transaction && at == table && item == key && !(*deleted && puts)
            });
            if again {
                return Err("one transaction changes one item twice".to_owned());
            }
        }
        let own = changed.into_iter().map(|(table, key)| (transaction, table, key, deletes));
        self.changed.extend(own);
        Ok(())
    }
}
