//! Computes what one read of the store finds in one row family.
//!
//! Invariant: when [`Found::Rows`] is returned, the rows of the family in the range are exactly
//! those that meet all its predicates.

use super::align::{Aligned, Fixed, align, common_prefix};
use super::constants::named;
use crate::key::ends::{may_exceed, may_fall_below};
use crate::key::facts::{compares, first_of, going_past, same_form};
use crate::key::language::{Language, may_meet};
use shelfmark_design_language::model::schema::{ColumnKind, Family, Part, ReadStep, Table};
use shelfmark_design_language::model::{Term, Type, Value};
use shelfmark_design_language::syntax::tree::{BoundKind, CondOp, Verb};

/// A comparison `row op plan`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Met {
    /// The side of the row.
    pub row: Term,
    /// The comparison.
    pub op: CondOp,
    /// The side of the call.
    pub plan: Term,
}

/// The meaning of a range for a row family.
#[derive(Debug, Clone)]
pub enum Found {
    /// Rows of the family, under these conditions.
    Rows {
        /// The conditions that their attributes satisfy.
        met: Vec<Met>,
        /// The key behind its fixed columns, column by column, for the order.
        rest: Vec<Vec<Part>>,
        /// The column of the table at which `rest` begins.
        column: usize,
    },
    /// No row, for any input.
    Nothing(String),
    /// No row: keys of the family begin otherwise. Another family may be meant.
    Elsewhere,
    /// No row, for a point read whose text ends before a row's key does; with the values that are
    /// missing.
    Short(Vec<Term>),
    /// No interval of predicates, or none that can be named; with its lint.
    Unclear {
        /// The lint that explains it.
        lint: &'static str,
        /// The reason, for people.
        why: String,
    },
}

/// Returns the rows of a family that a step reads.
pub fn find(step: &ReadStep, table: &Table, family: &Family) -> Found {
    let mut met = Vec::new();
    for (bound, column) in step.bound.iter().zip(&family.key) {
        if bound.is_empty() {
            continue;
        }
        let bound = &named(bound, &column.parts);
        match align(bound, &column.parts) {
            Aligned::Fixes(fixed, rest) => {
                if !rest.is_empty() {
                    let why = "a column of the key is bound only in part".to_owned();
                    return Found::Unclear { lint: "A4", why };
                }
                for one in fixed {
                    match (&one.row, &one.plan) {
                        (Term::Const(row), Term::Const(plan)) if row == plan => {}
                        (Term::Const(_), Term::Const(_)) => return unclear(Aligned::Disjoint),
                        _ => met.push(equal(one)),
                    }
                }
            }
            other if step.verb == Verb::Get => {
                let lacks = lacking(bound, &column.parts);
                return lacks.map_or_else(|| unclear(other), Found::Short);
            }
            other => return unclear(other),
        }
    }
    let column = step.bound.len();
    let mut rest: Vec<Vec<Part>> =
        family.key.iter().skip(column).map(|column| column.parts.clone()).collect();
    if step.bounds.is_empty() {
        return Found::Rows { met, rest, column };
    }
    let Some(parts) = rest.first().cloned() else {
        let why = "there is no column left for the range".to_owned();
        return Found::Unclear { lint: "A4", why };
    };
    let typed = !matches!(table.kinds.get(column), Some(ColumnKind::Text));
    match interval(&step.bounds, &parts, typed, &met) {
        Ok((more, left)) => {
            met.extend(more);
            if let Some(first) = rest.first_mut() {
                *first = left;
            }
            Found::Rows { met, rest, column }
        }
        Err(found) => found,
    }
}

/// Returns the values that a text key continues with where the plan's text ends, if both begin
/// alike.
fn lacking(bound: &[Part], parts: &[Part]) -> Option<Vec<Term>> {
    let (Part::End, begin) = bound.split_last()? else { return None };
    let Aligned::Fixes(_, rest) = align(begin, parts) else { return None };
    let terms: Vec<Term> = rest
        .iter()
        .filter_map(|part| match part {
            Part::Hole { term, .. } => Some(term.clone()),
            _ => None,
        })
        .collect();
    (!terms.is_empty()).then_some(terms)
}

