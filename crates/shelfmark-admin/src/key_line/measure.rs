//! Finds the stretches of a range of keys, and how large they are.
//!
//! A small range is read. A large one is sampled: seeks to places that lie evenly between its first
//! and its last key, and to where table files begin, cut it into stretches; a few rows at the start of
//! each say how many there are, by how far along the stretch they reach. A partition that goes on
//! behind those rows becomes a stretch of its own.

use bytes::Bytes;
use shelfmark_records::keys::without_chunk;
use shelfmark_store::{Direction, KeyRange, Row, ScanLimits, Snapshot, Store};

use super::figures::{float, length, whole};
use super::keys::StoredKeys;
use super::ruler::Ruler;
use crate::error::Result;

/// Stretches of a range that was read. Source: ours, as the others here: what a person can look at.
const STRETCHES_MAX: usize = 60;
/// Rows that are read to show a small range as it is.
const EXACT_ROWS_MAX: usize = 400;
/// Bytes that are read for it.
const EXACT_BYTES_MAX: usize = 512 * 1024;
/// Rows that are read at each sampled place.
const SAMPLE_ROWS: usize = 16;
/// Bytes that are read there.
const SAMPLE_BYTES_MAX: usize = 32 * 1024;

/// A part of a key line.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    /// Its keys.
    pub range: KeyRange,
    /// The first key in it that was seen.
    pub first: Bytes,
    /// Rows in it.
    pub rows: u64,
    /// Bytes of them as they are stored, before compression.
    pub bytes: u64,
    /// Partitions in it; 1 where it is one or a part of one.
    pub partitions: u64,
    /// True if it goes on with the partition of the stretch before it, and holds nothing else.
    pub goes_on: bool,
    /// True if all of it was read.
    pub is_exact: bool,
    /// The keys of its rows, where all of it was read; otherwise its last key, where that is known.
    pub seen: Vec<Bytes>,
    /// Measures its keys, where it is part of one partition: what tells those apart lies far behind what
    /// tells partitions apart.
    ruler: Option<Ruler>,
}

/// The stretches of a range.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// In the order of keys; none if there are no rows.
    pub stretches: Vec<Stretch>,
    ruler: Option<Ruler>,
}

/// The extent of the sampling.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Rows that are read to see whether the range is small.
    pub exact_rows: usize,
    /// Places that are sampled otherwise.
    pub places: usize,
}

impl Effort {
    /// For a picture.
    pub const PICTURE: Self = Self { exact_rows: EXACT_ROWS_MAX, places: 40 };
    /// For the picture beside an answer, of which there may be several.
    pub const BESIDE: Self = Self { exact_rows: EXACT_ROWS_MAX / 2, places: 24 };
    /// For a figure in a list.
    pub const FIGURE: Self = Self { exact_rows: 48, places: 6 };
}

impl Line {
    /// Returns the rows of all stretches.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.stretches.iter().map(|own| own.rows).sum()
    }

    /// Returns the bytes of all stretches.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.stretches.iter().map(|own| own.bytes).sum()
    }

    /// Returns the partitions of all stretches.
    #[must_use]
    pub fn partitions(&self) -> u64 {
        self.stretches.iter().filter(|own| !own.goes_on).map(|own| own.partitions).sum()
    }

    /// Returns true if everything was read, so that the figures are no estimates.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.stretches.iter().all(|own| own.is_exact)
    }

    /// Returns how far along a stretch a key lies.
    #[must_use]
    pub fn place_in(&self, stretch: &Stretch, key: &[u8]) -> f64 {
        if stretch.is_exact {
            let before = stretch.seen.partition_point(|own| own.as_ref() < key);
            return float(length(before)) / float(length(stretch.seen.len()).max(1));
        }
        let Some(ruler) = stretch.ruler.as_ref().or(self.ruler.as_ref()) else { return 0.0 };
        let start = ruler.place(&stretch.first);
        let end = stretch.seen.last().or(stretch.range.end.as_ref());
        let end = end.map_or(1.0, |end| ruler.place(end));
        if end <= start {
            return if *key <= *stretch.first { 0.0 } else { 1.0 };
        }
        ((ruler.place(key) - start) / (end - start)).clamp(0.0, 1.0)
    }
}

