//! Proves reads beside the range: a point read for each row, and counts that a row keeps.

use std::collections::BTreeSet;

use super::analysis::Analysis;
use super::canon::{canonical, canonical_met};
use super::paths::{all_key_paths, is_optional};
use super::range::{Found, Met, find, known_beginnings};
use super::read::Context;
use super::tally::tallies;
use super::unique::{available, clash};
use shelfmark_design_language::certificate::RowsMax;
use shelfmark_design_language::model::schema::{Family, ReadStep, Step};
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, Term};
use shelfmark_design_language::syntax::tree::{CondOp, Verb};

impl Context<'_> {
    /// Returns the paths that a point read for each row adds, from the first row's source.
    pub(super) fn follow(
        &self,
        relation: usize,
        read: &ReadStep,
        shown: &BTreeSet<ColumnPath>,
    ) -> Result<BTreeSet<ColumnPath>, (u8, String)> {
        let (model, schema) = (self.model, self.schema);
        let table = schema.tables.get(read.table).ok_or((1, "no such table".to_owned()))?;
        if read.bound.len() < table.kinds.len() || table.is_index || !read.bounds.is_empty() {
            let why = format!("the follow-up read of {} is no point read", table.name.text);
            return Err((1, why));
        }
        let mut why = format!("no row of {} is what the rows refer to", table.name.text);
        for (id, family) in schema.like(read.table, known_beginnings(read)) {
            let Found::Rows { met, .. } = find(read, table, family) else { continue };
            let met: Vec<Met> =
                met.iter().map(|met| canonical_met(model, family.source, met)).collect();
            let Some(base) = self.referred(relation, family, &met, shown) else { continue };
            if let Some(clash) = clash(model, schema, id) {
                return Err((4, clash.text().to_owned()));
            }
            if !family.when.is_empty()
                || all_key_paths(model, family)
                    .iter()
                    .any(|path| is_optional(model, family.source, path))
            {
                why = format!("{} holds only some of the rows", family.name.text);
                continue;
            }
            let more = available(model, family);
            return Ok(more
                .iter()
                .cloned()
                .map(|path| {
                    let whole: ColumnPath = base.iter().copied().chain(path).collect();
                    canonical(model, relation, &whole)
                })
                .collect());
        }
        Err((7, why))
    }

    /// Returns the path from a row to the tuple that the follow-up read finds.
    fn referred(
        &self,
        relation: usize,
        family: &Family,
        met: &[Met],
        shown: &BTreeSet<ColumnPath>,
    ) -> Option<ColumnPath> {
        let model = self.model;
        let mut base: Option<ColumnPath> = None;
        for one in met {
            let (Term::Column(path), CondOp::Eq) = (&one.row, one.op) else { return None };
            let Term::Prior(prior) = &one.plan else { return None };
            let prior = canonical(model, relation, prior);
            if !shown.contains(&prior) {
                return None;
            }
            let this = if family.source == relation && *path == prior {
                ColumnPath::new()
            } else if model.relation(family.source).key() == path.as_slice()
                && let Some(through) = leading_to(model, relation, &prior, family.source)
            {
                through
            } else {
                return None;
            };
            // Where a reference is absent, so is what lies behind it: nothing is read.
            if this.is_empty() && is_optional(model, relation, path) {
                return None;
            }
            if base.as_ref().is_some_and(|base| *base != this) {
                return None;
            }
            base = Some(this);
        }
        base
    }

    /// Proves `count of …` by a count that a row keeps, and the like; returns true if one is kept.
    pub(super) fn counted(&self, later: &[Step], analysis: &mut Analysis) -> bool {
        for (id, family) in self.schema.like(self.step.table, known_beginnings(self.step)) {
            let kept = tallies(family).find(|one| one.answers(self.model, self.read));
            let (Some(kept), Found::Rows { met, .. }) =
                (kept, find(self.step, self.table(), family))
            else {
                continue;
            };
            let met: Vec<Met> =
                met.iter().map(|met| canonical_met(self.model, family.source, met)).collect();
            let [Met { row: Term::Column(path), op: CondOp::Eq, plan }] = met.as_slice() else {
                continue;
            };
            let same = self.model.relation(family.source).key() == path.as_slice()
                && kept.asked(self.model, self.read).is_some_and(|asked| {
                    let row = Term::Column(vec![kept.via]);
                    asked == [Met { row, op: CondOp::Eq, plan: plan.clone() }]
                });
            if same && later.is_empty() && self.step.verb == Verb::Get && family.when.is_empty() {
                if let Some(clash) = clash(self.model, self.schema, id) {
                    analysis.fail(4, "U1", clash.text());
                }
                analysis.families.insert(id);
                analysis.rows_max = RowsMax::number(1.0);
                let name = &family.name.text;
                analysis.note(
                    7,
                    match kept.fold.is_extreme() {
                        true => format!("{name} keeps the value; without one nothing is returned"),
                        false => format!("{name} keeps the number; no row counts as none"),
                    },
                );
                // A row without the value is read, and nothing is returned.
                analysis.multi |= kept.fold.is_extreme();
                return true;
            }
        }
        false
    }
}

/// Returns the reference at the end of a path, or the keys that it leads through, followed as far
/// as a key of an entity is itself a reference.
pub(crate) fn leading_to(
    model: &Model,
    relation: RelationId,
    path: &[usize],
    wanted: RelationId,
) -> Option<ColumnPath> {
    let mut path = path.to_vec();
    for _ in 0..=model.relations.len() {
        let owner = model.relation(model.path_owner(relation, &path));
        let target = owner.columns.get(*path.last()?)?.refers?;
        if target == wanted {
            return Some(path);
        }
        let [only] = model.relation(target).key() else { return None };
        path.push(*only);
    }
    None
}