/// Returns true if a row of the family may lie in the step's range, for some inputs.
pub fn may_touch(step: &ReadStep, table: &Table, family: &Family) -> bool {
    let mut told = known_beginnings(step).zip(&family.key);
    if told.any(|(asked, column)| begin_apart(asked, &column.parts)) {
        return false;
    }
    for (bound, column) in step.bound.iter().zip(&family.key) {
        if !bound.is_empty() && !columns_may_meet(bound, &column.parts) {
            return false;
        }
    }
    let column = step.bound.len();
    if step.bounds.is_empty() || !matches!(table.kinds.get(column), Some(ColumnKind::Text)) {
        return true;
    }
    let Some(parts) = family.key.get(column).map(|column| &column.parts) else { return true };
    let (low, high) = ends(&step.bounds);
    let lies = |end: &[Part]| certain_order(parts, end);
    if low.is_some_and(|(_, low)| lies(low) == Some(std::cmp::Ordering::Less))
        || high.is_some_and(|(_, high)| lies(high) == Some(std::cmp::Ordering::Greater))
    {
        return false;
    }
    let common = match (low, high) {
        (Some((_, low)), Some((_, high))) => {
            let (common, a, b) = split(low, high);
            if certain_order(&a, &b) == Some(std::cmp::Ordering::Greater) {
                return false;
            }
            common
        }
        _ => Vec::new(),
    };
    may_meet(&common, parts, true)
}

/// Returns the known beginnings of the columns of every row in the step's range.
pub fn known_beginnings(step: &ReadStep) -> impl Iterator<Item = &[Part]> {
    // Ends that begin alike hold only texts that begin so too.
    let begin = step.bounds.first().map(|(_, parts)| parts).filter(|begin| {
        let is = |kinds: &[BoundKind]| step.bounds.iter().any(|(kind, _)| kinds.contains(kind));
        let closed = is(&[BoundKind::Begins])
            || is(&[BoundKind::From, BoundKind::After])
                && is(&[BoundKind::To, BoundKind::Before, BoundKind::Through]);
        closed && step.bounds.iter().all(|(_, parts)| parts.first() == begin.first())
    });
    step.bound.iter().chain(begin).map(Vec::as_slice)
}

/// Returns true if both begin with texts of which neither begins the other.
pub fn begin_apart(left: &[Part], right: &[Part]) -> bool {
    match (left.first(), right.first()) {
        (Some(Part::Literal(a)), Some(Part::Literal(b))) => {
            a.bytes().zip(b.bytes()).any(|(a, b)| a != b)
        }
        _ => false,
    }
}

/// Returns true if a column may have one value for both.
pub fn columns_may_meet(left: &[Part], right: &[Part]) -> bool {
    use shelfmark_design_language::model::schema::Codec;
    if let (
        [Part::Hole { term: Term::Const(a), codec: Codec::Native, .. }],
        [Part::Hole { term: Term::Const(b), codec: Codec::Native, .. }],
    ) = (left, right)
    {
        return a == b;
    }
    // Texts of one form meet, whatever stands in them.
    let alike = |pair: (&Part, &Part)| match pair {
        (Part::Hole { ty: a, codec: x, .. }, Part::Hole { ty: b, codec: y, .. }) => {
            a == b && x == y
        }
        (a, b) => a == b,
    };
    if left.len() == right.len() && left.iter().zip(right).all(alike) {
        return true;
    }
    let native = |parts: &[Part]| matches!(parts, [Part::Hole { codec: Codec::Native, .. }]);
    native(left) || native(right) || may_meet(left, right, false)
}

