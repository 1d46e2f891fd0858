//! Computes the columns of index keys that are put together, and what must hold for an item to have
//! them.
//!
//! An index with conditions of its own holds an item that has the index's mark: its first column, or, of
//! a local index, its last. The mark is a column beside the attributes, written where the conditions
//! hold and removed where they no longer do. Where only an input or a row that was read tells whether,
//! there are two requests, of which guards let one through.
//!
//! What it is not: nothing here looks for what the conditions are on; a plan that does not know it is
//! refused.
//!
//! Invariant: of the changes that one is split into exactly one is sent.

use super::expr::Expr;
use super::request::{Change, ChangeKind, Guard, Refusal};
use super::rows::LACKING_MAX;
use super::write::{Known, Writer, opposite};
use crate::paths::is_optional;
use shelfmark_design_language::model::pattern::Predicate;
use shelfmark_design_language::model::schema::{Column, Family, FamilyId, Part};
use shelfmark_design_language::model::{Term, Type, Value, canonical};
use shelfmark_design_language::syntax::tree::CondOp;

/// A composed column of an index's key.
pub(super) struct IndexKey {
    name: String,
    value: Expr,
    /// Holds what must be true for it to be there.
    asked: Vec<Asked>,
}

/// A guard, with the comparison that holds exactly where its own does not.
pub(super) type Asked = (Guard, CondOp);

/// Adds columns of index keys to what is put or set, and returns those that are there under conditions.
pub(super) fn add_marks(
    values: &mut Vec<(String, Expr)>,
    keys: Vec<IndexKey>,
) -> Vec<(String, Vec<Asked>)> {
    let mut marks = Vec::new();
    for key in keys {
        if !key.asked.is_empty() {
            marks.push((key.name.clone(), key.asked));
        }
        values.push((key.name, key.value));
    }
    marks
}

impl Writer<'_> {
    /// Returns the composed columns of index keys; only those that `changed` concerns.
    pub(super) fn index_keys(
        &self,
        id: FamilyId,
        known: &Known,
        changed: Option<&Known>,
    ) -> Result<Vec<IndexKey>, Refusal> {
        let mut found = Vec::new();
        for (_, entry) in self.calls.schema.entries(id) {
            for (at, name, column) in self.put_together(entry) {
                let own = self.conditions_of(entry, at);
                if changed.is_some_and(|changed| !self.concerns(entry, column, own, changed)) {
                    continue;
                }
                let none = || Expr::Const(Value::Null, super::expr::plain_text());
                let (value, asked) = match self.holds(entry, own, known)? {
                    None => (none(), Vec::new()),
                    Some(asked) => {
                        let value = self.column(entry.source, known, &column.parts);
                        let unknown = || self.unknown(&format!("the key of {}", entry.name.text));
                        (value.ok_or_else(unknown)?, asked)
                    }
                };
                if changed.is_some() || !value.is_null() {
                    let asked = if value.is_null() { Vec::new() } else { asked };
                    found.push(IndexKey { name, value, asked });
                }
            }
        }
        Ok(found)
    }

    /// Returns the columns of an index's key that are none of its table's: their places, names and
    /// parts.
    fn put_together<'f>(
        &self,
        entry: &'f Family,
    ) -> impl Iterator<Item = (usize, String, &'f Column)> {
        let calls = self.calls;
        let below = calls.columns.key(calls.base_of(entry.table));
        let own = calls.columns.key(entry.table).iter().zip(&entry.key).enumerate();
        let own = own.filter(|(_, (column, _))| {
            !column.direct && !below.iter().any(|other| other.name == column.name)
        });
        own.map(|(at, (column, parts))| (at, column.name.clone(), parts))
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// Returns the conditions under which an item has a column of an index's key.
    fn conditions_of<'f>(&self, entry: &'f Family, at: usize) -> &'f [Predicate]
    where
        Self: 'f,
    {
        if self.calls.schema.mark_of(entry) == Some(at) {
            self.calls.schema.own_conditions(entry)
        } else {
            &[]
        }
    }

    /// Returns what else must hold for conditions of an index to hold; `None` where what is known never
    /// satisfies them.
    fn holds(
        &self,
        entry: &Family,
        conditions: &[Predicate],
        known: &Known,
    ) -> Result<Option<Vec<Asked>>, Refusal> {
        let mut guards = Vec::new();
        let mut open = false;
        for one in conditions {
            let ty = self.calls.model.path_type(entry.source, &one.path);
            let values: Vec<Value> = one.values.iter().filter_map(constant).collect();
            match self.find(entry.source, known, &one.path) {
                None => open = true,
                Some(Expr::Const(value, _)) => {
                    if !crate::eval::state::compare(one.op, &value, &values) {
                        return Ok(None);
                    }
                }
                // An input is something, whatever it is.
                Some(Expr::Input(..)) if one.op == CondOp::Present => {}
                Some(Expr::Input(..)) if one.op == CondOp::Absent => return Ok(None),
                Some(left) => {
                    let there = !is_optional(self.calls.model, entry.source, &one.path);
                    let Some(op) = otherwise(one.op, &ty, there) else {
                        open = true;
                        continue;
                    };
                    let right = values.into_iter().map(|value| Expr::Const(value, ty.clone()));
                    guards.push((Guard { left, op: one.op, right: right.collect() }, op));
                }
            }
        }
        match open {
            true => Err(self.unknown(&format!("whether {} has the row", entry.name.text))),
            false => Ok(Some(guards)),
        }
    }

    /// Returns an index with a composed column that changes with these attributes.
    pub(super) fn composed(&self, id: FamilyId, changed: &Known) -> Option<&str> {
        let mut entries = self.calls.schema.entries(id).map(|(_, entry)| entry);
        let found = entries.find(|entry| {
            let mut columns = self.put_together(entry);
            columns.any(|(at, _, column)| {
                self.concerns(entry, column, self.conditions_of(entry, at), changed)
            })
        });
        found.map(|entry| entry.name.text.as_str())
    }

    /// Returns true if a column of an index, or whether an item has it, changes with these attributes.
    fn concerns(
        &self,
        entry: &Family,
        column: &Column,
        conditions: &[Predicate],
        changed: &Known,
    ) -> bool {
        let hit =
            |path: &[usize]| changed.contains_key(&canonical(self.calls.model, entry.source, path));
        let in_key = column.parts.iter().any(|part| {
            let mut found = false;
            if let Part::Hole { term, .. } = part {
                term.columns(&mut |path| found |= hit(path));
            }
            found
        });
        in_key || conditions.iter().any(|one| hit(&one.path))
    }

    /// Splits changes by what must hold for their items to have the marks of sparse indexes.
    pub(super) fn each_marked(
        &self,
        changes: Vec<(FamilyId, Change)>,
    ) -> Result<Vec<Change>, Refusal> {
        let mut found = Vec::new();
        for (_, change) in changes {
            found.extend(self.marked(change)?);
        }
        Ok(found)
    }

    fn marked(&self, mut change: Change) -> Result<Vec<Change>, Refusal> {
        let mut asked: Vec<(Vec<Asked>, Vec<String>)> = Vec::new();
        for (name, guards) in std::mem::take(&mut change.marks) {
            // What is taken away anyway is there under no condition.
            if is_taken(&change.kind, &name) {
                continue;
            }
            match asked.iter_mut().find(|(other, _)| *other == guards) {
                Some((_, names)) => names.push(name),
                None => asked.push((guards, vec![name])),
            }
        }
        if asked.len() > LACKING_MAX {
            return Err(self.unknown("which of several indexes have the row"));
        }
        let mut split = vec![change];
        for (guards, names) in asked {
            split = split.into_iter().flat_map(|one| by_guards(one, &guards, &names)).collect();
        }
        Ok(split)
    }
}

