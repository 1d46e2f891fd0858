//! Translates the conditions on key attributes to one partition and one range of sort keys.

use std::sync::Arc;

use shelfmark_engine::Table;
use shelfmark_model::{Item, SortBound, SortCondition, Value};

use crate::errors::{Error, Result, texts, type_name};
use crate::expression::{KeyCondition, KeyRelation};
use crate::table::{Target, check_not_empty, key_letter, of_condition};
use crate::transfers::ExportFilter;

/// One contiguous range of a partition, and the conditions behind it.
#[derive(Debug)]
pub(super) struct KeyRange {
    pub(super) partition: Vec<Value>,
    pub(super) sort: SortCondition,
    conditions: Vec<KeyCondition>,
}

impl KeyRange {
    /// Fits key conditions to the queried key: equality on every partition column, then equality on
    /// leading sort columns, then at most one range.
    pub(super) fn of(target: &Target, conditions: Vec<KeyCondition>) -> Result<Self> {
        let columns = target.partition().len() + target.sort().len();
        if conditions.len() > columns {
            let text = texts::too_many_key_conditions(conditions.len(), columns);
            return Err(Error::validation(text));
        }
        let find = |name: &str| conditions.iter().find(|condition| condition.attribute == name);
        if target.partition().len() > 1 {
            check_partition(target, &conditions)?;
        }
        let mut used = 0;
        let mut partition = Vec::with_capacity(target.partition().len());
        for column in target.partition() {
            let Some(condition) = find(&column.name) else {
                return Err(Error::validation(texts::key_condition_missing(&column.name)));
            };
            check_types(condition, key_letter(&column.key_type))?;
            let KeyRelation::Equal(value) = &condition.relation else {
                return Err(Error::validation(texts::KEY_CONDITION_NOT_SUPPORTED));
            };
            check_not_empty(&column.name, value)?;
            partition.push(value.clone());
            used += 1;
        }
        let mut equal = Vec::new();
        let mut range = None;
        let mut missing = None;
        for column in target.sort() {
            let condition = find(&column.name).filter(|_| range.is_none() && missing.is_none());
            let Some(condition) = condition else {
                missing.get_or_insert(&column.name);
                continue;
            };
            check_types(condition, key_letter(&column.key_type))?;
            for value in condition.relation.values() {
                check_not_empty(&column.name, value)?;
            }
            used += 1;
            if let KeyRelation::Equal(value) = &condition.relation {
                equal.push(value.clone());
            } else {
                range = Some(condition.relation.clone());
            }
        }
        if target.global_index().is_some_and(|index| index.sort.len() > 1) {
            check_gap(target, &conditions)?;
        }
        if used < conditions.len() {
            return Err(Error::validation(match missing.filter(|_| range.is_none()) {
                Some(name) => texts::key_condition_missing(name),
                None => texts::KEY_CONDITION_NOT_SUPPORTED.to_owned(),
            }));
        }
        Ok(Self { partition, sort: sort_condition(equal, range), conditions })
    }

    /// Checks that a position lies in the range, by the conditions on its sort key first.
    pub(super) fn check_position(&self, target: &Target, position: &Item) -> Result<()> {
        let is_partition = |condition: &&KeyCondition| {
            target.partition().iter().any(|column| column.name == condition.attribute)
        };
        let holds = |condition: &KeyCondition| {
            let value = position.get(&condition.attribute);
            value.is_some_and(|value| condition.relation.holds(value))
        };
        let (partition, sort): (Vec<_>, Vec<_>) = self.conditions.iter().partition(is_partition);
        // Another face's rows may have sort keys that compare with nothing; the range decides.
        let is_in_order = target.table.is_shared() || sort.iter().all(|condition| holds(condition));
        if !is_in_order {
            return Err(Error::validation(texts::START_KEY_RANGE));
        }
        if !partition.iter().all(|condition| holds(condition)) {
            let text =
                if sort.is_empty() { texts::START_KEY_OUTSIDE } else { texts::START_KEY_ONE_ROW };
            return Err(Error::validation(text));
        }
        Ok(())
    }
}

/// Checks that the key condition of an export is one of Query, and that its filter leaves the key to it.
pub(super) fn check_export_filter(table: &Arc<Table>, filter: &ExportFilter) -> Result<()> {
    if filter.keys.is_empty() {
        return Ok(());
    }
    let target = Target::find(Arc::clone(table), None)?;
    KeyRange::of(&target, filter.keys.clone())?;
    let mut paths = Vec::new();
    if let Some(condition) = filter.condition() {
        of_condition(condition, &mut paths);
    }
    match paths.iter().find(|path| target.is_key(&path.attribute)) {
        Some(path) => {
            let text = texts::filter_on_key("Filter Expression", &path.attribute);
            Err(Error::validation(text))
        }
        None => Ok(()),
    }
}

/// Refuses conditions that leave a partition column of several without an equality.
fn check_partition(target: &Target, conditions: &[KeyCondition]) -> Result<()> {
    let is_equal = |name: &str| {
        conditions.iter().any(|condition| {
            condition.attribute == name && matches!(condition.relation, KeyRelation::Equal(_))
        })
    };
    let names = target.partition().iter().map(|column| column.name.as_str());
    let open: Vec<&str> = names.filter(|name| !is_equal(name)).collect();
    match open.is_empty() {
        true => Ok(()),
        false => Err(Error::validation(texts::key_condition_open(&open.join(", ")))),
    }
}

/// Refuses a condition on a sort column behind ones that have no equality.
fn check_gap(target: &Target, conditions: &[KeyCondition]) -> Result<()> {
    let find = |name: &str| conditions.iter().find(|condition| condition.attribute == name);
    let mut open = Vec::new();
    for column in target.sort() {
        match find(&column.name) {
            Some(_) if !open.is_empty() => {
                let text = texts::key_condition_gap(&open.join(", "), &column.name);
                return Err(Error::validation(text));
            }
            Some(condition) if matches!(condition.relation, KeyRelation::Equal(_)) => {}
            _ => open.push(column.name.as_str()),
        }
    }
    Ok(())
}

fn sort_condition(equal: Vec<Value>, range: Option<KeyRelation>) -> SortCondition {
    let Some(range) = range else { return SortCondition::Equal(equal) };
    let (lower, upper) = match range {
        KeyRelation::BeginsWith(prefix) => return SortCondition::BeginsWith { equal, prefix },
        KeyRelation::Equal(value) => {
            (SortBound::Included(value.clone()), SortBound::Included(value))
        }
        KeyRelation::Less(value) => (SortBound::Unbounded, SortBound::Excluded(value)),
        KeyRelation::LessOrEqual(value) => (SortBound::Unbounded, SortBound::Included(value)),
        KeyRelation::Greater(value) => (SortBound::Excluded(value), SortBound::Unbounded),
        KeyRelation::GreaterOrEqual(value) => (SortBound::Included(value), SortBound::Unbounded),
        KeyRelation::Between(lower, upper) => {
            (SortBound::Included(lower), SortBound::Included(upper))
        }
    };
    SortCondition::Range { equal, lower, upper }
}

fn check_types(condition: &KeyCondition, letter: &str) -> Result<()> {
    if condition.relation.values().into_iter().all(|value| type_name(value) == letter) {
        return Ok(());
    }
    Err(Error::validation(texts::KEY_CONDITION_TYPE))
}
