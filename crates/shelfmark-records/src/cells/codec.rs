//! Rows of cells as bytes: a head, and chunks when the row is large.
//!
//! The head holds what concerns the whole row, and either the cells or the first cell key of each
//! chunk. A cell is found by walking over lengths, without decoding the cells before it; in a
//! chunked row one chunk holds it, and a change of it rewrites that chunk alone.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Cell, CellKey, CellRow, Content, Deletion, Expiry, Liveness, Timestamp};
use crate::error::{Error, Result};
use crate::items::{CHUNK_SIZE_BYTES, Stored, prefixed};
use crate::varint::{Reader, put_varint, unzigzag, zigzag};

const CELLS_V1: u8 = 2;
const CHUNK_V1: u8 = 3;
const CHUNK_GOES_ON_V1: u8 = 4;

/// Cells of a large row are put into chunks up to this many bytes, so that more fit in later.
const PART_SIZE_BYTES: usize = 48 * 1024;

/// A head lists no more of a path than this, so that it stays small however long paths are.
pub const LISTED_PATH_BYTES_MAX: usize = 64;

const CHUNKED: u8 = 1;
const LIVENESS: u8 = 2;
const LIVENESS_EXPIRES: u8 = 4;
const DELETION: u8 = 8;
const COLLECTIONS: u8 = 16;

const CELL_EXPIRES: u8 = 1;
const CELL_DEAD: u8 = 2;

impl CellRow {
    /// Encodes the row.
    pub fn encode(&self) -> Stored {
        if self.cells.iter().map(|(key, cell)| size_max(key, cell)).sum::<usize>()
            <= CHUNK_SIZE_BYTES
        {
            let mut head = self.encode_head(false);
            self.cells.iter().for_each(|(key, cell)| put_cell(&mut head, key, cell));
            return Stored { head: head.into(), chunks: Vec::new() };
        }
        let parts = parts(self.cells.iter());
        let is_chunked = parts.iter().map(|part| part.body.len()).sum::<usize>() > CHUNK_SIZE_BYTES;
        if !is_chunked {
            let mut head = self.encode_head(false);
            parts.iter().for_each(|part| head.extend_from_slice(&part.body));
            return Stored { head: head.into(), chunks: Vec::new() };
        }
        let mut chunks = Vec::with_capacity(parts.len());
        let mut firsts = Vec::with_capacity(parts.len());
        for part in parts {
            for chunk in part.chunks() {
                firsts.push(part.first.clone());
                chunks.push(chunk);
            }
        }
        Stored { head: self.encode_chunked_head(&firsts), chunks }
    }

    /// Encodes the head of a row that is cut, given the first cell of each chunk.
    pub fn encode_chunked_head(&self, firsts: &[CellKey]) -> Bytes {
        let mut head = self.encode_head(true);
        put_varint(&mut head, firsts.len() as u64);
        for first in firsts {
            let listed = first.path.len().min(LISTED_PATH_BYTES_MAX);
            put_key(&mut head, &CellKey { column: first.column, path: first.path.slice(..listed) });
        }
        head.into()
    }

    fn encode_head(&self, chunked: bool) -> Vec<u8> {
        let mut head = Vec::with_capacity(HEAD_BYTES);
        head.push(CELLS_V1);
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        head.push(
            flag(chunked, CHUNKED)
                | flag(self.liveness.is_some(), LIVENESS)
                | flag(self.liveness.is_some_and(|own| own.expiry.is_some()), LIVENESS_EXPIRES)
                | flag(self.deletion.is_some(), DELETION)
                | flag(!self.collections.is_empty(), COLLECTIONS),
        );
        if let Some(liveness) = self.liveness {
            put_varint(&mut head, zigzag(liveness.timestamp));
            if let Some(expiry) = liveness.expiry {
                put_expiry(&mut head, expiry);
            }
        }
        if let Some(deletion) = self.deletion {
            put_deletion(&mut head, deletion);
        }
        if !self.collections.is_empty() {
            put_varint(&mut head, self.collections.len() as u64);
            for (column, deletion) in &self.collections {
                put_varint(&mut head, u64::from(*column));
                put_deletion(&mut head, *deletion);
            }
        }
        head
    }

    /// Decodes a row from its head and the chunks after it.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: an unknown version or flag, a wrong length, or missing chunks.
    pub fn decode(head: &Bytes, chunks: &[Bytes]) -> Result<Self> {
        let mut reader = RowReader::new(head)?;
        let mut row = Self {
            liveness: reader.liveness,
            deletion: reader.deletion,
            collections: reader.collections.iter().copied().collect(),
            cells: BTreeMap::new(),
        };
        reader.each_cell(head, chunks, |cell| row.take_stored(cell))?;
        Ok(row)
    }

