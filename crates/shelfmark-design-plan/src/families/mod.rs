//! Derives a first schema from patterns alone, by Chebotko's rules.
//!
//! One row family for each read: what the reader knows leads the key, then what it ranges over,
//! then its order, then what makes the key unique. Families are merged where one key is the
//! beginning of another. Writes then ask for what they need: a row to look a key up in, a row to
//! tell whether something is there, copies that can be found again when they change.
//!
//! On a target whose indexes show a write at once there is one table for each entity or link, and
//! families are its indexes; on others each family is a table and its writes are put together.
//!
//! What it is not: it weighs nothing. Rates, sizes and costs decide in [`super::items`].
//!
//! Invariant: it claims nothing. Its output is an ordinary schema, which is proven like one that
//! was written by hand.

mod asks;
mod choose;
pub(crate) mod counts;
pub(crate) mod draft;
mod follows;
mod gathered;
mod lookups;
pub(crate) mod mixed;
pub(crate) mod names;
pub(crate) mod serve;
pub(crate) mod settle;
mod shards;
pub(crate) mod text;
pub(crate) mod text_keys;
mod views;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::Plan;
use crate::basis::Basis;
use crate::load::Load;
use crate::price::Prices;
use crate::word::is_met;
use choose::Planned;
pub(crate) use choose::derive;
use draft::{Ask, Draft, Fits};
use mixed::{Gathered, Mixed};
use shelfmark_design_language::model::{ColumnPath, Model, Predicate, RelationId};
use shelfmark_design_language::target::Target;

/// A read and the family that serves it.
pub(crate) struct Served {
    read: usize,
    draft: usize,
    /// True if the family is read from its end.
    flip: bool,
    /// The attributes that lead the key.
    equal: Vec<ColumnPath>,
    /// True if the rows are sorted once they are read.
    sorted: bool,
    /// Point reads for what its rows do not hold.
    follows: Vec<Follow>,
}

/// A point read of what rows refer to.
pub(crate) struct Follow {
    /// The reference, seen from the row.
    base: ColumnPath,
    draft: usize,
}

/// Departures from the rules, each of which is kept where it costs less.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Moves {
    /// Relations whose first family is their table.
    leading: BTreeSet<RelationId>,
    /// Relations whose families are tables of their own, where others are indexes.
    apart: BTreeSet<RelationId>,
    /// Reads whose rows are only there while an attribute has the constant that is asked for.
    sparse: BTreeSet<usize>,
    /// True if rows that keep unique values apart are also read.
    guarding: bool,
    /// Relations of which one table alone shows what conditioned writes change; reads of others follow.
    thin: BTreeSet<RelationId>,
    /// Reads whose rows hold keys alone; a read of each tuple's own row follows.
    keyed: BTreeSet<usize>,
    /// Reads that follow references, where the rules copy what they refer to.
    followed: BTreeSet<usize>,
    /// Reads that have copies, where the rules follow references.
    copied: BTreeSet<usize>,
    /// Reads of a materialized view, where the rules have a second table.
    viewed: BTreeSet<usize>,
    /// Reads of several row types whose collections also serve reads of one of them.
    gathered: BTreeSet<usize>,
}

/// Choices that are tried in turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Modes<'a> {
    /// The reads of numbers that rows keep.
    pub(crate) counts: &'a BTreeSet<usize>,
    /// Indexes show what is asked of them, and not all of their rows.
    pub(crate) narrow: bool,
}

