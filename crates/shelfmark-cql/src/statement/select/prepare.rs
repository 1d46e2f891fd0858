//! A whole `SELECT` prepared, with Cassandra's refusals in its order.

use std::collections::BTreeSet;
use std::sync::Arc;

use shelfmark_cql_protocol::{ColumnSpec, CqlError, Result, invalid};
use shelfmark_cql_syntax::ast::{self, Direction, Selector};
use shelfmark_cql_types::CqlType;
use shelfmark_cql_types::term::{Expr, Receiver, Scope};

use super::group_by::group_by;
use super::index_choice::{is_range_of_values, keyed_columns, needs_more_than, usable_index};
use super::masked::with_masks;
use super::nearest::{check_vectors, nearest};
use super::selection::{Selection, selection};
use super::show::shown;
use super::{Access, Select, SharedRead};
use crate::schema::{ColumnKind, Table};
use crate::statement::modify::integer;
use crate::statement::relation::{
    Multi, MultiTest, Purpose, Restrictions, Test, restrictions, undefined_column,
};
use crate::statement::shared::{check_tokens, name_only_partition};

/// The refusal of a statement that would read more than it answers.
pub(super) const FILTERING: &str = "Cannot execute this query as it might involve data filtering and thus may have unpredictable performance. If you want to execute this query despite the performance unpredictability, use ALLOW FILTERING";

/// Prepares a `SELECT`.
///
/// # Errors
///
/// * `Invalid`: it cannot be answered, or only by filtering that was not allowed.
pub(crate) fn prepare_select(
    select: &ast::Select,
    table: &Arc<Table>,
    scope: &mut Scope<'_>,
) -> Result<Select> {
    // Of tables with statics the selection is looked at first, as far as it is resolved; everything
    // else that is wrong with it is said after the restrictions.
    let chosen = selection(&select.selection, table, scope);
    if chosen.is_err()
        && let Some(error) = first_error(&select.selection, table, scope)
    {
        return Err(error);
    }
    check_orderings(select, table)?;
    let nearest = nearest(select, table, scope)?;
    let own = shared_restrictions(select, table, scope)?;
    check_vectors(&own, table, nearest.as_ref())?;
    if let Some(nearest) = &nearest {
        nearest.check(select, &own, table)?;
    }
    let only_statics = selects_only_statics(&select.selection, table);
    let allowed = select.allow_filtering || nearest.is_some();
    let reads = Reads { only_statics, by_partition: counts_by_partition(select) };
    let Reading { access, filters, refused, by_index } = access(allowed, table, &own, &reads)?;
    let chosen = chosen?;
    let group_by = grouping(select, table, &chosen, &own, nearest.is_some(), scope)?;
    let warning = aggregation_warning(&own, table)
        .filter(|_| !chosen.aggregates.is_empty() || !group_by.is_empty());
    let (ordered, reversed) = match &nearest {
        Some(_) => (Vec::new(), false),
        None => order(select, table, &own, &access, by_index)?,
    };
    if refused {
        return invalid(FILTERING);
    }
    check_open_range(select, table, &own, &access)?;
    check_tuple_filters(table, &own)?;
    let mut limit = |name, term: Option<&ast::IntegerValue>| {
        let to = Receiver { name, ty: &CqlType::Int };
        term.map(|own| integer(own, to, scope)).transpose()
    };
    let per_partition = select.per_partition_limit.as_ref();
    let limits =
        (limit("[limit]", select.limit.as_ref())?, limit("[per_partition_limit]", per_partition)?);
    let needs_statics = needs_statics(&chosen, &own, nearest.as_ref(), &access, table);
    let shared = shared_read(&chosen, &own, nearest.as_ref(), table);
    let read = Select {
        table: Arc::clone(table),
        result: result_columns(&chosen, table, select.json),
        shown: shown(&chosen.items, table)
            .filter(|all| !table.is_shared() && all.len() <= table.columns.len())
            .filter(|_| !select.json && access == Access::Partitions && names_many(table, &own))
            .filter(|_| nearest.is_none()),
        items: chosen.items,
        names: chosen.names,
        types: chosen.types,
        json: select.json,
        distinct: select.distinct,
        aggregates: chosen.aggregates,
        group_by,
        restrictions: own,
        access,
        filters,
        reversed,
        ordered,
        nearest,
        needs_statics,
        limit: limits.0,
        per_partition_limit: limits.1,
        warning,
        masked: None,
        shared,
    };
    with_masks(read, scope.schema)
}

