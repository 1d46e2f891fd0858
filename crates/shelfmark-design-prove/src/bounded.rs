//! Proves O6, O7 and O9: the values of rows, the end of reading, and the number of rows of one
//! call.
//!
//! What it is not: which rows a range holds is `source`'s.
//!
//! Invariant: a bound is stated only when no state has a call that reads more.

use super::analysis::Analysis;
use super::canon::canonical;
use super::paths::fixed_paths;
use super::read::{Context, NAMES_MAX, Part1, Tail};
use super::unique::available;
use crate::closure::determines_tuple;
use shelfmark_design_language::certificate::RowsMax;
use shelfmark_design_language::model::pattern::Source;
use shelfmark_design_language::model::schema::EachOf;
use shelfmark_design_language::model::{ColumnPath, Term, Type};
use shelfmark_design_language::syntax::tree::CondOp;

impl Context<'_> {
    /// Proves O7, with the follow-up reads that it takes.
    pub(super) fn covered(
        &self,
        found: &[(&Source, Part1)],
        tail: &Tail<'_>,
        analysis: &mut Analysis,
    ) {
        for (source, one) in found {
            let family = self.family(one.family);
            let mut shown = available(self.model, family).clone();
            for met in &one.met {
                if let (Term::Column(path), CondOp::Eq) = (&met.row, met.op)
                    && !matches!(met.plan, Term::Each)
                {
                    shown.insert(path.clone());
                }
            }
            // What was asked for by `=` is known of every row that comes.
            let asked = source.predicates.iter().filter(|one| one.op == CondOp::Eq);
            shown.extend(asked.map(|one| canonical(self.model, source.relation, &one.path)));
            for read in &tail.reads {
                match self.follow(source.relation, read, &shown) {
                    Ok(more) => {
                        analysis.multi = true;
                        shown.extend(more);
                    }
                    Err((obligation, why)) => analysis.fail(obligation, "O7", why),
                }
            }
            let lacks =
                |path: &&ColumnPath| !shown.contains(&canonical(self.model, source.relation, path));
            let mut lacking = source.outputs.iter().flatten().filter(lacks);
            let named = lacking.by_ref().take(NAMES_MAX);
            let mut missing: Vec<String> =
                named.map(|path| self.model.path_text(source.relation, path)).collect();
            let others = lacking.count();
            if others > 0 {
                missing.push(format!("and {others} more"));
            }
            if missing.is_empty() {
                analysis.note(7, format!("{} shows all that is asked", family.name.text));
            } else {
                let why = format!("{} does not hold {}", family.name.text, missing.join(", "));
                analysis.fail(7, "O7", why);
            }
        }
    }

    /// Proves O6 and O9.
    pub(super) fn limited(
        &self,
        found: &[(&Source, Part1)],
        tail: &Tail<'_>,
        analysis: &mut Analysis,
    ) {
        let pushed = self.step.limit.as_ref();
        let wanted = self.read.limit.as_ref();
        if self.read.has_own_limits() {
            self.own_limited(found, analysis);
            self.bounded(found, tail, analysis);
            return;
        }
        match (wanted, pushed) {
            (None, Some(_)) => {
                analysis.fail(4, "A4", "the plan stops early, the pattern does not");
            }
            (Some(wanted), Some(pushed)) if wanted != pushed => {
                analysis.fail(4, "A4", "the plan's limit is not the pattern's");
            }
            (Some(_), Some(_)) if !tail.filters.is_empty() => {
                analysis.fail(6, "F2", "the limit counts rows before the filter drops some");
            }
            (Some(_), Some(_)) => analysis.note(6, "the limit is the range's own"),
            (Some(_), None) if tail.take.is_none() && !self.at_most_one(found) => {
                analysis.fail(4, "A4", "the plan reads on behind the limit");
            }
            (Some(_), None) if !self.at_most_one(found) => {
                analysis.fail(6, "F1", "all rows are read before the first are taken");
            }
            _ => analysis.note(6, "every row of the range is returned"),
        }
        if self.step.each.is_some() && wanted.is_some() && tail.take != wanted {
            analysis.fail(4, "A4", "each range has its own limit; take the first of them all");
        }
        self.bounded(found, tail, analysis);
    }

    pub(super) fn at_most_one(&self, found: &[(&Source, Part1)]) -> bool {
        self.step.each.is_none()
            && found.len() == 1
            && found.iter().all(|(source, one)| {
                determines_tuple(self.model, source.relation, &fixed_paths(&one.met))
            })
    }

    fn bounded(&self, found: &[(&Source, Part1)], tail: &Tail<'_>, analysis: &mut Analysis) {
        let total = found.iter().map(|(source, one)| self.rows_of(source, one, tail));
        let total = total.reduce(RowsMax::plus);
        let rows = match (&self.read.limit, total) {
            (Some(limit), _) => Some(RowsMax::limit(&self.read.params, limit)),
            (None, total) => total.filter(|total| *total != RowsMax::Unbounded),
        };
        let ranges = match &self.step.each {
            None => None,
            Some(EachOf::Numbers(low, high)) => Some((high - low + 1) as f64),
            Some(EachOf::Param(index)) => {
                let ty = self.read.params.get(*index).map(|param| &param.ty);
                match ty {
                    Some(Type::List(_, Some(max))) => Some(*max as f64),
                    _ => {
                        analysis.fail(
                            9,
                            "P4",
                            "the number of ranges has no bound: say `in … max k`",
                        );
                        None
                    }
                }
            }
        };
        if self.step.each.is_some() {
            analysis.multi = true;
        }
        if !tail.reads.is_empty() && rows.is_none() {
            analysis.fail(9, "A5", "the number of follow-up reads has no bound");
        }
        analysis.rows_max = match (rows, ranges) {
            (Some(rows), Some(ranges)) => rows.times(ranges),
            (Some(rows), None) => rows,
            (None, _) => RowsMax::Unbounded,
        };
        analysis.note(9, format!("rows by one call: {}", analysis.rows_max));
    }
    /// Returns the most rows of one row type in a range.
    fn rows_of(&self, source: &Source, one: &Part1, tail: &Tail<'_>) -> RowsMax {
        let mut fixed = fixed_paths(&one.met);
        // A sparse family settles what it is asked for.
        let asked = source.predicates.iter().filter(|one| one.op == CondOp::Eq);
        if tail.filters.is_empty() {
            fixed.extend(asked.map(|one| canonical(self.model, source.relation, &one.path)));
        }
        if determines_tuple(self.model, source.relation, &fixed) {
            return RowsMax::number(1.0);
        }
        if let Some(limit) = &source.limit {
            return RowsMax::limit(&self.read.params, limit);
        }
        let fanouts = self.model.relation(source.relation).fanouts.iter();
        let most = fanouts
            .filter(|fanout| fanout.from.iter().all(|column| fixed.contains(&vec![*column])))
            .filter_map(shelfmark_design_language::model::relation::Fanout::max)
            .min_by(f64::total_cmp);
        most.map_or(RowsMax::Unbounded, RowsMax::number)
    }
}
