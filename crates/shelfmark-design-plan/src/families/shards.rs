//! Spreads partitions over shards where declared rates would make them too hot, or declared counts
//! and growth too large, and tells where a reference is better followed than copied.
//!
//! What it is not: no search. What is not declared changes nothing: rules stand without rates.
//!
//! Invariant: a partition that holds one row is never spread.

use std::collections::BTreeSet;

use super::Planner;
use super::draft::Draft;
use crate::bytes::{plain_bytes, value_bytes};
use crate::load::{hottest, rows_of, rows_read};
use crate::volume::{Figure, growth_of, rows};
use shelfmark_design_language::limits::SEARCHED_PATTERNS_MAX;
use shelfmark_design_language::model::pattern::Effect;
use shelfmark_design_language::model::{ColumnPath, RelationId, canonical};
use shelfmark_design_language::syntax::tree::CondOp;

/// Most parts of one partition.
const SHARDS_MAX: u32 = 256;

/// The months for which partitions are kept within what one may hold: those of `P1`.
const HORIZON_MONTHS: f64 = 36.0;

/// Most parts of a partition that is only large: each of them is read.
///
/// Ours: what is larger still is no list that anybody reads as one.
const FILLED_MAX: f64 = 32.0;

/// The factor by which the largest partition may fill more than a usual one may hold.
///
/// Ours: limits are advice for usual partitions, and every read of a spread one goes through all of its
/// parts; at some gigabytes compactions and repairs of one partition fail.
const WORST_FILLS: f64 = 32.0;

/// Bytes beside each value of a row.
const VALUE_HEAD: f64 = 8.0;

/// The name of one shard in a plan.
pub(super) const SHARD: &str = "each_shard";

