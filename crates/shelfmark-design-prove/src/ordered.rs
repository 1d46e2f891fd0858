//! Proves O5 of a whole plan: the order of its ranges, of row types and of what is sorted outside
//! the store.
//!
//! What it is not: the order within one range is `order`'s.
//!
//! Invariant: says yes only when rows come as asked for every state, ties aside.

use std::cmp::Ordering;

use super::align::common_prefix;
use super::analysis::Analysis;
use super::canon::{canonical, canonical_term};
use super::order::{Line, Misorder, check as check_order};
use super::paths::{fixed_in_all, fixed_paths};
use super::range::{Met, cut};
use super::read::{Context, Part1, Tail};
use super::unique::available;
use crate::closure::determines_path;
use crate::key::facts::{first_of, same_form};
use shelfmark_design_language::model::pattern::{Source, sorted_by};
use shelfmark_design_language::model::schema::{EachOf, Part};
use shelfmark_design_language::model::{ColumnPath, Model, OrderKey, Read, RelationId, Term};
use shelfmark_design_language::syntax::tree::CondOp;

impl Context<'_> {
    /// Proves O5.
    pub(super) fn ordered(
        &self,
        found: &[(&Source, Part1)],
        tail: &Tail<'_>,
        analysis: &mut Analysis,
    ) {
        if self.read.order.is_empty() {
            analysis.note(5, "no order is asked for");
            return;
        }
        if tail.sort.is_none() && self.all_alike(found) {
            analysis.note(5, "every item of the answer is the same, in whatever order");
            return;
        }
        if let Some(sort) = &tail.sort {
            self.sorted(found, sort, analysis);
            return;
        }
        if self.step.each.is_some() {
            // Where one range ends and the next begins only what all of them share is in order,
            // and that holds for point reads as for ranges.
            if self.alike_in_all(found) {
                analysis.note(5, "every row of the loop is alike in what is ordered by");
            } else if self.list_in_order(found) {
                analysis.note(5, "the loop goes up its list, each range is in order");
            } else {
                let why = "several ranges follow one another, each in order; sort them";
                analysis.fail(5, "K7", why);
            }
            return;
        }
        if self.step.bound.len() < self.table().partition && !self.target.ordered {
            let why = format!(
                "{} lies by the hash of its partition keys, so a scan of it is in no order",
                self.table().name.text
            );
            analysis.fail(5, "K7", why);
            return;
        }
        match self.order_by_key(found) {
            Ok(evidence) => {
                analysis.leans_on_base_key = self.leans_on_base_key(found);
                analysis.note(5, evidence);
            }
            Err(Misorder { lint, why }) => analysis.fail(5, lint, why),
        }
    }

    /// Proves the order of rows that are sorted outside the store.
    fn sorted(&self, found: &[(&Source, Part1)], sort: &[(String, bool)], analysis: &mut Analysis) {
        let shown = found.iter().all(|(source, one)| {
            let mut shown = available(self.model, self.family(one.family)).clone();
            shown.extend(fixed_in_all(&one.met));
            self.read.order.iter().all(|(key, _)| match key {
                OrderKey::Kind => true,
                OrderKey::Columns(paths) => paths
                    .iter()
                    .flatten()
                    .all(|path| shown.contains(&canonical(self.model, source.relation, path))),
            })
        });
        if !shown {
            analysis.fail(5, "O7", "the rows do not show what they are sorted by");
        } else if sorts_as_wanted(self.model, self.read, sort) {
            analysis.multi = true;
            analysis.note(5, "sorted outside the store");
            // What a range leaves behind its limit no sort brings back.
            if self.step.limit.is_some()
                && let Err(Misorder { why, .. }) = self.order_by_key(found)
            {
                let why = format!("each range is cut before it is sorted, and {why}");
                analysis.fail(5, "K7", why);
            }
            // Of one row nothing is left, and a range that is cut is read no further.
            let whole = self.step.limit.is_none() && !self.at_most_one(found);
            if self.read.limit.is_some() && self.step.each.is_none() && whole {
                analysis.fail(6, "F1", "all rows are read and sorted before the first are taken");
            }
        } else {
            analysis.fail(5, "K7", "the plan sorts otherwise than the pattern asks");
        }
    }

    fn order_by_key(&self, found: &[(&Source, Part1)]) -> Result<String, Misorder> {
        let mut evidence = String::new();
        let mut order = self.read.order.as_slice();
        let mut stripped = 0;
        if found.len() > 1 {
            if let Some(((OrderKey::Kind, desc), others)) = order.split_first() {
                self.kinds_in_order(found, *desc)?;
                order = others;
                stripped = 1;
            } else if !self.one_line(found) {
                let why = "rows of several types are mixed by nothing but their tags";
                return Err(why.to_owned().into());
            }
        }
        for (index, (source, one)) in found.iter().enumerate() {
            let table = self.table();
            let descends = table.desc.iter().skip(one.column).map(|desc| *desc != self.step.desc);
            let wanted = self.wanted(index, source, order);
            let line = Line {
                relation: source.relation,
                rest: &one.rest,
                descends: descends.collect(),
                fixed: fixed_paths(&one.met),
            };
            evidence = check_order(self.model, &line, &wanted)?;
        }
        if stripped == 1 {
            evidence.push_str("; row types follow one another by their tags");
        }
        Ok(evidence)
    }

    /// Returns true if an index's own columns alone would not order the rows so.
    fn leans_on_base_key(&self, found: &[(&Source, Part1)]) -> bool {
        let own = self.schema.columns_asked(self.step.table);
        own < self.table().kinds.len()
            && found.iter().enumerate().any(|(index, (source, one))| {
                let descends = self.table().desc.iter().skip(one.column);
                let line = Line {
                    relation: source.relation,
                    rest: one.rest.get(..own.saturating_sub(one.column)).unwrap_or(&one.rest),
                    descends: descends.map(|desc| *desc != self.step.desc).collect(),
                    fixed: fixed_paths(&one.met),
                };
                check_order(self.model, &line, &self.wanted(index, source, &self.read.order))
                    .is_err()
            })
    }

    /// Returns true if rows of all types are ordered by the same columns, written in the same form,
    /// up to the end of the wanted order.
    fn one_line(&self, found: &[(&Source, Part1)]) -> bool {
        let heads: Option<Vec<(usize, Vec<Part>)>> = found
            .iter()
            .enumerate()
            .map(|(index, (source, one))| Some((one.column, self.head(index, source, one)?)))
            .collect();
        heads.is_some_and(|heads| heads.windows(2).all(|pair| pair.first() == pair.last()))
    }

    /// Returns the beginning of a row's key that orders it, without values of the row itself.
    fn head(&self, index: usize, source: &Source, one: &Part1) -> Option<Vec<Part>> {
        let wanted = self.wanted(index, source, &self.read.order);
        if wanted.len() != self.read.order.len() {
            return None;
        }
        let mut wanted = wanted.iter().peekable();
        let mut head = Vec::new();
        for column in &one.rest {
            for (at, part) in column.iter().enumerate() {
                let Part::Hole { term, ty, codec } = part else {
                    head.push(part.clone());
                    continue;
                };
                let (path, _) = wanted.next()?;
                if canonical_term(self.model, source.relation, term) != Term::Column(path.clone()) {
                    return None;
                }
                head.push(Part::Hole { term: Term::Each, ty: ty.clone(), codec: *codec });
                if wanted.peek().is_none() {
                    // What ends a value decides how it compares; of a text its first byte does.
                    head.extend(column.get(at + 1).map(|next| match next {
                        Part::Literal(text) => Part::Literal(text.chars().take(1).collect()),
                        next => next.clone(),
                    }));
                    return Some(head);
                }
            }
        }
        None
    }

    /// Proves that row types come in the order in which the pattern lists them.
    fn kinds_in_order(&self, found: &[(&Source, Part1)], desc: bool) -> Result<(), String> {
        for pair in found.windows(2) {
            let [first, second] = pair else { continue };
            let (at, a, b) = self
                .told_apart(first, second)
                .ok_or_else(|| "a row type has no tag in its key".to_owned())?;
            let (tag, behind) = tag(&a);
            let (other, after) = self::tag(&b);
            let order = tags_in_order((tag, behind), (other, after));
            let descends = self.table().desc.get(at).is_some_and(|column| *column);
            let backwards = descends != self.step.desc;
            let wanted = if desc == backwards { Ordering::Less } else { Ordering::Greater };
            if order != Some(wanted) {
                let (tag, other) = (shown(tag), shown(other));
                return Err(format!("the tags {tag} and {other} are not in the wanted order"));
            }
        }
        Ok(())
    }

    /// Returns the first column in which rows of two types differ, and its parts there behind the
    /// common beginning: texts, and values that the range fixes to one input.
    fn told_apart(
        &self,
        (source, one): &(&Source, Part1),
        (other_source, other): &(&Source, Part1),
    ) -> Option<(usize, Vec<Part>, Vec<Part>)> {
        let fixed = |relation, met: &[Met], part: &Part| {
            let Part::Hole { term, .. } = part else { return None };
            let term = canonical_term(self.model, relation, term);
            let is = |met: &&Met| {
                met.op == CondOp::Eq && canonical_term(self.model, relation, &met.row) == term
            };
            met.iter().find(is).map(|met| met.plan.clone())
        };
        for (at, (a, b)) in one.rest.iter().zip(&other.rest).enumerate() {
            let (mut a, mut b) = (a.clone(), b.clone());
            while let (Some(left), Some(right)) = (a.first(), b.first()) {
                let same = fixed(source.relation, &one.met, left).is_some_and(|plan| {
                    fixed(other_source.relation, &other.met, right) == Some(plan)
                        && same_form(left, right)
                });
                let common = match (left, right) {
                    (Part::Literal(left), Part::Literal(right)) => common_prefix(left, right),
                    _ => 0,
                };
                if common > 0 {
                    cut(&mut a, common);
                    cut(&mut b, common);
                } else if same || (left, right) == (&Part::End, &Part::End) {
                    a.remove(0);
                    b.remove(0);
                } else {
                    break;
                }
            }
            if !a.is_empty() || !b.is_empty() {
                return Some((one.column + at, a, b));
            }
        }
        None
    }

    /// Returns true if nothing that the caller sees distinguishes two items.
    fn all_alike(&self, found: &[(&Source, Part1)]) -> bool {
        let [(source, one)] = found else { return false };
        let fixed = fixed_in_all(&one.met);
        source.outputs.iter().flatten().all(|path| {
            let path = canonical(self.model, source.relation, path);
            determines_path(self.model, source.relation, &fixed, &path)
        })
    }

    /// Returns true if all ranges of a loop have a single value of every wanted order.
    fn alike_in_all(&self, found: &[(&Source, Part1)]) -> bool {
        found.len() == 1
            && found.iter().all(|(source, one)| {
                let line = Line {
                    relation: source.relation,
                    rest: &[],
                    descends: Vec::new(),
                    fixed: fixed_in_all(&one.met),
                };
                check_order(self.model, &line, &self.wanted(0, source, &self.read.order)).is_ok()
            })
    }

    /// Returns true if the first wanted order, ascending, is the loop's attribute, and the rest is
    /// the order of each range: a loop goes through its list in ascending order.
    fn list_in_order(&self, found: &[(&Source, Part1)]) -> bool {
        let ([(source, one)], Some(EachOf::Param(_))) = (found, &self.step.each) else {
            return false;
        };
        let looped = one.met.iter().find_map(|met| match &met.row {
            Term::Column(path) if self.is_each(met) => Some(path),
            _ => None,
        });
        let wanted = self.wanted(0, source, &self.read.order);
        let fixed = fixed_in_all(&one.met);
        let relation = source.relation;
        let open = wanted
            .iter()
            .position(|(path, _)| !determines_path(self.model, relation, &fixed, path));
        let Some((first, rest)) = open.and_then(|at| wanted.get(at..)?.split_first()) else {
            return false;
        };
        if Some(&first.0) != looped || first.1 {
            return false;
        }
        let descends = self.table().desc.iter().skip(one.column);
        let line = Line {
            relation,
            rest: &one.rest,
            descends: descends.map(|desc| *desc != self.step.desc).collect(),
            fixed: fixed_paths(&one.met),
        };
        check_order(self.model, &line, rest).is_ok()
    }

    /// Returns the wanted order of one source.
    fn wanted(
        &self,
        index: usize,
        source: &Source,
        order: &[(OrderKey, bool)],
    ) -> Vec<(ColumnPath, bool)> {
        order
            .iter()
            .filter_map(|(key, desc)| match key {
                OrderKey::Kind => None,
                OrderKey::Columns(paths) => {
                    let path = paths.get(index)?.as_ref()?;
                    Some((canonical(self.model, source.relation, path), *desc))
                }
            })
            .collect()
    }
}

