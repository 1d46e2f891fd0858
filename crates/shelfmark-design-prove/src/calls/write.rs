//! Converts steps of a write to requests, from inputs and from rows read before.
//!
//! This is the evaluator's way of running a plan with expressions in the place of values. A step whose
//! read finds nothing ends the plan; a request whose condition fails changes nothing.
//!
//! Invariant: a change names one item or row, or one for each row of a read.

use std::collections::{BTreeMap, BTreeSet};

use super::Calls;
use super::expr::{Expr, Piece};
use super::request::{Change, ChangeKind, Condition, Guard, Refusal, Request};
use crate::canon::canonical;
use crate::claims::{claims, unique_values};
use crate::closure::determines_tuple;
use crate::paths::is_optional;
use crate::unique::available;
use shelfmark_design_language::model::pattern::Effect;
use shelfmark_design_language::model::schema::{
    Family, FamilyId, WritePlan, WriteStep, WriteStepKind,
};
use shelfmark_design_language::model::{ColumnPath, Write};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};

/// The known expressions of one tuple, by path.
pub(super) type Known = BTreeMap<ColumnPath, Expr>;

/// Converts the steps of a plan to requests.
pub(super) fn requests(
    calls: &Calls<'_>,
    write: &Write,
    plan: &WritePlan,
) -> Result<Vec<Request>, Refusal> {
    let mut writer = Writer::new(calls, write, plan);
    for step in &plan.steps {
        writer.step(step)?;
    }
    writer.close()?;
    if calls.target.name == "cql" {
        writer.uncounted()?;
    }
    let mut found = std::mem::take(&mut writer.found);
    writer.complete(&mut found);
    Ok(found)
}

/// Returns the guards by which no change is sent where inputs are equal that a write says to differ.
pub(super) fn differing(write: &Write) -> Vec<Guard> {
    let input = |at: &usize| write.params.get(*at).map(Expr::input);
    let guard = |pairs: &Vec<(usize, usize)>| {
        let sides = pairs.iter().filter_map(|(a, b)| Some((input(a)?, input(b)?)));
        let (left, right): (Vec<Expr>, Vec<Expr>) = sides.unzip();
        let side = |mut one: Vec<Expr>| match one.len() {
            1 => one.pop(),
            _ => Some(Expr::Tuple(one)),
        };
        Some(Guard { left: side(left)?, op: CondOp::Near, right: vec![side(right)?] })
    };
    write.differ.iter().filter_map(guard).collect()
}

/// A read, with the terms that it was bound to.
pub(super) struct BoundRead {
    pub(super) step: usize,
    pub(super) family: FamilyId,
    pub(super) alias: Option<String>,
    pub(super) wanted: Vec<(ColumnPath, Expr)>,
}

/// One effect, with the read whose rows it is repeated for.
pub(super) struct Case<'a> {
    pub(super) effect: &'a Effect,
    pub(super) each: Option<usize>,
}

pub(super) struct Writer<'a> {
    pub(super) calls: &'a Calls<'a>,
    pub(super) write: &'a Write,
    pub(super) plan: &'a WritePlan,
    pub(super) told: Vec<BoundRead>,
    /// Number of requests so far, the open one included.
    pub(super) steps: usize,
    /// The changes of the open transaction.
    open: Option<(usize, Vec<(FamilyId, Change)>)>,
    pub(super) found: Vec<Request>,
    /// Holds of every change: what must have been found.
    granted: Vec<Guard>,
}

impl<'a> Writer<'a> {
    /// Creates a translation without requests and known values.
    pub(super) fn new(calls: &'a Calls<'a>, write: &'a Write, plan: &'a WritePlan) -> Self {
        Writer {
            calls,
            write,
            plan,
            told: Vec::new(),
            steps: 0,
            open: None,
            found: Vec::new(),
            granted: Vec::new(),
        }
    }

