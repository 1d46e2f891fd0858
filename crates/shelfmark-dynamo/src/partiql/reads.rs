//! Finds the key ranges that a SELECT reads: one for each partition and each range of sort keys that
//! WHERE names, or the whole table or index.
//!
//! An alternative of WHERE that says what the partition key equals becomes ranges; if one does not,
//! all is scanned. What the ranges do not say stays as a filter of each, so they need not be exact.
//! Several alternatives about one partition are one read with a filter where none of them names a
//! range of sort keys; where their ranges have keys in common the statement is refused, as by the
//! service.
//!
//! Invariant: the ranges of one statement have no item in common.

use std::cmp::Ordering;

use shelfmark_model::{Comparison, Condition, Operand, Path, SortBound, SortCondition, Value};

use super::ast::{Expr, ExprKind, OrderBy, Step};
use super::condition::{check_key_type, equality};
use super::intervals::overlap;
use crate::errors::{Error, Result, texts};
use crate::limits::{
    HASH_KEY_SIZE_BYTES_MAX, IN_HASH_VALUES_MAX, PARTITION_READS_MAX, RANGE_KEY_SIZE_BYTES_MAX,
};
use crate::table::{Target, check_value, key_letter};

/// One contiguous read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Read {
    pub(crate) partition: Value,
    pub(crate) sort: SortCondition,
    /// The rest of the condition.
    pub(crate) filter: Option<Condition>,
}

/// The reads of a SELECT.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reads {
    /// Everything, with a filter.
    Scan(Option<Condition>),
    /// These, one after the other, each in the order of its keys or against it.
    Keyed(Vec<Read>, Direction),
}

/// The direction of reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Direction {
    pub(crate) descending: bool,
    /// True if the partitions are those of IN, whose pages are short.
    pub(crate) is_in: bool,
    /// True if OR joins what names the partitions.
    pub(crate) is_any: bool,
}

/// One alternative of a condition, without the equality on the partition key.
struct Branch {
    /// Conditions on the first sort column, each a range; without any, all of it.
    sorts: Vec<SortCondition>,
    /// The conditions that the ranges leave.
    filter: Vec<Condition>,
    /// All conditions but the one on the partition key.
    whole: Vec<Condition>,
    /// True if a condition on the sort key is negated: no range stands for it.
    is_negated: bool,
}

impl Reads {
    /// Finds the reads of a condition.
    ///
    /// # Errors
    ///
    /// * ValidationException: a key has a value of another type, too many partitions are named, or
    ///   alternatives overlap.
    pub(crate) fn of(condition: Option<Condition>, target: &Target) -> Result<Self> {
        let Some(condition) = condition else { return Ok(Self::Scan(None)) };
        let Some(hash) = target.partition().first() else { return Ok(Self::Scan(Some(condition))) };
        let mut partitions: Vec<(Value, Vec<Branch>)> = Vec::new();
        let mut is_in = false;
        let branches = branches(&condition, &hash.name);
        let is_any = branches.len() > 1;
        for leaves in branches {
            let place = leaves.iter().position(|leaf| hash_values(leaf, &hash.name).is_some());
            let values = place.and_then(|place| hash_values(leaves.get(place)?, &hash.name));
            let (Some(place), Some(values)) = (place, values) else {
                return Ok(Self::Scan(Some(condition)));
            };
            if values.len() > IN_HASH_VALUES_MAX {
                return Err(Error::validation(texts::in_operand_count(values.len())));
            }
            is_in |= values.len() > 1;
            for value in values {
                check_key_type(&hash.name, value, key_letter(&hash.key_type))?;
                check_value(&hash.name, value, HASH_KEY_SIZE_BYTES_MAX)?;
                let others = leaves.iter().enumerate().filter(|(at, _)| *at != place);
                let branch = branch(others.map(|(_, leaf)| (*leaf).clone()).collect(), target)?;
                match partitions.iter_mut().find(|(own, _)| own.equals(value)) {
                    // An element that stands in the list twice says nothing new.
                    Some((_, own)) if own.iter().any(|own| own.whole == branch.whole) => {}
                    Some((_, own)) => own.push(branch),
                    None => partitions.push((value.clone(), vec![branch])),
                }
            }
        }
        if partitions.len() > PARTITION_READS_MAX {
            return Err(Error::validation(texts::in_operand_count(partitions.len())));
        }
        let mut reads = Vec::with_capacity(partitions.len());
        for (partition, branches) in partitions {
            reads.extend(of_partition(&partition, branches, target.sort().len())?);
        }
        in_order(&mut reads, false, false);
        Ok(Self::Keyed(reads, Direction { descending: false, is_in, is_any }))
    }

