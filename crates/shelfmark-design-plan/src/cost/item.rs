//! Computes bytes of the items and index entries that a schema's rows are.
//!
//! On a target with names in its items each attribute counts with its name, a key that is put
//! together is a text beside the attributes in it, and an index holds what any of its row types
//! shows there.
//!
//! What it is not: exact for one item; values have their average length.
//!
//! Invariant: an entry is never larger than its item with both keys.

use std::collections::BTreeSet;

use crate::bytes::{plain_bytes, text_bytes, value_bytes};
use crate::load::present;
use crate::sparse;
use shelfmark_design_language::model::schema::{Codec, Family, FamilyId, Part, Schema, Stored};
use shelfmark_design_language::model::{ColumnPath, Model, Term, canonical};
use shelfmark_design_language::target::Target;
use shelfmark_design_prove::paths::{all_key_paths, asked_by_index};

/// The name and value of the attribute that tells row types apart.
const ROW_TYPE_BYTES: f64 = 10.0;

/// Bytes of a count and of its name.
const COUNT_BYTES: f64 = 12.0;

/// Bytes beside each value of a target without names.
const VALUE_HEAD: f64 = 8.0;

/// A schema whose items are measured.
pub(crate) struct Items<'a> {
    pub(crate) model: &'a Model,
    pub(crate) schema: &'a Schema,
    pub(crate) target: &'a Target,
}