/// Refuses an order by a column that is not there.
fn check_orderings(select: &ast::Select, table: &Table) -> Result<()> {
    for ordering in &select.order_by {
        let name = ordering.column.as_str();
        table.column(name).ok_or_else(|| undefined_column(name, table))?;
    }
    Ok(())
}

/// Returns the restrictions of the statement; those of an ordered table name its one partition.
fn shared_restrictions(
    select: &ast::Select,
    table: &Arc<Table>,
    scope: &mut Scope<'_>,
) -> Result<Restrictions> {
    let mut own =
        restrictions(&select.relations, table, select.allow_filtering, Purpose::Select, scope)?;
    check_tokens(table, &own)?;
    name_only_partition(table, &mut own);
    Ok(own)
}

/// Returns the columns of `GROUP BY`, and refuses what does not go with aggregation.
fn grouping(
    select: &ast::Select,
    table: &Table,
    chosen: &Selection,
    own: &Restrictions,
    is_nearest: bool,
    scope: &mut Scope<'_>,
) -> Result<Vec<Expr>> {
    if is_nearest && !(chosen.aggregates.is_empty() && select.group_by.is_empty()) {
        return invalid("Top-K queries can not be run with aggregation");
    }
    if select.distinct {
        if select.per_partition_limit.is_some() {
            return invalid("PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries");
        }
        check_distinct(select, chosen, own, table)?;
    }
    let group_by = group_by(select, table, own, scope)?;
    if select.per_partition_limit.is_some() && !chosen.aggregates.is_empty() && group_by.is_empty()
    {
        return invalid("PER PARTITION LIMIT is not allowed with aggregate queries.");
    }
    Ok(group_by)
}

/// Returns true if static columns have to be read.
fn needs_statics(
    chosen: &Selection,
    own: &Restrictions,
    nearest: Option<&super::nearest::Nearest>,
    access: &Access,
    table: &Table,
) -> bool {
    let is_static =
        |at: &usize| table.columns.get(*at).is_some_and(|own| own.role == ColumnKind::Static);
    table.has_statics()
        && (chosen.columns.iter().any(is_static)
            || own.single.keys().any(is_static)
            || nearest.is_some_and(|nearest| is_static(&nearest.at))
            || matches!(access, Access::Index { .. }))
}

/// Returns what is looked at of another face's table; `None` for a table of CQL's.
fn shared_read(
    chosen: &Selection,
    own: &Restrictions,
    nearest: Option<&super::nearest::Nearest>,
    table: &Table,
) -> Option<SharedRead> {
    let stored = table.stored.as_ref().filter(|_| table.is_shared())?;
    let places = chosen.columns.iter().chain(own.single.keys());
    let places = places.copied().chain(nearest.map(|nearest| nearest.at));
    let columns = places.filter_map(|at| table.columns.get(at));
    let looked_at: BTreeSet<u32> =
        columns.filter(|own| !own.role.is_key()).map(|own| own.id).collect();
    let is_shown = stored.others_column().is_some_and(|id| looked_at.contains(&id));
    Some(SharedRead { narrow: stored.without_others().filter(|_| !is_shown), looked_at })
}

/// Tells whether more than one row may be meant: a single one is looked up.
fn names_many(table: &Table, own: &Restrictions) -> bool {
    let key_count = table.partition_count + table.clustering_count;
    table.clustering_count > 0 && !(0..key_count).all(|at| matches!(own.of(at), [Test::Equal(_)]))
}

