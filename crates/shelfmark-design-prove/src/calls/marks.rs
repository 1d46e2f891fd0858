//! Computes the columns of index keys that are put together, and what must hold for an item to have
//! them.
//!
//! An index with conditions of its own holds an item that has the index's mark: its first column, or, of
//! a local index, its last. The mark is a column beside the attributes, written where the conditions
//! hold and removed where they no longer do. Where only an input or a row that was read tells whether,
//! there are several requests, of which guards let one through.
//!
//! What it is not: nothing here looks for what the conditions are on; a plan that does not know it is
//! refused.
//!
//! Invariant: of the changes that one is split into exactly one is sent.

use super::expr::Expr;
use super::request::{Change, ChangeKind, Guard, Refusal};
use super::write::{Known, Writer};
use crate::needs::stays;
use crate::paths::is_optional;
use shelfmark_design_language::model::pattern::{Effect, Predicate};
use shelfmark_design_language::model::schema::{Column, Family, FamilyId, Part};
use shelfmark_design_language::model::{Term, Value, canonical};
use shelfmark_design_language::syntax::tree::CondOp;

/// A composed column of an index's key.
pub(super) struct IndexKey {
    name: String,
    value: Expr,
    /// Holds what must be true for it to be there.
    asked: Vec<Asked>,
}

/// Most requests of which one is sent for one change of an item.
///
/// Ours: three indexes, of each of which an input tells whether it has the item, make eight.
const SPLIT_MAX: usize = 12;

/// A guard, with the comparisons of which one holds exactly where its own does not.
pub(super) type Asked = (Guard, &'static [CondOp]);

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
                    // Only a row that was read may lack it.
                    let mut of_row = false;
                    left.rows(&mut |_, _| of_row = true);
                    let there = !of_row || !is_optional(self.calls.model, entry.source, &one.path);
                    let right = values.into_iter().map(|value| Expr::Const(value, ty.clone()));
                    let guard = Guard { left, op: one.op, right: right.collect() };
                    guards.push((guard, otherwise(one.op, there)));
                }
            }
        }
        match open {
            true => Err(self.unknown(&format!("whether {} has the row", entry.name.text))),
            false => Ok(Some(guards)),
        }
    }

    /// Refuses a sum that a composed column of an index is made of, or whether it is there.
    pub(super) fn never_summed(
        &self,
        id: FamilyId,
        effect: &Effect,
        changed: &Known,
    ) -> Result<(), Refusal> {
        let model = self.calls.model;
        for (_, entry) in self.calls.schema.entries(id) {
            let name = &entry.name.text;
            for (at, _, column) in self.put_together(entry) {
                if self.concerns(entry, column, &[], changed) {
                    let why = format!("the key of {name} is put together from a sum");
                    return Err(self.calls.refuse("sum", why));
                }
                let hit = |one: &&Predicate| {
                    let path = canonical(model, entry.source, &one.path);
                    !stays(model, effect, one) && changed.contains_key(&path)
                };
                if let Some(one) = self.conditions_of(entry, at).iter().find(hit) {
                    let path = model.path_text(entry.source, &one.path);
                    let why = format!("whether {name} has the row depends on a sum, {path}");
                    return Err(self.calls.refuse("sum", why));
                }
            }
        }
        Ok(())
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
        let marks = std::mem::take(&mut change.marks);
        for (name, guards) in marks {
            // What is taken away anyway is there under no condition.
            if is_taken(&change.kind, &name) {
                continue;
            }
            match asked.iter_mut().find(|(other, _)| *other == guards) {
                Some((_, names)) => names.push(name),
                None => asked.push((guards, vec![name])),
            }
        }
        let columns: Vec<&str> =
            asked.iter().flat_map(|(_, names)| names).map(String::as_str).collect();
        let too_many = format!(
            "which of {} an item has is told by inputs or rows, and takes more than {SPLIT_MAX} \
             requests of which one is sent",
            columns.join(", ")
        );
        let mut split = vec![change];
        for (guards, names) in &asked {
            split = split.into_iter().flat_map(|one| by_guards(one, guards, names)).collect();
            if split.len() > SPLIT_MAX {
                return Err(self.unknown(&too_many));
            }
        }
        Ok(split)
    }
}

/// Returns a change that has these columns where all guards hold, and one without them for each guard
/// that does not; those that are never sent are left out.
fn by_guards(change: Change, guards: &[Asked], names: &[String]) -> Vec<Change> {
    let mut found = Vec::new();
    let mut with = change;
    for (guard, otherwise) in guards {
        if with.guards.contains(guard) {
            continue;
        }
        for op in *otherwise {
            let mut without = with.clone();
            let alone = matches!(op, CondOp::Absent | CondOp::Present);
            let right = if alone { Vec::new() } else { guard.right.clone() };
            without.guards.push(Guard { left: guard.left.clone(), op: *op, right });
            unmark(&mut without.kind, names);
            found.push(without);
        }
        with.guards.push(guard.clone());
    }
    found.insert(0, with);
    found.retain(|one| !never_sent(&one.guards));
    found
}

/// Returns true if two of these guards surely do not hold together.
fn never_sent(guards: &[Guard]) -> bool {
    let against = |one: &Guard, other: &Guard| match (one.op, other.op) {
        (CondOp::Absent, CondOp::Absent | CondOp::Near) => false,
        (CondOp::Absent, _) => true,
        (CondOp::Eq, CondOp::Eq) => match (one.right.as_slice(), other.right.as_slice()) {
            ([Expr::Const(one, _)], [Expr::Const(other, _)]) => one != other,
            _ => false,
        },
        (op, other_op) => one.right == other.right && otherwise(op, true) == [other_op],
    };
    guards.iter().enumerate().any(|(at, one)| {
        let mut others = guards.iter().enumerate();
        others.any(|(place, other)| place != at && one.left == other.left && against(one, other))
    })
}

fn is_taken(kind: &ChangeKind, name: &str) -> bool {
    match kind {
        ChangeKind::Update { set, .. } => {
            set.iter().any(|(other, value)| other == name && value.is_null())
        }
        _ => false,
    }
}

/// Returns the comparisons of which exactly one holds where another does not; what is not surely there
/// satisfies none but that it is absent, or is another value.
fn otherwise(op: CondOp, there: bool) -> &'static [CondOp] {
    use CondOp::{Absent, Eq, Ge, Gt, Le, Lt, Near, Present};
    match (op, there) {
        (Lt, true) => &[Ge],
        (Le, true) => &[Gt],
        (Gt, true) => &[Le],
        (Ge, true) => &[Lt],
        (Lt, false) => &[Ge, Absent],
        (Le, false) => &[Gt, Absent],
        (Gt, false) => &[Le, Absent],
        (Ge, false) => &[Lt, Absent],
        (Eq, _) => &[Near],
        (Near, _) => &[Eq],
        (Present, _) => &[Absent],
        (Absent, _) => &[Present],
        // No index has such a condition.
        _ => &[],
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
