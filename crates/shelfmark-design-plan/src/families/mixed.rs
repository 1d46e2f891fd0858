//! Derives tables for reads of several row types, in which a tag keeps the types apart and in
//! order.

use std::collections::BTreeSet;

use super::serve::constant;
use super::{Planner, completion};
use crate::items::sorts_as_text;
use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::pattern::{Predicate, Source};
use shelfmark_design_language::model::{ColumnPath, OrderKey, Read, RelationId};
use shelfmark_design_language::syntax::tree::CondOp;
use shelfmark_design_prove::paths::is_optional;

/// The table of one such read.
#[derive(Debug, Clone)]
pub(crate) struct Mixed {
    pub(crate) read: usize,
    pub(crate) rows: Vec<MixedRow>,
    /// True for each ordering component that descends.
    pub(crate) descends: Vec<bool>,
    /// True if rows of all types come in one order, and not type by type.
    pub(crate) interleaved: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct MixedRow {
    pub(crate) relation: RelationId,
    /// All attributes of the key.
    pub(crate) keys: Vec<ColumnPath>,
    /// Number of components that the reader knows, and number of those that order the rows.
    pub(crate) known: usize,
    pub(crate) ordering: usize,
    /// True for each ordering component of the read that rows of the type have.
    has: Vec<bool>,
    /// The conditions that rows of the type are only there under.
    pub(crate) when: Vec<Predicate>,
    pub(crate) shown: BTreeSet<ColumnPath>,
    /// The component that sorts the row types in the order of the read.
    pub(crate) tag: String,
}

/// A read of one row type, and the collection that serves it.
#[derive(Debug, Clone)]
pub(crate) struct Gathered {
    pub(super) read: usize,
    pub(super) mixed: usize,
    pub(super) row: usize,
    /// True if the range is read from its end.
    pub(super) flip: bool,
    /// True if the whole key is known.
    pub(super) point: bool,
}

impl MixedRow {
    /// Returns the attribute of an ordering component of the read, if rows of the type have it.
    pub(crate) fn order(&self, at: usize) -> Option<&ColumnPath> {
        let before = self.has.iter().take(at).filter(|has| **has).count();
        self.has.get(at).filter(|has| **has).and_then(|_| self.keys.get(self.known + before))
    }
}

impl Planner<'_> {
    pub(crate) fn mix(&mut self, index: usize, read: &Read) -> Result<(), String> {
        let kinds = match read.order.first() {
            Some((OrderKey::Kind, desc)) => Some(*desc),
            _ => None,
        };
        let interleaved = kinds.is_none() && !read.order.is_empty();
        if interleaved && self.target.plans_texts() && !self.weighing {
            return Err("row types are interleaved; order by kind first".to_owned());
        }
        let order = read.order.get(usize::from(kinds.is_some())..).unwrap_or(&[]);
        let descends: Vec<bool> = order.iter().map(|(_, desc)| *desc).collect();
        if interleaved && descends.iter().any(|desc| Some(desc) != descends.first()) {
            return Err("an index is read in one direction, and this order has two".to_owned());
        }
        let count = read.sources.len();
        // Texts that come in descending order are read backwards, and the row types with them.
        let backwards = self.target.plans_texts() && descends.first() == Some(&true);
        let mut rows = Vec::new();
        let apart = self.is_asked_apart(read)?;
        for (at, source) in read.sources.iter().enumerate() {
            let relation = source.relation;
            if rows.iter().any(|row: &MixedRow| row.relation == relation) {
                return Err("a row type is named twice".to_owned());
            }
            let (equal, range) = self.predicates(source)?;
            if range.is_some() {
                return Err("a range over rows of several types is none of one key".to_owned());
            }
            let when = self.sparsely(source, apart);
            let equal: Vec<ColumnPath> = equal
                .into_iter()
                .filter(|path| !when.iter().any(|one| one.path == *path))
                .collect();
            let mut keys = equal.clone();
            let mut has = Vec::new();
            for (key, _) in order {
                let OrderKey::Columns(paths) = key else { continue };
                // A row type without the attribute is in no order by it.
                let path = paths.get(at).and_then(Option::as_ref);
                has.push(path.is_some());
                keys.extend(path.map(|path| canonical(self.model, relation, path)));
            }
            let ordering = keys.len() - equal.len();
            if interleaved && !self.sorts_whole(relation, &keys, equal.len(), order.len()) {
                return Err("its row types have no order of texts together".to_owned());
            }
            let given: BTreeSet<ColumnPath> = keys.iter().cloned().collect();
            keys.extend(completion(self.model, relation, &given));
            let place = if (kinds == Some(true)) == backwards { at } else { count - 1 - at };
            rows.push(MixedRow {
                relation,
                known: equal.len(),
                ordering,
                keys,
                has,
                when,
                shown: self.outputs(source),
                tag: if interleaved && self.weighing { String::new() } else { tag(place, count) },
            });
        }
        if rows.iter().any(|row| Some(row.known) != rows.first().map(|first| first.known)) {
            return Err("its row types are known by different attributes".to_owned());
        }
        let mixed = Mixed { read: index, rows, descends, interleaved };
        self.has_one_shape(&mixed)?;
        self.mixed.push(mixed);
        Ok(())
    }