fn equal(fixed: Fixed) -> Met {
    let op = if fixed.begins { CondOp::Begins } else { CondOp::Eq };
    Met { row: fixed.row, op, plan: fixed.plan }
}

fn unclear(aligned: Aligned) -> Found {
    match aligned {
        Aligned::Disjoint => Found::Elsewhere,
        Aligned::Ambiguous(why) => Found::Unclear { lint: "K2", why },
        Aligned::Apart(why) => Found::Unclear { lint: "A4", why },
        Aligned::Fixes(..) => Found::Unclear { lint: "A4", why: String::new() },
    }
}

type End<'a> = (BoundKind, &'a [Part]);

/// Returns the lower and the upper end.
fn ends(bounds: &[(BoundKind, Vec<Part>)]) -> (Option<End<'_>>, Option<End<'_>>) {
    let mut low = None;
    let mut high = None;
    for (kind, parts) in bounds {
        match kind {
            BoundKind::Begins => {
                low = Some((BoundKind::From, parts.as_slice()));
                high = Some((BoundKind::Through, parts.as_slice()));
            }
            BoundKind::From | BoundKind::After => low = Some((*kind, parts.as_slice())),
            _ => high = Some((*kind, parts.as_slice())),
        }
    }
    (low, high)
}

/// Returns the common beginning of the existing ends, and the rest of each.
fn divided(low: Option<Vec<Part>>, high: Option<Vec<Part>>) -> (Vec<Part>, Vec<Part>, Vec<Part>) {
    match (low, high) {
        (Some(low), Some(high)) => split(&low, &high),
        (low, high) => (Vec::new(), low.unwrap_or_default(), high.unwrap_or_default()),
    }
}

/// Returns the longest common beginning of two lists of parts, and the rest of each.
fn split(a: &[Part], b: &[Part]) -> (Vec<Part>, Vec<Part>, Vec<Part>) {
    let mut common = Vec::new();
    for (index, (x, y)) in a.iter().zip(b).enumerate() {
        if x == y {
            common.push(x.clone());
            continue;
        }
        let (mut left, mut right) =
            (a.get(index..).unwrap_or(&[]).to_vec(), b.get(index..).unwrap_or(&[]).to_vec());
        if let (Part::Literal(p), Part::Literal(q)) = (x, y) {
            let length = common_prefix(p, q);
            if length > 0 {
                common.push(Part::Literal(p.get(..length).unwrap_or("").to_owned()));
            }
            cut(&mut left, length);
            cut(&mut right, length);
        }
        return (common, left, right);
    }
    let length = common.len();
    (common, a.get(length..).unwrap_or(&[]).to_vec(), b.get(length..).unwrap_or(&[]).to_vec())
}

/// Removes the first bytes of a leading literal.
pub(super) fn cut(parts: &mut Vec<Part>, length: usize) {
    let Some(Part::Literal(text)) = parts.first_mut() else { return };
    *text = text.get(length..).unwrap_or("").to_owned();
    if text.is_empty() {
        parts.remove(0);
    }
}

/// Returns the meaning of an interval of one column for the family's parts there, and the parts
/// behind it.
fn interval(
    bounds: &[(BoundKind, Vec<Part>)],
    parts: &[Part],
    typed: bool,
    known: &[Met],
) -> Result<(Vec<Met>, Vec<Part>), Found> {
    let (low, high) = ends(bounds);
    if typed {
        return Ok((typed_interval(low, high, parts)?, parts.to_vec()));
    }
    let as_written = |end: Option<End<'_>>| end.map(|(_, end)| end.to_vec());
    let (common, a, b) = divided(as_written(low), as_written(high));
    if low.is_some() && high.is_some() && certain_order(&a, &b) == Some(std::cmp::Ordering::Greater)
    {
        let why = "the lower end lies above the upper end, for every input".to_owned();
        return Err(Found::Nothing(why));
    }
    if let (Some((BoundKind::From, _)), Some((BoundKind::To | BoundKind::Before, _))) = (low, high)
        && a.is_empty()
        && b.is_empty()
        && !matches!(common.last(), Some(Part::End))
    {
        let why = "both ends of the range are one text, and rows go on behind it".to_owned();
        return Err(Found::Nothing(why));
    }
    // A text that says no more than where all rows begin or end stays what it is.
    covered(low, high, (common, a, b), (parts, known)).or_else(|written| {
        let as_read = |end: Option<End<'_>>| end.map(|(_, end)| named(end, parts));
        let read = (as_read(low), as_read(high));
        if read == (as_written(low), as_written(high)) {
            return Err(written);
        }
        let (mut met, rest) = covered(low, high, divided(read.0, read.1), (parts, known))?;
        met.retain(|met| !holds_always(met, parts));
        Ok((met, rest))
    })
}

