//! A view of the cluster at one timestamp.
//!
//! What it is not: a pin. The cluster keeps old versions for a time of its own
//! ([`crate::Options::history`]), and a snapshot ends before that.
//!
//! Invariant: every read of one snapshot is at one timestamp, whichever connection it takes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::{
    CommitNumber, Direction, Error, ErrorKind, KeyRange, Page, Result, Row, ScanLimits, Snapshot,
    SnapshotId,
};
use tikv_client::{BoundRange, CheckLevel, Key, Timestamp, TimestampExt as _, TransactionOptions};

use crate::commit;
use crate::counters::stored::Stored;
use crate::counters::sums::{Values, values};
use crate::keys::Spread;
use crate::peers;
use crate::retry;
use crate::shared::Shared;

/// Keys of one request: of the largest values, half a message.
const KEYS_ASKED: usize = 128;
/// Rows of the first request of a scan: of the largest values, half a message.
const ROWS_FIRST: usize = 128;
/// Rows of a later request, when their size is known.
const ROWS_MAX: usize = 1024;

/// A view of one moment.
pub(crate) struct TikvSnapshot {
    shared: Arc<Shared>,
    moment: Moment,
    /// The stamps of this process at or below it are shown.
    settled: u64,
    since: Duration,
    /// No commit rests on it yet: a timestamp serves one transaction.
    is_unused: AtomicBool,
    /// Values that [`Snapshot::preload`] read.
    preloaded: Mutex<HashMap<Bytes, Option<Bytes>>>,
    /// The counters that were read and are sums, for commits that rest on them.
    spread: Mutex<HashMap<Bytes, Spread>>,
}

/// A timestamp in the client's form and as a number.
#[derive(Clone)]
pub(crate) struct Moment {
    pub(crate) at: Timestamp,
    pub(crate) version: u64,
}

impl Moment {
    pub(crate) fn of(at: Timestamp) -> Self {
        let version = at.version();
        Self { at, version }
    }
}

impl TikvSnapshot {
    /// Creates the view of now.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Closed`], and those of [`retry::read`].
    pub(crate) fn begin(shared: &Arc<Shared>) -> Result<Arc<Self>> {
        shared.check_open()?;
        let settled = shared.membership.settled();
        let own = Arc::clone(shared);
        let moment = shared.call(async move { commit::begin(&own).await })?;
        Ok(Self::new(Arc::clone(shared), moment, settled))
    }

    /// Creates the view at `moment`. Before that `settled` was settled here.
    pub(crate) fn new(shared: Arc<Shared>, moment: Moment, settled: u64) -> Arc<Self> {
        shared.stats.opened(moment.version);
        let is_unused = AtomicBool::new(true);
        let since = shared.clock.monotonic();
        let (preloaded, spread) = (Mutex::default(), Mutex::default());
        let snapshot =
            Arc::new(Self { shared, moment, settled, since, is_unused, preloaded, spread });
        snapshot.shared.bases().insert(snapshot.moment.version, Arc::downgrade(&snapshot));
        snapshot
    }

    /// Returns true to the one commit that may be a transaction of this moment.
    pub(crate) fn take(&self) -> bool {
        self.is_unused.swap(false, Ordering::AcqRel)
    }

    /// Returns the moment that it shows.
    pub(crate) fn moment(&self) -> &Moment {
        &self.moment
    }

    fn preloaded(&self) -> MutexGuard<'_, HashMap<Bytes, Option<Bytes>>> {
        // A panic elsewhere leaves values that were read at this moment all the same.
        self.preloaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the value that was read of a key ahead, if the cluster has it as it is.
    pub(crate) fn preloaded_plain(&self, key: &Bytes) -> Option<Bytes> {
        let value = self.preloaded().get(key).cloned()??;
        (!self.spread().contains_key(key)).then_some(value)
    }

    /// Returns the counters that were read and are sums.
    pub(crate) fn spread(&self) -> MutexGuard<'_, HashMap<Bytes, Spread>> {
        // One insertion each: whole, whatever panicked.
        self.spread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time since it began.
    pub(crate) fn age(&self) -> Duration {
        self.shared.clock.monotonic().saturating_sub(self.since)
    }

