//! Converts steps of a write to requests, from inputs and from rows read before.
//!
//! This is the evaluator's way of running a plan with expressions in the place of values. A step whose
//! read finds nothing ends the plan; a request whose condition fails changes nothing.
//!
//! Invariant: a change names one item or row, or one for each row of a read.

use std::collections::BTreeMap;

use super::Calls;
use super::expr::Expr;
use super::request::{Change, ChangeKind, Guard, Refusal, Request};
use shelfmark_design_language::model::pattern::Effect;
use shelfmark_design_language::model::schema::{FamilyId, WritePlan, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Write};
use shelfmark_design_language::syntax::tree::CondOp;

/// The known expressions of one tuple, by path.
pub(super) type Known = BTreeMap<ColumnPath, Expr>;

/// Converts the steps of a plan to requests.
pub(super) fn requests(
    calls: &Calls<'_>,
    write: &Write,
    plan: &WritePlan,
) -> Result<Vec<Request>, Refusal> {
    let mut writer = Writer::new(calls, write);
    for step in &plan.steps {
        writer.step(step)?;
    }
    writer.close()?;
    Ok(writer.found)
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
    pub(super) told: Vec<BoundRead>,
    /// Number of requests so far, the open one included.
    pub(super) steps: usize,
    /// The changes of the open transaction.
    open: Option<(usize, Vec<(FamilyId, Change)>)>,
    pub(super) found: Vec<Request>,
}

impl<'a> Writer<'a> {
    /// Creates a translation without requests and known values.
    pub(super) fn new(calls: &'a Calls<'a>, write: &'a Write) -> Self {
        Writer { calls, write, told: Vec::new(), steps: 0, open: None, found: Vec::new() }
    }

    fn step(&mut self, step: &WriteStep) -> Result<(), Refusal> {
        for id in &step.families {
            let schema = self.calls.schema;
            let Some(family) = schema.families.get(*id) else { continue };
            let changes = match &step.kind {
                WriteStepKind::Read { bindings, alias } => {
                    self.close()?;
                    self.read(*id, family, bindings, alias)?;
                    continue;
                }
                WriteStepKind::Put { each } => self.put(*id, family, each.as_deref())?,
                WriteStepKind::Delete { each } => self.delete(*id, family, each.as_deref())?,
                WriteStepKind::Patch { each } => self.patch(*id, family, each.as_deref())?,
            };
            self.add(step.transaction, *id, changes)?;
        }
        Ok(())
    }

    /// Adds changes to the open transaction, or as requests of their own.
    fn add(
        &mut self,
        transaction: Option<usize>,
        id: FamilyId,
        changes: Vec<Change>,
    ) -> Result<(), Refusal> {
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
        for (_, change) in merged {
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
            leave_out(&mut changes);
        }
        if self.calls.target.one_operation_per_item {
            self.once_each(&changes)?;
        }
        self.steps += 1;
        let changes = changes.into_iter().map(|(_, change)| change).collect();
        self.found.push(Request::Write { step: self.steps, changes });
        Ok(())
    }

    /// Refuses a transaction that some inputs make change one item twice.
    fn once_each(&self, changes: &[(FamilyId, Change)]) -> Result<(), Refusal> {
        for (at, (id, first)) in changes.iter().enumerate() {
            for (other, second) in changes.iter().skip(at + 1) {
                let moved =
                    !first.guards.is_empty() && matches!(first.kind, ChangeKind::Delete { .. });
                let fresh =
                    |change: &Change| matches!(change.kind, ChangeKind::Put { fresh: true, .. });
                // What is made anew is made once, or the write is not defined.
                let made = fresh(first) && fresh(second);
                let never = id != other || made || apart(&first.key, &second.key);
                if never || moved || exclude(&first.guards, &second.guards) {
                    continue;
                }
                let name = self.calls.schema.families.get(*id).map_or("", |one| &one.name.text);
                let why = format!("one transaction may change one item of {name} twice");
                return Err(self.calls.refuse("one_operation", why));
            }
        }
        Ok(())
    }
}

