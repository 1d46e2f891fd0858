//! Writes into a row of several chunks without reading all of it.
//!
//! The head says with which cell each chunk begins, so a mutation of single cells concerns the
//! chunks that these fall into and no others. What it is not: the only way. Whatever needs to know
//! the whole row, or would move chunks behind those it writes, is left to the general one.
//!
//! Invariant: what is written is a row that the general way could have written.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use bytes::Bytes;
use shelfmark_model::CellIndexTarget;
use shelfmark_model::limits::ROW_SIZE_BYTES_MAX;
use shelfmark_records::cells::due;
use shelfmark_records::cells::{
    CellKey, CellRow, LISTED_PATH_BYTES_MAX, Part, Place, RowReader, decode_part, parts_within,
};
use shelfmark_records::items::CHUNK_SIZE_BYTES;
use shelfmark_records::keys::chunk_key;

use super::derive;
use super::find::{Found, Target, due_second};
use crate::error::{Error, Result};
use crate::rows::View as _;

/// Chunks that hold one run of cells: one chunk, or those of one large cell.
struct Run {
    first: CellKey,
    /// Number of its first chunk.
    start: u64,
    chunks: u64,
}

/// The runs that a mutation falls into, with their cells.
struct Opened {
    runs: Vec<Run>,
    touched: BTreeSet<usize>,
    old_chunks: BTreeMap<u64, Bytes>,
    row: CellRow,
}

/// Merges what a mutation says into the chunks that it concerns. `false` if that cannot be: nothing
/// was written then.
pub(super) fn patch(
    target: &Target<'_>,
    place: &Place,
    key: &[u8],
    says: &CellRow,
) -> Result<bool> {
    if !is_local(target, says) || target.purged_up_to(key)?.is_some() {
        return Ok(false);
    }
    let Some(head) = target.writer.buffer.get(&chunk_key(key, 0))? else { return Ok(false) };
    let Some(opened) = open(target, key, &head, says)? else { return Ok(false) };
    let mut after = opened.row.clone();
    after.merge(says.clone());
    target.forget(&mut after);
    let Some(runs) = opened.close(&after) else { return Ok(false) };
    if after == opened.row {
        return Ok(true);
    }
    let grace = target.layout.grace_seconds;
    let before = due_second(&opened.row, grace);
    // An earlier due time that stays behind is looked at in vain, once.
    if let Some(second) = due_second(&after, grace).filter(|second| Some(*second) != before) {
        target.put_due(second, due::ROW, target.rest_of(key));
    }
    let found = Found::part(place.clone(), key.to_vec(), opened.row.clone());
    derive::follow(target, &found, &after)?;
    opened.put(target, key, &head, &after, runs);
    Ok(true)
}

/// Tells whether what follows from the mutation follows from its cells alone.
fn is_local(target: &Target<'_>, says: &CellRow) -> bool {
    let whole_row = |target: CellIndexTarget| {
        matches!(
            target,
            CellIndexTarget::PartitionColumn(_)
                | CellIndexTarget::SortColumn(_)
                // Two elements with one value have one entry.
                | CellIndexTarget::Values(_)
        )
    };
    !says.cells.is_empty()
        && says.collections.is_empty()
        && says.deletion.is_none()
        && target.views.is_empty()
        && !target.layout.kept_indexes().any(|index| {
            // Of folded keys, too.
            whole_row(index.schema.target) || !index.schema.fold.is_none()
        })
}

/// Reads the chunks that cells of a mutation fall into; `None` if the row has none.
fn open(target: &Target<'_>, key: &[u8], head: &Bytes, says: &CellRow) -> Result<Option<Opened>> {
    let reader = RowReader::new(head)?;
    let firsts = reader.firsts()?;
    // Of a long path only the beginning is listed: that does not tell its place.
    if firsts.is_empty() || firsts.iter().any(|first| first.path.len() >= LISTED_PATH_BYTES_MAX) {
        return Ok(None);
    }
    let mut runs: Vec<Run> = Vec::with_capacity(firsts.len());
    for (number, first) in (1u64..).zip(firsts) {
        match runs.last_mut() {
            Some(run) if run.first == first => run.chunks += 1,
            _ => runs.push(Run { first, start: number, chunks: 1 }),
        }
    }
    let run_of = |key: &CellKey| runs.partition_point(|run| run.first <= *key).saturating_sub(1);
    let touched: BTreeSet<usize> = says.cells.keys().map(run_of).collect();
    let mut row = CellRow {
        liveness: reader.liveness,
        deletion: reader.deletion,
        collections: reader.collections.iter().copied().collect(),
        cells: BTreeMap::new(),
    };
    let mut old_chunks = BTreeMap::new();
    for run in touched.iter().filter_map(|at| runs.get(*at)) {
        let mut chunks = Vec::new();
        for number in run.start..run.start + run.chunks {
            let chunk = target.writer.buffer.get(&chunk_key(key, number))?;
            let chunk = chunk.ok_or_else(|| Error::corrupt("a row of cells lacks chunks"))?;
            old_chunks.insert(number, chunk.clone());
            chunks.push(chunk);
        }
        decode_part(&chunks, &mut row)?;
    }
    Ok(Some(Opened { runs, touched, old_chunks, row }))
}

impl Opened {
    /// Cuts the cells of each run anew; `None` if chunks behind one would move.
    fn close(&self, after: &CellRow) -> Option<BTreeMap<usize, Vec<Part>>> {
        let mut closed = BTreeMap::new();
        let mut chunks: u64 = self.runs.iter().map(|run| run.chunks).sum();
        for at in &self.touched {
            let run = self.runs.get(*at)?;
            let next = self.runs.get(at + 1);
            let from = if *at == 0 { Bound::Unbounded } else { Bound::Included(run.first.clone()) };
            let to = next.map_or(Bound::Unbounded, |next| Bound::Excluded(next.first.clone()));
            let parts = parts_within(after.cells.range((from, to)));
            let new: u64 = parts.iter().map(|part| part.chunks().count() as u64).sum();
            if new == 0 || new != run.chunks && next.is_some() {
                return None;
            }
            chunks = chunks + new - run.chunks;
            closed.insert(*at, parts);
        }
        let bytes = chunks.saturating_mul(CHUNK_SIZE_BYTES as u64);
        (bytes <= ROW_SIZE_BYTES_MAX as u64).then_some(closed)
    }

    fn put(
        self,
        target: &Target<'_>,
        key: &[u8],
        old_head: &Bytes,
        after: &CellRow,
        mut closed: BTreeMap<usize, Vec<Part>>,
    ) {
        let mut buffer = target.writer.buffer.borrow_mut();
        let mut firsts = Vec::new();
        for (at, run) in self.runs.iter().enumerate() {
            let Some(parts) = closed.remove(&at) else {
                firsts.extend((0..run.chunks).map(|_| run.first.clone()));
                continue;
            };
            let mut number = run.start;
            for (position, part) in parts.iter().enumerate() {
                // A run keeps the place it begins at, unless an earlier cell came.
                let first = match position {
                    0 => part.first.clone().min(run.first.clone()),
                    _ => part.first.clone(),
                };
                for chunk in part.chunks() {
                    firsts.push(first.clone());
                    if self.old_chunks.get(&number) != Some(&chunk) {
                        buffer.put(chunk_key(key, number), chunk);
                    }
                    number += 1;
                }
            }
            for left in number..run.start + run.chunks {
                buffer.delete(chunk_key(key, left));
            }
        }
        let head = after.encode_chunked_head(&firsts);
        if head != *old_head {
            buffer.put(chunk_key(key, 0), head);
        }
    }
}