    /// Returns an error once the snapshot may not be read any more.
    pub(crate) fn check(&self) -> Result<()> {
        self.shared.check_open()?;
        if self.age() >= self.shared.options.snapshot_age_max {
            let age = self.shared.options.snapshot_age_max;
            let message = format!("the snapshot is older than {} s", age.as_secs());
            return Err(Error::new(ErrorKind::TooOld, message));
        }
        Ok(())
    }
}

impl Drop for TikvSnapshot {
    fn drop(&mut self) {
        let mut bases = self.shared.bases();
        if bases.get(&self.moment.version).is_some_and(|base| base.strong_count() == 0) {
            bases.remove(&self.moment.version);
        }
        drop(bases);
        self.shared.stats.dropped(self.moment.version);
    }
}

impl Snapshot for TikvSnapshot {
    fn id(&self) -> SnapshotId {
        SnapshotId { commit: self.moment.version, position: self.moment.version }
    }

    fn stamped_through(&self) -> Result<CommitNumber> {
        self.check()?;
        let (shared, moment, own) = (Arc::clone(&self.shared), self.moment.clone(), self.settled);
        self.shared.call(async move { peers::settled(&shared, &moment, own).await })
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.check()?;
        if let Some(value) = self.preloaded().get(key) {
            return Ok(value.clone());
        }
        let found = self.get_many(&[Bytes::copy_from_slice(key)])?;
        Ok(found.into_iter().next().flatten())
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.check()?;
        let known: Option<Vec<_>> = {
            let preloaded = self.preloaded();
            keys.iter().map(|key| preloaded.get(key).cloned()).collect()
        };
        if let Some(values) = known {
            return Ok(values);
        }
        let (shared, moment) = (Arc::clone(&self.shared), self.moment.clone());
        let asked = keys.to_vec();
        let found = self.shared.call(async move { get_many(&shared, &moment, &asked).await })?;
        let sums = found.spread.into_iter();
        self.spread().extend(sums.filter_map(|(at, spread)| Some((keys.get(at)?.clone(), spread))));
        Ok(found.values)
    }

    fn preload(&self, keys: &[Bytes]) -> Result<()> {
        if keys.len() < 2 {
            return Ok(());
        }
        let values = self.get_many(keys)?;
        self.preloaded().extend(keys.iter().cloned().zip(values));
        Ok(())
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        self.check()?;
        if range.is_empty() {
            return Ok(Page::default());
        }
        let (shared, moment, range) =
            (Arc::clone(&self.shared), self.moment.clone(), range.clone());
        let (page, spread) = self
            .shared
            .call(async move { Scan::new(&shared, moment, direction, limits).run(range).await })?;
        self.spread().extend(spread);
        Ok(page)
    }

    fn time_left(&self) -> Option<Duration> {
        Some(self.shared.options.snapshot_age_max.saturating_sub(self.age()))
    }
}

pub(crate) fn reading() -> TransactionOptions {
    TransactionOptions::new_optimistic().drop_check(CheckLevel::None)
}

/// Returns the values of `keys` at `moment`, in their order.
///
/// # Errors
///
/// * Those of [`retry::read`].
pub(crate) async fn get_many(
    shared: &Arc<Shared>,
    moment: &Moment,
    keys: &[Bytes],
) -> Result<Values> {
    let stored = stored_many(shared, moment, keys).await?;
    values(shared, moment, stored).await
}

/// Returns what the cluster has at `keys`, in their order.
///
/// # Errors
///
/// * Those of [`retry::read`], and [`ErrorKind::Corrupt`] for the form of a later version.
pub(crate) async fn stored_many(
    shared: &Arc<Shared>,
    moment: &Moment,
    keys: &[Bytes],
) -> Result<Vec<Option<Stored>>> {
    let outer: Vec<Option<Vec<u8>>> = keys
        .iter()
        // What cannot have been written is absent.
        .map(|key| {
            let may_be = !key.is_empty() && key.len() <= crate::options::KEY_BYTES_MAX;
            may_be.then(|| shared.keys.outer(key))
        })
        .collect();
    let found = raw_many(shared, moment, outer.iter().flatten().cloned().collect()).await?;
    let stored = outer.iter().map(|outer| {
        let value = outer.as_ref().and_then(|outer| found.get(outer)).cloned();
        value.map(Stored::decode).transpose()
    });
    stored.collect()
}

