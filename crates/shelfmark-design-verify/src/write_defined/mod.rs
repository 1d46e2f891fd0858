//! Verifies that a write which is not defined stops before it changes anything it could not check.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use super::shelf::shown;
use super::write_families::{concerned, concerned_by, key_paths};
use super::write_reads::holds_all;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Schema, Stored, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Write};
use shelfmark_design_language::syntax::tree::Existing;

/// Checks that whatever changes before an effect's own row checks itself in the same way, and of a write of
/// several tuples that the first request that changes anything asks for each, or that it was read.
pub(super) fn checked_first(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    let changed = changes(model, schema, write, steps);
    let Some(first) = changed.first() else { return Ok(()) };
    for effect in write.effects.iter().filter(|effect| asks(effect)) {
        if write.effects.len() > 1 {
            let mut own = schema.families.iter();
            let concerned = own.any(|family| concerned_by(model, effect, family));
            let plan = Plan { model, schema, write, steps };
            let mut request = changed.iter().take_while(|one| one.request == first.request);
            // That a key is new which no table has is the caller's word.
            let by_word = effect.kind == EffectKind::Insert && !plan.keeps_own(effect);
            let by_word = by_word || plan.is_below(effect);
            let told = by_word || request.any(|change| plan.tells(change, effect));
            if concerned && !told && !plan.was_looked_up(effect, first.step) {
                let name = &model.relation(effect.relation).name.text;
                return Err(format!("O10: nothing asks about the {name} before a change"));
            }
            continue;
        }
        if effect.kind != EffectKind::Insert && was_read(schema, effect, steps, first.step) {
            continue;
        }
        let plain = |family: &Family| !counters(schema, family);
        let own =
            |change: &&Change<'_>| is_own_row(model, change.family, effect) && plain(change.family);
        let any =
            |change: &&Change<'_>| change.family.source == effect.relation && plain(change.family);
        let Some(check) = changed.iter().find(own).or_else(|| changed.iter().find(any)) else {
            continue;
        };
        for change in changed.iter().take_while(|change| change.request != check.request) {
            if !is_own_row(model, change.family, effect) {
                return Err(format!(
                    "O10: {} changes before {} tells whether its tuple is there",
                    change.family.name.text, check.family.name.text
                ));
            }
        }
    }
    Ok(())
}

/// The plan of a write of several tuples.
struct Plan<'a> {
    model: &'a Model,
    schema: &'a Schema,
    write: &'a Write,
    steps: &'a [WriteStep],
}

