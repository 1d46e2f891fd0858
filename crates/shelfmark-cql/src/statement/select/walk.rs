//! The walk of a page over the units of a SELECT: where it is, and how its end becomes a position.
//!
//! What it is not: the reads themselves, which are `run`'s.
//!
//! Invariant: a position that a walk left names the row behind the last one that was taken.

use bytes::Bytes;
use shelfmark_cql_protocol::Result;
use shelfmark_engine::CellEntry;

use super::source::{Position, Reading, Unit};
use super::whole_partitions::UnitCursor;

/// Walks over the units of a page.
pub(super) struct Walk<'w> {
    pub(super) units: &'w [Unit],
    pub(super) reading: Reading<'w>,
    /// Entries of statics without a row are no rows of the answer.
    pub(super) hides_statics: bool,
    /// The most rows to take.
    pub(super) wanted: Option<u64>,
    pub(super) taken: u64,
}

/// Holds the progress of a walk inside of one unit.
pub(super) struct Place<'w> {
    number: usize,
    pub(super) unit: &'w Unit,
    pub(super) is_index: bool,
    /// True if the unit lies in one partition.
    pub(super) in_partition: bool,
    /// Rows behind the cursor that an earlier page answered, as positions of earlier builds count them.
    skip: u64,
    /// The partition of the last row of an index, and the number of its rows that were taken.
    pub(super) partition_rows: Option<(Bytes, u64)>,
    pub(super) cursor: Option<UnitCursor>,
}

/// Limits one read.
#[derive(Clone, Copy)]
pub(super) struct ReadLimits {
    pub(super) rows: usize,
    /// The most rows of each partition.
    pub(super) of_each: Option<usize>,
}

impl<'w> Walk<'w> {
    /// Returns true if no more rows are wanted.
    pub(super) fn is_full(&self) -> bool {
        self.wanted.is_some_and(|wanted| self.taken >= wanted)
    }

    /// Enters a unit; the one of number `start` is where the last page ended.
    pub(super) fn enter(
        &self,
        number: usize,
        start: usize,
        end: &mut Position,
    ) -> Result<Option<Place<'w>>> {
        let Some(unit) = self.units.get(number) else { return Ok(None) };
        let is_index = matches!(unit, Unit::Index { .. });
        let mut place = Place {
            number,
            unit,
            is_index,
            in_partition: matches!(unit, Unit::Get(..) | Unit::Span(..)),
            skip: 0,
            partition_rows: None,
            cursor: None,
        };
        if number == start {
            place.skip = match end.is_shared {
                _ if !is_index => 0,
                true => end.of_partition,
                false => end.skip,
            };
            place.partition_rows = end.indexed.take();
            place.cursor = end.unit_cursor()?;
        } else {
            let before = number.checked_sub(1).and_then(|before| self.units.get(before));
            if !before.is_some_and(|before| shares_partition(before, unit)) {
                end.of_partition = 0;
            }
        }
        Ok(Some(place))
    }

    /// Leaves a unit after a read that filled the page. Returns true if nothing is left.
    pub(super) fn leave(&self, place: &mut Place<'_>, end: &mut Position) -> bool {
        if let Some(cursor) = place.cursor.take() {
            end.indexed = place.partition_rows.take();
            end.unit = place.number();
            end.cursor = cursor.to_bytes();
            return false;
        }
        let Some(next) = self.units.get(place.number + 1) else { return true };
        end.unit = u32::try_from(place.number + 1).unwrap_or(u32::MAX);
        end.cursor = Vec::new();
        if !shares_partition(place.unit, next) {
            end.of_partition = 0;
        }
        false
    }
}

impl Place<'_> {
    /// Returns the number of the unit, as positions have it.
    pub(super) fn number(&self) -> u32 {
        u32::try_from(self.number).unwrap_or(u32::MAX)
    }

    /// Returns true if an entry is no row of the answer: it was answered before, or is one of
    /// statics alone, or its partition has given enough.
    pub(super) fn passes_over(
        &mut self,
        entry: &CellEntry,
        hides_statics: bool,
        per_partition: Option<u64>,
    ) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return true;
        }
        if entry.clustering.is_none() && hides_statics {
            return true;
        }
        self.is_index
            && per_partition.is_some_and(|most| {
                !fits_partition(&mut self.partition_rows, &entry.partition, most)
            })
    }
}

/// Counts a row of an index's partition; returns true if it is one of the first `most`.
fn fits_partition(seen: &mut Option<(Bytes, u64)>, partition: &Bytes, most: u64) -> bool {
    match seen {
        Some((last, count)) if last == partition => {
            *count += 1;
            *count <= most
        }
        _ => {
            *seen = Some((partition.clone(), 1));
            most > 0
        }
    }
}

/// Returns true if two units lie in the same partition.
fn shares_partition(a: &Unit, b: &Unit) -> bool {
    let of = |unit: &Unit| match unit {
        Unit::Get(partition, _) | Unit::Span(partition, _) => Some(partition.clone()),
        _ => None,
    };
    of(a).is_some() && of(a) == of(b)
}
