//! Decides what a read takes from its own rows, and what from point reads that follow: of the tuple's
//! own row, and of what it refers to.
//!
//! What it is not: no search. Departures say which reads follow more or less than the rules tell;
//! whether that pays is found by deriving the schema and counting its cost.
//!
//! Invariant: a departure is named only where declared rates can make it pay.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{Ask, Draft};
use super::{Follow, Moves, Planner};
use crate::bytes::value_bytes;
use crate::load::{Change, count, rate, rows_of, rows_read};
use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::{ColumnPath, RelationId};

/// The reads of one kind of departure.
type Kind = fn(&mut Moves) -> &mut BTreeSet<usize>;

/// The test whether a read may be one of them.
type May<'a> = fn(&Planner<'a>, usize, &Draft) -> bool;

impl<'a> Planner<'a> {
    /// Returns the point reads that follow; the row then holds the references alone.
    pub(super) fn follows(&mut self, read: usize, ask: &mut Ask) -> Vec<Follow> {
        let mut found: Vec<Follow> = self.keyed(read, ask).into_iter().collect();
        let is_far = |path: &&ColumnPath| self.is_followed(read, ask.relation, path);
        let far: Vec<ColumnPath> = ask.shown.iter().filter(is_far).cloned().collect();
        let mut wanted: BTreeMap<(ColumnPath, RelationId), BTreeSet<ColumnPath>> = BTreeMap::new();
        for path in far {
            let Some((column, base)) = path.split_last() else { continue };
            let base = canonical(self.model, ask.relation, base);
            // A reference that itself is out of reach stays as it is: the proof says so.
            if self.is_out_of_reach(ask.relation, &base) {
                continue;
            }
            ask.shown.remove(&path);
            ask.shown.insert(base.clone());
            let owner = self.model.path_owner(ask.relation, &path);
            wanted.entry((base, owner)).or_default().insert(vec![*column]);
        }
        if found.is_empty() {
            found.extend(self.thinned(ask));
        }
        for ((base, owner), shown) in wanted {
            let mut point = Ask::new(self.model, owner, self.own_key(owner), Vec::new());
            point.shown = shown;
            let (draft, _) = self.ask(&point);
            found.push(Follow { base, draft });
        }
        found
    }

    /// Returns true if what a path shows is read where it is, and not copied.
    fn is_followed(&self, read: usize, relation: RelationId, path: &[usize]) -> bool {
        self.is_out_of_reach(relation, path)
            || self.moves.followed.contains(&read) && self.may_follow(relation, path)
            || !self.moves.copied.contains(&read) && self.is_better_followed(relation, path)
    }

    /// Returns true for an attribute one reference away, whose row is found by that reference alone.
    fn may_follow(&self, relation: RelationId, path: &[usize]) -> bool {
        let owner = || self.model.path_owner(relation, path);
        path.len() == 2 && self.model.relation(owner()).key().len() == 1
    }

    pub(super) fn own_key(&self, relation: RelationId) -> Vec<ColumnPath> {
        self.model.relation(relation).key().iter().map(|column| vec![*column]).collect()
    }

    /// Returns the attributes of the tuple itself that a read shows beside its key.
    fn beside_key(&self, ask: &Ask) -> BTreeSet<ColumnPath> {
        let own = self.own_key(ask.relation);
        let keyed = |path: &ColumnPath| {
            let mut tail = ask.tail.iter().map(|(path, _)| path);
            own.contains(path) || ask.equal.contains(path) || tail.any(|other| other == path)
        };
        ask.shown.iter().filter(|path| path.len() == 1 && !keyed(path)).cloned().collect()
    }

    /// Takes from a read by another key all that it shows of the tuple, if that is tried, and returns the
    /// point read by the tuple's own key that shows it.
    fn keyed(&mut self, read: usize, ask: &mut Ask) -> Option<Follow> {
        if !self.moves.keyed.contains(&read) {
            return None;
        }
        let shown = self.beside_key(ask);
        self.read_of_own(ask, shown)
    }

    /// Takes from a read of another key what conditioned writes change, and returns the point read by the
    /// tuple's own key that shows it.
    fn thinned(&mut self, ask: &mut Ask) -> Option<Follow> {
        if !self.moves.thin.contains(&ask.relation) {
            return None;
        }
        let effects = self.model.writes.iter().flat_map(|write| &write.effects);
        let guarded = effects
            .filter(|effect| effect.relation == ask.relation && !effect.conditions.is_empty());
        let changed: BTreeSet<ColumnPath> = guarded
            .flat_map(|effect| effect.set.iter().map(|(column, _)| vec![*column]))
            .filter(|path| ask.shown.contains(path))
            .collect();
        self.read_of_own(ask, changed)
    }

    /// Moves what is shown from a read by another key to a point read of the tuple's own row.
    fn read_of_own(&mut self, ask: &mut Ask, shown: BTreeSet<ColumnPath>) -> Option<Follow> {
        let own = self.own_key(ask.relation);
        let whole = own.iter().all(|path| ask.equal.contains(path));
        if whole || shown.is_empty() {
            return None;
        }
        ask.shown.retain(|path| !shown.contains(path));
        let mut point = Ask::new(self.model, ask.relation, own, Vec::new());
        point.shown = shown;
        let (draft, _) = self.ask(&point);
        Some(Follow { base: ColumnPath::new(), draft })
    }