/// Returns true if rows that are sorted by these names come as a read asks.
pub(super) fn sorts_as_wanted(model: &Model, read: &Read, sort: &[(String, bool)]) -> bool {
    // What is sorted by beyond what is asked decides between ties.
    sort.len() >= read.order.len()
        && sort.iter().zip(&read.order).all(|((name, desc), (key, wanted))| match key {
            OrderKey::Kind => name == "kind" && desc == wanted,
            OrderKey::Columns(paths) => {
                let mut named = read.sources.iter().zip(paths);
                named.all(|(source, path)| {
                    let own = sorted_by(&model.relation(source.relation).name.text, name);
                    match path {
                        Some(path) => model.path_text(source.relation, path) == own,
                        // An attribute of this name would order rows that are not ordered by it.
                        None => !has_attribute(model, source.relation, own),
                    }
                }) && desc == wanted
            }
        })
}

/// Returns true if rows of a relation may show a value under a name.
fn has_attribute(model: &Model, relation: RelationId, name: &str) -> bool {
    let first = name.split('.').next().unwrap_or(name);
    let columns = &model.relation(relation).columns;
    columns.iter().any(|one| one.name == name || one.name == first)
}

/// Returns the text that a column begins with, and the parts behind it.
fn tag(parts: &[Part]) -> (&str, &[Part]) {
    match parts {
        [Part::Literal(text), behind @ ..] => (text, behind),
        parts => ("", parts),
    }
}

fn shown(tag: &str) -> String {
    if tag.is_empty() { "that ends there".to_owned() } else { format!("{tag:?}") }
}

/// Returns the order of all texts that begin with one tag and all that begin with another, where
/// the parts behind the tags decide it.
fn tags_in_order(
    (a, behind_a): (&str, &[Part]),
    (b, behind_b): (&str, &[Part]),
) -> Option<Ordering> {
    if let Some(rest) = b.strip_prefix(a) {
        return before_byte(behind_a, rest.bytes().next()?);
    }
    if let Some(rest) = a.strip_prefix(b) {
        return before_byte(behind_b, rest.bytes().next()?).map(Ordering::reverse);
    }
    Some(a.cmp(b))
}

/// Returns the order of the parts' texts and those that begin with a byte.
fn before_byte(parts: &[Part], byte: u8) -> Option<Ordering> {
    if parts.is_empty() {
        return None;
    }
    let first = first_of(parts);
    let below = first.bytes.max().is_none_or(|most| most < byte);
    let above = !first.end && first.bytes.min().is_some_and(|least| least > byte);
    match (below, above) {
        (true, _) => Some(Ordering::Less),
        (_, true) => Some(Ordering::Greater),
        _ => None,
    }
}
