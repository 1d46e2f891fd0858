//! The driver: the contract's calls on a cluster.
//!
//! What it is not: a cache. A process keeps nothing of the cluster's rows, so that any number of
//! processes may share it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use shelfmark_store::clock::Clock;
use shelfmark_store::lazy::LazySnapshot;
use shelfmark_store::{
    Caps, Commit, Committed, Completion, Direction, Error, ErrorKind, KeyRange, Maintained, Peers,
    PlaceKind, Queued, Result, ScanLimits, Snapshot, Store, StoreStats, StoredPlace, Write, admit,
};

use crate::collector;
use crate::commit;
use crate::counters::fold;
use crate::newest::Newest;
use crate::options::Options;
use crate::peers::{self, ClusterPeers};
use crate::placement::Region;
use crate::shared::Shared;
use crate::snapshot::TikvSnapshot;

/// Regions that are asked for at once when a range is divided.
const REGIONS_ASKED: i32 = 256;
/// Keys that one commit of a destroyed range deletes.
const DESTROYED_AT_ONCE: usize = 1000;

/// A store on a TiKV cluster.
///
/// Dropping it without [`Store::close`] loses nothing: what was acknowledged is the cluster's.
pub struct TikvStore {
    shared: Arc<Shared>,
    peers: ClusterPeers,
}

impl TikvStore {
    /// Connects to a cluster. A new cluster or space needs nothing else. `clock` tells the age of
    /// snapshots.
    ///
    /// Cost: several round trips.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: the options contradict themselves, or a certificate cannot be read.
    /// * [`ErrorKind::Unavailable`]: no placement driver answers. Check the addresses, start the
    ///   cluster.
    pub fn open(options: Options, clock: Arc<dyn Clock>) -> Result<Self> {
        let shared = Shared::connect(options, clock)?;
        shared.call({
            let shared = Arc::clone(&shared);
            async move { peers::renew(&shared).await }
        })?;
        shared.bridge.spawn(peers::run(Arc::downgrade(&shared)));
        if shared.options.collects {
            shared.bridge.spawn(collector::run(Arc::downgrade(&shared)));
        }
        Ok(Self { peers: ClusterPeers::new(Arc::clone(&shared)), shared })
    }

    /// Returns the snapshot of ours that a commit rests on.
    fn base(&self, commit: &Commit) -> Result<Option<Arc<TikvSnapshot>>> {
        let Some(base) = &commit.base else { return Ok(None) };
        let found = self.shared.bases().get(&base.id().position).and_then(Weak::upgrade);
        found.map(Some).ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "the base of a commit is a snapshot of another store")
        })
    }
}

impl Store for TikvStore {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        Ok(TikvSnapshot::begin(&self.shared)?)
    }

    fn latest(&self) -> Result<Arc<dyn Snapshot>> {
        self.snapshot()
    }

    fn snapshot_at_first_read(&self) -> Result<Arc<dyn Snapshot>> {
        self.shared.check_open()?;
        Ok(Arc::new(LazySnapshot::new(Newest(Arc::clone(&self.shared)))))
    }

    fn submit(&self, commit: Commit, done: Completion) -> Result<Queued> {
        self.shared.check_open()?;
        admit(&self.caps(), &commit)?;
        let base = self.base(&commit)?;
        let shared = Arc::clone(&self.shared);
        self.shared.stats.begun();
        let outcome = self.shared.call(async move { commit::run(&shared, commit, base).await });
        self.shared.stats.ended(outcome.as_ref().ok().copied());
        match outcome {
            Ok(number) => {
                done(Ok(Committed { number }));
                Ok(Queued { number })
            }
            Err(error) if error.kind() == ErrorKind::Undetermined => {
                done(Err(error));
                Ok(Queued { number: 0 })
            }
            Err(error) => Err(error),
        }
    }

    fn boundaries(&self, range: &KeyRange) -> Result<Vec<Bytes>> {
        self.shared.check_open()?;
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let (shared, range) = (Arc::clone(&self.shared), range.clone());
        self.shared.call(async move { boundaries(&shared, &range).await })
    }

    fn places(&self, range: &KeyRange, max: usize) -> Result<Vec<StoredPlace>> {
        self.shared.check_open()?;
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let (shared, range) = (Arc::clone(&self.shared), range.clone());
        self.shared.call(async move { places(&shared, &range, max).await })
    }

    fn destroy_range(&self, range: &KeyRange) -> Result<()> {
        self.shared.check_open()?;
        let mut rest = Some(range.clone());
        while let Some(range) = rest {
            let limits =
                ScanLimits { rows_max: DESTROYED_AT_ONCE, keys_only: true, ..Default::default() };
            let page = self.snapshot()?.scan(&range, Direction::Ascending, limits)?;
            let deletions = page.rows.into_iter().map(|row| Write::Delete { key: row.key });
            let commit = Commit::of(deletions.collect()).deleting();
            if !commit.writes.is_empty() {
                self.commit(commit)?;
            }
            rest = page.next;
        }
        Ok(())
    }

    fn maintain(&self) -> Result<Maintained> {
        self.shared.check_open()?;
        let shared = Arc::clone(&self.shared);
        self.shared.call(async move { fold::run(&shared).await })?;
        Ok(Maintained::default())
    }

    fn caps(&self) -> Caps {
        self.shared.options.caps()
    }

    fn stats(&self) -> StoreStats {
        self.shared.stats.told()
    }

    fn peers(&self) -> Option<&dyn Peers> {
        Some(&self.peers)
    }

    fn close(&self) -> Result<()> {
        if self.shared.is_closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let shared = Arc::clone(&self.shared);
        let left = self.shared.call(async move { peers::leave(&shared).await });
        if let Err(error) = left {
            // Nothing of it matters but time: the others wait until the lease is over.
            tracing::debug!(%error, "the record of this server stays until its lease is over");
        }
        Ok(())
    }
}

async fn boundaries(shared: &Arc<Shared>, range: &KeyRange) -> Result<Vec<Bytes>> {
    let (mut start, end) = shared.keys.outer_range(range);
    let mut cuts = Vec::new();
    loop {
        let regions = shared.placement.regions(&start, &end, REGIONS_ASKED).await?;
        let Some(last) = regions.last().map(|region| region.end.clone()) else { break };
        let inner = regions.iter().filter_map(|region| shared.keys.inner(&region.start));
        cuts.extend(inner.filter(|cut| range.contains(cut) && *cut != range.start));
        if last.is_empty() || last >= end || last <= start {
            break;
        }
        start = last;
    }
    cuts.sort_unstable();
    cuts.dedup();
    Ok(cuts)
}

async fn places(shared: &Arc<Shared>, range: &KeyRange, max: usize) -> Result<Vec<StoredPlace>> {
    let (start, end) = shared.keys.outer_range(range);
    let max = i32::try_from(max).unwrap_or(REGIONS_ASKED).min(REGIONS_ASKED);
    let regions = shared.placement.regions(&start, &end, max).await?;
    let place = |region: Region| StoredPlace {
        kind: PlaceKind::Region,
        name: match region.route {
            Some(route) => format!("region {} on store {}", route.region, route.peer.store_id),
            None => "a region without a leader".to_owned(),
        },
        range: KeyRange {
            // A region may begin before this store's keys, and end behind them.
            start: shared.keys.inner(&region.start).unwrap_or_default(),
            end: shared.keys.inner(&region.end),
        },
    };
    Ok(regions.into_iter().map(place).collect())
}
