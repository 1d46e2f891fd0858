//! Proves limits of single row types within one range: of one row each, and then the first of one type.
//!
//! A range has one limit, which counts all of its rows. It is the limit of a row type where the number of
//! rows before those of this type is known: rows of other types that are one each, and are there wherever
//! a row of this type is, because it refers to them.
//!
//! What it is not: row types that are read by requests of their own are `beside`'s.
//!
//! Invariant: says yes only when for every state the range ends behind the last row that is asked for.

use super::analysis::Analysis;
use super::canon::{canonical, comparisons};
use super::paths::fixed_paths;
use super::read::{Context, Part1};
use crate::closure::determines_tuple;
use shelfmark_design_language::model::pattern::Source;
use shelfmark_design_language::model::{ColumnPath, Model, OrderKey, Read, Term, Value};
use shelfmark_design_language::syntax::tree::CondOp;

/// Returns the limit of one range with all rows that a read asks for: its own, or that of the last row
/// type with a row of each other one.
#[must_use]
pub fn of_range(read: &Read) -> Option<Term> {
    if read.limit.is_some() || !read.has_own_limits() {
        return read.limit.clone();
    }
    let last = read.sources.get(last_kind(read)?)?;
    let Some(Term::Const(Value::Int(own))) = &last.limit else { return None };
    let others = i64::try_from(read.sources.len()).ok()?.checked_sub(1)?;
    Some(Term::Const(Value::Int(own.checked_add(others)?)))
}

/// Returns the row type whose rows come last, if rows are ordered by their type.
fn last_kind(read: &Read) -> Option<usize> {
    match read.order.first()? {
        (OrderKey::Kind, false) => read.sources.len().checked_sub(1),
        (OrderKey::Kind, true) => Some(0),
        (OrderKey::Columns(_), _) => None,
    }
}

impl Context<'_> {
    /// Proves O4 and O6 where row types have limits of their own.
    pub(super) fn own_limited(&self, found: &[(&Source, Part1)], analysis: &mut Analysis) {
        let pushed = self.step.limit.as_ref();
        let mut limited = (0..found.len()).filter(|at| self.ends_early(found, *at));
        let Some(at) = limited.next() else {
            match pushed {
                Some(_) => analysis.fail(4, "A4", "the plan stops early, the pattern does not"),
                None => analysis.note(6, "every row of the range is returned"),
            }
            return;
        };
        let name = |at: usize| match found.get(at) {
            Some((source, _)) => self.model.relation(source.relation).name.text.as_str(),
            None => "",
        };
        if limited.next().is_some() || last_kind(self.read) != Some(at) || self.step.each.is_some()
        {
            let why = format!(
                "a range has one limit, which counts all its rows: ask for those of {} by a request \
                 of their own",
                name(at)
            );
            analysis.fail(4, "A4", why);
            return;
        }
        let others: Vec<usize> = (0..found.len()).filter(|other| *other != at).collect();
        if let Some(open) = others.iter().find(|other| !self.one_row(found, **other)) {
            let (open, own) = (name(*open), name(at));
            let why = format!("how many rows of {open} lie before those of {own} is not known");
            analysis.fail(4, "A4", why);
            return;
        }
        if let Some(absent) = others.iter().find(|other| !self.is_there(found, (at, **other))) {
            let (absent, own) = (name(*absent), name(at));
            let why = format!("where there is no {absent}, the range has one {own} more");
            analysis.fail(4, "A4", why);
            return;
        }
        match pushed {
            Some(limit) if of_range(self.read).as_ref() == Some(limit) => {
                let others: Vec<&str> = others.iter().map(|other| name(*other)).collect();
                let (others, own) = (others.join(", "), name(at));
                analysis.note(6, format!("the limit is the range's own: {others}, then {own}"));
            }
            Some(_) => {
                let others = others.len();
                let why = format!(
                    "the plan's limit is not that of {} and {others} more rows before them",
                    name(at)
                );
                analysis.fail(4, "A4", why);
            }
            None => {
                let why = format!("the plan reads on behind the limit of {}", name(at));
                analysis.fail(4, "A4", why);
            }
        }
    }

    /// Returns true if a row type may have more rows in the range than its limit lets through.
    fn ends_early(&self, found: &[(&Source, Part1)], at: usize) -> bool {
        let limit = found.get(at).and_then(|(source, _)| source.limit.as_ref());
        // A constant is at least 1, an input may be less.
        limit.is_some_and(|limit| !(matches!(limit, Term::Const(_)) && self.one_row(found, at)))
    }

    /// Returns true if a row type has at most one row in the range.
    pub(super) fn one_row(&self, found: &[(&Source, Part1)], at: usize) -> bool {
        self.step.each.is_none()
            && found.get(at).is_some_and(|(source, one)| {
                determines_tuple(self.model, source.relation, &fixed_paths(&one.met))
            })
    }

    /// Returns true if a row of one type tells that the row of another one is there.
    fn is_there(&self, found: &[(&Source, Part1)], (own, other): (usize, usize)) -> bool {
        let source = |at: usize| found.get(at).map(|(source, _)| *source);
        let (Some(own), Some(other)) = (source(own), source(other)) else { return false };
        refers(self.model, own, other)
    }
}

/// Returns true if every tuple that one row type asks for refers to the one that another asks for.
fn refers(model: &Model, own: &Source, other: &Source) -> bool {
    let [key] = model.relation(other.relation).key() else { return false };
    let Some(asked) = comparisons(model, other.relation, &other.predicates) else { return false };
    let [only] = asked.as_slice() else { return false };
    if only.op != CondOp::Eq || only.row != Term::Column(vec![*key]) {
        return false;
    }
    let equal = own.predicates.iter().filter(|one| one.op == CondOp::Eq);
    equal.filter(|one| one.values.first() == Some(&only.plan)).any(|one| {
        let path: ColumnPath = canonical(model, own.relation, &one.path);
        let [at] = path.as_slice() else { return false };
        let column = model.relation(own.relation).columns.get(*at);
        column.and_then(|column| column.refers) == Some(other.relation)
    })
}