/// Returns the warning for an aggregation that reads more than one partition.
fn aggregation_warning(own: &Restrictions, table: &Table) -> Option<&'static str> {
    let mut key = (0..table.partition_count).flat_map(|at| own.of(at)).peekable();
    if key.peek().is_none() && own.token.is_empty() {
        Some("Aggregation query used without partition key")
    } else if key.any(|test| matches!(test, Test::In(_))) {
        Some("Aggregation query used on multiple partition keys (IN restriction)")
    } else {
        None
    }
}

fn result_columns(chosen: &Selection, table: &Table, json: bool) -> Arc<[ColumnSpec]> {
    let spec = |name: Arc<str>, kind: CqlType| ColumnSpec {
        keyspace: Arc::clone(&table.keyspace),
        table: Arc::clone(&table.name),
        name,
        kind,
    };
    if json {
        return vec![spec("[json]".into(), CqlType::Text)].into();
    }
    chosen
        .names
        .iter()
        .zip(&chosen.types)
        .map(|(name, ty)| spec(Arc::clone(name), ty.clone()))
        .collect()
}

/// Returns what is wrong with a selection where it is looked at before the restrictions: as far as
/// it takes to tell whether only statics are selected.
fn first_error(selected: &ast::SelectClause, table: &Table, scope: &Scope<'_>) -> Option<CqlError> {
    let ast::SelectClause::Items(items) = selected else { return None };
    if !table.has_statics() {
        return None;
    }
    let first = |wanted: &dyn Fn(ColumnKind) -> bool| {
        let found = items.iter().position(|item| {
            let mut names = Vec::new();
            named(&item.selector, &mut names);
            names.iter().any(|name| table.column(name.as_str()).is_some_and(|own| wanted(own.role)))
        });
        found.map_or(items.len(), |at| at + 1)
    };
    let to_static = first(&|role| role == ColumnKind::Static);
    let to_row = first(&|role| !matches!(role, ColumnKind::Static | ColumnKind::PartitionKey));
    let count = to_static.max(to_row);
    let looked_at = ast::SelectClause::Items(items.iter().take(count).cloned().collect());
    let mut markers = shelfmark_cql_types::term::BindMarkers::default();
    let mut probe = Scope {
        schema: scope.schema,
        keyspace: scope.keyspace,
        table: scope.table,
        markers: &mut markers,
    };
    selection(&looked_at, table, &mut probe).err().filter(|error| is_resolving(&error.message))
}

/// Returns true if an error is of names and calls that are looked up before anything else is.
fn is_resolving(message: &str) -> bool {
    const BEGINNINGS: [&str; 8] = [
        "Undefined column name",
        "Unknown function",
        "Invalid number of arguments",
        "Ambiguous ",
        "Function system.",
        "Type error:",
        "the '",
        "aggregate functions cannot",
    ];
    BEGINNINGS.iter().any(|beginning| message.starts_with(beginning))
        || message.starts_with("Invalid call to function")
            && !message.starts_with("Invalid call to function system.cast_as_")
}

/// Collects the columns that a selector names.
fn named<'s>(selector: &'s Selector, out: &mut Vec<&'s ast::Name>) {
    match selector {
        Selector::Column(name) => out.push(name),
        Selector::Function { arguments: all, .. }
        | Selector::List(all)
        | Selector::Set(all)
        | Selector::Tuple(all) => all.iter().for_each(|own| named(own, out)),
        Selector::MapOrUserType(all) => all.iter().for_each(|(key, value)| {
            named(key, out);
            named(value, out);
        }),
        Selector::Arithmetic { left, right, .. } => {
            named(left, out);
            named(right, out);
        }
        Selector::Cast { selector: inner, .. }
        | Selector::TypeHint { selector: inner, .. }
        | Selector::Negate(inner)
        | Selector::Metadata { of: inner, .. }
        | Selector::Element { of: inner, .. }
        | Selector::Slice { of: inner, .. }
        | Selector::Field { of: inner, .. } => named(inner, out),
        Selector::Literal(_) | Selector::Null | Selector::Marker(_) | Selector::CountRows => {}
    }
}

