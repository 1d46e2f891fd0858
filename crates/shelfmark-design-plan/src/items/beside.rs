//! Local indexes: entries in the partition of their rows, for reads that ask for what is there now.
//!
//! What it is not: no choice. An index that may lag behind is in `candidates`.
//!
//! Invariant: an entry has the partition of a row that may be chosen, and a way through it uses that
//! row.
//!
//! Source: DynamoDB Developer Guide, "Local secondary indexes", read 2026-11.

use std::collections::BTreeSet;

use super::estimate::Estimate;
use super::keys::Key;
use super::needs::{Need, sorts_as_text, typed};
use super::pack::{Form, Layout, mixes, parts};
use super::ways::{Market, Place, Rows, Thing};
use crate::families::names::{Names, snake};
use shelfmark_design_language::model::{ColumnPath, Model};

impl Market<'_> {
    /// Adds the entries by which a read is served beside rows that have what it knows as partition.
    pub(super) fn beside_rows(&mut self, need: &Need) {
        let relation = need.ask.relation;
        let most = self.load.target.local_indexes_max;
        let hosts: Vec<Key> = self
            .rows_of(relation)
            .filter(|(_, rows)| is_host(rows))
            .map(|(_, rows)| rows.key.clone())
            .filter(|key| key.partition.iter().all(|path| need.ask.equal.contains(path)))
            .collect();
        for host in hosts {
            let known = need.ask.equal.iter().filter(|path| !host.partition.contains(path));
            let order = need.ask.tail.iter().map(|(path, _)| path);
            let sort: Vec<ColumnPath> = known.chain(order).cloned().collect();
            let key = Key { partition: host.partition, tag: None, sort, shards: 1 };
            let texts = key.sort.iter().all(|path| {
                sorts_as_text(&self.model.path_type(relation, path)) && path.len() == 1
            });
            let far = need.behind.iter().flat_map(|behind| behind.shown.iter());
            let wide: BTreeSet<ColumnPath> = need.own.iter().chain(far).cloned().collect();
            let shown = self.beside(relation, &key, &wide);
            let when = need.ask.when.clone();
            let rows = Rows { relation, place: Place::Local, key, shown, when };
            let there = self.local_keys(&rows);
            let small = Estimate::new(self.model, self.load).fits_beside(&rows);
            if texts
                && small
                && there < most
                && !rows.key.sort.is_empty()
                && !mixes(self.load, &rows)
                && rows.when.is_empty()
            {
                self.add(rows);
            }
        }
    }

    /// Returns how many other keys local indexes have: one table takes a few.
    fn local_keys(&self, rows: &Rows) -> f64 {
        let mut keys: BTreeSet<(usize, &Key)> = BTreeSet::new();
        for thing in &self.things {
            if let Thing::Rows(one) = thing
                && one.place == Place::Local
                && (one.relation, &one.key) != (rows.relation, &rows.key)
            {
                keys.insert((one.relation, &one.key));
            }
        }
        keys.len() as f64
    }

    /// Returns the rows in whose partition entries may lie.
    pub(super) fn hosts(&self, entry: &Rows) -> Vec<usize> {
        let fits = |rows: &Rows| is_host(rows) && rows.key.partition == entry.key.partition;
        self.rows_of(entry.relation).filter(|(_, rows)| fits(rows)).map(|(at, _)| at).collect()
    }
}

/// Returns true for a row that lies in a partition with others.
fn is_host(rows: &Rows) -> bool {
    let together = !rows.key.sort.is_empty() || rows.key.tag.is_some();
    let whole = rows.key.shards == 1 && !rows.key.partition.is_empty();
    rows.place == Place::Base && together && whole
}

/// Places the entries of local indexes: one index each, beside their row.
pub(super) fn local_indexes(model: &Model, layout: &mut Layout, names: &mut Names) {
    for at in 0..layout.placed.len() {
        let Some(one) = layout.placed.get(at).filter(|one| one.rows.place == Place::Local) else {
            continue;
        };
        let relation = one.rows.relation;
        let of = |one: &super::pack::Placed| {
            one.rows.relation == relation && one.rows.place == Place::Base
        };
        let base = layout.placed.iter().position(of);
        let host = base.and_then(|base| layout.placed.get(base));
        let (head, form, table) = host
            .map_or(Default::default(), |host| (host.head.clone(), host.form, host.table.clone()));
        let alone = match one.rows.key.sort.as_slice() {
            [only] => {
                let name = model.path_text(relation, only);
                let same = |other: &super::pack::Placed| {
                    let columns = &model.relation(other.rows.relation).columns;
                    other.table == table
                        && other.rows.relation != relation
                        && columns.iter().any(|column| column.name == name)
                };
                typed(&model.path_type(relation, only)) && !layout.placed.iter().any(same)
            }
            _ => false,
        };
        let name = format!(
            "{}_by_{}",
            snake(&model.relation(relation).name.text),
            parts(model, &one.rows)
        );
        let Some(one) = layout.placed.get_mut(at) else { continue };
        one.name = names.take(&name);
        one.table.clone_from(&one.name);
        one.head = head;
        one.base = base;
        // A column of its own holds one attribute, of which no other row type has one; else it is a
        // text that tells the row types apart.
        one.form = match form {
            Form::Typed | Form::Direct if alone => Form::Typed,
            Form::Typed => Form::Direct,
            form => form,
        };
    }
}
