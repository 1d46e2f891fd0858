//! Which rows a read has to answer, in which order, and on which pages.

use std::cmp::Ordering;

use shelfmark_engine::ResultPage;
use shelfmark_keycode::{Direction, KeyType};
use shelfmark_model::{
    IndexSchema, Item, Key, Placement, Projected, SortBound, SortColumn, SortCondition, Value,
    item_size_bytes,
};

use super::oracle::{Oracle, is_in};
use super::plan::PlannedCondition;
use super::spec::Spec;
use super::step::{Reading, SortPick};

/// Makes a condition of picks; it may be one that the sort key cannot meet.
pub(super) fn sort_condition(
    columns: &[SortColumn],
    pool: &[Vec<Value>],
    pick: &SortPick,
) -> SortCondition {
    let lower = &pool[usize::from(pick.lower) % pool.len()];
    let upper = &pool[usize::from(pick.upper) % pool.len()];
    let equal = lower[..usize::from(pick.columns) % (columns.len() + 1)].to_vec();
    let next = equal.len();
    let bound = |kind: u8, values: &[Value]| match (kind, values.get(next)) {
        (1, Some(value)) => SortBound::Included(value.clone()),
        (2, Some(value)) => SortBound::Excluded(value.clone()),
        _ => SortBound::Unbounded,
    };
    let some = |kind: u8, values: &[Value]| {
        let width = (1 + usize::from(pick.columns) % 3).min(values.len());
        (kind > 0 && width > 0).then(|| (values[..width].to_vec(), kind == 1))
    };
    match pick.kind {
        0 => SortCondition::all(),
        1 => SortCondition::Equal(equal),
        2 | 3 => SortCondition::Range {
            equal,
            lower: bound(pick.bounds % 3, lower),
            upper: bound(pick.bounds / 3, upper),
        },
        4 => {
            let length = usize::from(pick.bounds % 3);
            let prefix = match lower.get(next) {
                Some(Value::Text(text)) => Value::Text(text.chars().take(length).collect()),
                Some(Value::Bytes(bytes)) => Value::Bytes(bytes.slice(..bytes.len().min(length))),
                _ => Value::text("x"),
            };
            SortCondition::BeginsWith { equal, prefix }
        }
        _ => SortCondition::TupleRange {
            lower: some(pick.bounds % 3, lower),
            upper: some(pick.bounds / 3, upper),
        },
    }
}

/// Whether a condition can be asked of these columns.
pub(super) fn is_valid(columns: &[SortColumn], condition: &SortCondition) -> bool {
    match condition {
        SortCondition::Equal(values) => values.len() <= columns.len(),
        SortCondition::Range { equal, .. } => equal.len() < columns.len(),
        SortCondition::BeginsWith { equal, prefix } => {
            columns.get(equal.len()).is_some_and(|column| {
                matches!(
                    (&column.key_type, prefix),
                    (KeyType::Text, Value::Text(_)) | (KeyType::Bytes, Value::Bytes(_))
                )
            })
        }
        SortCondition::TupleRange { lower, upper } => {
            let widths = [lower, upper].into_iter().flatten().map(|(values, _)| values.len());
            let widest = widths.max().unwrap_or(0);
            columns.get(..widest).is_some_and(|columns| {
                columns.windows(2).all(|pair| pair[0].direction == pair[1].direction)
            })
        }
    }
}

fn compare(a: &[Value], b: &[Value]) -> Ordering {
    let orders = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
    orders.fold(Ordering::Equal, Ordering::then)
}

