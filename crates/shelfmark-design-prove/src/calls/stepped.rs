//! Makes both ends of a range of whole values included: behind `f` lies `f + 1`, and before `t` lies
//! `t - 1`.
//!
//! BETWEEN includes both of its ends. Of whole numbers, moments and days, which are whole too, it says any
//! range. The smaller value of two that cross need not have a text: a guard keeps such a call back.
//!
//! What it is not: decimals and texts have no next value; their ranges stay as they are.

use super::expr::{Expr, Piece};
use super::request::{End, Guard};
use shelfmark_design_language::model::schema::Part;
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::syntax::tree::{BoundKind, CondOp};

/// The whole value that an end is made of, and whether the end stands one before or behind it.
pub(super) type Whole = (Expr, bool);

/// Includes ends that are excluded, where both are made of whole values in one form.
pub(super) fn included(mut ends: Vec<End>, bounds: &[(BoundKind, Vec<Part>)]) -> Vec<End> {
    let [(_, first), (_, second)] = bounds else { return ends };
    if ends.len() != 2 || !ends.iter().any(excludes) || !alike(first, second) {
        return ends;
    }
    let number = |end: &End| whole(&end.value).filter(|_| end.whole);
    if !ends.iter().all(|end| number(end).is_some()) {
        return ends;
    }
    for end in &mut ends {
        end.number = number(end).map(|number| (number, excludes(end)));
        let after = end.kind == BoundKind::After;
        if excludes(end) {
            end.value = moved(&end.value, if after { -1 } else { 1 });
            end.kind = if after { BoundKind::From } else { BoundKind::To };
        }
    }
    ends
}

/// Returns the guard that ends which were moved do not cross.
pub(super) fn guard(low: &End, high: &End) -> Option<Guard> {
    let ((low, after), (high, before)) = (low.number.clone()?, high.number.clone()?);
    let (left, op, right) = match (after, before) {
        (true, true) => (low.less(-1), CondOp::Le, high.less(1)),
        (false, false) => (low, CondOp::Le, high),
        _ => (low, CondOp::Lt, high),
    };
    Some(Guard { left, op, right: vec![right] })
}

fn excludes(end: &End) -> bool {
    matches!(end.kind, BoundKind::After | BoundKind::Before)
}

/// Returns true if two ends are one text up to a value of one form, behind which nothing comes.
fn alike(first: &[Part], second: &[Part]) -> bool {
    let end = |parts: &[Part]| -> Vec<Part> {
        parts.strip_suffix(&[Part::End]).unwrap_or(parts).to_vec()
    };
    let (first, second) = (end(first), end(second));
    let (Some((a, head)), Some((b, other))) = (first.split_last(), second.split_last()) else {
        return false;
    };
    let form = |part: &Part| match part {
        Part::Hole { ty, codec, .. } if steps(ty) => Some((ty.clone(), *codec)),
        _ => None,
    };
    let same = form(a).zip(form(b)).is_some_and(|(a, b)| {
        std::mem::discriminant(&a.0) == std::mem::discriminant(&b.0) && a.1 == b.1
    });
    same && head == other
}

/// Returns true if each value of a type has a next one.
fn steps(ty: &Type) -> bool {
    matches!(ty, Type::Int(_) | Type::Timestamp | Type::Date)
}

/// Returns the whole value at the end of a text, or the value itself.
fn whole(value: &Expr) -> Option<Expr> {
    match value {
        Expr::Text(pieces) => match pieces.last() {
            Some(Piece::Hole(one, _)) if steps(&one.ty()) => Some(one.clone()),
            _ => None,
        },
        other => steps(&other.ty()).then(|| other.clone()),
    }
}

/// Returns a value less a number, in the place where it stands in a text.
fn moved(value: &Expr, by: i64) -> Expr {
    let Expr::Text(pieces) = value else { return value.clone().less(by) };
    let mut pieces = pieces.clone();
    if let Some(Piece::Hole(one, _)) = pieces.last_mut() {
        *one = one.clone().less(by);
    }
    Expr::text(pieces)
}
