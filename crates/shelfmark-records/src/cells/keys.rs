//! The keys of a table of cells: where its rows and the statics of its partitions lie.
//!
//! `[rows][table id][token][partition key]`, then `00` for the statics or `01` and the clustering
//! key. The partition key is the plain serialisation as one self-ending component; the engine does
//! not look inside, except where an index or a view takes a component of it.

use bytes::Bytes;
use shelfmark_keycode::{
    Direction, prefix_successor, put_bytes, put_shorter_bytes, take_packed_bytes, token,
    token_bytes,
};
use shelfmark_model::{KeyType, SortColumn};
use shelfmark_store::KeyRange;

use super::clustering::{ClusteringValue, put_raw, take_shared};
use super::span::{Span, SpanBound};
use super::spelling::plainly_spelled;
use crate::error::{Error, Result};
use crate::keys::RowKey;

/// After the partition key: the statics.
pub const STATICS: u8 = 0;
/// After the partition key: a row.
pub const ROW: u8 = 1;

/// Encodes and decodes the keys of a table of cells.
#[derive(Debug, Clone)]
pub struct CellKeys {
    /// `[rows][table id]`.
    pub prefix: Bytes,
    /// The clustering columns, in order.
    pub sort: Vec<SortColumn>,
    /// Set where the rows are items: the type of their partition key, which has one spelling.
    pub partition_type: Option<KeyType>,
    /// Texts of more than 1,024 bytes are packed.
    pub packs: Packs,
    /// Set where the rows are those of a view, whose partition key may be an empty text.
    pub is_of_view: bool,
}

/// True if long texts in the keys of a table are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packs(pub bool);

/// A key taken apart: the partition, and which row of it; `None` are its statics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The partition key in its plain serialisation.
    pub partition: Bytes,
    /// The values of the clustering columns; `None` for the statics.
    pub clustering: Option<Vec<ClusteringValue>>,
}

impl CellKeys {
    /// Creates the keys of a table from `[rows][table id]` and its clustering columns.
    pub fn new(prefix: Bytes, sort: Vec<SortColumn>, packs: Packs) -> Self {
        Self { prefix, sort, partition_type: None, packs, is_of_view: false }
    }

    /// Returns what all keys of a partition begin with.
    ///
    /// # Errors
    ///
    /// * `Invalid`: the partition key is empty.
    pub fn partition(&self, raw: &[u8]) -> Result<Vec<u8>> {
        if raw.is_empty() && !self.is_of_view {
            return Err(Error::invalid("a partition key may not be empty"));
        }
        let mut out = Vec::with_capacity(self.prefix.len() + raw.len() + 64);
        out.extend_from_slice(&self.prefix);
        match &self.partition_type {
            Some(key_type) => put_partition(&mut out, &plainly_spelled(key_type, raw)?, self.packs),
            None => put_partition(&mut out, raw, self.packs),
        }
        Ok(out)
    }

    /// Returns the key of a partition's statics, without chunk.
    ///
    /// # Errors
    ///
    /// * `Invalid`: the partition key is empty.
    pub fn statics(&self, raw: &[u8]) -> Result<Vec<u8>> {
        Ok(self.statics_of(self.partition(raw)?))
    }

    /// Works as [`CellKeys::statics`], of what the keys of the partition begin with.
    pub fn statics_of(&self, mut partition: Vec<u8>) -> Vec<u8> {
        partition.push(STATICS);
        partition
    }

    /// Returns the key of a row, without chunk.
    ///
    /// # Errors
    ///
    /// * `Invalid`: the partition key is empty, or a value does not fit its column.
    pub fn row(&self, raw: &[u8], clustering: &[ClusteringValue]) -> Result<Vec<u8>> {
        self.row_of(self.partition(raw)?, clustering)
    }

    /// Works as [`CellKeys::row`], of what the keys of the partition begin with.
    ///
    /// # Errors
    ///
    /// * `Invalid`: the partition key is empty, or a value does not fit its column.
    pub fn row_of(&self, partition: Vec<u8>, clustering: &[ClusteringValue]) -> Result<Vec<u8>> {
        if clustering.len() != self.sort.len() {
            return Err(Error::invalid(format!(
                "the clustering key has {} columns, {} values were given",
                self.sort.len(),
                clustering.len()
            )));
        }
        let mut out = partition;
        out.push(ROW);
        self.extend(&mut out, 0, clustering)?;
        Ok(out)
    }

    /// Returns the key of what a place names, without chunk.
    ///
    /// # Errors
    ///
    /// * `Invalid`: the partition key is empty, or a value does not fit its column.
    pub fn place(&self, place: &Place) -> Result<Vec<u8>> {
        match &place.clustering {
            None => self.statics(&place.partition),
            Some(clustering) => self.row(&place.partition, clustering),
        }
    }

    /// Returns what the keys of all rows of a partition begin with.
    ///
    /// # Errors
    ///
    /// * `Invalid`: the partition key is empty, or a value does not fit its column.
    pub fn rows_of(&self, raw: &[u8]) -> Result<Vec<u8>> {
        let mut key = self.partition(raw)?;
        key.push(ROW);
        Ok(key)
    }

    /// Takes a key without chunk apart.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the key is none of this table.
    pub fn parse(&self, key: &[u8]) -> Result<Place> {
        let rest = key.strip_prefix(self.prefix.as_ref()).ok_or_else(damaged)?;
        self.parse_rest(rest)
    }