/// Returns a change that has these columns where all guards hold, and one without them for each guard
/// that does not.
fn by_guards(change: Change, guards: &[Asked], names: &[String]) -> Vec<Change> {
    let mut found = Vec::new();
    let mut with = change;
    for (guard, otherwise) in guards {
        if with.guards.contains(guard) {
            continue;
        }
        let mut without = with.clone();
        without.guards.push(Guard { op: *otherwise, ..guard.clone() });
        unmark(&mut without.kind, names);
        found.push(without);
        with.guards.push(guard.clone());
    }
    found.insert(0, with);
    found
}

fn is_taken(kind: &ChangeKind, name: &str) -> bool {
    match kind {
        ChangeKind::Update { set, .. } => {
            set.iter().any(|(other, value)| other == name && value.is_null())
        }
        _ => false,
    }
}

/// Returns the comparison that holds exactly where another does not, of numbers that are there also for
/// the ends of ranges.
fn otherwise(op: CondOp, ty: &Type, there: bool) -> Option<CondOp> {
    let ordered = there && matches!(ty, Type::Int(_) | Type::Timestamp);
    match op {
        CondOp::Lt if ordered => Some(CondOp::Ge),
        CondOp::Le if ordered => Some(CondOp::Gt),
        CondOp::Gt if ordered => Some(CondOp::Le),
        CondOp::Ge if ordered => Some(CondOp::Lt),
        other => opposite(other),
    }
}

/// Takes columns out of what is put, or sets them to nothing.
fn unmark(kind: &mut ChangeKind, names: &[String]) {
    match kind {
        ChangeKind::Put { values, .. } => values.retain(|(name, _)| !names.contains(name)),
        ChangeKind::Update { set, .. } => {
            for (_, value) in set.iter_mut().filter(|(name, _)| names.contains(name)) {
                *value = Expr::Const(Value::Null, value.ty());
            }
        }
        ChangeKind::Extend { .. } | ChangeKind::Delete { .. } => {}
    }
}

fn constant(term: &Term) -> Option<Value> {
    match term {
        Term::Const(value) => Some(value.clone()),
        _ => None,
    }
}
