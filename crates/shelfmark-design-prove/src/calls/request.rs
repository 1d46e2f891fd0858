//! Requests in a form that is common to all targets.
//!
//! Invariant: columns are named, values are expressions of inputs and of rows read before.

use serde_json::{Value as Json, json};

use super::expr::Expr;
use shelfmark_design_language::model::schema::TableId;
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::syntax::tree::{BoundKind, CondOp};
use shelfmark_design_language::target::Target;

/// The reason why a target has no request for a step.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The feature that the plan needs.
    pub why: String,
    /// The rule of the target, and its source.
    pub rule: String,
    /// True if the rule is one of how requests are written down here, and none of the target's own.
    pub of_language: bool,
}

/// The source of rules that are none of a target's interface.
const LANGUAGE: &str = "the model language";

impl Refusal {
    /// Returns the refusal by a rule of a profile.
    pub(super) fn by(target: &Target, rule: &str, why: String) -> Self {
        let found = target.rules.get(rule);
        let of_language = found.is_none_or(|found| found.source == LANGUAGE);
        let rule = found
            .map_or_else(|| rule.to_owned(), |found| format!("{} ({})", found.says, found.source));
        Self { why, rule, of_language }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.why, self.rule)
    }
}

/// A condition for sending a request; if it fails, the request has no effect.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Guard {
    pub(super) left: Expr,
    pub(super) op: CondOp,
    pub(super) right: Vec<Expr>,
}

impl Guard {
    pub(super) fn json(&self) -> Json {
        let op = match self.op {
            CondOp::In => "in",
            other => sign(other).unwrap_or("other than"),
        };
        let mut out = vec![self.left.json(), Json::from(op)];
        out.extend(self.right.iter().map(Expr::json));
        Json::Array(out)
    }
}

/// Returns the sign of a comparison of two values, or the word of one that has a single value.
pub(super) fn sign(op: CondOp) -> Option<&'static str> {
    Some(match op {
        CondOp::Eq => "=",
        CondOp::Lt => "<",
        CondOp::Le => "<=",
        CondOp::Gt => ">",
        CondOp::Ge => ">=",
        CondOp::Present => "present",
        CondOp::Absent => "absent",
        _ => return None,
    })
}

/// One end of a range on a sort column; if it is not whole, it is the beginning of texts.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) kind: BoundKind,
    pub(super) value: Expr,
    pub(super) whole: bool,
    /// The whole value that it was made of, if a range was moved to include its ends.
    pub(super) number: Option<super::stepped::Whole>,
}

/// A read of one table or index.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) table: TableId,
    /// The leading key columns that have a single value.
    pub(super) equal: Vec<Expr>,
    /// The ends on the column after those.
    pub(super) ends: Vec<End>,
    pub(super) desc: bool,
    pub(super) limit: Option<Expr>,
    /// True if the last write must be visible.
    pub(super) fresh: bool,
    /// True if the answer is in the order of a uuid.
    pub(super) by_uuid: bool,
    /// True if a whole key of a table is given.
    pub(super) point: bool,
}

/// A change of one item or row.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) table: TableId,
    pub(super) key: Vec<Expr>,
    pub(super) kind: ChangeKind,
    /// The step whose rows it is repeated for.
    pub(super) each: Option<usize>,
    pub(super) guards: Vec<Guard>,
    /// Comparisons of the item's attributes, without which nothing is changed.
    pub(super) conditions: Vec<Condition>,
    /// Says what must be true for an item to have a column: it is one of a sparse index.
    pub(super) marks: Vec<(String, Vec<super::marks::Asked>)>,
}

/// A comparison that a target makes with an attribute of the item that is changed.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) name: String,
    pub(super) op: CondOp,
    pub(super) value: Option<Expr>,
    pub(super) ty: Type,
    /// True if a read has shown before that it holds: guards say so too.
    pub(super) again: bool,
}

#[derive(Debug, Clone)]
pub(super) enum ChangeKind {
    /// Puts an item with these attributes beside the key; `fresh` if it must not exist, `there` if it must.
    Put { values: Vec<(String, Expr)>, fresh: bool, there: bool },
    /// Sets and adds; `there` if the item must exist.
    Update {
        set: Vec<(String, Expr)>,
        add: Vec<(String, Expr)>,
        push: Vec<(String, Expr)>,
        there: bool,
    },
    /// Sets an attribute of an item that exists, where it is absent or smaller; or greater, if not
    /// `largest`.
    Extend { name: String, value: Expr, largest: bool },
    /// Deletes; `there` if the item must exist.
    Delete { there: bool },
}