/// Returns an end and the rows' parts without a text that all rows and the end have there: the
/// other end may differ in it, as in `from "d#<day>" to "d$"`.
fn behind_common(end: &[Part], rest: &[Part]) -> (Vec<Part>, Vec<Part>) {
    let (mut end, mut rest) = (end.to_vec(), rest.to_vec());
    if let (Some(Part::Literal(text)), Some(Part::Literal(all))) = (end.first(), rest.first())
        && text.starts_with(all.as_str())
    {
        let length = all.len();
        cut(&mut end, length);
        cut(&mut rest, length);
    }
    (end, rest)
}

/// Returns true if the type of a part implies it already.
fn holds_always(met: &Met, parts: &[Part]) -> bool {
    let Term::Const(Value::Int(end)) = &met.plan else { return false };
    parts.iter().any(|part| match part {
        Part::Hole { term, ty: Type::Int(Some((low, high))), .. } if *term == met.row => {
            match met.op {
                CondOp::Ge => low >= end,
                CondOp::Gt => low > end,
                CondOp::Le => high <= end,
                CondOp::Lt => high < end,
                _ => false,
            }
        }
        _ => false,
    })
}

/// Returns the meaning of two ends for the family's parts, behind their common beginning; what the
/// columns before fix is known.
fn covered(
    low: Option<End<'_>>,
    high: Option<End<'_>>,
    (common, a, b): (Vec<Part>, Vec<Part>, Vec<Part>),
    (parts, known): (&[Part], &[Met]),
) -> Result<(Vec<Met>, Vec<Part>), Found> {
    let (fixed, rest) = match align(&common, parts) {
        Aligned::Fixes(fixed, rest) => (fixed, rest),
        other => return Err(unclear(other)),
    };
    let begins_open = fixed.last().is_some_and(|fixed| fixed.begins);
    let mut met: Vec<Met> = fixed.into_iter().map(equal).collect();
    let from = low.is_some_and(|(kind, _)| kind != BoundKind::After);
    if begins_open && from && a.is_empty() && ends_above_all(high, &b, &rest) {
        return Ok((met, rest));
    }
    if begins_open && !(a.is_empty() && b.is_empty()) {
        let why = "the ends go on inside a value".to_owned();
        return Err(Found::Unclear { lint: "K2", why });
    }
    if let Some((kind, _)) = low {
        let (end, rest) = behind_common(&a, &rest);
        met.extend(lower(kind, &end, &rest)?);
    }
    if let Some((kind, _)) = high {
        let (end, rest) = behind_common(&b, &rest);
        met.extend(upper(kind, &end, &rest, known)?);
    }
    Ok((met, rest))
}

