//! Lists candidate rows of each relation: by the keys that reads ask for, as rows themselves, as
//! entries, as second rows, and as rows of unique values.
//!
//! What it is not: no price and no choice.
//!
//! Invariant: a row itself has a key that every write can form and none changes.

use std::collections::BTreeSet;

use super::estimate::Estimate;
use super::keys::{Key, Tag, completed, is_small, keys};
use super::needs::Need;
use super::ways::{Beside, Market, Place, Rows, Thing};
use crate::families::draft::Ask;
use crate::families::mixed::MixedRow;
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::{ColumnPath, Predicate, RelationId, Type};
use shelfmark_design_language::syntax::tree::CondOp;

/// Most candidates of one relation.
///
/// Ours: some forty keys with a few projections each.
const ROWS_MAX: usize = 160;

impl Market<'_> {
    /// Returns true if rows of a relation are read, written anew or counted.
    pub(super) fn has_home(&self, relation: RelationId) -> bool {
        let read = self.needs.needs.iter().any(|need| need.ask.relation == relation);
        let of_mixed = |row: &MixedRow| row.relation == relation;
        let mixed = self.needs.mixed.iter().any(|mixed| mixed.rows.iter().any(of_mixed));
        let behind = self
            .needs
            .needs
            .iter()
            .any(|need| need.behind.iter().any(|behind| behind.owner == relation));
        let counted = self
            .needs
            .counts
            .iter()
            .any(|(_, kept)| kept.parent == relation || kept.counted == relation);
        let changed = self.load.about(relation).next().is_some();
        read || mixed || behind || counted || changed
    }

    pub(super) fn candidates(&mut self, relation: RelationId) {
        let needs: Vec<&Need> =
            self.needs.needs.iter().filter(|need| need.ask.relation == relation).collect();
        let plain: Vec<&Ask> =
            needs.iter().map(|need| &need.ask).filter(|ask| ask.when.is_empty()).collect();
        let tried = keys(self.model, &plain);
        let mut bases = self.splits(relation);
        bases.push(self.primary(relation));
        bases.extend(tried.iter().map(|key| completed(self.model, relation, key)));
        // Where row types come in one order, two of them could share a key.
        let typed = |key: &&Key| key.tag.as_ref().is_some_and(|tag| !tag.text.is_empty());
        let collections = self.collections(relation);
        let of_type = collections.iter().filter(typed);
        bases.extend(of_type.map(|key| completed(self.model, relation, key)));
        for key in tried.iter().chain(&collections) {
            bases.extend(self.uniquely(relation, key));
        }
        for key in bases {
            if self.may_be_base(relation, &key) {
                let key = self.spread(relation, key, None);
                self.add(Rows {
                    relation,
                    place: Place::Base,
                    key,
                    shown: BTreeSet::new(),
                    when: Vec::new(),
                });
            }
        }
        self.guards(relation);
        self.sparse_members(relation);
        if !self.rows_of(relation).any(|(_, rows)| rows.place == Place::Base) {
            // Entries belong to a row: without one, each read has rows of its own.
            needs.iter().for_each(|need| self.copy(need));
            return;
        }
        // Where one table cannot have an index for each, some reads have second rows.
        let crowded = self.are_too_many(&tried, &needs);
        if crowded {
            needs.iter().for_each(|need| self.copy(need));
        }
        for key in tried.iter().chain(&self.collections(relation)) {
            self.indexes(relation, key, &needs, &[]);
        }
        self.sparse_indexes(relation, &needs);
        for need in &needs {
            if need.strong || !need.ask.when.is_empty() || self.names_too_many(&need.own) {
                self.copy(need);
            }
        }
        needs.iter().filter(|need| need.strong).for_each(|need| self.beside_rows(need));
    }

    /// Returns true if indexes by all keys, and by some rows of their own, may be more than a table has.
    fn are_too_many(&self, tried: &[Key], needs: &[&Need]) -> bool {
        let sparse = needs.iter().filter(|need| need.narrow.is_some() || !need.ask.when.is_empty());
        let most = self.load.target.indexes_max;
        (tried.len() + sparse.count()) as f64 > most
    }

    /// Returns the key by which everything is known that has the primary key.
    pub(super) fn primary(&self, relation: RelationId) -> Key {
        let key = self.model.relation(relation).key();
        let partition = key.iter().map(|column| vec![*column]).collect();
        Key { partition, tag: None, sort: Vec::new(), shards: 1 }
    }

    /// Returns the key with what makes it unique, for each declared key but the first.
    fn uniquely(&self, relation: RelationId, key: &Key) -> Vec<Key> {
        let other = |unique: &Vec<usize>| {
            let mut whole = key.clone();
            let held = key.paths();
            let missing = unique.iter().map(|column| vec![*column]);
            whole.sort.extend(missing.filter(|path| !held.contains(path)));
            // Of a row of its own key nothing else has to keep its values apart.
            let own: BTreeSet<ColumnPath> = unique.iter().map(|column| vec![*column]).collect();
            (whole.paths() == own).then_some(whole)
        };
        self.model.relation(relation).keys.iter().skip(1).filter_map(other).collect()
    }

    /// Returns the primary key of two parts and more with its first, or its last, as partition.
    fn splits(&self, relation: RelationId) -> Vec<Key> {
        let key = self.model.relation(relation).key();
        let one = |at: usize| Key {
            partition: key.get(at).map(|column| vec![*column]).into_iter().collect(),
            tag: None,
            sort: key.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, c)| vec![*c]).collect(),
            shards: 1,
        };
        if key.len() < 2 { Vec::new() } else { (0..key.len()).map(one).collect() }
    }

    /// Returns the keys of the collections that rows of a relation lie in.
    fn collections(&self, relation: RelationId) -> Vec<Key> {
        self.tagged(relation, true).into_iter().map(|(key, _)| key).collect()
    }

    /// Returns the keys of whole or of sparse rows in collections, with their row types.
    fn tagged(&self, relation: RelationId, whole: bool) -> Vec<(Key, &MixedRow)> {
        let mut found = Vec::new();
        for mixed in &self.needs.mixed {
            let own = |row: &&MixedRow| row.relation == relation && row.when.is_empty() == whole;
            for row in mixed.rows.iter().filter(own) {
                let (known, rest) = row.keys.split_at(row.known.min(row.keys.len()));
                let order = rest.get(..row.ordering.min(rest.len())).unwrap_or(&[]);
                let tag = Tag { read: mixed.read, text: row.tag.clone() };
                let (partition, sort) = (known.to_vec(), order.to_vec());
                found.push((Key { partition, tag: Some(tag), sort, shards: 1 }, row));
            }
        }
        found
    }

    /// Returns true if every write can form the key from what it is given, and none changes it.
    fn may_be_base(&self, relation: RelationId, key: &Key) -> bool {
        let columns = &self.model.relation(relation).columns;
        let paths = key.paths();
        let primary: BTreeSet<ColumnPath> =
            self.model.relation(relation).key().iter().map(|column| vec![*column]).collect();
        let plain = |path: &ColumnPath| match path.as_slice() {
            [only] => columns
                .get(*only)
                .is_some_and(|column| !column.optional && !matches!(column.ty, Type::List(..))),
            _ => false,
        };
        if !paths.iter().all(plain) {
            return false;
        }
        let empty = key.partition.is_empty();
        if empty && !is_small(self.model, relation) {
            return false;
        }
        // Who does not know the whole primary key looks it up; any other key must be known.
        if paths == primary {
            return true;
        }
        self.load.about(relation).all(|change| {
            let given = |path: &ColumnPath| path.iter().all(|column| change.key.contains(column));
            let moves = paths.iter().flatten().any(|column| change.set.contains(column));
            match change.kind {
                EffectKind::Insert => change.fresh || paths == primary,
                _ => !moves && (change.each == Some(relation) || paths.iter().all(given)),
            }
        })
    }

    /// Returns the key with as many shards as its hottest partition needs.
    fn spread(&self, relation: RelationId, key: Key, shown: Option<&BTreeSet<ColumnPath>>) -> Key {
        let estimate = Estimate::new(self.model, self.load);
        let shards = estimate.shards(relation, &key, shown);
        Key { shards, ..key }
    }

    /// Adds the rows that keep unique values apart, narrow and with what reads by them show.
    fn guards(&mut self, relation: RelationId) {
        let found = self.model.relation(relation);
        let own: BTreeSet<ColumnPath> = found.key().iter().map(|column| vec![*column]).collect();
        for unique in found.keys.iter().skip(1) {
            if !self.is_filled(relation, unique) {
                continue;
            }
            let partition: Vec<ColumnPath> = unique.iter().map(|column| vec![*column]).collect();
            let key = Key { partition, tag: None, sort: Vec::new(), shards: 1 };
            let mut shown = vec![own.clone()];
            for need in self.needs.needs.iter().filter(|need| need.ask.relation == relation) {
                if key.is_known(&need.ask.equal) && need.behind.is_empty() {
                    shown.push(own.iter().chain(&need.own).cloned().collect());
                }
            }
            for shown in shown {
                let key = key.clone();
                self.add(Rows { relation, place: Place::Guard, key, shown, when: Vec::new() });
            }
        }
    }

    pub(crate) fn is_filled(&self, relation: RelationId, unique: &[usize]) -> bool {
        self.load.about(relation).any(|change| {
            change.kind == EffectKind::Insert
                || unique.iter().any(|column| change.set.contains(column))
        })
    }

    /// Adds indexes of the rows of which the constants hold that some read asks for.
    fn sparse_indexes(&mut self, relation: RelationId, needs: &[&Need]) {
        let own =
            |ask: &&Ask| !ask.when.is_empty() && ask.when.iter().all(|one| one.path.len() == 1);
        let asks: Vec<&Ask> = needs.iter().flat_map(|need| need.asks()).filter(own).collect();
        let mut tried: Vec<&[Predicate]> = Vec::new();
        for ask in &asks {
            if tried.contains(&ask.when.as_slice()) {
                continue;
            }
            tried.push(&ask.when);
            let alike: Vec<&Ask> =
                asks.iter().filter(|other| other.when == ask.when).copied().collect();
            for key in keys(self.model, &alike) {
                self.indexes(relation, &key, needs, &ask.when);
            }
        }
    }

    /// Adds an index with nothing beside its key, with what each read shows, and with all of it.
    fn indexes(&mut self, relation: RelationId, key: &Key, needs: &[&Need], when: &[Predicate]) {
        let serves =
            |need: &&&Need| need.among(when).is_some_and(|ask| key.serves(self.model, ask));
        let served: Vec<&&Need> = needs.iter().filter(serves).collect();
        let mut shown: Vec<BTreeSet<ColumnPath>> = vec![BTreeSet::new()];
        let mut all: [BTreeSet<ColumnPath>; 2] = Default::default();
        for need in &served {
            let own = self.beside(relation, key, &need.own);
            let far = need.behind.iter().flat_map(|behind| behind.shown.iter().cloned());
            let wide: BTreeSet<ColumnPath> = own.iter().cloned().chain(far).collect();
            let near: BTreeSet<ColumnPath> =
                own.iter().cloned().chain(need.behind.iter().map(|one| one.base.clone())).collect();
            all[0].extend(near.iter().cloned());
            all[1].extend(wide.iter().cloned());
            shown.extend([near, wide]);
        }
        if let Some(tag) = &key.tag {
            let of_read = self.needs.mixed.iter().filter(|mixed| mixed.read == tag.read);
            let rows = of_read.flat_map(|mixed| &mixed.rows);
            for row in rows.filter(|row| row.relation == relation) {
                shown.push(self.beside(relation, key, &row.shown));
            }
        }
        shown.extend(all);
        shown.iter_mut().for_each(|shown| self.nameable(relation, shown));
        shown.dedup();
        for shown in shown {
            let mut shown = self.beside(relation, key, &shown);
            shown.retain(|path| !is_fixed(when, path));
            let key = self.spread(relation, key.clone(), Some(&shown));
            let when = when.to_vec();
            self.add(Rows { relation, place: Place::Index, key, shown, when });
        }
    }

    /// Shows all of a tuple in an index that would have to name too many attributes.
    fn nameable(&self, relation: RelationId, shown: &mut BTreeSet<ColumnPath>) {
        if self.names_too_many(shown) {
            shown.extend((0..self.model.relation(relation).columns.len()).map(|one| vec![one]));
        }
    }

    /// Returns true if the target takes no index that names these attributes.
    fn names_too_many(&self, shown: &BTreeSet<ColumnPath>) -> bool {
        self.load.target.included.is_some_and(|most| shown.len() > most.index_max)
    }

    /// Returns the attributes that neither the key nor the row's own key holds.
    pub(super) fn beside(
        &self,
        relation: RelationId,
        key: &Key,
        shown: &BTreeSet<ColumnPath>,
    ) -> BTreeSet<ColumnPath> {
        let held = key.paths();
        let primary = self.model.relation(relation).key();
        let own = |path: &ColumnPath| matches!(path.as_slice(), [one] if primary.contains(one));
        shown.iter().filter(|path| !held.contains(*path) && !own(path)).cloned().collect()
    }

    /// Adds a second row for a read that an index cannot serve.
    fn copy(&mut self, need: &Need) {
        let relation = need.ask.relation;
        let alone = keys(self.model, &[&need.ask]);
        for key in alone {
            let key = completed(self.model, relation, &key);
            let far = need.behind.iter().flat_map(|behind| behind.shown.iter().cloned());
            let shown = need.own.iter().cloned().chain(far).collect();
            let shown = self.beside(relation, &key, &shown);
            let when = need.ask.when.clone();
            self.add(Rows { relation, place: Place::Copy, key, shown, when });
        }
    }

    /// Adds second rows for collections in which rows lie only under a condition.
    fn sparse_members(&mut self, relation: RelationId) {
        let tagged = self.tagged(relation, false).into_iter();
        let member = |(key, row): (Key, &MixedRow)| {
            let key = completed(self.model, relation, &key);
            let shown = self.beside(relation, &key, &row.shown);
            Rows { relation, place: Place::Copy, key, shown, when: row.when.clone() }
        };
        let members: Vec<Rows> = tagged.map(member).collect();
        members.into_iter().for_each(|rows| self.add(rows));
    }

    /// Adds the copies of attributes behind references, in the rows themselves and in second rows.
    pub(super) fn copies(&mut self) {
        for need in &self.needs.needs {
            let shown = need.behind.iter().flat_map(|behind| &behind.shown);
            let keyed = need.ask.equal.iter().chain(need.ask.tail.iter().map(|(path, _)| path));
            for path in shown.chain(keyed.filter(|path| path.len() > 1)) {
                for beside in [Beside::Rows, Beside::Copies] {
                    let thing = Thing::Copied(need.ask.relation, path.clone(), beside);
                    if !self.things.contains(&thing) {
                        self.things.push(thing);
                    }
                }
            }
        }
    }

    pub(super) fn add(&mut self, rows: Rows) {
        let of_relation = self.rows_of(rows.relation).count();
        let thing = Thing::Rows(rows);
        if of_relation < ROWS_MAX && !self.things.contains(&thing) {
            self.things.push(thing);
        }
    }
}

/// Returns true if all rows under these conditions have one value of an attribute.
pub(super) fn is_fixed(when: &[Predicate], path: &ColumnPath) -> bool {
    when.iter().any(|one| one.op == CondOp::Eq && one.path == *path)
}