    fn take_stored(&mut self, cell: &StoredCell<'_>) {
        let content = match cell.value {
            Some(value) => Content::Live { value: cell.shared(value), expiry: cell.expiry },
            None => Content::Dead { at_seconds: cell.dead_at },
        };
        let key = CellKey { column: cell.column, path: cell.shared(cell.path) };
        self.cells.insert(key, Cell { timestamp: cell.timestamp, content });
    }
}

/// One cell as it lies in a record.
pub struct StoredCell<'r> {
    record: &'r Bytes,
    /// Number of its column.
    pub column: u32,
    /// The path of the element; empty for a plain column.
    pub path: &'r [u8],
    /// Microseconds since the Unix epoch, as it was written.
    pub timestamp: Timestamp,
    /// `None`: it is dead.
    pub value: Option<&'r [u8]>,
    /// The offset in the record at which the cell, and with it its value, ends.
    pub end: usize,
    /// The expiry.
    pub expiry: Option<Expiry>,
    /// Second since the Unix epoch at which it died; 0 while it is live.
    pub(crate) dead_at: u64,
}

impl StoredCell<'_> {
    /// Returns part of the record without copying it.
    #[inline]
    pub fn shared(&self, part: &[u8]) -> Bytes {
        if part.is_empty() { Bytes::new() } else { self.record.slice_ref(part) }
    }
}

/// The head of a stored row, parsed, and its cells, still to be read.
pub struct RowReader<'a> {
    /// The row was inserted.
    pub liveness: Option<Liveness>,
    /// The whole row was deleted.
    pub deletion: Option<Deletion>,
    /// Collections that were deleted whole, by column.
    pub collections: Vec<(u32, Deletion)>,
    is_chunked: bool,
    rest: Reader<'a>,
}

impl<'a> RowReader<'a> {
    /// Parses a head.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    #[inline]
    pub fn new(head: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(head);
        if reader.byte()? != CELLS_V1 {
            return Err(Error::corrupt("a row of cells has an unknown version"));
        }
        let flags = reader.byte()?;
        let known = CHUNKED | LIVENESS | LIVENESS_EXPIRES | DELETION | COLLECTIONS;
        if flags & !known != 0 {
            return Err(Error::corrupt("a row of cells has unknown flags"));
        }
        let mut liveness = None;
        if flags & LIVENESS != 0 {
            let timestamp = unzigzag(reader.varint()?);
            let expiry =
                if flags & LIVENESS_EXPIRES != 0 { Some(take_expiry(&mut reader)?) } else { None };
            liveness = Some(Liveness { timestamp, expiry });
        }
        let deletion = if flags & DELETION != 0 { Some(take_deletion(&mut reader)?) } else { None };
        let mut collections = Vec::new();
        if flags & COLLECTIONS != 0 {
            for _ in 0..reader.len()? {
                let column = take_column(&mut reader)?;
                collections.push((column, take_deletion(&mut reader)?));
            }
        }
        let is_chunked = flags & CHUNKED != 0;
        Ok(Self { liveness, deletion, collections, is_chunked, rest: reader })
    }

    /// Returns how many chunks follow the head; 0 when the cells are in the head.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    pub fn chunks(&self) -> Result<usize> {
        if self.is_chunked { self.rest.clone().len() } else { Ok(0) }
    }

    /// Returns the first cell of each chunk, its path as far as it is listed.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    pub fn firsts(&self) -> Result<Vec<CellKey>> {
        if !self.is_chunked {
            return Ok(Vec::new());
        }
        let mut reader = self.rest;
        let count = reader.len()?;
        let mut firsts = Vec::with_capacity(count);
        for _ in 0..count {
            let column = take_column(&mut reader)?;
            firsts.push(CellKey { column, path: Bytes::copy_from_slice(reader.prefixed()?) });
        }
        Ok(firsts)
    }

    /// Walks over the cells, in order. `head` is what was parsed.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    #[inline]
    pub fn each_cell(
        &mut self,
        head: &Bytes,
        chunks: &[Bytes],
        mut each: impl FnMut(&StoredCell<'_>),
    ) -> Result<()> {
        if self.chunks()? != chunks.len() {
            return Err(Error::corrupt("a row of cells lacks chunks"));
        }
        if !self.is_chunked {
            return each_cell(head, self.rest, &mut each);
        }
        each_cell_of_chunks(chunks, &mut each)
    }
}