impl Plan<'_> {
    /// Returns true if a change is of a row that every tuple of an effect has, under a key that the effect
    /// gives: it is made only where the row is there, or is not there.
    fn tells(&self, change: &Change<'_>, effect: &Effect) -> bool {
        let family = change.family;
        let Some(step) = self.steps.get(change.step) else { return false };
        let given = |path: &ColumnPath| matches!(path.as_slice(), [only] if effect.key.iter().any(|(at, _)| at == only));
        // By itself a change of what is not there is passed over, and a put is of one tuple after the other.
        let effects = self.write.effects.iter();
        let mut earlier = effects.take_while(|other| !std::ptr::eq(*other, effect));
        let first = earlier.all(|other| !concerned_by(self.model, other, family));
        let ends = step.transaction.is_some() || step.kind.is_put() && first;
        // What else selects is compared with a row that was read, and not by the change.
        let paths = key_paths(family);
        let whole = effect.kind == EffectKind::Insert
            || effect.key.iter().all(|(column, _)| paths.contains(&vec![*column]));
        let sets =
            |path: &ColumnPath| effect.set.iter().any(|(column, _)| path.first() == Some(column));
        let meant = match (&step.kind, effect.kind) {
            (WriteStepKind::Put { .. }, EffectKind::Insert) => true,
            (WriteStepKind::Delete { .. }, EffectKind::Delete) => true,
            (WriteStepKind::Patch { .. }, EffectKind::Update | EffectKind::Increment) => {
                let entries = self.schema.families.iter().filter(|one| {
                    let base = one.base.and_then(|base| self.schema.families.get(base));
                    base.is_some_and(|base| std::ptr::eq(base, family))
                });
                let mut all = entries.chain([family]);
                all.any(|one| {
                    key_paths(one).iter().any(sets) || shown(self.model, one).iter().any(sets)
                })
            }
            _ => false,
        };
        let strictly = effect.kind != EffectKind::Insert || !self.keeps_own(effect);
        meant
            && step.kind.each().is_none()
            && family.source == effect.relation
            && family.base.is_none()
            && holds_all(self.model, family)
            && !counters(self.schema, family)
            && ends
            && whole
            && paths.iter().all(given)
            && (strictly || is_own_row(self.model, family, effect))
    }

    /// Returns true if the key of an inserted tuple refers to what the same write inserts, too: nothing can
    /// have referred to it before.
    fn is_below(&self, effect: &Effect) -> bool {
        let relation = self.model.relation(effect.relation);
        effect.kind == EffectKind::Insert
            && effect.key.iter().filter(|(at, _)| relation.key().contains(at)).any(|(at, term)| {
                let target = relation.columns.get(*at).and_then(|column| column.refers);
                self.write.effects.iter().filter(|one| Some(one.relation) == target).any(|one| {
                    let key = self.model.relation(one.relation).key();
                    let same = one.key.iter().any(|(own, by)| key == [*own] && by == term);
                    one.kind == EffectKind::Insert && asks(one) && same
                })
            })
    }

    /// Returns true if some row lies under nothing but the key of an effect's tuple, and tells of it.
    fn keeps_own(&self, effect: &Effect) -> bool {
        let mut rows = self.schema.families.iter();
        rows.any(|one| is_own_row(self.model, one, effect) && !counters(self.schema, one))
    }

    /// Returns true if a read before a step ends the plan where an effect's tuple is not as it must be.
    fn was_looked_up(&self, effect: &Effect, before: usize) -> bool {
        let of = || self.write.effects.iter().filter(|one| one.relation == effect.relation);
        let inserts = effect.kind == EffectKind::Insert;
        // What is made before need not have been there, what is taken away may have been.
        let sure = match inserts {
            // A change sets no key free, but a unique value.
            true if self.model.relation(effect.relation).keys.len() == 1 => {
                of().all(|other| other.kind != EffectKind::Delete)
            }
            true => of().all(|other| other.kind == EffectKind::Insert),
            false => {
                let mut earlier = of().take_while(|other| !std::ptr::eq(*other, effect));
                earlier.all(|other| other.kind != EffectKind::Insert)
            }
        };
        let keys = &self.model.relation(effect.relation).keys;
        let keys = keys.get(..if inserts { 1 } else { keys.len() }).unwrap_or(keys);
        let finds = |family: &Family, asked: &[(ColumnPath, Term)]| {
            let named = |key: &Vec<usize>| {
                let mut columns = key.iter();
                columns.all(|column| {
                    let term = effect.key.iter().find(|(at, _)| at == column).map(|(_, term)| term);
                    let bound = asked.iter().find(|(path, _)| path.as_slice() == [*column]);
                    term.is_some() && (asked.is_empty() || bound.map(|(_, term)| term) == term)
                })
            };
            let no_more = asked.len() <= keys.iter().map(Vec::len).max().unwrap_or(0);
            let there = shown(self.model, family);
            let told = |(column, term): &(usize, Term)| {
                let path = vec![*column];
                let bound = asked.iter().any(|(of, by)| *of == path && by == term);
                bound || there.contains(&path)
            };
            family.source == effect.relation
                && holds_all(self.model, family)
                && keys.iter().any(named)
                && (!inserts || no_more)
                && (inserts || effect.key.iter().all(told))
        };
        let mut reads = self.steps.iter().take(before);
        sure && reads.any(|step| {
            let WriteStepKind::Read { bindings, .. } = &step.kind else { return false };
            let mut families = step.families.iter().filter_map(|id| self.schema.families.get(*id));
            families.any(|family| finds(family, bindings))
        })
    }
}

/// A change of the rows of one family, with the number of the request that it belongs to.
pub(super) struct Change<'a> {
    pub(super) request: usize,
    pub(super) step: usize,
    pub(super) family: &'a Family,
}

/// Returns the changes of a plan in their order.
pub(super) fn changes<'a>(
    model: &Model,
    schema: &'a Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Vec<Change<'a>> {
    let (mut found, mut request, mut open) = (Vec::new(), 0, None);
    for (step, one) in steps.iter().enumerate().filter(|(_, one)| !one.kind.is_read()) {
        let families = one.families.iter().filter_map(|id| schema.families.get(*id));
        for family in families.filter(|family| concerned(model, write, family)) {
            if one.transaction.is_none() || one.transaction != open {
                request += 1;
            }
            open = one.transaction;
            found.push(Change { request, step, family });
        }
    }
    found
}

/// Returns true if a write is not defined where the effect's tuple is not as the effect asks.
fn asks(effect: &Effect) -> bool {
    effect.each.is_none() && effect.existing == Existing::Fresh
}

fn was_read(schema: &Schema, effect: &Effect, steps: &[WriteStep], before: usize) -> bool {
    let of = |id: &usize| schema.families.get(*id).is_some_and(|one| one.source == effect.relation);
    steps.iter().take(before).any(|step| step.kind.is_read() && step.families.iter().any(of))
}

/// Returns true if rows of a family are counters of CQL, which take no condition.
fn counters(schema: &Schema, family: &Family) -> bool {
    let counter =
        |stored: &Stored| matches!(stored, Stored::Tally { fold, .. } if !fold.is_extreme());
    let kept = !family.stored.is_empty() && family.stored.iter().all(counter);
    schema.target == "cql" && (kept || family.adds_only)
}

/// Returns true if every tuple has one row of the family, under nothing but its own key.
fn is_own_row(model: &Model, family: &Family, effect: &Effect) -> bool {
    let key = model.relation(effect.relation).key();
    family.source == effect.relation
        && family.base.is_none()
        && holds_all(model, family)
        && key_paths(family)
            .iter()
            .all(|path| matches!(path.as_slice(), [only] if key.contains(only)))
}

#[cfg(test)]
mod tests;
