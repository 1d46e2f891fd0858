//! Keeps a high-water mark of timestamps per table: a newer write may skip the read before the
//! write.
//!
//! Two things tell. In memory, the latest timestamp that was written in each stripe of partitions
//! since the engine was opened. And for each table its *high-water mark*, a persisted timestamp that nothing
//! stored in the table is later than: it stands for everything from before. It rises in steps, in
//! the commit of the first write that is above it, and commits become durable in the order in which
//! they are queued. It also says whether the table may hold a row of several chunks, of which a row
//! that is not read could leave some behind.
//!
//! A table has a high-water mark from its first row on, if it looked then as if it could be of use; tables of
//! earlier builds with rows in them get none.
//!
//! Invariants: no stored cell is later than the larger of its stripe and the high-water mark that was found;
//! none is later than the persisted high-water mark, where there is one. Both are seen to under the latch of the
//! row, before the write is queued.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use shelfmark_records::cells::Timestamp;
use shelfmark_records::cells::tombstones::HighWater;
use shelfmark_records::cells::tombstones::high_water_key;
use shelfmark_store::{Direction, KeyRange, ScanLimits};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::rows::View;
use shelfmark_records::catalogue::keys::format_record;

/// The number of stripes of all tables together; they take 128 KiB.
const STRIPES: usize = 16_384;

/// The step by which a high-water mark rises above the write that raised it, in microseconds. After
/// a start the rows written to are read for this long.
const STEP_MICROS: i64 = 10_000_000;

/// Latest timestamps written since the engine was opened.
pub(crate) struct WrittenStripes {
    latest: Vec<AtomicI64>,
}

impl WrittenStripes {
    pub(crate) fn new() -> Self {
        Self { latest: (0..STRIPES).map(|_| AtomicI64::new(Timestamp::MIN)).collect() }
    }

    /// Returns the stripe of a partition key in its plain serialisation, whatever the table.
    fn stripe(&self, partition: &[u8]) -> Option<&AtomicI64> {
        let at = usize::try_from(xxh3_64(partition) % (STRIPES as u64)).unwrap_or(0);
        self.latest.get(at)
    }

    /// Notes a write to a partition, under the latch of its row or the lock of the partition, before
    /// it is queued.
    pub(super) fn raise(&self, partition: &[u8], timestamp: Timestamp) {
        if let Some(stripe) = self.stripe(partition) {
            stripe.fetch_max(timestamp, Ordering::AcqRel);
        }
    }

    /// Returns the latest write to the partition, or a later one to another.
    pub(super) fn latest(&self, partition: &[u8]) -> Timestamp {
        self.stripe(partition).map_or(Timestamp::MAX, |stripe| stripe.load(Ordering::Acquire))
    }
}

/// The high-water mark of one table, as far as it is known.
#[derive(Debug)]
pub(super) struct HighWaterState {
    is_loaded: AtomicBool,
    /// There is one, or there will be with the first write.
    is_kept: AtomicBool,
    /// Nothing that was stored when it was loaded is later; `MAX` as long as that is not known.
    found: AtomicI64,
    /// A row of several chunks may be there.
    may_have_chunks: AtomicBool,
    /// The newest queued high-water mark, for a look without the lock.
    until: AtomicI64,
    /// The newest queued high-water mark; held while a newer one is queued.
    queued: Mutex<HighWater>,
}

impl Default for HighWaterState {
    fn default() -> Self {
        Self {
            is_loaded: AtomicBool::new(false),
            is_kept: AtomicBool::new(false),
            found: AtomicI64::new(Timestamp::MAX),
            may_have_chunks: AtomicBool::new(true),
            until: AtomicI64::new(Timestamp::MIN),
            queued: Mutex::new(HighWater { until: Timestamp::MIN, has_chunks: false }),
        }
    }
}

/// A newer high-water mark in a commit that is about to be queued.
pub(crate) struct Renewal<'l> {
    high_water: &'l HighWaterState,
    queued: MutexGuard<'l, HighWater>,
    newer: HighWater,
}

impl Renewal<'_> {
    /// Notes that the commit was queued: from here on others rely on it.
    pub(crate) fn queued(mut self) {
        *self.queued = self.newer;
        self.high_water.until.store(self.newer.until, Ordering::Release);
    }
}

impl HighWaterState {
    /// Reads what is stored, once; before the first write of this process to the table is planned.
    ///
    /// `rows` is what the keys of the table's rows begin with, where rows may be written without
    /// being read.
    pub(super) fn load(&self, table: u64, rows: Option<&Bytes>, view: &impl View) -> Result<()> {
        if self.is_loaded.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut queued = self.queued.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_loaded.load(Ordering::Acquire) {
            return Ok(());
        }
        let stored = view.get(&high_water_key(table))?;
        let stored = stored.map(|value| HighWater::decode(&value)).transpose()?;
        let found = match (stored, rows) {
            (None, Some(rows)) if is_empty(rows, view)? => {
                Some(HighWater { until: Timestamp::MIN, has_chunks: false })
            }
            (stored, _) => stored,
        };
        if let Some(found) = found {
            *queued = found;
            self.until.store(found.until, Ordering::Release);
            self.found.store(found.until, Ordering::Release);
            self.may_have_chunks.store(found.has_chunks, Ordering::Release);
            self.is_kept.store(true, Ordering::Release);
        }
        self.is_loaded.store(true, Ordering::Release);
        Ok(())
    }

    /// Tells whether nothing that was there when the engine was opened is as late as `timestamp`, nor
    /// cut into chunks.
    pub(super) fn is_above(&self, timestamp: Timestamp) -> bool {
        timestamp > self.found.load(Ordering::Acquire)
            && !self.may_have_chunks.load(Ordering::Acquire)
    }

    /// Notes that a row of several chunks is about to be queued. Under the latch of the row.
    pub(super) fn note_chunks(&self) {
        self.may_have_chunks.store(true, Ordering::Release);
    }

    /// Puts the high-water mark that has to be queued with writes that are no later and have no more chunks
    /// than `written` says, if it takes a newer one.
    pub(super) fn renew(
        &self,
        table: u64,
        written: HighWater,
        mut put: impl FnMut(Bytes, Bytes),
    ) -> Option<Renewal<'_>> {
        let HighWater { until: timestamp, has_chunks } = written;
        if !self.is_kept.load(Ordering::Acquire)
            || timestamp <= self.until.load(Ordering::Acquire) && !has_chunks
        {
            return None;
        }
        let queued = self.queued.lock().unwrap_or_else(PoisonError::into_inner);
        let is_above = timestamp > queued.until;
        if !is_above && queued.has_chunks >= has_chunks {
            return None;
        }
        let newer = HighWater {
            until: if is_above { timestamp.saturating_add(STEP_MICROS) } else { queued.until },
            has_chunks: queued.has_chunks || has_chunks,
        };
        if queued.until == Timestamp::MIN {
            // Builds that know no high-water marks would not raise it, so they must not write here any more.
            let (key, value) = format_record();
            put(key, value);
        }
        put(high_water_key(table), newer.encode());
        Some(Renewal { high_water: self, queued, newer })
    }
}

/// Tells whether nothing at all is stored under a prefix.
fn is_empty(prefix: &Bytes, view: &impl View) -> Result<bool> {
    let mut rest = Some(KeyRange::prefix(prefix.clone()));
    let limits = ScanLimits { rows_max: 1, keys_only: true, ..ScanLimits::default() };
    while let Some(range) = rest {
        let page = view.scan(&range, Direction::Ascending, limits)?;
        if !page.rows.is_empty() {
            return Ok(false);
        }
        rest = page.next;
    }
    Ok(true)
}