/// Returns the parts that chunks make up: a first one, and those in which it goes on.
pub fn parts_of(chunks: &[Bytes]) -> impl Iterator<Item = &[Bytes]> {
    chunks.chunk_by(|_, next| next.first() == Some(&CHUNK_GOES_ON_V1))
}

/// Walks over the cells of whole parts.
///
/// # Errors
///
/// * `Corrupt`: the bytes are none that this crate makes.
pub fn each_cell_of_chunks(chunks: &[Bytes], each: &mut impl FnMut(&StoredCell<'_>)) -> Result<()> {
    for part in parts_of(chunks) {
        let Some((first, more)) = part.split_first() else { continue };
        if first.first() != Some(&CHUNK_V1) {
            return Err(Error::corrupt("a chunk has an unknown version"));
        }
        if more.is_empty() {
            let mut reader = Reader::new(first);
            reader.byte()?;
            each_cell(first, reader, each)?;
            continue;
        }
        let mut whole = first.get(1..).unwrap_or_default().to_vec();
        for chunk in more {
            whole.extend_from_slice(chunk.get(1..).unwrap_or_default());
        }
        let whole = Bytes::from(whole);
        each_cell(&whole, Reader::new(&whole), each)?;
    }
    Ok(())
}

fn each_cell<'r>(
    record: &'r Bytes,
    mut reader: Reader<'r>,
    each: &mut impl FnMut(&StoredCell<'_>),
) -> Result<()> {
    while !reader.is_empty() {
        let column = take_column(&mut reader)?;
        let path = reader.prefixed()?;
        let mut body = Reader::new(reader.prefixed()?);
        let flags = body.byte()?;
        let timestamp = unzigzag(body.varint()?);
        let (mut value, mut expiry, mut dead_at) = (None, None, 0);
        match flags {
            CELL_DEAD => dead_at = body.varint()?,
            0 => value = Some(body.rest()),
            CELL_EXPIRES => {
                expiry = Some(take_expiry(&mut body)?);
                value = Some(body.rest());
            }
            _ => return Err(Error::corrupt("a cell has unknown flags")),
        }
        let end = record.len() - reader.rest().len();
        each(&StoredCell { record, column, path, timestamp, value, end, expiry, dead_at });
    }
    Ok(())
}

/// Encodes a row that was inserted with these values at one time and expires as a whole, as
/// [`CellRow::encode`] would; `None` if it may have to be cut. The columns rise.
pub fn encode_inserted(
    timestamp: Timestamp,
    expiry: Option<Expiry>,
    cells: &[(u32, &Bytes)],
) -> Option<Bytes> {
    let size = cells.iter().map(|(_, value)| value.len() + AROUND_BYTES).sum::<usize>();
    if size > CHUNK_SIZE_BYTES {
        return None;
    }
    let mut head = Vec::with_capacity(size + AROUND_BYTES);
    let expires = if expiry.is_some() { LIVENESS_EXPIRES } else { 0 };
    head.extend_from_slice(&[CELLS_V1, LIVENESS | expires]);
    put_varint(&mut head, zigzag(timestamp));
    if let Some(expiry) = expiry {
        put_expiry(&mut head, expiry);
    }
    for (column, value) in cells {
        put_varint(&mut head, u64::from(*column));
        // No path.
        head.push(0);
        prefixed(&mut head, |out| put_live(out, timestamp, expiry, value));
    }
    Some(head.into())
}

/// Returns how many chunks follow the head of a row of cells.
///
/// # Errors
///
/// * `Corrupt`: the bytes are none that this crate makes.
#[inline]
pub fn chunk_count(head: &[u8]) -> Result<usize> {
    RowReader::new(head)?.chunks()
}

/// Cells that lie in one chunk, or, if it is one large cell, in several.
pub struct Part {
    /// The first of the cells, as the head of the row lists it.
    pub first: CellKey,
    body: Vec<u8>,
}

impl Part {
    fn of(key: &CellKey, cell: &Cell) -> Self {
        let mut body = Vec::with_capacity(128);
        put_cell(&mut body, key, cell);
        Self { first: key.clone(), body }
    }

    /// Returns its chunks.
    pub fn chunks(&self) -> impl Iterator<Item = Bytes> {
        self.body.chunks(CHUNK_SIZE_BYTES).enumerate().map(|(number, piece)| {
            let mut chunk = Vec::with_capacity(piece.len() + 1);
            chunk.push(if number == 0 { CHUNK_V1 } else { CHUNK_GOES_ON_V1 });
            chunk.extend_from_slice(piece);
            chunk.into()
        })
    }
}

/// Cuts cells into parts that leave room for more in each chunk.
fn parts<'c>(cells: impl Iterator<Item = (&'c CellKey, &'c Cell)>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (key, cell) in cells {
        let Some(part) = parts.last_mut() else {
            parts.push(Part::of(key, cell));
            continue;
        };
        let before = part.body.len();
        put_cell(&mut part.body, key, cell);
        if part.body.len() > PART_SIZE_BYTES {
            let body = part.body.split_off(before);
            parts.push(Part { first: key.clone(), body });
        }
    }
    parts
}

