//! Splits changes of a write that may replace a tuple: one request is sent where nothing was there, the
//! other where what never changes is as the write gives it; where it is not, neither is.
//!
//! Invariant: of the two that one change is split into at most one is sent.

use super::request::{Change, Guard};
use super::write::{BoundRead, Case, Writer};
use crate::lasting::{is_as_read, lasting, tells_lasting};
use crate::own_key::keys_of;
use shelfmark_design_language::model::pattern::Effect;
use shelfmark_design_language::model::schema::FamilyId;
use shelfmark_design_language::syntax::tree::CondOp;

impl Writer<'_> {
    /// Returns changes, each once for every way in which what a read has shown lets it through.
    pub(super) fn each_lasting(
        &self,
        mut changes: Vec<(FamilyId, Change)>,
    ) -> Vec<(FamilyId, Change)> {
        for effect in &self.write.effects {
            let Some([new, same]) = self.ways(effect) else { continue };
            let split = |(id, change): (FamilyId, Change)| {
                // A change of a row that was found is none of a new tuple.
                let found = |guard: &Guard| {
                    guard.op == CondOp::Present && new.iter().any(|one| one.left == guard.left)
                };
                let old = change.guards.iter().any(found);
                let ways = [(!old).then_some(&new), Some(&same)];
                ways.into_iter().flatten().map(move |guards| {
                    let mut one = change.clone();
                    let more = guards.iter().filter(|guard| !change.guards.contains(guard));
                    one.guards.extend(more.cloned());
                    (id, one)
                })
            };
            changes = changes.into_iter().flat_map(|one| split(one).collect::<Vec<_>>()).collect();
        }
        changes
    }

    /// Returns the guards of a tuple that was not there, and of one that has the same lasting attributes.
    fn ways(&self, effect: &Effect) -> Option<[Vec<Guard>; 2]> {
        let (model, schema) = (self.calls.model, self.calls.schema);
        let paths = lasting(model, schema, effect);
        if paths.is_empty() || !is_as_read(self.write, effect) {
            return None;
        }
        let given = self.given(&Case { effect, each: None });
        let tells = |told: &&BoundRead| {
            let family = schema.families.get(told.family);
            family.is_some_and(|one| tells_lasting(model, schema, one, effect))
                && self.finds(told, keys_of(model, effect), &given)
        };
        let told = self.told.iter().find(tells)?;
        let there = self.was_found(told, CondOp::Present)?;
        let absent = Guard { op: CondOp::Absent, ..there.clone() };
        let mut same = vec![there];
        for path in paths {
            let (left, value) = (self.shown(told, &path)?, given.get(&path)?);
            same.push(match value.is_null() {
                true => Guard { left, op: CondOp::Absent, right: Vec::new() },
                false => Guard { left, op: CondOp::Eq, right: vec![value.clone()] },
            });
        }
        Some([vec![absent], same])
    }
}
