//! Lists candidate rows and the ways in which they serve what is needed: the problem to solve.
//!
//! What it is not: no choice, and no text.
//!
//! Invariant: a way uses every thing that its requests read, and each relation with rows has
//! exactly one demand for a home.

use std::collections::BTreeSet;

use super::estimate::Estimate;
use super::keys::{Key, Tag, completed, keys};
use super::needs::{Need, Needs, Origin};
use crate::Options;
use crate::choice::{Problem, Way};
use crate::families::draft::Ask;
use crate::load::Load;
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::{ColumnPath, Model, Predicate, RelationId, Type};

/// Most candidates of one relation.
///
/// Ours: some forty keys with a few projections each.
const ROWS_MAX: usize = 160;

/// The place of candidate rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// The row itself.
    Base,
    /// An entry beside it, which may lag behind.
    Index,
    /// A second row, written together with it.
    Copy,
    /// The row that the second writer of a unique value meets.
    Guard,
}

/// Candidate rows of one relation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    pub(crate) relation: RelationId,
    pub(crate) place: Place,
    pub(crate) key: Key,
    /// The attributes beside the key; of the row itself all of its own.
    pub(crate) shown: BTreeSet<ColumnPath>,
    pub(crate) when: Vec<Predicate>,
}

/// What costs once, however often it is used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Thing {
    Rows(Rows),
    /// Copies of an attribute behind a reference in the relation's rows.
    Copied(RelationId, ColumnPath),
}

/// The requests of a way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Access {
    /// The rows that are read: one candidate, or one for each type of a collection.
    pub(crate) rows: Vec<usize>,
    /// True if each row found leads to a read of the row itself.
    pub(crate) own: bool,
    /// The references that are followed, by their places in the need.
    pub(crate) follows: Vec<usize>,
}

/// The whole of candidates and ways.
pub(crate) struct Market<'a> {
    pub(crate) model: &'a Model,
    pub(crate) load: &'a Load<'a>,
    pub(crate) needs: &'a Needs,
    pub(crate) things: Vec<Thing>,
    pub(crate) problem: Problem,
    /// The requests of each way, demand by demand: needs, then collections, then homes.
    pub(crate) accesses: Vec<Vec<Access>>,
    /// The relations that have a home, in the order of their demands.
    pub(crate) homes: Vec<RelationId>,
}

impl<'a> Market<'a> {
    pub(crate) fn new(
        model: &'a Model,
        load: &'a Load<'a>,
        needs: &'a Needs,
        options: Options,
    ) -> Self {
        let mut market = Self {
            model,
            load,
            needs,
            things: Vec::new(),
            problem: Problem::default(),
            accesses: Vec::new(),
            homes: Vec::new(),
        };
        for relation in 0..model.relations.len() {
            if market.has_home(relation) {
                market.homes.push(relation);
                market.candidates(relation);
            }
        }
        market.copies();
        market.demands();
        let problem = &mut market.problem;
        problem.things.iter_mut().for_each(|cost| *cost *= options.writes);
        problem.demands.iter_mut().flatten().for_each(|way| way.cost *= options.reads);
        market
    }

    /// Returns true if rows of a relation are read, written anew or counted.
    fn has_home(&self, relation: RelationId) -> bool {
        let read = self.needs.needs.iter().any(|need| need.ask.relation == relation);
        let of_mixed = |row: &crate::families::mixed::MixedRow| row.relation == relation;
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
            .any(|(_, parent, counted)| *parent == relation || *counted == relation);
        let made = self.load.about(relation).any(|change| change.kind == EffectKind::Insert);
        read || mixed || behind || counted || made
    }

    fn candidates(&mut self, relation: RelationId) {
        let needs: Vec<&Need> =
            self.needs.needs.iter().filter(|need| need.ask.relation == relation).collect();
        let plain: Vec<&Ask> =
            needs.iter().map(|need| &need.ask).filter(|ask| ask.when.is_empty()).collect();
        let tried = keys(self.model, &plain);
        let mut bases = self.splits(relation);
        bases.push(self.primary(relation));
        bases.extend(tried.iter().map(|key| completed(self.model, relation, key)));
        bases.extend(
            self.collections(relation).iter().map(|key| completed(self.model, relation, key)),
        );
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
        for key in tried.iter().chain(&self.collections(relation)) {
            self.indexes(relation, key, &needs);
        }
        for need in &needs {
            if need.strong || !need.ask.when.is_empty() {
                self.copy(need);
            }
        }
    }