impl Items<'_> {
    /// Returns true if items name their attributes.
    fn named(&self) -> bool {
        self.target.key_shape.is_some()
    }

    /// Returns the bytes of a row, or of an entry of an index.
    pub(crate) fn bytes(&self, id: FamilyId) -> f64 {
        let Some(family) = self.schema.families.get(id) else { return 0.0 };
        let Some(base) = family.base else { return self.row(id, family) };
        let Some(row) = self.schema.families.get(base) else { return 0.0 };
        let own = self.own_columns(family, row);
        let beside_mark: Vec<_> = own
            .iter()
            .enumerate()
            .filter(|(at, _)| !self.is_mark(family, *at))
            .map(|(_, column)| column.clone())
            .collect();
        let mut direct = direct(self.model, &beside_mark, family.source);
        direct.extend(direct_of(self.model, row));
        let names = self.projected(family);
        let carried = self.carried(base, row);
        let beside = carried.iter().filter(|path| {
            !direct.contains(*path) && names.contains(&self.model.path_text(family.source, path))
        });
        let shown: f64 = beside.map(|path| self.attribute(family, path)).sum();
        let keys = self.keys(family, own, true) + self.keys(row, &row.key, false);
        keys + shown + self.row_type(row)
    }

    fn row(&self, id: FamilyId, family: &Family) -> f64 {
        let mut composed = 0.0;
        for (_, entry) in self.schema.entries(id) {
            let own = self.own_columns(entry, family);
            let own = own.iter().enumerate();
            let put_together = own.filter(|(at, column)| {
                self.is_mark(entry, *at) || direct_path(self.model, column, entry.source).is_none()
            });
            let columns: Vec<_> = put_together.map(|(_, column)| column.clone()).collect();
            composed += self.keys(entry, &columns, true) * self.share(entry);
        }
        let direct = direct_of(self.model, family);
        let beside: f64 = self
            .carried(id, family)
            .iter()
            .filter(|path| !direct.contains(*path))
            .map(|path| self.attribute(family, path))
            .sum();
        let kept: f64 = family
            .stored
            .iter()
            .map(|stored| match stored {
                Stored::Path(_) => 0.0,
                Stored::Tally { .. } => COUNT_BYTES,
                Stored::Collect { relation, via, path, .. } => {
                    let each = value_bytes(self.model, *relation, path) + 1.0;
                    each * crate::bytes::elements(self.model, *relation, *via, "avg").unwrap_or(1.0)
                }
            })
            .sum();
        self.keys(family, &family.key, false) + beside + composed + kept + self.row_type(family)
    }

    /// Returns the share of tuples that have a row or entry.
    pub(crate) fn share(&self, family: &Family) -> f64 {
        let keys = all_key_paths(self.model, family);
        let of_keys: f64 =
            keys.iter().map(|path| present(self.model, family.source, path)).product();
        let when: Vec<_> =
            family.when.iter().filter(|one| !keys.contains(&one.path)).cloned().collect();
        of_keys * sparse::share(self.model, family.source, &when)
    }

    fn row_type(&self, family: &Family) -> f64 {
        let several = self.schema.of_table(family.table).count() > 1;
        if several && self.named() { ROW_TYPE_BYTES } else { 0.0 }
    }

    /// Returns the columns of an index's own key, without those of its row behind them.
    fn own_columns<'f>(
        &self,
        entry: &'f Family,
        row: &Family,
    ) -> &'f [shelfmark_design_language::model::schema::Column] {
        let own = entry.key.len().saturating_sub(row.key.len());
        entry.key.get(..own).unwrap_or(&[])
    }

    /// Returns true for the column that an item has only where a sparse index has the item.
    fn is_mark(&self, entry: &Family, at: usize) -> bool {
        !self.schema.own_conditions(entry).is_empty() && self.schema.mark_of(entry) == Some(at)
    }

    /// Returns the attributes that any row type shows in an index.
    fn projected(&self, entry: &Family) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (_, family) in self.schema.of_table(entry.table) {
            let stored = family.stored.iter().filter_map(|stored| match stored {
                Stored::Path(path) => Some(canonical(self.model, family.source, path)),
                _ => None,
            });
            for path in stored.chain(all_key_paths(self.model, family)) {
                names.insert(self.model.path_text(family.source, &path));
            }
        }
        names
    }

    /// Returns the attributes of a row: its own, and what its indexes need.
    fn carried(&self, id: FamilyId, family: &Family) -> BTreeSet<ColumnPath> {
        let mut paths = self.held(family);
        for (_, entry) in self.schema.entries(id) {
            paths.extend(self.held(entry));
            paths.extend(asked_by_index(self.model, self.schema, entry));
        }
        paths
    }

    fn held(&self, family: &Family) -> BTreeSet<ColumnPath> {
        let stored = family.stored.iter().filter_map(|stored| match stored {
            Stored::Path(path) => Some(canonical(self.model, family.source, path)),
            _ => None,
        });
        stored.chain(all_key_paths(self.model, family)).collect()
    }

    /// Returns the bytes of an attribute with its name.
    fn attribute(&self, family: &Family, path: &ColumnPath) -> f64 {
        let ty = self.model.path_type(family.source, path);
        let plain = plain_bytes(&ty, self.target);
        let bytes = plain.unwrap_or_else(|| value_bytes(self.model, family.source, path));
        let head = if self.named() {
            self.model.path_text(family.source, path).len() as f64
        } else {
            VALUE_HEAD
        };
        (head + bytes) * present(self.model, family.source, path)
    }

    /// Returns the bytes of key columns with their names.
    fn keys(
        &self,
        family: &Family,
        columns: &[shelfmark_design_language::model::schema::Column],
        index: bool,
    ) -> f64 {
        let table = self.schema.tables.get(family.table);
        let of_index = table.map_or(0, |table| table.name.text.len()) as f64 + 3.0;
        let mut sum = 0.0;
        for column in columns {
            let name = match direct_path(self.model, column, family.source) {
                Some(path) => self.model.path_text(family.source, &path).len() as f64,
                None if index => of_index,
                None => 2.0,
            };
            sum += if self.named() { name } else { 0.0 };
            sum += column.parts.iter().map(|part| self.part(family, part)).sum::<f64>();
        }
        sum
    }

    fn part(&self, family: &Family, part: &Part) -> f64 {
        match part {
            Part::Literal(text) => text.len() as f64,
            Part::End => 0.0,
            Part::Hole { term, ty, codec } => {
                let fixed = match codec {
                    Codec::Native => plain_bytes(ty, self.target),
                    codec => text_bytes(ty, *codec),
                };
                fixed.unwrap_or_else(|| match term {
                    Term::Column(path) => value_bytes(self.model, family.source, path),
                    _ => 8.0,
                })
            }
        }
    }
}

/// Returns the attribute that a key column consists of, if it is one by itself.
fn direct_path(
    model: &Model,
    column: &shelfmark_design_language::model::schema::Column,
    source: usize,
) -> Option<ColumnPath> {
    match column.parts.as_slice() {
        [Part::Hole { term: Term::Column(path), codec: Codec::Native, .. }] => {
            Some(canonical(model, source, path))
        }
        [Part::Hole { term: Term::Column(path), codec: Codec::Plain, ty }, Part::End]
            if ty.is_text() =>
        {
            Some(canonical(model, source, path))
        }
        _ => None,
    }
}

fn direct(
    model: &Model,
    columns: &[shelfmark_design_language::model::schema::Column],
    source: usize,
) -> BTreeSet<ColumnPath> {
    columns.iter().filter_map(|column| direct_path(model, column, source)).collect()
}

fn direct_of(model: &Model, family: &Family) -> BTreeSet<ColumnPath> {
    direct(model, &family.key, family.source)
}