fn typed_interval(
    low: Option<End<'_>>,
    high: Option<End<'_>>,
    parts: &[Part],
) -> Result<Vec<Met>, Found> {
    let mut met = Vec::new();
    let Some(Part::Hole { term: row, .. }) = parts.first() else {
        return Err(Found::Unclear { lint: "A4", why: "no value".to_owned() });
    };
    for (kind, end) in [low, high].into_iter().flatten() {
        let op = match kind {
            BoundKind::From | BoundKind::Begins => CondOp::Ge,
            BoundKind::After => CondOp::Gt,
            BoundKind::To | BoundKind::Through => CondOp::Le,
            BoundKind::Before => CondOp::Lt,
        };
        let [Part::Hole { term, .. }] = end else {
            let why = "a typed column is compared with one value".to_owned();
            return Err(Found::Unclear { lint: "A4", why });
        };
        met.push(Met { row: row.clone(), op, plan: term.clone() });
    }
    Ok(met)
}

/// Returns the order of two texts for every input, when literals already decide it.
fn certain_order(a: &[Part], b: &[Part]) -> Option<std::cmp::Ordering> {
    match (a.first(), b.first()) {
        (Some(Part::Literal(a)), Some(Part::Literal(b))) => {
            let order = a.cmp(b);
            let decided = !a.starts_with(b.as_str()) && !b.starts_with(a.as_str());
            decided.then_some(order)
        }
        _ => None,
    }
}

fn unordered() -> Found {
    Found::Unclear { lint: "K1", why: "texts do not compare as the values do".to_owned() }
}

fn sentinel(why: &str) -> Found {
    Found::Unclear { lint: "K5", why: why.to_owned() }
}

/// Returns the meaning of the lower end, behind the common beginning.
fn lower(kind: BoundKind, end: &[Part], rest: &[Part]) -> Result<Option<Met>, Found> {
    let after = kind == BoundKind::After;
    match end {
        [] if !after => Ok(None),
        [] => Err(Found::Nothing("the range begins behind everything that begins so".to_owned())),
        [Part::Literal(text)] if !after && !may_fall_below(rest, text) => Ok(None),
        [Part::Literal(text), ..] if above_all(text, rest) => Ok(None),
        [Part::Literal(_), ..] => {
            Err(sentinel("the lower end is a text that may lie above some rows"))
        }
        [asked @ Part::Hole { term, .. }, behind @ ..] => {
            let (found, row, next) = same_hole(asked, rest)?;
            if !compares(asked, behind, found, next) {
                return Err(unordered());
            }
            let whole = behind.is_empty() || behind == [Part::End];
            let met = |op| Ok(Some(Met { row: row.clone(), op, plan: term.clone() }));
            match (after, whole) {
                (false, true) => met(CondOp::Ge),
                (false, false) if begins_with(next, behind) => met(CondOp::Ge),
                (true, _) if excludes_all(asked, found, behind, next) => met(CondOp::Gt),
                _ => Err(sentinel("the lower end cuts through the rows of one value")),
            }
        }
        _ => Err(sentinel("the lower end ends where no row does")),
    }
}

