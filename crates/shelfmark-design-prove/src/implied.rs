//! Decides whether comparisons imply another one.
//!
//! Constants are compared in the order of their type; an input is the same as itself, and nothing else
//! is known of it.
//!
//! Invariant: returns true only if the comparison holds wherever all facts do.

use super::eval::state::compare;
use super::paths::is_optional;
use super::range::Met;
use shelfmark_design_language::model::pattern::Predicate;
use shelfmark_design_language::model::types::{DATE_RANGE, TIMESTAMP_RANGE};
use shelfmark_design_language::model::{Model, RelationId, Term, Type, Value};
use shelfmark_design_language::syntax::tree::CondOp;

/// Adds the equality that both ends of a range imply when they are one value.
pub(crate) fn with_equal(mut met: Vec<Met>) -> Vec<Met> {
    let equal: Vec<Met> = met
        .iter()
        .filter(|one| one.op == CondOp::Ge)
        .map(|one| Met { op: CondOp::Eq, ..one.clone() })
        .filter(|one| literally(one, &met) && !met.contains(one))
        .collect();
    met.extend(equal);
    met
}

/// Returns true if `facts` about tuples of a relation together imply `wanted`.
pub(crate) fn implied(model: &Model, relation: RelationId, wanted: &Met, facts: &[Met]) -> bool {
    literally(wanted, facts) || by_constants(model, relation, wanted, facts)
}

/// Returns true if `facts` together imply `wanted`, whatever the values are.
pub(crate) fn literally(wanted: &Met, facts: &[Met]) -> bool {
    if facts.contains(wanted) {
        return true;
    }
    if matches!(wanted.op, CondOp::Ge | CondOp::Le | CondOp::Begins) {
        let equal = Met { op: CondOp::Eq, ..wanted.clone() };
        if facts.contains(&equal) {
            return true;
        }
    }
    if wanted.op == CondOp::Eq
        && facts.contains(&Met { op: CondOp::Ge, ..wanted.clone() })
        && facts.contains(&Met { op: CondOp::Le, ..wanted.clone() })
    {
        return true;
    }
    if wanted.op == CondOp::Present {
        // What lies behind a reference is there only where the reference is.
        return facts.iter().any(|fact| {
            fact.op != CondOp::Absent
                && match (&fact.row, &wanted.row) {
                    (Term::Column(found), Term::Column(head)) => found.starts_with(head),
                    (found, wanted) => found == wanted,
                }
        });
    }
    // A computed part of what is fixed is fixed, and one that never decreases keeps `>=`, `<=`.
    if let Term::Call(function, _) = &wanted.row {
        let ops: &[CondOp] = match wanted.op {
            CondOp::Eq => &[CondOp::Eq],
            CondOp::Ge if function.is_monotone() => &[CondOp::Eq, CondOp::Ge, CondOp::Gt],
            CondOp::Le if function.is_monotone() => &[CondOp::Eq, CondOp::Le, CondOp::Lt],
            _ => return false,
        };
        let leaf = |leaf: &Term| match leaf {
            Term::Column(_) => facts
                .iter()
                .find(|fact| fact.row == *leaf && ops.contains(&fact.op))
                .map(|fact| fact.plan.clone()),
            other => Some(other.clone()),
        };
        return wanted.row.replace(&leaf).as_ref() == Some(&wanted.plan);
    }
    false
}

/// Returns true if comparisons of an attribute with constants imply another one.
fn by_constants(model: &Model, relation: RelationId, wanted: &Met, facts: &[Met]) -> bool {
    let Term::Column(path) = &wanted.row else { return false };
    let whole = is_whole(&model.path_type(relation, path));
    let Some(asked) = Stretch::of(wanted, whole) else { return false };
    let own = facts.iter().filter(|fact| fact.row == wanted.row);
    let told =
        own.filter_map(|fact| Stretch::of(fact, whole)).fold(Stretch::default(), Stretch::meet);
    told.lies_in(&asked)
}

