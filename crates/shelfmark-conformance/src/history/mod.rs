//! Checks histories: could transactions that ran side by side have run one after the other?
//!
//! Each key holds the list of the versions it went through, so a value tells its whole past: who
//! wrote before, in which order. From what each transaction saw and from the lists at the end
//! follows which transaction came before which: it wrote the version that the other replaced (*ww*)
//! or read (*wr*), or it read the version that the other replaced (*rw*). If these orders make a
//! circle, no order of the transactions explains what they saw.
//!
//! What it is not: a reader of ranges. A range that was read is recorded as a read of every key that
//! it covered, also of the absent ones; a phantom is then a read of a version that was replaced.
//!
//! Invariant: a history that is found clean is strictly serializable: one order of its transactions
//! explains everything, and keeps every transaction that ended before another began before it. That
//! includes those that were refused, as transactions that only read.
//!
//! Source: Adya, "Weak consistency", MIT 1999 (the graph and the names of the phenomena); Kingsbury
//! and Alvaro, "Elle", VLDB 2020 (lists as values).

mod check;
mod graph;
#[cfg(test)]
mod tests;
mod version;

pub use check::{Anomaly, check};
pub use graph::{Dependency, Edge};
pub use version::Version;

use std::collections::BTreeMap;

use bytes::Bytes;

/// Names a transaction; unique within a history, and never used again for its retry.
pub type TxnId = u64;

/// The outcome of a transaction, as far as its client knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was acknowledged; the number of its commit, if it wrote anything.
    Committed(Option<u64>),
    /// It was refused, or given up. Nobody may ever see what it wrote.
    Aborted,
    /// Nobody told. The lists decide.
    Unknown,
}

/// One transaction as its client saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Which.
    pub id: TxnId,
    /// Each key that was read from the store, and the versions its value listed.
    pub reads: Vec<(Bytes, Vec<Version>)>,
    /// Each key that was written, and the version it was left with.
    pub writes: Vec<(Bytes, Version)>,
    /// Its outcome.
    pub outcome: Outcome,
    /// The time of its start, counted in events of the whole history.
    pub began: u64,
    /// The time at which its outcome was known.
    pub ended: u64,
}

/// The transactions of a history, and the final state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// The transactions, in any order.
    pub records: Vec<Record>,
    /// Each key and the versions that its value lists at the end.
    pub finals: BTreeMap<Bytes, Vec<Version>>,
    /// The numbers of commits are said to follow the order of the transactions.
    pub is_numbered_in_order: bool,
}