/// Returns the values of keys of the cluster that are there.
///
/// # Errors
///
/// * Those of [`retry::read`].
pub(crate) async fn raw_many(
    shared: &Arc<Shared>,
    moment: &Moment,
    keys: Vec<Vec<u8>>,
) -> Result<HashMap<Vec<u8>, Bytes>> {
    if let [key] = &keys[..] {
        let found = retry::read(shared.options.patience, || {
            let mut snapshot = shared.clients.next().snapshot(moment.at.clone(), reading());
            let key = key.clone();
            async move { snapshot.get(key).await }
        })
        .await?;
        return Ok(found.into_iter().map(|value| (key.clone(), Bytes::from(value))).collect());
    }
    let mut asked = Vec::new();
    for part in keys.chunks(KEYS_ASKED) {
        let part: Vec<Key> = part.iter().cloned().map(Key::from).collect();
        let (shared, moment) = (Arc::clone(shared), moment.clone());
        asked.push(tokio::spawn(async move { part_of(&shared, &moment, part).await }));
    }
    let mut found = HashMap::with_capacity(keys.len());
    for part in asked {
        let part = part.await.map_err(|error| {
            Error::new(ErrorKind::Unavailable, "a read of the cluster failed").with_source(error)
        })??;
        found.extend(part);
    }
    Ok(found)
}

async fn part_of(
    shared: &Arc<Shared>,
    moment: &Moment,
    keys: Vec<Key>,
) -> Result<Vec<(Vec<u8>, Bytes)>> {
    let pairs = retry::read(shared.options.patience, || {
        let mut snapshot = shared.clients.next().snapshot(moment.at.clone(), reading());
        let keys = keys.clone();
        async move { Ok(snapshot.batch_get(keys).await?.collect::<Vec<_>>()) }
    })
    .await?;
    Ok(pairs.into_iter().map(|pair| (pair.0.into(), Bytes::from(pair.1))).collect())
}

/// A page that is being read, region by region.
struct Scan<'a> {
    shared: &'a Arc<Shared>,
    moment: Moment,
    direction: Direction,
    limits: ScanLimits,
    rows: Vec<Row>,
    bytes: usize,
    /// The counters among the rows that are sums.
    spread: Vec<(Bytes, Spread)>,
    /// Rows of a request at most, since one was larger than a message.
    rows_asked_max: usize,
}

impl<'a> Scan<'a> {
    fn new(
        shared: &'a Arc<Shared>,
        moment: Moment,
        direction: Direction,
        limits: ScanLimits,
    ) -> Self {
        let (rows, spread) = (Vec::new(), Vec::new());
        let rows_asked_max = ROWS_MAX;
        Self { shared, moment, direction, limits, rows, bytes: 0, spread, rows_asked_max }
    }

    /// Returns the page, and the counters on it that are sums.
    async fn run(mut self, range: KeyRange) -> Result<(Page, Vec<(Bytes, Spread)>)> {
        let (mut start, mut end) = self.shared.keys.outer_range(&range);
        while start < end {
            let bounds = (start.as_slice(), end.as_slice());
            let bound =
                self.shared.regions.bound(&self.shared.placement, bounds, self.direction).await;
            let part = match self.direction {
                Direction::Ascending => (start.clone(), bound.clone()),
                Direction::Descending => (bound.clone(), end.clone()),
            };
            if let Some(last) = self.part(part).await? {
                let next = range.after(&last, self.direction);
                let next = (!next.is_empty()).then_some(next);
                return Ok((Page { rows: self.rows, next }, self.spread));
            }
            match self.direction {
                Direction::Ascending => start = bound,
                Direction::Descending => end = bound,
            }
        }
        Ok((Page { rows: self.rows, next: None }, self.spread))
    }