/// Measures a range of a table's keys.
///
/// Cost: what `effort` says, in seeks of a few rows each, however large the range is.
///
/// # Errors
///
/// * Those of the store.
pub fn measure(
    store: &dyn Store,
    keys: &StoredKeys,
    range: &KeyRange,
    effort: Effort,
) -> Result<Line> {
    let snapshot = store.snapshot()?;
    let probe = Probe { store, snapshot: &*snapshot, keys };
    let (rows, rest) = probe.read(range, effort.exact_rows, EXACT_BYTES_MAX)?;
    let mut line = match rest {
        None => exact(keys, range, &rows),
        Some(_) => probe.sampled(range, &rows, effort)?,
    };
    let mut before: Option<Bytes> = None;
    for own in &mut line.stretches {
        let partition = keys.partition(&own.first).map(|bytes| own.first.slice_ref(bytes));
        own.goes_on = own.partitions == 1 && partition.is_some() && partition == before;
        before = partition.filter(|_| own.partitions == 1);
    }
    Ok(line)
}

struct Probe<'a> {
    store: &'a dyn Store,
    snapshot: &'a dyn Snapshot,
    keys: &'a StoredKeys,
}

impl Probe<'_> {
    /// Reads rows from the start of a range, and returns what is left of it.
    fn read(
        &self,
        range: &KeyRange,
        rows_max: usize,
        bytes_max: usize,
    ) -> Result<(Vec<Row>, Option<KeyRange>)> {
        let (mut rows, mut left, mut bytes) = (Vec::new(), Some(range.clone()), 0);
        while let Some(range) = left.take() {
            let limits = ScanLimits {
                rows_max: rows_max - rows.len(),
                bytes_max: bytes_max - bytes,
                keys_only: false,
            };
            let page = self.snapshot.scan(&range, Direction::Ascending, limits)?;
            bytes += page.rows.iter().map(|row| row.key.len() + row.value.len()).sum::<usize>();
            rows.extend(page.rows);
            left = page.next;
            if rows.len() >= rows_max || bytes >= bytes_max {
                break;
            }
        }
        Ok((rows, left))
    }

    /// Returns the first key of a range, or the last.
    fn end(&self, range: &KeyRange, direction: Direction) -> Result<Option<Bytes>> {
        let limits = ScanLimits { rows_max: 1, keys_only: true, ..ScanLimits::default() };
        let mut left = Some(range.clone());
        while let Some(range) = left {
            let page = self.snapshot.scan(&range, direction, limits)?;
            if let Some(row) = page.rows.into_iter().next() {
                return Ok(Some(row.key));
            }
            left = page.next;
        }
        Ok(None)
    }

    fn sampled(&self, range: &KeyRange, head: &[Row], effort: Effort) -> Result<Line> {
        let cuts = self.cuts(range, head, effort)?;
        let mut samples = Vec::new();
        for (at, start) in cuts.iter().enumerate() {
            let end = cuts.get(at + 1).cloned().or_else(|| range.end.clone());
            let range = KeyRange { start: start.clone(), end };
            let (rows, rest) = self.read(&range, SAMPLE_ROWS, SAMPLE_BYTES_MAX)?;
            samples.push((range, rows, rest));
        }
        let seen = samples.iter().flat_map(|(_, rows, _)| rows).map(|row| &*row.key);
        let ruler = Ruler::of(cuts.iter().map(|cut| &**cut).chain(seen));
        let mut stretches = Vec::new();
        for (range, rows, rest) in samples {
            match rest {
                None => stretches.extend(seen_whole(self.keys, &range, &rows)),
                Some(_) => self.stretch(&ruler, range, &rows, &mut stretches)?,
            }
        }
        Ok(Line { stretches, ruler: Some(ruler) })
    }

    /// Returns the starts of stretches: evenly between the ends, and where table files begin.
    fn cuts(&self, range: &KeyRange, head: &[Row], effort: Effort) -> Result<Vec<Bytes>> {
        let last = self.end(range, Direction::Descending)?;
        let ends = head.iter().map(|row| &*row.key).chain(last.as_deref());
        let ruler = Ruler::of(ends);
        let Some(first) = head.first().map(|row| row.key.clone()) else { return Ok(Vec::new()) };
        let from = ruler.place(&first);
        let to = last.as_deref().map_or(1.0, |last| ruler.place(last));
        let mut cuts = vec![first];
        for at in 1..effort.places {
            let share = float(length(at)) / float(length(effort.places));
            let seek = Bytes::from(ruler.key_at(from + (to - from) * share));
            if !range.contains(&seek) {
                continue;
            }
            let rest = KeyRange { start: seek, end: range.end.clone() };
            cuts.extend(self.end(&rest, Direction::Ascending)?);
        }
        // A store in memory has no files, and would look at every key to say so.
        if self.store.stats().tree_bytes_on_disk > 0 {
            let files = self.store.boundaries(range)?;
            let step = files.len().div_ceil(effort.places).max(1);
            cuts.extend(files.into_iter().step_by(step));
        }
        let mut cuts: Vec<Bytes> = cuts.iter().map(bare).collect();
        cuts.sort_unstable();
        cuts.dedup();
        Ok(cuts)
    }

    /// Estimates a stretch from the rows at its start; a partition that they do not end is one of its
    /// own.
    fn stretch(
        &self,
        ruler: &Ruler,
        range: KeyRange,
        rows: &[Row],
        stretches: &mut Vec<Stretch>,
    ) -> Result<()> {
        let Some(first) = rows.first() else { return Ok(()) };
        let own = self.keys.partition(&first.key);
        let is_one = own.is_some_and(|own| rows.iter().all(|row| row.key.starts_with(own)));
        let ends = own.filter(|_| is_one).map(|own| KeyRange::prefix(own.to_vec()).end);
        match ends {
            Some(Some(end)) if range.end.as_ref().is_none_or(|all| end < *all) => {
                let partition = KeyRange { start: range.start, end: Some(end.clone()) };
                stretches.push(self.partition(partition, rows)?);
                let rest = KeyRange { start: end, end: range.end };
                let (rows, left) = self.read(&rest, SAMPLE_ROWS, SAMPLE_BYTES_MAX)?;
                if left.is_none() {
                    stretches.extend(seen_whole(self.keys, &rest, &rows));
                } else if let Some(first) = rows.first() {
                    let first = first.key.clone();
                    let figures = self.figures(ruler, &rest, &rows);
                    stretches.push(figures.stretch(rest, first));
                }
            }
            Some(_) => stretches.push(self.partition(range, rows)?),
            None => {
                let figures = self.figures(ruler, &range, rows);
                stretches.push(figures.stretch(range, first.key.clone()));
            }
        }
        Ok(())
    }

    /// Estimates a stretch that lies in one partition, sampled at four places of its own.
    fn partition(&self, range: KeyRange, rows: &[Row]) -> Result<Stretch> {
        const QUARTERS: u64 = 4;
        let first = rows.first().map_or_else(|| range.start.clone(), |row| row.key.clone());
        let last = self.end(&range, Direction::Descending)?.unwrap_or_else(|| first.clone());
        let ends = rows.iter().map(|row| &*row.key).chain([&*last]);
        let rough = Ruler::of(ends);
        let (from, to) = (rough.place(&first), rough.place(&last));
        let mut quarters = vec![rows.to_vec()];
        for at in 1..QUARTERS {
            let share = float(at) / float(QUARTERS);
            let start = Bytes::from(rough.key_at(from + (to - from) * share));
            if range.contains(&start) {
                let rest = KeyRange { start, end: range.end.clone() };
                quarters.push(self.read(&rest, SAMPLE_ROWS, SAMPLE_BYTES_MAX)?.0);
            }
        }
        let seen = quarters.iter().flatten().map(|row| &*row.key);
        let ruler = Ruler::of(seen.chain([&*last]));
        let whole_range = KeyRange { start: first.clone(), end: Some(last.clone()) };
        let mut all = Figures::default();
        for rows in &quarters {
            let figures = self.figures(&ruler, &whole_range, rows);
            all.rows += figures.rows / float(length(quarters.len()));
            all.bytes += figures.bytes / float(length(quarters.len()));
        }
        all.partitions = 1.0;
        Ok(Stretch { seen: vec![last], ruler: Some(ruler), ..all.stretch(range, first) })
    }

    /// Extends rows that lie one behind the other somewhere in a range to all of it.
    fn figures(&self, ruler: &Ruler, range: &KeyRange, rows: &[Row]) -> Figures {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return Figures::default();
        };
        let own = Figures::of(self.keys, rows);
        let end = range.end.as_ref().map_or(1.0, |end| ruler.place(end));
        let all = end - ruler.place(&range.start);
        let covered = ruler.place(&last.key) - ruler.place(&first.key);
        if covered <= 0.0 || all <= covered {
            return own;
        }
        // Between n rows there are n − 1 steps.
        let steps = float(length(rows.len()));
        let times = (all / covered) * (steps - 1.0).max(1.0) / steps;
        Figures {
            rows: own.rows * times,
            bytes: own.bytes * times,
            partitions: own.partitions * times,
        }
    }
}