    /// Works as [`CellKeys::parse`], of a key without `[tree][id]`.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the key is none of this table.
    pub fn parse_rest(&self, rest: &[u8]) -> Result<Place> {
        let mut rest = rest.get(8..).ok_or_else(damaged)?;
        let partition =
            take_packed_bytes(&mut rest, Direction::Ascending).map_err(|_| damaged())?;
        let partition = Bytes::copy_from_slice(&partition);
        let (kind, rest) = rest.split_first().ok_or_else(damaged)?;
        let clustering = match *kind {
            STATICS if rest.is_empty() => None,
            ROW => Some(self.clustering(rest, None)?),
            _ => return Err(damaged()),
        };
        Ok(Place { partition, clustering })
    }

    /// Takes the clustering key apart: what of a row's key comes behind its kind, at `at`.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the key is none of this table.
    pub fn clustering_at(&self, key: &RowKey, at: usize) -> Result<Vec<ClusteringValue>> {
        self.clustering(key.get(at..).unwrap_or_default(), Some(key.buffer()))
    }

    fn clustering(&self, mut rest: &[u8], key: Option<&Bytes>) -> Result<Vec<ClusteringValue>> {
        let mut values = Vec::with_capacity(self.sort.len());
        for column in &self.sort {
            values.push(take_shared(&column.key_type, column.direction, &mut rest, key)?);
        }
        if rest.is_empty() { Ok(values) } else { Err(damaged()) }
    }

    /// Returns the length of the part of a key (without chunk) that names the partition.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the key is none of this table.
    pub fn partition_length(&self, key: &[u8]) -> Result<usize> {
        let own = key.get(self.prefix.len()..).ok_or_else(damaged)?;
        Ok(self.prefix.len() + self.partition_length_of(own)?)
    }

    /// Works as [`CellKeys::partition_length`], of a key without `[tree][id]`.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the key is none of this table.
    pub fn partition_length_of(&self, own: &[u8]) -> Result<usize> {
        let mut rest = own.get(8..).ok_or_else(damaged)?;
        take_packed_bytes(&mut rest, Direction::Ascending).map_err(|_| damaged())?;
        Ok(own.len() - rest.len())
    }

    /// Returns the range of the rows of a partition that lie in `span`.
    ///
    /// # Errors
    ///
    /// * `Invalid`: the partition key is empty, or a value does not fit its column.
    pub fn span(&self, raw: &[u8], span: &Span) -> Result<KeyRange> {
        let mut base = self.partition(raw)?;
        base.push(ROW);
        span_range(&self.sort, base, span, self.packs)
    }

    fn extend(&self, out: &mut Vec<u8>, from: usize, values: &[ClusteringValue]) -> Result<()> {
        extend(&self.sort, out, from, values, self.packs)
    }
}

/// Appends `[token][partition key]`.
///
/// Behind their tokens partitions have no order that means something, so each is as short as it can be.
pub fn put_partition(out: &mut Vec<u8>, raw: &[u8], packs: Packs) {
    out.extend_from_slice(&token_bytes(token(raw)));
    match packs.0 {
        true => put_shorter_bytes(out, Direction::Ascending, raw),
        false => put_bytes(out, Direction::Ascending, raw),
    }
}

fn extend(
    columns: &[SortColumn],
    out: &mut Vec<u8>,
    from: usize,
    values: &[ClusteringValue],
    packs: Packs,
) -> Result<()> {
    let columns = columns.get(from..from + values.len()).ok_or_else(|| {
        Error::invalid("more clustering values were given than the key has columns")
    })?;
    for (column, value) in columns.iter().zip(values) {
        put_raw(&column.key_type, column.direction, value.as_deref(), packs, out)?;
    }
    Ok(())
}

/// Returns the range of the keys that begin with `base` and whose columns lie in `span`.
///
/// # Errors
///
/// * `Invalid`: a value does not fit its column, or the range has more columns than the key.
pub fn span_range(
    columns: &[SortColumn],
    base: Vec<u8>,
    span: &Span,
    packs: Packs,
) -> Result<KeyRange> {
    let mut base = base;
    let equal = span.equal.len();
    extend(columns, &mut base, 0, &span.equal, packs)?;
    if span.lower.is_none() && span.upper.is_none() {
        return Ok(KeyRange::prefix(base));
    }
    let widest = [&span.lower, &span.upper].into_iter().flatten().map(|own| own.values.len()).max();
    let ranged = columns.get(equal..equal + widest.unwrap_or(0)).unwrap_or_default();
    let direction = ranged
        .first()
        .map(|column| column.direction)
        .ok_or_else(|| Error::invalid("a range names more clustering columns than the key has"))?;
    if ranged.iter().any(|column| column.direction != direction) {
        return Err(Error::invalid(
            "a range over several clustering columns needs them in one direction",
        ));
    }
    let (first, last) = match direction {
        Direction::Ascending => (&span.lower, &span.upper),
        Direction::Descending => (&span.upper, &span.lower),
    };
    let bound = |bound: &Option<SpanBound>| -> Result<Option<(Vec<u8>, bool)>> {
        let Some(bound) = bound else { return Ok(None) };
        let mut key = base.clone();
        extend(columns, &mut key, equal, &bound.values, packs)?;
        Ok(Some((key, bound.included)))
    };
    let whole = KeyRange::prefix(base.clone());
    let start = match bound(first)? {
        None => whole.start,
        Some((key, true)) => key.into(),
        Some((key, false)) => prefix_successor(&key).map_or(whole.start, Into::into),
    };
    let end = match bound(last)? {
        None => whole.end,
        Some((key, true)) => prefix_successor(&key).map(Into::into),
        Some((key, false)) => Some(key.into()),
    };
    Ok(KeyRange { start, end })
}

fn damaged() -> Error {
    Error::corrupt("a stored key of a table of cells cannot be read")
}
