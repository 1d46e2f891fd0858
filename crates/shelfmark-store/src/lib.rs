//! Bytes to bytes: the storage contract and its drivers.
//!
//! A [`Store`] is one ordered space of keys. It takes whole [`Commit`]s, gives [`Snapshot`]s of one
//! moment, and promises that what it acknowledged is on disk. The contract is as weak as the
//! weakest driver that must keep it: reads of single keys are validated at commit, reads of ranges
//! are a snapshot.
//!
//! What it is not: it knows no tables, no items, no types, no clock of its own and no async. The
//! bought tree is imported in exactly one module of the embedded driver.
//!
//! Invariant: a reader never sees half of a commit, nor anything that a crash could take back
//! (except under [`Durability::Interval`], which says so).

pub mod budget;
pub mod clock;
mod contract;
pub mod embedded;
pub mod fault_injection;
pub mod latch;
pub mod lazy;
pub mod locks;

pub mod memory;
pub mod random;
pub mod sleep;
pub mod threads;
pub mod txn;
pub mod vfs;

pub use contract::{
    AddWithin, Caps, Commit, CommitNumber, Committed, Completion, Direction, Durability, Error,
    ErrorKind, KeyRange, LEVELS_MAX, Maintained, Page, Peer, Peers, PlaceKind, Queued, Result, Row,
    ScanLimits, Snapshot, SnapshotId, Store, StoreStats, StoredPlace, Write, add_at, admit,
};