/// Returns true if no tuple of a relation satisfies conditions with constants.
#[must_use]
pub fn never_hold(model: &Model, relation: RelationId, conditions: &[Predicate]) -> bool {
    conditions.iter().any(|one| {
        let own: Vec<&Predicate> = conditions.iter().filter(|it| it.path == one.path).collect();
        let absent = own.iter().any(|one| one.op == CondOp::Absent);
        let there = own.iter().any(|one| one.op != CondOp::Absent);
        let ty = model.path_type(relation, &one.path);
        let optional = is_optional(model, relation, &one.path);
        absent && (there || !optional) || there && no_value(&ty, &own)
    })
}

/// Returns true if no value of a type satisfies comparisons of one attribute.
fn no_value(ty: &Type, own: &[&Predicate]) -> bool {
    let satisfies = |value: &Value| {
        own.iter().all(|one| {
            let wanted: Option<Vec<Value>> =
                one.values.iter().map(|term| term.compute(&|_| None)).collect();
            wanted.is_none_or(|wanted| compare(one.op, value, &wanted))
        })
    };
    let range = match ty {
        Type::Enum(words) => {
            return !words.iter().any(|word| satisfies(&Value::Text(word.clone())));
        }
        Type::Bool => return ![false, true].iter().any(|bit| satisfies(&Value::Bool(*bit))),
        Type::Int(range) | Type::Decimal(range) => *range,
        Type::Timestamp => Some(TIMESTAMP_RANGE),
        Type::Date => Some(DATE_RANGE),
        _ => None,
    };
    let whole = is_whole(ty);
    let term = |one: &Predicate| one.values.first().cloned().unwrap_or(Term::Const(Value::Null));
    let met = |one: &&Predicate| Met { row: Term::Each, op: one.op, plan: term(one) };
    let asked = own.iter().filter_map(|one| Stretch::of(&met(one), whole));
    let of_type = range.map_or_else(Stretch::default, |(low, high)| Stretch {
        low: Some((Value::Int(low), false)),
        high: Some((Value::Int(high), true)),
    });
    asked.fold(of_type, Stretch::meet).is_empty()
}

/// Returns true if between two neighbours there is no value of a type.
fn is_whole(ty: &Type) -> bool {
    matches!(ty, Type::Int(_) | Type::Timestamp | Type::Date)
}

/// The values that comparisons with constants leave.
#[derive(Default)]
struct Stretch {
    /// The lower end, with true if it is left out.
    low: Option<(Value, bool)>,
    /// The upper end, with false if it is left out.
    high: Option<(Value, bool)>,
}

impl Stretch {
    /// Returns the values that satisfy a comparison with a constant.
    fn of(met: &Met, whole: bool) -> Option<Self> {
        let Term::Const(value) = &met.plan else { return None };
        if matches!(value, Value::Null | Value::List(_)) {
            return None;
        }
        let next = |by: i64| match value {
            Value::Int(number) if whole => number.checked_add(by).map(Value::Int),
            _ => None,
        };
        let low = |value: Value, out: bool| Self { low: Some((value, out)), high: None };
        let high = |value: Value, with: bool| Self { low: None, high: Some((value, with)) };
        let value = value.clone();
        Some(match met.op {
            CondOp::Eq => low(value.clone(), false).meet(high(value, true)),
            CondOp::Ge => low(value, false),
            CondOp::Le => high(value, true),
            CondOp::Gt => next(1).map_or_else(|| low(value, true), |next| low(next, false)),
            CondOp::Lt => next(-1).map_or_else(|| high(value, false), |next| high(next, true)),
            _ => return None,
        })
    }

    /// Returns the values in both.
    fn meet(self, other: Self) -> Self {
        Self {
            low: self.low.into_iter().chain(other.low).max(),
            high: self.high.into_iter().chain(other.high).min(),
        }
    }

    /// Returns true if no value lies in it.
    fn is_empty(&self) -> bool {
        match (&self.low, &self.high) {
            (Some((low, out)), Some((high, with))) => low > high || low == high && (*out || !with),
            _ => false,
        }
    }

    /// Returns true if all values are among those of another one, by what each end says alone.
    fn lies_in(&self, other: &Self) -> bool {
        let above = other.low.is_none() || self.low >= other.low;
        let below = match (&self.high, &other.high) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(other)) => own <= other,
        };
        above && below
    }
}