pub(crate) struct Planner<'a> {
    model: &'a Model,
    target: &'a Target,
    /// True if families are indexes of one table for each relation.
    indexed: bool,
    drafts: Vec<Draft>,
    of_relation: BTreeMap<RelationId, Vec<usize>>,
    served: Vec<Served>,
    pub(crate) mixed: Vec<Mixed>,
    /// Reads of one row type that collections serve.
    gathered: Vec<Gathered>,
    /// Counts that a row keeps: read, and the draft that keeps it.
    counted: Vec<(usize, usize)>,
    pub(crate) notes: Vec<String>,
    /// The rates that are declared; nothing where the target has no prices.
    load: Option<Load<'a>>,
    /// True if requirements are only collected, for candidates with typed keys as well.
    pub(crate) weighing: bool,
    modes: Modes<'a>,
    /// Reads that share no family made before them.
    alone: BTreeSet<usize>,
    /// Reads that no family serves, and why: they get none.
    hopeless: BTreeMap<usize, String>,
    moves: Moves,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(
        model: &'a Model,
        target: &'a Target,
        modes: Modes<'a>,
        alone: BTreeSet<usize>,
    ) -> Self {
        Self {
            modes,
            alone,
            hopeless: BTreeMap::new(),
            moves: Moves::default(),
            weighing: false,
            load: Prices::of(&target.name).map(|prices| Load::of(model, target, prices)),
            model,
            target,
            indexed: target.strong_indexes && target.indexes_max > 0.0 && !target.plans_texts(),
            drafts: Vec::new(),
            of_relation: BTreeMap::new(),
            served: Vec::new(),
            mixed: Vec::new(),
            gathered: Vec::new(),
            counted: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn plan(mut self, basis: &Basis<'_>, name: &str, few: bool) -> Result<Planned, String> {
        if self.moves.guarding {
            (0..self.model.relations.len()).for_each(|relation| self.guards_of(relation));
        }
        self.reads();
        self.counts();
        self.homes();
        self.spread_views();
        self.look_ups();
        let mut skeleton = self.schema_text(name);
        let mut settled =
            settle::settle(basis, &skeleton.text(), &skeleton.written(), self.target)?;
        for (read, why) in &mut settled.refused {
            *why = self.spread_pages(*read).unwrap_or_else(|| std::mem::take(why));
        }
        skeleton.serves.retain(|(read, _)| !settled.refused.contains_key(read));
        for (read, why) in &settled.refused {
            let name = self.model.reads.get(*read).map_or("", |read| read.name.text.as_str());
            // What was said of it before says more.
            let begin = format!("{name} ");
            if !self.notes.iter().any(|note| note.starts_with(&begin)) {
                self.note(format!("{name} has no plan: {why}"));
            }
        }
        for note in settled.notes {
            self.note(note);
        }
        let text = skeleton.finish(&settled.writes, &self.notes);
        let schema = crate::basis::formatted(&text)?;
        let refused = |served: &Served| settled.refused.contains_key(&served.read);
        let unserved = self.served.iter().filter(|one| refused(one)).map(|one| one.read).collect();
        let (narrowed, unasked, moves) = (self.is_narrowed(), self.unasked(), self.departures(few));
        let made = |read: &usize| {
            let mut served = self.served.iter().map(|one| one.read);
            served.any(|one| one == *read) || self.mixed.iter().any(|mixed| mixed.read == *read)
        };
        let refused = settled.refused.into_iter().filter(|(read, _)| made(read)).collect();
        let plan = Plan { schema, notes: self.notes };
        let (sound, trailing, counted) = (settled.sound, settled.trailing, OnceCell::new());
        Ok(Planned { plan, narrowed, unasked, moves, sound, trailing, unserved, refused, counted })
    }

    fn fits(&self) -> Fits {
        Fits { ascending_only: self.target.plans_texts(), ordered: self.target.ordered }
    }

    /// Finds or creates the family that serves the requirements, and returns true if it is read
    /// from its end.
    fn ask(&mut self, ask: &Ask) -> (usize, bool) {
        self.ask_beside(ask, false)
    }

    /// Finds or creates such a family; with `alone` it always creates one.
    fn ask_beside(&mut self, ask: &Ask, alone: bool) -> (usize, bool) {
        let fits = self.fits();
        let based = self.is_indexed(ask.relation) && are_own(&ask.when);
        if based && !self.moves.leading.contains(&ask.relation) {
            self.base(ask.relation);
        }
        // Beside a table with indexes a guard is no place to read, unless that is tried.
        let closed = self.indexed && self.is_indexed(ask.relation) && !self.moves.guarding;
        let of_relation = self.of_relation.get(&ask.relation).filter(|_| !alone);
        let merged = of_relation.into_iter().flatten().find_map(|at| {
            let draft = self.drafts.get(*at).filter(|draft| !(closed && draft.guard))?;
            draft.refine(self.model, ask, fits).map(|(blocks, flip)| (*at, blocks, flip))
        });
        let (at, flip) = match merged {
            Some((at, blocks, flip)) => {
                if let Some(draft) = self.drafts.get_mut(at) {
                    draft.blocks = blocks;
                    draft.least = draft.least.min(ask.equal.len());
                }
                (at, flip)
            }
            None => {
                let flip = fits.ascending_only
                    && ask.tail.iter().find_map(|(_, desc)| *desc).unwrap_or(false);
                let mut draft = Draft::new(ask, fits);
                if based && ask.when.is_empty() && !self.has_base(ask.relation) {
                    draft.leads = true;
                    draft.shown = self.own_columns(ask.relation);
                }
                (self.add(draft), flip)
            }
        };
        if let Some(draft) = self.drafts.get_mut(at) {
            draft.asked = true;
            draft.viewed |= ask.viewed;
        }
        self.show(at, &ask.shown);
        (at, flip)
    }

    fn add(&mut self, draft: Draft) -> usize {
        let at = self.drafts.len();
        self.of_relation.entry(draft.relation).or_default().push(at);
        self.drafts.push(draft);
        at
    }

    /// Gives what writes change and no read asks for a row of its own, so that it is not lost.
    fn homes(&mut self) {
        for effect in self.model.writes.iter().flat_map(|write| &write.effects) {
            let collected = self.rows_of_all(effect.relation).next().is_some();
            if !self.of_relation.contains_key(&effect.relation) && !collected {
                self.base(effect.relation);
            }
        }
        // What has a row only while an attribute has some value is kept as a whole as well.
        let model = self.model;
        for read in self.moves.sparse.clone() {
            let source = model.reads.get(read).and_then(|read| read.sources.first());
            let relation = source.map(|source| source.relation);
            let whole = |draft: &Draft| Some(draft.relation) == relation && draft.when.is_empty();
            if let Some(relation) = relation.filter(|_| !self.drafts.iter().any(whole)) {
                self.base(relation);
            }
        }
    }

    /// Returns the table that indexes of a relation belong to: by its key, with all attributes.
    fn base(&mut self, relation: RelationId) -> usize {
        if let Some(at) = self.of_relation.get(&relation).and_then(|list| {
            list.iter().copied().find(|at| self.drafts.get(*at).is_some_and(Draft::is_base))
        }) {
            return at;
        }
        let key: Vec<ColumnPath> =
            self.model.relation(relation).key().iter().map(|column| vec![*column]).collect();
        let ask = Ask::new(self.model, relation, key, Vec::new());
        let mut draft = Draft::new(&ask, self.fits());
        draft.locked = true;
        draft.shown = self.own_columns(relation);
        let at = self.add(draft);
        // Reads are tried on the table before its indexes.
        if let Some(list) = self.of_relation.get_mut(&relation) {
            list.sort_by_key(|other| *other != at);
        }
        at
    }

    fn has_base(&self, relation: RelationId) -> bool {
        let mut drafts = self.of_relation.get(&relation).into_iter().flatten();
        drafts.any(|at| self.drafts.get(*at).is_some_and(Draft::is_base))
    }

    fn own_columns(&self, relation: RelationId) -> BTreeSet<ColumnPath> {
        (0..self.model.relation(relation).columns.len()).map(|column| vec![column]).collect()
    }

    /// Returns the relations whose table nobody asks for, while they have indexes.
    fn unasked(&self) -> BTreeSet<RelationId> {
        let idle = |list: &Vec<usize>| {
            let mut drafts = list.iter().filter_map(|at| self.drafts.get(*at));
            let index = drafts.clone().any(|draft| self.is_index(draft));
            index && drafts.all(|draft| !draft.is_base() || !(draft.asked || draft.leads))
        };
        let idle = |(of, list): &(&RelationId, &Vec<usize>)| {
            self.is_indexed(**of) && idle(list) && !is_met(self.model, **of)
        };
        let all = self.of_relation.iter().filter(idle);
        all.map(|(relation, _)| *relation).collect()
    }

    /// Returns the departures from the rules that may be tried one by one; with `few`, also those that
    /// only save tables.
    fn departures(&self, few: bool) -> Vec<Moves> {
        let mut found = Vec::new();
        let one = |change: &dyn Fn(&mut Moves)| {
            let mut moves = Moves::default();
            change(&mut moves);
            moves
        };
        if self.indexed && self.drafts.iter().any(|draft| draft.guard) {
            found.push(one(&|moves| moves.guarding = true));
        }
        for served in &self.served {
            if !self.constants(served.read).is_empty() {
                found.push(one(&|moves| moves.sparse.extend([served.read])));
            }
        }
        // Conditions hold of one partition: what they guard lies in one row.
        if self.target.rules.contains_key("condition_partition") {
            let guarded = self.model.writes.iter().flat_map(|write| &write.effects);
            let guarded = guarded.filter(|effect| !effect.conditions.is_empty());
            let guarded: BTreeSet<RelationId> = guarded.map(|effect| effect.relation).collect();
            found.extend(guarded.iter().map(|of| one(&|moves| moves.thin.extend([*of]))));
        }
        for (relation, list) in &self.of_relation {
            let mut drafts = list.iter().filter_map(|at| self.drafts.get(*at));
            if drafts.any(|draft| self.is_index(draft)) {
                found.push(one(&|moves| moves.apart.extend([*relation])));
            }
        }
        found.extend(self.gatherings());
        found.extend(self.other_follows());
        found.extend(self.views(few));
        found
    }

    /// Makes the row show these attributes; an index takes them, and its key, from its row.
    fn show(&mut self, at: usize, paths: &BTreeSet<ColumnPath>) {
        let Some(relation) = self.drafts.get(at).map(|draft| draft.relation) else { return };
        let entry = self.drafts.get(at).is_some_and(|draft| self.may_be_entry(draft));
        let Some(draft) = self.drafts.get_mut(at) else { return };
        let mut wanted = paths.clone();
        let mut holder = at;
        if entry && !draft.guard {
            draft.shown.extend(paths.iter().cloned());
            wanted.extend(draft.paths());
            wanted.extend(draft.when.iter().map(|one| one.path.clone()));
            holder = self.base(relation);
        }
        if let Some(draft) = self.drafts.get_mut(holder) {
            draft.shown.extend(wanted);
        }
    }

    /// Returns true if families of a relation are indexes of its table.
    fn is_indexed(&self, relation: RelationId) -> bool {
        self.indexed && !self.moves.apart.contains(&relation) || self.has_views(relation)
    }

    /// Returns true if a draft may be an index of its relation's table.
    fn may_be_entry(&self, draft: &Draft) -> bool {
        if !self.is_indexed(draft.relation) {
            return false;
        }
        if self.indexed { may_be_entry(draft) } else { draft.viewed && self.is_view_shaped(draft) }
    }

    /// Returns true if the draft is an index of the relation's table.
    fn is_index(&self, draft: &Draft) -> bool {
        self.may_be_entry(draft) && !draft.locked && !draft.leads
    }

    /// Returns the whole key of a draft: its components, and of a table what makes it unique.
    fn key(&self, draft: &Draft) -> Vec<draft::Component> {
        let mut components: Vec<draft::Component> = draft.components().cloned().collect();
        if self.is_index(draft) {
            if !self.indexed {
                let rest = self.rest_of_view(draft);
                components.extend(rest.iter().map(|path| draft::component(path)));
            }
            return components;
        }
        components.extend(
            completion(self.model, draft.relation, &draft.paths())
                .iter()
                .map(|path| draft::component(path)),
        );
        components
    }

    pub(crate) fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }
}

/// Returns true if conditions are on attributes of the rows' own tuples: an index may ask them.
fn are_own(when: &[Predicate]) -> bool {
    when.iter().all(|one| one.path.len() == 1)
}

/// Returns true if rows under a draft's conditions may be entries: an index has a column at least.
fn may_be_entry(draft: &Draft) -> bool {
    draft.when.is_empty() || are_own(&draft.when) && draft.components().next().is_some()
}

/// Returns the fewest attributes of the primary key that make the given ones determine the tuple.
pub(crate) fn completion(
    model: &Model,
    relation: RelationId,
    given: &BTreeSet<ColumnPath>,
) -> Vec<ColumnPath> {
    use shelfmark_design_prove::closure::determines_tuple;
    let mut added: Vec<ColumnPath> = model
        .relation(relation)
        .key()
        .iter()
        .map(|column| vec![*column])
        .filter(|path| !given.contains(path))
        .collect();
    let whole = |added: &[ColumnPath]| {
        let known = given.iter().chain(added).cloned().collect();
        determines_tuple(model, relation, &known)
    };
    for at in (0..added.len()).rev() {
        let without: Vec<ColumnPath> = added
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, path)| path.clone())
            .collect();
        if whole(&without) {
            added = without;
        }
    }
    added
}
