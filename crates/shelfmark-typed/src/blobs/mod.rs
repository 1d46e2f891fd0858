//! Blobs: named byte strings of a database, in parts, with their metadata beside them.
//!
//! A blob has one row of metadata in the table `_blobs` and its bytes in parts of 60 KiB in the
//! table `_blob_parts`, under a number that each write takes anew. What it is not: a stream. A blob
//! is written in one commit and is at most [`BLOB_BYTES_MAX`] long; larger files belong into files.
//!
//! Invariant: metadata and parts change in one commit, and are read at one moment, so nobody sees a
//! mixture of two writes.

mod listing;
mod rows;

use std::sync::Arc;

use shelfmark_engine::{Engine, Get, Table, Write};
use shelfmark_model::{Direction, KeyColumn, KeyType, SortColumn, Value};
use xxhash_rust::xxh3::xxh3_128;

use crate::database::Database;
use crate::error::{Error, ErrorKind, Result};
use crate::handle::{Handle, Shape, TableSettings};
use crate::key::{Timestamp, TimestampMillis};
use crate::reach::{self, Inside};
use crate::running::check_outside;

pub use listing::{BlobLevel, BlobPage};
use rows::{
    Stored, blob_key, damaged, number, part_key, part_of, row_of, shelf, stored_of, usize_of,
};

/// The largest blob, in bytes.
///
/// Source: ours; half of the largest commit of the embedded driver, so that one fits besides its
/// metadata and the deletion of the parts it replaces. A driver that takes less per commit refuses
/// earlier.
pub const BLOB_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Bytes of a part: with its key and header it fits one chunk of the engine's 64 KiB.
const PART_BYTES: usize = 60 * 1024;

/// The metadata of a blob.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::Blobs;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let blobs = Blobs::of(&database)?;
/// let first = blobs.write("note", b"one")?;
/// // Only who knows what is there replaces it.
/// let second = blobs.write_if_etag("note", &first.etag, b"other")?;
/// assert_eq!((first.byte_count, second.byte_count), (3, 5));
/// assert!(blobs.write_if_etag("note", &first.etag, b"late").is_err());
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobMetadata {
    /// Its key.
    pub key: String,
    /// A hash of its bytes: equal bytes have equal tags.
    pub etag: String,
    /// Its length in bytes.
    pub byte_count: u64,
    /// The time of its last write.
    pub modified: TimestampMillis,
}

/// The blobs of a database. Cheap to clone.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::Blobs;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let blobs = Blobs::of(&database)?;
/// blobs.write("covers/atlas.png", b"not really a picture")?;
/// let (bytes, metadata) = blobs.read("covers/atlas.png")?.ok_or("it was just written")?;
/// assert_eq!((bytes.len() as u64, metadata.byte_count), (20, 20));
/// assert_eq!(blobs.read_range("covers/atlas.png", 4, 9)?.ok_or("it is there")?.0, b"really");
/// assert_eq!(blobs.list("covers/", 100, None)?.blobs, [metadata]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Blobs {
    engine: Engine,
    metadata: Arc<Handle>,
    parts: Arc<Handle>,
}

impl Blobs {
    /// Returns the blobs of a database.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Restricted`]: the environment has no right to the database.
    pub fn of(database: &Database) -> Result<Self> {
        let open = |name: &str, columns: Vec<(&str, KeyType)>| {
            let column = |(name, key_type): (&str, KeyType)| {
                SortColumn::new(name, key_type, Direction::Ascending)
            };
            let shelf = KeyColumn::new(rows::SHELF, KeyType::U8);
            let sort = columns.into_iter().map(column).collect();
            let shape = Shape { face: "blobs", partition: shelf, sort, fields: Vec::new() };
            Handle::open_any(database, name, shape, &TableSettings::unsplit())
        };
        Ok(Self {
            engine: database.engine().clone(),
            metadata: open("_blobs", vec![("key", KeyType::Text)])?,
            parts: open("_blob_parts", vec![("blob", KeyType::Uuid), ("part", KeyType::U32)])?,
        })
    }

    /// Writes a blob, whatever was there. Returns its metadata.
    ///
    /// Durability: on disk once this returns.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::LimitExceeded`]: more than [`BLOB_BYTES_MAX`] bytes, or too long a key.
    pub fn write(&self, key: &str, bytes: &[u8]) -> Result<BlobMetadata> {
        self.put(key, bytes, |_| Ok(()))
    }

