//! Tells which answers a target may cut by their bytes: the rest is asked for by further requests.
//!
//! What it is not: no estimate. What declared sizes and limits do not bound may be cut.

use super::Calls;
use super::expr::Expr;
use super::request::{Ask, Request};
use crate::sizes::item_bytes;
use shelfmark_design_language::model::Value;
use shelfmark_design_language::model::schema::{Family, FamilyId, Stored};

impl Calls<'_> {
    /// Returns true if the target may cut the answer of a request: `next` says how its rest is asked for.
    pub(super) fn may_be_cut(&self, request: &Request) -> bool {
        let Request::Read { ask, .. } = request else { return false };
        let Some(most) = self.target.answer_bytes_max.filter(|_| !ask.point) else { return false };
        let item = self.schema.of_table(ask.table).map(|(id, family)| self.item_most(id, family));
        let item = item.fold(0.0, f64::max);
        rows_most(ask).is_none_or(|rows| rows * item > most)
    }

    /// Returns the most bytes of an item.
    fn item_most(&self, id: FamilyId, family: &Family) -> f64 {
        let most = self.target.item_bytes_max;
        let lists = family.stored.iter().any(|one| matches!(one, Stored::Collect { .. }));
        let base = family.base.unwrap_or(id);
        let Some(whole) = self.schema.families.get(base).filter(|_| !lists) else { return most };
        let shown: Vec<_> = crate::unique::available(self.model, whole).iter().cloned().collect();
        // Texts of keys repeat what is in them, and numbers are kept beside.
        let beside = (whole.stored.len() + 1) as f64 * self.target.key_bytes_max;
        item_bytes(self.model, whole, &shown).map_or(most, |bytes| most.min(bytes as f64 + beside))
    }
}

/// Returns the most rows of an answer; `None` where only an input, or nothing, says how many.
fn rows_most(ask: &Ask) -> Option<f64> {
    match &ask.limit {
        Some(Expr::Const(Value::Int(rows), _)) => Some(*rows as f64),
        _ => None,
    }
}
