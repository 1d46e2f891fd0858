//! Requests before they are written down for a target.
//!
//! Invariant: columns are named, values are expressions of inputs and of rows read before.

use serde_json::{Value as Json, json};

use super::expr::Expr;
use shelfmark_design_language::model::schema::TableId;
use shelfmark_design_language::syntax::tree::{BoundKind, CondOp};
use shelfmark_design_language::target::Target;

/// Why a target cannot be asked for a step.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// What the plan asks for.
    pub why: String,
    /// The rule of the target, and where it is written.
    pub rule: String,
}

impl Refusal {
    /// Returns the refusal by a rule of a profile.
    pub(super) fn by(target: &Target, rule: &str, why: String) -> Self {
        let found = target.rules.get(rule);
        let rule = found
            .map_or_else(|| rule.to_owned(), |found| format!("{} ({})", found.says, found.source));
        Self { why, rule }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.why, self.rule)
    }
}

/// What must hold for a request to be sent; otherwise it has nothing to give or to do.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub(super) left: Expr,
    pub(super) op: CondOp,
    pub(super) right: Vec<Expr>,
}

impl Guard {
    fn json(&self) -> Json {
        let op = match self.op {
            CondOp::Eq => "=",
            CondOp::Lt => "<",
            CondOp::Le => "<=",
            CondOp::Gt => ">",
            CondOp::Ge => ">=",
            CondOp::Present => "present",
            CondOp::Absent => "absent",
            CondOp::In => "in",
            _ => "other than",
        };
        let mut out = vec![self.left.json(), Json::from(op)];
        out.extend(self.right.iter().map(Expr::json));
        Json::Array(out)
    }
}

/// One end of a range on a sort column. Of a text that is not whole it is how texts begin.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) kind: BoundKind,
    pub(super) value: Expr,
    pub(super) whole: bool,
}

/// A read of one table or index.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) table: TableId,
    /// The leading key columns that have one value.
    pub(super) equal: Vec<Expr>,
    /// On the column after those.
    pub(super) ends: Vec<End>,
    pub(super) desc: bool,
    pub(super) limit: Option<Expr>,
    /// True if the last write must show.
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
}

#[derive(Debug, Clone)]
pub(super) enum ChangeKind {
    /// Puts an item with these attributes beside the key; `fresh` if none may be there.
    Put { values: Vec<(String, Expr)>, fresh: bool },
    /// Sets and adds; `there` if the item must be there.
    Update {
        set: Vec<(String, Expr)>,
        add: Vec<(String, Expr)>,
        push: Vec<(String, Expr)>,
        there: bool,
    },
    /// Deletes; `there` if the item must be there.
    Delete { there: bool },
}

/// One request.
#[derive(Debug, Clone)]
pub(super) enum Request {
    /// A read, with what the caller does beside sending it.
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

    /// Returns loops, guards and work on the answer, as the machine form has them.
    pub(super) fn beside(&self) -> Vec<(&'static str, Json)> {
        let mut out = Vec::new();
        let (each, guards, then) = match self {
            Self::Read { each, guards, then, .. } => {
                (each.clone(), guards.as_slice(), then.as_slice())
            }
            Self::Write { changes, .. } => match changes.as_slice() {
                [only] => {
                    (only.each.map(|step| json!({ "step": step })), only.guards.as_slice(), &[][..])
                }
                _ => (None, &[][..], &[][..]),
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

impl Change {
    /// Returns what stands beside the change where it is one of several.
    pub(super) fn beside(&self) -> Vec<(&'static str, Json)> {
        let each = self.each.map(|step| ("$for_each", json!({ "step": step })));
        let guards = (!self.guards.is_empty())
            .then(|| ("$only_if", self.guards.iter().map(Guard::json).collect()));
        each.into_iter().chain(guards).collect()
    }
}
