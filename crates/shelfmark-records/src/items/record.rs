//! One item as bytes: a head, and chunks when it is large.
//!
//! A record up to [`CHUNK_SIZE_BYTES`] is its head alone. A larger one is cut between attributes:
//! the head then lists the first attribute of each chunk, so that one attribute is read, or
//! rewritten, with its chunk alone. An attribute larger than a chunk is alone in several: one that
//! begins it, and others that say that they continue it.
//!
//! The attributes of the primary key are not in the record: they are read back from the key.

use bytes::Bytes;
use shelfmark_model::{Item, Value};

use super::value::{decode_shared_bytes, decode_value, prefixed_value};
use crate::error::{Error, Result};
use crate::varint::{Reader, put_varint};

/// The size at which a record is cut into chunks.
pub const CHUNK_SIZE_BYTES: usize = 64 * 1024;

const ITEM_V1: u8 = 1;
const CELLS_V1: u8 = 2;
const CHUNK_V1: u8 = 3;
const CHUNK_GOES_ON_V1: u8 = 4;

/// A head lists no more of an attribute's name than this, so that it stays small however long names
/// are: with half-filled chunks of [`CHUNK_SIZE_BYTES`], the largest row has 512.
const LISTED_NAME_BYTES_MAX: usize = 64;

const CHUNKED: u8 = 1;
const EXPIRES: u8 = 2;

/// The kind of a stored value in the row tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    /// The head of an item.
    Item,
    /// The head of a row of cells.
    Cells,
    /// A further chunk of the row whose head comes before it.
    Chunk,
}

/// Tells what `bytes` hold.
///
/// # Errors
///
/// * `Corrupt`: a version that this build does not know.
#[inline]
pub fn kind_of(bytes: &[u8]) -> Result<RecordKind> {
    match bytes.first() {
        Some(&ITEM_V1) => Ok(RecordKind::Item),
        Some(&CELLS_V1) => Ok(RecordKind::Cells),
        Some(&(CHUNK_V1 | CHUNK_GOES_ON_V1)) => Ok(RecordKind::Chunk),
        _ => Err(Error::corrupt("a record has an unknown version")),
    }
}

/// An item as it is stored, without the attributes of its key.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record {
    /// The attributes.
    pub item: Item,
    /// Second since the Unix epoch at which it expires.
    pub expires_at: Option<u64>,
}

/// The bytes of a record: the head, then the chunks in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The value of chunk 0.
    pub head: Bytes,
    /// The values of chunk 1 and those behind it.
    pub chunks: Vec<Bytes>,
}

fn put_attribute(out: &mut Vec<u8>, name: &str, value: &Value) {
    put_varint(out, name.len() as u64);
    out.extend_from_slice(name.as_bytes());
    prefixed_value(out, value);
}

/// Encodes the attributes of a record; `attributes` come sorted by name.
pub fn encode<'a>(
    attributes: impl Iterator<Item = (&'a str, &'a Value)>,
    expires_at: Option<u64>,
) -> Stored {
    // Most records are their head alone, so the attributes are put behind one from the first.
    let mut body = head(0, expires_at, 256);
    let mut before = body.len();
    let mut bodies: Vec<(&str, Vec<u8>)> = Vec::new();
    let mut first = "";
    for (name, value) in attributes {
        let start = body.len();
        put_attribute(&mut body, name, value);
        if body.len() - before > CHUNK_SIZE_BYTES && start > before {
            let next = body.split_off(start);
            body.drain(..std::mem::take(&mut before));
            bodies.push((first, std::mem::replace(&mut body, next)));
            first = name;
        } else if start == before {
            first = name;
        }
    }
    if bodies.is_empty() && body.len() - before <= CHUNK_SIZE_BYTES {
        return Stored { head: body.into(), chunks: Vec::new() };
    }
    body.drain(..before);
    bodies.push((first, body));
    let mut names = Vec::with_capacity(bodies.len() * 16);
    let mut chunks = Vec::with_capacity(bodies.len());
    for (first, body) in &bodies {
        for (number, part) in body.chunks(CHUNK_SIZE_BYTES).enumerate() {
            let listed = shortened(first);
            put_varint(&mut names, listed.len() as u64);
            names.extend_from_slice(listed.as_bytes());
            let mut chunk = Vec::with_capacity(part.len() + 1);
            chunk.push(if number == 0 { CHUNK_V1 } else { CHUNK_GOES_ON_V1 });
            chunk.extend_from_slice(part);
            chunks.push(Bytes::from(chunk));
        }
    }
    let mut head = head(CHUNKED, expires_at, names.len());
    put_varint(&mut head, chunks.len() as u64);
    head.extend_from_slice(&names);
    Stored { head: head.into(), chunks }
}

/// Returns the beginning of a name, as far as a head lists it.
fn shortened(name: &str) -> &str {
    let end = name.floor_char_boundary(LISTED_NAME_BYTES_MAX);
    name.get(..end).unwrap_or(name)
}