    /// Reads a stretch; returns the last key if a limit ended the page before the stretch did.
    async fn part(&mut self, (mut start, mut end): (Vec<u8>, Vec<u8>)) -> Result<Option<Bytes>> {
        while start < end {
            let asked = self.rows_to_ask();
            let found = match self.ask((&start, &end), asked).await {
                Err(error) if error.kind() == ErrorKind::LimitExceeded && asked > 1 => {
                    self.rows_asked_max = asked / 2;
                    continue;
                }
                found => found?,
            };
            let is_all = found.len() < asked;
            for (outer, row) in found {
                let key = row.key.clone();
                self.bytes += row.key.len() + row.value.len();
                self.rows.push(row);
                if self.rows.len() >= self.limits.rows_max.max(1)
                    || self.bytes >= self.limits.bytes_max.max(1)
                {
                    return Ok(Some(key));
                }
                match self.direction {
                    Direction::Ascending => {
                        start = outer;
                        start.push(0);
                    }
                    Direction::Descending => end = outer,
                }
            }
            if is_all {
                break;
            }
        }
        Ok(None)
    }

    /// Returns for how many rows to ask: those that are missing, as far as their bytes fit.
    fn rows_to_ask(&self) -> usize {
        let missing = self.limits.rows_max.max(1).saturating_sub(self.rows.len());
        let fitting = if self.limits.keys_only {
            ROWS_MAX
        } else if self.rows.is_empty() {
            ROWS_FIRST
        } else {
            let mean = (self.bytes / self.rows.len()).max(1);
            let left = self.limits.bytes_max.saturating_sub(self.bytes);
            (left / mean + 1).min(ROWS_MAX)
        };
        missing.min(fitting).min(self.rows_asked_max).max(1)
    }

    async fn ask(
        &mut self,
        (start, end): (&[u8], &[u8]),
        rows: usize,
    ) -> Result<Vec<(Vec<u8>, Row)>> {
        let shared = self.shared;
        let limit = u32::try_from(rows).unwrap_or(u32::MAX);
        let (direction, keys_only) = (self.direction, self.limits.keys_only);
        let pairs = retry::read(shared.options.patience, || {
            let mut snapshot = shared.clients.next().snapshot(self.moment.at.clone(), reading());
            let range = BoundRange::from(start.to_vec()..end.to_vec());
            async move {
                let empty = |key: Key| (key, Vec::new());
                Ok(match (direction, keys_only) {
                    (Direction::Ascending, false) => {
                        snapshot.scan(range, limit).await?.map(|pair| (pair.0, pair.1)).collect()
                    }
                    (Direction::Ascending, true) => {
                        snapshot.scan_keys(range, limit).await?.map(empty).collect()
                    }
                    (Direction::Descending, false) => snapshot
                        .scan_reverse(range, limit)
                        .await?
                        .map(|pair| (pair.0, pair.1))
                        .collect(),
                    (Direction::Descending, true) => snapshot
                        .scan_keys_reverse(range, limit)
                        .await?
                        .map(empty)
                        .collect::<Vec<_>>(),
                })
            }
        })
        .await?;
        self.rows_of(pairs).await
    }

    /// Returns rows of the contract for those of the cluster.
    async fn rows_of(&mut self, pairs: Vec<(Key, Vec<u8>)>) -> Result<Vec<(Vec<u8>, Row)>> {
        let mut keys = Vec::with_capacity(pairs.len());
        let mut stored = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            let outer: Vec<u8> = key.into();
            let Some(key) = self.shared.keys.inner(&outer) else { continue };
            keys.push((outer, key));
            stored.push(Some(Stored::decode(value.into())?));
        }
        let found = values(self.shared, &self.moment, stored).await?;
        let sums = found.spread.into_iter();
        self.spread.extend(sums.filter_map(|(at, spread)| Some((keys.get(at)?.1.clone(), spread))));
        let row = |((outer, key), value): ((Vec<u8>, Bytes), Option<Bytes>)| {
            (outer, Row { key, value: value.unwrap_or_default() })
        };
        Ok(keys.into_iter().zip(found.values).map(row).collect())
    }
}