    /// Puts the reads in the order of ORDER BY: partition after partition, each by its sort key.
    ///
    /// # Errors
    ///
    /// * ValidationException: it names what is no key, or WHERE names no partition.
    pub(crate) fn ordered(self, order: &[OrderBy], target: &Target) -> Result<Self> {
        if order.is_empty() {
            return Ok(self);
        }
        let mut of_hash = false;
        let mut of_sort = false;
        for element in order {
            let name = order_name(&element.expr)?;
            if !target.is_key(name) {
                return Err(Error::validation(texts::order_by_other(name)));
            }
            match target.partition().iter().any(|column| column.name == *name) {
                true => of_hash |= element.descending,
                false => of_sort |= element.descending,
            }
        }
        let Self::Keyed(mut reads, direction) = self else {
            return Err(Error::validation(texts::ORDER_BY_WITHOUT_HASH));
        };
        in_order(&mut reads, of_hash, of_sort);
        Ok(Self::Keyed(reads, Direction { descending: of_sort, ..direction }))
    }

    /// Returns the filters of the reads, each a part of WHERE.
    pub(crate) fn filters(&self) -> Vec<&Condition> {
        match self {
            Self::Scan(filter) => filter.iter().collect(),
            Self::Keyed(reads, _) => reads.iter().filter_map(|read| read.filter.as_ref()).collect(),
        }
    }
}

/// Returns the attribute that an element of ORDER BY names.
fn order_name(expr: &Expr) -> Result<&String> {
    let of = match &expr.kind {
        ExprKind::Path(steps) => match steps.as_slice() {
            [Step::Name(name)] => return Ok(name),
            _ => "PATH",
        },
        ExprKind::Number(text) | ExprKind::Text(text) => text,
        ExprKind::Parameter(_) => "PARAMETER",
        _ => "NARY",
    };
    Err(Error::validation(texts::order_by_type(of)))
}

/// Sorts reads by partition, then by where their ranges begin.
fn in_order(reads: &mut [Read], partitions_descend: bool, sorts_descend: bool) {
    let turned = |order: Ordering, descends: bool| if descends { order.reverse() } else { order };
    reads.sort_by(|one, other| {
        let sorts = compared(start_of(&one.sort), start_of(&other.sort));
        let partitions = one.partition.total_cmp(&other.partition);
        turned(partitions, partitions_descend).then(turned(sorts, sorts_descend))
    });
}

/// Returns the value at which a range begins, to put several in order.
fn start_of(sort: &SortCondition) -> Option<&Value> {
    match sort {
        SortCondition::Equal(equal) => equal.first(),
        SortCondition::BeginsWith { equal, prefix } => Some(equal.first().unwrap_or(prefix)),
        SortCondition::Range { equal, lower, .. } => equal.first().or(match lower {
            SortBound::Included(value) | SortBound::Excluded(value) => Some(value),
            SortBound::Unbounded => None,
        }),
        SortCondition::TupleRange { .. } => None,
    }
}

/// Compares two beginnings; a range without one is before all others.
fn compared(one: Option<&Value>, other: Option<&Value>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => one.total_cmp(other),
        (one, other) => one.is_some().cmp(&other.is_some()),
    }
}

/// Returns the alternatives of a condition, each the conditions that it joins. Only what helps to
/// find partitions is multiplied out.
fn branches<'c>(condition: &'c Condition, hash: &str) -> Vec<Vec<&'c Condition>> {
    match condition {
        Condition::Or(any) if !any.is_empty() => {
            any.iter().flat_map(|condition| branches(condition, hash)).collect()
        }
        Condition::And(all) if !all.is_empty() => {
            let mut leaves = Vec::with_capacity(all.len());
            flatten(all, &mut leaves);
            if leaves.iter().any(|leaf| hash_values(leaf, hash).is_some()) {
                return vec![leaves];
            }
            let place = leaves.iter().position(|leaf| {
                matches!(leaf, Condition::Or(_))
                    && branches(leaf, hash)
                        .iter()
                        .all(|inner| inner.iter().any(|leaf| hash_values(leaf, hash).is_some()))
            });
            let Some(place) = place else { return vec![leaves] };
            let alternatives = branches(leaves.swap_remove(place), hash);
            alternatives.into_iter().map(|inner| [inner, leaves.clone()].concat()).collect()
        }
        leaf => vec![vec![leaf]],
    }
}

fn flatten<'c>(all: &'c [Condition], leaves: &mut Vec<&'c Condition>) {
    for condition in all {
        match condition {
            Condition::And(inner) if !inner.is_empty() => flatten(inner, leaves),
            leaf => leaves.push(leaf),
        }
    }
}

