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
        if self.calls.target.one_operation_per_item {
            leave_out(&mut changes);
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
                if id != other || moved || made || apart(&first.key, &second.key) {
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

/// Adds a change; two updates of one item become one.
fn merge(changes: &mut Vec<(FamilyId, Change)>, id: FamilyId, change: Change) {
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
fn leave_out(changes: &mut Vec<(FamilyId, Change)>) {
    let puts: Vec<(FamilyId, Option<usize>, Vec<Expr>)> = changes
        .iter()
        .filter(|(_, change)| matches!(change.kind, ChangeKind::Put { .. }))
        .map(|(id, change)| (*id, change.each, change.key.clone()))
        .collect();
    let mut replaced: Vec<(FamilyId, Vec<Expr>)> = Vec::new();
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
        change.guards.push(Guard { left, op: CondOp::Near, right: vec![right] });
        true
    });
    // The put takes the place of what would have been deleted.
    for (id, change) in changes {
        if let ChangeKind::Put { fresh, .. } = &mut change.kind
            && replaced.contains(&(*id, change.key.clone()))
        {
            *fresh = false;
        }
    }
}

/// Returns true if two keys differ whatever the inputs are.
fn apart(one: &[Expr], other: &[Expr]) -> bool {
    one.iter().zip(other).any(|(a, b)| match (a, b) {
        (Expr::Const(a, _), Expr::Const(b, _)) => a != b,
        _ => false,
    })
}