    fn step(&mut self, step: &WriteStep) -> Result<(), Refusal> {
        for id in &step.families {
            let schema = self.calls.schema;
            let Some(family) = schema.families.get(*id) else { continue };
            let changes = match &step.kind {
                WriteStepKind::Read { bindings, alias } => {
                    self.close()?;
                    self.read(*id, family, bindings, alias)?;
                    self.granted = self.granted();
                    continue;
                }
                WriteStepKind::Put { each } | WriteStepKind::Delete { each }
                    if step.transaction.is_none() && self.moves_claim(*id, family) =>
                {
                    self.moved(*id, family, each.as_deref(), step.kind.is_put())?
                }
                WriteStepKind::Put { each } => {
                    let puts = self.put(*id, family, each.as_deref())?;
                    self.cancels(family, &puts, step.transaction.is_some())?;
                    puts
                }
                WriteStepKind::Delete { each } => self.delete(*id, family, each.as_deref())?,
                WriteStepKind::Patch { each } => {
                    let mut changes = self.patch(*id, family, each.as_deref())?;
                    if step.transaction.is_some() && self.calls.target.one_operation_per_item {
                        self.compare_claims((*id, family), &mut changes);
                    }
                    changes
                }
            };
            self.add(step.transaction, *id, changes)?;
        }
        Ok(())
    }

    /// Returns true if the plan puts a family's rows under another unique value, and deletes the old ones.
    fn moves_claim(&self, id: FamilyId, family: &Family) -> bool {
        let of = |wanted: fn(&WriteStepKind) -> bool| {
            let mut own = self.plan.steps.iter().filter(|step| step.families.contains(&id));
            own.any(|step| wanted(&step.kind))
        };
        of(WriteStepKind::is_put)
            && of(WriteStepKind::is_delete)
            && self.write.effects.iter().any(|one| claims(self.calls.model, family, one))
    }

    /// Compares the unique value that a changed row shows with the one that was read: the row under it is
    /// deleted in the same transaction, and may be another's by then.
    fn compare_claims(&self, (id, family): (FamilyId, &Family), changes: &mut [Change]) {
        let (model, schema) = (self.calls.model, self.calls.schema);
        let ([effect], [change]) = (self.write.effects.as_slice(), changes) else { return };
        if effect.relation != family.source || effect.each.is_some() || change.each.is_some() {
            return;
        }
        let old = self.with_reads(effect, self.given(&Case { effect, each: None }));
        let carried = self.calls.carried(id);
        for (_, moved) in schema.concerned(effect.relation) {
            if !claims(model, moved, effect) {
                continue;
            }
            for column in unique_values(model, moved, effect) {
                let path = vec![column];
                let name = self.calls.columns.attribute(family.table, family.source, &path);
                let (Some(name), Some(value @ Expr::Row { .. })) = (name, old.get(&path)) else {
                    continue;
                };
                let is_key =
                    self.calls.columns.key(family.table).iter().any(|one| one.name == name);
                let lacks = !carried.contains(&path) || is_optional(model, family.source, &path);
                if is_key || lacks {
                    continue;
                }
                let ty = model.path_type(family.source, &path);
                let (name, value) = (name.to_owned(), Some(value.clone()));
                let one = Condition { name, op: CondOp::Eq, value, ty, again: false };
                if !change.conditions.iter().any(|other| other.name == one.name) {
                    change.conditions.push(one);
                }
            }
        }
    }

    /// Returns the puts, or the deletes, of rows that move by requests of their own: where the old and
    /// the new value are the same, the put takes the place of what is there and nothing is deleted.
    fn moved(
        &self,
        id: FamilyId,
        family: &Family,
        each: Option<&str>,
        puts: bool,
    ) -> Result<Vec<Change>, Refusal> {
        let mut both: Vec<(FamilyId, Change)> =
            self.delete(id, family, each)?.into_iter().map(|change| (id, change)).collect();
        both.extend(self.put(id, family, each)?.into_iter().map(|change| (id, change)));
        leave_out(&mut both, false);
        let changes = both.into_iter().map(|(_, change)| change);
        let is_put = |change: &Change| matches!(change.kind, ChangeKind::Put { .. });
        Ok(changes.filter(|change| is_put(change) == puts).collect())
    }