/// Returns the values that a condition says the partition key equals one of.
fn hash_values<'c>(condition: &'c Condition, hash: &str) -> Option<Vec<&'c Value>> {
    equality(condition, hash).map(|value| vec![value]).or_else(|| among(condition, hash))
}

/// Returns the values that IN says an attribute equals one of.
fn among<'c>(condition: &'c Condition, attribute: &str) -> Option<Vec<&'c Value>> {
    let Condition::In(Operand::Path(path), among) = condition else { return None };
    let given = among.iter().map(|operand| match operand {
        Operand::Value(value) => Some(value),
        Operand::Path(_) | Operand::Size(_) => None,
    });
    if !is_attribute(path, attribute) {
        return None;
    }
    given.collect()
}

fn is_attribute(path: &Path, attribute: &str) -> bool {
    path.steps.is_empty() && path.attribute == attribute
}

/// Splits the conditions of an alternative into ranges of sort keys and a filter.
fn branch(whole: Vec<Condition>, target: &Target) -> Result<Branch> {
    let mut branch =
        Branch { sorts: Vec::new(), filter: Vec::new(), whole: whole.clone(), is_negated: false };
    let mut equal: Vec<Value> = Vec::new();
    let mut rest = whole;
    for column in target.sort() {
        let letter = key_letter(&column.key_type);
        let taken = Taken::out_of(&mut rest, &column.name, letter)?;
        branch.is_negated |= taken.is_negated && equal.is_empty();
        match taken.points {
            Some(mut points) if points.len() == 1 => equal.append(&mut points),
            Some(points) if equal.is_empty() => {
                branch.sorts =
                    points.into_iter().map(|value| SortCondition::Equal(vec![value])).collect();
                break;
            }
            Some(_) => {
                rest.extend(taken.used);
                break;
            }
            None => {
                branch.sorts.extend(taken.range(std::mem::take(&mut equal)));
                break;
            }
        }
    }
    if branch.sorts.is_empty() && !equal.is_empty() {
        branch.sorts.push(SortCondition::Equal(equal));
    }
    branch.filter = rest;
    Ok(branch)
}

/// The conditions on one sort column that are ranges.
struct Taken {
    /// The values that it equals one of.
    points: Option<Vec<Value>>,
    lower: SortBound,
    upper: SortBound,
    prefix: Option<Value>,
    used: Vec<Condition>,
    is_negated: bool,
}

impl Taken {
    /// Takes the conditions on a column that make one range out of a list.
    fn out_of(rest: &mut Vec<Condition>, name: &str, letter: &str) -> Result<Self> {
        let mut taken = Self {
            points: None,
            lower: SortBound::Unbounded,
            upper: SortBound::Unbounded,
            prefix: None,
            used: Vec::new(),
            is_negated: rest.iter().any(|own| is_negation(own, name)),
        };
        let has_points = |own: &Condition| hash_values(own, name).is_some();
        if let Some(place) = rest.iter().position(has_points) {
            let condition = rest.remove(place);
            let mut points: Vec<Value> = Vec::new();
            for value in hash_values(&condition, name).into_iter().flatten() {
                check_key_type(name, value, letter)?;
                check_value(name, value, RANGE_KEY_SIZE_BYTES_MAX)?;
                if !points.iter().any(|own| own.equals(value)) {
                    points.push(value.clone());
                }
            }
            taken.points = Some(points);
            taken.used.push(condition);
            return Ok(taken);
        }
        let mut left = Vec::with_capacity(rest.len());
        for condition in std::mem::take(rest) {
            match taken.narrow(&condition, name, letter)? {
                true => taken.used.push(condition),
                false => left.push(condition),
            }
        }
        *rest = left;
        Ok(taken)
    }

    /// Narrows the range by a condition; returns false if it is none on the column, or a second one
    /// at the same end.
    fn narrow(&mut self, condition: &Condition, name: &str, letter: &str) -> Result<bool> {
        let Some((lower, upper, prefix)) = range_of(condition, name) else { return Ok(false) };
        let values = [&lower, &upper].into_iter().filter_map(|bound| match bound {
            SortBound::Included(value) | SortBound::Excluded(value) => Some(value),
            SortBound::Unbounded => None,
        });
        for value in values.chain(prefix.iter()) {
            check_key_type(name, value, letter)?;
            check_value(name, value, RANGE_KEY_SIZE_BYTES_MAX)?;
        }
        let is_open = |bound: &SortBound| *bound == SortBound::Unbounded;
        let has_bounds = !is_open(&self.lower) || !is_open(&self.upper);
        if self.prefix.is_some() || prefix.is_some() && has_bounds {
            return Ok(false);
        }
        if !is_open(&lower) && !is_open(&self.lower) || !is_open(&upper) && !is_open(&self.upper) {
            return Ok(false);
        }
        self.prefix = prefix;
        if !is_open(&lower) {
            self.lower = lower;
        }
        if !is_open(&upper) {
            self.upper = upper;
        }
        Ok(true)
    }