    /// Returns the departures by which reads follow where they have copies, or the other way round: those
    /// of one family together, then one by one.
    pub(super) fn other_follows(&self) -> Vec<Moves> {
        let kinds: [(Kind, May<'a>); 3] = [
            (|moves| &mut moves.keyed, Self::may_be_keyed),
            (|moves| &mut moves.followed, Self::may_be_followed),
            (|moves| &mut moves.copied, Self::is_followed_by_rule),
        ];
        let mut found = Vec::new();
        for (kind, may) in kinds {
            let mut groups: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            for served in &self.served {
                let draft = self.drafts.get(served.draft);
                if draft.is_some_and(|draft| may(self, served.read, draft)) {
                    groups.entry(served.draft).or_default().insert(served.read);
                }
            }
            for group in groups.into_values() {
                let single = group.iter().map(|read| BTreeSet::from([*read]));
                let together = (group.len() > 1).then(|| group.clone());
                for reads in together.into_iter().chain(single) {
                    let mut moves = Moves::default();
                    *kind(&mut moves) = reads;
                    found.push(moves);
                }
            }
        }
        found
    }

    /// Returns the dollars a month of one point read for each row that a read finds; `None` where its
    /// rate is not declared.
    fn following(&self, read: usize) -> Option<f64> {
        let (load, read) = (self.load.as_ref()?, self.model.reads.get(read)?);
        let declared = read.facts.contains_key("rate") || read.facts.contains_key("peak");
        let points = rate(&read.facts) * rows_read(self.model, read, 0);
        declared.then(|| load.prices.reads(points))
    }

    /// Returns true if rows of a read's family could hold keys alone, and writes may cost less then than
    /// the reads that follow.
    fn may_be_keyed(&self, read: usize, draft: &Draft) -> bool {
        let own = self.own_key(draft.relation);
        let keys: BTreeSet<ColumnPath> =
            self.key(draft).into_iter().map(|one| one.path).chain(own.iter().cloned()).collect();
        let known = self.served.iter().find(|one| one.read == read).map(|one| &one.equal);
        if known.is_some_and(|known| own.iter().all(|path| known.contains(path))) {
            return false;
        }
        let source = self.model.reads.get(read).and_then(|read| read.sources.first());
        let shown = source.map(|source| self.outputs(source)).unwrap_or_default();
        let beside: BTreeSet<ColumnPath> =
            shown.into_iter().filter(|path| path.len() == 1 && !keys.contains(path)).collect();
        let (Some(load), Some(cost)) = (&self.load, self.following(read)) else { return false };
        let bytes = |paths: &BTreeSet<ColumnPath>| -> f64 {
            paths.iter().map(|path| value_bytes(self.model, draft.relation, path)).sum()
        };
        let narrow = load.prices.write_units(bytes(&keys));
        let wide = load.prices.write_units(bytes(&keys) + bytes(&beside));
        let hits = |change: &Change| {
            let mut set = change.set.iter();
            set.any(|column| beside.contains([*column].as_slice()))
        };
        // A change costs a write, and often a read that finds the row.
        let units = |change: &Change| match change.kind {
            EffectKind::Insert | EffectKind::Delete => wide - narrow,
            _ if hits(change) => 2.0 * wide,
            _ => 0.0,
        };
        let declared = load.about(draft.relation).filter(|change| change.peak > 0.0);
        let written: f64 = declared.map(|change| change.rate * units(change)).sum();
        let items = count(self.model, draft.relation);
        let stored = load.prices.storage(items, bytes(&beside)) - load.prices.storage(items, 0.0);
        !beside.is_empty() && load.prices.writes(written) + stored > cost
    }

    /// Returns true if a read has copies which may cost more than reading what they copy.
    fn may_be_followed(&self, read: usize, draft: &Draft) -> bool {
        let (Some(load), Some(cost)) = (&self.load, self.following(read)) else { return false };
        let mut saved = 0.0;
        for path in self.far(read, draft) {
            let via = BTreeSet::from([path.first().copied().into_iter().collect::<ColumnPath>()]);
            let copies = rows_of(self.model, draft.relation, &via);
            let owner = self.model.path_owner(draft.relation, &path);
            let sets = |change: &&Change| path.last().is_some_and(|at| change.set.contains(at));
            let declared = load.about(owner).filter(|change| change.peak > 0.0).filter(sets);
            let changed: f64 = declared.map(|change| change.rate).sum();
            let inserts = load.about(draft.relation);
            let inserts = inserts.filter(|one| one.kind == EffectKind::Insert && one.peak > 0.0);
            let looked: f64 = inserts.map(|change| change.rate).sum();
            saved += load.prices.writes(2.0 * changed * copies) + load.prices.reads(looked);
        }
        saved > cost
    }

    /// Returns true if the rules follow what a read shows, and copies may be kept as well.
    fn is_followed_by_rule(&self, read: usize, draft: &Draft) -> bool {
        let mut far = self.far(read, draft).into_iter();
        far.any(|path| self.is_better_followed(draft.relation, &path))
    }

    /// Returns what a read shows from one reference away.
    fn far(&self, read: usize, draft: &Draft) -> Vec<ColumnPath> {
        let source = self.model.reads.get(read).and_then(|read| read.sources.first());
        let shown = source.map(|source| self.outputs(source)).unwrap_or_default();
        shown.into_iter().filter(|path| self.may_follow(draft.relation, path)).collect()
    }
}
