//! The stored form of blobs: their keys, and metadata as items.

use shelfmark_engine::{Get, Table, View};
use shelfmark_keycode::Ulid;
use shelfmark_model::{Item, Key, Value};

use super::BlobMetadata;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Timestamp;
use crate::reach::Inside;

/// The column that puts each of the two tables into one partition.
pub(super) const SHELF: &str = "_shelf";

/// A row of metadata.
pub(super) struct Stored {
    pub(super) metadata: BlobMetadata,
    /// The number under which its parts are stored.
    pub(super) number: Ulid,
}

/// Returns a number for the parts of one write: new in every write, the same in every run of its
/// body.
pub(super) fn number(inside: &Inside<'_>, millis: u64) -> Result<Ulid> {
    let (high, low) = (inside.transaction.random(), inside.transaction.random());
    let mut random = [0; 10];
    for (byte, drawn) in
        random.iter_mut().zip(high.to_be_bytes().into_iter().chain(low.to_be_bytes()))
    {
        *byte = drawn;
    }
    Ulid::new(millis, random).map_err(|error| Error::invalid(error.to_string()))
}

pub(super) fn shelf() -> Item {
    Item::new().with(SHELF, 0)
}

pub(super) fn blob_key(key: &str) -> Key {
    Key::pair(0, key)
}

pub(super) fn part_key(number: Ulid, part: u64) -> Key {
    let part = Value::Int(i64::try_from(part).unwrap_or(i64::MAX));
    Key { partition: vec![Value::Int(0)], sort: vec![Value::Uuid(number.to_bytes()), part] }
}

pub(super) fn part_of(
    view: &View,
    parts: &Table,
    stored: &Stored,
    part: u64,
) -> Result<bytes::Bytes> {
    let get = Get::new(part_key(stored.number, part));
    match view.get(parts, &get)?.item.and_then(|mut item| item.remove("bytes")) {
        Some(Value::Bytes(bytes)) => Ok(bytes),
        _ => Err(damaged("a part is missing")),
    }
}

pub(super) fn row_of(metadata: &BlobMetadata, number: Ulid) -> Item {
    shelf()
        .with("key", metadata.key.as_str())
        .with("etag", metadata.etag.as_str())
        .with("bytes", i64::try_from(metadata.byte_count).unwrap_or(i64::MAX))
        .with("modified", Value::Timestamp(metadata.modified.0))
        .with("parts", Value::Uuid(number.to_bytes()))
}

pub(super) fn stored_of(mut item: Item) -> Result<Stored> {
    let mut take = |name: &str| item.remove(name);
    match (take("key"), take("etag"), take("bytes"), take("modified"), take("parts")) {
        (
            Some(Value::Text(key)),
            Some(Value::Text(etag)),
            Some(Value::Int(bytes)),
            Some(Value::Timestamp(modified)),
            Some(Value::Uuid(number)),
        ) => Ok(Stored {
            metadata: BlobMetadata {
                key: key.into(),
                etag: etag.into(),
                byte_count: u64::try_from(bytes).unwrap_or(0),
                modified: Timestamp(modified),
            },
            number: Ulid::from_bytes(number),
        }),
        _ => Err(damaged("its metadata is incomplete")),
    }
}

pub(super) fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("a blob cannot be read: {what}"))
}

pub(super) fn usize_of(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
