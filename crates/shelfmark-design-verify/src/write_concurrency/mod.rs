//! Verifies what a certificate claims of a write that others are executed beside.
//!
//! What it is not: nothing is run at the same time. It looks at the steps alone: how many requests there
//! are, and whether the one that changes something asks for all that was read before.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use std::collections::BTreeSet;

use super::shelf::{short, shown};
use super::write_families::{concerned_by, key_paths};
use super::write_reads::holds_all;
use shelfmark_design_language::certificate::{Certificate, Claim};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Schema, Stored, WriteStep};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Type, Value, Write};
use shelfmark_design_language::syntax::tree::Existing;

/// Checks the claim of a certified write, if it makes one.
pub(super) fn claimed(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
    certificate: &Certificate,
) -> Result<(), String> {
    let Some(claimed) = &certificate.concurrency else { return Ok(()) };
    let plan = Plan { model, schema, write, steps };
    let table = |family: &&Family| schema.tables.get(family.table).map(|one| &one.name.text);
    for name in &claimed.conditions {
        if !plan.changed().any(|(_, family)| table(&family) == Some(name)) {
            return Err(format!("it speaks of conditions on {name}, which it does not change"));
        }
    }
    let holds = match claimed.claim {
        Claim::Alone => true,
        Claim::Request => plan.reads().next().is_none() && plan.is_one_row(),
        Claim::Transaction => plan.is_transaction(),
        Claim::Compared => !claimed.conditions.is_empty() && plan.compares(),
    };
    if holds { Ok(()) } else { Err("others may come between what it says is one".to_owned()) }
}

struct Plan<'a> {
    model: &'a Model,
    schema: &'a Schema,
    write: &'a Write,
    steps: &'a [WriteStep],
}