impl Planner<'_> {
    /// Returns how many shards a family needs, and the attribute whose hash spreads its rows.
    pub(super) fn shards(&self, draft: &Draft) -> Option<(u32, ColumnPath)> {
        // One order has no partitions; where keys have two columns at most, candidates are weighed.
        let load = self.load.as_ref()?;
        if self.target.ordered || self.target.key_shape.is_some() {
            return None;
        }
        let most = self.target.partition_writes_max;
        let busy = load.changes.iter().any(|change| change.peak > most);
        let few = self.model.reads.len() <= SEARCHED_PATTERNS_MAX;
        if !busy && !few {
            return None;
        }
        let components = self.key(draft);
        let (partition, _) = components.split_at(draft.least.min(components.len()));
        let partition: Vec<ColumnPath> = partition.iter().map(|one| one.path.clone()).collect();
        let mut primary =
            self.model.relation(draft.relation).key().iter().map(|column| vec![*column]);
        let spreading = primary.rfind(|path| !partition.contains(path))?;
        let held: BTreeSet<ColumnPath> =
            draft.paths().into_iter().chain(draft.shown.iter().cloned()).collect();
        let heat = hottest(self.model, load, draft.relation, &partition, Some(&held), 1.0) / most;
        // No request asks for the next page of several parts: what is only large is one list then.
        let large = few && !self.is_paged(draft, &spreading);
        let parts = if large { heat.max(self.filled(draft, &partition)) } else { heat };
        // The hash does not fill all parts alike.
        let wanted = (parts * 1.5).ceil().min(f64::from(SHARDS_MAX));
        let shards = (2..=SHARDS_MAX).find(|n| f64::from(*n) >= wanted)?;
        (parts > 1.0).then_some((shards, spreading))
    }

    /// Returns true if a read asks for a family's rows page by page, and does not know what would spread them.
    fn is_paged(&self, draft: &Draft, spreading: &ColumnPath) -> bool {
        let at = self.drafts.iter().position(|other| std::ptr::eq(other, draft));
        let paged = |read: usize| self.model.reads.get(read).is_some_and(|read| read.page);
        let mut served = self.served.iter().filter(|one| Some(one.draft) == at);
        served.any(|one| paged(one.read) && !one.equal.contains(spreading))
    }

    /// Returns why a read that asks for pages has no plan, if that is since its rows are spread.
    pub(super) fn spread_pages(&self, read: usize) -> Option<String> {
        let served = self.served.iter().find(|one| one.read == read)?;
        let draft = self.drafts.get(served.draft)?;
        let (parts, spreading) = self.shards(draft)?;
        self.is_paged(draft, &spreading).then(|| {
            format!(
                "its rows are spread over {parts} parts, since one partition would take more writes \
                 than {} gives it, and no request asks for the next page of several parts; ask for a \
                 limit, or for less at once than a partition, such as an hour of a day",
                self.target.name
            )
        })
    }

    /// Returns how many times over a partition fills what one may hold, a usual one at the horizon or the
    /// largest that is declared; 0 where neither is declared, and where its ranges are read in a loop,
    /// which shards would multiply.
    fn filled(&self, draft: &Draft, partition: &[ColumnPath]) -> f64 {
        let at = self.drafts.iter().position(|other| std::ptr::eq(other, draft));
        let listed = |served: &&super::Served| {
            let read = self.model.reads.get(served.read);
            let mut conditions = read.into_iter().flat_map(|read| &read.sources);
            conditions.any(|one| one.predicates.iter().any(|one| one.op == CondOp::In))
        };
        let mut served = self.served.iter().filter(|one| Some(one.draft) == at);
        let mut effects = self.model.writes.iter().flat_map(|write| &write.effects);
        let turns = |effect: &Effect| {
            effect.each.as_ref().is_some_and(|one| one.relation == draft.relation)
        };
        // A tree of the engine's own splits; its figure is one to plan heat by.
        if self.indexed || served.any(|one| listed(&one)) || effects.any(turns) {
            return 0.0;
        }
        let known: BTreeSet<ColumnPath> = partition.iter().cloned().collect();
        let monthly = growth_of(self.model, draft.relation, &known).unwrap_or(0.0);
        let usual = rows(self.model, draft.relation, &known, Figure::Average);
        let grown = usual.map(|usual| usual * (1.0 + monthly).powf(HORIZON_MONTHS));
        // What is declared to be the most does not grow.
        let most = rows(self.model, draft.relation, &known, Figure::Worst);
        let most = most.map_or(0.0, |most| most / WORST_FILLS);
        let Some(rows) = grown.map(|grown| grown.max(most)) else { return 0.0 };
        let held: BTreeSet<ColumnPath> =
            draft.paths().into_iter().chain(draft.shown.iter().cloned()).collect();
        let value = |path: &ColumnPath| {
            let ty = self.model.path_type(draft.relation, path);
            let own = plain_bytes(&ty, self.target);
            own.unwrap_or_else(|| value_bytes(self.model, draft.relation, path)) + VALUE_HEAD
        };
        let bytes: f64 = held.iter().map(value).sum();
        (rows * bytes / self.target.partition_bytes_max).min(FILLED_MAX)
    }

    /// Returns the component of a key that spreads its rows.
    pub(super) fn bucket(&self, (shards, path): &(u32, ColumnPath), draft: &Draft) -> String {
        format!("bucket(hash({}), {shards})", self.model.path_text(draft.relation, path))
    }

    /// Returns true if an attribute behind a reference changes so often that reading it where it is
    /// costs less than keeping its copies; only declared rates tell.
    pub(super) fn is_better_followed(&self, relation: RelationId, path: &[usize]) -> bool {
        let ([via, last], Some(load)) = (path, &self.load) else { return false };
        let owner = self.model.path_owner(relation, path);
        if self.model.relation(owner).key().len() != 1 {
            return false;
        }
        let via = BTreeSet::from([vec![*via]]);
        let copies = rows_of(self.model, relation, &via);
        let declared = |change: &&crate::load::Change| {
            change.relation == owner && change.set.contains(last) && change.peak > 0.0
        };
        let changed: f64 = load.changes.iter().filter(declared).map(|change| change.rate).sum();
        let written = load.prices.writes(changed * copies);
        let mut read = 0.0;
        for one in &self.model.reads {
            let shows = one.sources.first().is_some_and(|source| {
                source.relation == relation
                    && source
                        .outputs
                        .iter()
                        .flatten()
                        .any(|shown| canonical(self.model, relation, shown) == *path)
            });
            if shows && one.facts.contains_key("rate") {
                read += crate::load::rate(&one.facts) * rows_read(self.model, one, 0);
            }
        }
        changed > 0.0 && read > 0.0 && written > load.prices.reads(read)
    }
}