    /// Adds changes to the open transaction, or as requests of their own.
    fn add(
        &mut self,
        transaction: Option<usize>,
        id: FamilyId,
        mut changes: Vec<Change>,
    ) -> Result<(), Refusal> {
        for change in &mut changes {
            let new: Vec<Guard> = self.granted.iter().cloned().chain(keyed_by(change)).collect();
            for guard in new {
                if !change.guards.contains(&guard) {
                    change.guards.push(guard);
                }
            }
        }
        let same = self.open.as_ref().is_some_and(|(open, _)| transaction == Some(*open));
        if !same {
            self.close()?;
        }
        if let Some(number) = transaction {
            let open = self.open.get_or_insert_with(|| (number, Vec::new()));
            for change in changes {
                merge(&mut open.1, id, change);
            }
            return Ok(());
        }
        let mut merged = Vec::new();
        for change in changes {
            merge(&mut merged, id, change);
        }
        for change in self.each_marked(self.each_lasting(merged))? {
            self.steps += 1;
            self.found.push(Request::Write { step: self.steps, changes: vec![change] });
        }
        Ok(())
    }

    /// Ends the open transaction.
    fn close(&mut self) -> Result<(), Refusal> {
        let Some((_, mut changes)) = self.open.take() else { return Ok(()) };
        if changes.is_empty() {
            return Ok(());
        }
        // In a batch of CQL all happens in one moment, and a deletion wins over what is put.
        if self.calls.target.one_operation_per_item || self.calls.target.name == "cql" {
            leave_out(&mut changes, self.calls.target.one_operation_per_item);
        }
        if self.calls.target.one_operation_per_item {
            self.once_each(&changes)?;
            self.added_once(&changes)?;
            self.never_cancelled(&changes)?;
        }
        self.steps += 1;
        let changes = self.each_marked(self.each_lasting(changes))?;
        self.found.push(Request::Write { step: self.steps, changes });
        Ok(())
    }