/// One request.
#[derive(Debug, Clone)]
pub(super) enum Request {
    /// A read, with the caller's work beside sending it.
    Read { step: usize, ask: Box<Ask>, each: Option<Json>, guards: Vec<Guard>, then: Vec<Json> },
    /// Changes; several happen together or not at all.
    Write { step: usize, changes: Vec<Change> },
}

impl Request {
    pub(super) fn step(&self) -> usize {
        match self {
            Self::Read { step, .. } | Self::Write { step, .. } => *step,
        }
    }

    pub(super) fn is_read(&self) -> bool {
        matches!(self, Self::Read { .. })
    }

    /// Returns the tables and indexes that it names.
    pub(super) fn tables(&self) -> Vec<TableId> {
        match self {
            Self::Read { ask, .. } => vec![ask.table],
            Self::Write { changes, .. } => changes.iter().map(|one| one.table).collect(),
        }
    }

    /// Returns loops, guards and work on the answer, as the machine form has them.
    pub(super) fn beside(&self) -> Vec<(&'static str, Json)> {
        let mut out = Vec::new();
        let needed;
        let (each, guards, then) = match self {
            Self::Read { each, guards, then, .. } => {
                (each.clone(), guards.as_slice(), then.as_slice())
            }
            Self::Write { changes, .. } => match changes.as_slice() {
                [only] => {
                    (only.each.map(|step| json!({ "step": step })), only.guards.as_slice(), &[][..])
                }
                several => {
                    needed = needed_rows(several);
                    (None, needed.as_slice(), &[][..])
                }
            },
        };
        out.extend(each.map(|each| ("for_each", each)));
        if !guards.is_empty() {
            out.push(("only_if", guards.iter().map(Guard::json).collect()));
        }
        if !then.is_empty() {
            out.push(("then", Json::Array(then.to_vec())));
        }
        out
    }
}

/// Returns guards by which changes that happen together are sent only where the rows are there that a
/// change with conditions takes values from: without its row the condition does not hold, and no other
/// change may happen.
fn needed_rows(changes: &[Change]) -> Vec<Guard> {
    let mut needed: Vec<Guard> = Vec::new();
    let conditional =
        |one: &&Change| one.each.is_none() && one.conditions.iter().any(|one| !one.again);
    for change in changes.iter().filter(conditional) {
        let compared = change.conditions.iter().filter_map(|one| one.value.as_ref());
        for value in change.values().into_iter().chain(compared) {
            value.rows(&mut |row, _| {
                let guard = Guard { left: row.clone(), op: CondOp::Present, right: Vec::new() };
                if !needed.contains(&guard) {
                    needed.push(guard);
                }
            });
        }
    }
    needed
}

impl Change {
    /// Returns the values of the key and of what is put, set and added.
    pub(super) fn values(&self) -> Vec<&Expr> {
        let named: Vec<&(String, Expr)> = match &self.kind {
            ChangeKind::Put { values, .. } => values.iter().collect(),
            ChangeKind::Update { set, add, push, .. } => {
                set.iter().chain(add).chain(push).collect()
            }
            ChangeKind::Extend { value, .. } => {
                return self.key.iter().chain([value]).collect();
            }
            ChangeKind::Delete { .. } => Vec::new(),
        };
        self.key.iter().chain(named.into_iter().map(|(_, value)| value)).collect()
    }

    /// Returns true if it is made only where its row is there, is not there, or holds something.
    pub(super) fn asks(&self) -> bool {
        !self.conditions.is_empty()
            || match &self.kind {
                ChangeKind::Put { fresh, there, .. } => *fresh || *there,
                ChangeKind::Update { there, .. } | ChangeKind::Delete { there } => *there,
                ChangeKind::Extend { .. } => true,
            }
    }

    /// Returns the fields beside the change where it is one of several.
    pub(super) fn beside(&self) -> Vec<(&'static str, Json)> {
        let each = self.each.map(|step| ("$for_each", json!({ "step": step })));
        let guards = (!self.guards.is_empty())
            .then(|| ("$only_if", self.guards.iter().map(Guard::json).collect()));
        each.into_iter().chain(guards).collect()
    }
}