/// Figures of some rows, before they are rounded.
#[derive(Debug, Clone, Copy, Default)]
struct Figures {
    rows: f64,
    bytes: f64,
    partitions: f64,
}

impl Figures {
    fn of(keys: &StoredKeys, rows: &[Row]) -> Self {
        let count = rows.iter().filter(|row| keys.is_row(&row.key)).count();
        let bytes: usize = rows.iter().map(|row| row.key.len() + row.value.len()).sum();
        let mut partitions: Vec<&[u8]> =
            rows.iter().filter_map(|row| keys.partition(&row.key)).collect();
        partitions.dedup();
        Self {
            rows: float(length(count)),
            bytes: float(length(bytes)),
            partitions: float(length(partitions.len())),
        }
    }

    fn stretch(self, range: KeyRange, first: Bytes) -> Stretch {
        let Self { rows, bytes, partitions } = self;
        let (rows, bytes, partitions) = (whole(rows), whole(bytes), whole(partitions).max(1));
        Stretch {
            range,
            first,
            rows,
            bytes,
            partitions,
            goes_on: false,
            is_exact: false,
            seen: Vec::new(),
            ruler: None,
        }
    }
}

fn seen_whole(keys: &StoredKeys, range: &KeyRange, rows: &[Row]) -> Option<Stretch> {
    let first = rows.first()?.key.clone();
    let seen = rows.iter().filter(|row| keys.is_row(&row.key)).map(|row| bare(&row.key)).collect();
    let figures = Figures::of(keys, rows).stretch(range.clone(), first);
    Some(Stretch { is_exact: true, seen, ..figures })
}