    /// Returns the key by which everything is known that has the primary key.
    fn primary(&self, relation: RelationId) -> Key {
        let key = self.model.relation(relation).key();
        let partition = key.iter().map(|column| vec![*column]).collect();
        Key { partition, tag: None, sort: Vec::new(), shards: 1 }
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
        let mut found = Vec::new();
        for mixed in &self.needs.mixed {
            for row in mixed.rows.iter().filter(|row| row.relation == relation) {
                let (known, rest) = row.keys.split_at(row.known.min(row.keys.len()));
                let order = rest.get(..row.ordering.min(rest.len())).unwrap_or(&[]);
                let tag = Tag { read: mixed.read, text: row.tag.clone() };
                found.push(Key {
                    partition: known.to_vec(),
                    tag: Some(tag),
                    sort: order.to_vec(),
                    shards: 1,
                });
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
            [only] => columns.get(*only).is_some_and(|column| {
                !column.optional && !matches!(column.ty, Type::List(..) | Type::Bytes)
            }),
            _ => false,
        };
        if !paths.iter().all(plain) {
            return false;
        }
        let empty = key.partition.is_empty();
        if empty && !super::keys::is_small(self.model, relation) {
            return false;
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

    /// Adds an index with nothing beside its key, with what each read shows, and with all of it.
    fn indexes(&mut self, relation: RelationId, key: &Key, needs: &[&Need]) {
        let served: Vec<&&Need> = needs
            .iter()
            .filter(|need| need.ask.when.is_empty() && key.serves(self.model, &need.ask))
            .collect();
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
        shown.dedup();
        for shown in shown {
            let shown = self.beside(relation, key, &shown);
            let key = self.spread(relation, key.clone(), Some(&shown));
            self.add(Rows { relation, place: Place::Index, key, shown, when: Vec::new() });
        }
    }

    /// Returns the attributes that neither the key nor the row's own key holds.
    fn beside(
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

    /// Adds the copies of attributes behind references.
    fn copies(&mut self) {
        for need in &self.needs.needs {
            for path in need.behind.iter().flat_map(|behind| &behind.shown) {
                let thing = Thing::Copied(need.ask.relation, path.clone());
                if !self.things.contains(&thing) {
                    self.things.push(thing);
                }
            }
            for path in need.ask.equal.iter().chain(need.ask.tail.iter().map(|(path, _)| path)) {
                let thing = Thing::Copied(need.ask.relation, path.clone());
                if path.len() > 1 && !self.things.contains(&thing) {
                    self.things.push(thing);
                }
            }
        }
    }

    fn add(&mut self, rows: Rows) {
        let of_relation = self.rows_of(rows.relation).count();
        let thing = Thing::Rows(rows);
        if of_relation < ROWS_MAX && !self.things.contains(&thing) {
            self.things.push(thing);
        }
    }

    pub(crate) fn rows(&self, thing: usize) -> Option<&Rows> {
        match self.things.get(thing) {
            Some(Thing::Rows(rows)) => Some(rows),
            _ => None,
        }
    }

    pub(crate) fn rows_of(&self, relation: RelationId) -> impl Iterator<Item = (usize, &Rows)> {
        self.things.iter().enumerate().filter_map(move |(at, thing)| match thing {
            Thing::Rows(rows) if rows.relation == relation => Some((at, rows)),
            _ => None,
        })
    }

    fn demands(&mut self) {
        let estimate = Estimate::new(self.model, self.load);
        self.problem.things = self.things.iter().map(|thing| estimate.thing(thing)).collect();
        for need in &self.needs.needs {
            let found = self.ways(&estimate, need);
            let (ways, accesses) = found.into_iter().unzip();
            self.problem.demands.push(ways);
            self.accesses.push(accesses);
        }
        for mixed in &self.needs.mixed {
            let (ways, accesses) = self.collected(&estimate, mixed).into_iter().unzip();
            self.problem.demands.push(ways);
            self.accesses.push(accesses);
        }
        for relation in &self.homes {
            let bases = self.rows_of(*relation).filter(|(_, rows)| rows.place == Place::Base);
            let (ways, accesses) = bases
                .map(|(at, _)| {
                    let access = Access { rows: vec![at], own: false, follows: Vec::new() };
                    (Way { cost: 0.0, uses: vec![at] }, access)
                })
                .unzip();
            self.problem.demands.push(ways);
            self.accesses.push(accesses);
        }
    }

    /// Returns the ways to serve a need.
    fn ways(&self, estimate: &Estimate<'_>, need: &Need) -> Vec<(Way, Access)> {
        let mut found = Vec::new();
        for (at, rows) in self.rows_of(need.ask.relation) {
            if !self.reaches(rows, need) {
                continue;
            }
            for followed in [false, true] {
                if followed && need.behind.is_empty() {
                    continue;
                }
                found.extend(self.way(estimate, need, (at, rows), followed));
            }
        }
        found
    }

    /// Returns true if the rows are those of the need, and one range of them is what it asks for.
    fn reaches(&self, rows: &Rows, need: &Need) -> bool {
        let loops = matches!(need.origin, Origin::Loop(_));
        let same = rows.when.len() == need.ask.when.len()
            && rows.when.iter().zip(&need.ask.when).all(|(a, b)| a.path == b.path && a.op == b.op);
        let at_once = rows.place != Place::Index || !(need.strong);
        // Shards of each value of a list would multiply.
        let single = rows.key.shards == 1 || !(need.list || loops);
        let served = match rows.place {
            Place::Guard => {
                rows.key.is_known(&need.ask.equal)
                    && need.ask.equal.len() == rows.key.partition.len()
            }
            _ => rows.key.serves(self.model, &need.ask),
        };
        same && at_once && single && served
    }

    /// Returns the way through one candidate, with references followed or copied.
    fn way(
        &self,
        estimate: &Estimate<'_>,
        need: &Need,
        (at, rows): (usize, &Rows),
        followed: bool,
    ) -> Option<(Way, Access)> {
        let relation = need.ask.relation;
        let mut uses = vec![at];
        let mut follows = Vec::new();
        let mut wanted: BTreeSet<ColumnPath> = need.own.clone();
        for (place, behind) in need.behind.iter().enumerate() {
            if followed {
                if !behind.followed {
                    return None;
                }
                wanted.insert(behind.base.clone());
                follows.push(place);
                uses.push(self.whole(behind.owner)?);
            } else {
                if !behind.copied {
                    return None;
                }
                wanted.extend(behind.shown.iter().cloned());
                for path in &behind.shown {
                    uses.push(self.copied(relation, path)?);
                    if behind.changes {
                        uses.push(self.found_by(relation, path, at)?);
                    }
                }
            }
        }
        for path in rows.key.paths().iter().filter(|path| path.len() > 1) {
            uses.push(self.copied(relation, path)?);
        }
        let missing = match rows.place {
            Place::Base => false,
            _ => !self.beside(relation, &rows.key, &wanted).is_subset(&rows.shown),
        };
        let loops = matches!(need.origin, Origin::Loop(_));
        if missing {
            // A row found by a loop is not read again.
            if need.strong || loops || rows.place == Place::Copy {
                return None;
            }
            uses.push(self.whole(relation)?);
        }
        let cost = estimate.read(need, rows, missing, follows.len());
        let access = Access { rows: vec![at], own: missing, follows };
        Some((Way { cost, uses }, access))
    }

    /// Returns the row itself by its whole primary key.
    fn whole(&self, relation: RelationId) -> Option<usize> {
        let primary = self.primary(relation).paths();
        let mut bases = self.rows_of(relation);
        bases
            .find(|(_, rows)| rows.place == Place::Base && rows.key.paths() == primary)
            .map(|(at, _)| at)
    }

    fn copied(&self, relation: RelationId, path: &ColumnPath) -> Option<usize> {
        self.things.iter().position(|thing| *thing == Thing::Copied(relation, path.clone()))
    }

    /// Returns rows by which copies are found when what they copy changes.
    fn found_by(&self, relation: RelationId, path: &ColumnPath, at: usize) -> Option<usize> {
        let via = vec![path.first().copied().into_iter().collect::<ColumnPath>()];
        let leads = |rows: &Rows| rows.key.partition == via && rows.key.shards == 1;
        if self.rows(at).is_some_and(leads) {
            return Some(at);
        }
        self.rows_of(relation).find(|(_, rows)| leads(rows)).map(|(at, _)| at)
    }

    /// Returns the ways to read several row types in one range.
    fn collected(
        &self,
        estimate: &Estimate<'_>,
        mixed: &crate::families::mixed::Mixed,
    ) -> Vec<(Way, Access)> {
        let mut found = Vec::new();
        for place in [Place::Base, Place::Index] {
            let mut rows = Vec::new();
            for row in &mixed.rows {
                let held = |one: &Rows| {
                    let tagged = one
                        .key
                        .tag
                        .as_ref()
                        .is_some_and(|tag| tag.read == mixed.read && tag.text == row.tag);
                    let beside = self.beside(row.relation, &one.key, &row.shown);
                    let shows = place == Place::Base || beside.is_subset(&one.shown);
                    one.place == place && tagged && shows && one.key.shards == 1
                };
                let of_type = self.rows_of(row.relation).find(|(_, one)| held(one));
                rows.extend(of_type.map(|(at, _)| at));
            }
            if rows.len() != mixed.rows.len() {
                continue;
            }
            let read = self.model.reads.get(mixed.read);
            let cost = estimate.collected(read, rows.iter().filter_map(|at| self.rows(*at)));
            let access = Access { rows: rows.clone(), own: false, follows: Vec::new() };
            found.push((Way { cost, uses: rows }, access));
        }
        found
    }
}