    /// Keeps additions from rows that the write deletes: in CQL an addition to a counter that is not
    /// there makes it.
    fn uncounted(&mut self) -> Result<(), Refusal> {
        let mut deleted: Vec<(usize, Vec<Expr>, bool)> = Vec::new();
        for request in &mut self.found {
            let Request::Write { changes, .. } = request else { continue };
            for change in changes {
                match &change.kind {
                    ChangeKind::Delete { .. } => {
                        let of_loop = change.each.is_some();
                        deleted.push((change.table, change.key.clone(), of_loop));
                    }
                    ChangeKind::Update { add, .. } if !add.is_empty() => {
                        let same = deleted.iter().filter(|(table, ..)| *table == change.table);
                        for (_, key, of_loop) in same {
                            if *of_loop || *key == change.key {
                                let why = "a count of what the write deletes changes";
                                return Err(self.calls.refuse("counter", why));
                            }
                            change.guards.push(Guard {
                                left: Expr::Tuple(change.key.clone()),
                                op: CondOp::Near,
                                right: vec![Expr::Tuple(key.clone())],
                            });
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Refuses puts that pass over what is there already, where the first of them would cancel others: of a
    /// loop in a transaction, and beside other parts of a write.
    fn cancels(&self, family: &Family, puts: &[Change], together: bool) -> Result<(), Refusal> {
        let target = self.calls.target;
        let looped = together && target.one_operation_per_item;
        let beside =
            self.write.effects.len() > 1 && matches!(target.name.as_str(), "dynamodb" | "cql");
        let unless = self.write.effects.iter().any(|effect| {
            effect.relation == family.source
                && if effect.each.is_some() { looped } else { beside }
                && effect.existing == Existing::Unless
        });
        let blind = |one: &Change| {
            let asks = matches!(one.kind, ChangeKind::Put { fresh: true, .. });
            (if one.each.is_some() { looped } else { beside && asks })
                && !one.guards.iter().any(|guard| guard.op == CondOp::Absent)
        };
        if unless && puts.iter().any(blind) {
            let why = format!("rows of {} may be there already", family.name.text);
            return Err(self.calls.refuse("cancelled", why));
        }
        Ok(())
    }

    /// Refuses a largest or smallest value among other changes: where it stays as it is, its condition
    /// would cancel all of them.
    fn never_cancelled(&self, changes: &[(FamilyId, Change)]) -> Result<(), Refusal> {
        let extends =
            |(_, one): &&(FamilyId, Change)| matches!(one.kind, ChangeKind::Extend { .. });
        match changes.iter().find(extends) {
            Some((id, _)) if changes.len() > 1 => {
                let name = self.calls.schema.families.get(*id).map_or("", |one| &one.name.text);
                let why = format!("what {name} keeps may be beyond the new value already");
                Err(self.calls.refuse("cancelled", why))
            }
            _ => Ok(()),
        }
    }

    /// Refuses additions for each row of a loop, of which two may be to one item.
    fn added_once(&self, changes: &[(FamilyId, Change)]) -> Result<(), Refusal> {
        for (id, change) in changes {
            let ChangeKind::Update { add, push, .. } = &change.kind else { continue };
            let Some(step) = change.each else { continue };
            if add.is_empty() && push.is_empty() || self.one_for_each(change, step) {
                continue;
            }
            let name = self.calls.schema.families.get(*id).map_or("", |one| &one.name.text);
            let why = format!("one transaction may add to one item of {name} twice");
            return Err(self.calls.refuse("one_operation", why));
        }
        Ok(())
    }

    /// Returns true if two rows of a loop surely have two keys: what the loop asks for and what the
    /// key shows of its rows tells them apart.
    fn one_for_each(&self, change: &Change, step: usize) -> bool {
        let (model, schema) = (self.calls.model, self.calls.schema);
        let Some(told) = self.told.iter().find(|told| told.step == step) else { return false };
        let Some(read) = schema.families.get(told.family) else { return false };
        let mut known: BTreeSet<ColumnPath> =
            told.wanted.iter().map(|(path, _)| path.clone()).collect();
        let mut values: Vec<&Expr> = Vec::new();
        for value in &change.key {
            match value {
                Expr::Text(pieces) => {
                    values.extend(pieces.iter().filter_map(|piece| match piece {
                        Piece::Hole(one, _) => Some(one),
                        Piece::Literal(_) => None,
                    }))
                }
                other => values.push(other),
            }
        }
        for path in available(model, read) {
            let shown = self.shown(told, path);
            if shown.is_some_and(|shown| values.contains(&&shown)) {
                known.insert(canonical(model, read.source, path));
            }
        }
        determines_tuple(model, read.source, &known)
    }

    /// Refuses a transaction that some inputs make change one item twice.
    fn once_each(&self, changes: &[(FamilyId, Change)]) -> Result<(), Refusal> {
        for (at, (id, first)) in changes.iter().enumerate() {
            for (other, second) in changes.iter().skip(at + 1) {
                // A delete that is sent only where its key differs from that of the put.
                let moved = matches!(first.kind, ChangeKind::Delete { .. })
                    && matches!(second.kind, ChangeKind::Put { .. })
                    && first.each == second.each
                    && first.guards.iter().any(|guard| guard.op == CondOp::Near);
                let fresh =
                    |change: &Change| matches!(change.kind, ChangeKind::Put { fresh: true, .. });
                // What is made anew is made once, or the write is not defined.
                let made = fresh(first) && fresh(second);
                let never = id != other
                    || made
                    || apart(&first.key, &second.key)
                    || self.says_apart(&first.key, &second.key)
                    || guarded_apart(first, second);
                if never || moved || exclude(&first.guards, &second.guards) {
                    continue;
                }
                let name = self.calls.schema.families.get(*id).map_or("", |one| &one.name.text);
                let told = would_differ(&first.key, &second.key);
                let told = told.map_or_else(String::new, |told| {
                    format!(" (it would not, if the write said `if {told}`)")
                });
                let why = format!("one transaction may change one item of {name} twice{told}");
                return Err(self.calls.refuse("one_operation", why));
            }
        }
        Ok(())
    }

    /// Returns true if two keys are made alike, of inputs that the write says to differ.
    fn says_apart(&self, one: &[Expr], other: &[Expr]) -> bool {
        let mut pairs: Vec<(&Expr, &Expr)> = Vec::new();
        let alike = one.iter().zip(other).all(|(a, b)| same_form(a, b, &mut pairs));
        let input = |at: &usize| self.write.params.get(*at).map(Expr::input);
        let among = |(a, b): &(usize, usize)| {
            let both = input(a).zip(input(b));
            both.is_some_and(|(a, b)| pairs.iter().any(|pair| [(&a, &b), (&b, &a)].contains(pair)))
        };
        alike && self.write.differ.iter().any(|differ| differ.iter().all(among))
    }
}

/// Returns the condition on inputs, `s != t`, by which two keys would differ.
fn would_differ(one: &[Expr], other: &[Expr]) -> Option<String> {
    let mut pairs: Vec<(&Expr, &Expr)> = Vec::new();
    let alike = one.iter().zip(other).all(|(a, b)| same_form(a, b, &mut pairs));
    pairs.retain(|(a, b)| a != b);
    let names = pairs.iter().map(|pair| match pair {
        (Expr::Input(a, _), Expr::Input(b, _)) => Some((a.as_str(), b.as_str())),
        _ => None,
    });
    let (left, right): (Vec<&str>, Vec<&str>) =
        names.collect::<Option<Vec<_>>>()?.into_iter().unzip();
    match (left.as_slice(), right.as_slice()) {
        ([a], [b]) if alike => Some(format!("{a} != {b}")),
        ([_, _, ..], _) if alike => {
            Some(format!("({}) != ({})", left.join(", "), right.join(", ")))
        }
        _ => None,
    }
}

/// Returns true if two values of keys are the same but for single values in the same places, which are
/// gathered.
fn same_form<'e>(one: &'e Expr, other: &'e Expr, pairs: &mut Vec<(&'e Expr, &'e Expr)>) -> bool {
    let (Expr::Text(a), Expr::Text(b)) = (one, other) else {
        pairs.push((one, other));
        return !matches!((one, other), (Expr::Text(_), _) | (_, Expr::Text(_)));
    };
    a.len() == b.len()
        && a.iter().zip(b).all(|pieces| match pieces {
            (Piece::Literal(a), Piece::Literal(b)) => a == b,
            (Piece::Hole(a, how), Piece::Hole(b, other)) => {
                pairs.push((a, b));
                how == other
            }
            _ => false,
        })
}

/// Returns the guards of a change or deletion whose key is made of rows: where one of them is not there,
/// there is no key, and nothing is sent.
fn keyed_by(change: &Change) -> Vec<Guard> {
    let mut found = Vec::new();
    if matches!(change.kind, ChangeKind::Put { .. }) {
        return found;
    }
    for value in &change.key {
        value.rows(&mut |row, step| {
            if change.each != Some(step) {
                found.push(Guard { left: row.clone(), op: CondOp::Present, right: Vec::new() });
            }
        });
    }
    found
}

/// Adds a change; two updates, or two deletions, of one item become one.
fn merge(changes: &mut Vec<(FamilyId, Change)>, id: FamilyId, mut change: Change) {
    if matches!(change.kind, ChangeKind::Delete { .. }) {
        let mut before = changes
            .iter_mut()
            .filter(|(other, old)| *other == id && matches!(old.kind, ChangeKind::Delete { .. }));
        let mut perhaps = false;
        let same = before.find(|(_, old)| {
            perhaps |= !apart(&old.key, &change.key);
            old.key == change.key && old.each == change.each && old.guards == change.guards
        });
        if let Some((_, old)) = same {
            old.conditions.extend(change.conditions);
            return;
        }
        // What the deletion before took away is not there any more.
        if perhaps && change.conditions.is_empty() {
            change.kind = ChangeKind::Delete { there: false };
        }
    }
    if let ChangeKind::Update { set, add, push, .. } = &change.kind {
        let same = changes.iter_mut().find(|(other, old)| {
            *other == id
                && old.key == change.key
                && old.each == change.each
                && old.guards == change.guards
                && matches!(old.kind, ChangeKind::Update { .. })
        });
        if let Some((
            _,
            Change {
                kind: ChangeKind::Update { set: a, add: b, push: c, .. },
                conditions,
                marks,
                ..
            },
        )) = same
        {
            let named =
                |all: &[(String, Expr)], name: &String| all.iter().any(|(other, _)| other == name);
            // What is added to before or behind a new value is not added to in one request.
            let twice = add.iter().any(|(name, _)| named(b, name) || named(a, name))
                || push.iter().any(|(name, _)| named(a, name));
            if !twice {
                b.retain(|(name, _)| !named(set, name));
                c.retain(|(name, _)| !named(set, name));
                // The later value of an attribute is the one that stays.
                a.retain(|(name, _)| !set.iter().any(|(other, _)| other == name));
                marks.retain(|(name, _)| !set.iter().any(|(other, _)| other == name));
                marks.extend(change.marks);
                a.extend(set.iter().cloned());
                b.extend(add.iter().cloned());
                c.extend(push.iter().cloned());
                conditions.extend(change.conditions);
                return;
            }
        }
    }
    changes.push((id, change));
}

/// A put whose key only the inputs tell apart from that of a delete: its row family and key, the guard
/// that they differ, and the demands of the delete.
type Moved = (FamilyId, Vec<Expr>, Guard, bool, Vec<Condition>);

/// Drops the delete of a delete and a put of one row type, where both have one key.
///
/// Where only the inputs tell, both are guarded: under another key the delete is sent, and the put
/// must find nothing; under the same key the put takes the place of what is deleted, which it `asks` to be
/// there as the delete would.
fn leave_out(changes: &mut Vec<(FamilyId, Change)>, asks: bool) {
    let puts: Vec<(FamilyId, Change)> = changes
        .iter()
        .filter(|(_, change)| matches!(change.kind, ChangeKind::Put { .. }))
        .cloned()
        .collect();
    let mut left: Vec<(FamilyId, Change)> = Vec::new();
    let mut replaced: Vec<(FamilyId, Vec<Expr>, bool, Vec<Condition>)> = Vec::new();
    let mut perhaps: Vec<Moved> = Vec::new();
    changes.retain_mut(|(id, change)| {
        let ChangeKind::Delete { there } = change.kind else { return true };
        let there = asks && there;
        let put = puts.iter().find(|(other, put)| other == id && put.each == change.each);
        let Some((_, put)) = put else { return true };
        let key = &put.key;
        let differing = || change.key.iter().zip(key).filter(|(old, new)| old != new);
        let (old, new): (Vec<Expr>, Vec<Expr>) =
            differing().map(|(old, new)| (old.clone(), new.clone())).unzip();
        if old.is_empty() {
            left.extend(unput(change, put).into_iter().map(|one| (*id, one)));
            replaced.push((*id, key.clone(), there, change.conditions.clone()));
            return false;
        }
        let moved =
            Guard { left: Expr::Tuple(old), op: CondOp::Near, right: vec![Expr::Tuple(new)] };
        let mut same = change.clone();
        same.guards.push(Guard { op: CondOp::Eq, ..moved.clone() });
        left.extend(unput(&same, put).into_iter().map(|one| (*id, one)));
        perhaps.push((*id, key.clone(), moved.clone(), there, change.conditions.clone()));
        change.guards.push(moved);
        true
    });
    for (id, key, moved, there, conditions) in perhaps {
        let fresh = |(other, change): &&mut (FamilyId, Change)| {
            let ChangeKind::Put { fresh, .. } = change.kind else { return false };
            (fresh || there || !conditions.is_empty()) && *other == id && change.key == key
        };
        let Some((_, put)) = changes.iter_mut().find(fresh) else { continue };
        let mut same = put.clone();
        same.guards.push(Guard { op: CondOp::Eq, ..moved.clone() });
        same.conditions = conditions;
        put.guards.push(moved);
        if let ChangeKind::Put { fresh, there: asks, .. } = &mut same.kind {
            (*fresh, *asks) = (false, there);
        }
        changes.push((id, same));
    }
    changes.extend(left);
    // The put takes the place of what would have been deleted.
    for (id, change) in changes {
        let ChangeKind::Put { fresh, there: asks, .. } = &mut change.kind else { continue };
        let old = replaced.iter().find(|(other, key, ..)| other == id && *key == change.key);
        if let Some((_, _, there, conditions)) = old {
            (*fresh, *asks) = (false, *there);
            change.conditions.clone_from(conditions);
        }
    }
}

/// Returns deletes of what a put does not replace, because a guard of its own keeps it back.
fn unput(delete: &Change, put: &Change) -> Vec<Change> {
    let mut found = Vec::new();
    let mut before = delete.clone();
    for guard in put.guards.iter().filter(|guard| !delete.guards.contains(guard)) {
        let Some(op) = opposite(guard.op) else { continue };
        let mut one = before.clone();
        one.guards.push(Guard { op, ..guard.clone() });
        found.push(one);
        before.guards.push(guard.clone());
    }
    found
}

/// Returns the comparison that holds exactly where another does not.
pub(super) fn opposite(op: CondOp) -> Option<CondOp> {
    Some(match op {
        CondOp::Eq => CondOp::Near,
        CondOp::Near => CondOp::Eq,
        CondOp::Present => CondOp::Absent,
        CondOp::Absent => CondOp::Present,
        _ => return None,
    })
}

/// Returns true if no inputs let both changes through: one is sent where something holds, the other
/// where it does not.
fn exclude(one: &[Guard], other: &[Guard]) -> bool {
    let against = |a: &Guard, b: &Guard| {
        opposite(a.op) == Some(b.op) && a.left == b.left && a.right == b.right
    };
    one.iter().any(|a| other.iter().any(|b| against(a, b)))
}

/// Returns true if both changes are sent only where their keys differ.
fn guarded_apart(first: &Change, second: &Change) -> bool {
    let differing = first.key.iter().zip(&second.key).filter(|(old, new)| old != new);
    let (old, new): (Vec<Expr>, Vec<Expr>) =
        differing.map(|(old, new)| (old.clone(), new.clone())).unzip();
    let says = |guard: &Guard| {
        guard.op == CondOp::Near
            && guard.left == Expr::Tuple(old.clone())
            && guard.right == [Expr::Tuple(new.clone())]
    };
    first.guards.iter().any(says) && second.guards.iter().any(says)
}

/// Returns true if two keys differ whatever the inputs are.
fn apart(one: &[Expr], other: &[Expr]) -> bool {
    one.iter().zip(other).any(|(a, b)| match (a, b) {
        (Expr::Const(a, _), Expr::Const(b, _)) => a != b,
        _ => false,
    })
}