/// Adds a change; two updates, or two deletions, of one item become one.
fn merge(changes: &mut Vec<(FamilyId, Change)>, id: FamilyId, mut change: Change) {
    if matches!(change.kind, ChangeKind::Delete { .. }) {
        let deletes = |one: &&(FamilyId, Change)| {
            one.0 == id && matches!(one.1.kind, ChangeKind::Delete { .. })
        };
        let before = || changes.iter().filter(deletes).map(|(_, old)| old);
        let same = |old: &Change| {
            old.key == change.key && old.each == change.each && old.guards == change.guards
        };
        if before().any(same) {
            return;
        }
        // What the deletion before took away is not there any more.
        if before().any(|old| !apart(&old.key, &change.key)) {
            change.kind = ChangeKind::Delete { there: false };
        }
    }
    if let ChangeKind::Update { set, add, push, .. } = &change.kind {
        let same = changes.iter_mut().find(|(other, old)| {
            *other == id
                && old.key == change.key
                && old.each == change.each
                && matches!(old.kind, ChangeKind::Update { .. })
        });
        if let Some((
            _,
            Change { kind: ChangeKind::Update { set: a, add: b, push: c, .. }, guards, .. },
        )) = same
        {
            let twice = add.iter().any(|(name, _)| b.iter().any(|(other, _)| other == name));
            if !twice {
                // The later value of an attribute is the one that stays.
                a.retain(|(name, _)| !set.iter().any(|(other, _)| other == name));
                a.extend(set.iter().cloned());
                b.extend(add.iter().cloned());
                c.extend(push.iter().cloned());
                guards.extend(change.guards);
                return;
            }
        }
    }
    changes.push((id, change));
}

/// Drops the delete of a delete and a put of one row type, where both have one key.
///
/// Where only the inputs tell, both are guarded: under another key the delete is sent, and the put
/// must find nothing; under the same key the put takes the place of what is deleted.
fn leave_out(changes: &mut Vec<(FamilyId, Change)>) {
    let puts: Vec<(FamilyId, Option<usize>, Vec<Expr>)> = changes
        .iter()
        .filter(|(_, change)| matches!(change.kind, ChangeKind::Put { .. }))
        .map(|(id, change)| (*id, change.each, change.key.clone()))
        .collect();
    let mut replaced: Vec<(FamilyId, Vec<Expr>)> = Vec::new();
    let mut perhaps: Vec<(FamilyId, Vec<Expr>, Guard)> = Vec::new();
    changes.retain_mut(|(id, change)| {
        if !matches!(change.kind, ChangeKind::Delete { .. }) {
            return true;
        }
        let put = puts.iter().find(|(other, each, _)| other == id && *each == change.each);
        let Some((.., key)) = put else { return true };
        let differing = || change.key.iter().zip(key).filter(|(old, new)| old != new);
        let (left, right): (Vec<Expr>, Vec<Expr>) =
            differing().map(|(old, new)| (old.clone(), new.clone())).unzip();
        if left.is_empty() {
            replaced.push((*id, key.clone()));
            return false;
        }
        let (left, right) = (Expr::Tuple(left), Expr::Tuple(right));
        let moved = Guard { left, op: CondOp::Near, right: vec![right] };
        perhaps.push((*id, key.clone(), moved.clone()));
        change.guards.push(moved);
        true
    });
    for (id, key, moved) in perhaps {
        let fresh = |(other, change): &&mut (FamilyId, Change)| {
            let ChangeKind::Put { fresh, .. } = change.kind else { return false };
            fresh && *other == id && change.key == key
        };
        let Some((_, put)) = changes.iter_mut().find(fresh) else { continue };
        let mut same = put.clone();
        same.guards.push(Guard { op: CondOp::Eq, ..moved.clone() });
        put.guards.push(moved);
        if let ChangeKind::Put { fresh, .. } = &mut same.kind {
            *fresh = false;
        }
        changes.push((id, same));
    }
    // The put takes the place of what would have been deleted.
    for (id, change) in changes {
        if let ChangeKind::Put { fresh, .. } = &mut change.kind
            && replaced.contains(&(*id, change.key.clone()))
        {
            *fresh = false;
        }
    }
}

/// Returns true if no inputs let both changes through: one is sent where two values are equal, the
/// other where they are not.
fn exclude(one: &[Guard], other: &[Guard]) -> bool {
    let against = |a: &Guard, b: &Guard| {
        a.op == CondOp::Eq && b.op == CondOp::Near && a.left == b.left && a.right == b.right
    };
    one.iter().any(|a| other.iter().any(|b| against(a, b) || against(b, a)))
}

/// Returns true if two keys differ whatever the inputs are.
fn apart(one: &[Expr], other: &[Expr]) -> bool {
    one.iter().zip(other).any(|(a, b)| match (a, b) {
        (Expr::Const(a, _), Expr::Const(b, _)) => a != b,
        _ => false,
    })
}