    /// Writes a blob that must be absent. Returns its metadata.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::AlreadyExists`]: it is there; nothing was written.
    /// * As [`Blobs::write`].
    pub fn create(&self, key: &str, bytes: &[u8]) -> Result<BlobMetadata> {
        self.put(key, bytes, |old| match old {
            None => Ok(()),
            Some(_) => Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("there is a blob {key:?} already"),
            )),
        })
    }

    /// Writes a blob if the stored one has this tag; returns its metadata if it did.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::ConditionFailed`]: it is absent, or has another tag; nothing was written.
    /// * As [`Blobs::write`].
    pub fn write_if_etag(&self, key: &str, etag: &str, bytes: &[u8]) -> Result<BlobMetadata> {
        self.put(key, bytes, |old| match old {
            Some(old) if old.metadata.etag == etag => Ok(()),
            _ => Err(Error::new(
                ErrorKind::ConditionFailed,
                format!("the blob {key:?} is not the one that was read"),
            )),
        })
    }

    fn put(
        &self,
        key: &str,
        bytes: &[u8],
        check: impl Fn(Option<&Stored>) -> Result<()>,
    ) -> Result<BlobMetadata> {
        if bytes.len() > BLOB_BYTES_MAX {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("a blob has at most {BLOB_BYTES_MAX} bytes, this one {}", bytes.len()),
            ));
        }
        let (rows, parts) = (self.metadata.table()?, self.parts.table()?);
        let modified = self.engine.environment().clock.now_millis();
        let metadata = BlobMetadata {
            key: key.to_owned(),
            etag: format!("{:032x}", xxh3_128(bytes)),
            byte_count: bytes.len() as u64,
            modified: Timestamp(i64::try_from(modified).unwrap_or(i64::MAX)),
        };
        reach::run(&self.engine, |inside| {
            let old = self.find(inside, &rows, key)?;
            check(old.as_ref())?;
            if let Some(old) = old {
                self.delete_parts(inside, &parts, &old)?;
            }
            let number = number(inside, modified)?;
            for (part, bytes) in (0_i64..).zip(bytes.chunks(PART_BYTES)) {
                let item = shelf()
                    .with("blob", Value::Uuid(number.to_bytes()))
                    .with("part", part)
                    .with("bytes", Value::Bytes(bytes.to_vec().into()));
                inside.write(&Write::put(&parts, item))?;
            }
            inside.write(&Write::put(&rows, row_of(&metadata, number)))?;
            Ok(())
        })?;
        Ok(metadata)
    }

    /// Returns a blob with its metadata, or `None`.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn read(&self, key: &str) -> Result<Option<(Vec<u8>, BlobMetadata)>> {
        self.read_range(key, 0, u64::MAX)
    }

    /// Returns the bytes from `first` to `last`, both included and counted from 0, as far as the
    /// blob has them, with its metadata. Reads only the parts that they lie in.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn read_range(
        &self,
        key: &str,
        first: u64,
        last: u64,
    ) -> Result<Option<(Vec<u8>, BlobMetadata)>> {
        let (rows, parts) = (self.metadata.table()?, self.parts.table()?);
        let view = self.engine.snapshot()?;
        let Some(item) = view.get(&rows, &Get::new(blob_key(key)))?.item else { return Ok(None) };
        let stored = stored_of(item)?;
        let end = last.saturating_add(1).min(stored.metadata.byte_count);
        let mut bytes = Vec::new();
        let mut at = first;
        while at < end {
            let part = at / PART_BYTES as u64;
            let held = part_of(&view, &parts, &stored, part)?;
            let start = part * PART_BYTES as u64;
            let range = usize_of(at - start)..usize_of(end - start).min(held.len());
            let wanted = held.get(range).filter(|wanted| !wanted.is_empty());
            let wanted = wanted.ok_or_else(|| damaged("a part is too short"))?;
            bytes.extend_from_slice(wanted);
            at += wanted.len() as u64;
        }
        Ok(Some((bytes, stored.metadata)))
    }

    /// Returns the metadata of a blob, or `None`.
    ///
    /// Cost: one point read.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn metadata(&self, key: &str) -> Result<Option<BlobMetadata>> {
        let rows = self.metadata.table()?;
        check_outside(&self.engine)?;
        let item = self.engine.get(&rows, &Get::new(blob_key(key)))?.item;
        item.map(|item| Ok(stored_of(item)?.metadata)).transpose()
    }

    /// Deletes a blob, and returns true if it existed.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn delete(&self, key: &str) -> Result<bool> {
        let (rows, parts) = (self.metadata.table()?, self.parts.table()?);
        reach::run(&self.engine, |inside| {
            let Some(old) = self.find(inside, &rows, key)? else { return Ok(false) };
            self.delete_parts(inside, &parts, &old)?;
            inside.write(&Write::delete(&rows, blob_key(key)))?;
            Ok(true)
        })
    }

    fn find(&self, inside: &Inside<'_>, rows: &Table, key: &str) -> Result<Option<Stored>> {
        inside.get(rows, &Get::new(blob_key(key)))?.map(stored_of).transpose()
    }

    fn delete_parts(&self, inside: &Inside<'_>, parts: &Arc<Table>, old: &Stored) -> Result<()> {
        for part in 0..old.metadata.byte_count.div_ceil(PART_BYTES as u64) {
            inside.write(&Write::delete(parts, part_key(old.number, part)))?;
        }
        Ok(())
    }
}
