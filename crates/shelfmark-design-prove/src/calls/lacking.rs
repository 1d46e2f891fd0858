//! Guards requests by the values of rows that they name: a row may not be there, or lack an attribute.
//!
//! An item that is put is put without such an attribute, and where a column is set it is taken away;
//! requests of DynamoDB have no such value there. At any other place there is nothing to send: what names
//! such a value is sent only where the value is there.
//!
//! What it is not: it changes no plan. Which changes happen where a row is not there is said by the
//! guards that the plan itself has.
//!
//! Invariant: where the guards of a request hold, each value that it needs is there.

use super::expr::Expr;
use super::request::{Change, ChangeKind, Guard, Request};
use super::write::Writer;
use shelfmark_design_language::syntax::tree::CondOp;

impl Writer<'_> {
    /// Adds to each request the guards that what it names asks for.
    pub(super) fn complete(&self, requests: &mut [Request]) {
        for request in requests {
            match request {
                Request::Read { ask, guards, .. } => {
                    let ends = ask.ends.iter().map(|end| &end.value);
                    let needed: Vec<&Expr> = ask.equal.iter().chain(ends).collect();
                    let found = self.missing(&needed, None, guards);
                    guards.extend(found);
                }
                Request::Write { changes, .. } => {
                    for change in changes {
                        let needed = self.needed(change);
                        let found = self.missing(&needed, change.each, &change.guards);
                        change.guards.extend(found);
                    }
                }
            }
        }
    }

    /// Returns the values without which a change is no request.
    fn needed<'c>(&self, change: &'c Change) -> Vec<&'c Expr> {
        let compared = change.conditions.iter().filter_map(|one| one.value.as_ref());
        let mut found: Vec<&Expr> = change.key.iter().chain(compared).collect();
        match &change.kind {
            ChangeKind::Update { set, add, push, .. } => {
                // Elsewhere what is set to nothing is taken away.
                let set = set.iter().filter(|_| self.calls.target.name == "dynamodb");
                found.extend(set.chain(add).chain(push).map(|(_, value)| value));
            }
            ChangeKind::Extend { value, .. } => found.push(value),
            ChangeKind::Put { .. } | ChangeKind::Delete { .. } => {}
        }
        found
    }

    /// Returns guards on what may not be there of the rows that these values are made of, beside the
    /// guards that are there already.
    fn missing(&self, values: &[&Expr], each: Option<usize>, guards: &[Guard]) -> Vec<Guard> {
        let mut found: Vec<Guard> = Vec::new();
        for value in values {
            value.rows(&mut |row, step| {
                let told = |guard: &Guard| shows(guard, row, step, self.may_lack(row, step));
                let there = each == Some(step) && !self.may_lack(row, step);
                if !there && !guards.iter().chain(&found).any(told) {
                    found.push(Guard { left: row.clone(), op: CondOp::Present, right: Vec::new() });
                }
            });
        }
        found
    }
}

/// Returns true if a guard holds only where a value of a step's row is there: the value itself is
/// compared, or, where each row has it, another of the row.
fn shows(guard: &Guard, row: &Expr, step: usize, may_lack: bool) -> bool {
    let Expr::Row { step: of, .. } = &guard.left else { return false };
    let there = match guard.op {
        CondOp::Present => true,
        CondOp::Eq | CondOp::Lt | CondOp::Le | CondOp::Gt | CondOp::Ge => {
            let known =
                |one: &Expr| matches!(one, Expr::Const(..) | Expr::Input(..)) && !one.is_null();
            guard.right.iter().all(known)
        }
        _ => false,
    };
    there && *of == step && (guard.left == *row || !may_lack)
}
