//! Lists the ways in which candidates serve what is needed: the problem to solve.
//!
//! What it is not: no choice, and no text.
//!
//! Invariant: a way uses every thing that its requests read, and each relation with rows has
//! exactly one demand for a home.

use std::collections::BTreeSet;

use super::candidates::is_fixed;
use super::estimate::Estimate;
use super::keys::Key;
use super::needs::{Need, Needs, Origin};
use crate::Options;
use crate::choice::{Problem, Way};
use crate::load::Load;
use crate::word::is_met;
use shelfmark_design_language::model::{ColumnPath, Model, Predicate, RelationId};

/// Most ways in which candidates of several row types are put together to one range.
///
/// Ours: two types with eight keys each.
const TOGETHER_MAX: usize = 64;

/// The place of candidate rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// The row itself.
    Base,
    /// An entry of an index, which may lag behind.
    Index,
    /// An entry beside it, in its partition, which never lags behind.
    Local,
    /// A second row, written together with it.
    Copy,
    /// The row that the second writer of a unique value meets.
    Guard,
}

impl Place {
    /// Returns true for entries of an index.
    pub(crate) fn is_entry(self) -> bool {
        matches!(self, Self::Index | Self::Local)
    }
}

impl Beside {
    /// Returns where rows of a place hold their copies.
    pub(crate) fn of(place: Place) -> Self {
        if place == Place::Copy { Self::Copies } else { Self::Rows }
    }
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

/// A thing that costs once, however often it is used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Thing {
    Rows(Rows),
    /// Copies of an attribute behind a reference, in the relation's rows or in second rows beside them.
    Copied(RelationId, ColumnPath, Beside),
}

/// The rows that hold a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// The rows themselves, and what indexes show of them.
    Rows,
    /// Second rows alone.
    Copies,
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
            let (ways, accesses) = self
                .homes_of(*relation)
                .into_iter()
                .map(|(at, rows)| {
                    let access = Access { rows: vec![at], own: false, follows: Vec::new() };
                    let uses = std::iter::once(at).chain(self.guards_beside(rows)).collect();
                    (Way { cost: 0.0, uses }, access)
                })
                .unzip();
            self.problem.demands.push(ways);
            self.accesses.push(accesses);
        }
    }

    /// Returns the rows of a relation that may be the row itself: of one that keeps numbers, or that its
    /// second writer has to meet, those that its own key finds, where there are any.
    fn homes_of(&self, relation: RelationId) -> Vec<(usize, &Rows)> {
        let bases = self.rows_of(relation).filter(|(_, rows)| rows.place == Place::Base);
        let bases: Vec<(usize, &Rows)> = bases.collect();
        let counts = self.needs.counts.iter().any(|(_, kept)| kept.parent == relation);
        let primary = self.primary(relation).paths();
        let found = bases.iter().filter(|(_, rows)| rows.key.paths() == primary);
        let found: Vec<(usize, &Rows)> = found.copied().collect();
        let own = counts || is_met(self.model, relation);
        if own && !found.is_empty() { found } else { bases }
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
                let Some(one) = self.way(estimate, need, (at, rows), followed) else { continue };
                if rows.place != Place::Local {
                    found.push(one);
                    continue;
                }
                // It lies in the partition of a row that is chosen for it.
                for host in self.hosts(rows) {
                    let (mut way, access) = one.clone();
                    way.uses.push(host);
                    found.push((way, access));
                }
            }
        }
        found
    }

    /// Returns the rows by which unique values are kept apart, for a row whose key does not do it.
    fn guards_beside(&self, base: &Rows) -> Vec<usize> {
        let mut found: Vec<(usize, BTreeSet<ColumnPath>)> = Vec::new();
        for (at, rows) in self.rows_of(base.relation) {
            let key = rows.key.paths();
            let known = key == base.key.paths() || found.iter().any(|(_, other)| *other == key);
            if rows.place == Place::Guard && !known {
                found.push((at, key));
            }
        }
        found.into_iter().map(|(at, _)| at).collect()
    }

    /// Returns true if the rows are those of the need, and one range of them is what it asks for.
    fn reaches(&self, rows: &Rows, need: &Need) -> bool {
        let loops = matches!(need.origin, Origin::Loop(_));
        let Some(ask) = need.among(&rows.when) else { return false };
        let at_once = rows.place != Place::Index || !(need.strong);
        // Shards of each value of a list would multiply.
        let single = rows.key.shards == 1 || !(need.list || loops);
        let served = match rows.place {
            Place::Guard => {
                rows.key.is_known(&need.ask.equal)
                    && need.ask.equal.len() == rows.key.partition.len()
            }
            _ => rows.key.serves(self.model, ask),
        };
        at_once && single && served
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
        let beside = Beside::of(rows.place);
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
                    uses.push(self.copied(relation, path, beside)?);
                    if behind.changes {
                        uses.push(self.found_by(relation, path, at)?);
                    }
                }
            }
        }
        for path in rows.key.paths().iter().filter(|path| path.len() > 1) {
            uses.push(self.copied(relation, path, beside)?);
        }
        let missing = match rows.place {
            Place::Base => false,
            _ => {
                let mut beside = self.beside(relation, &rows.key, &wanted);
                beside.retain(|path| !(rows.place.is_entry() && is_fixed(&rows.when, path)));
                !beside.is_subset(&rows.shown)
            }
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

    fn copied(&self, relation: RelationId, path: &ColumnPath, beside: Beside) -> Option<usize> {
        let wanted = Thing::Copied(relation, path.clone(), beside);
        self.things.iter().position(|thing| *thing == wanted)
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
            if mixed.interleaved && place == Place::Base {
                continue;
            }
            let mut all: Vec<Vec<usize>> = vec![Vec::new()];
            for row in &mixed.rows {
                let held = |one: &Rows| {
                    let tagged = one
                        .key
                        .tag
                        .as_ref()
                        .is_some_and(|tag| tag.read == mixed.read && tag.text == row.tag);
                    let beside = self.beside(row.relation, &one.key, &row.shown);
                    let shows = place == Place::Base || beside.is_subset(&one.shown);
                    // What lies there under a condition is a second row beside the others.
                    let wanted = if row.when.is_empty() { place } else { Place::Copy };
                    let beside = row.when.is_empty() || place == Place::Base;
                    let placed = one.place == wanted && beside && one.when == row.when;
                    placed && tagged && shows && one.key.shards == 1
                };
                let of_type: Vec<usize> = self
                    .rows_of(row.relation)
                    .filter(|(_, one)| held(one))
                    .map(|(at, _)| at)
                    .collect();
                let with = |rows: &Vec<usize>| {
                    let each = of_type.iter().map(|at| [rows.as_slice(), &[*at]].concat());
                    each.collect::<Vec<Vec<usize>>>()
                };
                all = all.iter().flat_map(with).take(TOGETHER_MAX).collect();
            }
            for rows in all {
                let read = self.model.reads.get(mixed.read);
                let cost = estimate.collected(read, rows.iter().filter_map(|at| self.rows(*at)));
                let access = Access { rows: rows.clone(), own: false, follows: Vec::new() };
                found.push((Way { cost, uses: rows }, access));
            }
        }
        found
    }
}
