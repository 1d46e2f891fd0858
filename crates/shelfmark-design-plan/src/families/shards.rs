//! Spreads partitions over shards where declared rates would make them too hot, and tells where a
//! reference is better followed than copied.
//!
//! What it is not: no search. What is not declared changes nothing: rules stand without rates.
//!
//! Invariant: a partition that holds one row is never spread.

use std::collections::BTreeSet;

use super::Planner;
use super::draft::Draft;
use crate::load::{hottest, rows_of, rows_read};
use shelfmark_design_language::model::{ColumnPath, RelationId, canonical};

/// Most parts of one partition.
const SHARDS_MAX: u32 = 256;

/// The name of one shard in a plan.
pub(super) const SHARD: &str = "each_shard";

impl Planner<'_> {
    /// Returns how many shards a family needs, and the attribute whose hash spreads its rows.
    pub(super) fn shards(&self, draft: &Draft) -> Option<(u32, ColumnPath)> {
        let load = self.load.as_ref().filter(|load| {
            load.changes.iter().any(|change| change.peak > self.target.partition_writes_max)
        })?;
        // One order has no partitions; where keys have two columns at most, candidates are weighed.
        if self.target.ordered || self.target.key_shape.is_some() {
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
        let held = self.is_index(draft).then_some(&held);
        let heat = hottest(self.model, load, draft.relation, &partition, held, 1.0);
        let parts = heat / self.target.partition_writes_max;
        // The hash does not fill all parts alike.
        let wanted = (parts * 1.5).ceil().min(f64::from(SHARDS_MAX));
        let shards = (2..=SHARDS_MAX).find(|n| f64::from(*n) >= wanted)?;
        (parts > 1.0).then_some((shards, spreading))
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
