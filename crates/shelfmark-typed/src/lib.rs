//! Typed ordered tables and entities over the engine.
//!
//! [`OrderedTable`] maps keys of a Rust type to values of another, in key order: point reads,
//! ranges over keys and over their leading parts in both directions, conditional writes,
//! transactions. [`EntityTable`] holds entities (partition key, sort key, named attributes) in
//! partitions that grow. Both live in a [`Database`], which an environment must have been given.
//!
//! What it is not: no wire form and no query language. It adds types, names and a few guarantees to
//! the engine and keeps no data of its own.
//!
//! Invariant: everything here is ordinary tables of the engine, so other faces see the same items.

mod blobs;
mod collections;
mod database;
mod entity;
mod error;
mod handle;
mod key;
mod ordered;
mod reach;
mod record;
mod running;
mod transaction;

pub use blobs::{BLOB_BYTES_MAX, BlobLevel, BlobMetadata, BlobPage, Blobs};
pub use collections::{Cell, LinearLog};
pub use database::{DEFAULT, Database, DatabaseInfo, Environment, Registry};
pub use entity::{
    Attribute, Attributes, Entities, Entity, EntityPage, EntityShard, EntitySplit,
    EntitySplitFailure, EntityTable, Overwrite, Partition, ScanOptions,
};
pub use error::{Error, ErrorKind, Result};
pub use handle::TableSettings;
pub use key::{
    Blob, Date, KeyPart, KeyPrefix, KeyRef, OrderedKey, Parts, TimeOfDay, Timestamp,
    TimestampMicros, TimestampMillis, TotalF32, TotalF64, Uuid, descending_columns, reversed,
};
pub use ordered::{
    ByIndex, ByUnique, Chunks, EntryChange, Index, Keys, OrderedTable, Page, Range, Stream,
    UniqueIndex, Values,
};
pub use reach::{Direct, InTransaction, Inside, Moment, Reach, WriteReach};
pub use record::{Record, as_text, from_value, to_value};
pub use transaction::{Batch, ForkedRead, Tx};

pub use shelfmark_derive::{KeyPart, OrderedKey};
pub use shelfmark_engine::{ChangePosition, Cursor, HookResult, SplitSubscription};
pub use shelfmark_keycode::Ulid;
pub use shelfmark_model::limits::SHARD_BYTES_MAX_DEFAULT;
pub use shelfmark_model::{Direction, KeyType, SortColumn, Value};
