//! The choice of the index that serves a `SELECT`, and what it leaves to be tested.
//!
//! What it is not: the decision whether an index is needed, which is `prepare`'s.
//!
//! Invariant: an index is chosen only if it has every row that is asked for.

use std::sync::Arc;

use shelfmark_cql_types::CqlType;

use super::nearest::is_floats;
use super::prepare::{clustering_needs_filter, is_equal};
use crate::schema::{Index, IndexTarget, Table};
use crate::statement::relation::{Multi, MultiTest, Restrictions, Test};

/// Returns how many columns of the key need no index, since it answers what is asked of them.
pub(super) fn keyed_columns(table: &Table, own: &Restrictions) -> usize {
    let named =
        (0..table.partition_count).all(|at| matches!(own.of(at), [Test::Equal(_) | Test::In(_)]));
    match named {
        true if clustering_needs_filter(table, own) => table.partition_count,
        true => table.partition_count + table.clustering_count,
        false => 0,
    }
}

/// An index, and the restriction that it serves.
pub(super) struct UsableIndex {
    /// Its place among the table's.
    pub(super) index: usize,
    /// The place of the restricted column, and of the test among its tests.
    pub(super) column: usize,
    pub(super) test: usize,
}

/// Returns the first index that serves a restriction: one that leaves nothing to be allowed before
/// others, and of these equalities before ranges.
///
/// `from` is the first column that is looked at; `by_partition` asks for rows partition by partition.
pub(super) fn usable_index(
    table: &Table,
    own: &Restrictions,
    from: usize,
    by_partition: bool,
) -> Option<UsableIndex> {
    let serving = |(number, index): (usize, &Index)| {
        let is_scattered = index.shared.as_ref().is_some_and(|own| !own.in_partition);
        match index.is_public && !(is_scattered && by_partition) {
            true => serves(table, own, from, number, index),
            false => None,
        }
    };
    let mut found: Vec<(UsableIndex, bool)> =
        table.indexes.iter().enumerate().filter_map(serving).collect();
    let is_named = |at: usize| matches!(own.of(at), [Test::Equal(_) | Test::In(_)]);
    let all_named = (0..table.partition_count).all(is_named);
    let is_exact =
        |(found, _): &(UsableIndex, bool)| !needs_more_than(table, own, found, all_named);
    let equal = |(_, is_equal): &(UsableIndex, bool)| *is_equal;
    let exact_and_equal = found.iter().position(|own| equal(own) && is_exact(own));
    let chosen = exact_and_equal
        .or_else(|| found.iter().position(is_exact))
        .or_else(|| found.iter().position(equal))
        .unwrap_or(0);
    (chosen < found.len()).then(|| found.swap_remove(chosen).0)
}

/// Returns the restriction that an index serves, and whether it is an equality.
fn serves(
    table: &Table,
    own: &Restrictions,
    from: usize,
    number: usize,
    index: &Index,
) -> Option<(UsableIndex, bool)> {
    // Those on vectors serve the order alone.
    let (at, column) =
        table.find(&index.column).filter(|(at, column)| *at >= from && !is_floats(&column.kind))?;
    let in_partition = index.shared.as_ref().is_some_and(|own| own.in_partition);
    if in_partition && !(0..table.partition_count).all(|at| is_equal(own, at)) {
        return None;
    }
    if leaves_rows_out(table, own, index) || !is_looked_up(table, own, index) {
        return None;
    }
    let tests = own.of(at);
    let equal = tests.iter().position(|test| finds(index, &column.kind, test));
    let is_ranged = |test: &Test| ranges(index, &column.kind, in_partition, test);
    let test = equal.or_else(|| tests.iter().position(is_ranged))?;
    Some((UsableIndex { index: number, column: at, test }, equal.is_some()))
}

/// Returns true if an index finds the one value that a restriction names.
fn finds(index: &Index, ty: &CqlType, test: &Test) -> bool {
    match (test, index.target) {
        (Test::Equal(_), target) => matches!(target, IndexTarget::Value | IndexTarget::Full),
        (Test::Contains(_), IndexTarget::Values | IndexTarget::Value) => ty.is_multi_cell(),
        (Test::Contains(_), IndexTarget::Keys) => matches!(ty, CqlType::Set { .. }),
        (Test::ContainsKey(_), IndexTarget::Keys) | (Test::Entry(..), IndexTarget::Entries) => true,
        _ => false,
    }
}

/// Returns true if an index finds the values of a range.
fn ranges(index: &Index, ty: &CqlType, in_partition: bool, test: &Test) -> bool {
    matches!(test, Test::Lower(..) | Test::Upper(..))
        && matches!(index.target, IndexTarget::Value | IndexTarget::Full)
        && (in_partition || index.is_sai() && !is_literal(ty))
}

/// Returns true if an index of another face's table may lack a row that is asked for: it has those
/// alone that have all attributes of its key.
fn leaves_rows_out(table: &Table, own: &Restrictions, index: &Index) -> bool {
    let Some(shared) = &index.shared else { return false };
    let may_be_null = |name: &Arc<str>| {
        let key = table.partition_count + table.clustering_count;
        table.find(name).is_none_or(|(at, _)| at >= key && own.of(at).is_empty())
    };
    shared.order.iter().any(may_be_null)
}

/// Returns true if all columns are given one value by which an index of another face's table is looked
/// up, beside its first.
fn is_looked_up(table: &Table, own: &Restrictions, index: &Index) -> bool {
    let Some(shared) = &index.shared else { return true };
    let has_value = |name: &Arc<str>| {
        table.find(name).is_some_and(|(at, _)| matches!(own.of(at), [Test::Equal(_)]))
    };
    shared.order.iter().take(shared.looked_up).all(has_value)
}