fn meets(values: &[Value], condition: &SortCondition) -> bool {
    let begins = |equal: &[Value]| compare(values, equal).is_eq();
    match condition {
        SortCondition::Equal(equal) => begins(equal),
        SortCondition::Range { equal, lower, upper } => {
            let value = &values[equal.len()];
            let above = match lower {
                SortBound::Unbounded => true,
                SortBound::Included(bound) => value.total_cmp(bound).is_ge(),
                SortBound::Excluded(bound) => value.total_cmp(bound).is_gt(),
            };
            let below = match upper {
                SortBound::Unbounded => true,
                SortBound::Included(bound) => value.total_cmp(bound).is_le(),
                SortBound::Excluded(bound) => value.total_cmp(bound).is_lt(),
            };
            begins(equal) && above && below
        }
        SortCondition::BeginsWith { equal, prefix } => {
            let starts = match (&values[equal.len()], prefix) {
                (Value::Text(text), Value::Text(prefix)) => text.starts_with(prefix.as_str()),
                (Value::Bytes(bytes), Value::Bytes(prefix)) => bytes.starts_with(prefix),
                _ => false,
            };
            begins(equal) && starts
        }
        SortCondition::TupleRange { lower, upper } => {
            let above = lower.as_ref().is_none_or(|(bound, included)| {
                let order = compare(values, bound);
                order.is_gt() || order.is_eq() && *included
            });
            let below = upper.as_ref().is_none_or(|(bound, included)| {
                let order = compare(values, bound);
                order.is_lt() || order.is_eq() && *included
            });
            above && below
        }
    }
}

/// Compares in the order in which the columns lie.
fn compare_stored(columns: &[SortColumn], a: &[Value], b: &[Value]) -> Ordering {
    let orders = columns.iter().zip(a.iter().zip(b)).map(|(column, (a, b))| {
        let order = a.total_cmp(b);
        if column.direction == Direction::Descending { order.reverse() } else { order }
    });
    orders.fold(Ordering::Equal, Ordering::then)
}

/// Whether two partition keys are one.
fn is_same(placement: Placement, a: &[Value], b: &[Value]) -> bool {
    match placement {
        // By spelling.
        Placement::Hashed => format!("{a:?}") == format!("{b:?}"),
        Placement::Ordered => compare(a, b).is_eq(),
    }
}

fn values(item: &Item, columns: &[SortColumn]) -> Vec<Value> {
    columns.iter().map(|column| item.get(&column.name).cloned().unwrap()).collect()
}

/// A row that an answer has, as the table or index holds it, and its key.
#[derive(Debug, Clone)]
pub(super) struct Expected {
    pub(super) key: Key,
    pub(super) item: Item,
    sort: Vec<Value>,
}

/// The rows of a table, or of a partition of it that meet a condition, in ascending order.
pub(super) fn of_table(
    oracle: &Oracle,
    specs: &[Spec],
    table: usize,
    within: Option<(&[Value], &SortCondition)>,
) -> Vec<Expected> {
    let schema = &specs[table].schema;
    let mut rows: Vec<Expected> = oracle
        .live(specs, table)
        .into_iter()
        .filter(|row| {
            within.is_none_or(|(partition, condition)| {
                is_same(schema.placement, &row.key.partition, partition)
                    && meets(&row.key.sort, condition)
            })
        })
        .map(|row| Expected {
            key: row.key.clone(),
            item: row.item.clone(),
            sort: row.key.sort.clone(),
        })
        .collect();
    rows.sort_by(|a, b| {
        place(specs, table, &a.key)
            .cmp(&place(specs, table, &b.key))
            .then_with(|| compare(&a.key.partition, &b.key.partition))
            .then_with(|| compare_stored(&schema.sort, &a.sort, &b.sort))
    });
    rows
}

/// Where a hashed partition lies; ordered ones lie by their values.
fn place(specs: &[Spec], table: usize, key: &Key) -> Vec<u8> {
    let schema = &specs[table].schema;
    if schema.placement == Placement::Ordered {
        return Vec::new();
    }
    let mut raw = Vec::new();
    let types = schema.partition.iter().map(|column| &column.key_type);
    shelfmark_model::serial::serialise_partition(types, &key.partition, &mut raw).unwrap();
    let mut place = shelfmark_keycode::token_bytes(shelfmark_keycode::token(&raw)).to_vec();
    place.extend_from_slice(&raw);
    place
}