    /// Returns the range behind these equal columns, if there is one.
    fn range(self, equal: Vec<Value>) -> Option<SortCondition> {
        if let Some(prefix) = self.prefix {
            return Some(SortCondition::BeginsWith { equal, prefix });
        }
        let (lower, upper) = (self.lower, self.upper);
        if lower == SortBound::Unbounded && upper == SortBound::Unbounded {
            return (!equal.is_empty()).then_some(SortCondition::Equal(equal));
        }
        Some(SortCondition::Range { equal, lower, upper })
    }
}

/// Returns the bounds and the prefix that a condition sets an attribute, if it does.
fn range_of(condition: &Condition, name: &str) -> Option<(SortBound, SortBound, Option<Value>)> {
    use SortBound::{Excluded, Included, Unbounded};
    match condition {
        Condition::Compare(comparison, Operand::Path(path), Operand::Value(value))
            if is_attribute(path, name) =>
        {
            let value = value.clone();
            match comparison {
                Comparison::Less => Some((Unbounded, Excluded(value), None)),
                Comparison::LessOrEqual => Some((Unbounded, Included(value), None)),
                Comparison::Greater => Some((Excluded(value), Unbounded, None)),
                Comparison::GreaterOrEqual => Some((Included(value), Unbounded, None)),
                Comparison::Equal | Comparison::NotEqual => None,
            }
        }
        Condition::Compare(comparison, Operand::Value(value), Operand::Path(path))
            if is_attribute(path, name) =>
        {
            let value = value.clone();
            match comparison {
                Comparison::Less => Some((Excluded(value), Unbounded, None)),
                Comparison::LessOrEqual => Some((Included(value), Unbounded, None)),
                Comparison::Greater => Some((Unbounded, Excluded(value), None)),
                Comparison::GreaterOrEqual => Some((Unbounded, Included(value), None)),
                Comparison::Equal | Comparison::NotEqual => None,
            }
        }
        Condition::Between(Operand::Path(path), Operand::Value(lower), Operand::Value(upper))
            if is_attribute(path, name) =>
        {
            Some((Included(lower.clone()), Included(upper.clone()), None))
        }
        Condition::BeginsWith(Operand::Path(path), Operand::Value(prefix))
            if is_attribute(path, name) =>
        {
            Some((Unbounded, Unbounded, Some(prefix.clone())))
        }
        _ => None,
    }
}

/// Returns true if a condition denies something of an attribute.
fn is_negation(condition: &Condition, name: &str) -> bool {
    match condition {
        Condition::Not(inner) => {
            let mut paths = Vec::new();
            crate::table::of_condition(inner, &mut paths);
            paths.iter().any(|path| is_attribute(path, name))
        }
        Condition::Compare(Comparison::NotEqual, one, two) => {
            [one, two].into_iter().any(|operand| match operand {
                Operand::Path(path) => is_attribute(path, name),
                Operand::Value(_) | Operand::Size(_) => false,
            })
        }
        _ => false,
    }
}

/// Returns the reads of one partition.
fn of_partition(partition: &Value, branches: Vec<Branch>, columns: usize) -> Result<Vec<Read>> {
    let is_union = branches.iter().any(|branch| branch.is_negated)
        || branches.iter().all(|branch| branch.sorts.is_empty())
        || columns > 1;
    if branches.len() > 1 && is_union {
        let filters: Vec<Option<Condition>> =
            branches.into_iter().map(|branch| joined(branch.whole)).collect();
        let filter: Option<Vec<Condition>> = filters.into_iter().collect();
        return Ok(vec![Read {
            partition: partition.clone(),
            sort: SortCondition::all(),
            filter: filter.map(Condition::Or),
        }]);
    }
    let mut reads: Vec<Read> = Vec::new();
    for branch in branches {
        let filter = joined(branch.filter);
        let sorts = if branch.sorts.is_empty() { vec![SortCondition::all()] } else { branch.sorts };
        if sorts.iter().any(|sort| reads.iter().any(|read| overlap(&read.sort, sort))) {
            return Err(Error::validation(texts::OVERLAPPING_RANGES));
        }
        reads.extend(sorts.into_iter().map(|sort| Read {
            partition: partition.clone(),
            sort,
            filter: filter.clone(),
        }));
    }
    Ok(reads)
}

/// Joins conditions by AND; none of them is no condition.
fn joined(mut all: Vec<Condition>) -> Option<Condition> {
    match all.len() {
        0 => None,
        1 => all.pop(),
        _ => Some(Condition::And(all)),
    }
}