    /// Checks that a key has one shape for all row types: a component is of one type, or a text.
    fn has_one_shape(&self, mixed: &Mixed) -> Result<(), String> {
        for at in (0..mixed.descends.len()).filter(|at| !self.one_type(mixed, *at)) {
            if mixed.interleaved {
                return Err("its row types are ordered by values of several types".to_owned());
            }
            if !self.target.plans_texts() && !self.orders_texts(mixed, at) {
                return Err("its row types have different orders, and one shape of keys".to_owned());
            }
        }
        Ok(())
    }

    /// Returns true if row types are known by different numbers of attributes: conditions with constants
    /// then make rows sparse.
    fn is_asked_apart(&self, read: &Read) -> Result<bool, String> {
        let mut known = Vec::new();
        for source in &read.sources {
            known.push(self.predicates(source)?.0.len());
        }
        Ok(known.iter().any(|one| Some(one) != known.first()))
    }

    /// Returns the conditions that rows of a type are only there under: that something is there or not,
    /// and constants, where other types have no such condition.
    fn sparsely(&self, source: &Source, apart: bool) -> Vec<Predicate> {
        let sparse = |one: &&Predicate| match one.op {
            CondOp::Present | CondOp::Absent => true,
            CondOp::Eq if apart && one.path.len() == 1 => {
                one.values.first().and_then(constant).is_some()
            }
            _ => false,
        };
        source.predicates.iter().filter(sparse).cloned().collect()
    }

    /// Returns true if the texts of an ordering component sort as its values do, in all row types that
    /// have it.
    fn orders_texts(&self, mixed: &Mixed, at: usize) -> bool {
        mixed.rows.iter().all(|row| {
            row.order(at).is_none_or(|path| {
                sorts_as_text(&self.model.path_type(row.relation, path))
                    && !is_optional(self.model, row.relation, path)
            })
        })
    }

    /// Returns true if each row has all that orders it, as texts that sort as it does.
    fn sorts_whole(
        &self,
        relation: RelationId,
        keys: &[ColumnPath],
        known: usize,
        wanted: usize,
    ) -> bool {
        let order = keys.get(known..).unwrap_or(&[]);
        let sorts = |path: &ColumnPath| {
            let texts = !self.weighing || sorts_as_text(&self.model.path_type(relation, path));
            texts && !is_optional(self.model, relation, path)
        };
        order.len() == wanted && order.iter().all(sorts)
    }
}

/// Returns a tag; all have one length, so that none begins another.
fn tag(place: usize, count: usize) -> String {
    let width = count.saturating_sub(1).to_string().len();
    format!("{place:0width$}")
}