/// Returns true if storage attached indexes compare values of a type by equality alone.
///
/// Source: Cassandra 5.0, `TypeUtil.isLiteral` and `StorageAttachedIndex.EQ_ONLY_TYPES`, read 2026-11.
fn is_literal(ty: &CqlType) -> bool {
    let by_equality = matches!(*ty, CqlType::Boolean | CqlType::Uuid);
    ty.is_string() || !matches!(ty, CqlType::Native(_)) || by_equality
}

/// Returns true if an index of a table of CQL's own is read by a range of its values.
pub(super) fn is_range_of_values(table: &Table, own: &Restrictions, found: &UsableIndex) -> bool {
    let test = own.of(found.column).get(found.test);
    !table.is_shared() && matches!(test, Some(Test::Lower(..) | Test::Upper(..)))
}

/// Returns true if there are restrictions that the index, and the named partition, do not answer.
pub(super) fn needs_more_than(
    table: &Table,
    own: &Restrictions,
    found: &UsableIndex,
    in_partition: bool,
) -> bool {
    let sai = table.indexes.get(found.index).is_some_and(crate::schema::Index::is_sai);
    // Storage attached indexes answer together. Of a key column each test has to be one that an index
    // takes; of others any that stands beside those is tested without being allowed, as there.
    let served = |at: usize| {
        sai && table.columns.get(at).is_some_and(|column| {
            let answers = |test: &Test, index: &Index| {
                index.is_sai()
                    && index.column == column.name
                    && (!column.role.is_key()
                        || finds(index, &column.kind, test)
                        || ranges(index, &column.kind, false, test))
            };
            own.of(at).iter().all(|test| table.indexes.iter().any(|index| answers(test, index)))
        })
    };
    let ordered = table.indexes.get(found.index).map_or(0, |index| ordered_by(table, own, index));
    let extra = own.single.iter().filter(|(at, tests)| {
        let in_key = **at < table.partition_count && in_partition;
        if in_key || served(**at) || is_ordered(table, found.index, **at, ordered) {
            return false;
        }
        **at != found.column || tests.len() > 1
    });
    // A prefix of the clustering key in a named partition needs no test either; beside a range of tokens
    // it is tested without being allowed, unless an index would take it.
    let prefix = !clustering_needs_filter(table, own)
        && (in_partition || !own.token.is_empty() && !has_clustering_index(table, own));
    let clustering = table.partition_count..table.partition_count + table.clustering_count;
    extra.filter(|(at, _)| !(prefix && clustering.contains(*at) && **at != found.column)).count()
        > 0
        || (!own.multi.is_empty() && !prefix)
}

/// Returns true if a restriction of a clustering column is one that an index of the column takes.
fn has_clustering_index(table: &Table, own: &Restrictions) -> bool {
    let takes = |at: usize, test: &Test| {
        table.columns.get(at).is_some_and(|column| {
            let of_column = table.indexes.iter().filter(|index| index.column == column.name);
            of_column.clone().any(|index| {
                finds(index, &column.kind, test) || ranges(index, &column.kind, false, test)
            })
        })
    };
    let clustering = table.partition_count..table.partition_count + table.clustering_count;
    let single = own.single.iter().filter(|(at, _)| clustering.contains(*at));
    let of_tuples = |multi: &Multi| {
        let columns = table.clustering_columns().iter().skip(multi.start).take(multi.count);
        let mut indexed = columns
            .flat_map(|column| table.indexes.iter().filter(|index| index.column == column.name));
        match multi.test {
            MultiTest::Equal(..) => indexed.next().is_some(),
            MultiTest::Lower(..) | MultiTest::Upper(..) => indexed.any(Index::is_sai),
            MultiTest::In(..) | MultiTest::InMarker(..) => false,
        }
    };
    single.into_iter().any(|(at, tests)| tests.iter().any(|test| takes(*at, test)))
        || own.multi.iter().any(of_tuples)
}

/// Returns how many of the columns that an index of another face's table is ordered by are looked up
/// in it: those with one value, and a range behind them.
pub(super) fn ordered_by(table: &Table, own: &Restrictions, index: &Index) -> usize {
    let Some(shared) = &index.shared else { return 0 };
    let tests = |name: &Arc<str>| table.find(name).map_or(&[][..], |(at, _)| own.of(at));
    let in_range = |name: &&Arc<str>| {
        let tests = tests(name);
        !tests.is_empty() && tests.iter().all(Test::is_slice)
    };
    // An index of one partition is looked up by its first column, which may be a range itself.
    let first = table.find(&index.column).map_or(&[][..], |(at, _)| own.of(at));
    if !matches!(first, [Test::Equal(_)]) {
        return 0;
    }
    let equal = shared.order.iter().take_while(|name| matches!(tests(name), [Test::Equal(_)]));
    let equal = equal.count();
    equal + usize::from(shared.order.get(equal).as_ref().is_some_and(in_range))
}

/// Returns true if a column is one that an index of another face's table answers for.
fn is_ordered(table: &Table, index: usize, at: usize, ordered: usize) -> bool {
    let Some(index) = table.indexes.get(index) else { return false };
    let Some(shared) = &index.shared else { return false };
    let name = table.columns.get(at).map(|own| &own.name);
    let is_own = shared.in_partition && name == Some(&index.column);
    is_own || shared.order.iter().take(ordered).any(|own| Some(own) == name)
}