/// Returns the meaning of the upper end, behind the common beginning.
fn upper(
    kind: BoundKind,
    end: &[Part],
    rest: &[Part],
    known: &[Met],
) -> Result<Option<Met>, Found> {
    let included = matches!(kind, BoundKind::To | BoundKind::Through);
    match end {
        // All those rows have the text of the end, which is in the range.
        [] | [Part::End] if included && rest == [Part::End] => Ok(None),
        [] if kind == BoundKind::Through => Ok(None),
        [] => Err(Found::Nothing(
            "the upper end is where all those rows begin, so none lies below it".to_owned(),
        )),
        [Part::Literal(text)] if kind != BoundKind::Through => {
            if !may_exceed(rest, text, kind == BoundKind::Before) {
                Ok(None)
            } else {
                Err(sentinel(&format!("rows may lie above the sentinel {text:?}")))
            }
        }
        // Whatever the end goes on with, all rows lie below how it begins.
        [Part::Literal(text), ..] if !may_exceed(rest, text, true) => Ok(None),
        [asked @ Part::Hole { term, .. }, behind @ ..] => {
            let (found, row, next) = same_hole(asked, rest)?;
            // All rows have the very text of the end here, and whatever begins with it is in the range.
            let same = |met: &Met| met.op == CondOp::Eq && met.row == *row && met.plan == *term;
            if kind == BoundKind::Through && behind.is_empty() && known.iter().any(same) {
                return Ok(None);
            }
            if !compares(asked, behind, found, next) {
                return Err(unordered());
            }
            let met = |op| Ok(Some(Met { row: row.clone(), op, plan: term.clone() }));
            let whole = behind.is_empty() || behind == [Part::End];
            match kind {
                BoundKind::Before if whole || begins_with(next, behind) => met(CondOp::Lt),
                BoundKind::To if whole => {
                    // Rows of this very value go on behind it and lie above, unless it is last.
                    match next {
                        [] | [Part::End] => met(CondOp::Le),
                        next if first_of(next).end => Err(sentinel(
                            "of the rows of one value only those lie below that end with it",
                        )),
                        _ => met(CondOp::Lt),
                    }
                }
                BoundKind::Through if excludes_all(asked, found, behind, next) => met(CondOp::Le),
                BoundKind::To => match behind {
                    [Part::Literal(text)]
                        if !may_exceed(next, text, false) && sentinel_below(asked, found, text) =>
                    {
                        met(CondOp::Le)
                    }
                    _ => Err(sentinel("rows may lie above the sentinel")),
                },
                _ => Err(sentinel("the upper end cuts through the rows of one value")),
            }
        }
        _ => Err(sentinel("the upper end is no text of these rows")),
    }
}

/// Returns true if all texts of the rows lie above all that begin with this one.
fn above_all(text: &str, rest: &[Part]) -> bool {
    let mut head = text.to_owned();
    let Some(last) = head.pop() else { return false };
    let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
    head.extend(next);
    next.is_some() && !may_fall_below(rest, &head)
}

/// Returns the family's hole that the plan's hole is aligned with, its term, and the parts behind
/// it.
fn same_hole<'a>(
    asked: &Part,
    rest: &'a [Part],
) -> Result<(&'a Part, &'a Term, &'a [Part]), Found> {
    let (Part::Hole { .. }, Some((found, next))) = (asked, rest.split_first()) else {
        return Err(sentinel("the end of the range has a value where the rows have none"));
    };
    match found {
        Part::Hole { term, .. } if same_form(asked, found) => Ok((found, term, next)),
        _ => Err(sentinel("the end of the range writes a value where the rows have another")),
    }
}

/// Returns true if "all that begins with this" is exactly the rows of one value.
fn excludes_all(asked: &Part, found: &Part, behind: &[Part], next: &[Part]) -> bool {
    match behind {
        [] => going_past(asked, found).is_empty(),
        [Part::End] => matches!(next, [Part::End]),
        _ => begins_with(next, behind),
    }
}

/// Returns true if every text of `parts` begins with the literal `wanted`.
fn begins_with(parts: &[Part], wanted: &[Part]) -> bool {
    match (parts.first(), wanted) {
        (Some(Part::Literal(text)), [Part::Literal(wanted)]) => text.starts_with(wanted.as_str()),
        _ => false,
    }
}

/// Returns true if a longer value lies above the sentinel.
fn sentinel_below(asked: &Part, found: &Part, text: &str) -> bool {
    let going_on = going_past(asked, found).min();
    match (text.bytes().next(), going_on) {
        (Some(sentinel), Some(going_on)) => sentinel < going_on,
        _ => true,
    }
}

/// Returns true if the upper end, behind the beginning of a value, lies above all texts that begin
/// so.
///
/// `rest` begins with that value: a row goes on inside it, or with what follows it.
fn ends_above_all(high: Option<End<'_>>, end: &[Part], rest: &[Part]) -> bool {
    let (Some(_), [Part::Literal(limit)], Some((value, next))) = (high, end, rest.split_first())
    else {
        return false;
    };
    let goes_on = Language::of(value).bytes().or(first_of(next).bytes);
    goes_on.max() < limit.bytes().next()
}