/// Works as `parts`, of cells that lie in one chunk and may fill it.
pub fn parts_within<'c>(cells: impl Iterator<Item = (&'c CellKey, &'c Cell)> + Clone) -> Vec<Part> {
    let mut whole: Option<Part> = None;
    for (key, cell) in cells.clone() {
        match &mut whole {
            Some(part) => put_cell(&mut part.body, key, cell),
            None => whole = Some(Part::of(key, cell)),
        }
        if whole.as_ref().is_some_and(|part| part.body.len() > CHUNK_SIZE_BYTES) {
            return parts(cells);
        }
    }
    whole.into_iter().collect()
}

/// Adds the cells of whole parts, given their chunks, to a row.
///
/// # Errors
///
/// * `Corrupt`: the bytes are none that this crate makes.
pub fn decode_part(chunks: &[Bytes], row: &mut CellRow) -> Result<()> {
    each_cell_of_chunks(chunks, &mut |cell| row.take_stored(cell))
}

fn put_key(out: &mut Vec<u8>, key: &CellKey) {
    put_varint(out, u64::from(key.column));
    put_varint(out, key.path.len() as u64);
    out.extend_from_slice(&key.path);
}

#[inline]
fn take_column(reader: &mut Reader<'_>) -> Result<u32> {
    u32::try_from(reader.varint()?).map_err(|_| Error::corrupt("a column number is too large"))
}

/// Room that a head is given at first: small rows fit.
const HEAD_BYTES: usize = 256;

/// Most bytes that stand around the path and value of a cell.
const AROUND_BYTES: usize = 64;

/// Returns an upper bound of the bytes that a cell takes: its path and value, and what stands around them.
fn size_max(key: &CellKey, cell: &Cell) -> usize {
    let value = match &cell.content {
        Content::Live { value, .. } => value.len(),
        Content::Dead { .. } => 0,
    };
    key.path.len() + value + AROUND_BYTES
}

/// Encodes a cell: key, length, then flags, timestamp, expiry or time of death, and the value to
/// the end.
fn put_cell(out: &mut Vec<u8>, key: &CellKey, cell: &Cell) {
    put_key(out, key);
    prefixed(out, |out| match &cell.content {
        Content::Dead { at_seconds } => {
            out.push(CELL_DEAD);
            put_varint(out, zigzag(cell.timestamp));
            put_varint(out, *at_seconds);
        }
        Content::Live { value, expiry } => put_live(out, cell.timestamp, *expiry, value),
    });
}

fn put_live(out: &mut Vec<u8>, timestamp: Timestamp, expiry: Option<Expiry>, value: &[u8]) {
    out.push(if expiry.is_some() { CELL_EXPIRES } else { 0 });
    put_varint(out, zigzag(timestamp));
    if let Some(expiry) = expiry {
        put_expiry(out, expiry);
    }
    out.extend_from_slice(value);
}

fn put_expiry(out: &mut Vec<u8>, expiry: Expiry) {
    put_varint(out, u64::from(expiry.ttl_seconds));
    put_varint(out, expiry.at_seconds);
}

#[inline]
fn take_expiry(reader: &mut Reader<'_>) -> Result<Expiry> {
    let ttl_seconds = take_column(reader)?;
    Ok(Expiry { ttl_seconds, at_seconds: reader.varint()? })
}

/// Appends a deletion: its timestamp, then the second at which it happened.
pub fn put_deletion(out: &mut Vec<u8>, deletion: Deletion) {
    put_varint(out, zigzag(deletion.timestamp));
    put_varint(out, deletion.at_seconds);
}

/// Takes off what [`put_deletion`] appended.
///
/// # Errors
///
/// * `Corrupt`: the bytes are none that this crate makes.
pub fn take_deletion(reader: &mut Reader<'_>) -> Result<Deletion> {
    let timestamp = unzigzag(reader.varint()?);
    Ok(Deletion { timestamp, at_seconds: reader.varint()? })
}