/// Returns a stored key as ranges name it: without the number of its chunk.
fn bare(key: &Bytes) -> Bytes {
    without_chunk(key).map_or_else(|_| key.clone(), |row| key.slice_ref(row))
}

/// Returns the stretches of a range that was read: partitions, or rows if there is one partition;
/// neighbours together where there are too many.
fn exact(keys: &StoredKeys, range: &KeyRange, rows: &[Row]) -> Line {
    let mut groups = groups_by(rows, |a, b| {
        let own = keys.partition(&a.key);
        own.is_some() && own == keys.partition(&b.key)
    });
    if groups.len() == 1 {
        groups = groups_by(rows, |_, row| !keys.is_row(&row.key));
    }
    let step = groups.len().div_ceil(STRETCHES_MAX).max(1);
    let starts: Vec<Bytes> =
        groups.iter().step_by(step).filter_map(|group| Some(bare(&group.first()?.key))).collect();
    let mut stretches = Vec::new();
    for (at, groups) in groups.chunks(step).enumerate() {
        let own: Vec<Row> = groups.iter().flat_map(|group| group.iter().cloned()).collect();
        let start = if at == 0 { Some(&range.start) } else { starts.get(at) };
        let end = starts.get(at + 1).cloned().or_else(|| range.end.clone());
        let Some(start) = start.cloned() else { continue };
        stretches.extend(seen_whole(keys, &KeyRange { start, end }, &own));
    }
    Line { stretches, ruler: None }
}

/// Parts rows where a row does not belong to the one before it.
fn groups_by(rows: &[Row], belongs: impl Fn(&Row, &Row) -> bool) -> Vec<&[Row]> {
    rows.chunk_by(belongs).collect()
}