fn selects_only_statics(selected: &ast::SelectClause, table: &Table) -> bool {
    let ast::SelectClause::Items(items) = selected else { return false };
    let mut names = Vec::new();
    items.iter().for_each(|item| named(&item.selector, &mut names));
    let role = |name: &ast::Name| table.column(name.as_str()).map(|own| own.role);
    names.iter().any(|name| role(name) == Some(ColumnKind::Static))
        && names
            .iter()
            .all(|name| matches!(role(name), Some(ColumnKind::Static | ColumnKind::PartitionKey)))
}

/// Refuses restrictions of clustering columns without a partition, which only a look at every row
/// could answer.
fn check_open_range(
    select: &ast::Select,
    table: &Table,
    own: &Restrictions,
    access: &Access,
) -> Result<()> {
    let allowed = select.allow_filtering || table.stored.is_none() && is_open(table);
    if *access == Access::Scan && !allowed && own.restricts_clustering(table) {
        return invalid(FILTERING);
    }
    Ok(())
}

/// Refuses ranges of tuples that are no range of the key: rows are not tested by them.
fn check_tuple_filters(table: &Table, own: &Restrictions) -> Result<()> {
    let mut place = 0;
    while place < table.clustering_count {
        let equal = own.multi.iter().find(|multi| {
            multi.start == place
                && !matches!(multi.test, MultiTest::Lower(..) | MultiTest::Upper(..))
        });
        match (equal, own.of(table.partition_count + place)) {
            (Some(multi), _) => place += multi.count,
            (None, [Test::Equal(_) | Test::In(_)]) => place += 1,
            _ => break,
        }
    }
    let is_filter = |multi: &Multi| {
        multi.start != place && matches!(multi.test, MultiTest::Lower(..) | MultiTest::Upper(..))
    };
    if own.multi.iter().any(is_filter) {
        return invalid("Multi-column slice restrictions cannot be used for filtering.");
    }
    Ok(())
}

fn check_distinct(
    select: &ast::Select,
    chosen: &Selection,
    own: &Restrictions,
    table: &Table,
) -> Result<()> {
    if own.restricts_clustering(table)
        || own
            .single
            .keys()
            .any(|at| table.columns.get(*at).is_some_and(|own| own.role == ColumnKind::Regular))
    {
        return invalid(
            "SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns.",
        );
    }
    let selected = chosen.columns.iter().filter_map(|at| table.columns.get(*at));
    // What the rows of several partitions are sorted by is read with them.
    let is_sorted = (0..table.partition_count).any(|at| matches!(own.of(at), [Test::In(_)]));
    let sorted = select.order_by.iter().filter(|_| is_sorted);
    let sorted = sorted.filter_map(|own| table.column(own.column.as_str()));
    for column in selected.chain(sorted) {
        if !matches!(column.role, ColumnKind::PartitionKey | ColumnKind::Static) {
            return invalid(format!(
                "SELECT DISTINCT queries must only request partition key columns and/or static columns (not {})",
                column.name
            ));
        }
    }
    for (at, column) in table.partition_columns().iter().enumerate() {
        let named = own.of(at).iter().any(|test| matches!(test, Test::Equal(_) | Test::In(_)));
        if !chosen.columns.contains(&at) && !named {
            return invalid(format!(
                "SELECT DISTINCT queries must request all the partition key columns (missing {})",
                column.name
            ));
        }
    }
    Ok(())
}

/// Returns true if a restriction is an equality.
pub(super) fn is_equal(own: &Restrictions, at: usize) -> bool {
    matches!(own.of(at), [Test::Equal(_)])
}

/// The access path of a query: where its rows are read.
struct Reading {
    access: Access,
    /// Rows are tested one by one.
    filters: bool,
    /// More is tested than was allowed; said after everything else.
    refused: bool,
    /// An index serves it, whether it is read or not.
    by_index: bool,
}

