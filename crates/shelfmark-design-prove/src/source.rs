//! Proves O2, O3 and half of O4: the rows of one source in the range of a plan, and no others.
//!
//! Invariant: says nothing only when the rows in the range are those of the tuples asked for, one for
//! each.

use std::collections::BTreeSet;

use super::analysis::Analysis;
use super::canon::{canonical, canonical_met, canonical_term, comparisons};
use super::implied::{implied, with_equal};
use super::paths::{all_key_paths, asked_by_index, fixed_in_all, is_optional, told_together};
use super::range::{Found, Met, find, known_beginnings, may_touch};
use super::read::{Context, NAMES_MAX, Part1, Tail};
use super::unique::{Clash, available, clash, key_paths};
use crate::closure::determines_tuple;
use shelfmark_design_language::model::pattern::Source;
use shelfmark_design_language::model::schema::{EachOf, Family, FamilyId, Part};
use shelfmark_design_language::model::{ColumnPath, Function, Term, Type, Value};
use shelfmark_design_language::syntax::tree::CondOp;

impl Context<'_> {
    /// Proves O2, O3 and half of O4 for one source.
    pub(super) fn source(
        &self,
        source: &Source,
        tail: &Tail<'_>,
        analysis: &mut Analysis,
    ) -> Option<Part1> {
        let table = self.table();
        let mut candidates = Vec::new();
        let mut trouble = Vec::new();
        let mut elsewhere = false;
        for (id, family) in self.schema.of_source(source.relation) {
            if family.table != self.step.table {
                continue;
            }
            match find(self.step, table, family) {
                Found::Rows { met, rest, column } => {
                    let met = met
                        .iter()
                        .map(|met| canonical_met(self.model, family.source, met))
                        .collect();
                    let met = with_equal(met);
                    candidates.push(Part1 { family: id, met, rest, column });
                }
                Found::Nothing(why) => trouble.push((4, "K3", why)),
                Found::Elsewhere => elsewhere = true,
                Found::Short(lacking) => {
                    let names: Vec<String> = lacking
                        .iter()
                        .map(|term| match term {
                            Term::Column(path) => self.model.path_text(family.source, path),
                            _ => "a computed value".to_owned(),
                        })
                        .collect();
                    let why = format!(
                        "a point read of {} needs {}, with which its key goes on",
                        family.name.text,
                        names.join(" and ")
                    );
                    trouble.push((4, "A2", why));
                }
                Found::Unclear { lint, why } => {
                    trouble.push((if lint == "K2" { 3 } else { 2 }, lint, why));
                }
            }
        }
        if candidates.len() > 1 {
            let names: Vec<&str> =
                candidates.iter().map(|one| self.family(one.family).name.text.as_str()).collect();
            analysis.fail(3, "K6", format!("the range holds rows of {}", names.join(" and ")));
        }
        let Some(one) = candidates.into_iter().next() else {
            // An empty range is the plainest of causes.
            trouble.sort_by_key(|(_, lint, _)| !matches!(*lint, "K3" | "A2"));
            let relation = &self.model.relation(source.relation).name.text;
            match trouble.into_iter().next() {
                Some((obligation, lint, why)) => analysis.fail(obligation, lint, why),
                None if elsewhere => {
                    analysis.fail(4, "K3", "no row of this family has such a key");
                }
                None => analysis.fail(
                    4,
                    "A4",
                    format!("no row of {} stems from {relation}", table.name.text),
                ),
            }
            return None;
        };
        self.predicates(source, &one, tail, analysis);
        self.exactly_once(&one, source, analysis);
        Some(one)
    }

    /// Proves that the range fixes exactly what the pattern asks.
    fn predicates(&self, source: &Source, one: &Part1, tail: &Tail<'_>, analysis: &mut Analysis) {
        let (model, relation) = (self.model, source.relation);
        let family = self.family(one.family);
        let Some(wanted) = comparisons(model, relation, &source.predicates) else {
            analysis.fail(2, "A6", "no range of keys means contains, ends, matches or near");
            return;
        };
        let when = comparisons(model, relation, &family.when).unwrap_or_default();
        let mut facts = one.met.clone();
        facts.extend(when.iter().cloned());
        facts.extend(self.always_present(family));
        facts.extend(told_together(model, relation, &facts));
        facts.extend(one.met.iter().filter_map(|met| self.whole_beginning(met)));
        for met in &one.met {
            // `each x in xs` over a list input is `in`; over all buckets it is nothing.
            if self.is_each(met) {
                match &self.step.each {
                    Some(EachOf::Param(index)) => {
                        let fact =
                            Met { row: met.row.clone(), op: CondOp::In, plan: Term::Param(*index) };
                        if !wanted.contains(&fact) {
                            analysis.fail(
                                4,
                                "A4",
                                "the plan goes through a list that is not asked for",
                            );
                        }
                        facts.push(fact);
                    }
                    Some(EachOf::Numbers(low, high)) => {
                        self.all_buckets(met, *low, *high, one, analysis)
                    }
                    None => {}
                }
            }
        }
        if self.step.each.is_some() && !one.met.iter().any(|met| self.is_each(met)) {
            analysis.fail(3, "P4", "every range of the loop is the same");
        }
        self.met(one, (relation, tail), &wanted, &facts, analysis);
        for met in &one.met {
            if !self.is_each(met)
                && !implied(model, relation, met, &wanted)
                && !self.begun(met, &wanted)
            {
                let name = super::order::term_text(model, relation, &met.row);
                let why =
                    format!("the range fixes {name}, which the pattern does not: rows are missed");
                analysis.fail(4, "A4", why);
            }
        }
        let mut told = wanted.clone();
        told.extend(told_together(model, relation, &wanted));
        for condition in &when {
            if !implied(model, relation, condition, &told) {
                let why = format!("{} holds only some of the rows", family.name.text);
                analysis.fail(4, "A4", why);
            }
        }
        self.present(family, &told, analysis);
        analysis.note(2, format!("one interval of {}", self.table().name.text));
        analysis.note(3, format!("what the range fixes is what {} asks", self.read.name.text));
    }

    /// Proves that what holds of the range's rows, and what the plan filters, is what is asked for.
    fn met(
        &self,
        one: &Part1,
        (relation, tail): (usize, &Tail<'_>),
        wanted: &[Met],
        facts: &[Met],
        analysis: &mut Analysis,
    ) {
        for want in wanted {
            let name = || super::order::term_text(self.model, relation, &want.row);
            let filtered = self.filtered(want, relation, tail);
            let told = implied(self.model, relation, want, facts);
            match (told, filtered && self.shows(one, want)) {
                // What all rows of a sparse family have need not be in them.
                (true, false) if filtered => {
                    let why = format!("rows do not show {}, by which some are dropped", name());
                    analysis.fail(4, "A4", why);
                }
                (true, _) => {}
                (false, true) => {
                    let why = format!("rows are read and dropped where {} does not fit", name());
                    analysis.fail(6, "F1", why);
                }
                (false, false) => {
                    let why = format!(
                        "the range does not say what {} must be, so it holds other rows",
                        name()
                    );
                    analysis.fail(3, "A3", why);
                }
            }
        }
    }

    /// Returns the meaning of first characters that equal an input of just that length: the
    /// beginning of the value.
    fn whole_beginning(&self, met: &Met) -> Option<Met> {
        let (Term::Call(Function::First, row), Term::Param(index)) = (&met.row, &met.plan) else {
            return None;
        };
        let [value, Term::Const(Value::Int(count))] = row.as_slice() else { return None };
        let Type::Text(domain) = &self.read.params.get(*index)?.ty else { return None };
        let count = u64::try_from(*count).ok()?;
        (met.op == CondOp::Eq && domain.min == count && domain.max == Some(count)).then(|| Met {
            row: value.clone(),
            op: CondOp::Begins,
            plan: met.plan.clone(),
        })
    }

    /// Returns true if the beginning of the value, by an input that is long enough, decides a first
    /// part.
    fn begun(&self, met: &Met, wanted: &[Met]) -> bool {
        if self.whole_beginning(met).is_some_and(|begins| wanted.contains(&begins)) {
            return true;
        }
        let (Term::Call(Function::First, row), Term::Call(Function::First, plan)) =
            (&met.row, &met.plan)
        else {
            return false;
        };
        let ([value, Term::Const(Value::Int(count))], [Term::Param(index), same]) =
            (row.as_slice(), plan.as_slice())
        else {
            return false;
        };
        let least = match self.read.params.get(*index).map(|param| &param.ty) {
            Some(Type::Text(domain)) => domain.min,
            _ => 0,
        };
        let asked = Met { row: value.clone(), op: CondOp::Begins, plan: Term::Param(*index) };
        met.op == CondOp::Eq
            && *same == Term::Const(Value::Int(*count))
            && u64::try_from(*count).is_ok_and(|count| count <= least)
            && wanted.contains(&asked)
    }

    /// Returns conditions for optional attributes that every row of the family has, because they
    /// are in its key.
    fn always_present(&self, family: &Family) -> Vec<Met> {
        all_key_paths(self.model, family)
            .into_iter()
            .filter(|path| is_optional(self.model, family.source, path))
            .map(|path| Met {
                row: Term::Column(path),
                op: CondOp::Present,
                plan: Term::Const(Value::Null),
            })
            .collect()
    }

    /// Proves that no wanted row is missing because an attribute of its key is absent.
    fn present(&self, family: &Family, wanted: &[Met], analysis: &mut Analysis) {
        for path in all_key_paths(self.model, family) {
            if is_optional(self.model, family.source, &path)
                && !self.heads_are_there(family.source, &path, wanted)
            {
                let name = self.model.path_text(family.source, &path);
                analysis.fail(
                    4,
                    "A4",
                    format!("rows without {name} are not in {}", family.name.text),
                );
            }
        }
    }

    /// Returns true if the conditions imply that every optional step of a path is present.
    fn heads_are_there(&self, relation: usize, path: &[usize], wanted: &[Met]) -> bool {
        let there = |head: &[usize]| {
            wanted.iter().any(|met| {
                met.op != CondOp::Absent
                    && matches!(&met.row, Term::Column(found) if found.starts_with(head))
            })
        };
        (1..=path.len()).filter_map(|length| path.get(..length)).all(|head| {
            let owner = self.model.path_owner(relation, head);
            let last = head.last().and_then(|last| self.model.relation(owner).columns.get(*last));
            last.is_none_or(|column| !column.optional) || there(head)
        })
    }

    pub(super) fn is_each(&self, met: &Met) -> bool {
        met.plan == Term::Each && met.op == CondOp::Eq && self.step.each.is_some()
    }

    fn all_buckets(&self, met: &Met, low: i64, high: i64, one: &Part1, analysis: &mut Analysis) {
        let family = self.family(one.family);
        let whole = family.key.iter().flat_map(|column| &column.parts).any(|part| match part {
            Part::Hole { term, ty: Type::Int(Some(range)), .. } => {
                canonical_term(self.model, family.source, term) == met.row && *range == (low, high)
            }
            _ => false,
        });
        if !whole {
            let why = "the plan does not go through exactly the values that the part can have";
            analysis.fail(4, "A4", why);
        }
    }

    fn filtered(&self, want: &Met, relation: usize, tail: &Tail<'_>) -> bool {
        tail.filters.iter().any(|filter| {
            let same_path = match &want.row {
                Term::Column(path) => self.model.path_text(relation, path) == filter.name,
                _ => false,
            };
            same_path && filter.comparisons().contains(&(want.op, want.plan.clone()))
        })
    }

    fn shows(&self, one: &Part1, want: &Met) -> bool {
        let shown = available(self.model, self.family(one.family));
        matches!(&want.row, Term::Column(path) if shown.contains(path))
    }

    /// Proves O4: one row for each tuple, and none of others.
    fn exactly_once(&self, one: &Part1, source: &Source, analysis: &mut Analysis) {
        let Some(clash) = clash(self.model, self.schema, one.family) else {
            if self.read.distinct && !self.tells_apart(one, source) {
                analysis.fail(4, "U1", "several rows show the same answer, which is wanted once");
                return;
            }
            let name = &self.family(one.family).name.text;
            analysis.note(
                4,
                format!("the key of {name} determines its source and meets no other row's"),
            );
            return;
        };
        if self.read.distinct
            && matches!(clash, Clash::Collapse(_))
            && self.has_all_entries(one)
            && self.tells_apart(one, source)
        {
            analysis.note(4, "rows that collapse show the same answer, which is wanted once");
            return;
        }
        let lint = if matches!(clash, Clash::Unwritable(_)) { "K9" } else { "U1" };
        analysis.fail(4, lint, clash.text());
    }

    /// Returns true if rows that collapse leave an entry for each key of their index: a row of its
    /// table has one entry, so all that the entry's key holds must be in the row's.
    fn has_all_entries(&self, one: &Part1) -> bool {
        let family = self.family(one.family);
        let base = family.base.and_then(|base| self.schema.families.get(base));
        base.is_none_or(|base| {
            let mut held = all_key_paths(self.model, family);
            held.extend(asked_by_index(self.model, self.schema, family));
            held.is_subset(&key_paths(self.model, base))
        })
    }

    /// Returns true if rows of the range that show the same answer are the same row, and every
    /// shown attribute is in the key.
    fn tells_apart(&self, one: &Part1, source: &Source) -> bool {
        let family = self.family(one.family);
        let relation = source.relation;
        let outputs: BTreeSet<ColumnPath> = source
            .outputs
            .iter()
            .flatten()
            .map(|path| canonical(self.model, relation, path))
            .collect();
        let fixed: BTreeSet<ColumnPath> = fixed_in_all(&one.met);
        // Where what is shown tells the tuple, no two rows show the same. (What is absent in several
        // tells none of them.)
        let there = outputs.iter().filter(|path| !is_optional(self.model, relation, path));
        let told: BTreeSet<ColumnPath> = there.chain(&fixed).cloned().collect();
        if clash(self.model, self.schema, one.family).is_none()
            && determines_tuple(self.model, relation, &told)
        {
            return true;
        }
        let keys = key_paths(self.model, family);
        // A computed part tells rows apart as a plain one does, unless the range fixes it.
        let mut holes = family.key.iter().flat_map(|column| &column.parts).filter_map(|part| {
            let Part::Hole { term, .. } = part else { return None };
            Some(canonical_term(self.model, relation, term))
        });
        let told = |term: &Term| {
            let mut all = true;
            term.columns(&mut |path| all &= outputs.contains(path) || fixed.contains(path));
            let met = |met: &Met| met.op == CondOp::Eq && met.row == *term && !self.is_each(met);
            all || one.met.iter().any(met)
        };
        outputs.iter().all(|path| keys.contains(path)) && holes.all(|term| told(&term))
    }

    /// Proves O3: no row of another type lies in the range.
    pub(super) fn foreign(&self, expected: &[FamilyId], tail: &Tail<'_>, analysis: &mut Analysis) {
        let table = self.table();
        let filters = &tail.filters;
        let by_type = filters.iter().any(|filter| self.read.is_row_type(self.model, &filter.name));
        let (mut dropped, mut there) = (Vec::new(), Vec::new());
        for (id, family) in self.schema.like(self.step.table, known_beginnings(self.step)) {
            if expected.contains(&id) || !may_touch(self.step, table, family) {
                continue;
            }
            // A source whose own family was not found failed already.
            let is_source = self.read.sources.iter().any(|source| source.relation == family.source);
            if is_source && expected.is_empty() {
                continue;
            }
            let found = if by_type && !is_source { &mut dropped } else { &mut there };
            found.push(family.name.text.as_str());
        }
        if !dropped.is_empty() {
            let why = format!("{} and are dropped after they were read", lie_there(&dropped));
            analysis.fail(6, "F1", why);
        }
        if !there.is_empty() {
            analysis.fail(3, "K6", lie_there(&there));
        }
    }
}

/// Names the row types that lie in a range too: of many, the first few.
fn lie_there(names: &[&str]) -> String {
    let (named, more) = names.split_at(names.len().min(NAMES_MAX));
    let more = match more.len() {
        0 => String::new(),
        count => format!(" and of {count} more row types"),
    };
    format!("rows of {}{more} lie in the range too", named.join(", "))
}