impl<'a> Plan<'a> {
    fn reads(&self) -> impl Iterator<Item = &'a WriteStep> {
        self.steps.iter().filter(|step| step.kind.is_read())
    }

    /// Returns the steps that change something, once for each row family.
    fn changed(&self) -> impl Iterator<Item = (&'a WriteStep, &'a Family)> {
        let families = &self.schema.families;
        let changes = self.steps.iter().filter(|step| !step.kind.is_read());
        changes.flat_map(move |step| {
            step.families.iter().filter_map(move |id| Some((step, families.get(*id)?)))
        })
    }

    fn loops(&self) -> bool {
        self.write.effects.iter().any(|effect| effect.each.is_some())
            || self.steps.iter().any(|step| step.kind.each().is_some())
    }

    /// Returns true if the target serializes all steps together.
    fn is_transaction(&self) -> bool {
        let first = self.steps.first().and_then(|step| step.transaction);
        let same = first.is_some() && self.steps.iter().all(|step| step.transaction == first);
        let can = match self.schema.target.as_str() {
            "shelfmark" | "ordered" => true,
            "dynamodb" => self.reads().next().is_none(),
            _ => false,
        };
        can && same && !self.loops()
    }

    /// Returns true if one row is changed, by one part of the write.
    fn is_one_row(&self) -> bool {
        let mut changed = self.changed();
        let (Some((_, family)), None) = (changed.next(), changed.next()) else { return false };
        let parts = self.write.effects.iter();
        let parts = parts.filter(|effect| concerned_by(self.model, effect, family));
        // Where tuples keep numbers of their own kind, a change of one is a change of others.
        let counts = |effect: &&Effect| {
            effect.relation == family.source && tallied(family, effect).next().is_some()
        };
        parts.clone().count() <= 1 && !parts.clone().any(|one| counts(&one)) && !self.loops()
    }

    /// Returns true if one request behind all reads asks for everything that they showed.
    fn compares(&self) -> bool {
        let mut changes = self.steps.iter().filter(|step| !step.kind.is_read());
        let first = changes.next().and_then(|step| step.transaction);
        let together = first.is_some()
            && changes.all(|step| step.transaction == first)
            && self.schema.target == "dynamodb";
        let sends = matches!(self.schema.target.as_str(), "dynamodb" | "cql");
        let late = self.steps.iter().skip_while(|step| step.kind.is_read());
        let mut late = late.filter(|step| step.kind.is_read());
        let families = self.reads().flat_map(|step| &step.families);
        let mut read = families.filter_map(|id| self.schema.families.get(*id));
        sends
            && (together || self.is_one_row())
            && late.next().is_none()
            && !self.loops()
            && read.all(|family| {
                let mut own = self.write.effects.iter().filter(|one| one.relation == family.source);
                matches!((own.next(), own.next()), (Some(effect), None) if self.asks_again(effect))
            })
    }

    /// Returns true if what reads showed of an effect's tuple is asked for by what changes it.
    fn asks_again(&self, effect: &Effect) -> bool {
        let key: Vec<ColumnPath> =
            self.model.relation(effect.relation).key().iter().map(|at| vec![*at]).collect();
        let own = |family: &Family| family.source == effect.relation && family.base.is_none();
        let lies = |family: &Family| -> Vec<ColumnPath> {
            key_paths(family).iter().map(|path| short(self.model, family.source, path)).collect()
        };
        if effect.kind == EffectKind::Insert {
            let is_its = |family: &Family| lies(family).iter().all(|path| key.contains(path));
            return effect.existing == Existing::Fresh
                && self.changed().any(|(step, family)| {
                    step.kind.is_put()
                        && own(family)
                        && holds_all(self.model, family)
                        && is_its(family)
                });
        }
        let mut asked: BTreeSet<ColumnPath> = BTreeSet::new();
        for (_, family) in self.changed().filter(|(step, _)| !step.kind.is_put()) {
            let mut puts = self.changed().filter(|(step, _)| step.kind.is_put());
            let moves = puts.any(|(_, other)| std::ptr::eq(other, family));
            let counts = family.stored.iter().any(|one| matches!(one, Stored::Tally { .. }));
            let counters = counts && self.schema.target == "cql";
            let paths = lies(family);
            let under = key.iter().all(|path| paths.contains(path));
            if own(family) && under && holds_all(self.model, family) && !moves && !counters {
                asked.extend(self.selected_again(effect, family));
                asked.extend(paths);
            }
        }
        let given =
            |path: &ColumnPath| effect.key.iter().any(|(column, _)| path.as_slice() == [*column]);
        let mut selects = effect.key.iter().map(|(column, _)| vec![*column]);
        !asked.is_empty()
            && selects.all(|path| key.contains(&path) || asked.contains(&path))
            && self.taken(effect).iter().all(|path| given(path) || asked.contains(path))
    }

    /// Returns the attributes by which an effect selects that a request compares where it changes a row
    /// that shows them: with one value, which is there.
    fn selected_again(&self, effect: &Effect, family: &Family) -> Vec<ColumnPath> {
        let there = shown(self.model, family);
        let compares = |(column, term): &&(usize, Term)| {
            let one = match term {
                Term::Const(value) => *value != Value::Null,
                Term::Param(_) | Term::Call(..) => true,
                _ => false,
            };
            let path = vec![*column];
            let list = matches!(self.model.path_type(effect.relation, &path), Type::List(..));
            one && !list && there.contains(&path)
        };
        effect.key.iter().filter(compares).map(|(column, _)| vec![*column]).collect()
    }

    /// Returns the attributes of an effect's tuple that its changes need as they were.
    fn taken(&self, effect: &Effect) -> BTreeSet<ColumnPath> {
        let mut found: BTreeSet<ColumnPath> = BTreeSet::new();
        for (step, family) in self.changed() {
            if !concerned_by(self.model, effect, family) {
                continue;
            }
            found.extend(tallied(family, effect).flatten());
            if family.source != effect.relation {
                continue;
            }
            let mut own = key_paths(family);
            own.extend(family.when.iter().map(|one| one.path.clone()));
            let sets = |path: &ColumnPath| {
                effect.set.iter().any(|(column, _)| path.as_slice() == [*column])
            };
            let entries = self.schema.families.iter().filter(|entry| {
                let base = entry.base.and_then(|base| self.schema.families.get(base));
                base.is_some_and(|base| std::ptr::eq(base, family))
            });
            for entry in entries {
                let mut beside = key_paths(entry);
                beside.extend(entry.when.iter().map(|one| one.path.clone()));
                if step.kind.is_put() || beside.iter().any(sets) {
                    own.extend(beside);
                }
            }
            if step.kind.is_put() {
                own.extend(shown(self.model, family));
                own.retain(|path| !sets(path));
            }
            found.extend(own.iter().map(|path| short(self.model, family.source, path)));
        }
        found
    }
}

/// Returns, for each number of its tuples that a family keeps and an effect may change, the attributes
/// that decide on it.
fn tallied(family: &Family, effect: &Effect) -> impl Iterator<Item = Vec<ColumnPath>> {
    family.stored.iter().filter_map(|stored| {
        let Stored::Tally { relation, via, when, fold, .. } = stored else { return None };
        let mut found = vec![vec![*via]];
        found.extend(when.iter().map(|one| one.path.clone()));
        found.extend(fold.column().map(|at| vec![at]));
        let sets = |path: &ColumnPath| {
            effect.set.iter().any(|(column, _)| path.first().is_some_and(|at| at == column))
        };
        let stays = matches!(effect.kind, EffectKind::Update | EffectKind::Increment);
        let changes = !stays || found.iter().any(sets);
        (*relation == effect.relation && changes).then_some(found)
    })
}

#[cfg(test)]
mod tests;