/// Says what a query does with the rows that are read.
struct Reads {
    only_statics: bool,
    /// They are counted partition by partition.
    by_partition: bool,
}

/// Returns true if rows are counted partition by partition; entries of an index of another face's table
/// do not lie so.
fn counts_by_partition(select: &ast::Select) -> bool {
    !select.group_by.is_empty() || select.per_partition_limit.is_some() || select.distinct
}

/// Decides where rows are looked for and whether they are tested, or refuses.
fn access(filtering: bool, table: &Table, own: &Restrictions, reads: &Reads) -> Result<Reading> {
    let usable = |from: usize| usable_index(table, own, from, reads.by_partition);
    let index = usable(keyed_columns(table, own));
    let allowed = filtering || table.stored.is_none() && is_open(table);
    let partition = 0..table.partition_count;
    let named =
        partition.clone().filter(|at| matches!(own.of(*at), [Test::Equal(_) | Test::In(_)]));
    let all_named = named.count() == table.partition_count;
    let restricted = partition.clone().filter(|at| !own.of(*at).is_empty()).count();
    let mut uses_index = false;
    let mut filters = false;
    let is_range = !all_named;
    if is_range {
        if restricted > 0 {
            if !allowed && index.is_none() {
                return invalid(FILTERING);
            }
            filters = true;
        }
        uses_index = index.is_some();
    }
    let has_clustering = own.restricts_clustering(table);
    if reads.only_statics && has_clustering {
        return invalid("Cannot restrict clustering columns when selecting only static columns");
    }
    if has_clustering {
        let needs = clustering_needs_filter(table, own);
        if needs {
            if index.is_some() {
                uses_index = true;
            } else if !allowed {
                return Err(clustering_refusal(table, own));
            }
            filters = true;
        } else if is_range {
            filters = true;
        }
    }
    let others = own.other_columns(table);
    let mut index = index;
    if !others.is_empty() {
        // Where rows are tested, an index on the key serves as well as any other.
        index = index.or_else(|| usable(table.partition_count));
        if index.is_some() {
            uses_index = true;
        } else if !allowed {
            return invalid(FILTERING);
        }
        filters = true;
    }
    let index = index.filter(|_| uses_index);
    if let Some(found) = &index {
        if partition.clone().any(|at| matches!(own.of(at), [Test::In(_)])) {
            return invalid(
                "Select on indexed columns and with IN clause for the PRIMARY KEY are not supported",
            );
        }
        let refused = !allowed && needs_more_than(table, own, found, all_named);
        // The entries of a range lie in the order of their values: they would not come partition by
        // partition, nor in the order of one partition's rows.
        let in_order = all_named || reads.by_partition;
        if !(in_order && is_range_of_values(table, own, found)) {
            let access = Access::Index {
                index: found.index,
                column: found.column,
                test: found.test,
                in_partition: all_named,
            };
            return Ok(Reading { access, filters: true, refused, by_index: true });
        }
        let access = without_index(all_named);
        return Ok(Reading { access, filters: true, refused, by_index: true });
    }
    Ok(Reading { access: without_index(all_named), filters, refused: false, by_index: false })
}

/// Returns where rows are read without an index.
const fn without_index(all_named: bool) -> Access {
    if all_named { Access::Partitions } else { Access::Scan }
}

/// Returns true if the table is virtual: such tables are small and filtered without `ALLOW
/// FILTERING`.
fn is_open(table: &Table) -> bool {
    crate::schema::is_virtual(&table.keyspace)
}

/// Returns true if the clustering restrictions are more than a prefix with one range behind it.
pub(super) fn clustering_needs_filter(table: &Table, own: &Restrictions) -> bool {
    let mut place = 0;
    let count = table.clustering_count;
    let mut sliced = false;
    let mut seen = 0;
    while place < count && !sliced {
        if let Some(multi) = own.multi.iter().find(|multi| multi.start == place) {
            sliced = matches!(multi.test, MultiTest::Lower(..) | MultiTest::Upper(..));
            seen += own.multi.iter().filter(|other| other.start == place).count();
            place += multi.count;
            continue;
        }
        let tests = own.of(table.partition_count + place);
        if tests.is_empty() {
            break;
        }
        if tests.iter().any(Test::is_contains) {
            return true;
        }
        sliced = tests.iter().any(Test::is_slice);
        seen += 1;
        place += 1;
    }
    let range = table.partition_count..table.partition_count + count;
    let all = own.multi.len() + own.single.keys().filter(|at| range.contains(at)).count();
    seen < all
}

