//! Keeps what indexes include by name within what the target takes: some show all instead.
//!
//! What it is not: no choice of rows. Entries that show more cost more, and that is counted afterwards.
//!
//! Invariant: it counts no fewer names than a request has.
//!
//! Source: DynamoDB API Reference, Projection, read 2026-11.

use std::collections::{BTreeMap, BTreeSet};

use super::pack::{Form, Layout, Placed};
use super::ways::Market;
use shelfmark_design_language::model::{ColumnPath, Model};

/// The entries of an index, as places in a layout, with the attributes that it includes by name.
struct Index {
    entries: Vec<usize>,
    names: usize,
    /// Attributes of its rows that it does not show.
    missing: usize,
}

/// Lets indexes show all where they name too many attributes, those first that lack least.
pub(super) fn widen(market: &Market<'_>, layout: &mut Layout) {
    let Some(most) = market.load.target.included else { return };
    let tables: BTreeSet<String> = layout.placed.iter().map(|one| one.table.clone()).collect();
    for table in tables {
        let mut indexes = of_table(market.model, layout, &table);
        indexes.sort_by_key(|one| (one.missing, std::cmp::Reverse(one.names)));
        let mut sum: usize = indexes.iter().map(|one| one.names).sum();
        let (large, small): (Vec<Index>, Vec<Index>) =
            indexes.into_iter().partition(|one| one.names > most.index_max);
        let count = large.len();
        for (at, index) in large.into_iter().chain(small).enumerate() {
            if at >= count && sum <= most.table_max {
                break;
            }
            sum -= index.names;
            for entry in index.entries {
                if let Some(one) = layout.placed.get_mut(entry) {
                    one.whole = true;
                }
            }
        }
    }
}

/// Returns the indexes of a table that name attributes.
fn of_table(model: &Model, layout: &Layout, table: &str) -> Vec<Index> {
    let mut found: BTreeMap<&str, Index> = BTreeMap::new();
    let mut named: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let rows = layout.placed.iter().filter(|one| !one.rows.place.is_entry());
    let several = rows.filter(|one| one.table == table).count() > 1;
    for (at, one) in layout.placed.iter().enumerate() {
        let base = one.base.and_then(|base| layout.placed.get(base));
        let Some(base) = base.filter(|base| one.rows.place.is_entry() && base.table == table)
        else {
            continue;
        };
        let relation = one.rows.relation;
        let keys: BTreeSet<ColumnPath> = own_columns(base).chain(own_columns(one)).collect();
        let texts = one.rows.key.paths().into_iter().chain(base.rows.key.paths());
        let shown: BTreeSet<ColumnPath> = one.rows.shown.iter().cloned().chain(texts).collect();
        let index = found.entry(one.table.as_str()).or_insert_with(|| Index {
            entries: Vec::new(),
            names: 0,
            missing: 0,
        });
        index.entries.push(at);
        let held = held(model, layout, base);
        index.missing += held.iter().filter(|path| !shown.contains(*path)).count();
        let names = named.entry(one.table.as_str()).or_default();
        let beside = shown.iter().filter(|path| !keys.contains(*path));
        names.extend(beside.map(|path| model.path_text(relation, path)));
        index.names = names.len() + usize::from(several);
    }
    // What lacks nothing has all attributes, and names none.
    found.into_values().filter(|index| index.missing > 0).collect()
}

/// Returns the attributes that columns of a key consist of.
fn own_columns(one: &Placed) -> impl Iterator<Item = ColumnPath> {
    let key = &one.rows.key;
    let partition = match one.form {
        Form::Typed | Form::Direct => key.partition.as_slice(),
        Form::Sorted | Form::Text => &[],
    };
    let sort = match one.form {
        Form::Typed | Form::Sorted => key.sort.as_slice(),
        Form::Direct | Form::Text => &[],
    };
    partition.iter().chain(sort).cloned()
}

/// Returns the attributes that a row holds.
fn held(model: &Model, layout: &Layout, base: &Placed) -> BTreeSet<ColumnPath> {
    let relation = base.rows.relation;
    let own = (0..model.relation(relation).columns.len()).map(|column| vec![column]);
    let copied = layout.copied.iter().filter(|(of, _)| *of == relation);
    own.chain(copied.map(|(_, path)| path.clone())).collect()
}
