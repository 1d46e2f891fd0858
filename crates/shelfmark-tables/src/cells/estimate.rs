//! Estimates of how much lies in parts of a table of cells.
//!
//! Tokens are hashes, so partitions lie evenly over them: the first few rows of a part say how many
//! partitions the rest of it has. What it is not: a count. Rows that are dead and not purged yet are
//! taken for live, as an estimate from table files would.
//!
//! Invariant: the cost is a bounded number of rows per part, however large the table is.

use std::ops::Bound;

use bytes::Bytes;
use shelfmark_keycode::token_bytes;
use shelfmark_store::{Direction, KeyRange, ScanLimits, Snapshot, Store};

use super::page::token_range;
use crate::catalogue::Table;
use crate::error::{Error, Result};
use crate::tables::Tables;

/// Most rows that are looked at in one part. Source: ours; 16 parts then take about a millisecond.
const ROWS_PER_PART_MAX: usize = 64;
/// Most bytes of them. Source: ours.
const BYTES_PER_PART_MAX: usize = 64 * 1024;

/// Most pages that these come in: a driver may answer short ones. Source: ours.
const PAGES_PER_PART_MAX: usize = 4;

/// A range of tokens.
type Tokens = (Bound<i64>, Bound<i64>);

/// Estimates what one part of a table of cells holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CellEstimate {
    /// Partitions; exact where there are few rows.
    pub partitions: u64,
    /// Bytes of the mean partition.
    pub partition_size_bytes: u64,
}

/// A sample of the partitions and bytes at the beginning of a part.
struct Sample {
    partitions: u64,
    bytes: u64,
    /// Tokens that the rows lie in, and those of the part.
    seen_tokens: f64,
    all_tokens: f64,
    is_whole: bool,
}

impl Tables {
    /// Estimates how many partitions lie in each of `parts`, and how large they are.
    ///
    /// Cost: one seek and at most 64 rows or 64 KiB for each part, flat as the table grows.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: it is no table of cells.
    /// * [`crate::ErrorKind::NotFound`]: the table was dropped.
    pub fn estimate_cells(&self, table: &Table, parts: &[Tokens]) -> Result<Vec<CellEstimate>> {
        self.reading(table, |view, table| {
            if table.typed_rows().is_some() {
                return Err(Error::invalid("a typed table lies in no order of tokens"));
            }
            let prefix = &table.cells()?.keys.prefix;
            let samples: Vec<Sample> = parts
                .iter()
                .map(|part| sample(view, table, token_range(prefix, *part), *part))
                .collect::<Result<_>>()?;
            let on_disk = bytes_on_disk(&*self.store, prefix)?;
            Ok(estimates(&samples, on_disk))
        })
    }
}

/// Reads the first rows of a part.
fn sample(view: &dyn Snapshot, table: &Table, range: KeyRange, part: Tokens) -> Result<Sample> {
    let keys = &table.cells()?.keys;
    let (mut partitions, mut bytes, mut rows) = (0, 0, 0);
    let mut last: Option<Bytes> = None;
    let mut rest = Some(range);
    for _ in 0..PAGES_PER_PART_MAX {
        let left = ROWS_PER_PART_MAX.saturating_sub(rows);
        let Some(range) = rest.take_if(|_| left > 0) else { break };
        let limits = ScanLimits { rows_max: left, bytes_max: BYTES_PER_PART_MAX, keys_only: false };
        let page = view.scan(&range, Direction::Ascending, limits)?;
        for row in &page.rows {
            let partition = row.key.slice(..keys.partition_length(&row.key)?);
            bytes += (row.key.len() + row.value.len()) as u64;
            if last.as_ref() != Some(&partition) {
                partitions += 1;
                last = Some(partition);
            }
        }
        rows += page.rows.len();
        rest = page.next;
    }
    let (first, behind) = offsets(part);
    // Where pages came back empty, what is left of the range says how far they went.
    let reached = last.or_else(|| rest.as_ref().map(|rest| rest.start.clone()));
    let seen_tokens = match &reached {
        Some(key) if rest.is_some() => offset(key, keys.prefix.len())? - first + 1.0,
        _ => behind - first,
    };
    Ok(Sample {
        partitions,
        bytes,
        seen_tokens: seen_tokens.max(1.0),
        all_tokens: (behind - first).max(1.0),
        is_whole: rest.is_none(),
    })
}

/// Returns where a range of tokens begins and ends, counted from the least token.
fn offsets(part: Tokens) -> (f64, f64) {
    let place = |token: i64| f64_of(u64::from_be_bytes(token_bytes(token)));
    let first = match part.0 {
        Bound::Unbounded => 0.0,
        Bound::Included(token) => place(token),
        Bound::Excluded(token) => place(token) + 1.0,
    };
    let behind = match part.1 {
        Bound::Unbounded => f64_of(u64::MAX) + 1.0,
        Bound::Included(token) => place(token) + 1.0,
        Bound::Excluded(token) => place(token),
    };
    (first, behind)
}

/// Returns the place of a key's token, counted from the least token.
fn offset(key: &[u8], prefix: usize) -> Result<f64> {
    let token = key.get(prefix..).and_then(|rest| rest.first_chunk::<8>());
    let token = token.ok_or_else(|| Error::corrupt("a key of a table of cells is too short"))?;
    Ok(f64_of(u64::from_be_bytes(*token)))
}

#[expect(clippy::cast_precision_loss, reason = "estimates need no more than its 53 bits")]
fn f64_of(number: u64) -> f64 {
    number as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates, and nothing here is negative"
)]
fn u64_of(number: f64) -> u64 {
    number.round() as u64
}

/// Returns about how many bytes the table has in table files: files are of similar size.
fn bytes_on_disk(store: &dyn Store, prefix: &Bytes) -> Result<u64> {
    let stored = store.stats().tree_bytes_on_disk;
    if stored == 0 {
        return Ok(0);
    }
    let own = store.boundaries(&KeyRange::prefix(prefix.clone()))?.len() as u64;
    let all = store.boundaries(&KeyRange::all())?.len() as u64;
    Ok(stored / (all + 1) * own.saturating_sub(1))
}

/// Extends what was seen to the rest of each part.
fn estimates(samples: &[Sample], bytes_on_disk: u64) -> Vec<CellEstimate> {
    // Parts of one table are alike, so those that were not read whole are judged together.
    let (mut seen, mut before_last, mut tokens, mut bytes) = (0, 0, 0.0, 0);
    for sample in samples.iter().filter(|sample| !sample.is_whole) {
        seen += sample.partitions;
        before_last += sample.partitions.saturating_sub(1);
        bytes += sample.bytes;
        tokens += sample.seen_tokens;
    }
    // The last partition of a sample is where it was cut, and says nothing of those before it.
    let density = if tokens > 0.0 { f64_of(before_last) / tokens } else { 0.0 };
    let partitions = |sample: &Sample| {
        if sample.is_whole {
            return sample.partitions;
        }
        u64_of(density * sample.all_tokens).max(sample.partitions)
    };
    let all: u64 = samples.iter().filter(|sample| !sample.is_whole).map(partitions).sum();
    // A partition that is longer than a sample shows in the table files alone.
    let mean = (bytes.checked_div(seen).unwrap_or(0))
        .max(bytes_on_disk.checked_div(all).unwrap_or(0))
        .max(1);
    samples
        .iter()
        .map(|sample| CellEstimate {
            partitions: partitions(sample),
            partition_size_bytes: match sample.is_whole {
                true => sample.bytes.checked_div(sample.partitions).unwrap_or(0),
                false => mean,
            },
        })
        .collect()
}