fn clustering_refusal(table: &Table, own: &Restrictions) -> CqlError {
    let mut gap: Option<&str> = None;
    for (at, column) in table.clustering_columns().iter().enumerate() {
        let tests = own.of(table.partition_count + at);
        if tests.iter().any(Test::is_contains) {
            return CqlError::invalid(
                "Clustering columns can only be restricted with CONTAINS with a secondary index or filtering",
            );
        }
        let restricted = !tests.is_empty()
            || own.multi.iter().any(|multi| (multi.start..multi.start + multi.count).contains(&at));
        match gap {
            Some(gap) if restricted => {
                return CqlError::invalid(format!(
                    "PRIMARY KEY column \"{}\" cannot be restricted as preceding column \"{gap}\" is not restricted",
                    column.name
                ));
            }
            None if !restricted => gap = Some(&column.name),
            _ => {}
        }
    }
    CqlError::invalid(FILTERING)
}

/// Returns the columns of `ORDER BY`: one that is named twice stands where it is first, and runs as
/// it is said last.
fn orderings(select: &ast::Select) -> Vec<(&str, Direction)> {
    let mut all: Vec<(&str, Direction)> = Vec::with_capacity(select.order_by.len());
    for own in &select.order_by {
        match all.iter_mut().find(|(name, _)| *name == own.column.as_str()) {
            Some((_, direction)) => *direction = own.direction,
            None => all.push((own.column.as_str(), own.direction)),
        }
    }
    all
}

/// Returns true if a clustering column has one value, alone or in a tuple.
fn is_fixed(own: &Restrictions, table: &Table, place: usize) -> bool {
    let in_tuple = own.multi.iter().any(|multi| {
        (multi.start..multi.start + multi.count).contains(&place)
            && match &multi.test {
                MultiTest::Equal(_) => true,
                MultiTest::In(all) => all.len() == 1,
                _ => false,
            }
    });
    in_tuple || is_equal(own, table.partition_count + place)
}

fn order(
    select: &ast::Select,
    table: &Table,
    own: &Restrictions,
    access: &Access,
    by_index: bool,
) -> Result<(Vec<usize>, bool)> {
    if select.order_by.is_empty() {
        return Ok((Vec::new(), false));
    }
    if by_index {
        return invalid("ORDER BY with 2ndary indexes is not supported, except for ANN queries.");
    }
    if *access == Access::Scan {
        return invalid(
            "ORDER BY is only supported when the partition key is restricted by an EQ or an IN.",
        );
    }
    let mut reversed: Option<bool> = None;
    let mut ordered = Vec::with_capacity(select.order_by.len());
    let mut next = 0;
    for (name, direction) in orderings(select) {
        let column = table.column(name).ok_or_else(|| undefined_column(name, table))?;
        if column.role != ColumnKind::Clustering {
            return invalid(format!(
                "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got {name}"
            ));
        }
        let place = usize::try_from(column.id).unwrap_or(usize::MAX);
        while next < place && is_fixed(own, table, next) {
            next += 1;
        }
        if place != next {
            return invalid(
                "Order by currently only supports the ordering of columns following their declared order in the PRIMARY KEY",
            );
        }
        next += 1;
        ordered.push(table.partition_count + place);
        let against = (direction == Direction::Descending) != column.descending;
        match reversed {
            Some(other) if other != against => return invalid("Unsupported order by relation"),
            _ => reversed = Some(against),
        }
    }
    Ok((ordered, reversed.unwrap_or(false)))
}