/// The entries of an index, or those of a partition of it that meet a condition. Entries of one
/// index key are in no order that the oracle knows.
pub(super) fn of_index(
    oracle: &Oracle,
    specs: &[Spec],
    table: usize,
    index: &IndexSchema,
    within: Option<(&[Value], &SortCondition)>,
) -> Vec<Expected> {
    let schema = &specs[table].schema;
    let entries = oracle.live(specs, table).into_iter().filter(|row| is_in(index, &row.item));
    let entries = entries.filter_map(|row| {
        let sort = values(&row.item, &index.sort);
        let own: Vec<Value> = index
            .partition
            .iter()
            .map(|column| row.item.get(&column.name).cloned().unwrap())
            .collect();
        let wanted = within.is_none_or(|(partition, condition)| {
            is_same(schema.placement, &own, partition) && meets(&sort, condition)
        });
        let mut item = row.item.clone();
        if index.projected != Projected::All {
            let included: &[String] = match &index.projected {
                Projected::Include(names) => names,
                _ => &[],
            };
            let is_key = |name: &str| {
                schema.is_key(name)
                    || index.partition.iter().any(|column| column.name == name)
                    || index.sort.iter().any(|column| column.name == name)
            };
            item = item
                .into_iter()
                .filter(|(name, _)| is_key(name) || included.iter().any(|own| own == name))
                .collect();
        }
        wanted.then(|| Expected { key: row.key.clone(), item, sort })
    });
    let mut entries: Vec<Expected> = entries.collect();
    entries.sort_by(|a, b| compare_stored(&index.sort, &a.sort, &b.sort));
    entries
}

/// Brings the expected entries into the order in which they were answered, if that order is one
/// that the index may have.
pub(super) fn aligned(
    mut expected: Vec<Expected>,
    answered: &[Item],
    columns: Option<&[SortColumn]>,
    descending: bool,
) -> Vec<Expected> {
    assert_eq!(answered.len(), expected.len(), "{answered:#?}\n{expected:#?}");
    let mut aligned = Vec::with_capacity(expected.len());
    for item in answered {
        let at = expected.iter().position(|one| one.item == *item);
        let at = at.unwrap_or_else(|| panic!("{item:#?} is not expected: {expected:#?}"));
        aligned.push(expected.swap_remove(at));
    }
    for pair in aligned.windows(2) {
        let Some(columns) = columns else { break };
        let order = compare_stored(columns, &pair[0].sort, &pair[1].sort);
        assert!(if descending { order.is_ge() } else { order.is_le() }, "{pair:#?}");
    }
    aligned
}

/// Plays one page of `rows` from `start`, and checks that `page` is it. Returns where it ended.
pub(super) fn check_page(
    page: &ResultPage,
    rows: &[Expected],
    bases: Option<&[Item]>,
    reading: &Reading,
    start: usize,
) -> usize {
    let (mut at, mut bytes, mut items) = (start, 0, Vec::new());
    let filter = PlannedCondition::of(reading.filter);
    let ended = loop {
        let is_full = reading.limit.is_some_and(|limit| at - start >= usize::from(limit))
            || reading.bytes_max.is_some_and(|max| bytes > usize::from(max));
        if is_full {
            break true;
        }
        let Some(row) = rows.get(at) else { break false };
        bytes += item_size_bytes(&row.item);
        let item = bases.map_or(&row.item, |bases| &bases[at]);
        if filter.as_ref().is_none_or(|filter| filter.holds(Some(item))) {
            items.push(item.clone());
        }
        at += 1;
    };
    assert_eq!((page.count, page.evaluated), (items.len(), at - start), "{page:#?}");
    assert_eq!(page.items, if reading.count_only { Vec::new() } else { items });
    let is_left = at < rows.len();
    assert_eq!(page.cursor.is_some(), ended && (is_left || !reading.peek), "{page:#?}");
    let next = rows.get(at).filter(|_| ended && reading.peek).map(|row| row.item.clone());
    assert_eq!(page.next_key, next);
    let steps = &page.report.steps;
    assert_eq!(steps.len(), 1 + usize::from(bases.is_some()));
    for step in steps {
        assert_eq!((step.rows_read, step.rows_returned), ((at - start) as u64, page.count as u64));
    }
    assert_eq!((steps[0].bytes_read, steps[0].ranges.len()), (bytes as u64, 1));
    assert_eq!(steps[0].keys_peeked, u64::from(page.next_key.is_some()));
    if reading.filter == 0 {
        assert_eq!(page.report.rows_read(), page.report.rows_returned());
    }
    at
}