fn head(flags: u8, expires_at: Option<u64>, more: usize) -> Vec<u8> {
    let mut head = Vec::with_capacity(more + 10);
    head.push(ITEM_V1);
    head.push(flags | if expires_at.is_some() { EXPIRES } else { 0 });
    if let Some(second) = expires_at {
        head.extend_from_slice(&second.to_be_bytes());
    }
    head
}

/// Returns a head with another second of expiry, or none; its attributes and chunks are the same.
///
/// # Errors
///
/// * `Corrupt`: it is no head of an item.
pub fn with_expiry(bytes: &[u8], expires_at: Option<u64>) -> Result<Bytes> {
    let mut reader = Reader::new(bytes);
    let (version, flags) = (reader.byte()?, reader.byte()?);
    if version != ITEM_V1 {
        return Err(Error::corrupt("a record has an unknown version"));
    }
    if flags & EXPIRES != 0 {
        reader.array::<8>()?;
    }
    let rest = reader.rest();
    let mut changed = head(flags & !EXPIRES, expires_at, rest.len());
    changed.extend_from_slice(rest);
    Ok(changed.into())
}

/// A parsed head.
pub struct Head<'a> {
    /// Second since the Unix epoch at which the item expires.
    pub expires_at: Option<u64>,
    /// Number of chunks that follow; 0 when the attributes are in the head.
    pub chunks: usize,
    body: Reader<'a>,
}

impl<'a> Head<'a> {
    /// Parses the head of an item.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != ITEM_V1 {
            return Err(Error::corrupt("a record has an unknown version"));
        }
        let flags = reader.byte()?;
        if flags & !(CHUNKED | EXPIRES) != 0 {
            return Err(Error::corrupt("a record has unknown flags"));
        }
        let expires_at = match flags & EXPIRES {
            0 => None,
            _ => Some(u64::from_be_bytes(reader.array()?)),
        };
        let chunks = match flags & CHUNKED {
            0 => 0,
            _ => reader.len()?,
        };
        Ok(Self { expires_at, chunks, body: reader })
    }

    /// Takes the next attribute off a head without chunks if it has this name; `None` if it has
    /// another, or there is none. `head` is what was parsed.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    #[inline]
    pub fn take_named(&mut self, head: &Bytes, name: &str) -> Result<Option<Value>> {
        let mut rest = self.body;
        if rest.is_empty() || rest.prefixed()? != name.as_bytes() {
            return Ok(None);
        }
        let value = value_of(head, rest.prefixed()?)?;
        self.body = rest;
        Ok(Some(value))
    }

    /// Returns true if nothing is left of the attributes in the head.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.body.is_empty()
    }

    /// Decodes the attributes into `item`; `head` is what was parsed, `chunks` come after it. Values
    /// of bytes share the memory of the record.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    #[inline]
    pub fn decode_into(self, head: &Bytes, chunks: &[Bytes], item: &mut Item) -> Result<()> {
        if chunks.len() != self.chunks {
            return Err(Error::corrupt("a row lacks chunks"));
        }
        if self.chunks == 0 {
            return decode_attributes(head, self.body, item);
        }
        let mut rest = chunks.iter().peekable();
        while let Some(chunk) = rest.next() {
            let mut reader = Reader::new(chunk);
            if reader.byte()? != CHUNK_V1 {
                return Err(Error::corrupt("a chunk has an unknown version"));
            }
            let goes_on = |next: &&Bytes| next.first() == Some(&CHUNK_GOES_ON_V1);
            if !rest.peek().is_some_and(goes_on) {
                decode_attributes(chunk, reader, item)?;
                continue;
            }
            let mut whole = reader.rest().to_vec();
            while let Some(part) = rest.next_if(goes_on) {
                whole.extend_from_slice(part.get(1..).unwrap_or_default());
            }
            let whole = Bytes::from(whole);
            decode_attributes(&whole, Reader::new(&whole), item)?;
        }
        Ok(())
    }
}

fn decode_attributes(record: &Bytes, mut reader: Reader<'_>, item: &mut Item) -> Result<()> {
    while !reader.is_empty() {
        let name = reader.text()?;
        item.set(name, value_of(record, reader.prefixed()?)?);
    }
    Ok(())
}

#[inline]
fn value_of(record: &Bytes, bytes: &[u8]) -> Result<Value> {
    match decode_shared_bytes(record, bytes) {
        Some(value) => Ok(value),
        None => decode_value(bytes),
    }
}

impl Record {
    /// Encodes the record.
    #[cfg(test)]
    pub fn encode(&self) -> Stored {
        encode(self.item.iter().map(|(name, value)| (name.as_str(), value)), self.expires_at)
    }

    /// Encodes the record as one head, however large: records of the catalogue are not cut.
    pub fn encode_whole(&self) -> Bytes {
        let mut out = head(0, self.expires_at, 128);
        for (name, value) in self.item.iter() {
            put_attribute(&mut out, name, value);
        }
        out.into()
    }

    /// Decodes a record from its head and the chunks after it.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    pub fn decode(head: &Bytes, chunks: &[Bytes]) -> Result<Self> {
        let parsed = Head::parse(head)?;
        let mut record = Self { item: Item::new(), expires_at: parsed.expires_at };
        parsed.decode_into(head, chunks, &mut record.item)?;
        Ok(record)
    }
}
